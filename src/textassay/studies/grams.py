"""Gram: an n-gram with its counts in two samples, its words, and the texts that hold it."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.tokens import Tokens
from textassay.views.hashing import U64, order_of
from textassay.views.material import Material
from textassay.views.sequences import Sequences
from textassay.views.sketches import ranges
from textassay.views.text_ngrams import TextNgrams


@dataclass(frozen=True)
class Gram:
    """A gram with its counts in the sample that has `more` of it and in the other one; `z` is above 0."""

    n: int
    key: np.uint64
    more: int
    less: int
    z: float
    words: tuple[str, ...] = ()

    def times_in(self, other: "Gram") -> int:
        """How often it stands within the words of another gram."""
        places = range(other.n - self.n + 1)
        return sum(other.words[at : at + self.n] == self.words for at in places)

    def overlaps(self, other: "Gram") -> bool:
        """Does one of them end in the words with which the other begins?"""
        widths = range(1, min(self.n, other.n))
        return any(a.words[-m:] == b.words[:m] for m in widths for a, b in ((self, other), (other, self)))


def holders(gram: Gram, material: Material) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The texts of a sample that hold a gram, in order, and how often each does."""
    incidence = material.view(TextNgrams).order(gram.n)
    place = int(np.searchsorted(incidence.keys, gram.key))
    if place == len(incidence.keys) or incidence.keys[place] != gram.key:
        return incidence.texts[:0], incidence.counts[:0]
    entries = slice(incidence.starts[place], incidence.starts[place + 1])
    return incidence.texts[entries], incidence.counts[entries]


def with_words(grams: list[Gram], material: Material) -> list[Gram]:
    """The grams with their words, read from the first text that holds each; no other text is tokenised again."""
    words: dict[tuple[int, np.uint64], tuple[str, ...]] = {}
    for n in {gram.n for gram in grams}:
        keys = np.array([gram.key for gram in grams if gram.n == n], dtype=np.uint64)
        texts = {int(holders(gram, material)[0][0]) for gram in grams if gram.n == n}
        tokens = material.settings.tokenizer(material.sample.texts.take(pa.array(sorted(texts))))
        for key, begin in zip(keys, _first_places(tokens, keys, n).tolist(), strict=True):
            words[n, key] = tuple(tokens.words(begin, begin + n))
    return [replace(gram, words=words[gram.n, gram.key]) for gram in grams]


def _first_places(tokens: Tokens, keys: U64, n: int) -> NDArray[np.int64]:
    """Where each n-gram first begins among the tokens."""
    sequences = Sequences.from_tokens(tokens)
    grams, _ = sequences.ngrams(n)
    order = order_of(grams)
    places = ranges(sequences.offsets[:-1], np.maximum(sequences.lengths - n + 1, 0))
    return places[order[np.searchsorted(grams[order], keys)]]
