"""Results over items: means with their intervals, differences between systems, and what combined tests found.

Items are what is drawn at random here; the texts of an item stay together. Items without a value (NaN) are left out.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.item_set import ItemSet
from textassay.corpus.sample import stream
from textassay.inference.item_figures import Combined, CombinedTest, Figures
from textassay.inference.measure import Difference
from textassay.inference.p_values import (
    fisher,
    harmonic_mean,
    mean_log_p,
    mean_p,
    p_value,
    raw_harmonic_mean,
    simes,
)
from textassay.inference.per_item import ItemPlan, Measured
from textassay.inference.plan import enough_resamples
from textassay.inference.result import Interval, Result, result_of, signature
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


@dataclass(frozen=True, eq=False)
class Measuring:
    """What the numbers of a study are measured with, for signatures.

    `distances` has the signature of each distance by its name.
    """

    items: ItemSet
    plan: ItemPlan
    tokenizer: str
    encoder: str | None
    distances: Mapping[str, str]
    _systems: dict[str | None, str] = field(default_factory=dict, repr=False)

    def signature(self, request: Request, system: str | None, **part: Any) -> str:
        """Of a number over all items, or over a part; the system is None for references against references."""
        return signature(
            request.metric.name,
            request.options,
            settings=self.read(request),
            data={"items": f"{len(self.items.items)}/{self.items.digest}", "system": self._digest(system)} | part,
            resampling=self._resampling(request),
        )

    def read(self, request: Request) -> dict[str, str]:
        """What a metric reads texts with: the encoder, or the distance and the tokenizer."""
        distance = request.options.get("distance")
        if distance is None:
            return {"enc": str(self.encoder)}
        return {"dist": self.distances[distance], "tok": self.tokenizer}

    def is_asymptotic(self, request: Request) -> bool:
        """Whether p-values of items come from the asymptotic null where it holds."""
        return self.plan.asymptotic and request.metric.name == "trm"

    def _test(self, request: Request) -> str:
        return f"{'asymptotic or ' * self.is_asymptotic(request)}exact up to {self.plan.most(request)}"

    def _resampling(self, request: Request) -> dict[str, Any]:
        if not self.plan.n_resamples:
            return {"resamples": 0}
        return {
            "interval": "bootstrap-items",
            "level": self.plan.level,
            "test": self._test(request).replace(" ", "-"),
            "resamples": self.plan.n_resamples,
            "seed": self.plan.seed,
        }

    def _digest(self, system: str | None) -> str:
        """The system's texts by digest, never by name: a name may contain anything."""
        if system is None:
            return "human"
        if system not in self._systems:
            texts = [item.candidates.get(system, ()) for item in self.items.items]
            self._systems[system] = hashlib.blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()
        return self._systems[system]


METHOD = "bootstrap:items"
# Other ways to combine the items' p-values, for those who want to compare: none of them decides anything.
_OTHERS = {
    "harmonic_mean_raw": raw_harmonic_mean,
    "harmonic_mean": harmonic_mean,
    "fisher": fisher,
    "simes": simes,
    "mean_p": mean_p,
    "mean_log_p": mean_log_p,
}


@dataclass(frozen=True, eq=False)
class SystemResults:
    """The results of one system: by item and metric, by metric over all items, and by label at the baseline's size.

    The baseline is references against references; it has fewer texts per item than most systems.
    """

    items: Sequence[tuple[Result, ...]]
    over_items: tuple[Result, ...]
    at_baseline_size: Mapping[str, Result]


@dataclass(frozen=True)
class Gap(Difference):
    """The difference between two systems, or between a system and people, on one metric."""

    first: str
    second: str
    label: str


