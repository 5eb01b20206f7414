"""The work on one item: the texts of every system and of the human row, and all metrics on them."""

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.tokenizers import Tokenizer
from textassay.distances.bleu import Bleu
from textassay.distances.choose import Distance, pooled_scores, pooled_shares
from textassay.distances.text_table import TextTable
from textassay.inference.item_figures import (
    Drawing,
    Figures,
    Tally,
    Unit,
    Ways,
    item_values,
    mean_over,
    measure_splits,
    measure_ways,
    moments,
    parts,
    sampled_places,
    ways,
)
from textassay.inference.plan import Plan
from textassay.inference.rng import stream
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.items.trm import MOST_TEXTS
from textassay.metrics.registry import Request, all_metrics
from textassay.studies.conditional.clusters import places_of
from textassay.studies.conditional.result import Miss
from textassay.studies.conditional.verdict import UNTESTED, Contrasts, miss_of


def table_of(items: ItemSet, tokenizer: Tokenizer) -> TextTable:
    """Every text of the items, numbered."""
    return TextTable.of(
        [item.references for item in items.items],
        others=(text for item in items.items for texts in item.candidates.values() for text in texts),
        tokenizer=tokenizer,
    )


@dataclass(frozen=True, eq=False)
class Pools:
    """What pools are made from: the texts, the distances, and the vectors of all texts where there is an encoder.

    `shares` adds precision and recall where a distance has them.
    """

    table: TextTable
    distances: Mapping[str, Distance]
    values: F32 | None = None
    shares: bool = False
    joint: bool = False

    def system(self, item: Item, system: str) -> ItemPool:
        """A system's candidates and the item's references."""
        return self.pool(item.candidates.get(system, ()), item.references)

    def references(self, item: Item) -> ItemPool:
        """The item's references alone, in an order of their own, none of them a candidate yet."""
        return self.all_references([item.references[place] for place in scattered(item.references)])

    def all_references(self, texts: Sequence[str]) -> ItemPool:
        """These texts in this order, none of them a candidate."""
        return self._of(texts, 0)

    def pool(self, candidates: Sequence[str], references: Sequence[str]) -> ItemPool:
        """These texts, each side in an order of its own: a sample of labellings must not depend on that in a file."""
        sides = [[texts[place] for place in scattered(texts)] for texts in (candidates, references)]
        return self._of([*sides[0], *sides[1]], len(candidates))

    def _of(self, texts: Sequence[str], candidates: int) -> ItemPool:
        numbers = np.array([self.table.number_of[text] for text in texts], dtype=np.int64)
        found = {name: pooled_scores(distance, numbers) for name, distance in self.distances.items()}
        more = [
            pair for distance in self.distances.values() if self.shares for pair in pooled_shares(distance, numbers)
        ]
        return ItemPool(
            (candidates, len(texts) - candidates),
            {name: scores for name, (scores, _) in found.items()} | dict(more),
            {name: distances for name, (_, distances) in found.items()},
            None if self.values is None else self.values[numbers],
            next((d.joint(numbers) for d in self.distances.values() if self.joint and isinstance(d, Bleu)), None),
        )


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


def scattered(texts: Sequence[str]) -> list[int]:
    """Places of the texts in an order that depends neither on the file nor on the alphabet.

    In the order of the alphabet, texts of one place in a sample of labellings would have something in common from item
    to item, and the items' p-values with it.
    """
    return sorted(range(len(texts)), key=lambda place: hashlib.blake2b(texts[place].encode(), digest_size=8).digest())


def all_texts(items: Iterable[Item], system: str | None = None) -> list[str]:
    """All references, or all candidates of a system, in order."""
    if system is None:
        return [text for item in items for text in item.references]
    return [text for item in items for text in item.candidates.get(system, ())]


# Sums over items by metric, and of what tells how candidates miss by name.
Tallies = dict[Request | str, Tally]


