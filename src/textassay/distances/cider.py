"""CIDEr-D as a distance (10 minus the score), with document frequencies from the run or from a file."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import Sequences, hash_words, order_of, starts_of_runs
from textassay.corpus.item_set import TextTable
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT
from textassay.corpus.tokenizers import Tokens, tokens_from_lists
from textassay.corpus.values import read_json, string_array
from textassay.distances.base import Surroundings, TextCounts, WeightedCounts
from textassay.errors import InputError

ORDERS = 4


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    r"""The number of documents with each n-gram of up to four words; all references of an item are one document.

    `keys` (hashes) are sorted; `ngrams` has the words of each, separated by spaces. A space or backslash within a word
    is written `\s` or `\\`. A monoid: parts of a corpus merge by addition.

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
        """Count over the documents of a table, one document per item."""
        tokens, documents = _references(table)
        sequences = Sequences.from_tokens(tokens)
        words = escaped(tokens.vocabulary)
        parts = [_counted(sequences, tokens, words, documents, n) for n in range(1, ORDERS + 1)]
        return cls._sorted(len(table.documents), table.tokenizer.signature, parts)

    def merge(self, other: Self, /) -> Self:
        """The frequencies over the documents of both."""
        if self.tokenizer != other.tokenizer:
            raise InputError(
                f"document frequencies with the tokenizers {self.tokenizer!r} and {other.tokenizer!r}; wanted one"
            )
        parts = [(part.keys, part.counts, part.ngrams) for part in (self, other)]
        return self._sorted(self.documents + other.documents, self.tokenizer, parts)

    @classmethod
    def _sorted(cls, documents: int, tokenizer: str, parts: list[tuple[U64, NDArray[np.int64], pa.Array]]) -> Self:
        """One entry per n-gram, with the sum of its counts."""
        keys = np.concatenate([part[0] for part in parts])
        order = order_of(keys)
        starts = starts_of_runs(keys[order])
        sums = np.concatenate(([0], np.cumsum(np.concatenate([part[1] for part in parts])[order])))
        first = order[starts[:-1]]
        ngrams = pa.concat_arrays([part[2] for part in parts]).take(pa.array(first))
        return cls(documents, tokenizer, keys[first], np.diff(sums[starts]).astype(np.int64), ngrams)

    @property
    def digest(self) -> str:
        """A digest of eight characters; the same for a file and for its corpus."""
        hasher = hashlib.blake2b(f"{self.documents} {self.tokenizer} ".encode(), digest_size=4)
        hasher.update(self.keys.astype("<u8").tobytes())
        hasher.update(self.counts.astype("<i8").tobytes())
        return hasher.hexdigest()

    def rarity(self, keys: U64) -> NDArray[np.float64]:
        """Logarithm of documents over documents with the n-gram; an n-gram in no document counts as in one."""
        counts = np.ones(len(keys))
        if len(self.keys):
            indices = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            counts = np.where(self.keys[indices] == keys, self.counts[indices], 1.0)
        rarity: NDArray[np.float64] = np.log(max(self.documents, 1)) - np.log(counts)
        return rarity

    def to_dict(self) -> dict[str, object]:
        """The content of a file."""
        frequencies = dict(zip(self.ngrams.to_pylist(), self.counts.tolist(), strict=True))
        return {"documents": self.documents, "tokenizer": self.tokenizer, "frequencies": frequencies}


def escaped(words: pa.Array) -> pa.Array:
    """Words in which spaces and backslashes are escaped."""
    return pc.replace_substring(pc.replace_substring(words, "\\", "\\\\"), " ", "\\s").cast(TEXT)


