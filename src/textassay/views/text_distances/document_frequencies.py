"""Document frequencies: in how many items an n-gram stands, from the references of a run or from a file."""

import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.corpus.sample import TEXT
from textassay.corpus.tokens import Tokens
from textassay.views.hashing import U64, order_of, starts_of_runs
from textassay.views.sequences import Sequences
from textassay.views.text_table import TextTable

ORDERS = 4


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    r"""How many of so many documents have each n-gram of up to four words; all references of an item are one document.

    `keys` (hashes) ascend, `ngrams` has their words with blanks between; a blank or backslash within a word is written
    `\s` or `\\`. A monoid: parts of a corpus merge by addition.

    >>> table = TextTable.of([["a cat", "the cat"], ["a dog"]])
    >>> frequencies = DocumentFrequencies.of(table)
    >>> frequencies.documents, sorted(frequencies.to_dict()["frequencies"].items())
    (2, [('a', 2), ('a cat', 1), ('a dog', 1), ('cat', 1), ('dog', 1), ('the', 1), ('the cat', 1)])
    """

    documents: int
    tokenizer: str
    keys: U64
    counts: NDArray[np.int64]
    ngrams: pa.Array

    @classmethod
    def of(cls, table: TextTable, /) -> Self:
        """Count over the documents of a table: each item's references."""
        tokens, documents = _references(table)
        sequences = Sequences.from_tokens(tokens)
        words = escaped(tokens.vocabulary)
        parts = [_counted(sequences, tokens, words, documents, n) for n in range(1, ORDERS + 1)]
        return cls._sorted(len(table.documents), table.tokenizer.signature, parts)

    def merge(self, other: Self, /) -> Self:
        """Over the documents of both."""
        if self.tokenizer != other.tokenizer:
            raise InputError(
                f"document frequencies with the tokenizers {self.tokenizer!r} and {other.tokenizer!r}; wanted one"
            )
        parts = [(part.keys, part.counts, part.ngrams) for part in (self, other)]
        return self._sorted(self.documents + other.documents, self.tokenizer, parts)

    @classmethod
    def _sorted(cls, documents: int, tokenizer: str, parts: list[tuple[U64, NDArray[np.int64], pa.Array]]) -> Self:
        """One entry an n-gram, with the sum of its counts."""
        keys = np.concatenate([part[0] for part in parts])
        order = order_of(keys)
        starts = starts_of_runs(keys[order])
        sums = np.concatenate(([0], np.cumsum(np.concatenate([part[1] for part in parts])[order])))
        first = order[starts[:-1]]
        ngrams = pa.concat_arrays([part[2] for part in parts]).take(pa.array(first))
        return cls(documents, tokenizer, keys[first], np.diff(sums[starts]).astype(np.int64), ngrams)

    @property
    def digest(self) -> str:
        """Fixes the numbers, in eight characters; the same for a file and for the corpus it was made from."""
        hasher = hashlib.blake2b(f"{self.documents} {self.tokenizer} ".encode(), digest_size=4)
        hasher.update(self.keys.astype("<u8").tobytes())
        hasher.update(self.counts.astype("<i8").tobytes())
        return hasher.hexdigest()

    def rarity(self, keys: U64) -> NDArray[np.float64]:
        """Logarithm of documents over documents with the n-gram; one that is in none counts as in one."""
        counts = np.ones(len(keys))
        if len(self.keys):
            places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            counts = np.where(self.keys[places] == keys, self.counts[places], 1.0)
        rarity: NDArray[np.float64] = np.log(max(self.documents, 1)) - np.log(counts)
        return rarity

    def to_dict(self) -> dict[str, object]:
        """The form that files have."""
        frequencies = dict(zip(self.ngrams.to_pylist(), self.counts.tolist(), strict=True))
        return {"documents": self.documents, "tokenizer": self.tokenizer, "frequencies": frequencies}


def escaped(words: pa.Array) -> pa.Array:
    """Words with nothing in them that stands between words."""
    return pc.replace_substring(pc.replace_substring(words, "\\", "\\\\"), " ", "\\s").cast(TEXT)


def _references(table: TextTable) -> tuple[Tokens, NDArray[np.int32]]:
    """The tokens of all references one after the other, and the document of each reference."""
    numbers = np.concatenate([np.zeros(0, np.int64), *table.documents])
    documents = np.repeat(np.arange(len(table.documents), dtype=np.int32), [len(texts) for texts in table.documents])
    lengths = table.tokens.lengths[numbers]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(offsets[-1]) + np.repeat(table.tokens.offsets[numbers] - offsets[:-1], lengths)
    return Tokens(table.tokens.ids[places], table.tokens.vocabulary, offsets), documents


def _counted(
    sequences: Sequences, tokens: Tokens, words: pa.Array, documents: NDArray[np.int32], n: int
) -> tuple[U64, NDArray[np.int64], pa.Array]:
    """The n-grams of one order, with the number of documents that have them, and their words."""
    grams, texts = sequences.ngrams(n)
    order = order_of(grams)
    starts = starts_of_runs(grams[order])
    owner = documents[texts[order]]
    new = np.ones(len(order), dtype=bool)
    new[1:] = owner[1:] != owner[:-1]
    new[starts[:-1]] = True
    counts = np.diff(np.concatenate(([0], np.cumsum(new)))[starts])
    first = order[starts[:-1]]
    # A text has n - 1 n-grams less than words, or none: that is how far places of n-grams and of words are apart.
    missing = np.minimum(sequences.lengths, n - 1)
    places = first + (np.cumsum(missing) - missing)[texts[first]]
    columns = [words.take(pa.array(tokens.ids[places + k])) for k in range(n)]
    spelled = columns[0] if n == 1 else pc.binary_join_element_wise(*columns, pa.scalar(" ", TEXT))
    return grams[first], counts.astype(np.int64), spelled
