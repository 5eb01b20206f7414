"""Vocabulary of a word model: which words it knows, their ids, and the way from texts to ids and back."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.arrays import I64, Bool
from textassay.corpus.sample import is_not_blank
from textassay.corpus.tokenizers import Tokenizer, Tokens, get_tokenizer, lower
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.models.base import Texts, texts_of
from textassay.models.spacing import Spacing
from textassay.models.storage import ModelFile, Tensors, damaged, packed_strings, unpacked_strings

BEGIN, END, UNK = 0, 1, 2
FIRST_WORD = 3
UNKNOWN = "<unk>"
# Other tokenizers change characters or mark spaces differently, so that their tokens cannot be joined to texts.
TOKENIZERS = ("words", "whitespace")
# Takes the place of `<unk>`, which the tokenizer `words` would split. Not a character, so no other text has it.
_PLACEHOLDER = "\uffff"
_SYMBOLS = ("", "", UNKNOWN)


@dataclass(frozen=True, eq=False, slots=True)
class Encoded:
    """Texts as ids of tokens; text `i` is `ids[offsets[i]:offsets[i + 1]]`.

    `n_unknown` is the number of unknown words of each text. `is_outside` marks texts that a model of these words cannot
    write: one of its words is not in the vocabulary, or it has upper case where the model has none.
    """

    ids: I64
    offsets: I64
    n_unknown: I64
    is_outside: Bool


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words with ids: 0 begin of text, 1 end of text, 2 unknown word, then words by falling count, ties alphabetical.

    `counts` are the occurrences in the texts that the vocabulary was learned from; that of the unknown word includes
    all words that were left out. An unknown word is written as `<unk>`, and read again as one.

    >>> vocabulary = Vocabulary.learn(["a cat sat", "a dog sat", "a cat ran"], min_count=2)
    >>> vocabulary.words[3:], vocabulary.counts.tolist()
    (('a', 'cat', 'sat'), [0, 0, 2, 3, 2, 2])
    >>> ids, offsets = vocabulary.encode(["a cat", "a bird sat"])
    >>> ids.tolist(), vocabulary.decode(ids, np.diff(offsets))
    ([3, 4, 3, 2, 5], ['a cat', 'a <unk> sat'])
    """

    words: tuple[str, ...] = field(repr=False)
    counts: I64 = field(repr=False)
    tokenizer: Tokenizer
    spacing: Spacing = field(repr=False)
    _index: dict[str, int] = field(repr=False)

    @classmethod
    def learn(
        cls,
        texts: Texts,
        *,
        tokenizer: str = "words",
        lowercase: bool = False,
        min_count: int = 1,
        max_words: int | None = None,
    ) -> Self:
        """Learn from texts; words rarer than `min_count` or beyond the `max_words` most common are unknown.

        Blank texts are left out.
        """
        check_limits(min_count=min_count, max_words=max_words)
        splitter = word_tokenizer(tokenizer, lowercase=lowercase)
        array = _without_blank(texts)
        replaced = _replaced(array, splitter)
        tokens = splitter(replaced)
        words, counts = _chosen(tokens, min_count, max_words)
        index = {word: number for number, word in enumerate(words) if number >= FIRST_WORD}
        ids = _ids(tokens, index)
        counts[UNK] = len(ids) - counts.sum()
        read = (lower(replaced) if lowercase else replaced).to_pylist()
        spacing = Spacing.learn(read, tokens, ids, words)
        return cls(words, counts, splitter, spacing, index)

    def __len__(self) -> int:
        """The number of ids, the three symbols included."""
        return len(self.words)

    def encode(self, texts: Texts) -> tuple[I64, I64]:
        """The ids of all tokens, and where each text begins in them (with the end of the last)."""
        found = self.read(texts)
        return found.ids, found.offsets

    def read(self, texts: Texts) -> Encoded:
        """The ids of all tokens, and which texts a model of these words cannot write."""
        array = texts_of(texts, "texts")
        tokens = self.tokenizer(_replaced(array, self.tokenizer))
        ids = _ids(tokens, self._index)
        which = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        unknown = ids == UNK
        missing = np.array(
            [word not in self._index and not _is_symbol(word) for word in tokens.vocabulary.to_pylist()], np.bool_
        )
        is_outside = np.bincount(which[missing[tokens.ids]], minlength=len(array)) > 0
        if self.tokenizer.lowercase:
            is_outside |= np.asarray(pc.not_equal(array, lower(array)), np.bool_)
        return Encoded(ids, tokens.offsets, np.bincount(which[unknown], minlength=len(array)), is_outside)

    def decode(self, ids: I64, lengths: I64) -> list[str]:
        """The texts of concatenated ids of words; `lengths` has the number of words of each text."""
        return self.spacing.join(ids, lengths)

    def id(self, word: str) -> int:
        """The id of a word, `UNK` if it is not in the vocabulary."""
        return self._index.get(word, UNK)

    def config(self) -> dict[str, Any]:
        """The settings for a model file."""
        return {"tokenizer": self.tokenizer.name, "lowercase": self.tokenizer.lowercase}

    def tensors(self) -> Tensors:
        """The arrays for a model file."""
        content, offsets = packed_strings(self.words[FIRST_WORD:])
        return {
            "words": content,
            "words.offsets": offsets,
            "words.counts": self.counts,
            "spacing.pairs": self.spacing.pairs,
            "spacing.joined": self.spacing.joined,
            "spacing.leans_left": self.spacing.leans_left,
            "spacing.leans_right": self.spacing.leans_right,
        }

    @classmethod
    def restored(cls, file: ModelFile) -> Self:
        """The vocabulary in a model file."""
        strings = unpacked_strings(file.need("words", "uint8"), file.need("words.offsets", "int64"), where=file.where)
        words = (*_SYMBOLS, *strings)
        size, pairs = len(words), file.need("spacing.pairs", "int64")
        sizes = {"words.counts": size, "spacing.leans_left": size, "spacing.leans_right": size}
        for name, wanted in {**sizes, "spacing.joined": len(pairs)}.items():
            if len(file.need(name, "int64" if name == "words.counts" else "bool")) != wanted:
                raise damaged(file.where, f"{len(file.tensors[name])} values of {name!r}; wanted {wanted}")
        index = {word: number for number, word in enumerate(words) if number >= FIRST_WORD}
        if len(index) != len(strings) or "" in index:
            raise damaged(file.where, "a word is empty or occurs twice")
        joined, left, right = (file.tensors[f"spacing.{name}"] for name in ("joined", "leans_left", "leans_right"))
        splitter = word_tokenizer(file.setting("tokenizer", str), lowercase=file.setting("lowercase", bool))
        return cls(words, file.tensors["words.counts"], splitter, Spacing(words, pairs, joined, left, right), index)


