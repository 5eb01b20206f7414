"""Crowds: places that more texts share than a ball can tell apart, so that lists of neighbours stay short.

A ball ends at the k-th neighbour, so it is enough to know up to k + 1 texts of each label at one place. A place of more
than twice as many texts is a crowd and has k + 1 slots for each label: slot i holds its label in the labellings that
put more than i texts with that label there. Elsewhere every text is a slot of its own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.distinct_vectors import Distinct
from textassay.views.label_bits import Words, pack, unpack

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of every place, place by place.

    `as_candidate` and `as_reference` are the slots that stand for each text under each label. `crowd` numbers the crowd
    of a slot (-1 where every text is a slot), and `spare` marks the slots of a crowd that stand for no text's label.
    """

    place: Ints
    starts: Ints
    counts: Ints
    text: Ints
    as_candidate: Ints
    as_reference: Ints
    crowd: Ints
    spare: NDArray[np.bool_]
    crowded: Ints
    offsets: Ints
    first: Ints
    most: int

    def __len__(self) -> int:
        return len(self.place)

    def labels(self, candidate: Words, reference: Words) -> "SlotLabels":
        """The labels of the slots where these are the labels of the texts."""
        sides, numbers = [], []
        for side, words in enumerate((candidate, reference)):
            of_slots = words[self.text]
            counts = self._counts(words)
            if self.offsets.size:
                of_slots[self.crowd >= 0] = 0
                for i in range(self.most):
                    of_slots[self.first + side * self.most + i] = pack(counts > i)
            sides.append(of_slots)
            numbers.append(counts)
        return SlotLabels(sides[0], sides[1], numbers[0], numbers[1])

    def _counts(self, words: Words) -> Ints:
        """How many texts of each crowd have the label: one row per labelling."""
        if not self.offsets.size:
            return np.zeros((64, 0), dtype=np.int64)
        return np.add.reduceat(unpack(words[self.crowded]), self.offsets, axis=1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SlotLabels:
    """Words of labels by slot, and how many texts of each label every crowd has (one row per labelling)."""

    candidate: Words
    reference: Words
    candidates: Ints
    references: Ints


def slots_of(distinct: Distinct, k: int) -> Slots:
    """The slots for balls that end at the k-th neighbour."""
    most = k + 1
    counts = np.minimum(distinct.counts, 2 * most)
    is_crowd = distinct.counts > 2 * most
    starts = np.cumsum(counts) - counts
    place = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(place)) - starts[place]
    text = distinct.points[distinct.starts[place] + number]
    crowd = np.where(is_crowd, np.cumsum(is_crowd) - 1, -1)[place]
    first = starts[is_crowd]
    members = [distinct.points[start : start + size] for start, size in _runs(distinct, is_crowd)]
    as_candidate, as_reference = (np.empty(len(distinct.place), dtype=np.int64) for _ in range(2))
    as_candidate[text] = as_reference[text] = np.arange(len(text))
    for slot, texts in zip(first, members, strict=True):
        as_candidate[texts], as_reference[texts] = slot, slot + most
    sizes = distinct.counts[is_crowd]
    return Slots(
        place=place,
        starts=starts,
        counts=counts,
        text=text,
        as_candidate=as_candidate,
        as_reference=as_reference,
        crowd=crowd,
        spare=(crowd >= 0) & (number % most != 0),
        crowded=np.concatenate([np.zeros(0, dtype=np.int64), *members]),
        offsets=np.cumsum(sizes) - sizes,
        first=first,
        most=most,
    )


def _runs(distinct: Distinct, chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    return list(zip(distinct.starts[chosen].tolist(), distinct.counts[chosen].tolist(), strict=True))
