"""The Pareto frontier of a pair: Theorem 2 of Li et al. (2020).

A distribution Q is Pareto-optimal if and only if Q_i = h(w f(P_i) + b) for some w <= 0, where h is the inverse of g'
and 0 from g'(0) on. `real` must be the support of the pair (`Pair.support`). Arrays of shares have one row per w and
one column per different probability of P.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from textassay.corpus.arrays import F64
from textassay.errors import InputError
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.pairs import Diversity, Pair

_STEPS = 120
_CLOSE = 2 * np.finfo(np.float64).eps


def falling_roots(function: Callable[[F64], F64], low: F64, high: F64) -> F64:
    """Where each element of a falling function is 0, between `low` (not negative there) and `high` (not positive).

    This is Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, halving elsewhere.
    """
    b, a = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    at_b, at_a = function(b), function(a)
    share = np.full_like(a, 0.5)
    best = np.where(np.abs(at_a) < np.abs(at_b), a, b)
    for _ in range(_STEPS):
        x = a + share * (b - a)
        at_x = function(x)
        same = np.sign(at_x) == np.sign(at_a)
        c, at_c = np.where(same, a, b), np.where(same, at_a, at_b)
        b, at_b = np.where(same, b, a), np.where(same, at_b, at_a)
        a, at_a = x, at_x
        best = np.where(np.abs(at_a) < np.abs(at_b), a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = (_CLOSE * np.abs(best) + 1e-300) / np.abs(b - a)
            done = (least > 0.5) | (at_a == 0) | (at_b == 0) | ~np.isfinite(least)
            if done.all():
                break
            share = _next_share(a, b, c, at_a, at_b, at_c)
        share = np.where(done, 0.0, np.clip(share, least, 1 - least))
    return best


def _next_share(a: F64, b: F64, c: F64, at_a: F64, at_b: F64, at_c: F64) -> F64:
    """Where to go between a and b; half of the way unless the interpolation stays inside."""
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
    bent = at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
    return np.where(safe & np.isfinite(bent), bent, 0.5)


@dataclass(frozen=True, eq=False)
class Optima:
    """Pareto-optima: the parameters w and b, the probabilities, and quality and diversity, one row per w."""

    w: F64
    b: F64
    shares: F64
    quality: F64
    diversity: F64


def optima(pair: Pair, real: Distribution, w: F64) -> Optima:
    """The Pareto-optimum of each w, in closed form where there is one."""
    w = np.atleast_1d(np.asarray(w, dtype=np.float64))
    heights = w[:, None] * pair.quality.f(real.values)[None, :]
    offset = pair.diversity.offset
    b = offset(heights, real.counts) if offset else numerical_offset(pair, heights, real.counts)
    shares = probabilities(pair, heights + b[:, None])
    return Optima(w, b, shares, pair.quality.of(shares, real), pair.diversity.of(shares, real))


def probabilities(pair: Pair, slopes: F64) -> F64:
    """The probability at which g has this slope: 0 for slopes of g'(0) or more, and at most the limit of g."""
    diversity = pair.diversity
    inverse = diversity.inverse(slopes) if diversity.inverse else _numerical_inverse(pair, slopes)
    return np.clip(np.where(slopes < diversity.slope_at_zero, inverse, 0.0), 0.0, diversity.limit)


# Probabilities below this are 0 where the inverse of g' has no closed form.
_LEAST = 1e-15
_TABLE = 2048


@lru_cache(maxsize=64)
def _slope_table(diversity: Diversity) -> tuple[F64, F64]:
    """Logarithms of probabilities up to the limit of g, descending, and the slopes there, ascending."""
    logs = np.linspace(math.log(diversity.limit), math.log(_LEAST), _TABLE)
    return logs, diversity.slope(np.exp(logs))


def _numerical_inverse(pair: Pair, slopes: F64) -> F64:
    """The root on the scale of logarithms, because probabilities may be tiny, between two points of a table."""
    logs, known = _slope_table(pair.diversity)
    inside = np.clip(slopes, known[0], known[-1])
    index = np.clip(np.searchsorted(known, inside), 1, len(known) - 1)
    found = np.exp(falling_roots(lambda at: pair.diversity.slope(np.exp(at)) - inside, logs[index], logs[index - 1]))
    return np.where(slopes >= known[-1], 0.0, found)


def numerical_offset(pair: Pair, heights: F64, counts: F64) -> F64:
    """The offset b with which probabilities sum to 1; the sum falls with b.

    With b = g'(1/N) - max(w f) every probability is at least 1/N, with b = g'(1/N) - min(w f) at most 1/N.
    """
    even = float(pair.diversity.slope(np.array([1 / counts.sum()]))[0])
    return falling_roots(
        lambda b: probabilities(pair, heights + b[:, None]) @ counts - 1,
        even - heights.max(axis=-1),
        even - heights.min(axis=-1),
    )


