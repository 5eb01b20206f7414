"""Inference over items: the combined tests, an interval for a mean over items, and two systems on the same items.

Items are what is drawn at random here; the texts of an item stay together. Items without a value (NaN) are left out.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.sampling import stream
from textassay.inference.engine import Engine, Progress
from textassay.inference.item_clusters import clusters, cut
from textassay.inference.item_figures import DRAWS, Drawing, Tally, Unit, plan_drawing, summed, towards_worse
from textassay.inference.measure import Difference
from textassay.inference.p_values import holm, p_value, step_down
from textassay.inference.per_item import CONTRASTS, ItemMeasured, ItemPlan, ItemWork, Tallies
from textassay.inference.plan import enough_resamples
from textassay.metrics.registry import Request

Values = Sequence[float] | F64

# With fewer items no interval is given: at 10 skewed ones it covers about 91 to 95 % (of 95), below that less.
FEWEST_ITEMS = 10
# Up to this many items that differ, every way to flip their signs is looked at.
MOST_FLIPPED = 14
# Of more items this many random signs are drawn: comparisons come by the dozen, and each is corrected for all.
FLIPS = 9_999
# Values that differ by less than this share of themselves differ by rounding only.
_ROUNDING = 1e-12
# No resample is held to vary less than this share of what the items do: one that hit the same value all the time would
# make the interval endless.
_LEAST_SPREAD = 0.25
_NUMBERS_AT_ONCE = 2**20
# Items are processed in this many blocks, whatever the number of workers, and each block is summed in order: the sums
# are then the same to the last digit, and no item's draws are kept.
_BLOCKS = 16


@dataclass(frozen=True, eq=False)
class Clusters:
    """The number of each item's cluster: items that share texts have the same one, all others one of their own."""

    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, count: int, groups: Iterable[Sequence[int]] = ()) -> "Clusters":
        """The clusters of `count` items, from the places of those that belong together.

        >>> Clusters.of(4, [[1, 3]]).numbers.tolist()
        [0, 1, 2, 1]
        """
        numbers = np.arange(count)
        for group in groups:
            numbers[list(group)] = group[0]
        return cls(numbers)

    def joined(self, other: "Clusters") -> "Clusters":
        """Items that belong together in either."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = len(self.numbers)
        links = np.concatenate((self.numbers, other.numbers))
        graph = coo_array((np.ones(2 * n), (np.tile(np.arange(n), 2), links)), shape=(n, n))
        return Clusters(connected_components(graph, directed=False)[1].astype(np.int64))

    def sums(self, values: F64, known: NDArray[np.bool_]) -> F64:
        """The sum over the known values of each cluster that has any."""
        _, places = np.unique(self.numbers[known], return_inverse=True)
        return np.bincount(places, weights=values[known]).astype(np.float64)


def bootstrap_interval(
    values: Values, *, level: float, n_resamples: int, seed: int, clusters: Clusters | None = None
) -> tuple[float, float] | None:
    r"""An interval for the mean over items, by the bootstrap of Student's t over items.

    With mean m and standard error s, resamples (items drawn with replacement) have t = (m* - m) / s*, and the interval
    runs from m less the upper quantile of t times s to m less the lower one. It follows skewed values, which scores of
    items are: with 20 of them it covers (at 95 %) 94 % for exponential and 91 % for lognormal values, where percentiles
    of m* cover 90 and 84 %, and BCa intervals 90 and 86 %. What the items do not show it cannot know: where a rare
    value decides the mean and was not drawn, it covers too little, as any method does.

    Of items in `clusters`, clusters are drawn, each with the sum of its items' deviations from the mean.

    None with fewer than `FEWEST_ITEMS` items or clusters, where they are all the same, and without resamples.

    Bradley Efron, Robert J. Tibshirani. An introduction to the bootstrap, section 12.5. Chapman and Hall, 1993.

    >>> low, high = bootstrap_interval([1, 2, 2, 3, 3, 3, 4, 4, 5, 13], level=0.95, n_resamples=999, seed=0)
    >>> low < 4 < high, high - 4 > 4 - low
    (True, True)
    """
    known = _of_clusters(np.asarray(values, dtype=np.float64), clusters)
    if len(known) < FEWEST_ITEMS or n_resamples < 1 or not np.isfinite(known).all() or _are_same(known):
        return None
    # In units of the largest value, so that squares of very small ones do not vanish.
    unit = float(np.abs(known).max())
    scaled = known / unit
    mean, spread = float(scaled.mean()), float(scaled.std(ddof=1))
    students = _students((scaled - mean) / spread, n_resamples, seed)
    tail = (1 - level) / 2
    lower, upper = np.quantile(students, (tail, 1 - tail), method="weibull")
    error = spread / math.sqrt(len(known))
    low, high = mean - max(float(upper), 0.0) * error, mean - min(float(lower), 0.0) * error
    # The mean in its own units must lie within, whatever the change of units rounded.
    return min(low * unit, float(known.mean())), max(high * unit, float(known.mean()))


def _of_clusters(values: F64, clusters: Clusters | None) -> F64:
    """One value per cluster, with the mean over items and the variance that this mean has."""
    known = _known(values)
    if clusters is None or not len(known) or not np.isfinite(known).all():
        return known
    mean = float(known.mean())
    sums = clusters.sums(values - mean, ~np.isnan(values))
    return known if len(sums) == len(known) else mean + sums * len(sums) / len(known)


def paired(
    first: Values,
    second: Values,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    n_flips: int = FLIPS,
    clusters: Clusters | None = None,
) -> Difference:
    """How much higher the first system's mean is over the items that both have, its interval and p-value.

    The p-value asks how often the mean difference would be as large either way if each item's difference had its sign
    by chance: exactly for up to `MOST_FLIPPED` items that differ, else by random signs. The interval is that of
    `bootstrap_interval`. They are different methods (the p-value takes differences to be symmetric when there is none
    on average), so near the level one may call significant what the other does not.

    Items in `clusters` have their signs flipped together.

    Systems that are the same everywhere have an interval from 0 to 0 and a p-value of 1. With fewer than
    `FEWEST_ITEMS` items there is no interval, with fewer than two no p-value.

    >>> paired([0.5, 0.25, 1.0], [0.25, 0.0, 0.5], level=0.95, n_resamples=999, seed=0).p_value
    0.25
    """
    every = _differences(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
    differences = _known(every)
    if not len(differences) or not np.isfinite(differences).all():
        return Difference(math.nan, math.nan, math.nan, math.nan)
    estimate = float(differences.mean())
    found = bootstrap_interval(every, level=level, n_resamples=n_resamples, seed=seed, clusters=clusters)
    low, high = found or (math.nan, math.nan)
    if len(differences) >= FEWEST_ITEMS and _are_same(differences):
        low = high = estimate
    sums = differences if clusters is None else clusters.sums(every, ~np.isnan(every))
    return Difference(estimate, low, high, _flip_signs(sums, n_flips, seed))


def _known(values: Values) -> F64:
    array = np.asarray(values, dtype=np.float64)
    return array[~np.isnan(array)]


def _differences(first: F64, second: F64) -> F64:
    """Item by item, NaN where one has no value; what is only rounding is no difference."""
    assert first.shape == second.shape, "not the same items"
    with np.errstate(invalid="ignore"):
        return np.where(np.isclose(first, second, rtol=_ROUNDING, atol=0), 0.0, first - second)


def _are_same(values: F64) -> bool:
    return bool(np.ptp(values) <= _ROUNDING * np.abs(values).max())


def _students(scores: F64, n_resamples: int, seed: int) -> F64:
    """Student's t of resamples of standardised values."""
    n, rng = len(scores), stream(seed, "items", "bootstrap")
    students = []
    for rows in _blocks(n_resamples, n):
        drawn = scores[rng.integers(n, size=(rows, n), dtype=np.int32)]
        means = drawn.mean(axis=1)
        variances = (np.einsum("ij,ij->i", drawn, drawn) - n * means**2) / (n - 1)
        students.append(means * math.sqrt(n) / np.sqrt(np.maximum(variances, _LEAST_SPREAD**2)))
    return np.concatenate(students)


