"""The work on one item: all metrics on every system, and how candidates miss their references (`misses.py`).

The same metrics are measured on references against references, where a part of the item's references, which people
wrote, takes the role of candidates. This is the baseline of all systems (`human`).
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import Item
from textassay.corpus.sample import stream
from textassay.inference.items.joint_labellings import Drawing, Tallies, Tally, Unit
from textassay.inference.items.labellings import (
    Figures,
    Labellings,
    figures_of,
    figures_of_splits,
    labellings_of,
    mean_over,
    moments,
    parts,
    sampled_indices,
    smallest_row_p,
)
from textassay.inference.items.misses import UNTESTED, Contrasts, Miss, is_one_answer, miss_by_p_values, miss_of
from textassay.inference.plan import Plan
from textassay.metrics.items.item_pool import ItemPool, Labels, Pools, item_parts, item_values, scattered
from textassay.metrics.items.trm import MOST_TEXTS
from textassay.metrics.registry import Request, all_metrics


def central(references: Sequence[str], pool: ItemPool) -> int | None:
    """The index of the reference with the least mean distance from all others, by the first distance there is.

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
class ItemPlan(Plan):
    """A plan for tests on items: up to `partitions` labellings are listed; of more, `n_resamples` are drawn."""

    partitions: int = 5_000
    asymptotic: bool = False

    def labellings(self, request: Request, sizes: tuple[int, int]) -> Labellings | None:
        """The labellings that a metric is tested with; None without a test."""
        if not self.n_resamples or 0 in sizes:
            return None
        return labellings_of(*sizes, most=self.most(request), n_resamples=self.n_resamples, seed=self.seed)

    def sampled(self, sizes: tuple[int, int]) -> Labellings:
        """The observed labelling and random ones, however few there are."""
        return labellings_of(*sizes, most=0, n_resamples=self.n_resamples, seed=self.seed)

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
        return values[sampled_indices(*sizes, n_resamples=self.n_resamples, seed=self.seed)]


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
    """One item: references against references, each system by name, and the index of the central reference.

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
    """An item's references, split in two: by metric the sizes of both parts, the labellings, and the values."""

    pool: ItemPool
    sizes: Mapping[Request, tuple[int, int]]
    labellings: Mapping[Request, Labellings]
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
        """The metric whose distance shows how candidates miss."""
        return next((request for request in self.requests if request.metric.triangles), None)

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

    def _test(self, request: Request, pool: ItemPool) -> tuple[Labellings | None, float]:
        """The labellings that a metric is tested with, None without a test, and the asymptotic p-value if it holds."""
        if self.asymptotic_p is not None and request.metric.triangles:
            p = self.asymptotic_p(pool, **request.options)
            if not math.isnan(p):
                return self.plan.sampled(pool.sizes), p
        return self.plan.labellings(request, pool.sizes), math.nan

    def _named(self, item: Item, system: str, found: Miss) -> Miss:
        """One answer to everything is named first, whatever the tests of the item found."""
        is_one = is_one_answer(item.candidates.get(system, ()), item.references)
        return replace(found, kind="collapsed") if is_one else found

    def _miss(
        self, pool: ItemPool, figures: Mapping[Request, Figures], values: Mapping[Request, F64], share: _Share
    ) -> Miss:
        """How candidates miss, by the triangles; if these cannot show it, whether they miss, by the other metrics."""
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
        chosen = self.plan.labellings(request, pool.sizes)
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
        tests = {request: plan.labellings(request, sizes[request]) for request in self.requests}
        labellings = {request: chosen for request, chosen in tests.items() if chosen is not None}
        pool = self.pools.pool((), item.references)
        pools = {request: replace(pool, sizes=sizes[request]) for request in self.requests}
        values = {
            request: item_values(request, pools[request], chosen.labels) for request, chosen in labellings.items()
        }
        return _Splits(pool, sizes, labellings, values)

    def _human(self, item: Item, splits: _Splits) -> tuple[Measured, Tallies]:
        n = len(item.references)
        tallies: Tallies = {}
        figures = dict.fromkeys(self.requests, Figures(math.nan))
        for request, chosen in splits.labellings.items():
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
    if request.metric.triangles and candidates + references > MOST_TEXTS:
        return f"{counted}: triangles are counted in items of at most {MOST_TEXTS} texts"
    return f"{counted}: {request.metric.undefined}"
