r"""p-values, what counts as significant, and corrections for many tests (Holm, Westfall-Young).

Holm's correction knows single p-values only, so it prepares for the worst: tests that never fail together. Tests of one
table mostly read the same texts, and the resamples show how they move together. Each test has one row of statistics:
the observed one first, then one per resample, where column b is the same exchange of labels in every row.

1. Every statistic becomes the p-value that it would have as the observed one: :math:`p_{jb}`, the share of its row that
   is at least as large. Ties count, so ties work against significance.
2. The tests are sorted by their observed p-values. The k-th is compared with the smallest p-value among itself and all
   tests after it: :math:`\tilde p_{(k)} = \#\{b : \min_{j \ge k} p_{(j)b} \le p_{(k)0}\} / (B + 1)`.
3. An adjusted p-value is never smaller than the one before it.

The chance of any false alarm is at most the level if all columns are equally likely when no test has a difference to
find. An adjusted p-value is never larger than Holm's from the same :math:`p_{j0}`: at most a share p of a row has
p-values up to p, so the share of columns with any of :math:`m - k + 1` p-values up to p is at most m - k + 1 times p.

The best adjusted p-value of m independent tests is about m / (B + 1), and 1 / (B + 1) for m copies of one test: every
row has one column with the smallest p-value of all. So B must grow with the number of unrelated tests.

Peter H. Westfall, S. Stanley Young. Resampling-based multiple testing, algorithm 2.8. Wiley, 1993.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64

# Statistics that differ only by rounding are ties, and ties count against significance.
_RELATIVE_TIE = 1e-9
# 1 - 0.95 is a little more than 0.05 in binary numbers, and 1 - 0.9 a little less than 0.1.
_ROUNDING = 1e-12


def p_value(observed: float, null: NDArray[np.float64], *, exact: bool) -> float:
    """Share of the null at least as extreme (large) as the observed statistic.

    With `exact`, `null` is the full enumeration, the observed arrangement included, and the share is the p-value.
    Otherwise `null` is a Monte-Carlo sample and the observed arrangement is added to both sides, so that p is never 0.

    >>> p_value(3.0, np.array([1.0, 2.0, 3.0, 4.0]), exact=True)
    0.5
    >>> p_value(5.0, np.array([1.0, 2.0, 3.0, 4.0]), exact=False)
    0.2
    """
    if not np.isfinite(observed) or not np.isfinite(null).all():
        return float("nan")
    tie = _RELATIVE_TIE * max(abs(observed), float(np.abs(null).max(initial=0.0)))
    extreme = int((null >= observed - tie).sum())
    if exact:
        return extreme / len(null)
    return (extreme + 1) / (len(null) + 1)


def is_significant(p: float | None, level: float) -> bool:
    """Whether a p-value is significant at this level: p <= 1 - level, the rule that gives exact tests their level.

    The only place that decides this, for every table, verdict, label and chart.

    >>> is_significant(0.05, 0.95), is_significant(0.0500001, 0.95), is_significant(0.1, 0.9), is_significant(None, 0.9)
    (True, False, True, False)
    """
    return p is not None and p <= 1 - level + _ROUNDING


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false alarm in the table stays at the level.

    Entries that are not numbers (no test) stay so and do not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p), np.nan)
    order = np.flatnonzero(~np.isnan(p))
    order = order[np.argsort(p[order], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return [float(value) for value in adjusted]


# Statistics that differ only by rounding are ties, as in `p_value`.


def step_down(statistics: F64) -> F64:
    """The adjusted p-value of each test; `statistics` has one row per test, the observed value in the first column.

    Larger is more extreme. A row with a value that is not a finite number is no test: it has no influence on the
    others, and its adjusted p-value is NaN.

    >>> step_down(np.array([[3.0, 1.0, 2.0, 0.0], [5.0, 1.0, 9.0, 0.0], [np.nan] * 4]))
    array([0.5, 0.5, nan])
    """
    adjusted = np.full(len(statistics), np.nan)
    tests = np.flatnonzero(np.isfinite(statistics).all(axis=1))
    if not len(tests):
        return adjusted
    counts = np.stack([at_least(statistics[test]) for test in tests])
    order = np.argsort(counts[:, 0], kind="stable")
    counts = counts[order]
    smallest = np.minimum.accumulate(counts[::-1], axis=0)[::-1]
    found = (smallest <= counts[:, :1]).sum(axis=1) / counts.shape[1]
    adjusted[tests[order]] = np.maximum.accumulate(found)
    return adjusted


def at_least(row: F64) -> I64:
    """For each value of a row, how many of the row are at least as large."""
    tie = _RELATIVE_TIE * float(np.abs(row).max())
    below = np.searchsorted(np.sort(row), row - tie, side="left")
    return np.asarray(len(row) - below, dtype=np.int64)
