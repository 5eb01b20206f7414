"""MinHash sketches: which texts share most of their n-grams, found without comparing all pairs."""

import numpy as np
from numpy.typing import NDArray

from textassay.views.hashing import U64, chain, mix, order_of, starts_of_runs
from textassay.views.sequences import Sequences

# 8 bands of 3 find a pair of Jaccard similarity 0.8 with probability 0.997; what they find is then checked exactly.
BANDS, ROWS = 8, 3
# Within a bucket each text meets this many neighbours in a fixed order, so that a hostile bucket stays cheap. Of 300
# variants of one template, of which each has a near copy, 2 neighbours find 94 % and 8 find 99 %.
NEIGHBOURS = 8
# Pairs are checked with so many shingles at a time: each takes some forty bytes while it is looked at. Pairs would be
# the wrong measure: one of two long texts has thousands of shingles.
_SHINGLES_AT_ONCE = 8_000_000

Pairs = NDArray[np.int64]


def text_keys(sequences: Sequences) -> U64:
    """One hash a text, of its words in order; texts without words share one."""
    place = np.arange(len(sequences.words)) - np.repeat(sequences.offsets[:-1], sequences.lengths)
    placed = chain(mix(place.astype(np.uint64)), sequences.words)
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(placed)))
    # Sums wrap around at 2^64, and so do their differences: the sum over one text comes out right.
    return mix(np.diff(sums[sequences.offsets]))


def shingles(sequences: Sequences, n: int) -> tuple[U64, NDArray[np.int64]]:
    """The distinct n-grams of each text, text by text, and where each text begins; a shorter text is one shingle."""
    grams, texts = sequences.ngrams(n)
    short = np.flatnonzero(sequences.lengths < n).astype(np.int32)
    if len(short):
        grams = np.concatenate((grams, mix(text_keys(sequences)[short])))
        texts = np.concatenate((texts, short))
    order = order_of(grams)
    order = order[np.argsort(texts[order], kind="stable")]
    grams, texts = grams[order], texts[order]
    first = np.ones(len(grams), dtype=bool)
    first[1:] = (grams[1:] != grams[:-1]) | (texts[1:] != texts[:-1])
    counts = np.bincount(texts[first], minlength=len(sequences))
    return grams[first], np.concatenate(([0], np.cumsum(counts)))


def similar_pairs(sequences: Sequences, keys: U64, *, n: int, similarity: float) -> Pairs:
    """Pairs of texts whose sets of n-grams are at least this similar (Jaccard); `keys` fixes the order of search."""
    if len(sequences) < 2:
        return np.empty((0, 2), dtype=np.int64)
    grams, starts = shingles(sequences, n)
    sizes = np.diff(starts)
    pairs = _candidates(_buckets(grams, starts), keys)
    # The smaller set holds at most its own size in common with the larger one.
    ratio = sizes[pairs].min(axis=1, initial=np.iinfo(np.int64).max) / sizes[pairs].max(axis=1, initial=1)
    pairs = pairs[ratio >= similarity]
    numbers = np.cumsum(sizes[pairs].sum(axis=1)) // _SHINGLES_AT_ONCE
    parts = np.split(pairs, np.flatnonzero(np.diff(numbers)) + 1)
    alike = [part[_jaccard(grams, starts, part) >= similarity] for part in parts]
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *alike])


def _buckets(grams: U64, starts: NDArray[np.int64]) -> U64:
    """One row a band: the hash of a few minima over each text's shingles, equal for texts that share them."""
    buckets = np.zeros((BANDS, len(starts) - 1), dtype=np.uint64)
    for band, row in np.ndindex(BANDS, ROWS):
        salt = mix(np.array([band * ROWS + row + 1], dtype=np.uint64))
        buckets[band] = chain(buckets[band], np.minimum.reduceat(mix(grams ^ salt), starts[:-1]))
    return buckets


def _candidates(buckets: U64, keys: U64) -> Pairs:
    """Neighbours in each bucket; those that share the next bucket too stand together, as the likeliest pairs."""
    n_texts = len(keys)
    found = []
    for band in range(BANDS):
        bucket = buckets[band]
        order = np.lexsort((keys, buckets[(band + 1) % BANDS], bucket))
        for lag in range(1, NEIGHBOURS + 1):
            same = np.flatnonzero(bucket[order[:-lag]] == bucket[order[lag:]])
            one, other = order[same], order[same + lag]
            found.append(np.minimum(one, other) * n_texts + np.maximum(one, other))
    packed = np.concatenate(found)
    packed.sort()
    packed = packed[starts_of_runs(packed)[:-1]]
    return np.stack(np.divmod(packed, n_texts), axis=1)


def _jaccard(grams: U64, starts: NDArray[np.int64], pairs: Pairs) -> NDArray[np.float64]:
    """Exact similarity of each pair: a shingle that both have stands twice under the pair's number."""
    sizes = np.diff(starts)
    number = np.arange(len(pairs))
    owners = np.concatenate([np.repeat(number, sizes[pairs[:, side]]) for side in (0, 1)])
    both = np.concatenate([grams[ranges(starts[pairs[:, side]], sizes[pairs[:, side]])] for side in (0, 1)])
    tagged = chain(both, mix(owners.astype(np.uint64)))
    order = order_of(tagged)
    twice = order[:-1][tagged[order[1:]] == tagged[order[:-1]]]
    shared = np.bincount(owners[twice], minlength=len(pairs))
    together = sizes[pairs[:, 0]] + sizes[pairs[:, 1]]
    return shared / (together - shared)


def ranges(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of many ranges, one range after another."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(begins - (ends - sizes), sizes)
