"""Energy distance between the vectors of two samples."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import Value, metric
from textassay.views.material import Resamples
from textassay.views.pair_sums import observed, without_groups
from textassay.views.slices import count_slices
from textassay.views.unit_sums import exchanged
from textassay.views.vectors import Vectors, joint

Variant = Literal["v", "u"]


def leave_out(
    candidate: Vectors, reference: Vectors, /, *, labels: Sequence[NDArray[np.int64]], variant: Variant
) -> tuple[NDArray[np.float64], ...]:
    """The value with each group of texts left out."""
    left = without_groups(joint(candidate, reference), "energy", labels)
    return tuple(sums.discrepancy(unbiased=variant == "u") for sums in left)


def exchange(
    candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, variant: Variant
) -> NDArray[np.float64]:
    """The value under each row of exchanged labels."""
    return exchanged(joint(candidate, reference), "energy", resamples).discrepancy(unbiased=variant == "u")


def approximate(n_texts: int) -> str:
    """What a signature says of slices."""
    return f"slices:{count_slices(n_texts)}" if count_slices(n_texts) > 1 else ""


def parts(candidate: Vectors, reference: Vectors, /, *, variant: Variant) -> Mapping[str, float]:
    """The three mean distances; the kernel is the distance with its sign turned."""
    means = observed(joint(candidate, reference), "energy").means(unbiased=variant == "u")
    names = ("within_candidate", "within_reference", "across")
    return {name: 0.0 - float(mean) for name, mean in zip(names, means, strict=True)}


@metric(
    "energy",
    family="embedding",
    aspect="both",
    better="lower",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="szekely2013",
    undefined="no two texts of one of the samples fell into the same slice",
    variant_bounds={"u": (-float("inf"), float("inf"))},
    parts=parts,
    leave_out=leave_out,
    exchange=exchange,
    approximate=approximate,
)
def energy(candidate: Vectors, reference: Vectors, /, *, variant: Variant = "v") -> Value:
    r"""Energy distance: how much farther vectors of the two samples are from each other than from their own.

    .. math:: E = 2\,\overline{|c - r|} - \overline{|c - c'|} - \overline{|r - r'|}

    Euclidean distances, and the distance itself, not its root (`scipy.stats.energy_distance` gives the root). The bars
    are means over all pairs, each text with itself among them, in `variant="v"`, which is never negative; `variant="u"`
    takes pairs of different texts, is unbiased and may be negative. It is zero only for equal distributions of vectors
    and needs no bandwidth. Above 32,768 pooled texts only pairs in the same of several random slices count, and the
    signature says how many.

    It misleads as a number by itself: it scales with the vectors, and `v` of two samples from one source is above 0 and
    falls with size. Far outliers weigh in proportion to their distance, more than in `mmd`.
    """
    return float(observed(joint(candidate, reference), "energy").discrepancy(unbiased=variant == "u"))
