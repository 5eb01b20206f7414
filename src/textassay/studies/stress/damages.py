"""Damages: what is done to real texts, and to which share of them.

The strength of a damage is between 0 and 1. It is the share of a sample's texts that are damaged, with two exceptions:
`topics` replaces half of that share, and `duplicates` nine tenths of it, because a sample without any text of its own
cannot be drawn.
"""

import difflib
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, Self

import numpy as np

from textassay.corpus.printable import shortened
from textassay.errors import InputError, Setting

Rng = np.random.Generator
# How a damage gets its texts: changed one by one, taken from other texts, copied within the sample, or lost topics.
Kind = Literal["changed", "replaced", "copied", "lost"]

# Temperatures of the n-gram model.
LOW_TEMPERATURE, HIGH_TEMPERATURE = 0.5, 1.5
# The share of the words, and of the letters, of a damaged text that noise replaces.
_WORDS_REPLACED, _LETTERS_CHANGED = 0.2, 0.1
# At full strength, this share of the texts is lost with its topics, and this share is a copy of another text.
LOST_SHARE, COPIED_SHARE = 0.5, 0.9

_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class Damage:
    """One kind of damage; `reach` is the share of texts that it changes at strength 1, `needs` the texts it needs."""

    name: str
    title: str
    kind: Kind
    what: str
    reach: float = 1.0
    needs: Literal["other", "training"] | None = None

    def share(self, strength: float) -> float:
        """The share of a sample's texts that are changed at this strength."""
        return self.reach * strength


DAMAGES = {
    damage.name: damage
    for damage in (
        Damage(
            "topics",
            "topics lost",
            "lost",
            "texts of some topics (clusters of vectors) are replaced by real texts of the other topics; at strength 1 "
            "half of the texts are lost",
            reach=LOST_SHARE,
        ),
        Damage(
            "duplicates",
            "duplicates",
            "copied",
            "texts are replaced by copies of a tenth of the sample, which stays; at strength 1 nine of ten texts",
            reach=COPIED_SHARE,
        ),
        Damage("truncate", "truncated", "changed", "the second half of the words of a text is cut off"),
        Damage("shuffle", "words shuffled", "changed", "the words of a text are put in random order"),
        Damage(
            "rare",
            "rare words replaced",
            "changed",
            "the rarest fifth of the words of a text is replaced by words drawn by their frequency",
        ),
        Damage("typos", "typing errors", "changed", "a tenth of the letters of a text is replaced, deleted or swapped"),
        Damage(
            "words", "random words", "changed", "a fifth of the words of a text is replaced by words drawn by frequency"
        ),
        Damage(
            "cold",
            "low temperature",
            "replaced",
            f"texts are replaced by those of an n-gram model at temperature {LOW_TEMPERATURE:g}",
        ),
        Damage(
            "hot",
            "high temperature",
            "replaced",
            f"texts are replaced by those of an n-gram model at temperature {HIGH_TEMPERATURE:g}",
        ),
        Damage("blend", "other corpus", "replaced", "texts are replaced by texts of another corpus", needs="other"),
        Damage("copy", "copied", "replaced", "texts are replaced by texts of the training file", needs="training"),
    )
}


