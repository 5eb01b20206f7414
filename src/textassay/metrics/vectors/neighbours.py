"""Exact nearest neighbours of every vector, with proven bounds on rounding errors.

Distances from matrix products are fast but rounded ("rough", or "fine" in double precision). Distances from differences
are slow and exact in the sense needed here: equal vectors are exactly 0 apart, and a pair gives the same bits in either
order and in any batch. So products find the few pairs that matter, and differences decide between them.

Each pair of blocks is multiplied once, for both sides. Pairs nearer than a threshold (from a sample of the columns) are
kept and ordered by differences in double precision. A row is settled if the bounds on the rough distances prove that no
other vector is nearer; the few other rows are searched completely.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, I64
from textassay.metrics.vectors.repeated_vectors import Distinct, Slots, distinct_vectors, slots_of
from textassay.metrics.vectors.vectors import Joint

# Differences computed at a time: they fit into the processor's cache.
_CACHED = 1 << 17
# Columns converted to double precision at a time.
_COLUMNS = 4096


@dataclass(frozen=True, eq=False)
class Pairs:
    """Vectors prepared for distances, scaled so that none is farther than 1 from their mean."""

    values: F32
    centre: F64
    scale: float
    single: F32
    lengths: F64

    def __len__(self) -> int:
        return len(self.values)

    def exact(self, first: I64, second: I64) -> F64:
        """Squared distance of each pair of rows, by differences in double precision."""
        found = np.empty(len(first))
        step = max(1, _CACHED // self.values.shape[1])
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            gaps = np.subtract(self.values[first[part]], self.values[second[part]], dtype=np.float64)
            np.einsum("ij,ij->i", gaps, gaps, out=found[part])
        found *= self.scale**2
        return found

    def rough(self, rows: slice | I64, columns: slice | I64) -> F32:
        """Squared distances of rows to columns, each with an error of at most `doubt`."""
        squares = (self.lengths**2).astype(np.float32)
        found: F32 = np.multiply(self.single[rows], np.float32(-2)) @ self.single[columns].T
        found += squares[rows, None]
        found += squares[columns]
        return found

    def doubt(self, rows: slice | I64) -> F64:
        """The largest error of the rough distances of each row."""
        return self._doubt(rows, float(np.finfo(np.float32).eps))

    def fine(self, rows: I64) -> F64:
        """Squared distances of rows to all vectors in double precision, each with an error of at most `fine_doubt`."""
        found = np.empty((len(rows), len(self)))
        mine = self._centred(rows)
        for start in range(0, len(self), _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            theirs = self._centred(columns)
            tile = mine @ theirs.T
            tile *= -2
            tile += np.einsum("ij,ij->i", theirs, theirs)
            found[:, columns] = tile
        found += np.einsum("ij,ij->i", mine, mine)[:, None]
        return found

    def fine_doubt(self, rows: slice | I64) -> F64:
        """The largest error of the fine distances of each row."""
        return self._doubt(rows, float(np.finfo(np.float64).eps))

    def _centred(self, rows: slice | I64) -> F64:
        return (self.values[rows] - self.centre) * self.scale

    def _doubt(self, rows: slice | I64, epsilon: float) -> F64:
        # With unit roundoff u, lengths a and b, and d terms summed in any order, the error of the product is at most
        # d*u*a*b (and it enters twice); rounding the coordinates, the squares and the two sums adds at most
        # 8*u*(a + b)^2. As 2ab <= (a + b)^2 / 2, the total is at most (d/2 + 8)*u*(a + b)^2; a tenth more covers terms
        # of order u^2.
        reach = self.lengths[rows] + self.lengths.max(initial=0.0)
        return 1.1 * (self.values.shape[1] / 2 + 8) * (epsilon / 2) * reach**2


def pairs_of(values: F32) -> Pairs:
    """Centre and scale the vectors: a common offset would cost the rough distances precision."""
    centre = values.mean(axis=0, dtype=np.float64)
    lengths = np.empty(len(values))
    for start in range(0, len(values), _COLUMNS):
        gaps = values[start : start + _COLUMNS] - centre
        lengths[start : start + _COLUMNS] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    # A power of two changes no digit, so exact distances compare in the same way in different pools.
    scale = math.ldexp(1.0, -math.frexp(float(lengths.max(initial=0.0)))[1])
    single = np.empty(values.shape, dtype=np.float32)
    for start in range(0, len(values), _COLUMNS):
        single[start : start + _COLUMNS] = (values[start : start + _COLUMNS] - centre) * scale
    return Pairs(values, centre, scale, single, lengths * scale)


# Up to this many vectors every row is searched completely.
_FEW = 512
_BLOCK = 2048
# Thresholds are computed from one column in this many; a row lacks a neighbour with the probability `_MISSES`.
_SAMPLED = 16
_MISSES = 1e-3
# Extra neighbours that are kept, to prove that the wanted ones are complete.
_SPARE = 8
# Larger than any squared distance (see `Pairs` for the scale).
_FAR = 9.0
# Entries of a matrix of whole rows.
_WHOLE = 1 << 22


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest vectors of each row by increasing distance, the row itself included.

    `keys` are in the order of the squared distances, equal exactly if the distances are equal, and have at most the
    error of rough distances.
    """

    ids: I64
    keys: F64


