r"""Values of one item under its labellings, and their sums over items for a stratified test.

If the candidates and the references of an item have one source, every way to label its texts is equally likely. Items
are independent, so a joint labelling takes one labelling of each item. The statistic is the mean over items,

.. math:: T = \frac1N \sum_i t_i(\ell_i), \qquad E[T] = \frac1N \sum_i \mu_i, \quad
    \operatorname{Var}[T] = \frac1{N^2} \sum_i \sigma_i^2,

where :math:`\mu_i` and :math:`\sigma_i^2` are the mean and variance of :math:`t_i` over the labellings of item i. They
give a z-score. The p-value comes from joint labellings that are drawn at random: the share with a mean at least as
extreme as the observed one, which is added to both sides. Where all joint labellings are few, each is taken once, and
the p-value is exact.

It sees what no combination of p-values sees: with 2 candidates and 3 references an item has 10 labellings and no
p-value below 0.1, but a thousand such items that are each a little off have a mean far from what chance gives.

Units that share texts are not independent. Such items form one unit here, with labellings of all their texts together
(`combined_tests.py`).
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.sample import stream
from textassay.inference.p_values import p_value
from textassay.metrics.items.item_pool import ItemPool, Labels, all_masks, item_parts, item_values, random_masks
from textassay.metrics.registry import Request

# Up to this many parts of an item are measured for its value at a smaller size; of more, as many at random.
MOST_PARTS = 200


@dataclass(frozen=True, eq=False)
class Ways:
    """Labellings of an item; the first row is what was observed. `exact`: every way is there once."""

    labels: Labels
    exact: bool


@lru_cache(maxsize=64)
def ways(candidates: int, references: int, *, most: int, n_resamples: int, seed: int) -> Ways:
    """All ways to choose the candidates if there are at most `most`, else the observed and `n_resamples` random ones.

    Items of one size share them, so that what metrics derive from labels is derived once.
    """
    if comb(candidates + references, candidates) <= most:
        # The first way in order chooses the first texts: the candidates themselves.
        return Ways(Labels.partitions(all_masks(candidates, references)), exact=True)
    truth = np.arange(candidates + references)[None, :] < candidates
    masks = random_masks(candidates, references, rows=n_resamples, seed=seed)
    return Ways(Labels.partitions(np.concatenate((truth, masks))), exact=False)


@lru_cache(maxsize=64)
def sampled_places(candidates: int, references: int, *, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Where the observed labelling and the random ones of `ways` are in the list of all of them.

    >>> sampled_places(2, 2, n_resamples=3, seed=0).tolist()[0]
    0
    """
    sample = ways(candidates, references, most=0, n_resamples=n_resamples, seed=seed).labels.candidate
    n = sample.shape[1]
    places = np.zeros(len(sample), dtype=np.int64)
    left = np.full(len(sample), candidates)
    for text in range(n):
        # A list in order has all choices with this text before all choices without it.
        ahead = np.array([comb(n - 1 - text, need - 1) if need else 0 for need in range(candidates + 1)])
        places += np.where(sample[:, text], 0, ahead[left])
        left -= sample[:, text]
    return places


@lru_cache(maxsize=256)
def parts(sizes: tuple[int, int], smaller: tuple[int, int], *, seed: int) -> Labels:
    """Choices of fewer candidates and references: all where there are at most `MOST_PARTS`, else as many at random.

    >>> parts((3, 2), (2, 2), seed=0).candidate.astype(int).tolist()
    [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 1, 0, 0]]
    """
    counts = [comb(size, part) for size, part in zip(sizes, smaller, strict=True)]
    if counts[0] * counts[1] <= MOST_PARTS:
        chosen = [all_masks(part, size - part) for size, part in zip(sizes, smaller, strict=True)]
        both = np.repeat(chosen[0], counts[1], axis=0), np.tile(chosen[1], (counts[0], 1))
    else:
        rng = stream(seed, "parts", *sizes, *smaller)
        both = _random_choices(sizes[0], smaller[0], rng), _random_choices(sizes[1], smaller[1], rng)
    nothing = [np.zeros((len(side), other), dtype=bool) for side, other in zip(both, sizes[::-1], strict=True)]
    return Labels(np.concatenate((both[0], nothing[0]), axis=1), np.concatenate((nothing[1], both[1]), axis=1))


