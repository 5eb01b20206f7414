"""Hashed n-grams: words and n-grams as 64-bit hashes, and which n-gram occurs in which text."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.arrays import U64, Bool
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import Tokens

_CHAIN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def mix(values: U64) -> U64:
    """Scramble 64-bit integers so that every input bit reaches every output bit (the splitmix64 finaliser)."""
    out = values ^ (values >> np.uint64(30))
    out *= _MIX_1
    out ^= out >> np.uint64(27)
    out *= _MIX_2
    out ^= out >> np.uint64(31)
    return out


def hash_words(vocabulary: pa.Array) -> U64:
    """One cryptographic hash per word: hostile text cannot make two words collide."""
    digests = b"".join([_known.get(word) or _hashed(word) for word in vocabulary.cast(pa.large_binary()).to_pylist()])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64, copy=False)


# The samples of a run share most of their words, and the same texts are read again as parts of a sample.
_known: dict[bytes, bytes] = {}
_MOST_KNOWN = 1 << 16


def _hashed(word: bytes) -> bytes:
    digest = hashlib.blake2b(word, digest_size=8).digest()
    if len(_known) < _MOST_KNOWN and len(word) <= 64:
        _known[word] = digest
    return digest


def chain(prefix: U64, word: U64) -> U64:
    """The hash of an n-gram from that of its first n - 1 words and that of its last."""
    return mix(prefix * _CHAIN + word)


def order_of(keys: U64) -> NDArray[np.int64]:
    """A stable sorting order of well-mixed keys, five times faster than `argsort`.

    The place is packed into the low bits of the key, so that a plain (vectorised) sort carries it along. The bits
    that made room for it can only matter where two different keys agree in all the others; those runs are re-sorted.
    """
    bits = np.uint64(max(len(keys), 1).bit_length())
    low = (np.uint64(1) << bits) - np.uint64(1)
    packed = (keys & ~low) | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    order = (packed & low).astype(np.int64)
    found = keys[order]
    wrong = np.flatnonzero(found[:-1] > found[1:])
    if len(wrong):
        runs = np.flatnonzero(np.isin(packed & ~low, packed[wrong] & ~low))
        order[runs] = order[runs][np.lexsort((order[runs], found[runs]))]
    return order


def starts_of_runs(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """Where each run of equal values begins, and the length of the whole at the end."""
    if not len(values):
        return np.zeros(1, dtype=np.int64)
    change = np.flatnonzero(values[1:] != values[:-1]) + 1
    return np.concatenate(([0], change, [len(values)])).astype(np.int64)


def union(first: U64, second: U64) -> U64:
    """The sorted union of two sorted arrays of distinct keys."""
    both = np.concatenate((first, second))
    both.sort()
    return both[starts_of_runs(both)[:-1]]


class Tokenised(Protocol):
    """A sample with the settings that name its tokenizer."""

    @property
    def sample(self) -> Sample: ...

    @property
    def settings(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Sequences:
    """Text `i` owns `words[offsets[i]:offsets[i + 1]]`. Merges by concatenation."""

    shared: ClassVar[bool] = True

    words: U64
    offsets: NDArray[np.int64]
    # True for tokens without a letter or digit, such as a full stop; None where nothing is known of the tokens.
    marked: NDArray[np.bool_] | None = field(default=None, repr=False)
    lengths: NDArray[np.int64] = field(init=False, repr=False)
    marks: NDArray[np.bool_] = field(init=False, repr=False)
    # The last order asked for and its hashes: orders are asked for one after the other, and each goes on from there.
    _last: dict[str, tuple[int, U64]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        marks = np.zeros(len(self.words), dtype=bool) if self.marked is None else self.marked
        object.__setattr__(self, "lengths", np.diff(self.offsets))
        object.__setattr__(self, "marks", marks)

    @classmethod
    def of(cls, material: Tokenised, /) -> Self:
        """Tokenise and hash the texts of a sample."""
        return cls.from_tokens(material.settings.tokenizer(material.sample.texts))

    @classmethod
    def from_tokens(cls, tokens: Tokens) -> Self:
        """Hash tokens that are already read."""
        marks = ~np.asarray(pc.match_substring_regex(tokens.vocabulary, r"[\p{L}\p{N}]"), dtype=bool)
        return cls(hash_words(tokens.vocabulary)[tokens.ids], tokens.offsets, marks[tokens.ids])

    def merge(self, other: Self, /) -> Self:
        """These texts, then the other ones."""
        offsets = np.concatenate((self.offsets, other.offsets[1:] + self.offsets[-1]))
        words, marks = np.concatenate((self.words, other.words)), np.concatenate((self.marks, other.marks))
        return type(self)(words, offsets, marks)

    def take(self, texts: NDArray[np.int64]) -> Self:
        """These texts, in this order."""
        sizes = self.lengths[texts]
        indices = ranges(self.offsets[texts], sizes)
        return type(self)(self.words[indices], np.concatenate(([0], np.cumsum(sizes))), self.marks[indices])

    def beginnings(self, sizes: NDArray[np.int64]) -> Self:
        """The first words of each text, this many of each."""
        indices = ranges(self.offsets[:-1], sizes)
        return type(self)(self.words[indices], np.concatenate(([0], np.cumsum(sizes))), self.marks[indices])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def ngrams(self, n: int) -> tuple[U64, NDArray[np.int32]]:
        """The hash of every n-gram and the text it is in, in reading order; none crosses a text's end."""
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


