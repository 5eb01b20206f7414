"""The verdict on a pair: compatible with distribution fitting, or incompatible by at least a gap."""

import math
from fractions import Fraction

from textassay.corpus.printable import share
from textassay.studies.frontier.compatibility import Fit
from textassay.studies.frontier.discrepancy import Discrepancy
from textassay.studies.wording import Verdict, number

# Why a discrepancy is not known.
OUTSIDE = "the real distribution has larger probabilities than those for which g is concave"
NOT_DIVERSE = "no mixture is as diverse as real text"
# Smaller gaps than this share of the range of quality may be rounding.
_ROUNDING = 1e-9


def judge_exact(fit: Fit, found: Discrepancy) -> Verdict:
    """The verdict by Theorem 3, and by the gap on this distribution."""
    if fit.is_exact:
        weight = Fraction(fit.alpha).limit_denominator(1000)
        divergence = f"{weight} quality + {1 - weight} diversity measures a divergence (Theorem 3)"
        return Verdict.of("compatible", f"compatible: {divergence}")
    if found.qdisc > _ROUNDING * (found.highest_quality - found.lowest_quality):
        return Verdict.of("incompatible", _gap(found.qdisc, found.drate))
    if found.is_outside:
        return Verdict.of("untested", f"not decided: {OUTSIDE}")
    return Verdict.of(
        "incompatible",
        "incompatible in general (Theorem 3 does not hold), but the real distribution is on the frontier here",
    )


def judge_optimised(qdisc: float, drate: float, *, is_compatible: bool, n_starts: int) -> Verdict:
    """The verdict on a pair in the small space; `is_compatible` is whether the paper proves compatibility."""
    searched = f"{n_starts} starts of the optimiser found"
    if is_compatible:
        details = [f"{searched} {'a gap of ' + number(qdisc) if qdisc > _ROUNDING else 'no better distribution'}"]
        return Verdict.of("compatible", "compatible: CND is its divergence (section 5.2)", details=details)
    if qdisc > _ROUNDING:
        return Verdict.of("incompatible", _gap(qdisc, drate))
    return Verdict.of("untested", f"not decided: {searched} no better distribution")


def judge_estimated(qdisc: float, drate: float, *, is_compatible: bool, n: int) -> Verdict:
    """The verdict on a pair from mixtures of real texts and noise."""
    if is_compatible:
        cause = f"the estimate ({share(max(drate, 0.0))} of the range of quality) is due to sampling {n:,} texts"
        details = [] if math.isnan(drate) else [cause]
        return Verdict.of("compatible", "compatible: CND is its divergence (section 5.2)", details=details)
    if math.isnan(qdisc):
        return Verdict.of("untested", f"not decided: {NOT_DIVERSE}")
    if qdisc <= 0:
        return Verdict.of("untested", "not decided: no mixture is better than real text")
    estimated = f"{_gap(qdisc, drate)}, estimated on {n:,} texts"
    return Verdict.of("incompatible", estimated)


def _gap(qdisc: float, drate: float) -> str:
    return f"incompatible by at least {number(qdisc)} ({share(drate)} of the range of quality)"
