"""Clusters: pooled vectors of two samples quantised by k-means, the same in any order of texts and on any machine.

Lloyd's rounds are exact: all coordinates are whole numbers (see `principal`). Every round looks at all principal
directions. Rounds that begin with the leading quarter of them are cheaper, but end in clusters that follow these
directions: where a difference between the samples lies along one of them, MAUVE comes out too low (0.38 where
mauve-text gives 0.50, on Gaussians in 64 dimensions). From round to round each point keeps a bound on how near the
centres that do not hold it are, so that it is compared again with those centres only that moved.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.principal import F64, PrincipalPoints, principal_points
from textassay.views.vectors import F32, Joint

I64 = NDArray[np.int64]

_MOST_ROUNDS = 100
# Rounds end when no more than this share of the points changes.
_SETTLED = 0.001
# Scores of this many pairs of points and centres are held at a time.
_BLOCK = 1 << 19
# When more than this share of the centres moved, points are compared with all of them at once.
_MOST_MOVED = 0.9


@dataclass(frozen=True, eq=False)
class _Held:
    """The centre that holds each point, how near it is, and what no other centre's nearness exceeds."""

    labels: I64
    scores: F32
    others: F32


def cluster_labels(joint: Joint, k: int, seed: int) -> I64:
    """The cluster of each pooled text (candidate first): k clusters, or as many as there are distinct points."""
    return joint.once(("clusters", k, seed), lambda: _label(principal_points(joint), k, seed))


def n_clusters(joint: Joint, k: int) -> int:
    """How many clusters there are when k are wanted."""
    return min(k, len(principal_points(joint).values))


def _label(points: PrincipalPoints, k: int, seed: int) -> I64:
    wanted = min(k, len(points.values))
    rng = np.random.Generator(np.random.PCG64([seed, wanted]))
    return kmeans(points.values, points.texts, k=wanted, rng=rng)[points.places]


def kmeans(points: F32, weights: F64, *, k: int, rng: np.random.Generator) -> I64:
    """The cluster of each of these distinct points of whole numbers, each with the number of texts there.

    The points of texts drawn at random are the first centres (measured: k-means++ ends no better and costs more).
    Lloyd's rounds end when hardly a point changes its cluster; a cluster that runs empty is given a point from afar.
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
    """The centres, rounded to the grid; that of an empty cluster, which only the first draw may leave, is 0."""
    return np.rint(totals[:, 1:] / np.maximum(totals[:, :1], 1)).astype(np.float32)


def _nearest(points: F32, centres: F32) -> _Held:
    """The nearest centre of each point, the first where several are."""
    n = len(points)
    held = _Held(np.empty(n, dtype=np.int64), np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32))
    for rows, table in _scores(points, centres):
        held.labels[rows] = table.argmax(axis=1)
        held.scores[rows] = _take_out(table, held.labels[rows])
        held.others[rows] = table.max(axis=1)
    return held


def _scores(points: F32, centres: F32) -> Iterator[tuple[slice, F32]]:
    """How near each point is to each centre, more is nearer: their product less half the centre's square."""
    half = (centres.astype(np.float64) ** 2).sum(axis=1, keepdims=True) / 2
    columns = np.concatenate((centres, -half), axis=1, dtype=np.float32).T
    step = max(1, _BLOCK // len(centres))
    one = np.ones((step, 1), dtype=np.float32)
    for start in range(0, len(points), step):
        block = points[start : start + step]
        yield slice(start, start + len(block)), np.concatenate((block, one[: len(block)]), axis=1) @ columns


def _take_out(table: F32, columns: I64) -> F32:
    """One number of each row, which the table loses."""
    chosen = np.take_along_axis(table, columns[:, None], axis=1)[:, 0]
    np.put_along_axis(table, columns[:, None], -np.inf, axis=1)
    return chosen


def _reassign(points: F32, centres: F32, held: _Held, moved: I64) -> None:
    """Give each point its nearest centre again, in place, after some centres moved."""
    unsure = np.arange(len(points))
    if len(moved) <= _MOST_MOVED * len(centres):
        unsure = _follow(points, centres, held, moved)
    fresh = _nearest(points[unsure] if len(unsure) < len(points) else points, centres)
    held.labels[unsure], held.scores[unsure], held.others[unsure] = fresh.labels, fresh.scores, fresh.others


def _follow(points: F32, centres: F32, held: _Held, moved: I64) -> I64:
    """Compare all points with the centres that moved only; returns the points for which that was not enough."""
    # One column more, for points whose own centre stayed.
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
        # What stayed where it was is no nearer than the others were before.
        unsure.append(rows.start + np.flatnonzero(held.scores[rows] < held.others[rows]))
        runner_up = np.where(change, np.maximum(own, table.max(axis=1)), best)
        held.others[rows] = np.maximum(held.others[rows], runner_up)
        held.labels[rows] = np.where(change, moved[rival % len(moved)], held.labels[rows])
    return np.concatenate(unsure)


def _fill_empty(points: F32, held: _Held, k: int) -> None:
    """Give each empty cluster the point farthest from its centre, out of the clusters that have two or more."""
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
