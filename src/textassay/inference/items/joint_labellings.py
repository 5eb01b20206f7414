r"""Joint labellings of all items, and sums over items under them, for a stratified test.

Items are independent, so a joint labelling takes one labelling of each item. The statistic is the mean over items,

.. math:: T = \frac1N \sum_i t_i(\ell_i), \qquad E[T] = \frac1N \sum_i \mu_i, \quad
    \operatorname{Var}[T] = \frac1{N^2} \sum_i \sigma_i^2,

where :math:`\mu_i` and :math:`\sigma_i^2` are the mean and variance of :math:`t_i` over the labellings of item i. They
give a z-score. The p-value comes from joint labellings that are drawn at random: the share with a mean at least as
extreme as the observed one, which is added to both sides. If there are few joint labellings, each is taken once, and
the p-value is exact.

This test has power that no combination of p-values has: with 2 candidates and 3 references an item has 10 labellings
and no p-value below 0.1, but a thousand such items that each differ a little have a mean far from what chance gives.

Units that share texts are not independent. Such items form one unit, with labellings of all their texts together
(`shared_texts.py`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.sample import stream
from textassay.inference.p_values import p_value
from textassay.metrics.registry import Request

Towards = Literal["higher", "lower", "both"]
# At least this many joint labellings are drawn: one costs an addition per item.
DRAWS = 9_999
# Units with more joint labellings than this are never listed, so that the product of counts stays a small number.
_MOST_LISTED = 10**6
# A sum that varies less than this over labellings is always the same: there is nothing to standardise by.
_NO_VARIANCE = 1e-24


@dataclass(frozen=True)
class Unit:
    """An independent unit of the test: its number of labellings, of which row 0 was observed.

    `listed`: the rows are all labellings, each once. Otherwise they are the observed one and a random sample.
    """

    key: str
    rows: int
    listed: bool


@dataclass(frozen=True)
class Drawing:
    """Which labelling each unit takes in each of `n` joint labellings, the observed one not counted.

    The rows of a unit depend on the seed, its key and its size only, so that neither the order of the work nor the
    number of workers changes them. `strides` is set where all joint labellings are listed.
    """

    n: int
    seed: int
    units: Mapping[str, Unit]
    strides: Mapping[str, int] | None = None

    def rows(self, key: str) -> I64:
        """The labelling of this unit in each draw."""
        unit = self.units[key]
        if self.strides is not None:
            return np.arange(1, self.n + 1) // self.strides[key] % unit.rows
        if len(self.units) == 1:
            return np.arange(1, unit.rows)
        rng = stream(self.seed, "joint labelling", key)
        return rng.integers(0 if unit.listed else 1, unit.rows, size=self.n)


def plan_drawing(units: Iterable[Unit], *, draws: int, seed: int) -> Drawing:
    """All joint labellings if there are at most `draws` beside the observed one, else as many at random.

    A single unit takes each of its rows once, however many they are.

    >>> plan_drawing([Unit("a", 10, True), Unit("b", 3, True)], draws=99, seed=0).n
    29
    """
    known = {unit.key: unit for unit in units}
    strides, count = {}, 1
    for unit in known.values():
        strides[unit.key] = count
        count = min(count * unit.rows, _MOST_LISTED)
    if len(known) == 1:
        return Drawing(next(iter(known.values())).rows - 1, seed, known)
    if count - 1 <= draws and all(unit.listed for unit in known.values()):
        return Drawing(count - 1, seed, known, strides)
    return Drawing(draws if known else 0, seed, known)


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over items: the observed statistic, each draw's, and the mean and variance over labellings."""

    observed: float
    drawn: F64
    chance: float
    variance: float
    items: int = 1

    @classmethod
    def of(cls, values: F64, rows: I64, *, items: int = 1, observed: int = 0) -> "Tally":
        """One unit: its value under each of its labellings, and the labelling it takes in each draw."""
        return cls(float(values[observed]), values[rows], float(values.mean()), float(values.var()), items)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.observed + other.observed,
            self.drawn + other.drawn,
            self.chance + other.chance,
            self.variance + other.variance,
            self.items + other.items,
        )

    @property
    def z(self) -> float:
        """How many standard deviations the observed mean is above the mean over labellings; NaN without variance."""
        if self.variance <= _NO_VARIANCE:
            return math.nan
        return (self.observed - self.chance) / math.sqrt(self.variance)

    def extremes(self, towards: Towards) -> F64:
        """The observed statistic and then each draw's, turned so that more is more extreme."""
        values = np.concatenate(([self.observed], self.drawn))
        if towards == "both":
            return np.abs(values - self.chance)
        return values if towards == "higher" else -values

    def p_value(self, towards: Towards) -> float:
        """The share of joint labellings at least as extreme as the observed one."""
        extremes = self.extremes(towards)
        return p_value(float(extremes[0]), extremes[1:], exact=False)

    def smallest_p(self, towards: Towards) -> float:
        """The p-value that the most extreme of these labellings would have: what could be found at best."""
        extremes = self.extremes(towards)
        return p_value(float(extremes.max()), extremes, exact=True)


def towards_worse(better: str) -> Towards:
    """Where a metric is tested: towards worse, or both ways where neither higher nor lower is better."""
    directions: dict[str, Towards] = {"higher": "lower", "lower": "higher"}
    return directions.get(better, "both")


def is_worse(difference: float, better: str) -> bool:
    """Whether a value that exceeds another one by this difference is worse; never where no direction is better.

    >>> is_worse(0.1, "lower"), is_worse(0.1, "higher"), is_worse(-0.1, "higher"), is_worse(0.1, "closer")
    (True, False, True, False)
    """
    towards = towards_worse(better)
    return (towards == "higher" and difference > 0) or (towards == "lower" and difference < 0)


def summed(tallies: Sequence[Tally]) -> Tally | None:
    """The sum in the given order, so that rounding is the same every time; None of nothing."""
    total: Tally | None = None
    for tally in tallies:
        total = tally if total is None else total + tally
    return total


# Sums over items: by metric, and by name for the numbers that show how candidates miss.
Tallies = dict[Request | str, Tally]
