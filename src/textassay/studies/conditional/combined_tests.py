"""The combined tests of a conditional study: what is drawn for which items, summed up, and adjusted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from textassay.corpus.item_set import Item, ItemSet
from textassay.inference.engine import Engine
from textassay.inference.item_figures import DRAWS, Drawing, Unit, plan_drawing, summed, towards_worse
from textassay.inference.over_items import Clusters
from textassay.inference.p_values import holm, step_down
from textassay.inference.plan import enough_resamples
from textassay.inference.progress import Progress
from textassay.metrics.registry import Request
from textassay.studies.conditional.across_items import Combined
from textassay.studies.conditional.clusters import clusters, cut
from textassay.studies.conditional.per_item import ItemMeasured, ItemPlan, ItemWork, Tallies

# Items are processed in this many blocks, whatever the number of workers, and each block is summed in order: the sums
# are then the same to the last digit, and no item's draws are kept.
_BLOCKS = 16


@dataclass(frozen=True, eq=False)
class Tests:
    """What each system's combined tests draw, that of the human row under None.

    `groups` has the places of items that share texts. `joint` has the items of each such cluster that are tested, by
    the key of their unit.
    """

    drawings: Mapping[str | None, Drawing]
    groups: Mapping[str | None, Sequence[Sequence[int]]]
    joint: Mapping[str, Mapping[str, Sequence[Item]]]

    def clusters(self, count: int) -> dict[str | None, Clusters]:
        """The items that belong together, by system."""
        return {system: Clusters.of(count, groups) for system, groups in self.groups.items()}

    def notes(self) -> Iterable[str]:
        """Which items share texts, and which of them had to be left out."""
        linked = {place for groups in self.groups.values() for group in groups for place in group}
        if linked:
            yield (
                f"{len(linked):,} items share references or candidates with other items: they are not independent, "
                "so their texts are exchanged together, and items are resampled by cluster"
            )
        for system, joint in self.joint.items():
            all_of_them = sum(map(len, self.groups[system]))
            tested = sum(map(len, joint.values()))
            if tested < all_of_them:
                yield (
                    f"{system!r}: {tested:,} of {all_of_them:,} items that share texts are in the combined test: "
                    "larger clusters are cut at random"
                )


def plan_tests(items: ItemSet, requests: Sequence[Request], plan: ItemPlan) -> Tests:
    """Find the items that share texts, and decide what is drawn."""
    systems = items.systems
    groups: dict[str | None, list[list[int]]] = {None: clusters(items.items)}
    groups |= {system: clusters(items.items, [system]) for system in systems}
    if not plan.n_resamples:
        return Tests({}, groups, {system: {} for system in systems})
    joint, units = {}, {}
    for system in systems:
        tested = [_tested([items.items[place] for place in group], system) for group in groups[system]]
        joint[system] = {_key(some): cut(some, system, seed=plan.seed) for some in tested if some}
        apart = {place for group in groups[system] for place in group}
        alone = [item for place, item in enumerate(items.items) if place not in apart]
        units[system] = [plan.unit(item.id, _sizes(item, system)) for item in _tested(alone, system)]
        units[system] += [Unit(key, plan.n_resamples + 1, listed=False) for key in joint[system]]
    human = _human_units(items, groups[None])
    draws = enough_resamples(max(plan.n_resamples, DRAWS), len(requests) * len(systems), plan.level)
    drawings: dict[str | None, Drawing] = {None: Drawing(draws, plan.seed, human)}
    drawings |= {system: plan_drawing(units[system], draws=draws, seed=plan.seed) for system in systems}
    return Tests(drawings, groups, joint)


def _key(items: Sequence[Item]) -> str:
    """The key of a cluster, which no item has as its id: its items are no units themselves."""
    return json.dumps([item.id for item in items])


def _tested(items: Sequence[Item], system: str) -> list[Item]:
    return [item for item in items if 0 not in _sizes(item, system)]


def _sizes(item: Item, system: str) -> tuple[int, int]:
    return len(item.candidates.get(system, ())), len(item.references)


def _human_units(items: ItemSet, groups: Sequence[Sequence[int]]) -> dict[str, Unit]:
    """One item of each cluster: the others have the same references, or most of them."""
    left_out = {place for group in groups for place in group[1:]}
    kept = [item.id for place, item in enumerate(items.items) if place not in left_out]
    return {key: Unit(key, 0, listed=False) for key in kept}


def measure_all(
    work: ItemWork, items: ItemSet, tests: Tests, *, engine: Engine, progress: Progress
) -> tuple[list[ItemMeasured], dict[str | None, Combined]]:
    """Every item measured, and the combined tests of every system and of the human row."""

    def block(some: Sequence[Item]) -> tuple[list[ItemMeasured], dict[str | None, Tallies]]:
        found = []
        sums: dict[str | None, Tallies] = {}
        for item in some:
            measured = work(item)
            found.append(replace(measured, tallies={}))
            sums = {system: _joined([sums.get(system, {}), more]) for system, more in measured.tallies.items()}
            progress.step(1)
        return found, sums

    blocks = engine.map(block, [part for part in _blocks(items.items) if part])
    together = [(system, key, some) for system, joint in tests.joint.items() for key, some in joint.items()]
    clustered = engine.map(lambda one: (one[0], work.cluster(one[2], one[0], one[1])), together)
    sums = {
        system: _joined([part[system] for _, part in blocks] + [more for name, more in clustered if name == system])
        for system in tests.drawings
    }
    return [one for found, _ in blocks for one in found], {
        system: Combined(sums.get(system, {}), len(drawing.units)) for system, drawing in tests.drawings.items()
    }


def _blocks(items: Sequence[Item]) -> list[Sequence[Item]]:
    bounds = np.linspace(0, len(items), _BLOCKS + 1).astype(int)
    return [items[start:end] for start, end in pairwise(bounds)]


def _joined(parts: Sequence[Tallies]) -> Tallies:
    names = dict.fromkeys(name for part in parts for name in part)
    sums = {name: summed([part[name] for part in parts if name in part]) for name in names}
    return {name: total for name, total in sums.items() if total is not None}


def adjusted(found: Mapping[str | None, Combined], requests: Sequence[Request]) -> dict[str | None, Combined]:
    """Adjusted p-values: over the metrics of a system by their shared draws, then over systems by Holm's factors.

    A system's metrics all test whether its candidates and references have one source, so a system is one hypothesis:
    the smallest adjusted p-value of its metrics is that of the system, and Holm's steps go over systems.
    """
    steps = {system: _step_down(one, requests) for system, one in found.items() if system is not None}
    smallest = {system: min(p.values()) for system, p in steps.items() if p}
    corrected = dict(zip(smallest, holm(list(smallest.values())), strict=True))
    order = sorted(smallest, key=lambda system: smallest[system])
    factors = {system: len(order) - place for place, system in enumerate(order)}
    made = dict(found)
    for system, one in corrected.items():
        raised = {request: min(1.0, max(one, p * factors[system])) for request, p in steps[system].items()}
        made[system] = replace(found[system], adjusted=raised)
    return made


def _step_down(found: Combined, requests: Sequence[Request]) -> dict[Request, float]:
    tested = [request for request in requests if request in found.tallies]
    if not tested:
        return {}
    rows = [found.tallies[request].extremes(towards_worse(request.metric.better)) for request in tested]
    return dict(zip(tested, map(float, step_down(np.stack(rows))), strict=True))
