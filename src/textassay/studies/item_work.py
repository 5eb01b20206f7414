"""The work on one item: every system and the human row, all metrics."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np

from textassay.corpus.items import Item
from textassay.inference.item_figures import Figures, mean_over, measure_item, measure_splits
from textassay.inference.labellings import Ways, parts, ways
from textassay.inference.request import Request
from textassay.inference.streams import stream
from textassay.studies.conditioned import Miss
from textassay.studies.item_pools import Pools, central
from textassay.studies.misses import UNTESTED, Contrasts, contrasts, miss_of
from textassay.views.item_pool import ItemPool


@dataclass(frozen=True)
class ItemPlan:
    """How sure to be of an item, and how: up to `partitions` labellings are listed, of more `n_resamples` are drawn."""

    level: float = 0.95
    n_resamples: int = 999
    partitions: int = 200_000
    seed: int = 0
    asymptotic: bool = False

    def ways(self, request: Request, sizes: tuple[int, int]) -> Ways | None:
        """The labellings that a metric is tested with; None without a test."""
        if not self.n_resamples or 0 in sizes:
            return None
        return ways(*sizes, most=self.most(request), n_resamples=self.n_resamples, seed=self.seed)

    def most(self, request: Request) -> int:
        """The most labellings that are listed for a metric."""
        limit = request.metric.most_labellings
        return self.partitions if limit is None else min(self.partitions, limit)

    def count_ways(self, request: Request, sizes: tuple[int, int]) -> int:
        """How many labellings a p-value of this size rests on: none is smaller than one over it."""
        listed = comb(sum(sizes), sizes[0])
        return listed if listed <= self.most(request) else self.n_resamples + 1


@dataclass(frozen=True)
class Measured:
    """One system on one item: figures by request, also at the human row's size and at other systems' sizes."""

    sizes: Mapping[Request, tuple[int, int]]
    figures: Mapping[Request, Figures]
    undefined: Mapping[Request, str]
    miss: Miss
    contrasts: Contrasts | None = None
    at_human_size: Mapping[Request, float] = field(default_factory=dict)
    at_sizes: Mapping[Request, Mapping[int, float]] = field(default_factory=dict)

    @property
    def triangles(self) -> list[Figures]:
        """The figures of triangle statistics."""
        return [figures for request, figures in self.figures.items() if request.metric.name == "trm"]

    def cut_to(self, request: Request, other: "Measured") -> float:
        """The value on as many candidates as the system with fewer of them has."""
        return self.at_sizes.get(request, {}).get(min(self.sizes[request][0], other.sizes[request][0]), math.nan)


@dataclass(frozen=True)
class ItemMeasured:
    """One item: the human row, each system by name, and the place of the central reference."""

    human: Measured
    systems: Mapping[str, Measured]
    central: int | None


@dataclass(frozen=True, eq=False)
class ItemWork:
    """What is measured on every item; call it with an item."""

    requests: Sequence[Request]
    systems: Sequence[str]
    pools: Pools
    plan: ItemPlan
    asymptotic_p: Callable[..., float] | None = None

    def __call__(self, item: Item) -> ItemMeasured:
        pools = {system: self.pools.system(item, system) for system in self.systems}
        present = {pool.sizes[0] for pool in pools.values()} - {0}
        references = self.pools.references(item)
        return ItemMeasured(
            self._human(item, references),
            {system: self._system(pool, present) for system, pool in pools.items()},
            central(item.references, references),
        )

    def _system(self, pool: ItemPool, present: Collection[int]) -> Measured:
        figures = {request: self._figures(request, pool) for request in self.requests}
        defined = [request for request in self.requests if not math.isnan(figures[request].estimate)]
        found, miss = self._miss(pool, figures)
        return Measured(
            dict.fromkeys(self.requests, pool.sizes),
            figures,
            {request: why_undefined(request, pool) for request in self.requests if request not in defined},
            miss,
            found,
            {r: self._at(r, pool, human_sizes(r, pool.sizes[1]), figures[r].estimate) for r in defined},
            {r: self._at_each(r, pool, present, figures[r].estimate) for r in defined},
        )

    def _figures(self, request: Request, pool: ItemPool) -> Figures:
        if 0 in pool.sizes:
            return Figures(math.nan)
        if self.asymptotic_p is not None and request.metric.name == "trm":
            p = self.asymptotic_p(pool, **request.options)
            if not math.isnan(p):
                return Figures(measure_item(request, pool, None).estimate, p)
        return measure_item(request, pool, self.plan.ways(request, pool.sizes))

    def _miss(self, pool: ItemPool, figures: Mapping[Request, Figures]) -> tuple[Contrasts | None, Miss]:
        request = next((request for request in self.requests if request.metric.name == "trm"), None)
        if request is None or math.isnan(figures[request].estimate) or min(pool.sizes) < 2:
            return None, UNTESTED
        chosen = self.plan.ways(request, pool.sizes)
        if chosen is None:
            return None, UNTESTED
        found = contrasts(pool, chosen, distance=request.options["distance"])
        return found, miss_of(found, level=self.plan.level)

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

    def _human(self, item: Item, references: ItemPool) -> Measured:
        sizes = {request: human_sizes(request, len(references)) for request in self.requests}
        figures = {request: self._split(request, item, references) for request in self.requests}
        missing = [request for request in self.requests if math.isnan(figures[request].estimate)]
        n = len(references)
        few = f"{n} reference{'s'[: n != 1]}: too few to compare them with each other"
        reasons = {
            request: few if 0 in sizes[request] else why_undefined(request, replace(references, sizes=sizes[request]))
            for request in missing
        }
        return Measured(sizes, figures, reasons, UNTESTED)

    def _split(self, request: Request, item: Item, references: ItemPool) -> Figures:
        sizes = human_sizes(request, len(references))
        if 0 in sizes:
            return Figures(math.nan)
        plan = self.plan if self.plan.n_resamples else ItemPlan(seed=self.plan.seed)
        chosen = plan.ways(request, sizes)
        assert chosen is not None
        # One split at random plays candidates and references: in the order of the texts, the first would be no chance.
        row = int(stream(self.plan.seed, "human", item.id, *sizes).integers(len(chosen.labels)))
        found = measure_splits(request, replace(references, sizes=sizes), chosen, row=row)
        return found if self.plan.n_resamples else Figures(found.estimate)


def human_sizes(request: Request | None, references: int) -> tuple[int, int]:
    """How many references play the candidates and how many the references; (0, 0) where there are too few.

    A metric that a single candidate has compares each reference with all others.

    >>> human_sizes(None, 5), human_sizes(None, 3)
    ((2, 3), (0, 0))
    """
    if request is not None and request.metric.minimum_for(request.options) == 1:
        return (1, references - 1) if references > 1 else (0, 0)
    return (references // 2, references - references // 2) if references > 3 else (0, 0)


def why_undefined(request: Request, pool: ItemPool) -> str:
    """The reason why an item has no number."""
    candidates, references = pool.sizes
    if not candidates or not references:
        return "no candidates" if not candidates else "no references"
    scores = pool.scores.get(request.options.get("distance", ""))
    if scores is not None and np.isnan(scores).any():
        return f"distance {request.options['distance']!r} is not a number for some of its texts"
    counted = f"{candidates} candidate{'s'[: candidates != 1]} and {references} reference{'s'[: references != 1]}"
    return f"{counted}: {request.metric.undefined}"
