"""Duplicates: exact and near-duplicate texts, and the metrics repetition and copying."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.corpus.arrays import I64, U64, Bool
from textassay.corpus.hashed_ngrams import Sequences, chain, mix, order_of, starts_of_runs
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Material, Pool, Resamples

# 8 bands of 3 find a pair of Jaccard similarity 0.8 with probability 0.997; what they find is then checked exactly.
BANDS, ROWS = 8, 3
# Within a bucket each text meets this many neighbours in a fixed order, so that a hostile bucket stays cheap. Of 300
# variants of one template, of which each has a near copy, 2 neighbours find 94 % and 8 find 99 %.
NEIGHBOURS = 8
# Pairs are checked with so many shingles at a time: each takes some forty bytes while it is looked at. Pairs would be
# the wrong measure: one of two long texts has thousands of shingles.
_SHINGLES_AT_ONCE = 8_000_000


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


def similar_pairs(sequences: Sequences, keys: U64, *, n: int, similarity: float) -> I64:
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


def _candidates(buckets: U64, keys: U64) -> I64:
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


def _jaccard(grams: U64, starts: NDArray[np.int64], pairs: I64) -> NDArray[np.float64]:
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


_ROWS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Texts in classes of equal word sequences, numbered by their hash.

    `sizes` counts the texts of each class. A resampled view keeps the classes of its pool and counts anew which of
    their texts are `present`, with one row a resample; `n_texts` has as many rows.
    """

    sequences: Sequences
    keys: U64
    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    n_texts: Any
    _count: Callable[[NDArray[np.int64]], NDArray[Any]] | None = field(default=None, repr=False)
    _pairs: dict[tuple[int, float], I64] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Group the texts of a sample."""
        return cls.from_sequences(material.view(Sequences))

    @classmethod
    def from_sequences(cls, sequences: Sequences) -> Self:
        """Group texts by the hash of their words; `sequences` then holds each class once."""
        keys = text_keys(sequences)
        order = order_of(keys)
        runs = starts_of_runs(keys[order])
        class_of = np.empty(len(keys), dtype=np.int64)
        class_of[order] = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
        return cls(_chosen(sequences, order[runs[:-1]]), keys, class_of, np.diff(runs), len(keys))

    def merge(self, other: Self, /) -> Self:
        """Group the texts of both samples."""
        mine, theirs = (_chosen(twins.sequences, twins.class_of) for twins in (self, other))
        return self.from_sequences(mine.merge(theirs))

    def present(self, classes: NDArray[np.int64]) -> NDArray[Any]:
        """How many texts of each of these classes there are, one row a resample."""
        return self.sizes[classes] if self._count is None else self._count(classes)

    def neighbours(self, shingle: int, similarity: float) -> I64:
        """Pairs of classes that are nearly the same."""
        if (shingle, similarity) not in self._pairs:
            keys = np.empty(len(self.sequences), dtype=np.uint64)
            keys[self.class_of] = self.keys
            self._pairs[shingle, similarity] = similar_pairs(self.sequences, keys, n=shingle, similarity=similarity)
        return self._pairs[shingle, similarity]

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """A block of rows at a time: classes and neighbours of the pool, counting only the texts under the mask."""
        whole = pool.merged(cls)
        shape = (len(whole.sequences), resamples.n_units)
        counts = csr_array((np.ones(len(whole.class_of)), (whole.class_of, resamples.units)), shape=shape)
        for begin in range(0, len(resamples.masks[0]), _ROWS_AT_ONCE):
            yield tuple(whole._under(counts, mask[begin : begin + _ROWS_AT_ONCE]) for mask in resamples.masks)

    def _under(self, counts: Any, mask: Bool) -> Self:
        weights = np.ascontiguousarray(mask.T, dtype=np.float64)
        n_texts = counts.sum(axis=0) @ weights
        return replace(self, n_texts=n_texts, _count=lambda classes: (counts[classes] @ weights).T)


def _chosen(sequences: Sequences, texts: NDArray[np.int64]) -> Sequences:
    """The sequences of these texts, in this order."""
    sizes = sequences.lengths[texts]
    words = sequences.words[ranges(sequences.offsets[texts], sizes)]
    return Sequences(words, np.concatenate(([0], np.cumsum(sizes))))


# Words of a passage that two texts have in common: a sentence or more, too long to be a phrase.
PASSAGE = 16


def repeated_shares(candidate: NearDuplicates, /, *, similarity: float = 0.8, shingle: int = 2) -> Mapping[str, float]:
    """Exact copies, near copies and different texts behind the value, and passages that texts have in common."""
    exact = float(candidate.sizes[candidate.sizes > 1].sum() / candidate.n_texts)
    either = float(repetition(candidate, similarity=similarity, shingle=shingle))
    return {
        "exact": exact,
        "near": either - exact,
        "unique_texts": float(len(candidate.sizes)),
        **_passages(candidate),
    }


def _passages(candidate: NearDuplicates) -> Mapping[str, float]:
    """Share of texts with a passage that a differently worded text has too, and of all words in such passages."""
    sequences = candidate.sequences
    if sequences.lengths.max(initial=0) < PASSAGE:
        return {"passages": 0.0, "passage_words": 0.0}
    grams, texts = sequences.ngrams(PASSAGE)
    order = order_of(grams)
    runs = starts_of_runs(grams[order])
    # A run has its texts in order, so the first and the last differ where any two do.
    shared = np.repeat(texts[order[runs[:-1]]] != texts[order[runs[1:] - 1]], np.diff(runs))
    here = order[shared]
    with_some = np.unique(texts[here])
    starts = sequences.offsets[texts[here]] + here - np.searchsorted(texts, texts[here])
    covered = np.zeros(len(sequences.words) + 1, dtype=np.int64)
    np.add.at(covered, starts, 1)
    np.add.at(covered, starts + PASSAGE, -1)
    inside = np.add.reduceat(np.append(np.cumsum(covered)[:-1] > 0, False), sequences.offsets[:-1], dtype=np.int64)
    inside = np.where(sequences.lengths > 0, inside, 0)
    words = float((sequences.lengths * candidate.sizes).sum())
    return {
        "passages": float(candidate.sizes[with_some].sum() / candidate.n_texts),
        "passage_words": float((inside * candidate.sizes).sum() / words) if words else 0.0,
    }


@metric(
    "repetition",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test=None,
    why_no_test="real text has so few repeats that a test of them is mostly ties; the intervals decide",
    paper="broder1997",
    parts=repeated_shares,
    limits={"similarity": (0.5, 1.0)},
)
def repetition(candidate: NearDuplicates, /, *, similarity: float = 0.8, shingle: int = 2) -> Value:
    """Share of texts that are exact or near duplicates of another text of the sample.

    Exact: the same words in the same order. Near: sets of n-grams (of `shingle` words) with a Jaccard similarity of at
    least `similarity`, found by MinHash (a pair at 0.8 is missed about 3 times in 1,000) and then checked exactly, so
    the share is a lower bound. It misleads across sample sizes: more texts hold more duplicates; short texts repeat in
    real life too, so compare with real text's own value. Long texts are near duplicates only as wholes: of two
    documents with ten different bigrams in a hundred each the similarity is 0.82, and two that share half of their
    paragraphs are not counted. Among the parts, `passages` is the share of texts that have 16 words in a row in common
    with a differently worded text, and `passage_words` the share of all words in such passages.
    """
    pairs = candidate.neighbours(shingle, similarity)
    # A class of one text without a neighbour is repeated in no resample, and most classes are such.
    classes = np.union1d(np.flatnonzero(candidate.sizes > 1), pairs)
    present = candidate.present(classes)
    beside = np.zeros_like(present)
    for here, there in np.searchsorted(classes, pairs).T, np.searchsorted(classes, pairs[:, ::-1]).T:
        np.add.at(beside.T, here, present.T[there])
    repeated = (present > 1) | (beside > 0)
    return (repeated * present).sum(axis=-1) / candidate.n_texts


def copied_shares(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Mapping[str, float]:
    """The share of long n-grams beside the share of texts; not a number where no text has `span` words."""
    grams, known = candidate.ngrams(span)[0], train.ngrams(span)[0]
    share = float(np.isin(grams, known).mean()) if len(grams) else float("nan")
    return {"texts": float(copying(candidate, train, span=span)), "ngrams": share}


@metric(
    "copying",
    family="ngram",
    aspect="quality",
    better="closer",
    bounds=(0.0, 1.0),
    interval="wilson:modified",
    test=None,
    why_no_test="the training file is given and has no second sample to exchange with; compare the real row",
    paper="mccoy2023",
    minimum=1,
    in_default=True,
    parts=copied_shares,
)
def copying(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Value:
    """Share of candidate texts that stand verbatim in the training file: plagiarism looks like quality.

    Texts are compared word by word under the run's tokenizer; `ngrams` among the parts is the share of the candidate's
    n-grams of `span` words that stand anywhere in the training file. It misleads for short texts, which real people
    repeat as well: compare with held-out real text. Eight words are most of a caption but little of a page.
    """
    del span  # it only matters to the parts; it is an option here so that it stands in the signature
    return float(np.isin(text_keys(candidate), text_keys(train)).mean())
