"""The work on one item: all metrics on every system, and how candidates miss their references.

The same metrics are measured on references against references, where a part of the item's references, which people
wrote, is in the place of candidates. This is the baseline of all systems (`human`).

Triangles show how they miss. The closeness of a side is how often the edge between two of its texts is the shortest
of a triangle less how often it is the longest, beyond what chance gives. Candidates that are closer than chance while
references are not are too narrow; references that are closer while candidates are not make the candidates too wide;
where both sides are closer, candidates and references form separate groups: the candidates are off target.

One answer to everything comes before all of these: candidates that are one text, while the references are not.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import Item
from textassay.corpus.sample import stream
from textassay.inference.item_figures import (
    Drawing,
    Figures,
    Tally,
    Unit,
    Ways,
    figures_of,
    figures_of_splits,
    mean_over,
    moments,
    parts,
    sampled_places,
    smallest_row_p,
    ways,
)
from textassay.inference.p_values import is_significant, p_value
from textassay.inference.plan import Plan
from textassay.inference.result import one_nan
from textassay.metrics.items.item_pool import ItemPool, Labels, Pools, item_parts, item_values, scattered
from textassay.metrics.items.trm import MOST_TEXTS, shares
from textassay.metrics.registry import Request, all_metrics


def central(references: Sequence[str], pool: ItemPool) -> int | None:
    """The place of the reference with the least mean distance from all others, by the first distance there is.

    `pool` has the same references, scattered.
    """
    if len(references) < 2 or not pool.distances:
        return None
    # Others as hypotheses, this one as reference: how far everyone is from it.
    sums = next(iter(pool.distances.values())).sum(axis=0)
    if not np.isfinite(sums).all():
        return None
    return scattered(references)[int(sums.argmin())]


@dataclass(frozen=True)
class Miss:
    """How one item's candidates miss its references.

    The closeness of a side is how often the edge between two of its texts is the shortest of a triangle less how often
    it is the longest, beyond what chance gives. `spread` is the closeness of candidates less that of references: above
    0 is too narrow, below 0 too wide. `place` is the sum of the two: above 0 the two sides form separate groups. Both
    range from about -2 to 2. `p_value` is that of the triangle statistic with ties counted in equal parts, `kind` the
    result in words; `collapsed` (all candidates are one text) does not depend on these numbers. Where that statistic
    was not measured or could not be significant, other metrics of the item tell whether it differs, and `p_value` is
    theirs.
    """

    kind: str
    spread: float
    place: float
    p_value: float

    def __post_init__(self) -> None:
        for name in ("spread", "place", "p_value"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


UNTESTED = Miss("untested", math.nan, math.nan, math.nan)
# Candidates are off target when the closer side is at most three times as close as the other: |spread| <= place / 2.
_OFF_TARGET = 0.5
# What is summed over items in addition to the metrics.
CONTRASTS = ("spread", "candidates", "references")


@dataclass(frozen=True, eq=False)
class Contrasts:
    """One item under each labelling: closeness of candidates and of references, and the triangle statistic.

    Tied triangles count in equal parts for each side. (Counted for every rank, as the paper has it, the ties
    of a text that is repeated make most other labellings look worse than the observed one.)
    """

    candidates: F64
    references: F64
    statistic: F64

    @classmethod
    def of(cls, pool: ItemPool, labels: Labels, *, distance: str) -> "Contrasts":
        """The first labelling is the observed one."""
        found = shares(pool, labels, distance=distance, variant="split")
        closeness = found[:, :, 0] - found[:, :, 2]
        return cls(closeness[:, 1], closeness[:, 0], np.abs(found - 1 / 3).sum(axis=(1, 2)))

    def values(self) -> dict[str, F64]:
        """What is tallied over items, by name; `spread` is the closeness of candidates less that of references."""
        differences = self.candidates - self.references
        return dict(zip(CONTRASTS, (differences, self.candidates, self.references), strict=True))


def miss_of(found: Contrasts, *, exact: bool, level: float) -> Miss:
    """Spread and place beyond chance, and the kind if the item's test is significant.

    If not even the most extreme labelling would be significant, nothing is tested: with 3 and 2 texts there are 10
    labellings, and no p-value is below 0.1.
    """
    statistic = found.statistic
    if not np.isfinite(statistic).all():
        return UNTESTED
    gaps = [float(side[0] - side.mean()) for side in (found.candidates, found.references)]
    spread, place = gaps[0] - gaps[1], gaps[0] + gaps[1]
    p = p_value(float(statistic[0]), statistic if exact else statistic[1:], exact=exact)
    if not is_significant(p_value(float(statistic.max()), statistic, exact=True), level):
        return Miss("untested", spread, place, p)
    return Miss(kind_of(spread, place) if is_significant(p, level) else "same", spread, place, p)


def miss_by_p_values(tests: Sequence[tuple[float, float]], *, level: float) -> Miss:
    """Whether an item differs by other tests than that of triangles, which do not show how.

    Each test is its p-value and the smallest one that it could have. Both are corrected for the number of tests.
    """
    if not tests:
        return UNTESTED
    found, smallest = (min(1.0, len(tests) * min(each)) for each in zip(*tests, strict=True))
    if not is_significant(smallest, level):
        return Miss("untested", math.nan, math.nan, found)
    return Miss("differs" if is_significant(found, level) else "same", math.nan, math.nan, found)


def kind_of(spread: float, place: float) -> str:
    """The kind of difference, for candidates that differ.

    >>> kind_of(1.0, 0.2), kind_of(-1.0, 0.2), kind_of(0.1, 1.2), kind_of(0.1, -1.2)
    ('too narrow', 'too wide', 'elsewhere', 'too close')
    """
    if abs(spread) <= _OFF_TARGET * abs(place):
        return "elsewhere" if place > 0 else "too close"
    return "too narrow" if spread > 0 else "too wide"


# One answer is not named where exchanged texts would give it more often than this.
BY_EXCHANGE = 0.2


def is_one_answer(candidates: Sequence[str], references: Sequence[str]) -> bool:
    """Whether all candidates are one text (white space aside), which the references are not.

    This is no test: it is named however few texts there are. But it is not named where at least one in five labellings
    of the item's texts would have one text as all candidates, such as where nine of ten references are this text.

    >>> is_one_answer(["Rohan"] * 10, ["Emma", "Rohan"]), is_one_answer(["Rohan"] * 10, ["Emma", *["Rohan"] * 9])
    (True, False)
    """
    texts = [" ".join(text.split()) for text in (*candidates, *references)]
    n = len(candidates)
    if n < 2 or len(set(texts[:n])) > 1 or len(set(texts[n:])) < 2:
        return False
    repeated = sum(comb(count, n) for count in Counter(texts).values())
    return repeated / comb(len(texts), n) <= BY_EXCHANGE


# Sums over items by metric, and of what tells how candidates miss by name.
Tallies = dict[Request | str, Tally]


@dataclass(frozen=True)
class ItemPlan(Plan):
    """A plan for tests on items: up to `partitions` labellings are listed; of more, `n_resamples` are drawn."""

    partitions: int = 5_000
    asymptotic: bool = False

    def ways(self, request: Request, sizes: tuple[int, int]) -> Ways | None:
        """The labellings that a metric is tested with; None without a test."""
        if not self.n_resamples or 0 in sizes:
            return None
        return ways(*sizes, most=self.most(request), n_resamples=self.n_resamples, seed=self.seed)

    def sampled(self, sizes: tuple[int, int]) -> Ways:
        """The observed labelling and random ones, however few there are."""
        return ways(*sizes, most=0, n_resamples=self.n_resamples, seed=self.seed)

    def most(self, request: Request) -> int:
        """The most labellings that are listed for a metric."""
        limit = request.metric.most_labellings
        return self.partitions if limit is None else min(self.partitions, limit)

    @cached_property
    def most_drawn_from(self) -> int:
        """The most labellings that joint draws choose from: as many as every metric lists, asked for or not.

        One draw labels an item's texts once for all metrics, and no metric's p-value may depend on the others.
        """
        limits = [metric.most_labellings for metric in all_metrics().values()]
        return min(self.partitions, *(limit for limit in limits if limit is not None))

    def unit(self, key: str, sizes: tuple[int, int]) -> Unit:
        """An item of this size as a unit of the combined test."""
        count = comb(sum(sizes), sizes[0])
        listed = count <= self.most_drawn_from
        return Unit(key, count if listed else self.n_resamples + 1, listed)

    def rows_of(self, unit: Unit, sizes: tuple[int, int], values: F64, *, exact: bool) -> F64:
        """The values in the rows of the unit, for a metric that may have listed more labellings."""
        if unit.listed or not exact:
            return values
        return values[sampled_places(*sizes, n_resamples=self.n_resamples, seed=self.seed)]


@dataclass(frozen=True)
class Measured:
    """One system on one item: figures by request, also at the baseline's size and at other systems' sizes."""

    sizes: Mapping[Request, tuple[int, int]]
    figures: Mapping[Request, Figures]
    undefined: Mapping[Request, str]
    miss: Miss
    at_baseline_size: Mapping[Request, float] = field(default_factory=dict)
    at_sizes: Mapping[Request, Mapping[int, float]] = field(default_factory=dict)

    def cut_to(self, request: Request, other: "Measured") -> float:
        """The value on as many candidates as the system with fewer of them has."""
        return self.at_sizes.get(request, {}).get(min(self.sizes[request][0], other.sizes[request][0]), math.nan)


@dataclass(frozen=True)
class ItemMeasured:
    """One item: references against references, each system by name, and the place of the central reference.

    `tallies` has the item's share in the combined tests by system, that of references against references under None.
    """

    human: Measured
    systems: Mapping[str, Measured]
    central: int | None
    tallies: Mapping[str | None, Tallies] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Share:
    """One item's share in the combined tests of a system; nothing is added where its unit is None."""

    plan: ItemPlan
    sizes: tuple[int, int]
    unit: Unit | None
    rows: NDArray[np.int64]
    tallies: Tallies = field(default_factory=dict)

    def add(self, name: Request | str, values: F64, *, exact: bool) -> None:
        """Add the values under all labellings; `exact` when these are all there are."""
        if self.unit is not None and np.isfinite(values).all():
            in_rows = self.plan.rows_of(self.unit, self.sizes, values, exact=exact)
            self.tallies[name] = Tally(float(values[0]), in_rows[self.rows], *moments(values))