@dataclass(frozen=True, eq=False)
class Summary:
    """Makes results from what was measured on the items of one system."""

    plan: ItemPlan
    measuring: Measuring
    clusters: Mapping[str | None, Clusters]

    def of_system(
        self, requests: Sequence[Request], system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> SystemResults:
        """All results of a system; of references against references where the system is None."""
        again = {} if system is None else {r.label: self._at_baseline_size(r, system, measured) for r in requests}
        return SystemResults(
            [tuple(self._item(r, system, place, each) for r in requests) for place, each in enumerate(measured)],
            tuple(self._over_items(request, system, measured, combined) for request in requests),
            {label: result for label, result in again.items() if result is not None},
        )

    def _over_items(
        self, request: Request, system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> Result:
        """One metric over all items of a system; of references against references where the system is None."""
        figures = [each.figures[request] for each in measured]
        p_values = [each.p_value for each in figures if not math.isnan(each.p_value)]
        parts = {"items": float(sum(not math.isnan(each.estimate) for each in figures)), **_sizes(request, measured)}
        test = combined.tests.get(request)
        parts |= {} if test is None else _test_parts(test, combined.units)
        if p_values:
            parts |= {name: combine(p_values) for name, combine in _OTHERS.items()}
            parts |= {"chance": _whole_mean([each.chance for each in figures if not math.isnan(each.estimate)])}
        seconds = sum(each.seconds for each in figures)
        signature = self.measuring.signature(request, system)
        parts |= _mean_parts(figures)
        made = self._mean_result(request, system, [each.estimate for each in figures], parts, seconds, signature)
        reasons = Counter(each.undefined[request] for each in measured if request in each.undefined)
        undefined = _most(reasons) if math.isnan(made.estimate) else None
        p = None if test is None or undefined is not None else test.p_value
        return replace(made, p_value=p, undefined=undefined)

    def _at_baseline_size(self, request: Request, system: str, measured: Sequence[Measured]) -> Result | None:
        """One metric over all items, each measured on as few texts as references against references are."""
        values = [each.at_baseline_size.get(request, math.nan) for each in measured]
        if np.isnan(values).all():
            return None
        signature = self.measuring.signature(request, system, size="human")
        return self._mean_result(request, system, values, {}, 0.0, signature)

    def _item(self, request: Request, system: str | None, place: int, each: Measured) -> Result:
        """One metric on one item."""
        figures = each.figures[request]
        chance = {} if math.isnan(figures.chance) else {"chance": figures.chance}
        return result_of(
            request,
            figures.estimate,
            p_value=figures.p_value,
            parts={**figures.parts, **chance},
            undefined=each.undefined.get(request),
            signature=self.measuring.signature(request, system, item=place + 1),
            seconds=figures.seconds,
            n=each.sizes[request][0],
        )

    def _mean_result(
        self,
        request: Request,
        system: str | None,
        values: Sequence[float],
        parts: Mapping[str, float],
        seconds: float,
        signature: str,
    ) -> Result:
        known = [value for value in values if not math.isnan(value)]
        return result_of(
            request,
            _mean(known),
            interval=self._interval(request, values, self.clusters[system]),
            parts=parts,
            signature=signature,
            seconds=seconds,
            n=len(known),
        )

    def _interval(self, request: Request, values: Sequence[float], clusters: Clusters) -> Interval | None:
        if not self.plan.n_resamples:
            return None
        found = bootstrap_interval(
            np.array(values),
            level=self.plan.level,
            n_resamples=self.plan.n_resamples,
            seed=self.plan.seed,
            clusters=clusters,
        )
        if found is None:
            return None
        low, high = request.bounds
        return Interval(max(found[0], low), min(found[1], high), self.plan.level, METHOD)

    def gaps(
        self,
        requests: Sequence[Request],
        systems: Mapping[str, Sequence[Measured]],
        human: tuple[str, Sequence[Measured]],
    ) -> Iterator[Gap]:
        """Every two systems on the items they share, and every system against people, metric by metric."""
        if not self.plan.n_resamples:
            return
        pairs_and_people = len(systems) * (len(systems) + 1) // 2
        # A verdict judges the comparison with people at half of the level.
        flips = enough_resamples(FLIPS, 2 * len(requests) * pairs_and_people, self.plan.level)
        for first, second in combinations(systems, 2):
            for request in requests:
                pairs = list(zip(systems[first], systems[second], strict=True))
                sides = [[a.cut_to(request, b) for a, b in pairs], [b.cut_to(request, a) for a, b in pairs]]
                both = self.clusters[first].joined(self.clusters[second])
                yield from self._gap((first, second), request, sides, flips, both)
        for name, measured in systems.items():
            for request in requests:
                mine = [each.at_baseline_size.get(request, math.nan) for each in measured]
                theirs = [each.figures[request].estimate for each in human[1]]
                yield from self._gap((name, human[0]), request, [mine, theirs], flips, self.clusters[name])

    def _gap(
        self, names: tuple[str, str], request: Request, sides: list[list[float]], flips: int, clusters: Clusters
    ) -> Iterator[Gap]:
        gap = paired(
            np.array(sides[0]),
            np.array(sides[1]),
            level=self.plan.level,
            n_resamples=self.plan.n_resamples,
            seed=self.plan.seed,
            n_flips=flips,
            clusters=clusters,
        )
        if not math.isnan(gap.p_value):
            yield Gap(gap.estimate, gap.low, gap.high, gap.p_value, *names, request.label)


def _test_parts(test: CombinedTest, units: int) -> dict[str, float]:
    """What goes with the p-value of the combined test."""
    known = {} if math.isnan(test.adjusted) else {"adjusted": test.adjusted}
    return {"z": test.z, **known, "draws": float(test.draws), "units": float(units)}


def _sizes(request: Request, measured: Sequence[Measured]) -> dict[str, float]:
    sizes = [each.sizes[request] for each in measured if request not in each.undefined]
    return {side: _mean([size[at] for size in sizes]) for at, side in enumerate(("candidates", "references"))}


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _whole_mean(values: Sequence[float]) -> float:
    """The mean, or NaN where one is missing: a mean over some items compares with none over all."""
    return math.nan if any(map(math.isnan, values)) else _mean(values)


def _most(reasons: Counter[str]) -> str:
    reason, count = reasons.most_common(1)[0]
    return reason if count == reasons.total() else f"{reason} (and other reasons)"


def _mean_parts(figures: Sequence[Figures]) -> dict[str, float]:
    names = dict.fromkeys(name for each in figures for name in each.parts)
    return {name: _mean([each.parts.get(name, math.nan) for each in figures]) for name in names}
