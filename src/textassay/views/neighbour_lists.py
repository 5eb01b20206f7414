"""The nearest points of every point of two samples thrown together, as lists that serve every labelling of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from textassay.views.distinct_vectors import Distinct, distinct_vectors
from textassay.views.neighbours import Nearest, nearest
from textassay.views.pair_distances import Pairs, pairs_of
from textassay.views.vectors import Joint

Ints = NDArray[np.int64]

# The chance that a list ends before the k-th point of the same label, when labels are drawn at random.
_TOO_SHORT = 1e-7
# Entries of all lists together. Where one sample is so much smaller that this does not do, its balls are searched for
# among all points, and the lists need to serve the larger one only.
_MOST_ENTRIES = 1 << 22
_OFTEN_TOO_SHORT = 0.05
# Rough distances are of use where they are this many times finer than the distances in the lists.
_FINER = 10


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest points of every point, itself among them, by growing distance: column i of `ids` for point i.

    `tied` are the flat places of entries no nearer than the next one, `ends` the last place of each such tie.
    `by_id` puts the flat entries in the order of the points they name, whose runs begin at `runs`.
    """

    ids: NDArray[np.int32]
    tied: Ints
    ends: Ints
    by_id: NDArray[np.int32]
    runs: Ints
    named: NDArray[np.int32]
    distinct: Distinct
    pairs: Pairs
    rough_will_do: bool


def lists_for(pair: Joint, k: int) -> Lists:
    """Lists long enough for random labellings of these sizes, made once for a pair of samples."""
    return pair.once(("neighbour lists", k), lambda: _lists(pair, list_length(pair.sizes, k)))


def list_length(sizes: Sequence[int], k: int) -> int:
    """Entries a list needs, the point itself included."""
    total = sum(sizes)
    room = min(total, max(4 * (k + 1), _MOST_ENTRIES // total))
    share = (min(sizes) - 1) / (total - 1)
    if room < total and binom.cdf(k - 1, room - 1, share) > _OFTEN_TOO_SHORT:
        share = (max(sizes) - 1) / (total - 1)
    lengths = np.arange(k, room)
    enough = np.flatnonzero(binom.cdf(k - 1, lengths, share) <= _TOO_SHORT)
    return int(lengths[enough[0]]) + 1 if enough.size else room


def _lists(pair: Joint, length: int) -> Lists:
    distinct = distinct_vectors(pair)
    pairs = pairs_of(distinct.values)
    found = nearest(pairs, length)
    points, keys = _spread_out(found, distinct, length)
    ids = np.ascontiguousarray(points[distinct.place].T)
    tied, ends = _ties(np.ascontiguousarray(keys[distinct.place].T))
    by_id = np.argsort(ids, axis=None, kind="stable").astype(np.int32)
    in_order = ids.ravel()[by_id]
    runs = np.flatnonzero(np.diff(in_order, prepend=-1))
    rough_will_do = bool(np.median(found.keys[:, -1]) > _FINER * pairs.doubt(slice(None)).max())
    return Lists(ids, tied, ends, by_id, runs, in_order[runs], distinct, pairs, rough_will_do)


def _spread_out(found: Nearest, distinct: Distinct, length: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Lists of points from lists of distinct vectors: each vector stands for all points that have it."""
    points = np.empty((len(found.ids), length), dtype=np.int32)
    keys = np.empty(points.shape)
    step = max(1, (1 << 20) // length**2)
    for start in range(0, len(points), step):
        ids = found.ids[start : start + step]
        copies = np.minimum(distinct.counts[ids], length)
        before = np.cumsum(copies, axis=1) - copies
        entry = np.repeat(np.arange(ids.size), copies.ravel())
        copy = np.arange(len(entry)) - np.repeat(np.cumsum(copies) - copies.ravel(), copies.ravel())
        at = before.ravel()[entry] + copy
        fits = at < length
        entry, copy, at = entry[fits], copy[fits], at[fits]
        row = start + entry // ids.shape[1]
        points[row, at] = distinct.points[distinct.starts[ids.ravel()[entry]] + copy]
        keys[row, at] = found.keys[start : start + step].ravel()[entry]
    return points, keys


def _ties(keys: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Flat places of entries as far away as the next in their list, and the last place of each one's tie."""
    n = keys.shape[1]
    same = keys[:-1] == keys[1:]
    tied, ends = [], []
    end = np.full(n, len(keys) - 1)
    for place in range(len(same) - 1, -1, -1):
        end[~same[place]] = place
        rows = np.flatnonzero(same[place])
        tied.append(place * n + rows)
        ends.append(end[rows] * n + rows)
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *tied]), np.concatenate([empty, *ends])