@dataclass(frozen=True, eq=False)
class _Found:
    """Pairs nearer than the threshold of their row, for the rows of one block."""

    rows: list[NDArray[np.uint16]] = field(default_factory=list)
    columns: list[NDArray[np.int32]] = field(default_factory=list)
    rough: list[F32] = field(default_factory=list)

    def add(self, rows: I64, columns: I64, rough: F32) -> None:
        self.rows.append(rows.astype(np.uint16))
        self.columns.append(columns.astype(np.int32))
        self.rough.append(rough)


def nearest(pairs: Pairs, length: int) -> Nearest:
    """The `length` nearest vectors of each vector (at most all); a tie at the end may be cut."""
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


def _search_blocks(pairs: Pairs, answer: Nearest) -> Iterator[I64]:
    """Fill in the answer block by block; yields the rows that are not settled."""
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
    """A rough distance for each row that probably has `wanted` vectors within it, and not many more."""
    from scipy.stats import binom

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


def _settle_block(pairs: Pairs, rows: slice, found: _Found, limits: F32, answer: Nearest) -> I64:
    """Sort what was found for the rows of a block; returns the rows that may lack a neighbour."""
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
    # Vectors that were cut off are no nearer than the last one kept; vectors not found, no nearer than the threshold.
    return np.flatnonzero(answer.keys[rows][:, -1] > np.minimum(limits, rough[:, -1]) - 2 * doubt)


def _keys(pairs: Pairs, rows: I64, columns: I64, rough: F32, doubt: F64) -> F64:
    """Sorted rough distances; those that are too close to the next to be compared are replaced by exact ones."""
    keys = rough.astype(np.float64)
    close = np.diff(keys, axis=1) <= 2 * doubt[:, None]
    unsure = rough < _FAR
    unsure[:, 1:-1] &= close[:, 1:] | close[:, :-1]
    unsure[:, 0] &= close[:, 0]
    unsure[:, -1] &= close[:, -1]
    line, at = np.nonzero(unsure)
    keys[line, at] = pairs.exact(rows[line], columns[line, at])
    return keys


def _padded(found: _Found, n_rows: int) -> tuple[I64, F32]:
    """Columns and rough distances, one line per row, padded with far away entries."""
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


def _search_whole(pairs: Pairs, rows: I64, answer: Nearest) -> None:
    """Fill in the answer for these rows from their distances to all vectors."""
    length = answer.ids.shape[1]
    fine = pairs.fine(rows)
    for row, near in zip(rows, nearest_in(fine, length, pairs.fine_doubt(rows)), strict=True):
        squared = pairs.exact(np.full(len(near), row), near)
        order = np.argsort(squared, kind="stable")[:length]
        answer.ids[row], answer.keys[row] = near[order], squared[order]


def nearest_in(fine: F64, length: int, doubt: Sequence[float] | F64) -> Iterator[I64]:
    """For each row of distances with these errors, places that certainly include the `length` nearest, and few more."""
    last = np.partition(fine, length - 1, axis=1)[:, length - 1]
    for row, limit in zip(fine, last + 2 * np.asarray(doubt), strict=True):
        yield np.flatnonzero(row <= limit)


# The probability that a list ends before the k-th point of the same label if labels are drawn at random.
_TOO_SHORT = 1e-7
# Entries of all lists together. If one sample is so small that this is not enough, its balls are searched among all
# points, and the lists only need to be long enough for the larger sample.
_MOST_ENTRIES = 1 << 22
_OFTEN_TOO_SHORT = 0.05
# Rough distances are used if their error is this many times smaller than the distances in the lists.
_FINER = 10


