"""Dissimilarity: the mean cosine distance between two texts of a sample."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.metrics.registry import metric
from textassay.metrics.vectors.vectors import SLICE, Vectors
from textassay.metrics.vectors.vendi import directions
from textassay.metrics.views import Resamples


def leave_out(candidate: Vectors, /, *, labels: Sequence[NDArray[np.int64]]) -> tuple[F64]:
    """The value with each group of texts left out, from the sums of the groups."""
    sums, sizes = _sums(candidate, labels[0], int(labels[0].max()) + 1)
    return (_mean_distance(sums.sum(axis=0) - sums, sizes.sum() - sizes),)


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples) -> F64:
    """The difference of the two values under exchanged labels."""
    sums, sizes = _sums(candidate.merge(reference), resamples.units, resamples.n_units)
    one, other = (_mean_distance(mask @ sums, mask @ sizes) for mask in resamples.masks)
    return one - other


@metric(
    "dissimilarity",
    family="embedding",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(0.0, 2.0),
    interval="jackknife",
    test="permutation",
    paper="tevet2021",
    in_default=False,
    leave_out=leave_out,
    exchange=exchange,
    length_moves=True,
)
def dissimilarity(candidate: Vectors, /) -> float:
    r"""Dissimilarity: the mean cosine distance between the vectors of two texts of the sample.

    .. math:: \frac{2}{n (n - 1)} \sum_{i < j} (1 - \cos(x_i, x_j))

    Zero vectors are equal to each other and orthogonal to the rest.

    It sees how far the texts are from each other in what they mean.

    Misleading for collapse: half of the texts equal and the others far away have the value of a varied sample.

    It is always defined for two or more texts.
    """
    sums, sizes = _sums(candidate, np.zeros(len(candidate), dtype=np.int64), 1)
    return float(_mean_distance(sums, sizes)[0])


def _sums(candidate: Vectors, units: NDArray[np.int64], n_units: int) -> tuple[F64, F64]:
    """The sum of the directions of each unit, and its number of texts."""
    sums = np.zeros((n_units, candidate.dimension + 1))
    for start in range(0, len(candidate), SLICE):
        np.add.at(sums, units[start : start + SLICE], directions(candidate.values[start : start + SLICE]))
    return sums, np.bincount(units, minlength=n_units).astype(np.float64)


def _mean_distance(sums: F64, sizes: F64) -> F64:
    """The mean over pairs, from sums of vectors of length 1: the square of a sum has every pair twice, and itself."""
    cosines = (np.einsum("ij,ij->i", sums, sums) - sizes) / (sizes * (sizes - 1))
    # Equal vectors have a distance of 0, whatever rounding says.
    return np.where(cosines > 1 - 1e-12, 0.0, 1 - cosines)
