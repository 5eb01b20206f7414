"""Repeated texts: exact and near duplicates within a sample, and texts copied from the training data."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from textassay.corpus.arrays import I64, U64, Bool
from textassay.corpus.hashed_ngrams import Sequences, chain, mix, order_of, ranges, starts_of_runs, text_keys
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Material, Resamples


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Texts in classes of equal word sequences, numbered in the order of their hashes.

    `sizes` is the number of texts of each class. A resampled view keeps the classes of its pool; `present` and
    `n_texts` then have one row per resample.
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
        """Group texts by the hash of their words; the field `sequences` has one text per class."""
        keys = text_keys(sequences)
        order = order_of(keys)
        runs = starts_of_runs(keys[order])
        class_of = np.empty(len(keys), dtype=np.int64)
        class_of[order] = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
        return cls(sequences.take(order[runs[:-1]]), keys, class_of, np.diff(runs), len(keys))

    def merge(self, other: Self, /) -> Self:
        """Group the texts of both samples."""
        mine, theirs = (view.sequences.take(view.class_of) for view in (self, other))
        return self.from_sequences(mine.merge(theirs))

    def present(self, classes: NDArray[np.int64]) -> NDArray[Any]:
        """The number of texts of each of these classes; in a resampled view, one row per resample."""
        return self.sizes[classes] if self._count is None else self._count(classes)

    def neighbours(self, shingle: int, similarity: float) -> I64:
        """Pairs of classes that are near duplicates."""
        if (shingle, similarity) not in self._pairs:
            keys = np.empty(len(self.sequences), dtype=np.uint64)
            keys[self.class_of] = self.keys
            self._pairs[shingle, similarity] = similar_pairs(self.sequences, keys, n=shingle, similarity=similarity)
        return self._pairs[shingle, similarity]

    @classmethod
    def resample(cls, whole: Self, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One block of rows at a time: the classes and near duplicates of the pool, with counts of the chosen texts."""
        shape = (len(whole.sequences), resamples.n_units)
        counts = csr_array((np.ones(len(whole.class_of)), (whole.class_of, resamples.units)), shape=shape)
        for begin in range(0, len(resamples.masks[0]), _ROWS_AT_ONCE):
            yield tuple(whole._under(counts, mask[begin : begin + _ROWS_AT_ONCE]) for mask in resamples.masks)

    def _under(self, counts: Any, mask: Bool) -> Self:
        weights = np.ascontiguousarray(mask.T, dtype=np.float64)
        n_texts = counts.sum(axis=0) @ weights
        return replace(self, n_texts=n_texts, _count=lambda classes: (counts[classes] @ weights).T)


def repeated_shares(candidate: NearDuplicates, /, *, similarity: float = 0.8, shingle: int = 2) -> Mapping[str, float]:
    """Shares of exact and near duplicates, the number of different texts, and shares of common passages."""
    exact = float(candidate.sizes[candidate.sizes > 1].sum() / candidate.n_texts)
    either = float(repetition(candidate, similarity=similarity, shingle=shingle))
    return {
        "exact": exact,
        "near": either - exact,
        "unique_texts": float(len(candidate.sizes)),
        **_passages(candidate),
    }


@metric(
    "repetition",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="more repeats",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test=None,
    why_no_test="where few texts repeat, most exchanges of texts tie; compare the intervals",
    paper="broder1997",
    parts=repeated_shares,
    limits={"similarity": (0.5, 1.0)},
)
def repetition(candidate: NearDuplicates, /, *, similarity: float = 0.8, shingle: int = 2) -> Value:
    r"""Repetition: the share of texts that are exact or near duplicates of another text of the sample.

    .. math:: \frac1n \sum_i \Bigl[\max_{j \ne i} J(S_i, S_j) \ge s\Bigr]

    Exact duplicates have the same words in the same order. Near duplicates have sets S of n-grams (of `shingle` words)
    with a Jaccard similarity J of at least s (`similarity`). MinHash finds them, and every pair is checked exactly. It
    misses about 3 in 1,000 pairs of similarity 0.8, so the share is a lower bound. Among the parts, `passages` is the
    share of texts that have 16 consecutive words in common with a differently worded text, and `passage_words` the
    share of all words in such passages.

    It sees a generator that writes the same text again, with or without small changes.

    Misleading across sample sizes: a larger sample contains more duplicates. Short texts also repeat in real data, so
    compare with real text's own value. Long texts are near duplicates only as a whole: two documents in which ten of a
    hundred bigrams differ have a similarity of 0.82, and two that share half of their paragraphs do not count.

    It is always defined for two or more texts.
    """
    pairs = candidate.neighbours(shingle, similarity)
    # Most classes have one text and no near duplicate. No resample repeats those, so they need no counts.
    classes = np.union1d(np.flatnonzero(candidate.sizes > 1), pairs)
    present = candidate.present(classes)
    beside = np.zeros_like(present)
    for here, there in np.searchsorted(classes, pairs).T, np.searchsorted(classes, pairs[:, ::-1]).T:
        np.add.at(beside.T, here, present.T[there])
    repeated = (present > 1) | (beside > 0)
    return (repeated * present).sum(axis=-1) / candidate.n_texts


