"""The combined tests over items: labels are exchanged within all items at once.

Items that share texts are one unit of the test (`shared_texts.py`).
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import Item, ItemSet
from textassay.engines.base import Engine
from textassay.inference.items.item_work import ItemMeasured, ItemPlan, ItemWork
from textassay.inference.items.joint_labellings import (
    DRAWS,
    Drawing,
    Tallies,
    Tally,
    Unit,
    plan_drawing,
    summed,
    towards_worse,
)
from textassay.inference.items.misses import CONTRASTS
from textassay.inference.items.shared_texts import Clusters, clusters, cut, places_of
from textassay.inference.p_values import holm, step_down
from textassay.inference.plan import Progress, enough_resamples
from textassay.metrics.items.item_pool import Labels
from textassay.metrics.registry import Request

# Items are processed in this many blocks, whatever the number of workers, and each block is summed in order: the sums
# are then the same to the last digit, and no item's draws are kept.
_BLOCKS = 16


@dataclass(frozen=True)
class CombinedTest:
    """The combined test of one metric: labels exchanged within all items at once.

    `z` is how many standard deviations the mean is above that of all labellings, `smallest_p` what could be found at
    best, `draws` the number of joint labellings. `adjusted_p` is the p-value corrected for all metrics and systems.
    """

    z: float
    p_value: float
    smallest_p: float
    draws: int
    adjusted_p: float = math.nan


@dataclass(frozen=True)
class MissTests:
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
    misses: MissTests | None = None


@dataclass(frozen=True, eq=False)
class Tests:
    """What the combined tests of each system draw, and under None those of references against references.

    `groups` has the indices of items that share texts. `joint` has the items of each such cluster that are tested, by
    the key of their unit.
    """

    drawings: Mapping[str | None, Drawing]
    groups: Mapping[str | None, Sequence[Sequence[int]]]
    joint: Mapping[str, Mapping[str, Sequence[Item]]]
    notes: tuple[str, ...]

    def clusters(self, count: int) -> dict[str | None, Clusters]:
        """The items that belong together, by system."""
        return {system: Clusters.of(count, groups) for system, groups in self.groups.items()}


def plan_tests(items: ItemSet, requests: Sequence[Request], plan: ItemPlan) -> Tests:
    """Find the items that share texts, and decide what is drawn."""
    systems = items.systems
    groups: dict[str | None, list[list[int]]] = {None: clusters(items.items)}
    groups |= {system: clusters(items.items, [system]) for system in systems}
    joint: dict[str, dict[str, Sequence[Item]]] = {}
    if not plan.n_resamples:
        joint = {system: {} for system in systems}
        return Tests({}, groups, joint, tuple(_notes(groups, joint)))
    units = {}
    for system in systems:
        tested = [_tested([items.items[index] for index in group], system) for group in groups[system]]
        joint[system] = {_key(some): cut(some, system, seed=plan.seed) for some in tested if some}
        apart = {index for group in groups[system] for index in group}
        alone = [item for index, item in enumerate(items.items) if index not in apart]
        units[system] = [plan.unit(item.id, _sizes(item, system)) for item in _tested(alone, system)]
        units[system] += [Unit(key, plan.n_resamples + 1, listed=False) for key in joint[system]]
    human = _human_units(items, groups[None])
    draws = enough_resamples(max(plan.n_resamples, DRAWS), len(requests) * len(systems), plan.level)
    drawings: dict[str | None, Drawing] = {None: Drawing(draws, plan.seed, human)}
    drawings |= {system: plan_drawing(units[system], draws=draws, seed=plan.seed) for system in systems}
    return Tests(drawings, groups, joint, tuple(_notes(groups, joint)))


def _notes(
    groups: Mapping[str | None, Sequence[Sequence[int]]], joint: Mapping[str, Mapping[str, Sequence[Item]]]
) -> Iterator[str]:
    """Which items share texts, and which of them had to be left out."""
    linked = {place for some in groups.values() for group in some for place in group}
    if linked:
        yield (
            f"{len(linked):,} items share references or candidates with other items: they are not independent, "
            "so their texts are exchanged together, and items are resampled by cluster"
        )
    for system, clustered in joint.items():
        all_of_them = sum(map(len, groups[system]))
        tested = sum(map(len, clustered.values()))
        if tested < all_of_them:
            yield (
                f"{system!r}: {tested:,} of {all_of_them:,} items that share texts are in the combined test: "
                "larger clusters are cut at random"
            )


def _key(items: Sequence[Item]) -> str:
    """The key of a cluster, which no item has as its id: its items are no units themselves."""
    return json.dumps([item.id for item in items])


def _tested(items: Sequence[Item], system: str) -> list[Item]:
    return [item for item in items if 0 not in _sizes(item, system)]


def _sizes(item: Item, system: str) -> tuple[int, int]:
    return len(item.candidates.get(system, ())), len(item.references)


def _human_units(items: ItemSet, groups: Sequence[Sequence[int]]) -> dict[str, Unit]:
    """One item of each cluster: the others have the same references, or most of them."""
    left_out = {index for group in groups for index in group[1:]}
    kept = [item.id for index, item in enumerate(items.items) if index not in left_out]
    return {key: Unit(key, 0, listed=False) for key in kept}


def measure_items(
    work: ItemWork, items: ItemSet, tests: Tests, *, engine: Engine, progress: Progress
) -> tuple[list[ItemMeasured], dict[str | None, Combined]]:
    """Every item measured, and the combined tests of every system and of references against references."""

    def block(some: Sequence[Item]) -> tuple[list[ItemMeasured], dict[str | None, Tallies]]:
        found = []
        sums: dict[str | None, Tallies] = {}
        for item in some:
            measured = work(item)
            found.append(replace(measured, tallies={}))
            sums = {system: _joined([sums.get(system, {}), more]) for system, more in measured.tallies.items()}
            progress.step(1)
        return found, sums

    blocks = engine.map(block, [part for part in _in_blocks(items.items) if part])
    together = [(system, key, some) for system, joint in tests.joint.items() for key, some in joint.items()]
    clustered = engine.map(lambda one: (one[0], _cluster_share(work, *one)), together)
    sums = {
        system: _joined([part[system] for _, part in blocks] + [more for name, more in clustered if name == system])
        for system in tests.drawings
    }
    adjusted = _adjusted(sums, work.requests)
    return [one for found, _ in blocks for one in found], {
        system: Combined(
            _combined_tests(sums[system], adjusted.get(system, {})), len(drawing.units), _miss_tests(sums[system])
        )
        for system, drawing in tests.drawings.items()
    }


def _cluster_share(work: ItemWork, system: str, key: str, items: Sequence[Item]) -> Tallies:
    """The share of items that have texts in common in a system's combined tests: their sum is one unit."""
    drawing = work.drawings[system]
    rows = drawing.rows(key)
    places = places_of(items, system)
    dealt = places.dealt(drawing.units[key].rows - 1, seed=work.plan.seed, key=key)
    pool = work.pools.all_references(places.texts)
    sums: dict[Request | str, tuple[F64, int]] = {}
    for candidates, references in zip(places.candidates, places.references, strict=True):
        if not len(candidates) or not len(references):
            continue
        labels = Labels(_chosen(dealt[:, candidates], len(pool)), _chosen(dealt[:, references], len(pool)))
        for name, values in work.under(pool, labels):
            before, count = sums.get(name, (np.zeros(len(values)), 0))
            sums[name] = (before + values, count + 1)
    return {name: Tally.of(values, rows, items=count) for name, (values, count) in sums.items()}