def word_tokenizer(name: str, *, lowercase: bool = False) -> Tokenizer:
    """The tokenizer of a word model, or an error if its tokens cannot be joined to texts."""
    if name not in TOKENIZERS:
        raise InputError(Setting("tokenizer", name), f"; a word model needs one of {', '.join(TOKENIZERS)}")
    return get_tokenizer(name, lowercase=lowercase)


def check_limits(*, min_count: int, max_words: int | None) -> None:
    """Raise an error for a threshold or a size that no vocabulary can have."""
    if not is_whole(min_count) or min_count < 1:
        raise InputError(Setting("min_count", min_count), "; wanted a whole number of 1 or more")
    if max_words is not None and (not is_whole(max_words) or max_words < 1):
        raise InputError(Setting("max_words", max_words), "; wanted a whole number of 1 or more")


def joined(before: tuple[I64, I64], after: tuple[I64, I64]) -> tuple[I64, I64]:
    """Ids and offsets of the texts in `before`, each followed by the text in `after` at the same index.

    >>> first, second = (np.array([3, 4]), np.array([0, 1, 2])), (np.array([5, 6]), np.array([0, 2, 2]))
    >>> [part.tolist() for part in joined(first, second)]
    [[3, 5, 6, 4], [0, 3, 4]]
    """
    parts = (before, after)
    texts = np.concatenate([np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) for _, offsets in parts])
    order = np.argsort(texts, kind="stable")
    return np.concatenate([ids for ids, _ in parts])[order], before[1] + after[1]


def framed(ids: I64, offsets: I64) -> I64:
    """Concatenated texts, each between `BEGIN` and `END`; text `i` then begins at `offsets[i] + 2 * i`."""
    texts = np.arange(len(offsets) - 1)
    symbols = np.full(len(ids) + 2 * len(texts), END)
    symbols[offsets[:-1] + 2 * texts] = BEGIN
    symbols[np.arange(len(ids)) + 2 * np.repeat(texts, np.diff(offsets)) + 1] = ids
    return symbols


def _without_blank(texts: Texts) -> pa.Array:
    array = texts_of(texts, "training texts")
    array = array.filter(is_not_blank(array))
    if not len(array):
        raise InputError("no text to learn from; wanted at least one that is not blank")
    return array


def _replaced(texts: pa.Array, tokenizer: Tokenizer) -> pa.Array:
    """The texts with a placeholder for `<unk>` where the tokenizer would split it."""
    if tokenizer.name == "whitespace":
        return texts
    return pc.replace_substring(texts, UNKNOWN, _PLACEHOLDER)


def _chosen(tokens: Tokens, min_count: int, max_words: int | None) -> tuple[tuple[str, ...], I64]:
    """The words by falling count and alphabet after the symbols, and the count of each."""
    strings = tokens.vocabulary.to_pylist()
    counts = np.bincount(tokens.ids, minlength=len(strings)).tolist()
    pairs = [(-n, s) for n, s in zip(counts, strings, strict=True) if n >= min_count and not _is_symbol(s)]
    kept = sorted(pairs)[:max_words]
    words = (*_SYMBOLS, *(word for _, word in kept))
    return words, np.array([0] * len(_SYMBOLS) + [-count for count, _ in kept], dtype=np.int64)


def _is_symbol(word: str) -> bool:
    return word == UNKNOWN or word.startswith(_PLACEHOLDER)


def _ids(tokens: Tokens, index: dict[str, int]) -> I64:
    known = [index.get(word, UNK) for word in tokens.vocabulary.to_pylist()]
    return np.array(known, dtype=np.int64)[tokens.ids]