@metric(
    "wordings",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(1.0, np.inf),
    interval=None,
    why_no_interval="a number of texts grows with the sample; over many prompts, conditional gives one",
    test=None,
    why_no_test="a number of texts grows with the sample; over many prompts, conditional compares systems",
    paper="broder1997",
    in_default=False,
    minimum=1,
    limits={"similarity": (0.5, 1.0)},
)
def wordings(candidate: NearDuplicates, /, *, similarity: float = 0.8, shingle: int = 2) -> float:
    r"""Wordings: the number of different texts, where near duplicates count as one.

    .. math:: \text{components of the graph on } 1, \ldots, n
        \text{ with an edge where } J(S_i, S_j) \ge s

    Near duplicates are those of `repetition`: sets S of n-grams (of `shingle` words) with a Jaccard similarity J of at
    least s (`similarity`). Texts that are linked by a chain of near duplicates are one wording.

    It sees how often a model answers one prompt with other words.

    Misleading across numbers of texts, with which it grows. Two wordings may mean the same: see `meanings`.

    It is always defined.
    """
    return float(wording_classes(candidate, similarity=similarity, shingle=shingle).max() + 1)


def wording_classes(candidate: NearDuplicates, *, similarity: float = 0.8, shingle: int = 2) -> I64:
    """The class of each text, with its near duplicates in the same one."""
    n_classes = len(candidate.sizes)
    pairs = candidate.neighbours(shingle, similarity)
    links = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_classes, n_classes))
    classes = connected_components(links, directed=False)[1][candidate.class_of]
    return classes.astype(np.int64)


