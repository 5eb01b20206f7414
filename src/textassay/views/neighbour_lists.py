"""The nearest texts of every text of two samples, as lists that serve every labelling of the texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from textassay.views.crowds import Slots, slots_of
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
class Ties:
    """Entries that are as far away as another entry of their list, group by group.

    `entries` are flat places, `group` numbers the group of each. A group has the entries from `starts` on in the
    list of slot `rows`, whole unless the list was cut in the middle of it. `before` and `after` are flat places in a
    table with a line per entry and one more at the top: the lines before the first entry and after the last.
    """

    entries: Ints
    group: Ints
    rows: Ints
    starts: Ints
    before: Ints
    after: Ints


@dataclass(frozen=True, eq=False)
class Lists:
    """The nearest slots of every slot, itself among them, by growing distance: column i of `ids` for slot i.

    `cut_rows` are the lists that end among entries of one distance, `cut_at` the place where these begin. `by_id` puts
    the flat entries in the order of the slots they name, whose runs begin at `runs`.
    """

    ids: NDArray[np.int32]
    ties: Ties
    cut_rows: Ints
    cut_at: Ints
    by_id: NDArray[np.int32]
    runs: Ints
    named: NDArray[np.int32]
    slots: Slots
    distinct: Distinct
    pairs: Pairs
    rough_will_do: bool


def lists_for(pair: Joint, k: int) -> Lists:
    """Lists long enough for random labellings of these sizes, made once for a pair of samples."""
    return pair.once(("neighbour lists", k), lambda: _lists(pair, list_length(pair.sizes, k), k))


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
    rough_will_do = bool(np.median(found.keys[:, -1]) > _FINER * pairs.doubt(slice(None)).max())
    return Lists(
        ids, _ties(keys), cut_rows, cut_at, by_id, runs, in_order[runs], slots, distinct, pairs, rough_will_do
    )  # fmt: skip


def _spread_out(found: Nearest, slots: Slots, length: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Lists of slots from lists of places: each place stands for all of its slots."""
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
    """The groups of two or more entries of one distance."""
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