def _random_choices(size: int, part: int, rng: np.random.Generator) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    ranks = rng.permuted(np.tile(np.arange(size), (MOST_PARTS, 1)), axis=1)
    return ranks < part


@dataclass(frozen=True)
class Figures:
    """`chance` and `variance` are the mean and variance over labellings; `asymptotic` is how the p-value was made."""

    estimate: float
    p_value: float = math.nan
    chance: float = math.nan
    variance: float = math.nan
    seconds: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    asymptotic: bool = False


def measure_item(request: Request, pool: ItemPool, ways: Ways | None) -> Figures:
    """The observed value of an item, with a test where labellings are given."""
    return measure_ways(request, pool, ways)[0]


def measure_ways(request: Request, pool: ItemPool, ways: Ways | None) -> tuple[Figures, F64]:
    """The same, and the value under every labelling."""
    started = time.perf_counter()
    values = item_values(request, pool, ways.labels if ways else pool.observed)
    figures = figures_of(request, values, ways)
    seconds = time.perf_counter() - started
    return replace(figures, parts=item_parts(request, pool), seconds=seconds), values


def figures_of(request: Request, values: F64, ways: Ways | None) -> Figures:
    """The figures of an item from its value under every labelling; without labellings there is no test."""
    if ways is None:
        return Figures(float(values[0]))
    return Figures(float(values[0]), row_p(request, values, row=0, exact=ways.exact), *moments(values))


def figures_of_splits(request: Request, values: F64, ways: Ways, *, row: int) -> Figures:
    """Texts of one source split in two in many ways: the mean over all of them, and the p-value of one."""
    if not np.isfinite(values).all():
        return Figures(math.nan)
    return Figures(float(values.mean()), row_p(request, values, row=row, exact=ways.exact), *moments(values))


def mean_over(request: Request, pool: ItemPool, labels: Labels) -> float:
    """The mean value over these labellings."""
    return float(item_values(request, pool, labels).mean())


def row_p(request: Request, values: F64, *, row: int, exact: bool) -> float:
    """The p-value of one labelling among all, towards worse."""
    extreme = _towards_worse(request, values)
    null = extreme if exact else np.delete(extreme, row)
    return p_value(float(extreme[row]), null, exact=exact)


def smallest_row_p(request: Request, values: F64) -> float:
    """The p-value of the most extreme of these labellings: what the test of an item could find at best."""
    extreme = _towards_worse(request, values)
    return p_value(float(extreme.max()), extreme, exact=True)


def _towards_worse(request: Request, values: F64) -> F64:
    return -values if request.metric.better == "higher" else values


def moments(values: F64) -> tuple[float, float]:
    """Mean and variance over labellings."""
    return float(values.mean()), float(values.var())


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
    strides, ways = {}, 1
    for unit in known.values():
        strides[unit.key] = ways
        ways = min(ways * unit.rows, _MOST_LISTED)
    if len(known) == 1:
        return Drawing(next(iter(known.values())).rows - 1, seed, known)
    if ways - 1 <= draws and all(unit.listed for unit in known.values()):
        return Drawing(ways - 1, seed, known, strides)
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


@dataclass(frozen=True)
class CombinedTest:
    """The combined test of one metric: labels exchanged within all items at once.

    `z` is how many standard deviations the mean is above that of all labellings, `smallest_p` what could be found at
    best, `draws` the number of joint labellings. `adjusted` is the p-value corrected for all metrics and systems.
    """

    z: float
    p_value: float
    smallest_p: float
    draws: int
    adjusted: float = math.nan


@dataclass(frozen=True)
class Overall:
    """All items together: mean spread and place, and three p-values, adjusted for each other.

    `unequal`: one side varies more than the other. `apart`: both sides are closer than chance. `close`: neither is as
    close as chance.
    """

    spread: float
    place: float
    unequal: float
    apart: float
    close: float


@dataclass(frozen=True, eq=False)
class Combined:
    """The combined tests of one system by metric, the units that they have, and how its candidates miss."""

    tests: Mapping[Request, CombinedTest]
    units: int = 0
    misses: Overall | None = None
