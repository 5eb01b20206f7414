"""The effect size of a comparison: the separable share, its lower confidence bound, and the grade that follows from it.

The grade is that of the lower bound, not of the estimate: "large" is then itself a statement that holds at the level of
the bound, and no grade comes from chance in a few texts. A bound, and with it a grade, rises with the number of texts
until it is near the estimate.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

from scipy.special import ndtri, stdtrit

from textassay.inference.intervals import CROSS_FITTED
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.interval_methods import NEWCOMBE
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material

# A difference is clear if at least a tenth of the texts must be replaced, and large if at least half of them must be:
# then no mixture that is mostly real text looks like the candidate.
CLEAR, LARGE = 0.1, 0.5
_GRADES = ((LARGE, "large"), (CLEAR, "clear"))
# Differences that are found in four of five comparisons are called probable, and as many standard errors
# they are beyond those that are just found.
_PROBABLY = 0.8
_BEYOND = float(ndtri(_PROBABLY))


@dataclass(frozen=True)
class Separable:
    """The separable share of a candidate: at least `low` of its texts must be replaced to match the reference.

    `low` is a one-sided confidence bound at `level`, and `grade` follows from it: slight, clear or large. Where the
    overall test found no difference, `low` is 0 and `grade` is None.

    `detectable` is a share that would have a bound above 0 in four of five comparisons of as many texts. It is about
    texts that the classifier recognises; how many others there are, no test can tell. Without a number, `undefined` has
    the reason.
    """

    estimate: float | None
    low: float | None
    level: float
    method: str
    grade: str | None
    detectable: float | None
    undefined: str | None
    signature: str

    def judged(self, *, differs: bool) -> Self:
        """This share, given whether the overall test found a difference."""
        if self.low is None:
            return self
        if differs:
            return replace(self, grade=grade_of(self.low))
        # An estimate that was not enough for the overall test is no share that it would probably have found: that is
        # larger by the distance between a share that is just found and one that is found in four of five comparisons.
        detectable = self.detectable
        if detectable is not None:
            beyond = detectable * _BEYOND / (_BEYOND + CROSS_FITTED * float(ndtri(self.level)))
            detectable = max(detectable, min((self.estimate or 0.0) + beyond, 1.0))
        return replace(self, low=0.0, grade=None, detectable=detectable)

    def unknown(self, why: str) -> Self:
        """No share, and the reason."""
        return replace(self, estimate=None, low=None, grade=None, undefined=self.undefined or why)


def grade_of(low: float) -> str:
    """The grade of a difference that the overall test found, by the lower bound of the separable share.

    >>> [grade_of(low) for low in (0.0, 0.099, 0.1, 0.499, 0.5, 1.0)]
    ['slight', 'slight', 'clear', 'clear', 'large', 'large']
    """
    return next((word for limit, word in _GRADES if low >= limit), "slight")


def separable_share(candidate: Material, reference: Material, *, plan: Plan) -> Separable:
    """The separable share of a candidate; `judged` gives its grade when the overall p-value is known."""
    [request] = parse_requests(["separable"])
    roles = {"candidate": candidate, "reference": reference}
    [found] = measure([request], roles, plan=plan, test=False).results
    known = found.interval is not None
    return Separable(
        estimate=found.estimate if known else None,
        low=found.interval.low if found.interval is not None else None,
        level=plan.level,
        method=NEWCOMBE,
        grade=None,
        detectable=detectable_share(*_units(roles), level=plan.level) if known else None,
        undefined=found.undefined,
        signature=found.signature,
    )


def _units(roles: dict[str, Material]) -> tuple[int, int]:
    """Independent texts or groups of candidate and reference."""
    candidate, reference = (material.sample.count_independent() for material in roles.values())
    return candidate, reference


def detectable_share(n: int, m: int, *, level: float) -> float:
    """The share that n and m independent texts show with a bound above 0 in four of five samples, wherever it lies.

    A difference between two shares varies most around one half, so that is where it must be found.

    >>> [round(detectable_share(n, n, level=0.95), 3) for n in (20, 100, 1000)]
    [0.468, 0.203, 0.064]
    """
    errors = CROSS_FITTED * float(stdtrit(min(n, m) - 1, level)) + _BEYOND
    return min(errors * 0.5 * math.sqrt(1 / n + 1 / m), 1.0)