def _chosen(texts: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """For each row, which of `count` texts it names."""
    mask = np.zeros((len(texts), count), dtype=bool)
    np.put_along_axis(mask, texts, True, axis=1)
    return mask


def _combined_tests(tallies: Tallies, adjusted: Mapping[Request, float]) -> dict[Request, CombinedTest]:
    found = {}
    for request, tally in tallies.items():
        if isinstance(request, Request):
            towards = towards_worse(request.metric.better)
            p, smallest = tally.p_value(towards), tally.smallest_p(towards)
            found[request] = CombinedTest(tally.z, p, smallest, len(tally.drawn), adjusted.get(request, math.nan))
    return found


def _miss_tests(tallies: Mapping[Request | str, Tally]) -> MissTests | None:
    """From the joint labellings of all items; None where no item has triangles of both sides."""
    if any(name not in tallies for name in CONTRASTS):
        return None
    spread, candidates, references = (tallies[name] for name in CONTRASTS)
    # Both sides must be closer, so the larger of the two p-values counts.
    apart = max(candidates.p_value("higher"), references.p_value("higher"))
    close = max(candidates.p_value("lower"), references.p_value("lower"))
    gaps = [(tally.observed - tally.chance) / tally.items for tally in (candidates, references)]
    return MissTests(gaps[0] - gaps[1], gaps[0] + gaps[1], *holm([spread.p_value("both"), apart, close]))


def _in_blocks(items: Sequence[Item]) -> list[Sequence[Item]]:
    bounds = np.linspace(0, len(items), _BLOCKS + 1).astype(int)
    return [items[start:end] for start, end in pairwise(bounds)]


def _joined(parts: Sequence[Tallies]) -> Tallies:
    names = dict.fromkeys(name for part in parts for name in part)
    sums = {name: summed([part[name] for part in parts if name in part]) for name in names}
    return {name: total for name, total in sums.items() if total is not None}


def _adjusted(
    found: Mapping[str | None, Tallies], requests: Sequence[Request]
) -> dict[str | None, dict[Request, float]]:
    """Adjusted p-values: over the metrics of a system by their shared draws, then over systems by Holm's factors.

    A system's metrics all test whether its candidates and references have one source, so a system is one hypothesis:
    the smallest adjusted p-value of its metrics is that of the system, and Holm's steps go over systems.
    """
    steps = {system: _step_down(one, requests) for system, one in found.items() if system is not None}
    smallest = {system: min(p.values()) for system, p in steps.items() if p}
    corrected = dict(zip(smallest, holm(list(smallest.values())), strict=True))
    order = sorted(smallest, key=lambda system: smallest[system])
    factors = {system: len(order) - index for index, system in enumerate(order)}
    return {
        system: {request: min(1.0, max(one, p * factors[system])) for request, p in steps[system].items()}
        for system, one in corrected.items()
    }


def _step_down(found: Tallies, requests: Sequence[Request]) -> dict[Request, float]:
    tested = [request for request in requests if request in found]
    if not tested:
        return {}
    rows = [found[request].extremes(towards_worse(request.metric.better)) for request in tested]
    return dict(zip(tested, map(float, step_down(np.stack(rows))), strict=True))