def _references(table: TextTable) -> tuple[Tokens, NDArray[np.int32]]:
    """The tokens of all references one after the other, and the document of each reference."""
    numbers = np.concatenate([np.zeros(0, np.int64), *table.documents])
    documents = np.repeat(np.arange(len(table.documents), dtype=np.int32), [len(texts) for texts in table.documents])
    lengths = table.sequences.lengths[numbers]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.arange(offsets[-1]) + np.repeat(table.tokens.offsets[numbers] - offsets[:-1], lengths)
    return Tokens(table.tokens.ids[indices], table.tokens.vocabulary, offsets), documents


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
    # A text has n - 1 fewer n-grams than words, or none: this is the offset between positions of n-grams and of words.
    missing = np.minimum(sequences.lengths, n - 1)
    indices = first + (np.cumsum(missing) - missing)[texts[first]]
    columns = [words.take(pa.array(tokens.ids[indices + k])) for k in range(n)]
    spelled = columns[0] if n == 1 else pc.binary_join_element_wise(*columns, pa.scalar(" ", TEXT))
    return grams[first], counts.astype(np.int64), spelled


_FIELDS = {"documents": int, "tokenizer": str, "frequencies": dict}
_WANTED = '{"documents": 1000, "tokenizer": "words", "frequencies": {"a man": 12}}'
# Whole numbers up to this one are exact as floats.
_MOST = 1 << 53


