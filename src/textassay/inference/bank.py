"""The bank of the overall test: complementary tests of one null hypothesis, each a function of exchanged labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, Bool
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.inference.design import Design
from textassay.inference.pair_matrix import gram_counts, kernel_sums, ridge
from textassay.inference.permutation import off_centre
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.ngrams.edges import TextEdges
from textassay.metrics.vectors.kernels import count_slices
from textassay.metrics.vectors.pair_sums import exchanged
from textassay.metrics.vectors.vectors import Joint, Vectors, joint
from textassay.metrics.views import Pool, Resamples

# Weight of an n-gram: its pooled count to minus this power, so that the commonest n-grams do not drown all others.
_POWER = 0.5
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Member:
    """One test of the bank: a function of pool and exchanges that returns one statistic per row, larger is more."""

    name: str
    label: str
    statistics: Callable[[Pool, Resamples], F64]
    reads_vectors: bool = False


@dataclass(frozen=True)
class Term:
    """One summand of the overall test: one member, or several whose evidence is added first; and its weight."""

    members: tuple[str, ...]
    weight: float


def _words(pool: Pool, resamples: Resamples) -> F64:
    return _gram_distances(pool.merged(TextNgrams).order(1), resamples)


def _bigrams(pool: Pool, resamples: Resamples) -> F64:
    return _gram_distances(pool.merged(TextNgrams).order(2), resamples)


def _edges(pool: Pool, resamples: Resamples) -> F64:
    return _gram_distances(pool.merged(TextEdges).order(1), resamples)


def _gram_distances(incidence: Incidence, resamples: Resamples) -> F64:
    return gram_counts(incidence, resamples, power=_POWER).distances(resamples.masks[0])


def _different(pool: Pool, resamples: Resamples) -> F64:
    """How far apart the numbers of different bigrams are."""
    incidence = pool.merged(TextNgrams).order(2)
    owners = resamples.units[incidence.texts]
    grams = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
    present = csr_array(
        (np.ones(len(owners), np.float32), (owners, grams)), shape=(resamples.n_units, len(incidence.keys))
    )
    present.sum_duplicates()
    present.data[:] = 1.0
    spread = np.bincount(present.indices, minlength=present.shape[1])
    # Bigrams of one unit move with it; only the others need to be looked up for every row.
    alone = np.asarray(present[:, spread == 1].sum(axis=1), dtype=np.float64).ravel()
    shared = present[:, spread > 1]
    masks = resamples.masks[0]
    gaps = masks @ alone - ~masks @ alone
    total = np.asarray(shared.sum(axis=0)).ravel()
    at_once = max(1, _NUMBERS_AT_ONCE // max(shared.shape[1], 1))
    turned = shared.T.tocsr()
    for begin in range(0, len(masks), at_once):
        rows = slice(begin, begin + at_once)
        counts = turned @ np.ascontiguousarray(masks[rows].T, dtype=np.float32)
        gaps[rows] += (counts > 0).sum(axis=0) - (counts < total[:, None]).sum(axis=0)
    tokens = np.bincount(resamples.units, pool.merged(TextNgrams).sizes(2), resamples.n_units).astype(np.float64)
    return off_centre(_without(gaps, masks @ tokens - ~masks @ tokens))


def _without(values: F64, other: F64) -> F64:
    """What is left of the values when what goes with the other values is taken out by regression over all rows."""
    centred = other - other.mean()
    length = float(centred @ centred)
    if length <= 0:
        return values
    left = values - centred * (centred @ values / length)
    return np.where(np.abs(left) <= 1e-9 * np.abs(values).max(initial=0.0), 0.0, left)


def _repeats(pool: Pool, resamples: Resamples) -> F64:
    """How far apart the shares of texts are that repeat another text of their own sample."""
    texts = np.bincount(resamples.units, minlength=resamples.n_units).astype(np.float64)
    sizes = resamples.masks[0] @ texts
    gaps = np.empty(len(sizes))
    for rows, mine, theirs in text_counts(pool, resamples):
        repeated = [(counts * (counts > 1)).sum(axis=0) for counts in (mine, theirs)]
        gaps[rows] = repeated[0] / sizes[rows] - repeated[1] / (texts.sum() - sizes[rows])
    return off_centre(gaps)


def text_counts(pool: Pool, resamples: Resamples) -> Iterator[tuple[slice, F64, F64]]:
    """For each text with a copy in the pool and each labelling, how often the candidate and the reference have it.

    Some labellings at a time: a corpus may have many repeated texts.
    """
    near = pool.merged(NearDuplicates)
    repeated = near.sizes > 1
    number = np.cumsum(repeated) - 1
    kept = repeated[near.class_of]
    classes, units = number[near.class_of[kept]], resamples.units[kept]
    owned = csr_array((np.ones(len(units)), (classes, units)), shape=(int(repeated.sum()), resamples.n_units))
    total = np.asarray(owned.sum(axis=1)).reshape(-1, 1)
    masks = resamples.masks[0]
    at_once = max(1, _NUMBERS_AT_ONCE // max(len(total), 1))
    for begin in range(0, len(masks), at_once):
        rows = slice(begin, begin + at_once)
        mine = np.asarray(owned @ np.ascontiguousarray(masks[rows].T, dtype=np.float64))
        yield rows, mine, total - mine


def _traits(pool: Pool, resamples: Resamples) -> F64:
    """How far apart the means of a few numbers per text are, in units of their spread (Hotelling's T squared)."""
    traits = text_traits(pool.merged(Sequences), pool.merged(TextNgrams))
    centred = traits - traits.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = values > max(1e-9 * float(values.max()), 1e-12)
    if not kept.any():
        return np.zeros(len(resamples.masks[0]))
    whitened = centred @ (directions[:, kept] / np.sqrt(values[kept]))
    n, masks = resamples.n_units, resamples.masks[0]
    sums = np.stack([np.bincount(resamples.units, column, n) for column in whitened.T], axis=1)
    texts = np.bincount(resamples.units, minlength=n).astype(np.float64)
    mine = masks @ texts
    theirs = texts.sum() - mine
    gaps = (masks @ sums) / mine[:, None] - (~masks @ sums) / theirs[:, None]
    return (gaps * gaps).sum(axis=1) / (1 / mine + 1 / theirs)


def text_traits(sequences: Sequences, ngrams: TextNgrams) -> F64:
    """Six numbers per text: its length, how common its words, word pairs, first word and last word are, and how common
    its last word is as a last word.

    How common is the log of one more than the count in all other texts of the pool, so exchanging labels changes none
    of the numbers. Words that are cut off, out of order or rare change them in the same direction in every text, which
    a sum over many separate n-grams hardly sees. A text that is cut off ends with a word that is common, but not at an
    end.
    """
    lengths = np.log(np.maximum(ngrams.lengths, 1))
    words, ends = sequences.without_marks(), []
    keys, which = np.unique(words.words, return_inverse=True)
    texts = np.repeat(np.arange(len(words)), words.lengths)
    totals = np.bincount(which, minlength=len(keys))
    pairs, inverse, counts = np.unique(texts * len(keys) + which, return_inverse=True, return_counts=True)
    elsewhere = np.log1p(totals[pairs % len(keys)] - counts)[inverse]
    filled = np.flatnonzero(words.lengths > 0)
    for places in (words.offsets[:-1][filled], words.offsets[1:][filled] - 1):
        end = np.zeros(len(words))
        end[filled] = elsewhere[places]
        ends.append(end)
    last = which[words.offsets[1:][filled] - 1]
    as_last = np.zeros(len(words))
    as_last[filled] = np.log(np.bincount(last, minlength=len(keys))[last])
    return np.stack([lengths, _commonness(ngrams, 1), _commonness(ngrams, 2), *ends, as_last], axis=1)


def _commonness(ngrams: TextNgrams, n: int) -> F64:
    """For each text the mean over its n-grams of the log of one more than their count in other texts."""
    incidence = ngrams.order(n)
    elsewhere = np.repeat(incidence.totals(), np.diff(incidence.starts)) - incidence.counts
    sums = np.bincount(incidence.texts, incidence.counts * np.log1p(elsewhere), len(ngrams))
    return sums / np.maximum(ngrams.sizes(n), 1)


def _mmd(pool: Pool, resamples: Resamples) -> F64:
    """Squared maximum mean discrepancy, Gaussian kernel, half the median distance as bandwidth."""
    pair = pooled_vectors(pool)
    if count_slices(len(pair.values)) > 1:
        return exchanged(pair, "rbf", resamples).discrepancy(unbiased=True)
    return kernel_sums(pair, "rbf", resamples).distances(resamples.masks[0])


def _ridge(pool: Pool, resamples: Resamples) -> F64:
    return ridge(pooled_vectors(pool).values, resamples).agreements(resamples.masks[0])


def pooled_vectors(pool: Pool) -> Joint:
    """The sentence vectors of both samples."""
    return joint(*(part.view(Vectors) for part in pool.parts))


BANK = (
    Member("words", "words", _words),
    Member("bigrams", "word pairs", _bigrams),
    Member("edges", "openings and endings", _edges),
    Member("different", "number of different word pairs", _different),
    Member("repeats", "repeated texts", _repeats),
    Member("traits", "length and commonness of words", _traits),
    Member("mmd", "sentence vectors", _mmd, reads_vectors=True),
    Member("ridge", "classifier on sentence vectors", _ridge, reads_vectors=True),
)

# Chosen on development draws. Only the vectors see lost topics and texts of a language model well. What word pairs,
# openings and endings, and repeats find, they mostly find with very small p-values, which count with any weight.
TERMS = (
    Term(("words",), 1.0),
    Term(("words", "ridge"), 1.0),
    Term(("bigrams",), 0.25),
    Term(("edges",), 0.25),
    Term(("repeats",), 0.25),
    Term(("traits",), 1.0),
    Term(("traits", "different"), 1.0),
    Term(("mmd",), 6.0),
)


def bank_statistics(pool: Pool, design: Design, masks: Bool, *, members: Sequence[Member]) -> F64:
    """One row of statistics per member, one column per labelling."""
    resamples = Resamples(design.units, (masks, ~masks))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([member.statistics(pool, resamples) for member in members])
