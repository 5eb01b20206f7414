"""64-bit hashes of words and n-grams, the same on every machine, so that views merge without a shared vocabulary."""

import hashlib

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

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
