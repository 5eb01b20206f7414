"""Spacing: which tokens have white space between them, learned from texts, to join tokens to texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from textassay.corpus.arrays import I64, Bool
from textassay.corpus.tokenizers import Tokens


@dataclass(frozen=True, eq=False, slots=True)
class Spacing:
    """Two tokens are joined or separated as most often in the texts: `don't`, `3.5 percent`, `$5`, `well-known`.

    A pair that never occurred is separated, unless one of the two is a punctuation mark that touches the token before
    it, or the word after it, in more than three quarters of its occurrences.

    >>> from textassay.corpus.tokenizers import get_tokenizer
    >>> texts = ["Yes, no.", "no"]
    >>> tokens = get_tokenizer("words")(texts)
    >>> spacing = Spacing.learn(texts, tokens, tokens.ids, tokens.vocabulary.to_pylist())
    >>> spacing.join(np.array([2, 1, 0, 0, 3, 2]), np.array([5, 1]))
    ['no, Yes Yes.', 'no']
    """

    words: tuple[str, ...]
    pairs: I64
    joined: Bool
    leans_left: Bool
    leans_right: Bool

    @classmethod
    def learn(cls, texts: Sequence[str], tokens: Tokens, ids: I64, words: Sequence[str]) -> Self:
        """From texts and their tokens; `ids` has the index in `words` of each token."""
        size = len(words)
        follows = np.ones(len(ids), np.bool_)
        follows[tokens.offsets[:-1][tokens.lengths > 0]] = False
        right = np.flatnonzero(follows)
        touch = _touching(texts, tokens)[right]
        left_ids, right_ids = np.asarray(ids, np.int64)[right - 1], np.asarray(ids, np.int64)[right]
        pairs, which = np.unique(left_ids * size + right_ids, return_inverse=True)
        is_mark = np.array([not any(c.isalnum() or c == "_" for c in word) for word in words], np.bool_)
        # Adjacent marks (`?"`) touch, which does not show whether the next word does.
        to_word = ~is_mark[right_ids]
        return cls(
            tuple(words),
            pairs,
            _mostly(which, touch, size=len(pairs), share=0.5),
            is_mark & _mostly(right_ids, touch, size=size, share=0.75),
            is_mark & _mostly(left_ids[to_word], touch[to_word], size=size, share=0.75),
        )

    def join(self, tokens: I64, lengths: I64) -> list[str]:
        """The texts of these concatenated tokens; `lengths` has the number of tokens of each text."""
        left, right = tokens[:-1], tokens[1:]
        tight = self.leans_left[right] | self.leans_right[left]
        if len(self.pairs):
            keys = left * len(self.words) + right
            indices = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
            tight = np.where(self.pairs[indices] == keys, self.joined[indices], tight)
        gaps = np.where(np.concatenate(([True], tight)), "", " ").tolist()
        pieces = [gap + self.words[token] for gap, token in zip(gaps, tokens.tolist(), strict=False)]
        bounds = [0, *np.cumsum(lengths).tolist()]
        return ["".join(pieces[start:stop]).lstrip(" ") for start, stop in pairwise(bounds)]


def _touching(texts: Sequence[str], tokens: Tokens) -> Bool:
    """For each token, whether it follows the one before without white space."""
    words = tokens.vocabulary.to_pylist()
    ids, bounds = tokens.ids.tolist(), tokens.offsets.tolist()
    touching = np.zeros(len(ids), np.bool_)
    for text, (begin, end) in zip(texts, pairwise(bounds), strict=True):
        at = 0
        for index in range(begin, end):
            word = words[ids[index]]
            start = text.find(word, at)
            if start == at:
                touching[index] = True
            at = start + len(word)
    return touching


def _mostly(which: I64, touch: Bool, *, size: int, share: float) -> Bool:
    """For each of `size` kinds, whether it touches in more than this share of its occurrences."""
    tight = np.bincount(which, weights=touch, minlength=size)
    flags: Bool = tight > share * np.bincount(which, minlength=size)
    return flags
