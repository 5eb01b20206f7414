"""Exact nearest neighbours of every vector among all, in blocks: never a matrix of all pairs.

Each pair of blocks is multiplied once, for both sides. What is nearer than a threshold (from a sample of the columns)
is kept, and differences in double precision decide among it. A row is settled when the rough distances prove that
nothing left out is nearer; the few others are searched whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from textassay.views.pair_distances import F64, Pairs

Ints = NDArray[np.int64]
F32 = NDArray[np.float32]

# Up to this many vectors every row is searched whole.
_FEW = 512
_BLOCK = 2048
# A threshold comes from one column in this many; it misses a row's nearest with the chance below.
_SAMPLED = 16
_MISSES = 1e-3
# Kept beyond the wanted neighbours, for the rough distances to prove themselves on.
_SPARE = 8
# Farther than any two vectors are apart (see Pairs for the unit).
_FAR = 9.0
# Entries of a matrix of whole rows.
_WHOLE = 1 << 22


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest vectors of each row by growing distance, the row itself among them.

    `keys` stand for their squared distances: in the same order, equal only where the distances are, and within the
    doubt of rough distances.
    """

    ids: Ints
    keys: F64


@dataclass(frozen=True, eq=False)
class _Found:
    """Pairs nearer than the threshold of their row, for the rows of one block."""

    rows: list[NDArray[np.uint16]] = field(default_factory=list)
    columns: list[NDArray[np.int32]] = field(default_factory=list)
    rough: list[F32] = field(default_factory=list)

    def add(self, rows: Ints, columns: Ints, rough: F32) -> None:
        self.rows.append(rows.astype(np.uint16))
        self.columns.append(columns.astype(np.int32))
        self.rough.append(rough)


