"""METEOR's alignment of every text of an item with every other one: how many words match, in how many chunks.

A stage looks at the words that are left, from the end of the hypothesis, and gives each the last free word of the
reference that it matches. For equal words that pairs the last occurrences with each other, then the last but one, and
so on: it is enough to compare words numbered from the end, for all pairs of texts at once. Stems and synonyms concern
few words of few pairs; they are followed one by one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.views.text_distances.meteor_lexicon import Lexicon, Offered, Sought

Ints = NDArray[np.int64]
FREE = -1


@dataclass(frozen=True, eq=False)
class WordRows:
    """Texts as words in a row: of each word its text, its place there, its number and its occurrence from the end."""

    text: Ints
    place: Ints
    word: Ints
    occurrence: Ints
    bounds: Ints

    @classmethod
    def of(cls, word: Ints, bounds: Ints) -> "WordRows":
        """From the numbers of all words and the bounds of the texts."""
        text = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        # Equal words of a text next to each other, in their order.
        kind = text * (word.max(initial=0) + 1) + word
        order = np.argsort(kind, kind="stable")
        last = np.searchsorted(kind[order], kind[order], side="right") - 1
        from_end = np.empty_like(word)
        from_end[order] = last - np.arange(len(word))
        occurrence = word * (from_end.max(initial=0) + 1) + from_end
        return cls(text, np.arange(len(word)) - bounds[text], word, occurrence, bounds)

    def take(self, numbers: Ints) -> "WordRows":
        """Some of the texts, numbered anew."""
        lengths = self.bounds[numbers + 1] - self.bounds[numbers]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        text = np.repeat(np.arange(len(numbers)), lengths)
        place = np.arange(bounds[-1]) - bounds[text]
        at = self.bounds[numbers][text] + place
        return WordRows(text, place, self.word[at], self.occurrence[at], bounds)


class Concerned(NamedTuple):
    """The words of a text that a stage concerns, by where they stand in the row."""

    seeking: list[tuple[int, tuple[int, ...]]]
    wanted: set[int]
    offering: dict[int, list[int]]


def align(rows: WordRows, lexicon: Lexicon) -> tuple[Ints, Ints, Ints]:
    """Words matched as they are, words matched at all, and chunks; row i, column j is hypothesis i, reference j."""
    places = _equal(rows)
    taken = places != FREE
    n_equal = _sums(taken, rows.bounds)
    words = set(rows.word.tolist())
    for sought, offered in (lexicon.shared_stems(words), lexicon.shared_synonyms(words)):
        if sought:
            _match(rows, places, taken, concerned=_concerned(rows, sought, offered))
    matched = places != FREE
    # A match that goes on where the one before it stopped opens no chunk.
    goes_on = np.zeros_like(matched)
    goes_on[:, 1:] = matched[:, :-1] & (places[:, 1:] == places[:, :-1] + 1) & (rows.place[1:] > 0)
    n_matched = _sums(matched, rows.bounds)
    return n_equal.T, n_matched.T, (n_matched - _sums(goes_on, rows.bounds)).T


def _equal(rows: WordRows) -> Ints:
    """First stage: row r, column i is the place in text r of the word that word i matches, or FREE."""
    _, occurrence = np.unique(rows.occurrence, return_inverse=True)
    table = np.full((len(rows.bounds) - 1, occurrence.max(initial=0) + 1), FREE)
    table[rows.text, occurrence] = rows.place
    return table[:, occurrence]


def _concerned(rows: WordRows, sought: Sought, offered: Offered) -> dict[int, Concerned]:
    """By text, the words that seek a match, from the end, and those that offer one, from the start."""
    texts: dict[int, Concerned] = {}
    for at, (text, word) in enumerate(zip(rows.text.tolist(), rows.word.tolist(), strict=True)):
        if word in sought or word in offered:
            seeking, wanted, offering = texts.setdefault(text, Concerned([], set(), {}))
            if word in sought:
                seeking.append((at, sought[word]))
                wanted.update(sought[word])
            if word in offered:
                offering.setdefault(offered[word], []).append(at)
    for text in texts.values():
        text.seeking.reverse()
    return texts


def _match(rows: WordRows, places: Ints, taken: NDArray[np.bool_], *, concerned: dict[int, Concerned]) -> None:
    """A further stage, on what the ones before it left; `taken[h, j]` says that word j is matched by text h."""
    for hypothesis, (seeking, wanted, _) in concerned.items():
        for reference, (_, _, offering) in concerned.items():
            if hypothesis == reference or wanted.isdisjoint(offering):
                continue
            is_taken = taken[hypothesis]
            stacks = {key: [at for at in offering[key] if not is_taken[at]] for key in wanted & offering.keys()}
            for at, keys in seeking:
                found = [stack for key in keys if (stack := stacks.get(key))]
                if found and places[reference, at] == FREE:
                    partner = max(found, key=_top).pop()
                    places[reference, at] = rows.place[partner]
                    is_taken[partner] = True


def _top(stack: list[int]) -> int:
    return stack[-1]


def _sums(values: NDArray[np.bool_], bounds: Ints) -> Ints:
    """Sums over the columns of each text; a text without words has none."""
    sums = np.zeros((len(values), values.shape[1] + 1), dtype=np.int64)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums[:, bounds[1:]] - sums[:, bounds[:-1]]
