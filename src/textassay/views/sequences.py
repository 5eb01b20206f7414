"""Sequences: every text as a run of word hashes, from which n-grams of any order are hashed."""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.tokens import Tokens
from textassay.views.hashing import U64, chain, hash_words
from textassay.views.material import Material


@dataclass(frozen=True, eq=False)
class Sequences:
    """Text `i` owns `words[offsets[i]:offsets[i + 1]]`. Merges by concatenation."""

    shared: ClassVar[bool] = True

    words: U64
    offsets: NDArray[np.int64]
    # The last order asked for and its hashes: orders are asked for one after the other, and each goes on from there.
    _last: dict[str, tuple[int, U64]] = field(default_factory=dict, repr=False)

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
        grams = self._chained(n)
        whole = np.arange(len(grams)) < np.repeat(self.offsets[1:] - (n - 1), lengths)[: len(grams)]
        return grams[whole], texts[: len(grams)][whole]

    def _chained(self, n: int) -> U64:
        """The hash of the n words from each place on, over the ends of texts."""
        done, grams = self._last.get("order", (1, self.words))
        if done > n:
            done, grams = 1, self.words
        for k in range(done, n):
            grams = chain(grams[:-1], self.words[k:]) if len(grams) > 1 else grams[:0]
        self._last["order"] = (n, grams)
        return grams