def choose_damages(names: Sequence[str], *, given: Iterable[str]) -> list[Damage]:
    """The damages of these names, or all for which `given` has the texts; an unknown name is an error."""
    have = set(given)
    if not names:
        return [damage for damage in DAMAGES.values() if damage.needs is None or damage.needs in have]
    for name in names:
        if name not in DAMAGES:
            close = difflib.get_close_matches(name, DAMAGES, 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(DAMAGES)}"
            raise InputError(f"no damage {shortened(name, 40)!r}{hint}")
        needed = DAMAGES[name].needs
        if needed is not None and needed not in have:
            raise InputError(f"the damage {name!r} needs texts of its own; give them with ", Setting(needed))
    return [DAMAGES[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a corpus with their counts, for drawing words by frequency, and its letters."""

    counts: Counter[str]
    words: tuple[str, ...]
    bounds: tuple[int, ...]
    letters: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Count the words of these texts."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_WORD.findall(text))
        words = tuple(sorted(counts))
        letters = sorted({letter for word in words for letter in word.lower() if letter.isalnum()})
        return cls(counts, words, tuple(accumulate(counts[word] for word in words)), tuple(letters))

    def other_word(self, word: str, rng: Rng) -> str:
        """A word drawn by its frequency, other than this one; the word itself if there is no other."""
        index = bisect_right(self.bounds, int(rng.integers(self.bounds[-1]))) if self.bounds else 0
        if not self.words or self.words == (word,):
            return word
        found = self.words[index]
        return found if found != word else self.words[(index + 1) % len(self.words)]

    def other_letter(self, letter: str, rng: Rng) -> str:
        """A letter of the corpus other than this one; the letter itself if there is no other."""
        others = [each for each in self.letters if each != letter.lower()]
        return others[int(rng.integers(len(others)))] if others else letter


Change = Callable[[str, Lexicon, Rng], str]


def truncated(text: str, lexicon: Lexicon, rng: Rng) -> str:
    """The first half of the words; a text of one word stays as it is.

    >>> truncated("A cat sat down today.", Lexicon.of([]), np.random.default_rng(0))
    'A cat'
    """
    del lexicon, rng
    ends = [found.end() for found in _WORD.finditer(text)]
    return text[: ends[len(ends) // 2 - 1]] if len(ends) > 1 else text


def shuffled(text: str, lexicon: Lexicon, rng: Rng) -> str:
    """The words in another order; marks and spaces stay where they are."""
    del lexicon
    words = _WORD.findall(text)
    moved = [words[index] for index in rng.permutation(len(words)).tolist()]
    # A turn by one word changes every order but that of equal words.
    order = iter(moved if moved != words else [*words[1:], *words[:1]])
    return _WORD.sub(lambda _: next(order), text)


def without_rare_words(text: str, lexicon: Lexicon, rng: Rng) -> str:
    """The rarest fifth of the words replaced by words drawn by their frequency."""
    words = _WORD.findall(text)
    rarest = sorted(range(len(words)), key=lambda index: (lexicon.counts[words[index]], index))
    return _with_other_words(text, rarest[: _some(len(words), _WORDS_REPLACED)], lexicon, rng)


def with_random_words(text: str, lexicon: Lexicon, rng: Rng) -> str:
    """A fifth of the words, at random places, replaced by words drawn by their frequency."""
    count = len(_WORD.findall(text))
    places = rng.permutation(count)[: _some(count, _WORDS_REPLACED)].tolist()
    return _with_other_words(text, places, lexicon, rng)


def _some(count: int, share: float) -> int:
    """At least one, where there is one."""
    return min(count, math.ceil(share * count))


def _with_other_words(text: str, places: Sequence[int], lexicon: Lexicon, rng: Rng) -> str:
    words = _WORD.findall(text)
    for index in sorted(places):
        words[index] = lexicon.other_word(words[index], rng)
    new = iter(words)
    return _WORD.sub(lambda _: next(new), text)


def mistyped(text: str, lexicon: Lexicon, rng: Rng) -> str:
    """A tenth of the letters replaced by another one, deleted, or swapped with the next character."""
    letters = list(text)
    places = [index for index, letter in enumerate(letters) if letter.isalnum()]
    chosen = rng.permutation(len(places))[: _some(len(places), _LETTERS_CHANGED)].tolist()
    for number, slip in zip(chosen, rng.integers(3, size=len(chosen)).tolist(), strict=True):
        index = places[number]
        if slip == 0 and len(places) > 1:
            letters[index] = ""
        elif slip == 1 and index + 1 < len(letters):
            letters[index], letters[index + 1] = letters[index + 1], letters[index]
        else:
            letters[index] = lexicon.other_letter(letters[index], rng)
    found = "".join(letters)
    if found != text and found.strip():
        return found
    # Two equal letters were swapped, or nothing is left: replace one letter instead.
    return text if not places else _with_other_letter(text, places[0], lexicon, rng)


def _with_other_letter(text: str, place: int, lexicon: Lexicon, rng: Rng) -> str:
    return f"{text[:place]}{lexicon.other_letter(text[place], rng)}{text[place + 1 :]}"


CHANGES: dict[str, Change] = {
    "truncate": truncated,
    "shuffle": shuffled,
    "rare": without_rare_words,
    "typos": mistyped,
    "words": with_random_words,
}
