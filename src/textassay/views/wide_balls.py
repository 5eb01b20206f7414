"""Balls that reach beyond the lists of nearest texts: the distances of these texts to all others are searched.

Rare when labels are drawn at random. Common when the samples lie apart: the nearest texts of a reference may all be
copies that a collapsed generator made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.crowds import SlotLabels
from textassay.views.label_bits import WORD, Words, bit_counts, unpack
from textassay.views.neighbour_lists import Lists
from textassay.views.neighbours import nearest_in

Ints = NDArray[np.int64]
F64 = NDArray[np.float64]

# Entries of a matrix of whole rows.
_WHOLE = 1 << 22


@dataclass(frozen=True, eq=False)
class _Row:
    """A slot and its squared distances to all texts, each within `doubt` of the exact one."""

    lists: Lists
    slot: int
    distances: F64
    doubt: float

    def exact(self, texts: Ints) -> F64:
        own = np.full(len(texts), self.lists.slots.place[self.slot])
        return self.lists.pairs.exact(own, self.lists.distinct.place[texts])


@dataclass(frozen=True, eq=False)
class _Ball:
    """Texts of the other label inside the ball of a slot, in which labellings, and what they count there as members."""

    near: Ints
    inside: Words
    memberships: F64


def add_wide_balls(
    lists: Lists,
    candidate: Words,
    reference: Words,
    labels: Sequence[SlotLabels],
    k: int,
    *,
    closed: bool,
    open_words: Words,
    covered: Words,
    hit: Words,
) -> F64:
    """Add the balls of each slot in its open labellings to `covered` and `hit`; returns their memberships.

    All arrays have a row for each 64 labellings; the distances of a slot serve all of them.
    """
    slots = lists.slots
    memberships = np.zeros((len(candidate), WORD))
    for rows in _in_parts(lists, np.flatnonzero(open_words.any(axis=0))):
        for row in rows:
            for line in np.flatnonzero(open_words[:, row.slot]).tolist():
                here, own = open_words[line, row.slot], labels[line]
                mine, theirs = own.candidate[row.slot] & here, own.reference[row.slot] & here
                sides = candidate[line], reference[line]
                ball = _ball(row, sides, (mine, theirs), k, closed=closed)
                covered[line, ball.near] |= ball.inside
                hit[line, row.slot] |= np.bitwise_or.reduce(ball.inside) & theirs
                crowd = slots.crowd[row.slot]
                memberships[line] += ball.memberships * (own.references[:, crowd] if crowd >= 0 else 1)
    return memberships


def _ball(row: _Row, sides: tuple[Words, Words], own: tuple[np.uint64, np.uint64], k: int, *, closed: bool) -> _Ball:
    """The ball of a slot in the labellings in which it is a candidate, and in which it is a reference."""
    (candidate, reference), (mine, theirs) = sides, own
    same = candidate & mine
    same |= reference & theirs
    radii, reach = _radii(row, same, k, int(mine | theirs))
    near = np.flatnonzero(row.distances <= radii[-1] + row.doubt)
    distances = row.distances[near]
    unsure = np.zeros(len(near), dtype=bool)
    for radius in radii:
        unsure |= np.abs(distances - radius) <= row.doubt
    distances[unsure] = row.exact(near[unsure])
    others = reference[near] & mine
    others |= candidate[near] & theirs
    open_reach = reach[np.searchsorted(radii, distances, side="right")]
    inside = nearer = others & open_reach
    memberships = bit_counts(nearer & theirs).astype(np.float64)
    if closed:
        on_rim = reach[np.searchsorted(radii, distances, side="left")] & ~open_reach
        inside = others & (open_reach | on_rim)
        if (others & on_rim & theirs).any():
            memberships += _rim_share(same[near], others & theirs, (open_reach, on_rim), k, radii, reach)
    held = inside != 0
    return _Ball(near[held], inside[held], memberships)


def _rim_share(same: Words, others: Words, reach: tuple[Words, Words], k: int, radii: F64, levels: Words) -> F64:
    """The texts of the other label on the rim, each with its chance to come before the k-th neighbour."""
    nearer, rim, candidates = (bit_counts(words) for words in (same & reach[0], same & reach[1], others & reach[1]))
    # The text itself is among the same: on a rim of radius 0, before every other.
    own = unpack(levels[:1] & ~levels[1:2])[:, 0] & (radii[0] == 0)
    share = (k - np.where(own, 0, nearer - 1)) / (rim - own + 1)
    return np.where(candidates > 0, candidates * share, 0.0)


def _in_parts(lists: Lists, slots: Ints) -> Iterator[Iterator[_Row]]:
    step = max(1, _WHOLE // len(lists.distinct.place))
    for start in range(0, len(slots), step):
        yield _rows(lists, slots[start : start + step])


def _rows(lists: Lists, slots: Ints) -> Iterator[_Row]:
    place, pairs = lists.distinct.place, lists.pairs
    places = lists.slots.place[slots]
    if lists.rough_will_do:
        distances: NDArray[np.floating] = pairs.rough(places, slice(None))
        doubt = pairs.doubt(places)
    else:
        distances, doubt = pairs.fine(places), pairs.fine_doubt(places)
    for slot, row, off in zip(slots, distances, doubt, strict=True):
        yield _Row(lists, int(slot), row[place].astype(np.float64), float(off))


def _radii(row: _Row, same: Words, k: int, here: int) -> tuple[F64, Words]:
    """The squared radii of the ball in its labellings, growing; and which labellings have one beyond each number.

    Entry i of the second are the labellings whose radius is not among the first i radii. The slot's own text is among
    the same and is counted too.
    """
    own = np.flatnonzero(same)
    mine, wanted = row.distances[own][None, :], 2 * k + 8
    while True:
        wanted = min(wanted, len(own))
        near = own[next(nearest_in(mine, wanted, [row.doubt]))]
        squared = row.exact(near)
        order = np.argsort(squared, kind="stable")[:wanted]
        levels, left = _levels(squared[order].tolist(), same[near[order]].tolist(), k + 1, here)
        if not left:
            break
        wanted *= 4
    reach = np.zeros(len(levels) + 1, dtype=np.uint64)
    reach[:-1] = np.bitwise_or.accumulate(np.array(list(levels.values()), dtype=np.uint64)[::-1])[::-1]
    return np.array(list(levels)), reach


def _levels(squared: list[float], same: list[int], rank: int, here: int) -> tuple[dict[float, int], int]:
    """Which labellings find their text of this rank at which distance; and those that find none."""
    levels: dict[float, int] = {}
    # Entry i: the labellings with at least i + 1 texts so far.
    seen = [0] * rank
    for distance, word in zip(squared, same, strict=True):
        for count in range(rank - 1, 0, -1):
            seen[count] |= seen[count - 1] & word
        seen[0] |= word
        done = seen[-1] & here
        if done:
            levels[distance] = levels.get(distance, 0) | done
            here &= ~done
        if not here:
            break
    return levels, here
