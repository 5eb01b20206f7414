"""Sequences: every text as a run of word hashes, from which n-grams of any order are hashed."""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pyarrow.compute as pc
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
    _marks: NDArray[np.bool_] | None = None
    # The last order asked for and its hashes: orders are asked for one after the other, and each goes on from there.
    _last: dict[str, tuple[int, U64]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Tokenise and hash the texts of a sample."""
        return cls.from_tokens(material.settings.tokenizer(material.sample.texts))

    @classmethod
    def from_tokens(cls, tokens: Tokens) -> Self:
        """Hash tokens that are already at hand."""
        marks = ~np.asarray(pc.match_substring_regex(tokens.vocabulary, r"[\p{L}\p{N}]"), dtype=bool)
        return cls(hash_words(tokens.vocabulary)[tokens.ids], tokens.offsets, marks[tokens.ids])

    def merge(self, other: Self, /) -> Self:
        """These texts, then the other ones."""
        offsets = np.concatenate((self.offsets, other.offsets[1:] + self.offsets[-1]))
        words, marks = np.concatenate((self.words, other.words)), np.concatenate((self.marks, other.marks))
        return type(self)(words, offsets, marks)

    def without_marks(self) -> Self:
        """The texts without their punctuation; a text that is nothing else keeps it."""
        texts = np.repeat(np.arange(len(self)), self.lengths)
        words = np.bincount(texts, ~self.marks, len(self)).astype(np.int64)
        kept = ~self.marks | (words == 0)[texts]
        offsets = np.concatenate(([0], np.cumsum(np.bincount(texts[kept], minlength=len(self)))))
        return type(self)(self.words[kept], offsets, self.marks[kept])

    @property
    def marks(self) -> NDArray[np.bool_]:
        """True for tokens without a letter or digit, such as a full stop; false where nothing is known of tokens."""
        return np.zeros(len(self.words), dtype=bool) if self._marks is None else self._marks

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