@dataclass(frozen=True)
class ItemPlan(Plan):
    """A plan for tests on items: up to `partitions` labellings are listed; of more, `n_resamples` are drawn."""

    partitions: int = 200_000
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
    """One system on one item: figures by request, also at the human row's size and at other systems' sizes."""

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
    """One item: the human row, each system by name, and the place of the central reference.

    `tallies` has the item's share in the combined tests by system, that of the human row under None.
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
class ItemWork:
    """What is measured on every item; call it with an item."""

    requests: Sequence[Request]
    systems: Sequence[str]
    pools: Pools
    plan: ItemPlan
    asymptotic_p: Callable[..., float] | None = None
    drawings: Mapping[str | None, Drawing] = field(default_factory=dict)

    def __call__(self, item: Item) -> ItemMeasured:
        pools = {system: self.pools.system(item, system) for system in self.systems}
        present = {pool.sizes[0] for pool in pools.values()} - {0}
        references = self.pools.references(item)
        shares = {system: self._share(item, system, pool.sizes) for system, pool in pools.items()}
        splits: Tallies = {}
        return ItemMeasured(
            self._human(item, references, splits),
            {system: self._system(pool, present, shares[system]) for system, pool in pools.items()},
            central(item.references, references),
            {None: splits} | {system: share.tallies for system, share in shares.items()},
        )

    def _share(self, item: Item, system: str, sizes: tuple[int, int]) -> _Share:
        """An item that shares texts with others has no part of its own: its cluster has."""
        drawing = self.drawings.get(system)
        if drawing is None or item.id not in drawing.units:
            return _Share(self.plan, sizes, None, np.empty(0, dtype=np.int64))
        return _Share(self.plan, sizes, drawing.units[item.id], drawing.rows(item.id))

    def cluster(self, items: Sequence[Item], system: str, key: str) -> Tallies:
        """The share of items that have texts in common in a system's combined tests: their sum is one unit."""
        drawing = self.drawings[system]
        rows = drawing.rows(key)
        places = places_of(items, system)
        dealt = places.dealt(drawing.units[key].rows - 1, seed=self.plan.seed, key=key)
        pool = self.pools.all_references(places.texts)
        sums: dict[Request | str, tuple[F64, int]] = {}
        for candidates, references in zip(places.candidates, places.references, strict=True):
            if not len(candidates) or not len(references):
                continue
            labels = Labels(_chosen(dealt[:, candidates], len(pool)), _chosen(dealt[:, references], len(pool)))
            for name, values in self._under(pool, labels):
                before, count = sums.get(name, (np.zeros(len(values)), 0))
                sums[name] = (before + values, count + 1)
        return {name: Tally.of(values, rows, items=count) for name, (values, count) in sums.items()}

    def _under(self, pool: ItemPool, labels: Labels) -> Iterator[tuple[Request | str, F64]]:
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

    def _system(self, pool: ItemPool, present: Collection[int], share: _Share) -> Measured:
        figures = {}
        for request in self.requests:
            figures[request], values, exact = self._figures(request, pool)
            share.add(request, values, exact=exact)
        defined = [request for request in self.requests if not math.isnan(figures[request].estimate)]
        return Measured(
            dict.fromkeys(self.requests, pool.sizes),
            figures,
            {request: why_undefined(request, pool) for request in self.requests if request not in defined},
            self._miss(pool, figures, share),
            {r: self._at(r, pool, human_sizes(r, pool.sizes[1]), figures[r].estimate) for r in defined},
            {r: self._at_each(r, pool, present, figures[r].estimate) for r in defined},
        )

    def _figures(self, request: Request, pool: ItemPool) -> tuple[Figures, F64, bool]:
        """The figures, the value under every labelling, and whether these are all labellings."""
        if 0 in pool.sizes:
            return Figures(math.nan), np.array([math.nan]), False
        if self.asymptotic_p is not None and request.metric.name == "trm":
            p = self.asymptotic_p(pool, **request.options)
            if not math.isnan(p):
                figures, values = measure_ways(request, pool, self.plan.sampled(pool.sizes))
                return replace(figures, p_value=p, asymptotic=True), values, False
        chosen = self.plan.ways(request, pool.sizes)
        return *measure_ways(request, pool, chosen), chosen is not None and chosen.exact

    def _miss(self, pool: ItemPool, figures: Mapping[Request, Figures], share: _Share) -> Miss:
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

    def _human(self, item: Item, references: ItemPool, tallies: Tallies) -> Measured:
        sizes = {request: human_sizes(request, len(references)) for request in self.requests}
        figures = {request: self._split(request, item, references, tallies) for request in self.requests}
        missing = [request for request in self.requests if math.isnan(figures[request].estimate)]
        n = len(references)
        few = f"{n} reference{'s'[: n != 1]}: too few to compare them with each other"
        reasons = {
            request: few if 0 in sizes[request] else why_undefined(request, replace(references, sizes=sizes[request]))
            for request in missing
        }
        return Measured(sizes, figures, reasons, UNTESTED)

    def _split(self, request: Request, item: Item, references: ItemPool, tallies: Tallies) -> Figures:
        sizes = human_sizes(request, len(references))
        if 0 in sizes:
            return Figures(math.nan)
        plan = self.plan if self.plan.n_resamples else ItemPlan(seed=self.plan.seed)
        chosen = plan.ways(request, sizes)
        assert chosen is not None
        # One split at random plays candidates and references: in the order of the texts, the first would be no chance.
        row = int(stream(self.plan.seed, "human", item.id, *sizes).integers(len(chosen.labels)))
        found, values = measure_splits(request, replace(references, sizes=sizes), chosen, row=row)
        if not self.plan.n_resamples:
            return Figures(found.estimate)
        drawing = self.drawings.get(None)
        if drawing is not None and item.id in drawing.units and not math.isnan(found.estimate):
            rng = stream(self.plan.seed, "human draws", item.id, *sizes)
            rows = rng.integers(len(values), size=drawing.n)
            tallies[request] = Tally.of(values, rows, observed=row)
        return found


def _chosen(texts: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """For each row, which of `count` texts it names."""
    mask = np.zeros((len(texts), count), dtype=bool)
    np.put_along_axis(mask, texts, True, axis=1)
    return mask


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
    scores = pool.scores.get(request.options.get("distance", ""))
    if scores is not None and np.isnan(scores).any():
        return f"distance {request.options['distance']!r} is not a number for some of its texts"
    counted = f"{candidates} candidate{'s'[: candidates != 1]} and {references} reference{'s'[: references != 1]}"
    if request.metric.name == "trm" and candidates + references > MOST_TEXTS:
        return f"{counted}: triangles are counted in items of at most {MOST_TEXTS} texts"
    return f"{counted}: {request.metric.undefined}"
