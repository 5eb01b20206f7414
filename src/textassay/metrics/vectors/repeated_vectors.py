"""Repeated vectors: the distinct vectors of a pool, slots for texts with equal vectors, and labels packed as bits.

A ball ends at the k-th neighbour, so it is enough to know up to k + 1 texts of each label at one place (a distinct
vector). A place with more than twice as many texts is called a repeated place and has k + 1 slots for each label: slot
i has its label in the labellings that give more than i of the texts there that label. At all other places every text is
its own slot.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, I64, U64
from textassay.metrics.vectors.vectors import Joint


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct vectors. `place` is the row of every pooled point; `points` lists the points row by row."""

    values: F32
    place: I64
    points: I64
    starts: I64
    counts: I64


def distinct_vectors(pair: Joint) -> Distinct:
    """Points with equal vectors share a row."""
    return pair.once("distinct vectors", lambda: _collapse(pair.values, pair.order))


def _collapse(values: F32, order: I64) -> Distinct:
    # Equal vectors are adjacent in the canonical order, unless a different vector agrees with them in everything that
    # the order compares. Copies then keep separate rows, which costs a little time and changes no result.
    ordered = values[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(fresh) - 1
    return Distinct(ordered[starts], place, order, starts, np.diff(starts, append=len(order)))


WORD = 64
_FEW = 64


def pack(rows: NDArray[np.bool_]) -> U64:
    """One word per column from up to 64 rows of a mask.

    >>> pack(np.array([[True, False], [True, True]]))
    array([3, 2], dtype=uint64)
    """
    bits = np.zeros((WORD, rows.shape[1]), dtype=bool)
    bits[: len(rows)] = rows
    packed = np.packbits(bits, axis=0, bitorder="little")
    return np.ascontiguousarray(packed.T).view("<u8").ravel().astype(np.uint64, copy=False)


def unpack(words: U64) -> NDArray[np.bool_]:
    """The labels in the words: 64 rows, one column per word.

    >>> unpack(np.array([3, 2], dtype=np.uint64))[:2].tolist()
    [[True, False], [True, True]]
    """
    little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(little, axis=1, bitorder="little").view(bool)
    return np.ascontiguousarray(bits.T)


def bit_counts(words: U64) -> I64:
    """The number of words in which each of the 64 bits is set.

    Three words are reduced to a sum and a carry of double weight until few are left to count bit by bit.

    >>> bit_counts(np.array([3, 2, 2], dtype=np.uint64))[:3]
    array([1, 3, 0])
    """
    total = np.zeros(WORD, dtype=np.int64)
    words, weight = words.ravel(), 1
    while words.size:
        carries = []
        while words.size > _FEW:
            third = words.size // 3
            one, two, three = words[: 3 * third].reshape(3, third)
            odd = one ^ two
            carry = one & two
            carry |= odd & three
            odd ^= three
            carries.append(carry)
            words = np.concatenate((odd, words[3 * third :]))
        little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, 8)
        total += weight * np.unpackbits(little, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        words, weight = np.concatenate(carries) if carries else words[:0], weight * 2
    return total


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of every place, place by place.

    `as_candidate` and `as_reference` are the slots that represent each text under each label. `repeat` is the number of
    a slot's repeated place (-1 if the slot is one text), and `spare` marks the slots of a repeated place that represent
    no text.
    """

    place: I64
    starts: I64
    counts: I64
    text: I64
    as_candidate: I64
    as_reference: I64
    repeat: I64
    spare: NDArray[np.bool_]
    repeated_texts: I64
    offsets: I64
    first: I64
    most: int

    def __len__(self) -> int:
        return len(self.place)

    def labels(self, candidate: U64, reference: U64) -> "SlotLabels":
        """The labels of the slots, given the labels of the texts."""
        sides, numbers = [], []
        for side, words in enumerate((candidate, reference)):
            of_slots = words[self.text]
            counts = self._counts(words)
            if self.offsets.size:
                of_slots[self.repeat >= 0] = 0
                for i in range(self.most):
                    of_slots[self.first + side * self.most + i] = pack(counts > i)
            sides.append(of_slots)
            numbers.append(counts)
        return SlotLabels(sides[0], sides[1], numbers[0], numbers[1])

    def _counts(self, words: U64) -> I64:
        """The number of texts of each repeated place with the label, one row per labelling."""
        if not self.offsets.size:
            return np.zeros((64, 0), dtype=np.int64)
        return np.add.reduceat(unpack(words[self.repeated_texts]), self.offsets, axis=1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SlotLabels:
    """Words of labels by slot, and the texts of each label in every repeated place (one row per labelling)."""

    candidate: U64
    reference: U64
    candidates: I64
    references: I64


def slots_of(distinct: Distinct, k: int) -> Slots:
    """The slots for balls that end at the k-th neighbour."""
    most = k + 1
    counts = np.minimum(distinct.counts, 2 * most)
    is_repeated = distinct.counts > 2 * most
    starts = np.cumsum(counts) - counts
    index = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(index)) - starts[index]
    text = distinct.points[distinct.starts[index] + number]
    repeat = np.where(is_repeated, np.cumsum(is_repeated) - 1, -1)[index]
    first = starts[is_repeated]
    members = [distinct.points[start : start + size] for start, size in _runs(distinct, is_repeated)]
    as_candidate, as_reference = (np.empty(len(distinct.place), dtype=np.int64) for _ in range(2))
    as_candidate[text] = as_reference[text] = np.arange(len(text))
    for slot, texts in zip(first, members, strict=True):
        as_candidate[texts], as_reference[texts] = slot, slot + most
    sizes = distinct.counts[is_repeated]
    return Slots(
        place=index,
        starts=starts,
        counts=counts,
        text=text,
        as_candidate=as_candidate,
        as_reference=as_reference,
        repeat=repeat,
        spare=(repeat >= 0) & (number % most != 0),
        repeated_texts=np.concatenate([np.zeros(0, dtype=np.int64), *members]),
        offsets=np.cumsum(sizes) - sizes,
        first=first,
        most=most,
    )


def _runs(distinct: Distinct, chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    return list(zip(distinct.starts[chosen].tolist(), distinct.counts[chosen].tolist(), strict=True))
