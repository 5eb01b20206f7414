"""The bank of tests behind the overall test: distances between texts, counted once, and one statistic per test.

A squared distance between the means of two samples, an energy distance, and the agreement of labels with the
predictions of a ridge classifier are each a sum over pairs of texts of a fixed number times a weight that depends on
the labels of the two. Summed over the texts of a unit, that is one matrix between units. Pairs of texts in the same
unit are left out: a text carries no information about its own label, nor texts of one group about other groups.

Such sums average over everything. Words and neighbourhoods of vectors are therefore tested by sums of fourth powers as
well, in which a few large differences count.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.inference.permutation import Design, off_centre
from textassay.metrics.learned.leave_one_out import ridge_inverse
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.ngrams.overlap import TextEdges, text_traits
from textassay.metrics.vectors.kernels import Kernel, bandwidth, centred, count_slices
from textassay.metrics.vectors.pair_sums import exchanged, quadratic_forms, unit_sums
from textassay.metrics.vectors.vectors import Joint, Vectors, joint, squared_distances
from textassay.metrics.views import Material, Pool, Resamples

# N-grams in more than this share of the units are multiplied as a dense matrix, which is faster for them.
_DENSE = 0.05
_MOST_DENSE = 1024
_TEXTS_AT_ONCE = 8192
# Differences smaller than this share of the terms that cancel in them are rounding.
_ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """Sums over pairs of texts between units, without pairs inside a unit, and the texts in each unit.

    The matrix is symmetric. Units with the same number in `apart` have no pairs with each other either: texts of one
    prompt in both samples are alike for the prompt's sake.
    """

    between: F64
    sizes: F64
    apart: I64

    @classmethod
    def of(cls, between: F64, resamples: Resamples) -> Self:
        """Drop the pairs inside units."""
        np.fill_diagonal(between, 0.0)
        sizes = np.bincount(resamples.units, minlength=resamples.n_units).astype(np.float64)
        return cls(between, sizes, np.arange(resamples.n_units))

    def without_pairs_inside(self, groups: I64) -> Self:
        """The same without pairs of texts in one of these groups of units."""
        return type(self)(np.where(groups[:, None] == groups, 0.0, self.between), self.sizes, groups)

    def forms(self, masks: Bool) -> tuple[F64, F64, float]:
        """For each row of labels the sum over pairs of candidates and over mixed pairs, and the sum over all pairs."""
        own, with_any = quadratic_forms(masks, self.between), self.between.sum(axis=1)
        return own, 2 * (masks @ with_any - own), float(with_any.sum())

    def counts(self, masks: Bool) -> tuple[F64, F64, F64]:
        """For each row the pairs of texts that count: within the candidate, within the reference, and across."""
        n = masks @ self.sizes
        m = self.sizes.sum() - n
        if np.array_equal(self.apart, np.arange(len(self.sizes))):
            own = masks @ self.sizes**2
            return n**2 - own, m**2 - ((self.sizes**2).sum() - own), n * m
        units = np.arange(len(self.sizes))
        groups = csr_array((self.sizes, (self.apart, units)), shape=(int(self.apart.max()) + 1, len(units)))
        mine = np.asarray(groups @ masks.T.astype(np.float64))
        theirs = np.asarray(groups.sum(axis=1)).reshape(-1, 1) - mine
        inside = [(one * other).sum(axis=0) for one, other in ((mine, mine), (theirs, theirs), (mine, theirs))]
        return n**2 - inside[0], m**2 - inside[1], n * m - inside[2]

    def means(self, masks: Bool) -> tuple[F64, F64, F64]:
        """For each row the mean over pairs within the candidate, within the reference, and across."""
        own, across, total = self.forms(masks)
        mine, theirs, mixed = self.counts(masks)
        return own / mine, (total - own - across) / theirs, across / 2 / mixed

    def distances(self, masks: Bool) -> F64:
        """Unbiased squared distances between the samples' means: mean within each less mean across, of every row."""
        one, other, across = self.means(masks)
        return _without_rounding(one + other - 2 * across, np.abs(one) + np.abs(other) + 2 * np.abs(across))

    def overlaps(self, masks: Bool, tokens: F64) -> F64:
        """Morisita's overlap of the two samples' n-gram distributions, of every row; `tokens` are n-grams per unit.

        With P and Q the distributions, it is 2 sum PQ / (sum PP + sum QQ), each estimated without bias from pairs
        of different texts. It is 1 for equal distributions whatever the sizes, and 0 without a common n-gram.
        """
        one, other, across = self.means(masks)
        mine = masks @ tokens / (masks @ self.sizes)
        theirs = ~masks @ tokens / (~masks @ self.sizes)
        return 2 * across / (mine * theirs) / (one / mine**2 + other / theirs**2)

    def agreements(self, masks: Bool) -> F64:
        """The form itself with labels 1/n for candidates and -1/m for references, divided by their squared length."""
        own, across, total = self.forms(masks)
        mine = masks @ self.sizes
        theirs = self.sizes.sum() - mine
        terms = np.stack((own / mine**2, (total - own - across) / theirs**2, -across / (mine * theirs)))
        value = _without_rounding(terms.sum(axis=0), np.abs(terms).sum(axis=0))
        return value / (1 / mine + 1 / theirs)


