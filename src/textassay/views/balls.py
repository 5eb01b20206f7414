"""Balls around the points of two samples, counted for many labellings of the same points at once.

The ball of a point reaches to its k-th nearest other point of the same label (and does not hold what is exactly as far
away). Which points these are follows from the list of its nearest points of either label: walk along it and count.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.label_bits import WORD, Words, bit_counts
from textassay.views.neighbour_lists import Lists
from textassay.views.wide_balls import add_wide_balls

Ints = NDArray[np.int64]

_EVERY = np.iinfo(np.uint64).max


@dataclass(frozen=True, eq=False)
class Counts:
    """By row and labelling: points of a sample inside any ball of the other; pairs of a reference's ball and a
    candidate in it; references whose ball holds a candidate."""

    candidates_inside: Ints
    references_inside: Ints
    memberships: Ints
    balls_hit: Ints


def count_balls(lists: Lists, candidate: Words, reference: Words, k: int) -> Counts:
    """Counts for 64 labellings a row: the words say who is a candidate and who a reference; a point may be neither.

    Every labelling that labels anything needs more than k points of each label.
    """
    covered, hit, open_words = (np.zeros_like(candidate) for _ in range(3))
    memberships = np.empty((len(candidate), WORD), dtype=np.int64)
    for row, (mine, theirs) in enumerate(zip(candidate, reference, strict=True)):
        inside, open_words[row] = _walk(lists, mine, theirs, k)
        covered[row, lists.named] = np.bitwise_or.reduceat(inside.ravel()[lists.by_id], lists.runs)
        inside &= theirs
        hit[row] = np.bitwise_or.reduce(inside, axis=0)
        memberships[row] = bit_counts(inside)
    memberships += add_wide_balls(lists, candidate, reference, k, open_words=open_words, covered=covered, hit=hit)
    candidates, references, hits = (
        np.array([bit_counts(row) for row in rows]) for rows in (covered & candidate, covered & reference, hit)
    )
    return Counts(candidates, references, memberships, hits)


def _walk(lists: Lists, candidate: Words, reference: Words, k: int) -> tuple[Words, Words]:
    """Which entries of the lists are of the other label and inside; and the labellings for which a list is too short.

    The counters start short of a power of two by what is to be counted: k others and the point itself.
    """
    full = np.empty(lists.ids.shape, dtype=np.uint64)
    inside = np.empty(lists.ids.shape, dtype=np.uint64)
    wanted = k + 1
    start = (1 << wanted.bit_length()) - wanted
    counter = [np.full_like(candidate, _EVERY if start >> bit & 1 else 0) for bit in range(wanted.bit_length())]
    reached = np.zeros_like(candidate)
    for place, ids in enumerate(lists.ids):
        candidates, references = candidate[ids], reference[ids]
        carry = candidate & candidates
        carry |= reference & references
        candidates &= reference
        references &= candidate
        np.bitwise_or(candidates, references, out=inside[place])
        for bits in counter:
            overflow = bits & carry
            np.bitwise_xor(bits, carry, out=bits)
            carry = overflow
        reached |= carry
        full[place] = reached
    open_words = (candidate | reference) & ~reached
    # A point is inside when fewer than k of the same label are as near or nearer: the whole tie counts.
    full.ravel()[lists.tied] = full.ravel()[lists.ends]
    inside &= np.invert(full, out=full)
    rows = np.flatnonzero(open_words)
    inside[:, rows] &= ~open_words[rows]
    return inside, open_words
