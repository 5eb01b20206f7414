"""Tokens: the words of many texts as integers into a vocabulary, flat, with where each text begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Text `i` owns `ids[offsets[i]:offsets[i + 1]]`; `vocabulary[id]` is the word."""

    ids: NDArray[np.int32]
    vocabulary: pa.Array
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens a text."""
        return np.diff(self.offsets)

    def words(self, start: int, stop: int) -> list[str]:
        """The words at these flat positions."""
        words: list[str] = self.vocabulary.take(pa.array(self.ids[start:stop])).to_pylist()
        return words


def tokens_from_lists(lists: pa.Array) -> Tokens:
    """Tokens from an Arrow array of lists of words; empty words (from leading spaces) do not count."""
    offsets = np.asarray(lists.offsets, dtype=np.int64) - lists.offsets[0].as_py()
    return tokens_from_words(lists.flatten(), offsets)


def tokens_from_words(words: pa.Array, offsets: NDArray[np.int64]) -> Tokens:
    """Tokens from flat words and where each text begins; the vocabulary is in order of first appearance, without ''."""
    encoded = words.dictionary_encode()
    vocabulary = encoded.dictionary
    ids = np.asarray(encoded.indices).astype(np.int32, copy=False)
    empty = pc.index(vocabulary, pa.scalar("", vocabulary.type)).as_py()
    if empty >= 0:
        kept = ids != empty
        offsets = np.concatenate(([0], np.cumsum(kept)))[offsets]
        ids = ids[kept]
        ids -= ids > empty
        vocabulary = pa.concat_arrays([vocabulary[:empty], vocabulary[empty + 1 :]])
    return Tokens(ids, vocabulary, offsets)


def concat_tokens(parts: Sequence[Tokens]) -> Tokens:
    """The tokens of several runs of texts as one, the same as if the texts had been tokenised together.

    >>> first, second = (tokens_from_lists(pa.array([words])) for words in (["a", "cat"], ["a", "dog"]))
    >>> both = concat_tokens([first, second])
    >>> both.words(0, 4), both.offsets.tolist(), both.vocabulary.to_pylist()
    (['a', 'cat', 'a', 'dog'], [0, 2, 4], ['a', 'cat', 'dog'])
    """
    if not parts:
        return Tokens(np.empty(0, np.int32), pa.array([], pa.large_string()), np.zeros(1, np.int64))
    if len(parts) == 1:
        return parts[0]
    encoded = pa.concat_arrays([part.vocabulary for part in parts]).dictionary_encode()
    shared = np.asarray(encoded.indices).astype(np.int32, copy=False)
    first_word = np.cumsum([0, *(len(part.vocabulary) for part in parts)])
    first_token = np.cumsum([0, *(len(part.ids) for part in parts)])
    ids = np.empty(first_token[-1], np.int32)
    for part, word, token in zip(parts, first_word[:-1], first_token[:-1], strict=True):
        # "clip" writes straight into the result, where "raise" would copy; no id is out of bounds.
        np.take(shared[word:], part.ids, out=ids[token : token + len(part.ids)], mode="clip")
    offsets = [part.offsets[:-1] + token for part, token in zip(parts, first_token[:-1], strict=True)]
    return Tokens(ids, encoded.dictionary, np.concatenate([*offsets, first_token[-1:]]))
