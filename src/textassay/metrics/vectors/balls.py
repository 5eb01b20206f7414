"""Which texts lie in the balls of the other sample, for many labellings of the same pooled texts at once.

The ball of a text extends to its k-th nearest other text of the same label. A closed ball contains texts at exactly
that distance, an open one does not. `count_balls` walks along the list of each text's nearest texts of either label and
counts. 64 labellings are processed together, as the bits of a word.

If a list ends before the k-th text of the same label, the ball is wider than the list (`add_wide_balls`). That is rare
if labels are drawn at random, and common if the samples lie apart: the nearest texts of a reference may all be copies
made by a collapsed generator.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import ranges
from textassay.metrics.vectors.neighbours import Lists, nearest_in
from textassay.metrics.vectors.repeated_vectors import WORD, SlotLabels, bit_counts, unpack


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts by row and labelling.

    `candidates_inside` and `references_inside` are the texts inside any ball of the other sample, `memberships` the
    pairs of a reference's ball and a candidate in it (see `count_balls`), and `balls_hit` the references whose ball
    contains a candidate.
    """

    candidates_inside: I64
    references_inside: I64
    memberships: F64
    balls_hit: I64


def count_balls(lists: Lists, candidate: U64, reference: U64, k: int, *, closed: bool) -> Counts:
    """Counts for 64 labellings per row: the bits of a word mark a text as candidate or reference; it may be neither.

    A labelling that is not empty needs more than k texts of each label. A membership counts 1 inside the open ball. On
    the rim of a closed ball it counts (k - a) / (t + 1), where a references are nearer than the rim and t are on it:
    the probability to come before the k-th neighbour if texts at equal distance are in random order.
    """
    slots = lists.slots
    covered = np.zeros_like(candidate)
    hit, open_words = (np.zeros((len(candidate), len(slots)), dtype=np.uint64) for _ in range(2))
    memberships = np.zeros((len(candidate), WORD))
    labels = [slots.labels(mine, theirs) for mine, theirs in zip(candidate, reference, strict=True)]
    for row, label in enumerate(labels):
        walked = _walk(lists, label, k, closed=closed)
        open_words[row] = np.where(slots.spare, 0, walked.open_words)
        held = np.zeros(len(slots), dtype=np.uint64)
        held[lists.named] = np.bitwise_or.reduceat(walked.inside.ravel()[lists.by_id], lists.runs)
        covered[row] = (held[slots.as_candidate] & candidate[row]) | (held[slots.as_reference] & reference[row])
        walked.inside[:] &= label.reference
        hit[row] = np.bitwise_or.reduce(walked.inside, axis=0)
        memberships[row] = _memberships(lists, label, walked)
        if closed:
            memberships[row] += _on_the_rim(lists, label, walked, k)
    memberships += add_wide_balls(
        lists, candidate, reference, labels, k, closed=closed, open_words=open_words, covered=covered, hit=hit
    )
    candidates, references, hits = (
        np.array([bit_counts(row) for row in rows])
        for rows in (covered & candidate, covered & reference, hit[:, slots.as_reference] & reference)
    )
    return Counts(candidates, references, memberships, hits)


_EVERY = np.iinfo(np.uint64).max
# Tied entries that are unpacked at a time.
_ENTRIES = 1 << 14


@dataclass(frozen=True, eq=False)
class _Walked:
    """The result of a walk along the lists, one line per entry.

    `nearer` has entries of the other label inside the open ball, `inside` those inside the requested ball. `reached`
    (with one more line at the top) has the labellings in which the ball ended before the entry. `counter` has the bits
    of the number of earlier texts of the same label, offset so that it overflows at the end of the ball.
    `open_words` has the labellings in which the list is too short.
    """

    nearer: U64
    inside: U64
    reached: U64
    counter: list[U64]
    open_words: U64