@dataclass(frozen=True, eq=False)
class _Splits:
    """An item's references, split in two: by metric the sizes of both parts, the ways to split, and the values."""

    pool: ItemPool
    sizes: Mapping[Request, tuple[int, int]]
    ways: Mapping[Request, Ways]
    values: Mapping[Request, F64]


@dataclass(frozen=True, eq=False)
class ItemWork:
    """What is measured on every item; call it with an item."""

    requests: Sequence[Request]
    systems: Sequence[str]
    pools: Pools
    plan: ItemPlan
    asymptotic_p: Callable[..., float] | None = None
    drawings: Mapping[str | None, Drawing] = field(default_factory=dict)

    def __call__(self, item: Item) -> ItemMeasured:
        present = {len(item.candidates.get(system, ())) for system in self.systems} - {0}
        splits = self._splits(item)
        systems = {system: self._system(item, system, present) for system in self.systems}
        human, tallies = self._human(item, splits)
        return ItemMeasured(
            human,
            {system: measured for system, (measured, _) in systems.items()},
            central(item.references, splits.pool),
            {None: tallies} | {system: share.tallies for system, (_, share) in systems.items()},
        )

    def _share(self, item: Item, system: str, sizes: tuple[int, int]) -> _Share:
        """An item that shares texts with others has no part of its own: its cluster has."""
        drawing = self.drawings.get(system)
        if drawing is None or item.id not in drawing.units:
            return _Share(self.plan, sizes, None, np.empty(0, dtype=np.int64))
        return _Share(self.plan, sizes, drawing.units[item.id], drawing.rows(item.id))

    def under(self, pool: ItemPool, labels: Labels) -> Iterator[tuple[Request | str, F64]]:
        """Every metric that has a number under all of these labellings, and how the candidates miss."""
        for request in self.requests:
            values = item_values(request, pool, labels)
            if np.isfinite(values).all():
                yield request, values
                if request == self._triangles and min(labels.sizes) > 1:
                    yield from Contrasts.of(pool, labels, distance=request.options["distance"]).values().items()

    @property
    def _triangles(self) -> Request | None:
        """The metric whose distance tells how candidates miss."""
        return next((request for request in self.requests if request.metric.name == "trm"), None)

    def _system(self, item: Item, system: str, present: Collection[int]) -> tuple[Measured, _Share]:
        """One system: first its values under all labellings, then the tests."""
        pool = self.pools.pool(item.candidates.get(system, ()), item.references)
        tests = {} if 0 in pool.sizes else {request: self._test(request, pool) for request in self.requests}
        share = self._share(item, system, pool.sizes)
        values, parts, seconds = {}, {}, {}
        for request, (chosen, _) in tests.items():
            started = time.perf_counter()
            values[request] = item_values(request, pool, chosen.labels if chosen else pool.observed)
            seconds[request] = time.perf_counter() - started
            parts[request] = item_parts(request, pool)
        figures = dict.fromkeys(self.requests, Figures(math.nan))
        for request, (chosen, p) in tests.items():
            started = time.perf_counter()
            found = figures_of(request, values[request], chosen)
            found = found if math.isnan(p) else replace(found, p_value=p, asymptotic=True)
            seconds[request] += time.perf_counter() - started
            figures[request] = replace(found, parts=parts[request], seconds=seconds[request])
            share.add(request, values[request], exact=chosen is not None and chosen.exact)
        defined = [request for request in self.requests if not math.isnan(figures[request].estimate)]
        measured = Measured(
            dict.fromkeys(self.requests, pool.sizes),
            figures,
            {request: why_undefined(request, pool) for request in self.requests if request not in defined},
            self._named(item, system, self._miss(pool, figures, values, share)),
            {r: self._at(r, pool, human_sizes(r, pool.sizes[1]), figures[r].estimate) for r in defined},
            {r: self._at_each(r, pool, present, figures[r].estimate) for r in defined},
        )
        return measured, share

    def _test(self, request: Request, pool: ItemPool) -> tuple[Ways | None, float]:
        """The labellings that a metric is tested with, None without a test, and the asymptotic p-value if it holds."""
        if self.asymptotic_p is not None and request.metric.name == "trm":
            p = self.asymptotic_p(pool, **request.options)
            if not math.isnan(p):
                return self.plan.sampled(pool.sizes), p
        return self.plan.ways(request, pool.sizes), math.nan

    def _named(self, item: Item, system: str, found: Miss) -> Miss:
        """One answer to everything is named first, whatever the tests of the item found."""
        is_one = is_one_answer(item.candidates.get(system, ()), item.references)
        return replace(found, kind="collapsed") if is_one else found

    def _miss(
        self, pool: ItemPool, figures: Mapping[Request, Figures], values: Mapping[Request, F64], share: _Share
    ) -> Miss:
        """How candidates miss by the triangles; whether they do by the other metrics, where triangles cannot tell."""
        found = self._miss_by_triangles(pool, figures, share)
        if found.kind != "untested":
            return found
        tested = [request for request, each in figures.items() if not math.isnan(each.p_value)]
        tests = [(figures[request].p_value, smallest_row_p(request, values[request])) for request in tested]
        other = miss_by_p_values(tests, level=self.plan.level)
        return found if other.kind == "untested" else replace(found, kind=other.kind, p_value=other.p_value)

    def _miss_by_triangles(self, pool: ItemPool, figures: Mapping[Request, Figures], share: _Share) -> Miss:
        request = self._triangles
        if request is None or math.isnan(figures[request].estimate) or min(pool.sizes) < 2:
            return UNTESTED
        chosen = self.plan.ways(request, pool.sizes)
        if chosen is None:
            return UNTESTED
        found = Contrasts.of(pool, chosen.labels, distance=request.options["distance"])
        for name, values in found.values().items():
            share.add(name, values, exact=chosen.exact)
        return miss_of(found, exact=chosen.exact, level=self.plan.level)

    def _at_each(self, request: Request, pool: ItemPool, present: Collection[int], whole: float) -> dict[int, float]:
        """The value at each number of candidates that some system has here, and this one can be cut to."""
        n, m = pool.sizes
        return {size: self._at(request, pool, (size, m), whole) for size in present if size <= n}

    def _at(self, request: Request, pool: ItemPool, sizes: tuple[int, int], whole: float) -> float:
        """The mean over parts of this size; `whole` is the value of all texts."""
        if sizes == pool.sizes:
            return whole
        if any(part > size for part, size in zip(sizes, pool.sizes, strict=True)) or 0 in sizes:
            return math.nan
        return mean_over(request, pool, parts(pool.sizes, sizes, seed=self.plan.seed))

    def _splits(self, item: Item) -> _Splits:
        """The references split in two in every way that is tested, each metric's values included."""
        plan = self.plan if self.plan.n_resamples else ItemPlan(seed=self.plan.seed)
        sizes = {request: human_sizes(request, len(item.references)) for request in self.requests}
        tests = {request: plan.ways(request, sizes[request]) for request in self.requests}
        ways = {request: chosen for request, chosen in tests.items() if chosen is not None}
        pool = self.pools.pool((), item.references)
        pools = {request: replace(pool, sizes=sizes[request]) for request in self.requests}
        values = {request: item_values(request, pools[request], chosen.labels) for request, chosen in ways.items()}
        return _Splits(pool, sizes, ways, values)

    def _human(self, item: Item, splits: _Splits) -> tuple[Measured, Tallies]:
        n = len(item.references)
        tallies: Tallies = {}
        figures = dict.fromkeys(self.requests, Figures(math.nan))
        for request, chosen in splits.ways.items():
            sizes, values = splits.sizes[request], splits.values[request]
            # One split at random plays candidates and references; the first one follows the order of the texts.
            row = int(stream(self.plan.seed, "human", item.id, *sizes).integers(len(values)))
            found = figures_of_splits(request, values, chosen, row=row)
            figures[request] = found if self.plan.n_resamples else Figures(found.estimate)
            drawing = self.drawings.get(None) if self.plan.n_resamples else None
            if drawing is not None and item.id in drawing.units and not math.isnan(found.estimate):
                rng = stream(self.plan.seed, "human draws", item.id, *sizes)
                tallies[request] = Tally.of(values, rng.integers(len(values), size=drawing.n), observed=row)
        few = f"{n} reference{'s'[: n != 1]}: too few to compare them with each other"
        missing = {r: sizes for r, sizes in splits.sizes.items() if math.isnan(figures[r].estimate)}
        reasons = {
            request: few if 0 in sizes else why_undefined(request, replace(splits.pool, sizes=sizes))
            for request, sizes in missing.items()
        }
        return Measured(splits.sizes, figures, reasons, UNTESTED), tallies