def copied_shares(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Mapping[str, float]:
    """The share of copied texts, and of copied n-grams of `span` words (NaN if no text has as many words)."""
    grams, known = candidate.ngrams(span)[0], train.ngrams(span)[0]
    share = float(np.isin(grams, known).mean()) if len(grams) else float("nan")
    return {"texts": float(copying(candidate, train, span=span)), "ngrams": share}


@metric(
    "copying",
    family="ngram",
    aspect="quality",
    better="closer",
    rise="more copies",
    bounds=(0.0, 1.0),
    interval="wilson:modified",
    test=None,
    why_no_test="the training file is fixed, so there is nothing to exchange; compare real text's own value",
    paper="mccoy2023",
    minimum=1,
    in_default=True,
    parts=copied_shares,
)
def copying(candidate: Sequences, train: Sequences, /, *, span: int = 8) -> Value:
    r"""Copying: the share of candidate texts that occur verbatim in the training file.

    .. math:: \frac1n \sum_i [c_i \in T]

    Texts are compared word by word under the run's tokenizer. Among the parts, `ngrams` is the share of the candidate's
    n-grams of `span` words that occur anywhere in the training file.

    It sees memorised training texts, which metrics of quality reward.

    Misleading for short texts, which people repeat as well: compare with held-out real text. Eight words are most of a
    caption but a small part of a page.

    It is always defined; the part `ngrams` is undefined if no text has `span` words.
    """
    del span  # only the parts use it; as an option it appears in the signature
    return float(np.isin(text_keys(candidate), text_keys(train)).mean())


_ROWS_AT_ONCE = 64


# The length of a passage in words: longer than a common phrase.
PASSAGE = 16


def _passages(candidate: NearDuplicates) -> Mapping[str, float]:
    """Shares of texts and of words in passages that also occur in a differently worded text."""
    sequences = candidate.sequences
    if sequences.lengths.max(initial=0) < PASSAGE:
        return {"passages": 0.0, "passage_words": 0.0}
    grams, texts = sequences.ngrams(PASSAGE)
    order = order_of(grams)
    runs = starts_of_runs(grams[order])
    # The texts of a run are sorted, so any two of them differ exactly if the first and the last do.
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


# 8 bands of 3 find a pair of Jaccard similarity 0.8 with probability 0.997. Every pair found is checked exactly.
BANDS, ROWS = 8, 3
# Within a bucket each text is compared with this many neighbours in a fixed order, so that a bucket of thousands of
# texts stays cheap. Of 300 variants of one template, each with a near copy, 2 neighbours find 94 % and 8 find 99 %.
NEIGHBOURS = 8
# Shingles of the pairs that are checked at a time, at about forty bytes each. The limit is not in pairs, because a pair
# of long texts has thousands of shingles.
_SHINGLES_AT_ONCE = 8_000_000
# Bits of a text's marks: most pairs of short texts that are not alike are found by them without their shingles.
_MARKS = 128
_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


def shingles(sequences: Sequences, n: int) -> tuple[U64, NDArray[np.int64]]:
    """The different n-grams of each text, and where each text begins; a text of fewer words is one shingle."""
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
    """Pairs of texts whose sets of n-grams have at least this Jaccard similarity; `keys` fixes the order of search."""
    if len(sequences) < 2:
        return np.empty((0, 2), dtype=np.int64)
    grams, starts = shingles(sequences, n)
    sizes = np.diff(starts)
    pairs = _candidates(_buckets(grams, starts), keys)
    # The intersection is at most the smaller set, so the ratio of sizes bounds the similarity.
    ratio = sizes[pairs].min(axis=1, initial=np.iinfo(np.int64).max) / sizes[pairs].max(axis=1, initial=1)
    pairs = pairs[ratio >= similarity]
    numbers = np.cumsum(sizes[pairs].sum(axis=1)) // _SHINGLES_AT_ONCE
    parts = np.split(pairs, np.flatnonzero(np.diff(numbers)) + 1)
    marks = _marks(grams, starts)
    alike = []
    for part in parts:
        possible = part[_most_similar(marks, sizes, part) >= similarity]
        alike.append(possible[_jaccard(grams, starts, possible) >= similarity])
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *alike])


def _marks(grams: U64, starts: NDArray[np.int64]) -> U64:
    """Per text a set of bits with one bit per shingle, by its hash; different shingles may have the same bit."""
    bits = mix(grams) % _MARKS
    ones = np.uint64(1) << (bits % 64)
    words = [np.where(bits // 64 == word, ones, np.uint64(0)) for word in range(_MARKS // 64)]
    return np.stack([np.bitwise_or.reduceat(word, starts[:-1]) for word in words], axis=1)


def _most_similar(marks: U64, sizes: NDArray[np.int64], pairs: I64) -> NDArray[np.float64]:
    """An upper bound of the similarity of each pair: every bit that differs is a shingle of only one of the texts."""
    differing = marks[pairs[:, 0]] ^ marks[pairs[:, 1]]
    apart = _ONES[differing.view(np.uint8)].sum(axis=1, dtype=np.int64)
    together = sizes[pairs].sum(axis=1)
    # Twice the intersection and twice the union are at most and at least this.
    return (together - apart) / (together + apart)


def _buckets(grams: U64, starts: NDArray[np.int64]) -> U64:
    """One row per band: the hash of a few minima over each text's shingles, equal for texts that share those minima."""
    buckets = np.zeros((BANDS, len(starts) - 1), dtype=np.uint64)
    for band, row in np.ndindex(BANDS, ROWS):
        salt = mix(np.array([band * ROWS + row + 1], dtype=np.uint64))
        buckets[band] = chain(buckets[band], np.minimum.reduceat(mix(grams ^ salt), starts[:-1]))
    return buckets


def _candidates(buckets: U64, keys: U64) -> I64:
    """Pairs of neighbours in each bucket, sorted so that texts that also share the next bucket are neighbours."""
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
    """The exact similarity of each pair: a shingle of both texts occurs twice among those tagged with the pair."""
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