def _walk(lists: Lists, labels: SlotLabels, k: int, *, closed: bool) -> _Walked:
    """Find the entries of the lists that have the other label and are inside, and the lists that are too short.

    The counters start below a power of two by the number to be counted (k others and the text itself), so that reaching
    it is an overflow.
    """
    candidate, reference, ties = labels.candidate, labels.reference, lists.ties
    length, n = lists.ids.shape
    reached = np.zeros((length + 1, n), dtype=np.uint64)
    others = np.empty((length, n), dtype=np.uint64)
    wanted = k + 1
    start = (1 << wanted.bit_length()) - wanted
    keep = closed and ties.entries.size > 0
    history = [np.empty_like(reached) for _ in range(wanted.bit_length() if keep else 0)]
    counter = [np.full_like(candidate, _EVERY if start >> bit & 1 else 0) for bit in range(wanted.bit_length())]
    for index, ids in enumerate(lists.ids):
        for bits, seen in zip(counter, history, strict=False):
            seen[index] = bits
        candidates, references = candidate[ids], reference[ids]
        carry = candidate & candidates
        carry |= reference & references
        candidates &= reference
        references &= candidate
        np.bitwise_or(candidates, references, out=others[index])
        for bits in counter:
            overflow = bits & carry
            np.bitwise_xor(bits, carry, out=bits)
            carry = overflow
        np.bitwise_or(reached[index], carry, out=reached[index + 1])
    ended = reached[-1].copy()
    if closed:
        # If ball and list end at the same distance, texts beyond the list may be on the rim.
        ended[lists.cut_rows] = reached[lists.cut_at, lists.cut_rows]
    open_words = (candidate | reference) & ~ended
    # A text is inside an open ball if fewer than k texts of the same label are as near or nearer: count the whole tie.
    full = reached[1:].copy()
    full.ravel()[ties.entries] = reached.ravel()[ties.after[ties.group]]
    others &= ~open_words
    nearer = others & ~full
    if not closed or not ties.entries.size:
        return _Walked(nearer, nearer.copy(), reached, history, open_words)
    # A text is inside a closed ball if fewer than k are nearer. Without ties both are the same.
    full.ravel()[ties.entries] = reached.ravel()[ties.before[ties.group]]
    return _Walked(nearer, others & ~full, reached, history, open_words)


def _memberships(lists: Lists, labels: SlotLabels, walked: _Walked) -> F64:
    """Pairs of a reference's open ball and a candidate in it; a slot of a repeated place counts for all its texts."""
    words = walked.nearer & labels.reference
    repeats = lists.slots.repeat
    if not lists.slots.offsets.size:
        return bit_counts(words).astype(np.float64)
    entries = np.flatnonzero((repeats[lists.ids] >= 0) | (repeats >= 0))
    index, row = np.divmod(entries, words.shape[1])
    named = lists.ids[index, row]
    chosen = words.ravel()[entries]
    words.ravel()[entries] = 0
    stays = (chosen != 0) & ~lists.slots.spare[named] & ~lists.slots.spare[row]
    found = bit_counts(words).astype(np.float64)
    for part in _parts(np.flatnonzero(stays)):
        times = _texts(labels.candidates, repeats[named[part]]) * _texts(labels.references, repeats[row[part]])
        found += (unpack(chosen[part]) * times).sum(axis=1)
    return found


def _on_the_rim(lists: Lists, labels: SlotLabels, walked: _Walked, k: int) -> F64:
    """The memberships of candidates on the rims of references' balls."""
    ties, repeats, spare = lists.ties, lists.slots.repeat, lists.slots.spare
    found = np.zeros(WORD)
    if not ties.entries.size:
        return found
    reached = walked.reached.ravel()
    # The labellings in which the tied group is the rim of a reference's ball and contains a candidate.
    is_rim = reached[ties.after] & ~reached[ties.before]
    is_rim &= labels.reference[ties.rows] & ~walked.open_words[ties.rows]
    sizes = np.bincount(ties.group)
    first = np.cumsum(sizes) - sizes
    named = lists.ids.ravel()[ties.entries]
    is_rim &= np.bitwise_or.reduceat(labels.candidate[named], first)
    groups = np.flatnonzero((is_rim != 0) & ~spare[ties.rows])
    for part in _groups_at_once(groups, sizes):
        members = ranges(first[part], sizes[part])
        begins = np.cumsum(sizes[part]) - sizes[part]
        slots = named[members]
        candidates, references = (
            np.add.reduceat(
                unpack(np.where(spare[slots], 0, words[slots])) * _texts(counts, repeats[slots]), begins, axis=1
            )
            for words, counts in ((labels.candidate, labels.candidates), (labels.reference, labels.references))
        )
        # A text is at distance 0 of itself, so it is nearer than every rim of positive radius.
        own = ties.starts[part] == 0
        nearer = np.where(own, 0, _counted(walked.counter, ties.before[part], k) - 1)
        # The divisor is not used, and may be 0, in labellings in which the text is not a reference.
        share = (k - nearer) / np.maximum(references - own + 1, 1)
        rows = ties.rows[part]
        found += (unpack(is_rim[part]) * candidates * share * _texts(labels.references, repeats[rows])).sum(axis=1)
    return found


