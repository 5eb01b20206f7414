"""Sensitivity: how small the combined p-value gets with more candidates or references, and how many a power needs.

Curves are drawn from items that share no texts, so that items resampled from them are independent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.sample import stream
from textassay.engines.base import Engine
from textassay.inference.items.item_work import ItemPlan
from textassay.inference.items.joint_labellings import towards_worse
from textassay.inference.items.labellings import measure_item
from textassay.inference.p_values import is_significant, p_value
from textassay.inference.plan import Progress
from textassay.metrics.items.item_pool import ItemPool, Pools
from textassay.metrics.registry import Request
from textassay.studies.conditional.result import CurvePoint, Sensitivity

# A curve tests every item at a dozen sizes, so it looks at some items only; at fewer where a test takes long.
MOST_ITEMS, MOST_ITEMS_SLOW = 200, 40
# Power is the share over this many sets of resampled items.
_SETS = 200
_MOST_STEPS = 12
# Joint labellings that each of these sets is compared with.
_DRAWS = 999

Sizes = tuple[int, int]


def sensitivity_of(
    items: ItemSet,
    system: str,
    requests: Sequence[Request],
    pools: Pools,
    plan: ItemPlan,
    *,
    power: float,
    engine: Engine,
    progress: Progress,
) -> Sensitivity:
    """The curves of one system, over items with as many candidates and references as most items have at least.

    Smaller sets are parts of larger ones, in an order that is drawn once for each item.
    """
    requests = [request for request in requests if request.metric.test is not None] if plan.n_resamples else []
    largest = _largest(items.items, system)
    whole = [item for item in items.items if _fits(item, system, largest)]
    grid = _grid(largest)
    some = _evenly(whole, MOST_ITEMS)
    slow = {item.id for item in _evenly(some, MOST_ITEMS_SLOW)}
    progress.start(f"sensitivity of {system}", len(some))
    curve = _Curve(system, requests, grid, slow, pools, plan, progress)
    found = engine.map(curve.item, some)
    points = [
        _point(request, sizes, [each[request, sizes] for each in found if (request, sizes) in each], plan)
        for request in requests
        for sizes in grid
    ]
    points = [point for point in points if point.items]
    needed = {
        label: _needed([point for point in points if point.label == label], largest, power)
        for label in (request.label for request in requests)
    }
    return Sensitivity(system, plan.level, power, tuple(points), needed)


def _evenly(items: Sequence[Item], most: int) -> Sequence[Item]:
    return [items[index * len(items) // most] for index in range(most)] if len(items) > most else items


def _largest(items: Sequence[Item], system: str) -> Sizes:
    """The largest numbers of candidates and references that at least half of the items reach."""
    counts = [(len(item.candidates.get(system, ())), len(item.references)) for item in items]
    known = [sizes for sizes in counts if 0 not in sizes]
    if not known:
        return 0, 0
    middle = (len(known) - 1) // 2
    return sorted(size[0] for size in known)[middle], sorted(size[1] for size in known)[middle]


def _fits(item: Item, system: str, sizes: Sizes) -> bool:
    return len(item.candidates.get(system, ())) >= sizes[0] > 0 and len(item.references) >= sizes[1] > 0


def _grid(largest: Sizes) -> list[Sizes]:
    """Every number of candidates at all references, and every number of references at all candidates."""
    candidates, references = largest
    across = [(k, references) for k in _steps(1, candidates)] + [(candidates, m) for m in _steps(2, references)]
    return list(dict.fromkeys(across))


def _steps(first: int, last: int) -> list[int]:
    """From first to last, at most a dozen, denser at the small end."""
    if last - first < _MOST_STEPS:
        return list(range(first, last + 1))
    return sorted({round(x) for x in np.geomspace(first, last, _MOST_STEPS)})


@dataclass(frozen=True, eq=False)
class Tested:
    """One item: its p-value, and its statistic as observed and under drawn labellings.

    More is more extreme; of a metric that is tested both ways, more of either sign.
    """

    p_value: float
    observed: float
    drawn: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Curve:
    system: str
    requests: Sequence[Request]
    grid: Sequence[Sizes]
    slow: Collection[str]
    pools: Pools
    plan: ItemPlan
    progress: Progress

    def item(self, item: Item) -> dict[tuple[Request, Sizes], Tested]:
        """The test of every metric at every size; of metrics that take long, on some items only."""
        mine = [r for r in self.requests if r.metric.most_labellings is None or item.id in self.slow]
        found = {}
        for sizes in self.grid:
            pool = self._pool(item, sizes)
            for request in mine:
                found[request, sizes] = self._tested(request, pool, item)
        self.progress.step(1)
        return found

    def _tested(self, request: Request, pool: ItemPool, item: Item) -> Tested:
        figures, values = measure_item(request, pool, self.plan.labellings(request, pool.sizes))
        rows = stream(self.plan.seed, "curve", item.id, *pool.sizes).integers(len(values), size=_DRAWS)
        turned = {"higher": values, "lower": -values, "both": values - figures.chance}
        extremes = turned[towards_worse(request.metric.better)]
        return Tested(figures.p_value, float(extremes[0]), extremes[rows])

    def _pool(self, item: Item, sizes: Sizes) -> ItemPool:
        sides = {"candidates": item.candidates[self.system], "references": item.references}
        chosen = [
            [texts[at] for at in stream(self.plan.seed, "nested", name, item.id).permutation(len(texts))[:size]]
            for (name, texts), size in zip(sides.items(), sizes, strict=True)
        ]
        return self.pools.pool(*chosen)


def _point(request: Request, sizes: Sizes, found: Sequence[Tested], plan: ItemPlan) -> CurvePoint:
    known = [each for each in found if not np.isnan(each.p_value)]
    if not known:
        return CurvePoint(request.label, *sizes, 0, np.nan, np.nan, np.nan)
    observed = np.array([each.observed for each in known])
    drawn = np.stack([each.drawn for each in known])
    two_sided = towards_worse(request.metric.better) == "both"
    return CurvePoint(
        request.label,
        *sizes,
        len(known),
        _p_of_sum(float(observed.sum()), drawn.sum(axis=0), two_sided=two_sided),
        power_of(observed, drawn, level=plan.level, seed=plan.seed, two_sided=two_sided),
        float(np.mean([is_significant(each.p_value, plan.level) for each in known])),
    )


def _p_of_sum(observed: float, drawn: NDArray[np.float64], *, two_sided: bool) -> float:
    return p_value(abs(observed), np.abs(drawn), exact=False) if two_sided else p_value(observed, drawn, exact=False)


def power_of(
    observed: NDArray[np.float64], drawn: NDArray[np.float64], *, level: float, seed: int, two_sided: bool = False
) -> float:
    """The share of sets of as many items, drawn from these with replacement, whose combined test is significant.

    An item that is in a set twice represents two items, so its second copy has other draws than the first.
    """
    n = len(observed)
    chosen = stream(seed, "power", n).integers(n, size=(_SETS, n))
    copies = np.stack([np.bincount(places, minlength=n) for places in chosen])
    sums = np.zeros((_SETS, drawn.shape[1]))
    for copy in range(int(copies.max())):
        shifted = np.roll(drawn, copy * (drawn.shape[1] // 7 + 1), axis=1)
        sums += (copies > copy).astype(np.float64) @ shifted
    totals = copies @ observed
    found = [_p_of_sum(float(total), row, two_sided=two_sided) for total, row in zip(totals, sums, strict=True)]
    return float(np.mean([is_significant(p, level) for p in found]))


def _needed(points: Sequence[CurvePoint], largest: Sizes, power: float) -> Mapping[str, int | None]:
    by_candidates = [(point.candidates, point.power) for point in points if point.references == largest[1]]
    by_references = [(point.references, point.power) for point in points if point.candidates == largest[0]]
    return {"candidates": _fewest(by_candidates, power), "references": _fewest(by_references, power)}


def _fewest(curve: Iterable[tuple[int, float]], power: float) -> int | None:
    """The fewest from which on the power is reached and stays so: a single lucky point is not enough."""
    found: int | None = None
    for size, reached in sorted(curve, reverse=True):
        if reached < power:
            break
        found = size
    return found
