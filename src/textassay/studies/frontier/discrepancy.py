"""The gap between the real distribution and the frontier: QDisc and DRate of section 6, exact."""

import math
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.pairs import Pair
from textassay.studies.frontier.pareto import bound, highest_quality, optima
from textassay.studies.frontier.roots import falling_roots


@dataclass(frozen=True)
class Discrepancy:
    """How far the real distribution is below the frontier.

    `qdisc` is the highest quality of a distribution that is at least as diverse as the real one, minus the quality of
    the real one; `drate` is its share of the range of quality on the frontier. `w` is the parameter of the frontier
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
    at, w = best, bound(pair, real)
    if real.is_uniform:
        at, w = quality, 0.0
    elif diversity > float(pair.diversity.of(top, real)):
        w = _weight_at(pair, real, diversity)
        at = float(optima(pair, real, np.array([w])).quality[0])
    return Discrepancy(quality, diversity, at, float(even.quality[0]), best, w, is_bound=pair.diversity.limit < 1)


def _weight_at(pair: Pair, real: Distribution, diversity: float) -> float:
    """The parameter w whose optimum has this diversity, which rises with w up to 0."""

    def missing(strength: F64) -> F64:
        return optima(pair, real, -strength).diversity - diversity

    strength = np.ones(1)
    while missing(strength)[0] > 0 and strength[0] < 1e300:
        strength *= 2
    return -float(falling_roots(missing, np.zeros(1), strength)[0])
