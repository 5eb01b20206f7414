"""Published statements as data: what is compared, by which rule and margin, and the decision that follows.

No reproduction writes its own conclusion. It lists claims; a claim holds measured numbers with their uncertainty, the
published value or limit that each is held against, and a margin. Decision and conclusion are computed from these.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import t as student

from textassay.corpus.arrays import F64
from textassay.document.words import number
from textassay.inference.items.means import FEWEST_ITEMS
from textassay.inference.result import Result

LEVEL = 0.95
# More checks than this are counted, not listed; the tables of the page have the numbers.
_MOST_LISTED = 4

Decision = Literal["holds", "fails", "undecided"]
# `within`: the target, give or take the margin; `above` and `below`: beyond the target by more than the margin.
Rule = Literal["within", "above", "below"]


@dataclass(frozen=True)
class Measured:
    """A number that was measured and its 95 % interval; an end that is not known is None, as is a number without value.

    >>> Measured.exact(0.5)
    Measured(estimate=0.5, low=0.5, high=0.5)
    >>> Measured.over([1.0])
    Measured(estimate=1.0, low=None, high=None)
    """

    estimate: float | None
    low: float | None
    high: float | None

    @classmethod
    def exact(cls, value: float) -> Self:
        """A number that another run on the same data gives again: computed, not drawn."""
        known = _known(value)
        return cls(known, known, known)

    @classmethod
    def between(cls, value: float, low: float, high: float) -> Self:
        """A number with an interval of its own."""
        return cls(_known(value), _known(low), _known(high))

    @classmethod
    def give_or_take(cls, value: float, error: float) -> Self:
        """A number with a standard error that is well known: the normal interval."""
        half = 1.96 * error
        return cls.between(value, value - half, value + half)

    @classmethod
    def over(cls, values: Sequence[float] | F64) -> Self:
        """The mean over items, seeds or parts of a sample, with the interval of Student's t; without NaN.

        A few equal values have no interval: one of width 0 would claim certainty.
        """
        known = np.asarray(values, dtype=np.float64)
        known = known[~np.isnan(known)]
        if not len(known) or not np.isfinite(known).all():
            return cls(None, None, None)
        mean = float(known.mean())
        if len(known) == 1 or (len(known) < FEWEST_ITEMS and not np.ptp(known)):
            return cls(_known(mean), None, None)
        quantile = float(student.ppf((1 + LEVEL) / 2, len(known) - 1))
        half = quantile * float(known.std(ddof=1)) / math.sqrt(len(known))
        return cls.between(mean, mean - half, mean + half)

    @classmethod
    def jackknife(cls, value: float, without: Sequence[float]) -> Self:
        """A number, and its values where each fold is left out once."""
        apart = np.asarray(without) - np.mean(without)
        return cls.give_or_take(value, math.sqrt((len(without) - 1) / len(without) * float((apart**2).sum())))

    @classmethod
    def of(cls, result: Result) -> Self:
        """A result and its interval."""
        interval = result.interval
        return cls.between(
            result.estimate, interval.low if interval else math.nan, interval.high if interval else math.nan
        )

    def less(self, other: "Measured") -> "Measured":
        """This number less an independent one: the squares of the halves of their intervals add up."""
        if None in (self.estimate, other.estimate):
            return Measured(None, None, None)
        assert self.estimate is not None
        assert other.estimate is not None
        difference = self.estimate - other.estimate
        halves = [each._half for each in (self, other)]
        if None in halves:
            return Measured(difference, None, None)
        half = math.hypot(*(half or 0.0 for half in halves))
        return Measured(difference, difference - half, difference + half)

    @property
    def _half(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def __str__(self) -> str:
        if self.estimate is None:
            return "no value"
        if self.low is None or self.high is None:
            return f"{number(self.estimate)} (no interval)"
        if self.low == self.high:
            return number(self.estimate)
        return f"{number(self.estimate)} ({number(self.low)} to {number(self.high)})"


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class Check:
    """One number of a claim, and the published value or the limit that it is held against."""

    what: str
    measured: Measured
    target: float = 0.0


@dataclass(frozen=True)
class Claim:
    """What a paper states, the numbers that show it or not, and the margin of each.

    `published` is a short declarative sentence without a stop. `basis` states where the margin and the intervals come
    from. A claim holds if all its checks hold and fails if one fails; a check whose interval reaches over a limit of
    its rule is undecided.

    >>> claim = Claim("a is about 1", (Check("a", Measured(1.02, 0.9, 1.1), 1.0),), "within", 0.05, "chosen here")
    >>> claim.decision, claim.found
    ('undecided', 'a 1.02 (0.900 to 1.10), target 1.00')
    """

    published: str
    checks: tuple[Check, ...]
    rule: Rule
    margin: float
    basis: str

    @property
    def decision(self) -> Decision:
        """Whether the statement holds here."""
        decisions = {self.decide(check) for check in self.checks}
        if "fails" in decisions:
            return "fails"
        return "holds" if decisions == {"holds"} else "undecided"

    @property
    def agrees(self) -> bool:
        """Whether every check holds."""
        return self.decision == "holds"

    def decide(self, check: Check) -> Decision:
        """Whether one number is where the rule wants it, with its whole interval."""
        if check.measured.estimate is None:
            return "undecided"
        low, high = (
            math.copysign(math.inf, side) if end is None else end
            for side, end in ((-1, check.measured.low), (1, check.measured.high))
        )
        lowest, highest = self._limits(check.target)
        # A number on a limit holds for `within` only: `above` and `below` want it beyond the limit.
        inside = lowest <= low and high <= highest if self.rule == "within" else lowest < low and high < highest
        if inside:
            return "holds"
        return "fails" if high < lowest or low > highest or low == high else "undecided"

    def _limits(self, target: float) -> tuple[float, float]:
        if self.rule == "above":
            return target + self.margin, math.inf
        if self.rule == "below":
            return -math.inf, target - self.margin
        return target - self.margin, target + self.margin

    @property
    def found(self) -> str:
        """The numbers of the checks; of many, how many hold and the one that decides."""
        if len(self.checks) <= _MOST_LISTED:
            return "; ".join(self._shown(check) for check in self.checks)
        decisions = [self.decide(check) for check in self.checks]
        counts = [f"{decisions.count('holds')} of {len(self.checks)} hold"]
        counts += [f"{n} undecided" for n in (decisions.count("undecided"),) if n]
        return f"{', '.join(counts)}; closest to the limit or beyond it: {self._shown(self._hardest())}"

    def _shown(self, check: Check) -> str:
        named = f"{check.what} {check.measured}"
        if self.rule == "within":
            return f"{named}, target {number(check.target)}"
        return named if check.target == 0 else f"{named}, limit {number(check.target)}"

    def _hardest(self) -> Check:
        """A check that fails, else an undecided one, else any: that with the least room to the limits of its rule."""

        def room(check: Check) -> tuple[int, float]:
            rank = ("fails", "undecided", "holds").index(self.decide(check))
            if check.measured.estimate is None:
                return rank, -math.inf
            lowest, highest = self._limits(check.target)
            return rank, min(check.measured.estimate - lowest, highest - check.measured.estimate)

        return min(self.checks, key=room)

    @property
    def wanted(self) -> str:
        """The rule and its margin, in words."""
        beyond = f" by more than {number(self.margin)}" if self.margin else ""
        targets = {check.target for check in self.checks}
        limit = number(targets.pop()) if len(targets) == 1 else "the limit"
        words = {
            "within": f"within ±{number(self.margin)} of the target",
            "above": f"above {limit}{beyond}",
            "below": f"below {limit}{beyond}",
        }
        return f"{words[self.rule]} ({self.basis})"

    def to_dict(self) -> Mapping[str, Any]:
        """What follows from the numbers, for those who read the JSON alone."""
        return {"found": self.found, "wanted": self.wanted, "decision": self.decision}


def conclude(claims: Sequence[Claim]) -> str:
    """What follows from the claims, all of them and nothing else.

    >>> held = Claim("a is above 0", (Check("a", Measured.exact(1.0)),), "above", 0.0, "chosen here")
    >>> conclude([held])
    'Holds here: a is above 0.'
    """
    parts = [
        (opening, [claim for claim in claims if claim.decision == decision])
        for opening, decision in (
            ("Holds here", "holds"),
            ("Does not hold here", "fails"),
            ("Undecided here", "undecided"),
        )
    ]
    return " ".join(f"{opening}: {'; '.join(claim.published for claim in found)}." for opening, found in parts if found)


def steps(what: str, places: Iterable[str], values: Iterable[Sequence[float] | F64]) -> tuple[Check, ...]:
    """The change from each place on a curve to the next; values are one per replicate, and pair by pair."""
    named = zip(places, values, strict=True)
    return tuple(
        Check(f"{what}, {before} to {after}", Measured.over(np.subtract(later, earlier)))
        for (before, earlier), (after, later) in pairwise(named)
    )


def exact_steps(what: str, places: Iterable[str], values: Iterable[float]) -> tuple[Check, ...]:
    """The change from each place on an exact curve to the next."""
    named = zip(places, values, strict=True)
    return tuple(
        Check(f"{what}, {before} to {after}", Measured.exact(later - earlier))
        for (before, earlier), (after, later) in pairwise(named)
    )