def _without_rounding(values: F64, scale: F64) -> F64:
    """Exactly 0 where a value is no more than what rounding leaves of the terms that cancel in it.

    Otherwise rounding would decide between labellings that are all the same, as where every text has the same words.
    """
    return np.where(np.abs(values) <= _ROUNDING * scale, 0.0, values)


def gram_counts(incidence: Incidence, resamples: Resamples, *, power: float) -> PairMatrix:
    """Products of counts of n-grams between units, each n-gram weighed by its pooled count to minus this power.

    N-grams in one text only are in no pair of different texts and are passed over.
    """
    totals = incidence.totals()
    runs = np.diff(incidence.starts)
    common = runs > 1
    kept = np.repeat(common, runs)
    starts = np.concatenate(([0], np.cumsum(runs[common])))
    weights = np.repeat(totals[common].astype(np.float64) ** (-power / 2), runs[common])
    columns = resamples.units[incidence.texts[kept]]
    by_gram = csr_array((incidence.counts[kept] * weights, columns, starts), shape=(len(starts) - 1, resamples.n_units))
    by_gram.sum_duplicates()
    return PairMatrix.of(_products(by_gram), resamples)


def _products(by_gram: csr_array) -> F64:
    """Inner products of the columns: n-grams of many units as a dense matrix, the others sparse."""
    n_units = by_gram.shape[1]
    spread = np.diff(by_gram.indptr)
    many = np.flatnonzero(spread > max(_DENSE * n_units, 2))
    many = many[np.argsort(-spread[many], kind="stable")[:_MOST_DENSE]]
    few = np.ones(len(spread), dtype=bool)
    few[many] = False
    rest = by_gram[np.flatnonzero(few)]
    found: F64 = (rest.T @ rest).toarray() if rest.nnz else np.zeros((n_units, n_units))
    if len(many):
        dense = by_gram[many].toarray()
        found += dense.T @ dense
    return found


def kernel_sums(joint: Joint, kernel: Kernel, resamples: Resamples) -> PairMatrix:
    """Sums of a kernel of vectors between units."""
    return PairMatrix.of(unit_sums(joint, kernel, resamples.units, resamples.n_units).copy(), resamples)


