"""Packed texts: several texts as bits of one long integer, to compare a text with all of them in one pass.

Common subsequences follow Crochemore and others (2001), edit distances Myers (1999) in the form of Hyyrö (2003): a
column of the dynamic programming table is a sequence of bits, and each word takes a few operations on it. The sequences
of all texts are adjacent, with one free bit after each for the carry of the addition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from textassay.corpus.arrays import I64


@dataclass(frozen=True)
class PackedTexts:
    """Text `t` has one bit per word from `begins[t]`; `places` has the bits of each word."""

    texts: Sequence[Sequence[int]]
    begins: tuple[int, ...]
    places: dict[int, int]
    firsts: int
    owned: int

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> Self:
        """Pack texts given as lists of word numbers."""
        begins = np.concatenate(([0], np.cumsum([len(text) + 1 for text in texts]))).tolist()
        places: dict[int, int] = {}
        for begin, text in zip(begins, texts, strict=False):
            for bit, word in enumerate(text, begin):
                places[word] = places.get(word, 0) | 1 << bit
        firsts = sum(1 << begin for begin, text in zip(begins, texts, strict=False) if text)
        owned = sum(((1 << len(text)) - 1) << begin for begin, text in zip(begins, texts, strict=False))
        return cls(texts, tuple(begins[:-1]), places, firsts, owned)

    def common_subsequences(self) -> I64:
        """The length of the longest common subsequence of each pair of texts."""
        lengths = self._lengths()
        return lengths - np.array([list(self._bits(self._after(text))) for text in self.texts]).reshape(self._shape)

    def edit_distances(self) -> I64:
        """The smallest number of insertions, deletions and replacements of words that turn one text into another."""
        columns = [self._edited(text) for text in self.texts]
        up = np.array([list(self._bits(more)) for more, _ in columns]).reshape(self._shape)
        down = np.array([list(self._bits(less)) for _, less in columns]).reshape(self._shape)
        return self._lengths()[:, None] + up - down

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.texts), len(self.texts)

    def _lengths(self) -> I64:
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    def _bits(self, column: int) -> Iterator[int]:
        """The number of set bits of each text."""
        for begin, text in zip(self.begins, self.texts, strict=True):
            yield ((column >> begin) & ((1 << len(text)) - 1)).bit_count()

    def _after(self, text: Sequence[int]) -> int:
        """The last column of the subsequence tables of a text and all others; a bit is 0 where the length increases."""
        column = self.owned
        for word in text:
            met = column & self.places[word]
            column = ((column + met) | (column - met)) & self.owned
        return column

    def _edited(self, text: Sequence[int]) -> tuple[int, int]:
        """The last column of the edit tables: where the distance is one more, and one less, than in the row above."""
        more, less = self.owned, 0
        for word in text:
            here = self.places[word]
            level = ((((here & more) + more) ^ more) | here | less) & self.owned
            right_more = less | (self.owned & ~(level | more))
            right_less = more & level
            # The top row increases by one with each word, which the first bits represent.
            right_more = ((right_more << 1) & self.owned) | self.firsts
            right_less = (right_less << 1) & self.owned
            more, less = right_less | (self.owned & ~(level | right_more)), right_more & level
        return more, less
