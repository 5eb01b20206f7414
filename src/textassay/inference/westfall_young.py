r"""Westfall and Young's step-down adjustment: many tests over the same resamples, corrected together.

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

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
_Counts = NDArray[np.int64]

# Statistics that differ only by rounding are ties, as in `p_value`.
_RELATIVE_TIE = 1e-9


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


def at_least(row: F64) -> _Counts:
    """For each value of a row, how many of the row are at least as large."""
    tie = _RELATIVE_TIE * float(np.abs(row).max())
    below = np.searchsorted(np.sort(row), row - tie, side="left")
    return np.asarray(len(row) - below, dtype=np.int64)
