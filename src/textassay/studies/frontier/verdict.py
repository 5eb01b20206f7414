"""The verdict on a pair of metrics: whether it is compatible with distribution fitting, and by how much it is not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from textassay.inference.result import Interval
from textassay.studies.finding import Finding, Verdict
from textassay.studies.frontier.compatibility import Fit
from textassay.studies.frontier.pareto import Discrepancy

OUTSIDE = "the real distribution has larger probabilities than those for which g is concave"
NOT_DIVERSE = "no mixture is as diverse as real text"
# Smaller gaps than this share of the range of quality may be rounding.
_ROUNDING = 1e-9
_LEVEL = 0.95


@dataclass(frozen=True)
class OverSeeds:
    """The mean of a number over draws, and the interval of this mean by Student's t; NaN without one."""

    mean: float
    low: float = math.nan
    high: float = math.nan
    draws: int = 1

    @property
    def interval(self) -> Interval | None:
        """The interval of the mean; None of one draw."""
        return None if math.isnan(self.low) else Interval(self.low, self.high, _LEVEL, "seeds")

    @property
    def is_clear(self) -> bool:
        """Whether it is above 0: of several draws, the interval; of one, the number itself."""
        return self.mean > 0 if math.isnan(self.low) else self.low > 0


def over_seeds(values: Sequence[float]) -> OverSeeds:
    """Over the draws with a value: a mixture may be less diverse than real text by chance."""
    known = [value for value in values if not math.isnan(value)]
    mean, n = float(np.mean(known)) if known else math.nan, len(known)
    if n < 2:
        return OverSeeds(mean, draws=n)
    half = float(stdtrit(n - 1, (1 + _LEVEL) / 2)) * float(np.std(known, ddof=1)) / math.sqrt(n)
    return OverSeeds(mean, mean - half, mean + half, n)


def judge_exact(fit: Fit, found: Discrepancy, *, limit: float) -> Verdict:
    """The verdict by Theorem 3, and by the gap on this distribution.

    Where g is concave only below a limit, better distributions may have larger probabilities than were considered.
    """
    if fit.is_exact:
        return Verdict.of("compatible", Finding("divergence", value=fit.alpha))
    if found.qdisc > _ROUNDING * (found.highest_quality - found.lowest_quality):
        return Verdict.of("incompatible", _gap(found.qdisc, found.drate))
    if found.is_outside:
        return Verdict.of("untested", Finding("pair not decided", text=OUTSIDE))
    if found.is_bound:
        return Verdict.of("untested", Finding("larger probabilities", value=limit))
    return Verdict.of("incompatible", Finding("on the frontier"))


def judge_optimised(qdisc: float, drate: float, *, is_compatible: bool, n_starts: int) -> Verdict:
    """The verdict on a pair in the small space; `is_compatible` is whether the paper proves compatibility."""
    value = qdisc if qdisc > _ROUNDING else math.nan
    if is_compatible:
        return Verdict.of("compatible", Finding("cnd"), details=[Finding("starts", value=value, n=(n_starts,))])
    if qdisc > _ROUNDING:
        return Verdict.of("incompatible", _gap(qdisc, drate))
    return Verdict.of("untested", Finding("starts without result", n=(n_starts,)))


def judge_estimated(qdisc: OverSeeds, drate: OverSeeds, *, is_compatible: bool, n: int) -> Verdict:
    """The verdict on a pair from mixtures of real texts and noise."""
    if is_compatible:
        sampled = Finding("gap by sampling", value=drate.mean, n=(n,))
        detail = sampled if qdisc.is_clear else Finding("unclear gap", n=(qdisc.draws,))
        return Verdict.of("compatible", Finding("cnd"), details=[] if math.isnan(qdisc.mean) else [detail])
    if math.isnan(qdisc.mean):
        return Verdict.of("untested", Finding("pair not decided", text=NOT_DIVERSE))
    if qdisc.mean <= 0:
        return Verdict.of("untested", Finding("pair not decided", text="no mixture is better than real text"))
    if not qdisc.is_clear:
        return Verdict.of("untested", Finding("gap not decided", n=(qdisc.draws,)))
    least = qdisc.mean if qdisc.interval is None else qdisc.interval.low
    return Verdict.of("incompatible", _gap(least, drate.mean if math.isnan(drate.low) else drate.low, n))


def _gap(qdisc: float, drate: float, *n: int) -> Finding:
    """A gap of at least this much, as a number and as a share of the range of quality; on `n` texts if estimated."""
    return Finding("gap", value=qdisc, parts={"drate": drate}, n=n)