def bound(pair: Pair, real: Distribution) -> float:
    """B of Theorem 2: below it the frontier does not change; minus infinity if g'(0) is infinite."""
    diversity, largest = pair.diversity, 1 / real.counts[0]
    if real.is_uniform:
        return 0.0
    if largest > diversity.limit or math.isinf(diversity.slope_at_zero):
        return -math.inf
    first, second = (float(value) for value in pair.quality.f(real.values[:2]))
    return (float(diversity.slope(np.array([largest]))[0]) - diversity.slope_at_zero) / (first - second)


def highest_quality(pair: Pair, real: Distribution) -> F64:
    """The trivial optimum at and below B: the most probable outcomes share everything.

    If g is not concave up to that probability, they get the limit and the next ones what is left.
    """
    most = np.minimum(np.cumsum(real.counts) * pair.diversity.limit, 1.0)
    return np.diff(most, prepend=0.0) / real.counts


def check_fits(pair: Pair, real: Distribution) -> None:
    """Refuse a distribution with so few outcomes that none is within the limit of g."""
    limit = pair.diversity.limit
    if real.n * limit < 1:
        raise InputError(
            f"{pair.name}: g is concave only below {limit:.3g}, and {real.n:,} outcomes have a larger mean probability;"
            f" wanted at least {math.ceil(1 / limit):,} outcomes"
        )


def frontier_curve(pair: Pair, real: Distribution, *, n_points: int = 81) -> Optima:
    """Optima from the highest diversity (w = 0) to the highest quality, about evenly spaced along the curve."""
    if real.is_uniform:
        return optima(pair, real, np.zeros(1))
    end = _end_of_curve(pair, real)
    dense = optima(pair, real, -np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 3 * n_points))) * end)
    x, y = (_scaled(values) for values in (dense.quality, dense.diversity))
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    chosen = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], n_points)).clip(max=len(along) - 1))
    return Optima(*(values[chosen] for values in (dense.w, dense.b, dense.shares, dense.quality, dense.diversity)))


def _scaled(values: F64) -> F64:
    return (values - values.min()) / (np.ptp(values) or 1.0)


# The curve of a pair without a bound ends where this share of the range of quality is left.
_REST = 1e-3


def _end_of_curve(pair: Pair, real: Distribution) -> float:
    """Minus B, or where quality is close to its maximum if there is no bound."""
    end = -bound(pair, real)
    if math.isfinite(end):
        return end
    best = float(pair.quality.of(highest_quality(pair, real), real))
    worst = float(optima(pair, real, np.zeros(1)).quality[0])
    w = 1.0
    for _ in range(200):
        if best - float(optima(pair, real, np.array([-w])).quality[0]) <= _REST * (best - worst):
            break
        w *= 1.5
    return w


@dataclass(frozen=True)
class Discrepancy:
    """How far the real distribution is below the frontier.

    `qdisc` is the highest quality of a distribution that is at least as diverse as the real one, minus the quality of
    the real one; `drate` is its share of the range of quality, which ends at the quality of the most probable outcome
    alone. `w` is the parameter of the frontier
    point with the diversity of the real distribution. `is_bound` is true if g is not concave everywhere: only
    distributions within its limit were considered, so that the discrepancy is a lower bound.
    """

    quality: float
    diversity: float
    best_quality: float
    lowest_quality: float
    highest_quality: float
    w: float
    is_bound: bool

    @property
    def qdisc(self) -> float:
        """The gap in quality at the diversity of the real distribution."""
        return self.best_quality - self.quality

    @property
    def is_outside(self) -> bool:
        """Whether the real distribution itself is not within the limit of g, and better than all that are."""
        return self.is_bound and self.qdisc < -1e-12 * abs(self.quality)

    @property
    def drate(self) -> float:
        """The gap as a share of the range of quality; NaN if the frontier is one point."""
        range_ = self.highest_quality - self.lowest_quality
        return self.qdisc / range_ if range_ > 0 else math.nan


def discrepancy(pair: Pair, real: Distribution) -> Discrepancy:
    """Find the frontier point that is as diverse as the real distribution."""
    quality, diversity = (float(side.of(real.values, real)) for side in (pair.quality, pair.diversity))
    top, even = highest_quality(pair, real), optima(pair, real, np.zeros(1))
    best = float(pair.quality.of(top, real))
    # Of all distributions, those beyond the limit of g included.
    highest = float(pair.quality.f(real.values).max())
    at, w = best, bound(pair, real)
    if real.is_uniform:
        at, w = quality, 0.0
    elif diversity > float(pair.diversity.of(top, real)):
        w = _weight_at(pair, real, diversity)
        at = float(optima(pair, real, np.array([w])).quality[0])
    return Discrepancy(quality, diversity, at, float(even.quality[0]), highest, w, is_bound=pair.diversity.limit < 1)


def _weight_at(pair: Pair, real: Distribution, diversity: float) -> float:
    """The parameter w whose optimum has this diversity, which rises with w up to 0."""

    def missing(strength: F64) -> F64:
        return optima(pair, real, -strength).diversity - diversity

    strength = np.ones(1)
    while missing(strength)[0] > 0 and strength[0] < 1e300:
        strength *= 2
    return -float(falling_roots(missing, np.zeros(1), strength)[0])
