"""Balls that reach beyond the lists of nearest points: the rows of these points are searched whole.

Rare when labels are drawn at random. Common when the samples lie apart: the nearest points of a reference may all be
copies that a collapsed generator made.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.label_bits import WORD, Words, bit_counts
from textassay.views.neighbour_lists import Lists
from textassay.views.neighbours import nearest_in

Ints = NDArray[np.int64]
F64 = NDArray[np.float64]

# Entries of a matrix of whole rows.
_WHOLE = 1 << 22


@dataclass(frozen=True, eq=False)
class _Row:
    """A point and its squared distances to all points, each within `doubt` of the exact one."""

    lists: Lists
    point: int
    distances: F64
    doubt: float

    def exact(self, points: Ints) -> F64:
        place = self.lists.distinct.place
        return self.lists.pairs.exact(np.full(len(points), place[self.point]), place[points])


def add_wide_balls(
    lists: Lists, candidate: Words, reference: Words, k: int, *, open_words: Words, covered: Words, hit: Words
) -> Ints:
    """Add the balls of each point in its open labellings to `covered` and `hit`; returns their memberships.

    All arrays have a row for each 64 labellings; the distances of a point serve all of them.
    """
    memberships = np.zeros((len(candidate), WORD), dtype=np.int64)
    for rows in _in_parts(lists, np.flatnonzero(open_words.any(axis=0))):
        members: list[list[Words]] = [[] for _ in candidate]
        for row in rows:
            for line in np.flatnonzero(open_words[:, row.point]).tolist():
                here = open_words[line, row.point]
                near, inside = _ball(row, candidate[line], reference[line], k, here)
                covered[line, near] |= inside
                inside &= reference[line, row.point]
                hit[line, row.point] |= np.bitwise_or.reduce(inside)
                members[line].append(inside)
        for line, words in enumerate(members):
            memberships[line] += bit_counts(np.concatenate(words)) if words else 0
    return memberships


def _ball(row: _Row, candidate: Words, reference: Words, k: int, here: np.uint64) -> tuple[Ints, Words]:
    """Points of the other label inside the ball in some labelling, and the labellings in which they are."""
    mine, theirs = candidate[row.point] & here, reference[row.point] & here
    same = candidate & mine
    same |= reference & theirs
    radii, reach = _radii(row, same, k, int(here))
    near = np.flatnonzero(row.distances < radii[-1] + row.doubt)
    others = reference[near] & mine
    others |= candidate[near] & theirs
    near, others = near[others != 0], others[others != 0]
    distances = row.distances[near]
    unsure = np.zeros(len(near), dtype=bool)
    for radius in radii:
        unsure |= np.abs(distances - radius) <= row.doubt
    distances[unsure] = row.exact(near[unsure])
    others &= reach[np.searchsorted(radii, distances, side="right")]
    return near, others


def _in_parts(lists: Lists, points: Ints) -> Iterator[Iterator[_Row]]:
    step = max(1, _WHOLE // len(lists.distinct.place))
    for start in range(0, len(points), step):
        yield _rows(lists, points[start : start + step])


def _rows(lists: Lists, points: Ints) -> Iterator[_Row]:
    place, pairs = lists.distinct.place, lists.pairs
    places = place[points]
    if lists.rough_will_do:
        distances: NDArray[np.floating] = pairs.rough(places, slice(None))
        doubt = pairs.doubt(places)
    else:
        distances, doubt = pairs.fine(places), pairs.fine_doubt(places)
    for point, row, off in zip(points, distances, doubt, strict=True):
        yield _Row(lists, int(point), row[place].astype(np.float64), float(off))


def _radii(row: _Row, same: Words, k: int, here: int) -> tuple[F64, Words]:
    """The squared radii of the ball in its labellings, growing; and which labellings have one beyond each number.

    Entry i of the second are the labellings whose radius is not among the first i radii.
    """
    same[row.point] = 0
    own = np.flatnonzero(same)
    mine, wanted = row.distances[own][None, :], 2 * k + 8
    while True:
        wanted = min(wanted, len(own))
        near = own[next(nearest_in(mine, wanted, [row.doubt]))]
        squared = row.exact(near)
        order = np.argsort(squared, kind="stable")[:wanted]
        levels, left = _levels(squared[order].tolist(), same[near[order]].tolist(), k, here)
        if not left:
            break
        wanted *= 4
    reach = np.zeros(len(levels) + 1, dtype=np.uint64)
    reach[:-1] = np.bitwise_or.accumulate(np.array(list(levels.values()), dtype=np.uint64)[::-1])[::-1]
    return np.array(list(levels)), reach


def _levels(squared: list[float], same: list[int], k: int, here: int) -> tuple[dict[float, int], int]:
    """Which labellings find their k-th point at which distance; and those that find none."""
    levels: dict[float, int] = {}
    # Entry i: the labellings with at least i + 1 points so far.
    seen = [0] * k
    for distance, word in zip(squared, same, strict=True):
        for count in range(k - 1, 0, -1):
            seen[count] |= seen[count - 1] & word
        seen[0] |= word
        done = seen[-1] & here
        if done:
            levels[distance] = levels.get(distance, 0) | done
            here &= ~done
        if not here:
            break
    return levels, here