def _flip_signs(differences: F64, n_flips: int, seed: int) -> float:
    """The two-sided p-value; items without a difference have no sign to flip."""
    if len(differences) < 2:
        return math.nan
    sizes = np.abs(differences[differences != 0])
    if not len(sizes):
        return 1.0
    exact = len(sizes) <= MOST_FLIPPED
    if not exact and n_flips < 1:
        return math.nan
    chosen = _every_choice(len(sizes)) if exact else _random_choices(len(sizes), n_flips, seed)
    # The sum of signed values is twice that of the positive ones less that of all.
    null = np.abs(2 * np.concatenate([rows @ sizes for rows in chosen]) - sizes.sum())
    return p_value(abs(float(differences.sum())), null, exact=exact)


def _every_choice(n: int) -> Iterator[F64]:
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _random_choices(n: int, n_flips: int, seed: int) -> Iterator[F64]:
    rng = stream(seed, "items", "signs")
    for rows in _blocks(n_flips, n):
        yield rng.integers(2, size=(rows, n), dtype=np.int8).astype(np.float64)


def _blocks(n_resamples: int, width: int) -> Iterator[int]:
    """How many resamples of this width to hold at once."""
    at_once = max(1, _NUMBERS_AT_ONCE // width)
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


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


@dataclass(frozen=True, eq=False)
class Tests:
    """What each system's combined tests draw, that of the human row under None.

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

    blocks = engine.map(block, [part for part in _in_blocks(items.items) if part])
    together = [(system, key, some) for system, joint in tests.joint.items() for key, some in joint.items()]
    clustered = engine.map(lambda one: (one[0], work.cluster(one[2], one[0], one[1])), together)
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