def ridge(features: NDArray[np.floating[Any]], resamples: Resamples) -> PairMatrix:
    r"""Leave-one-out predictions of ridge regression of labels on features, as sums between units.

    With the hat matrix H of the centred features under a penalty of their mean squared singular value, and 1/N for the
    intercept, the prediction of text i by a classifier that has not seen it is linear in the labels:

    .. math:: f_i = \sum_{j \ne i} \frac{H_{ij}}{1 - H_{ii}} y_j

    so its agreement with the labels, the sum of y_i f_i, is a quadratic form in them.
    """
    n, dimension = features.shape
    mean = features.mean(axis=0, dtype=np.float64)
    squares = np.zeros((dimension, dimension))
    for begin in range(0, n, _TEXTS_AT_ONCE):
        centred = features[begin : begin + _TEXTS_AT_ONCE] - mean
        squares += centred.T @ centred
    inverse = ridge_inverse(squares, n)
    if inverse is None:
        return PairMatrix.of(np.zeros((resamples.n_units, resamples.n_units)), resamples)
    # H = Z (Z'Z + l)^-1 Z', summed by unit: the rows divided by 1 - H_ii on the left, plain on the right.
    left, right = np.zeros((2, resamples.n_units, dimension))
    scales, counts = np.zeros((2, resamples.n_units))
    for begin in range(0, n, _TEXTS_AT_ONCE):
        units = resamples.units[begin : begin + _TEXTS_AT_ONCE]
        centred = features[begin : begin + _TEXTS_AT_ONCE] - mean
        solved = centred @ inverse
        scale = 1 / (1 - np.einsum("ij,ij->i", centred, solved) - 1 / n)
        chosen = csr_array((np.ones(len(units)), (units, np.arange(len(units)))), shape=(resamples.n_units, len(units)))
        left += chosen @ (centred * scale[:, None])
        right += chosen @ solved
        scales += chosen @ scale
        counts += chosen @ np.ones(len(units))
    predicted = left @ right.T + np.outer(scales, counts / n)
    # Only the symmetric part counts in a quadratic form.
    return PairMatrix.of((predicted + predicted.T) / 2, resamples)


# Weight of an n-gram: its pooled count to minus this power, so that the commonest n-grams do not drown all others.
_POWER = 0.5
_NUMBERS_AT_ONCE = 4_000_000
# A word in fewer texts than this can hardly be unevenly divided by more than chance.
_FEWEST_TEXTS = 4
# Neighbourhoods of texts: how many are looked at, and their bandwidth as a share of that of MMD.
_MOST_PLACES, _NARROW = 2000, 0.6


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
    """How unevenly single words are divided between the samples, by the texts that have them."""
    incidence = pool.merged(TextNgrams).order(1)
    texts_with = np.diff(incidence.starts)
    frequent = texts_with >= _FEWEST_TEXTS
    kept = np.repeat(frequent, texts_with)
    starts = np.concatenate(([0], np.cumsum(texts_with[frequent])))
    columns = resamples.units[incidence.texts[kept]]
    texts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(starts) - 1, resamples.n_units))
    texts.sum_duplicates()
    return _fourth_powers(texts, resamples)


