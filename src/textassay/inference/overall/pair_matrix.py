"""Sums over pairs of texts between units: squared distances, and agreements of labels with predictions.

A squared distance between the means of two samples, an energy distance, and the agreement of labels with the
predictions of a ridge classifier are each a sum over pairs of texts of a fixed number times a weight that depends on
the labels of the two. Summed over the texts of a unit, that is one matrix between units. Pairs of texts in the same
unit are left out: a text carries no information about its own label, nor texts of one group about other groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.hashed_ngrams import Incidence
from textassay.metrics.learned.leave_one_out import ridge_inverse
from textassay.metrics.vectors.kernels import Kernel
from textassay.metrics.vectors.pair_sums import quadratic_forms, unit_sums
from textassay.metrics.vectors.vectors import Joint

# N-grams in more than this share of the units are multiplied as a dense matrix, which is faster for them.
_DENSE = 0.05
_MOST_DENSE = 1024
_TEXTS_AT_ONCE = 8192
# Differences smaller than this share of the terms that cancel in them are rounding.
ROUNDING = 1e-11


class Units(Protocol):
    """Which pooled texts move together: the number of each text's unit."""

    @property
    def units(self) -> I64: ...

    @property
    def n_units(self) -> int: ...


def sums_by_unit(values: F64 | NDArray[np.floating[Any]], units: Units) -> F64:
    """The rows of values, one per text, summed over the texts of each unit."""
    chosen = csr_array(
        (np.ones(len(units.units)), (units.units, np.arange(len(units.units)))), shape=(units.n_units, len(units.units))
    )
    return np.asarray(chosen @ values, dtype=np.float64)


def unit_sizes(units: Units) -> F64:
    """The number of texts of each unit."""
    return np.bincount(units.units, minlength=units.n_units).astype(np.float64)


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """Sums over pairs of texts between units, without pairs inside a unit, and the texts in each unit.

    The matrix is symmetric.
    """

    between: F64
    sizes: F64

    @classmethod
    def of(cls, between: F64, sizes: F64) -> Self:
        """Drop the pairs inside units."""
        # A result of another process may be read-only.
        between = between.copy()
        np.fill_diagonal(between, 0.0)
        return cls(between, sizes)

    def forms(self, masks: Bool) -> tuple[F64, F64, float]:
        """For each row of labels the sum over pairs of candidates and over mixed pairs, and the sum over all pairs."""
        own, with_any = quadratic_forms(masks, self.between), self.between.sum(axis=1)
        return own, 2 * (masks @ with_any - own), float(with_any.sum())

    def counts(self, masks: Bool) -> tuple[F64, F64, F64]:
        """For each row the pairs of texts that count: within the candidate, within the reference, and across."""
        n = masks @ self.sizes
        m = self.sizes.sum() - n
        own = masks @ self.sizes**2
        return n**2 - own, m**2 - ((self.sizes**2).sum() - own), n * m

    def means(self, masks: Bool) -> tuple[F64, F64, F64]:
        """For each row the mean over pairs within the candidate, within the reference, and across."""
        own, across, total = self.forms(masks)
        candidate, reference, mixed = self.counts(masks)
        return own / candidate, (total - own - across) / reference, across / 2 / mixed

    def distances(self, masks: Bool) -> F64:
        """Unbiased squared distances between the samples' means: mean within each less mean across, of every row."""
        one, other, across = self.means(masks)
        return _without_rounding(one + other - 2 * across, np.abs(one) + np.abs(other) + 2 * np.abs(across))

    def agreements(self, masks: Bool) -> F64:
        """The form itself with labels 1/n for candidates and -1/m for references, divided by their squared length."""
        own, across, total = self.forms(masks)
        candidate = masks @ self.sizes
        reference = self.sizes.sum() - candidate
        terms = np.stack((own / candidate**2, (total - own - across) / reference**2, -across / (candidate * reference)))
        value = _without_rounding(terms.sum(axis=0), np.abs(terms).sum(axis=0))
        return value / (1 / candidate + 1 / reference)


def _without_rounding(values: F64, scale: F64) -> F64:
    """Exactly 0 where a value is no more than what rounding leaves of the terms that cancel in it.

    Otherwise rounding would decide between labellings that are all the same, as where every text has the same words.
    """
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)


def gram_counts(incidence: Incidence, units: Units, *, power: float) -> PairMatrix:
    """Products of counts of n-grams between units, each n-gram weighed by its pooled count to minus this power.

    N-grams in one text only are in no pair of different texts and are passed over.
    """
    totals = incidence.totals()
    runs = np.diff(incidence.starts)
    common = runs > 1
    kept = np.repeat(common, runs)
    starts = np.concatenate(([0], np.cumsum(runs[common])))
    weights = np.repeat(totals[common].astype(np.float64) ** (-power / 2), runs[common])
    columns = units.units[incidence.texts[kept]]
    by_gram = csr_array((incidence.counts[kept] * weights, columns, starts), shape=(len(starts) - 1, units.n_units))
    by_gram.sum_duplicates()
    return PairMatrix.of(inner_products(by_gram), unit_sizes(units))


