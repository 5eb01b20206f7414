"""Clusters of the pooled vectors of two samples: principal directions, rounded to a grid, then k-means.

The grid makes the result reproducible. Coordinates are whole numbers, small enough that the product of two points is
exact in float32 in any order of summation. So the number of threads, the BLAS and the processor cannot change which
centre is nearest. The step of the grid is a 2,000th of the largest distance from the mean, far below the width of any
cluster; vectors that round to the same grid point are one point.

Every round of Lloyd's algorithm uses all principal directions. Starting with the leading quarter of them would be
faster, but the clusters would follow these directions: if the samples differ along one of them, MAUVE would be too low
(0.38 where mauve-text gives 0.50, on Gaussians in 64 dimensions). Each point keeps a bound on the distances to the
centres of other clusters, so that it is compared again only with centres that moved.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, I64
from textassay.metrics.vectors.vectors import Joint


def cluster_labels(joint: Joint, k: int, seed: int) -> I64:
    """The cluster of each pooled text (candidate first): k clusters, or fewer if there are fewer distinct points."""
    return joint.once(("clusters", k, seed), lambda: _label(principal_points(joint), k, seed))


def n_clusters(joint: Joint, k: int) -> int:
    """The number of clusters if k are requested."""
    return min(k, len(principal_points(joint).values))


# The share of the variance that the kept directions contain, as in mauve-text.
_SHARE = 0.9
# The largest length of a point on the grid: below 2**11, so that products of points stay below 2**22.
_RADIUS = 2000
# Vectors of length 1 that are closer to their mean than this differ only by rounding in the encoder.
_NOISE = 1e-4
_ROUNDED_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class PrincipalPoints:
    """The distinct grid points in canonical order, the number of texts at each, and the point of each pooled text."""

    values: F32
    texts: F64
    places: NDArray[np.int64]


def principal_points(joint: Joint) -> PrincipalPoints:
    """The points of a pair of samples, computed once; independent of the order of the texts and of their labels."""
    return joint.once("principal points", lambda: _distinct(_on_grid(joint.values, joint.order), joint.order))


def _distinct(grid: F32, order: NDArray[np.int64]) -> PrincipalPoints:
    """The distinct rows, in the order of their first appearance."""
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, grid.shape[1])
    # A 64-bit hash of each row: collisions of different rows are practically impossible.
    keys = np.concatenate([block.astype(np.int64) @ odd for block in _blocks(grid)])
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    ranks = np.argsort(first)
    places = np.empty(len(grid), dtype=np.int64)
    places[order] = np.argsort(ranks)[inverse]
    return PrincipalPoints(grid[first[ranks]], counts[ranks].astype(np.float64), places)


def _on_grid(values: F32, order: NDArray[np.int64]) -> F32:
    """Coordinates along the principal directions, rounded to whole numbers; rows in the given order."""
    ordered = values[order]
    mean = np.sum([block.sum(axis=0) for block in _unit_blocks(ordered)], axis=0) / len(ordered)
    directions, largest = _directions(ordered, mean)
    directions *= _RADIUS / max(largest, _NOISE)
    grid = np.empty((len(ordered), directions.shape[1]), dtype=np.float32)
    done = 0
    for block in _unit_blocks(ordered):
        grid[done : done + len(block)] = np.rint(block @ directions - mean @ directions)
        done += len(block)
    return grid


def _directions(values: F32, mean: F64) -> tuple[F64, float]:
    """The fewest principal directions with `_SHARE` of the variance, one per column, and the largest distance."""
    n, dimension = values.shape
    scatter, largest = np.zeros((dimension, dimension)), 0.0
    if n < dimension:
        # Fewer points than dimensions: the same directions from the smaller matrix of products of points.
        centred = np.concatenate(list(_unit_blocks(values))) - mean
        scatter = centred @ centred.T
        largest = float(np.diagonal(scatter).max())
    else:
        for block in _unit_blocks(values):
            centred = block - mean
            scatter += centred.T @ centred
            largest = max(largest, float(np.einsum("ij,ij->i", centred, centred).max()))
    variances, vectors = np.linalg.eigh(scatter)
    shares = np.cumsum(np.maximum(variances[::-1], 0))
    # Slightly less than the share, so that rounding does not decide if equal variances add up to it.
    kept = int(np.searchsorted(shares, (_SHARE - 1e-9) * shares[-1])) + 1
    chosen: F64 = vectors[:, ::-1][:, :kept]
    return chosen if n >= dimension else _unit(centred.T @ chosen), largest**0.5


def _unit(columns: F64) -> F64:
    lengths = np.linalg.norm(columns, axis=0)
    return columns / np.where(lengths > 0, lengths, 1)


def _unit_blocks(values: F32) -> Iterator[F64]:
    """Rows scaled to length 1, some at a time; zero vectors stay 0."""
    for block in _blocks(values):
        wide = block.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        wide /= np.where(lengths > 0, lengths, 1)[:, None]
        yield wide


def _blocks(values: F32) -> Iterator[F32]:
    step = max(1, _ROUNDED_AT_ONCE // values.shape[1])
    for start in range(0, len(values), step):
        yield values[start : start + step]


_MOST_ROUNDS = 100
# Rounds end when no more than this share of the points changes.
_SETTLED = 0.001
# Pairs of points and centres whose scores are computed at a time.
_DISTANCES_AT_ONCE = 1 << 19
# If more than this share of the centres moved, points are compared with all centres again.
_MOST_MOVED = 0.9


@dataclass(frozen=True, eq=False)
class _Assignment:
    """The cluster of each point, the score of its centre, and an upper bound on the scores of all other centres."""

    labels: I64
    scores: F32
    others: F32


def _label(points: PrincipalPoints, k: int, seed: int) -> I64:
    wanted = min(k, len(points.values))
    rng = np.random.Generator(np.random.PCG64([seed, wanted]))
    return kmeans(points.values, points.texts, k=wanted, rng=rng)[points.places]


def kmeans(points: F32, weights: F64, *, k: int, rng: np.random.Generator) -> I64:
    """The cluster of each of these distinct grid points; `weights` are the numbers of texts at the points.

    The first centres are the points of random texts (measured: k-means++ gives no better result and costs more). Rounds
    end when hardly any point changes its cluster. An empty cluster is given the point farthest from its centre.
    """
    first = rng.choice(len(points), k, replace=False, p=weights / weights.sum())
    labels = np.empty(len(points), dtype=np.int64)
    for rows, table in _scores(points, points[first]):
        labels[rows] = table.argmax(axis=1)
    totals = _totals(points, weights, labels, k)
    centres = _means(totals)
    held = _nearest(points, centres)
    for _ in range(_MOST_ROUNDS):
        _fill_empty(points, held, k)
        changed = np.flatnonzero(labels != held.labels)
        totals += _totals(points[changed], weights[changed], held.labels[changed], k)
        totals -= _totals(points[changed], weights[changed], labels[changed], k)
        labels = held.labels.copy()
        means = _means(totals)
        moved = np.flatnonzero((means != centres).any(axis=1))
        if len(changed) <= _SETTLED * len(points) or len(moved) == 0:
            break
        centres = means
        _reassign(points, centres, held, moved)
    return labels


def _totals(points: F32, weights: F64, labels: I64, k: int) -> F64:
    """Weight and weighted sum of the points of each cluster, as one table; exact, since all are whole numbers."""
    from scipy.sparse import csr_array

    member = csr_array((weights, (labels, np.arange(len(points)))), shape=(k, len(points)))
    table: F64 = member @ np.concatenate((np.ones((len(points), 1)), points), axis=1, dtype=np.float64)
    return table


def _means(totals: F64) -> F32:
    """The centres, rounded to the grid; 0 for an empty cluster, which only the first assignment may leave."""
    return np.rint(totals[:, 1:] / np.maximum(totals[:, :1], 1)).astype(np.float32)


def _nearest(points: F32, centres: F32) -> _Assignment:
    """The nearest centre of each point; the first one on ties."""
    n = len(points)
    held = _Assignment(np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32))
    for rows, table in _scores(points, centres):
        held.labels[rows] = table.argmax(axis=1)
        held.scores[rows] = _take_out(table, held.labels[rows])
        held.others[rows] = table.max(axis=1)
    return held


def _scores(points: F32, centres: F32) -> Iterator[tuple[slice, F32]]:
    """The score of each point and centre, higher if nearer: their product minus half the centre's squared length."""
    half = (centres.astype(np.float64) ** 2).sum(axis=1, keepdims=True) / 2
    columns = np.concatenate((centres, -half), axis=1, dtype=np.float32).T
    step = max(1, _DISTANCES_AT_ONCE // len(centres))
    one = np.ones((step, 1), dtype=np.float32)
    for start in range(0, len(points), step):
        block = points[start : start + step]
        yield slice(start, start + len(block)), np.concatenate((block, one[: len(block)]), axis=1) @ columns


def _take_out(table: F32, columns: I64) -> F32:
    """One number of each row; it is replaced by minus infinity in the table."""
    chosen = np.take_along_axis(table, columns[:, None], axis=1)[:, 0]
    np.put_along_axis(table, columns[:, None], -np.inf, axis=1)
    return chosen


def _reassign(points: F32, centres: F32, held: _Assignment, moved: I64) -> None:
    """Assign each point to its nearest centre, in place, after some centres moved."""
    unsure = np.arange(len(points))
    if len(moved) <= _MOST_MOVED * len(centres):
        unsure = _follow(points, centres, held, moved)
    fresh = _nearest(points[unsure] if len(unsure) < len(points) else points, centres)
    held.labels[unsure], held.scores[unsure], held.others[unsure] = fresh.labels, fresh.scores, fresh.others


def _follow(points: F32, centres: F32, held: _Assignment, moved: I64) -> I64:
    """Compare all points only with the centres that moved; returns the points that need all centres."""
    # One more column, for points whose own centre did not move.
    column = np.full(len(centres), len(moved), dtype=np.int64)
    column[moved] = np.arange(len(moved))
    unsure = []
    for rows, scores in _scores(points, centres[moved]):
        table = np.concatenate((scores, held.scores[rows, None]), axis=1)
        own = _take_out(table, column[held.labels[rows]])
        table[:, -1] = -np.inf
        rival = table.argmax(axis=1)
        best = _take_out(table, rival)
        change = best > own
        held.scores[rows] = np.where(change, best, own)
        # Centres that did not move are still below the old bound.
        unsure.append(rows.start + np.flatnonzero(held.scores[rows] < held.others[rows]))
        runner_up = np.where(change, np.maximum(own, table.max(axis=1)), best)
        held.others[rows] = np.maximum(held.others[rows], runner_up)
        held.labels[rows] = np.where(change, moved[rival % len(moved)], held.labels[rows])
    return np.concatenate(unsure)


def _fill_empty(points: F32, held: _Assignment, k: int) -> None:
    """Give each empty cluster the point farthest from its centre, from clusters of two or more points."""
    sizes = np.bincount(held.labels, minlength=k)
    if sizes.all():
        return
    nearness = held.scores - (points.astype(np.float64) ** 2).sum(axis=1) / 2
    farthest = iter(np.argsort(nearness, kind="stable"))
    for empty in np.flatnonzero(sizes == 0):
        point = next(point for point in farthest if sizes[held.labels[point]] > 1)
        sizes[held.labels[point]] -= 1
        sizes[empty] = 1
        held.labels[point] = empty
        held.others[point] = np.inf