def _fourth_powers(features: csr_array | F64, resamples: Resamples) -> F64:
    """The sum over features of the fourth power of each one's standardised difference, of every row.

    `features` has one row per feature and one column per unit: a sum over the texts of the unit. The fourth power lets
    a few large differences outweigh many small ones, which squares add up to noise.
    """
    masks = resamples.masks[0]
    sizes = np.bincount(resamples.units, minlength=resamples.n_units).astype(np.float64)
    rates = np.asarray(features.sum(axis=1)).ravel() / sizes.sum()
    squares = np.asarray((features * features).sum(axis=1)).ravel()
    spread = squares - 2 * rates * (features @ sizes) + rates**2 * (sizes @ sizes)
    varied = spread > _ROUNDING * squares
    chosen, rates = features[np.flatnonzero(varied)], rates[varied]
    scales = 1 / np.sqrt(spread[varied])
    mine, found = masks @ sizes, np.zeros(len(masks))
    at_once = max(1, _NUMBERS_AT_ONCE // max(len(rates), 1))
    for begin in range(0, len(masks), at_once):
        rows = slice(begin, begin + at_once)
        gaps = chosen @ np.ascontiguousarray(masks[rows].T, dtype=np.float64)
        gaps -= np.outer(rates, mine[rows])
        gaps *= scales[:, None]
        gaps *= gaps
        found[rows] = np.einsum("ij,ij->j", gaps, gaps)
    return found


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


def _traits_of(pool: Pool) -> F64:
    return pool.once("traits", lambda: text_traits(pool.merged(Sequences), pool.merged(TextNgrams)))


def _traits(pool: Pool, resamples: Resamples) -> F64:
    """How far apart the means of a few numbers per text are, in units of their spread (Hotelling's T squared)."""
    traits = _traits_of(pool)
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


def _mmd(pool: Pool, resamples: Resamples) -> F64:
    """Squared maximum mean discrepancy, Gaussian kernel, half the median distance as bandwidth."""
    pair = pooled_vectors(pool)
    if count_slices(len(pair.values)) > 1:
        return exchanged(pair, "rbf", resamples).discrepancy(unbiased=True)
    return kernel_sums(pair, "rbf", resamples).distances(resamples.masks[0])


def _regions(pool: Pool, resamples: Resamples) -> F64:
    """How unevenly the neighbourhoods of texts are divided between the samples, by a narrow Gaussian kernel.

    Neighbourhoods of at most `_MOST_PLACES` texts, evenly spaced in an order that depends on the vectors only. Texts of
    the same unit are left out of a neighbourhood: they count as divided like all others.
    """
    pair = pooled_vectors(pool)
    n, n_units = len(pair.values), resamples.n_units
    places = pair.order[np.arange(min(n, _MOST_PLACES)) * n // min(n, _MOST_PLACES)]
    by_unit = csr_array((np.ones(n), (np.arange(n), resamples.units)), shape=(n, n_units))
    around = np.zeros((len(places), n_units))
    middles, narrow = centred(pair, places), -0.5 / (_NARROW * bandwidth(pair)) ** 2
    at_once = max(1, _NUMBERS_AT_ONCE // len(places))
    for begin in range(0, n, at_once):
        texts = np.arange(begin, min(begin + at_once, n))
        around += np.exp(squared_distances(middles, centred(pair, texts)) * narrow) @ by_unit[texts]
    own = np.arange(len(places)), resamples.units[places]
    around[own] = 0.0
    sizes = np.bincount(resamples.units, minlength=n_units).astype(np.float64)[own[1]]
    around[own] = around.sum(axis=1) * sizes / np.maximum(n - sizes, 1.0)
    return _fourth_powers(around, resamples)


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
    Member("regions", "regions of the sentence vectors", _regions, reads_vectors=True),
    Member("ridge", "classifier on sentence vectors", _ridge, reads_vectors=True),
)

# Chosen on development draws. Only the vectors see lost topics and texts of a language model well, and those with
# moderate p-values. What other members find, they mostly find with very small p-values, which count with any weight.
TERMS = (
    Term(("words",), 0.5),
    Term(("words", "ridge"), 1.0),
    Term(("bigrams",), 0.25),
    Term(("edges",), 0.25),
    Term(("repeats",), 0.25),
    Term(("traits",), 1.0),
    Term(("traits", "different"), 1.0),
    Term(("mmd",), 6.0),
    Term(("regions",), 2.0),
)


def views_of_bank(material: Material) -> tuple[type[Any], ...]:
    """The views of a material that the members of the bank read."""
    vectors = () if material.settings.encoder is None else (Vectors,)
    return (Sequences, TextNgrams, TextEdges, NearDuplicates, *vectors)


def merge_views(pool: Pool) -> None:
    """Count the traits, the n-grams, the openings and endings and the repeated texts of both samples together."""
    _traits_of(pool)
    for n in (1, 2):
        pool.merged(TextNgrams).order(n)
    pool.merged(TextEdges).order(1)
    pool.merged(NearDuplicates)


def bank_statistics(pool: Pool, design: Design, masks: Bool, *, members: Sequence[Member]) -> F64:
    """One row of statistics per member, one column per labelling."""
    resamples = Resamples(design.units, (masks, ~masks))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([member.statistics(pool, resamples) for member in members])