def nearest(pairs: Pairs, length: int) -> Nearest:
    """The `length` nearest vectors of each (at most all there are); ties at the end are cut anywhere."""
    length = min(length, len(pairs))
    answer = Nearest(np.empty((len(pairs), length), dtype=np.int64), np.empty((len(pairs), length)))
    if len(pairs) <= _FEW or length + _SPARE > len(pairs) // 2:
        open_rows = np.arange(len(pairs))
    else:
        open_rows = np.concatenate(list(_search_blocks(pairs, answer)))
    step = max(1, _WHOLE // len(pairs))
    for start in range(0, len(open_rows), step):
        _search_whole(pairs, open_rows[start : start + step], answer)
    return answer


def _search_blocks(pairs: Pairs, answer: Nearest) -> Iterator[Ints]:
    """Fill in the answer; yields the rows that are not settled, block by block."""
    limits = _thresholds(pairs, answer.ids.shape[1] + _SPARE)
    starts = range(0, len(pairs), _BLOCK)
    found = {start: _Found() for start in starts}
    for start in starts:
        rows = slice(start, start + _BLOCK)
        for other in starts[start // _BLOCK :]:
            columns = slice(other, other + _BLOCK)
            tile = pairs.rough(rows, columns)
            _collect(tile, tile < limits[rows, None], found[start], other)
            if other != start:
                _collect(tile, tile < limits[columns], found[other], start, turned=True)
        yield start + _settle_block(pairs, rows, found.pop(start), limits[rows], answer)


def _thresholds(pairs: Pairs, wanted: int) -> F32:
    """A rough distance for each row within which there are probably `wanted` others, and not many times as many."""
    columns = np.arange(0, len(pairs), _SAMPLED)
    rank = int(binom.isf(_MISSES, wanted, 1 / _SAMPLED)) + 1
    limits = np.empty(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), _BLOCK):
        rough = pairs.rough(slice(start, start + _BLOCK), columns)
        rough.partition(min(rank, len(columns) - 1), axis=1)
        limits[start : start + _BLOCK] = rough[:, min(rank, len(columns) - 1)]
    return limits


def _collect(tile: F32, near: NDArray[np.bool_], found: _Found, offset: int, *, turned: bool = False) -> None:
    at = np.flatnonzero(near)
    rows, columns = np.divmod(at, tile.shape[1])
    rough = tile.ravel()[at]
    if turned:
        found.add(columns, rows + offset, rough)
    else:
        found.add(rows, columns + offset, rough)


def _settle_block(pairs: Pairs, rows: slice, found: _Found, limits: F32, answer: Nearest) -> Ints:
    """Order what was found for the rows of a block; returns the rows of it that may lack a neighbour."""
    length = answer.ids.shape[1]
    columns, rough = _padded(found, len(limits))
    if columns.shape[1] < length + _SPARE:
        return np.arange(len(limits))
    kept = np.argpartition(rough, length + _SPARE - 1, axis=1)[:, : length + _SPARE]
    kept = np.take_along_axis(kept, np.argsort(np.take_along_axis(rough, kept, axis=1), axis=1), axis=1)
    columns, rough = np.take_along_axis(columns, kept, axis=1), np.take_along_axis(rough, kept, axis=1)
    doubt = pairs.doubt(rows)
    keys = _keys(pairs, np.arange(len(limits)) + rows.start, columns, rough, doubt)
    order = np.argsort(keys, axis=1, kind="stable")[:, :length]
    answer.ids[rows] = np.take_along_axis(columns, order, axis=1)
    answer.keys[rows] = np.take_along_axis(keys, order, axis=1)
    # What was cut off is no nearer than the last that was kept; what was never found, than the threshold.
    return np.flatnonzero(answer.keys[rows][:, -1] > np.minimum(limits, rough[:, -1]) - 2 * doubt)


def _keys(pairs: Pairs, rows: Ints, columns: Ints, rough: F32, doubt: F64) -> F64:
    """Rough distances, sorted, with exact ones in place of those too near to the next to be told apart."""
    keys = rough.astype(np.float64)
    close = np.diff(keys, axis=1) <= 2 * doubt[:, None]
    unsure = rough < _FAR
    unsure[:, 1:-1] &= close[:, 1:] | close[:, :-1]
    unsure[:, 0] &= close[:, 0]
    unsure[:, -1] &= close[:, -1]
    line, at = np.nonzero(unsure)
    keys[line, at] = pairs.exact(rows[line], columns[line, at])
    return keys


def _padded(found: _Found, n_rows: int) -> tuple[Ints, F32]:
    """Columns and rough distances, a line a row, filled up with what is far away."""
    rows = np.concatenate(found.rows)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    counts = np.bincount(rows, minlength=n_rows)
    at = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = np.zeros((n_rows, int(counts.max(initial=0)) + _SPARE), dtype=np.int64)
    rough = np.full(columns.shape, _FAR, dtype=np.float32)
    columns[rows, at] = np.concatenate(found.columns)[order]
    rough[rows, at] = np.concatenate(found.rough)[order]
    return columns, rough


def _search_whole(pairs: Pairs, rows: Ints, answer: Nearest) -> None:
    """Fill in the answer for these rows from their distances to everything."""
    length = answer.ids.shape[1]
    fine = pairs.fine(rows)
    for row, near in zip(rows, nearest_in(fine, length, pairs.fine_doubt(rows)), strict=True):
        squared = pairs.exact(np.full(len(near), row), near)
        order = np.argsort(squared, kind="stable")[:length]
        answer.ids[row], answer.keys[row] = near[order], squared[order]


def nearest_in(fine: F64, length: int, doubt: Sequence[float] | F64) -> Iterator[Ints]:
    """Of each row of distances with doubt, the places that hold its `length` nearest for sure, and few others."""
    last = np.partition(fine, length - 1, axis=1)[:, length - 1]
    for row, limit in zip(fine, last + 2 * np.asarray(doubt), strict=True):
        yield np.flatnonzero(row <= limit)
