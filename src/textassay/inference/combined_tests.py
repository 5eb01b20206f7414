"""The combined tests over items: labels exchanged within all items at once, and items that share texts.

Items are taken to be independent of each other. A file that has one line per candidate breaks that: the same references
come again and again, and what is odd about them counts as often. Such items are found by their texts and form a
cluster. If candidates and references have one source, all texts of a cluster have, because its items share texts. So a
labelling of a cluster assigns all its texts again to all its places: a shared text has one place, and the text that is
assigned to it has that place in every item that shares it.

Only texts that hardly meet by chance count as shared: people give the answer "yes" to many questions, and a captioner
writes one sentence for many pictures. Nor does a stock reply count: a text that some item has twice on one side, or
that is a reference and a candidate, is written again and again, not shared. (Dealing such texts as one would break the
test: with three stock replies in half of all texts 14 % of null sets were rejected.) Two items are linked if

- they share two or more different references of at least 20 characters, and these are at least half of the
  references that either of them has, or
- they have the same candidates of a system, at least two different ones of 20 characters, or
- they have the same prompt, and the same references or candidates.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.sample import stream
from textassay.engines.base import Engine
from textassay.inference.item_figures import (
    DRAWS,
    Combined,
    CombinedTest,
    Drawing,
    Overall,
    Tally,
    Unit,
    plan_drawing,
    summed,
    towards_worse,
)
from textassay.inference.over_items import Clusters
from textassay.inference.p_values import holm, step_down
from textassay.inference.per_item import CONTRASTS, ItemMeasured, ItemPlan, ItemWork, Tallies
from textassay.inference.plan import Progress, enough_resamples
from textassay.metrics.items.item_pool import Labels
from textassay.metrics.registry import Request

# A shorter text is written twice by chance.
_LONG = 20
# Each item is compared with this many others that share a text, which links chains of any length.
_NEIGHBOURS = 50
# A cluster's labellings are measured on at most this many texts, or twice those of its largest item.
MOST_TEXTS, _LARGEST = 40, 300
# Items are processed in this many blocks, whatever the number of workers, and each block is summed in order: the sums
# are then the same to the last digit, and no item's draws are kept.
_BLOCKS = 16


@dataclass(frozen=True, eq=False)
class Tests:
    """What the combined tests of each system draw, and under None those of references against references.

    `groups` has the places of items that share texts. `joint` has the items of each such cluster that are tested, by
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
    left_out = {place for group in groups for place in group[1:]}
    kept = [item.id for place, item in enumerate(items.items) if place not in left_out]
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
            _combined_tests(sums[system], adjusted.get(system, {})), len(drawing.units), _overall(sums[system])
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


def _overall(tallies: Mapping[Request | str, Tally]) -> Overall | None:
    """From the joint labellings of all items; None where no item has triangles of both sides."""
    if any(name not in tallies for name in CONTRASTS):
        return None
    spread, candidates, references = (tallies[name] for name in CONTRASTS)
    # Both sides must be closer, so the larger of the two p-values counts.
    apart = max(candidates.p_value("higher"), references.p_value("higher"))
    close = max(candidates.p_value("lower"), references.p_value("lower"))
    gaps = [(tally.observed - tally.chance) / tally.items for tally in (candidates, references)]
    return Overall(gaps[0] - gaps[1], gaps[0] + gaps[1], *holm([spread.p_value("both"), apart, close]))


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
    factors = {system: len(order) - place for place, system in enumerate(order)}
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


@dataclass(frozen=True, eq=False)
class Places:
    """The texts of a cluster, and which of them are each item's candidates and references."""

    texts: tuple[str, ...]
    candidates: tuple[I64, ...]
    references: tuple[I64, ...]

    def dealt(self, draws: int, *, seed: int, key: str) -> I64:
        """One row per labelling: the text that each place has. The first row is observed."""
        n = len(self.texts)
        rows = np.tile(np.arange(n), (draws + 1, 1))
        rows[1:] = stream(seed, "cluster", key).permuted(rows[1:], axis=1)
        return rows