def write_frequencies(frequencies: DocumentFrequencies, path: str | Path) -> None:
    """Write document frequencies with sorted n-grams."""
    plain = frequencies.to_dict()
    where = shortened(str(path))
    try:
        Path(path).write_text(json.dumps(plain, ensure_ascii=False, sort_keys=True), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{where}: cannot be written ({(error.strerror or str(error)).lower()})") from None


def read_frequencies(path: str | Path) -> DocumentFrequencies:
    """Read document frequencies; any other file is an error."""
    where = shortened(str(path))
    try:
        plain = read_json(path)
    except InputError as error:
        raise InputError(f"{error}; wanted {_WANTED}") from None
    documents, tokenizer = _head(plain, where)
    counts = _counts(plain["frequencies"], documents, where)
    keys = _keys(list(plain["frequencies"]), where)
    order = order_of(keys)
    ngrams = pa.array(list(plain["frequencies"]), TEXT).take(pa.array(order))
    return DocumentFrequencies(documents, tokenizer, keys[order], counts[order], ngrams)


def _head(plain: Any, where: str) -> tuple[int, str]:
    if not isinstance(plain, dict):
        raise InputError(f"{where}: a JSON {type(plain).__name__}; wanted an object such as {_WANTED}")
    for name, kind in _FIELDS.items():
        if name not in plain:
            fields = quoted(list(plain)) or "none"
            raise InputError(f"{where}: no field {name!r}; fields are {fields}; wanted {_WANTED}")
        if type(plain[name]) is not kind:
            seen = shortened(json.dumps(plain[name]), 60)
            raise InputError(f"{where}: field {name!r} is {seen}; wanted {_WANTED}")
    documents: int = plain["documents"]
    if not 1 <= documents <= _MOST:
        raise InputError(f"{where}: {shortened(str(documents), 60)} documents; wanted 1 or more")
    return documents, str(plain["tokenizer"])


def _counts(frequencies: dict[str, Any], documents: int, where: str) -> NDArray[np.int64]:
    for ngram, count in frequencies.items():
        if type(count) is not int or not 1 <= count <= documents:
            seen = shortened(json.dumps(count), 60)
            raise InputError(
                f"{where}: '{shortened(ngram, 60)}' is in {seen} documents; wanted a whole number from 1 to {documents}"
            )
    return np.array(list(frequencies.values()), dtype=np.int64)


def _keys(ngrams: list[str], where: str) -> U64:
    """The hash of each n-gram, equal to that of the same words in a text."""
    lists = pc.split_pattern(string_array(ngrams, f"{where}: n-gram "), " ")
    tokens = tokens_from_lists(lists)
    lengths = tokens.lengths
    wrong = np.flatnonzero((lengths < 1) | (lengths > ORDERS) | (lengths != np.asarray(pc.list_value_length(lists))))
    if len(wrong):
        seen = shortened(ngrams[int(wrong[0])], 60)
        raise InputError(f"{where}: '{seen}' is not an n-gram; wanted 1 to {ORDERS} words separated by one space")
    words = pa.array([_unescaped(word) for word in tokens.vocabulary.to_pylist()], TEXT)
    sequences = Sequences(hash_words(words)[tokens.ids], tokens.offsets)
    keys = np.zeros(len(ngrams), dtype=np.uint64)
    for n in range(1, ORDERS + 1):
        grams, texts = sequences.ngrams(n)
        whole = lengths[texts] == n
        keys[texts[whole]] = grams[whole]
    return keys


def _unescaped(word: str) -> str:
    return re.sub(r"\\([s\\])", lambda match: " " if match[1] == "s" else "\\", word)


SIGMA = 6.0
# With fewer documents than this, rare and common n-grams hardly differ.
FEW_DOCUMENTS = 10


@dataclass(frozen=True, eq=False)
class Cider:
    r"""CIDEr-D of one text against one reference, from 0 to 10: clipped tf-idf cosines of n-grams, n = 1 to 4.

    .. math:: 10 \cdot \frac{1}{4} \sum_{n=1}^4 e^{-(l_h - l_r)^2 / 72}
              \frac{\min(h_n, r_n) \cdot r_n}{\lVert h_n \rVert \lVert r_n \rVert}

    The mean over several references is the CIDEr-D of the COCO caption evaluation. Document frequencies come from the
    references of all items of the run, or from a file. With few items the score is unreliable, with one it is
    undefined. A text of fewer than four words, or one whose words are in every document, scores below 10 even against
    itself, but its distance from itself is 0. A text without words scores 0.
    """

    table: TextTable
    counts: WeightedCounts
    norms: F64
    documents: int
    digest: str

    name: ClassVar[str] = "cider"
    top: ClassVar[float] = 10.0

    @property
    def signature(self) -> str:
        """The name, with the number of documents and the digest of their frequencies."""
        return f"cider/df:{self.documents}docs-{self.digest}"

    @property
    def undefined(self) -> str:
        """Why no score means anything; empty if scores do."""
        if self.documents > 1:
            return ""
        return "CIDEr-D of one item: every n-gram is in every document, so wanted more items or document frequencies"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the reliability of the document frequencies."""
        if 1 < self.documents < FEW_DOCUMENTS:
            return (
                f"CIDEr-D is unreliable with document frequencies of {self.documents} items: "
                f"wanted {FEW_DOCUMENTS} or more, or a file of document frequencies",
            )
        return ()

    def scores(self, numbers: I64, /) -> F64:
        """CIDEr-D of each text against each other one."""
        norms = self.norms[numbers].T
        cosines = self.counts.overlaps(numbers)
        lengths = norms[:, :, None] * norms[:, None, :]
        cosines /= np.where(lengths > 0, lengths, 1.0)
        # The COCO evaluation uses the number of bigrams as the length of a text.
        bigrams = np.maximum(self.table.sequences.lengths[numbers] - 1, 0)
        apart = (bigrams[:, None] - bigrams).astype(np.float64)
        scores: F64 = 10.0 * np.exp(-(apart**2) / (2 * SIGMA**2)) * cosines.mean(axis=0)
        return scores

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> Cider:
    """CIDEr-D among the texts of a run."""
    table = surroundings.table
    counts = TextCounts.of(table.sequences, ORDERS)
    frequencies = _frequencies(surroundings)
    weighted = counts.weighted(frequencies.rarity(counts.keys) ** 2)
    return Cider(table, weighted, np.sqrt(weighted.squares()), frequencies.documents, frequencies.digest)


def _frequencies(surroundings: Surroundings) -> DocumentFrequencies:
    path, table = surroundings.document_frequencies, surroundings.table
    if path is None:
        return DocumentFrequencies.of(table)
    frequencies = read_frequencies(path)
    if frequencies.tokenizer != table.tokenizer.signature:
        raise InputError(
            f"{shortened(path)}: frequencies of tokens of {shortened(repr(frequencies.tokenizer), 60)}; "
            f"wanted {table.tokenizer.signature!r}, the tokenizer of this run"
        )
    return frequencies
