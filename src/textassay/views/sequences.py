"""Sequences: every text as a run of word hashes, from which n-grams of any order are hashed."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.tokens import Tokens
from textassay.views.hashing import U64, chain, hash_words
from textassay.views.material import Material


@dataclass(frozen=True, eq=False)
class Sequences:
    """Text `i` owns `words[offsets[i]:offsets[i + 1]]`. Merges by concatenation."""

    words: U64
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Tokenise and hash the texts of a sample."""
        return cls.from_tokens(material.settings.tokenizer(material.sample.texts))

    @classmethod
    def from_tokens(cls, tokens: Tokens) -> Self:
        """Hash tokens that are already at hand."""
        return cls(hash_words(tokens.vocabulary)[tokens.ids], tokens.offsets)

    def merge(self, other: Self, /) -> Self:
        """These texts, then the other ones."""
        offsets = np.concatenate((self.offsets, other.offsets[1:] + self.offsets[-1]))
        return type(self)(np.concatenate((self.words, other.words)), offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words a text."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def ngrams(self, n: int) -> tuple[U64, NDArray[np.int32]]:
        """The hash of every n-gram and the text it stands in, in reading order; none crosses a text's end."""
        lengths = self.lengths
        texts = np.repeat(np.arange(len(self), dtype=np.int32), lengths)
        if n == 1:
            return self.words, texts
        left = np.repeat(self.offsets[1:], lengths) - np.arange(len(self.words))
        grams = self.words
        for k in range(1, n):
            grams = chain(grams[:-1], self.words[k:]) if len(grams) > 1 else grams[:0]
        whole = left[: len(grams)] >= n
        return grams[whole], texts[: len(grams)][whole]