def inner_products(by_gram: csr_array) -> F64:
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


def kernel_sums(joint: Joint, kernel: Kernel, units: Units) -> PairMatrix:
    """Sums of a kernel of vectors between units."""
    return PairMatrix.of(unit_sums(joint, kernel, units.units, units.n_units).copy(), unit_sizes(units))


def ridge(features: NDArray[np.floating[Any]], units: Units) -> PairMatrix:
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
        return PairMatrix.of(np.zeros((units.n_units, units.n_units)), unit_sizes(units))
    # H = Z (Z'Z + l)^-1 Z', summed by unit: the rows divided by 1 - H_ii on the left, plain on the right.
    left, right = np.zeros((2, units.n_units, dimension))
    scales, counts = np.zeros((2, units.n_units))
    for begin in range(0, n, _TEXTS_AT_ONCE):
        part = units.units[begin : begin + _TEXTS_AT_ONCE]
        centred = features[begin : begin + _TEXTS_AT_ONCE] - mean
        solved = centred @ inverse
        scale = 1 / (1 - np.einsum("ij,ij->i", centred, solved) - 1 / n)
        chosen = csr_array((np.ones(len(part)), (part, np.arange(len(part)))), shape=(units.n_units, len(part)))
        left += chosen @ (centred * scale[:, None])
        right += chosen @ solved
        scales += chosen @ scale
        counts += chosen @ np.ones(len(part))
    predicted = left @ right.T + np.outer(scales, counts / n)
    # Only the symmetric part counts in a quadratic form.
    return PairMatrix.of((predicted + predicted.T) / 2, unit_sizes(units))


def phrase_products(orders: Sequence[Incidence], n_texts: int, units: Units) -> F64:
    """Inner products between units of their texts' weighted n-grams: log(1 + count) times the log of rarity, with
    length 1 per text, so that a long text counts no more than a short one. Summed over the texts of a unit.
    """
    weighted = []
    squares = np.zeros(n_texts)
    for incidence in orders:
        runs = np.diff(incidence.starts)
        kept = np.repeat(runs > 1, runs)
        texts, starts = incidence.texts[kept], np.concatenate(([0], np.cumsum(runs[runs > 1])))
        rarity = np.repeat(np.log((n_texts + 1) / (runs[runs > 1] + 1)) + 1, runs[runs > 1])
        values = np.log1p(incidence.counts[kept]) * rarity
        squares += np.bincount(texts, values * values, n_texts)
        weighted.append((texts, starts, values))
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    found = np.zeros((units.n_units, units.n_units))
    for texts, starts, values in weighted:
        shape = (len(starts) - 1, units.n_units)
        by_gram = csr_array((values / lengths[texts], units.units[texts], starts), shape=shape)
        by_gram.sum_duplicates()
        found += inner_products(by_gram)
    return found


def _inverse(kernel: F64) -> F64:
    """The inverse of a symmetric positive definite matrix, in half of the time of that of any matrix."""
    factor, failed = dpotrf(kernel, lower=1)
    lower, wrong = dpotri(factor, lower=1)
    if failed or wrong:
        return np.asarray(np.linalg.inv(kernel), dtype=np.float64)
    # Above the diagonal there are zeros.
    found: F64 = lower + lower.T
    found[np.diag_indices(len(found))] /= 2
    return found


def ridge_on_units(products: F64, sizes: F64) -> PairMatrix:
    """Leave-one-out predictions of ridge regression of labels on the mean vectors of units, from inner products.

    As `ridge`, with one observation per unit, so that its cost does not depend on the number of texts or features.
    """
    filled = np.flatnonzero(sizes)
    kernel = products[np.ix_(filled, filled)] / np.outer(sizes[filled], sizes[filled])
    n, means = len(kernel), kernel.mean(axis=0)
    kernel += means.mean() - means - means[:, None]
    penalty = float(np.trace(kernel)) / n
    found = np.zeros((len(sizes), len(sizes)))
    if penalty > ROUNDING * float(np.abs(products).max(initial=0.0)):
        # H = K (K + l)^-1 = 1 - l (K + l)^-1, and 1/n for the intercept.
        kernel[np.diag_indices(n)] += penalty
        hat = -penalty * _inverse(kernel)
        hat[np.diag_indices(n)] += 1
        hat += 1 / n
        predicted = hat / (1 - np.diag(hat))[:, None] * np.outer(sizes[filled], sizes[filled])
        found[np.ix_(filled, filled)] = (predicted + predicted.T) / 2
    return PairMatrix.of(found, sizes)