def text_keys(sequences: Sequences) -> U64:
    """A hash of each text's words in order; all texts without words have the same hash."""
    index = np.arange(len(sequences.words)) - np.repeat(sequences.offsets[:-1], sequences.lengths)
    placed = chain(mix(index.astype(np.uint64)), sequences.words)
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(placed)))
    # Sums and their differences wrap around at 2^64, so the difference is the sum over one text.
    return mix(np.diff(sums[sequences.offsets]))


@dataclass(frozen=True, eq=False)
class Incidence:
    """Gram `keys[g]` is in `texts[starts[g]:starts[g + 1]]`, `counts` times in each; keys and texts ascend."""

    keys: U64
    starts: NDArray[np.int64]
    texts: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def from_ngrams(cls, grams: U64, texts: NDArray[np.int32]) -> Self:
        """Count n-grams given in reading order."""
        order = order_of(grams)
        grams, texts = grams[order], texts[order]
        new_gram = np.ones(len(grams), dtype=bool)
        np.not_equal(grams[1:], grams[:-1], out=new_gram[1:])
        first = new_gram.copy()
        first[1:] |= texts[1:] != texts[:-1]
        entries = np.flatnonzero(first)
        counts = np.diff(entries, append=len(grams)).astype(np.int32)
        starts = np.append(np.flatnonzero(new_gram[entries]), len(entries))
        return cls(grams[new_gram], starts, texts[entries], counts)

    def merge(self, other: Self, shift: int) -> Self:
        """Both, the other's texts numbered from `shift`."""
        keys = union(self.keys, other.keys)
        mine, theirs = np.searchsorted(keys, self.keys), np.searchsorted(keys, other.keys)
        my_sizes = np.zeros(len(keys), dtype=np.int64)
        my_sizes[mine] = np.diff(self.starts)
        sizes = my_sizes.copy()
        sizes[theirs] += np.diff(other.starts)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        texts = np.empty(starts[-1], dtype=np.int32)
        # Counts of blocks of texts have 64 bits.
        counts = np.empty(starts[-1], dtype=np.promote_types(self.counts.dtype, other.counts.dtype))
        for part, begin, offset in ((self, starts[mine], 0), (other, (starts[:-1] + my_sizes)[theirs], shift)):
            indices = np.arange(len(part.texts)) + np.repeat(begin - part.starts[:-1], np.diff(part.starts))
            texts[indices] = part.texts + np.int32(offset)
            counts[indices] = part.counts
        return type(self)(keys, starts, texts, counts)

    def where(self, mask: Bool) -> Self:
        """Only the texts under the mask, numbered anew; the keys stay, so that parts of one pool need no aligning."""
        kept = mask[self.texts]
        number = (np.cumsum(mask) - 1).astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(kept)))[self.starts]
        return type(self)(self.keys, starts, number[self.texts[kept]], self.counts[kept])

    def totals(self) -> NDArray[np.int64]:
        """The count of each gram over all texts."""
        sums = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        return np.diff(sums[self.starts])

    def best(self) -> NDArray[np.int32]:
        """The largest count of each gram in one text; 0 where a gram has no text."""
        return largest(self.counts, self.starts)


def largest(values: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """The largest value of each run; 0 for an empty run."""
    found = np.zeros(len(starts) - 1, dtype=np.int32)
    filled = starts[1:] > starts[:-1]
    if filled.any():
        found[filled] = np.maximum.reduceat(values, starts[:-1][filled])
    return found


def ranges(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of many ranges, one range after another."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(begins - (ends - sizes), sizes)