def _counted(counter: list[U64], places: I64, k: int) -> I64:
    """The numbers in a counter at these flat places, one row per labelling."""
    start = (1 << (k + 1).bit_length()) - (k + 1)
    bits = (unpack(words.ravel()[places]).astype(np.int64) << bit for bit, words in enumerate(counter))
    return np.asarray(sum(bits) - start)


def _texts(counts: I64, repeats: I64) -> I64:
    """The number of texts that each slot represents, by labelling: those of its repeated place, or 1."""
    if not counts.shape[1]:
        return np.ones((1, 1), dtype=np.int64)
    return np.where(repeats >= 0, counts[:, repeats], 1)


def _parts(entries: I64) -> Iterator[I64]:
    for start in range(0, len(entries), _ENTRIES):
        yield entries[start : start + _ENTRIES]


def _groups_at_once(groups: I64, sizes: I64) -> Iterator[I64]:
    """Some groups at a time, with about `_ENTRIES` entries."""
    cuts = np.cumsum(sizes[groups]) // _ENTRIES
    for part in np.split(groups, np.flatnonzero(np.diff(cuts)) + 1):
        if len(part):
            yield part


# Entries of a matrix of whole rows.
_WHOLE = 1 << 22


@dataclass(frozen=True, eq=False)
class _Row:
    """A slot and its squared distances to all texts, each with an error of at most `doubt`."""

    lists: Lists
    slot: int
    distances: F64
    doubt: float

    def exact(self, texts: I64) -> F64:
        own = np.full(len(texts), self.lists.slots.place[self.slot])
        return self.lists.pairs.exact(own, self.lists.distinct.place[texts])


@dataclass(frozen=True, eq=False)
class _Ball:
    """Texts of the other label inside the ball of a slot, the labellings in which they are, and their memberships."""

    near: I64
    inside: U64
    memberships: F64


def add_wide_balls(
    lists: Lists,
    candidate: U64,
    reference: U64,
    labels: Sequence[SlotLabels],
    k: int,
    *,
    closed: bool,
    open_words: U64,
    covered: U64,
    hit: U64,
) -> F64:
    """Add the balls of each slot, in the labellings of `open_words`, to `covered` and `hit`; return their memberships.

    All arrays have one row per 64 labellings; the distances of a slot are computed once for all of them.
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
                repeat = slots.repeat[row.slot]
                memberships[line] += ball.memberships * (own.references[:, repeat] if repeat >= 0 else 1)
    return memberships


def _ball(row: _Row, sides: tuple[U64, U64], own: tuple[np.uint64, np.uint64], k: int, *, closed: bool) -> _Ball:
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


def _rim_share(same: U64, others: U64, reach: tuple[U64, U64], k: int, radii: F64, levels: U64) -> F64:
    """The memberships on the rim: each text counts its probability to come before the k-th neighbour."""
    nearer, rim, candidates = (bit_counts(words) for words in (same & reach[0], same & reach[1], others & reach[1]))
    # The text itself has the same label: on a rim of radius 0 it comes before all others.
    own = unpack(levels[:1] & ~levels[1:2])[:, 0] & (radii[0] == 0)
    share = (k - np.where(own, 0, nearer - 1)) / (rim - own + 1)
    return np.where(candidates > 0, candidates * share, 0.0)


def _in_parts(lists: Lists, slots: I64) -> Iterator[Iterator[_Row]]:
    step = max(1, _WHOLE // len(lists.distinct.place))
    for start in range(0, len(slots), step):
        yield _rows(lists, slots[start : start + step])


def _rows(lists: Lists, slots: I64) -> Iterator[_Row]:
    index, pairs = lists.distinct.place, lists.pairs
    places = lists.slots.place[slots]
    if lists.use_rough:
        distances: NDArray[np.floating] = pairs.rough(places, slice(None))
        doubt = pairs.doubt(places)
    else:
        distances, doubt = pairs.fine(places), pairs.fine_doubt(places)
    for slot, row, off in zip(slots, distances, doubt, strict=True):
        yield _Row(lists, int(slot), row[index].astype(np.float64), float(off))


def _radii(row: _Row, same: U64, k: int, here: int) -> tuple[F64, U64]:
    """The different squared radii of the ball over its labellings, in increasing order, and who has larger ones.

    Entry i of the second array has the labellings whose radius is not among the first i radii. The slot's own text has
    the same label and is counted too.
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
    """By distance, the labellings whose text of this rank is there; and the labellings without such a text."""
    levels: dict[float, int] = {}
    # Entry i has the labellings with at least i + 1 texts so far.
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