@dataclass(frozen=True, eq=False)
class Ties:
    """Groups of entries of one list that are equally far away.

    `entries` are flat places, and `group` is the number of each entry's group. A group begins at `starts` in the list
    of slot `rows`; it is complete unless the list was cut in the middle. `before` and `after` are flat places in a
    table with one line per entry and one more at the top: the lines before the first entry and after the last.
    """

    entries: I64
    group: I64
    rows: I64
    starts: I64
    before: I64
    after: I64


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest slots of every slot, itself included, by increasing distance: column i of `ids` for slot i.

    `cut_rows` are the lists that end in the middle of a tie, and `cut_at` is where that tie begins. `by_id` sorts the
    flat entries by the slot they name (`named`); the runs of one slot begin at `runs`.
    """

    ids: NDArray[np.int32]
    ties: Ties
    cut_rows: I64
    cut_at: I64
    by_id: NDArray[np.int32]
    runs: I64
    named: NDArray[np.int32]
    slots: Slots
    distinct: Distinct
    pairs: Pairs
    use_rough: bool


def lists_for(pair: Joint, k: int) -> Lists:
    """Lists long enough for random labellings of these sizes, computed once for a pair of samples."""
    return pair.once(("neighbour lists", k), lambda: _lists(pair, list_length(pair.sizes, k), k))


def list_length(sizes: Sequence[int], k: int) -> int:
    """The number of entries a list needs, the point itself included."""
    from scipy.stats import binom

    total = sum(sizes)
    room = min(total, max(4 * (k + 1), _MOST_ENTRIES // total))
    share = (min(sizes) - 1) / (total - 1)
    if room < total and binom.cdf(k - 1, room - 1, share) > _OFTEN_TOO_SHORT:
        share = (max(sizes) - 1) / (total - 1)
    lengths = np.arange(k, room)
    enough = np.flatnonzero(binom.cdf(k - 1, lengths, share) <= _TOO_SHORT)
    return int(lengths[enough[0]]) + 1 if enough.size else room


def _lists(pair: Joint, length: int, k: int) -> Lists:
    distinct = distinct_vectors(pair)
    slots, pairs = slots_of(distinct, k), pairs_of(distinct.values)
    length = min(length, len(slots))
    # One more entry shows whether the list ends in the middle of a tie.
    found = nearest(pairs, length + 1)
    by_place, keys = _spread_out(found, slots, min(length + 1, len(slots)))
    keys = np.ascontiguousarray(keys[slots.place].T)
    goes_on = keys[length - 1] == keys[length] if len(keys) > length else np.zeros(len(slots), dtype=bool)
    ids, keys = np.ascontiguousarray(by_place[slots.place, :length].T), keys[:length]
    cut_rows = np.flatnonzero(goes_on)
    cut_at = (keys[:, cut_rows] < keys[-1, cut_rows]).sum(axis=0)
    by_id = np.argsort(ids, axis=None, kind="stable").astype(np.int32)
    in_order = ids.ravel()[by_id]
    runs = np.flatnonzero(np.diff(in_order, prepend=-1))
    use_rough = bool(np.median(found.keys[:, -1]) > _FINER * pairs.doubt(slice(None)).max())
    return Lists(
        ids, _ties(keys), cut_rows, cut_at, by_id, runs, in_order[runs], slots, distinct, pairs, use_rough
    )  # fmt: skip


def _spread_out(found: Nearest, slots: Slots, length: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Lists of slots from lists of places: each place is replaced by all of its slots."""
    entries = np.empty((len(found.ids), length), dtype=np.int32)
    keys = np.empty(entries.shape)
    step = max(1, (1 << 20) // length**2)
    for start in range(0, len(entries), step):
        ids = found.ids[start : start + step]
        copies = slots.counts[ids]
        before = np.cumsum(copies, axis=1) - copies
        entry = np.repeat(np.arange(ids.size), copies.ravel())
        copy = np.arange(len(entry)) - np.repeat(np.cumsum(copies) - copies.ravel(), copies.ravel())
        at = before.ravel()[entry] + copy
        fits = at < length
        entry, copy, at = entry[fits], copy[fits], at[fits]
        row = start + entry // ids.shape[1]
        entries[row, at] = slots.starts[ids.ravel()[entry]] + copy
        keys[row, at] = found.keys[start : start + step].ravel()[entry]
    return entries, keys


def _ties(keys: NDArray[np.float64]) -> Ties:
    """The groups of two or more entries at one distance."""
    length, n = keys.shape
    by_row = keys.T
    as_last = np.zeros((n, length), dtype=bool)
    as_last[:, 1:] = by_row[:, 1:] == by_row[:, :-1]
    as_next = np.zeros((n, length), dtype=bool)
    as_next[:, :-1] = as_last[:, 1:]
    rows, starts = np.nonzero(as_next & ~as_last)
    ends = np.nonzero(as_last & ~as_next)[1]
    row_of, place = np.nonzero(as_last | as_next)
    return Ties(
        entries=place * n + row_of,
        group=np.repeat(np.arange(len(rows)), ends - starts + 1),
        rows=rows,
        starts=starts,
        before=starts * n + rows,
        after=(ends + 1) * n + rows,
    )
