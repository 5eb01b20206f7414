r"""p-values: what counts as significant, corrections for many tests (Holm, Westfall-Young), and combinations.

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

p-values of items are combined (Fisher, Simes, harmonic mean, mean p, mean log p) because papers report such numbers.
None of them decides anything: the combined test exchanges labels within items. Exact p-values of few texts come in
steps; with them, every combination rejects a true null at most as often as stated, and mostly more rarely. Entries that
are not numbers (no test there) are left out; if none is left, the result is not a number either.
"""

import math
from collections.abc import Sequence
from functools import cache

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


_NODES = 128
# In units of the variable below, the integrand is nothing so far below its rise and full so far above it.
_BELOW, _ABOVE = 45.0, 6.0


def survival(x: float) -> float:
    r"""The chance that a standard Landau variable is above x, to about 14 digits for any x.

    Its density is :math:`\frac1\pi \int_0^\infty e^{-t \log t - x t} \sin(\pi t)\,dt`, an integral that swings and
    cancels. Zolotarev's form of stable laws has neither fault; at the angle :math:`\pi - \pi / w` it reads

    .. math:: P(X > x) = \int_1^\infty \left(1 - e^{-e^{h(w) - x}}\right) \frac{dw}{w^2}, \qquad
              h(w) = \log\frac{\pi - \epsilon}{\sin \epsilon} + \frac{\pi - \epsilon}{\tan \epsilon}, \quad
              \epsilon = \frac{\pi}{w},

    and rises from 0 to :math:`1/w^2` within a few units around :math:`w = x - \log x + 1`.

    V. M. Zolotarev. One-dimensional stable distributions. American Mathematical Society, 1986. John P. Nolan. Numerical
    calculation of stable densities and distribution functions. Stochastic Models, 1997.

    >>> round(survival(0.0), 12)
    0.713167119875
    """
    rise = max(1.0, x - math.log(max(x, 1.0)) + 1)
    low, high = max(1.0, rise - _BELOW), rise + _ABOVE
    places, weights = _gauss()
    half = (high - low) / 2
    w = low + half * (1 + places)
    full = -np.expm1(-np.exp(np.minimum(_exponent(w) - x, 50.0)))
    # Above the last node all of 1 / w^2 counts.
    return min(1.0, float(half * (weights @ (full / w / w)) + 1 / high))


def _exponent(w: F64) -> F64:
    """The h of the integral."""
    angle = np.pi / w
    rest = np.pi - angle
    return np.asarray(np.log(rest / np.sin(angle)) + rest / np.tan(angle))


@cache
def _gauss() -> tuple[F64, F64]:
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    return places, weights


PValues = Sequence[float] | F64


def harmonic_mean(p_values: PValues) -> float:
    r"""Wilson's harmonic mean p-value, turned into a p-value by the Landau law.

    .. math:: P\left(X > \frac1{\mathring p} - \log L - (1 - \gamma)\right), \qquad
              \frac1{\mathring p} = \frac1L \sum_{i=1}^L \frac1{p_i},

    with X a standard Landau variable and :math:`\gamma` Euler's constant: exact for many independent tests, and little
    changed by positive dependence, because single small p-values decide and not their sum (at 5 %, 4 to 7 % of true
    nulls with up to 1,000 equally correlated tests). The harmonic mean alone is no p-value: it rejects too often, the
    more so the more tests there are.

    It needs small p-values to see anything. A thousand items with p about 0.2 do not add up here, as they do in
    `fisher`; and an exact p-value is never smaller than one over the number of labellings, which makes it cautious with
    many items of few texts: of 200 items with 3,003 labellings each, 0.6 % of true nulls are rejected at 5 %.

    Daniel J. Wilson. The harmonic mean p-value for combining dependent tests. PNAS, 2019.

    >>> round(harmonic_mean([0.01, 0.2, 0.5, 0.9]), 6)
    0.044186
    >>> harmonic_mean([0.03])
    0.03
    """
    p = known_values(p_values)
    if len(p) <= 1:
        return float(p[0]) if len(p) else math.nan
    # A p-value of 0, or nearly, has no inverse.
    with np.errstate(divide="ignore", over="ignore"):
        inverse = float((1 / p).mean())
    return survival(inverse - math.log(len(p)) - (1 - np.euler_gamma)) if math.isfinite(inverse) else 0.0


def fisher(p_values: PValues) -> float:
    r"""Fisher's method: :math:`-2 \sum \log p_i` is chi-square with twice as many degrees of freedom as tests.

    It adds up many weak signs that the harmonic mean does not see. It needs independent tests: where items share texts
    or a judge's mood it rejects too often (13 to 38 % of true nulls at 5 %, where `harmonic_mean` has 4 to 7). p-values
    in steps make it cautious, the more so the coarser they are.

    R. A. Fisher. Statistical methods for research workers, 4th edition, section 21.1. Oliver and Boyd, 1932.

    >>> round(fisher([0.1, 0.1]), 6)
    0.056052
    """
    from scipy.special import gammaincc

    p = known_values(p_values)
    if not len(p):
        return math.nan
    with np.errstate(divide="ignore"):
        return float(gammaincc(len(p), -np.log(p).sum()))


def simes(p_values: PValues) -> float:
    r"""Simes' p-value: the smallest :math:`L\, p_{(i)} / i` over the sorted p-values.

    Exact for independent tests and valid under the usual positive dependence; like the harmonic mean it looks for
    small p-values and does not add up middling ones.

    R. J. Simes. An improved Bonferroni procedure for multiple tests of significance. Biometrika, 1986.

    >>> simes([0.01, 0.04, 0.5])
    0.03
    """
    p = np.sort(known_values(p_values))
    if not len(p):
        return math.nan
    return float(min(1.0, (p * len(p) / np.arange(1, len(p) + 1)).min()))


def raw_harmonic_mean(p_values: PValues) -> float:
    """The harmonic mean itself, as Chan et al. (2022) report it: no p-value, because it rejects too often.

    >>> round(raw_harmonic_mean([0.01, 0.2, 0.5, 0.9]), 6)
    0.036999
    """
    p = known_values(p_values)
    if not len(p):
        return math.nan
    with np.errstate(divide="ignore"):
        return float(1 / (1 / p).mean())


def mean_p(p_values: PValues) -> float:
    """The mean p-value: about 0.5 where nothing is wrong, a little more with exact p-values of few texts."""
    p = known_values(p_values)
    return float(p.mean()) if len(p) else math.nan


def mean_log_p(p_values: PValues) -> float:
    """The mean natural logarithm of the p-values: about -1 where nothing is wrong."""
    p = known_values(p_values)
    with np.errstate(divide="ignore"):
        return float(np.log(p).mean()) if len(p) else math.nan


def known_values(values: Sequence[float] | F64) -> F64:
    """The values as an array, without NaN."""
    array = np.asarray(values, dtype=np.float64)
    return array[~np.isnan(array)]
