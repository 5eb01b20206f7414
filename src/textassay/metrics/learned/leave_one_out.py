r"""Leave-one-out scores of a ridge classifier for many labellings of the same texts at once.

The classifier is a linear discriminant with a ridge penalty on features that do not depend on the labels. With the
centred features :math:`z_i` of all pooled texts, :math:`A = \sum_i z_i z_i^T + \lambda I` and the sums
:math:`s_c, s_r` of the features of candidates and references, its direction is
:math:`A^{-1} (s_c / n - s_r / m)` and its threshold the middle between the two means. Each text is scored by the
classifier of all other texts: copies of the text and texts of its group are left out with it, so that nothing leaks.

Leaving out rows :math:`Z_S` with the labels :math:`C` (1 for a candidate) changes predictions by a small system:

.. math:: P = (I - H)^{-1} (F_S - H C), \qquad H = Z_S A^{-1} Z_S^T, \quad F = Z A^{-1} s_c

which is linear in the labels. So the scores of all exchanges of labels follow from a few matrix products, and equal
those of classifiers that are fitted again for every text and every exchange.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from textassay.corpus.arrays import F64, I64, U64, Bool

# Scores smaller than this share of what one text contributes to a score are rounding: they count as 0.
_ROUNDING = 1e-9
# Numbers in a block of cases and labellings.
_NUMBERS_AT_ONCE = 2**20
_ROWS_AT_ONCE = 4096


def ridge_inverse(squares: F64, n_texts: int) -> F64 | None:
    """The inverse of centred second moments plus the penalty, their mean squared singular value; None if all are 0."""
    dimension = len(squares)
    penalty = float(np.trace(squares)) / min(n_texts, dimension)
    if penalty <= 0:
        return None
    penalised = squares.copy()
    penalised[np.diag_indices(dimension)] += penalty
    return np.asarray(np.linalg.inv(penalised), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Removal:
    """Rows that are left out together, for several groups with the same number of rows.

    `rows` and `cases` have one row per group. `hat` is H, `counts` the texts of each row that are left out, and
    `solve` is the inverse of I - H K with these counts on the diagonal of K.
    """

    rows: I64
    cases: I64
    hat: F64
    counts: F64
    solve: F64


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Pooled texts with their features, prepared for scoring under any labels.

    A case is a set of texts with the same words in the same group. `rows` is the row of features of each case,
    `case_of` the case of each text, and `sizes` the number of texts of each case.
    """

    features: Any
    mean: F64
    inverse: F64 | None
    case_of: I64
    rows: I64
    sizes: F64
    removals: tuple[_Removal, ...]
    leverages: F64
    outside: F64

    @classmethod
    def of(cls, features: Any, keys: U64, groups: U64 | None = None) -> Self:
        """Prepare texts given by features (dense or sparse, one row per text), a key of their words and their group."""
        _, first, row_of = np.unique(keys, return_index=True, return_inverse=True)
        if groups is None:
            case_of, rows, group_of = row_of, np.arange(len(first)), np.arange(len(first))
        else:
            _, group_numbers = np.unique(groups, return_inverse=True)
            found, case_of = np.unique(np.stack((group_numbers, row_of)), axis=1, return_inverse=True)
            group_of, rows = found
        case_of = case_of.reshape(-1)
        sizes = np.bincount(case_of).astype(np.float64)
        distinct = features[first] if issparse(features) else features[first].astype(np.float64)
        copies = np.bincount(row_of).astype(np.float64)
        mean = np.asarray(distinct.T @ copies).reshape(-1) / len(keys)
        inverse = ridge_inverse(_squares(distinct, copies, mean), len(keys))
        outside = copies[rows] - sizes
        nothing = np.zeros(len(rows))
        if inverse is None:
            return cls(distinct, mean, inverse, case_of, rows, sizes, (), nothing, outside)
        removals = tuple(_removals(distinct, mean, inverse, rows=rows, groups=group_of, sizes=sizes))
        leverages = nothing
        for removal in removals:
            leverages[removal.cases] = np.einsum("gij,gji->gi", removal.solve, removal.hat)
        return cls(distinct, mean, inverse, case_of, rows, sizes, removals, leverages, outside)

    @cached_property
    def _row_sums(self) -> csr_array:
        """Adds up the cases of each row of features."""
        cases = np.arange(len(self.rows))
        return csr_array((np.ones(len(cases)), (self.rows, cases)), shape=(self.features.shape[0], len(cases)))

    @cached_property
    def _turned(self) -> Any:
        """The transposed features, with rows in order if they are sparse."""
        return self.features.T.tocsr() if issparse(self.features) else self.features.T

    def counts(self, units: I64, masks: Bool) -> F64:
        """Texts of each case (rows) that each row of masks over units chooses (columns)."""
        owned = csr_array((np.ones(len(units)), (self.case_of, units)), shape=(len(self.rows), masks.shape[1]))
        return np.asarray(owned @ np.ascontiguousarray(masks.T, dtype=np.float64))

    def discrepancies(self, units: I64, candidate: Bool, reference: Bool) -> F64:
        """DD under each row of labels: recall of candidates plus recall of references minus 1.

        Texts in neither mask are absent: they are neither scored nor trained on, but their features are part of A.
        """
        found = np.empty(len(candidate))
        for columns in self._blocks(len(candidate)):
            candidates, references = self.counts(units, candidate[columns]), self.counts(units, reference[columns])
            is_candidate = self.scores(candidates, references) <= 0
            found[columns] = (candidates * is_candidate).sum(axis=0) / candidates.sum(axis=0)
            found[columns] += (references * ~is_candidate).sum(axis=0) / references.sum(axis=0) - 1
        return found

    def _blocks(self, n_labellings: int) -> Iterator[slice]:
        at_once = max(1, _NUMBERS_AT_ONCE // max(len(self.rows), 1))
        return (slice(begin, begin + at_once) for begin in range(0, n_labellings, at_once))

    def scores(self, candidates: F64, references: F64) -> F64:
        """The score of each case under each labelling: positive for reference, 0 or less for candidate.

        `candidates` and `references` are the counts of each case, with one column per labelling. A case
        without which one of the samples is empty has the score 0.
        """
        if self.inverse is None:
            return np.zeros_like(candidates)
        n, m = candidates.sum(axis=0), references.sum(axis=0)
        candidate, reference = self._sides(candidates, references)
        scores = np.empty_like(candidates)
        for removal in self.removals:
            scores[removal.cases] = _difference(candidate.without(removal, self), reference.without(removal, self))
        noise = _ROUNDING * (1 / n + 1 / m) * float(self.leverages.mean())
        return np.where(np.abs(scores) <= noise, 0.0, scores)

    def weights(self, candidates: F64, references: F64) -> F64:
        """The direction of the classifier of all texts, towards candidates, for one labelling."""
        if self.inverse is None:
            return np.zeros_like(self.mean)
        shares = self._row_sums @ (candidates[:, 0] / candidates.sum() - references[:, 0] / references.sum())
        return np.asarray(self.inverse @ (self._turned @ shares))

    def _sides(self, candidates: F64, references: F64) -> "tuple[_Side, _Side]":
        at_row = self._row_sums @ candidates, self._row_sums @ references
        fitted, square = self._fitted(at_row[0])
        # Centred features of all texts add up to 0, so those of the references follow from those of the candidates.
        whole = np.array_equal(candidates + references, np.broadcast_to(self.sizes[:, None], candidates.shape))
        others = (-fitted, square) if whole else self._fitted(at_row[1])
        return (
            _Side(candidates.sum(axis=0), candidates, at_row[0][self.rows], fitted, square),
            _Side(references.sum(axis=0), references, at_row[1][self.rows], *others),
        )

    def _fitted(self, counts: F64) -> tuple[F64, F64]:
        """F for every row and s' A^-1 s, of the texts that are counted."""
        assert self.inverse is not None
        # Subtracting the mean from the counts instead of the features makes equal shares cancel exactly.
        share = counts.sum(axis=0) / self.sizes.sum()
        copies = np.asarray(self._row_sums @ self.sizes)[:, None]
        sums = np.asarray(self._turned @ (counts - share * copies))
        weights = self.inverse @ sums
        return np.asarray(self.features @ weights) - self.mean @ weights, np.einsum("ij,ij->j", sums, weights)


@dataclass(frozen=True, eq=False)
class _Left:
    """One sample without a case: texts left, the prediction of its sum, and the square of the sum under A^-1."""

    texts: F64
    predicted: F64
    square: F64


@dataclass(frozen=True, eq=False)
class _Side:
    """One sample under each labelling: its texts in all, per case and per row, F of each row, and s' A^-1 s."""

    texts: F64
    at_case: F64
    at_row: F64
    fitted: F64
    square: F64

    def without(self, removal: _Removal, texts: LeaveOneOut) -> _Left:
        """This sample without the group of each case, and without copies of the case in other groups."""
        cases = removal.cases
        shape = (*removal.rows.shape, -1)
        fitted = self.fitted[removal.rows.reshape(-1)].reshape(shape)
        labels = self.at_case[cases.reshape(-1)].reshape(shape)
        predicted = _product(removal.solve, fitted - _product(removal.hat, labels))
        changed = labels - removal.counts[:, :, None] * predicted
        square = self.square - (fitted * changed + labels * predicted).sum(axis=1)
        left = self.texts - labels.sum(axis=1)
        # Copies in other groups are one row of the same features, left out in a second step.
        outside = texts.outside[cases][:, :, None]
        if not outside.any():
            return _Left(left[:, None], predicted, square[:, None])
        leverage = texts.leverages[cases][:, :, None]
        others = self.at_row[cases.reshape(-1)].reshape(shape) - labels
        alone = (predicted - leverage * others) / (1 - outside * leverage)
        shrunk = square[:, None] - predicted * (others - outside * alone) - others * alone
        return _Left(left[:, None] - others, alone, shrunk)


def _product(matrices: F64, columns: F64) -> F64:
    """A product of many small matrices; for numbers, an elementwise one is faster."""
    return matrices * columns if matrices.shape[1] == 1 else matrices @ columns


def _difference(candidate: _Left, reference: _Left) -> F64:
    """The score: how much nearer to the mean of the references than to that of the candidates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        n, m = candidate.texts, reference.texts
        middle = (candidate.square / n**2 - reference.square / m**2) / 2
        score = reference.predicted / m - candidate.predicted / n + middle
    return np.where((n > 0) & (m > 0), score, 0.0)


def _squares(features: Any, copies: F64, mean: F64) -> F64:
    """Centred second moments of the features, each row with its number of copies."""
    if issparse(features):
        weighted = features.multiply(copies[:, None]).tocsr()
        return np.asarray((features.T @ weighted).toarray()) - copies.sum() * np.outer(mean, mean)
    squares = np.zeros((features.shape[1], features.shape[1]))
    for begin in range(0, features.shape[0], _ROWS_AT_ONCE):
        rows = features[begin : begin + _ROWS_AT_ONCE] - mean
        squares += (rows * copies[begin : begin + _ROWS_AT_ONCE, None]).T @ rows
    return squares


def _removals(features: Any, mean: F64, inverse: F64, *, rows: I64, groups: I64, sizes: F64) -> Iterator[_Removal]:
    """The groups of cases, those with the same number of cases together."""
    order = np.argsort(groups, kind="stable")
    n_cases = np.bincount(groups)
    starts = np.concatenate(([0], np.cumsum(n_cases)))
    for size in np.unique(n_cases[n_cases > 0]).tolist():
        at_once = max(1, _NUMBERS_AT_ONCE // (size * max(size, len(mean))))
        these = starts[:-1][n_cases == size]
        parts = [these[begin : begin + at_once] for begin in range(0, len(these), at_once)]
        cases = [order[part[:, None] + np.arange(size)] for part in parts]
        hats = [_hats(features, mean, inverse, rows[part]) for part in cases]
        all_cases, hat = np.concatenate(cases), np.concatenate(hats)
        counts = sizes[all_cases]
        solve = np.linalg.inv(np.eye(size) - hat * counts[:, None, :])
        yield _Removal(rows[all_cases], all_cases, hat, counts, solve)


def _hats(features: Any, mean: F64, inverse: F64, rows: I64) -> F64:
    """The hat matrix within each group of rows."""
    chosen = features[rows.reshape(-1)]
    solved = np.asarray(chosen @ inverse) - mean @ inverse
    centred = (chosen.toarray() if issparse(chosen) else chosen) - mean
    shape = (*rows.shape, -1)
    return np.asarray(solved.reshape(shape) @ centred.reshape(shape).transpose(0, 2, 1))