def clusters(items: Sequence[Item], systems: Iterable[str] = ()) -> list[list[int]]:
    """Places of items that are linked to others, one list per cluster, in order.

    >>> long = tuple(f"the same long reference {number}" for number in range(3))
    >>> clusters([Item("a", long, {}), Item("b", ("another",), {}), Item("c", long[1:], {})])
    [[0, 2]]
    """
    parent = list(range(len(items)))
    stock = _stock(items)
    links = [*_by_references(items, stock), *_by_candidates(items, systems, stock), *_by_prompt(items, systems)]
    for one, other in links:
        parent[_root(parent, one)] = _root(parent, other)
    found: dict[int, list[int]] = defaultdict(list)
    for place in range(len(items)):
        found[_root(parent, place)].append(place)
    return sorted(places for places in found.values() if len(places) > 1)


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _by_references(items: Sequence[Item], stock: Collection[str]) -> Iterator[tuple[int, int]]:
    kept = [_long(item.references) for item in items]
    users: dict[str, list[int]] = defaultdict(list)
    for place, texts in enumerate(kept):
        for text in texts:
            users[text].append(place)
    near = {
        (one, other)
        for places in users.values()
        for at, other in enumerate(places)
        for one in places[max(0, at - _NEIGHBOURS) : at]
    }
    for one, other in sorted(near):
        shared = kept[one] & kept[other]
        fewer = min(len(set(items[one].references)), len(set(items[other].references)))
        if 2 * len(shared) >= fewer and _is_telling(shared, stock):
            yield one, other


def _stock(items: Sequence[Item]) -> set[str]:
    """Texts that are written again and again: twice on one side of an item, or on both sides of any items."""
    sides = [texts for item in items for texts in (item.references, *item.candidates.values())]
    repeated = {text for texts in sides for text, count in Counter(texts).items() if count > 1}
    written = {text for item in items for texts in item.candidates.values() for text in texts}
    return repeated | written.intersection(text for item in items for text in item.references)


def _long(texts: Iterable[str]) -> set[str]:
    return {text for text in texts if len(text) >= _LONG}


def _is_telling(shared: Collection[str], stock: Collection[str]) -> bool:
    """Whether texts tell that items have one origin: two or more, and not mostly stock replies."""
    replies = sum(text in stock for text in shared)
    return len(shared) >= 2 and 2 * replies <= len(shared)


def _by_candidates(items: Sequence[Item], systems: Iterable[str], stock: Collection[str]) -> Iterator[tuple[int, int]]:
    for system in systems:
        written = [tuple(sorted(item.candidates.get(system, ()))) for item in items]
        yield from _equal({place: texts for place, texts in enumerate(written) if _is_telling(_long(texts), stock)})


def _by_prompt(items: Sequence[Item], systems: Iterable[str]) -> Iterator[tuple[int, int]]:
    asked = {place: item for place, item in enumerate(items) if item.prompt}
    yield from _equal({p: (i.prompt or "", *sorted(i.references)) for p, i in asked.items() if i.references})
    for system in systems:
        yield from _equal(
            {p: (i.prompt or "", *sorted(i.candidates[system])) for p, i in asked.items() if i.candidates.get(system)}
        )


def _equal(texts: Mapping[int, tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    first: dict[tuple[str, ...], int] = {}
    for place, key in texts.items():
        if (earlier := first.setdefault(key, place)) != place:
            yield earlier, place


def places_of(items: Sequence[Item], system: str) -> Places:
    """Where the texts of linked items go: a shared reference has one place, and so have candidates of equal lists."""
    texts: list[str] = []
    seats: dict[tuple[str, int], int] = {}
    blocks: dict[tuple[str, ...], I64] = {}
    references, candidates = [], []
    for item in items:
        mine = []
        for text, copy in _numbered(item.references):
            if (text, copy) not in seats:
                seats[text, copy] = len(texts)
                texts.append(text)
            mine.append(seats[text, copy])
        references.append(np.array(mine, dtype=np.int64))
        written = tuple(sorted(item.candidates.get(system, ())))
        if written not in blocks:
            blocks[written] = np.arange(len(texts), len(texts) + len(written))
            texts += written
        candidates.append(blocks[written])
    return Places(tuple(texts), tuple(candidates), tuple(references))


def _numbered(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Every text with the number of its copies before it."""
    seen: dict[str, int] = defaultdict(int)
    for text in texts:
        yield text, seen[text]
        seen[text] += 1


def cut(items: Sequence[Item], system: str, *, seed: int) -> list[Item]:
    """As many items of a cluster, drawn at random, as have few enough texts together; at least one.

    A cluster of one is a valid unit, so leaving items out costs power and nothing else.
    """
    largest = max(len(item.references) + len(item.candidates.get(system, ())) for item in items)
    most = min(max(MOST_TEXTS, 2 * largest), _LARGEST)
    if len(places_of(items, system).texts) <= most:
        return list(items)
    order = stream(seed, "cut cluster", items[0].id).permutation(len(items))
    kept: list[Item] = []
    for place in order:
        if not kept or len(places_of([*kept, items[place]], system).texts) <= most:
            kept.append(items[place])
        if len(kept) > 2 * most:
            break
    return kept