def human_sizes(request: Request | None, references: int) -> tuple[int, int]:
    """How many references play the candidates and how many the references; (0, 0) where there are too few.

    A metric that a single candidate has compares each reference with all others.

    >>> human_sizes(None, 5), human_sizes(None, 3)
    ((2, 3), (0, 0))
    """
    if request is not None and request.minimum == 1:
        return (1, references - 1) if references > 1 else (0, 0)
    return (references // 2, references - references // 2) if references > 3 else (0, 0)


def why_undefined(request: Request, pool: ItemPool) -> str:
    """The reason why an item has no number."""
    candidates, references = pool.sizes
    if not candidates or not references:
        return "no candidates" if not candidates else "no references"
    distance = request.options.get("distance", "")
    if distance in pool.undefined:
        return pool.undefined[distance]
    scores = pool.scores.get(distance)
    if scores is not None and np.isnan(scores).any():
        return f"distance {request.options['distance']!r} is not a number for some of its texts"
    counted = f"{candidates} candidate{'s'[: candidates != 1]} and {references} reference{'s'[: references != 1]}"
    if request.metric.name == "trm" and candidates + references > MOST_TEXTS:
        return f"{counted}: triangles are counted in items of at most {MOST_TEXTS} texts"
    return f"{counted}: {request.metric.undefined}"
