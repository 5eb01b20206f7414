"""Scores of rated texts: resamples of items and ratings, intervals and tests."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.corpus.sample import stream
from textassay.engines.base import Engine
from textassay.engines.local import LocalEngine
from textassay.inference.intervals import wilson
from textassay.inference.p_values import holm, is_significant, p_value
from textassay.inference.plan import Plan, Progress, Silent, fewest_resamples
from textassay.inference.result import Interval, Result, result_of, signature
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request

# With fewer contexts of one shape, resamples of them would be few; their items are drawn one by one.
_FEWEST_ALIKE = 5


@dataclass(frozen=True, eq=False)
class Groups:
    """Items that are resampled together, in strata that are resampled separately.

    A context with equally many texts of both sources is a group, and all such contexts are one stratum. Of the other
    contexts with both sources, those with the same numbers of each are a stratum. All other items are groups of one, a
    stratum for each source. So every resample has as many of both sources as there were. `mixed` are the contexts with
    both sources, whatever the numbers: within these sources may be exchanged; `rest` are all other items.
    """

    strata: tuple[tuple[I64, ...], ...]
    mixed: tuple[I64, ...]
    rest: I64

    @classmethod
    def of(cls, ratings: Ratings) -> "Groups":
        """The groups of a view whose sources are equally many, in the order of its items."""
        shapes: dict[tuple[int, int], list[I64]] = {}
        mixed, alone = [], []
        for group in _contexts(ratings.context):
            models = int(ratings.is_model[group].sum())
            humans = len(group) - models
            # One context for all is none.
            if not models or not humans or len(group) == len(ratings):
                alone.append(group)
                continue
            mixed.append(group)
            shapes.setdefault((0, 0) if models == humans else (humans, models), []).append(group)
        few = [group for shape in shapes.values() if len(shape) < _FEWEST_ALIKE for group in shape]
        strata = [tuple(shape) for shape in shapes.values() if len(shape) >= _FEWEST_ALIKE]
        single = _joined([*alone, *few])
        for side in (single[~ratings.is_model[single]], single[ratings.is_model[single]]):
            strata += [tuple(side[:, None])] if len(side) else []
        return cls(tuple(strata), tuple(mixed), _joined(alone))

    @cached_property
    def _flat(self) -> list[tuple[I64, I64, I64]]:
        found = []
        for stratum in self.strata:
            sizes = np.array([len(group) for group in stratum], dtype=np.int64)
            found.append((np.concatenate(stratum), np.cumsum(sizes) - sizes, sizes))
        return found

    def draw(self, rng: np.random.Generator) -> I64:
        """Places of a resample: groups with replacement, from each stratum as many as it has."""
        places = []
        for flat, starts, sizes in self._flat:
            chosen = rng.integers(len(sizes), size=len(sizes))
            drawn = sizes[chosen]
            before = np.cumsum(drawn) - drawn
            places.append(flat[np.arange(int(drawn.sum())) - np.repeat(before - starts[chosen], drawn)])
        return _joined(places)

    def part(self, n: int, rng: np.random.Generator) -> I64:
        """Places of a part of about n items: groups without replacement, each stratum by its share."""
        share = n / max(sum(len(flat) for flat, _, _ in self._flat), 1)
        kept = []
        for stratum in self.strata:
            chosen = rng.permutation(len(stratum))[: round(share * len(stratum))]
            kept += [stratum[group] for group in chosen]
        return _joined(kept)

    def exchanged(self, is_model: NDArray[np.bool_], n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Sources exchanged at random within each context, and among the items without one: one column per exchange."""
        labels = np.repeat(is_model[:, None], n, axis=1)
        for group in (*self._by_size(), *([self.rest[None, :]] if len(self.rest) else [])):
            size = group.shape[1]
            ranks = np.argsort(rng.random((len(group), size, n)), axis=1)
            labels[group.reshape(-1)] = np.take_along_axis(
                np.repeat(is_model[group][:, :, None], n, axis=2), ranks, axis=1
            ).reshape(len(group) * size, n)
        return labels

    def _by_size(self) -> list[I64]:
        """The contexts with both sources, those of one size together, one row per context."""
        sizes = sorted({len(group) for group in self.mixed})
        return [np.array([group for group in self.mixed if len(group) == size]) for size in sizes]


def _contexts(context: I64) -> list[I64]:
    """The places of each context, in the order in which contexts first appear."""
    _, first, context_of = np.unique(context, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[context_of]
    order = np.argsort(rank, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(rank[order])) + 1) if len(order) else []


def _joined(parts: Sequence[I64]) -> I64:
    return np.concatenate(parts).astype(np.int64) if len(parts) else np.zeros(0, dtype=np.int64)


def resampled(ratings: Ratings, groups: Groups, rng: np.random.Generator) -> Ratings:
    """A nested resample: groups with replacement, then for each copy of an item its ratings with replacement.

    Copies draw their ratings each for itself. Items known by their mean alone keep it.
    """
    return with_other_ratings(ratings.take(groups.draw(rng)), rng)


def with_other_ratings(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """The same items, each with as many ratings drawn with replacement from its own."""
    counts = ratings.counts
    if (counts == 1).all():
        return ratings
    repeated = np.repeat(counts, counts)
    drawn = np.repeat(ratings.starts, counts) + (rng.random(len(repeated)) * repeated).astype(np.int64)
    return ratings.rated_by(drawn, counts)


def with_other_raters(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """The same items rated by raters drawn with replacement: all ratings of a rater as often as he or she was drawn.

    An item keeps its ratings if none of its raters was drawn.
    """
    known, rater_of = np.unique(ratings.raters, return_inverse=True)
    times = np.bincount(rng.integers(len(known), size=len(known)), minlength=len(known))[rater_of]
    item_of = np.repeat(np.arange(len(ratings)), ratings.counts)
    left = np.bincount(item_of, weights=times, minlength=len(ratings))
    times = np.where(left[item_of] == 0, 1, times)
    return ratings.rated_by(
        np.repeat(np.arange(len(item_of)), times), np.bincount(item_of, weights=times).astype(np.int64)
    )


def with_fewer_items(ratings: Ratings, groups: Groups, n: int, rng: np.random.Generator) -> Ratings:
    """About n of the items with all their ratings, drawn by groups without replacement."""
    return ratings.take(groups.part(n, rng))


def with_fewer_ratings(ratings: Ratings, n: int, rng: np.random.Generator) -> Ratings:
    """The same items, each with at most n of its ratings, drawn without replacement."""
    item_of = np.repeat(np.arange(len(ratings)), ratings.counts)
    shuffled = np.lexsort((rng.random(len(item_of)), item_of))
    rank = np.arange(len(item_of)) - np.repeat(ratings.starts, ratings.counts)
    return ratings.rated_by(np.sort(shuffled[rank < n]), np.minimum(ratings.counts, n))


def interval_around(estimate: float, values: F64, *, level: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The quantiles of resampled values about their own mean, moved to the estimate.

    Noise in the ratings raises the score, and a resample has that noise twice; so the values lie higher than the
    estimate as a whole, which does not show the error of the estimate. Their spread does: in simulations with
    200 items and 20 ratings each it is 3 to 10 % wider than that of repeated studies.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, (tail, 1 - tail)) - values.mean()
    return max(bounds[0], estimate + min(float(low), 0.0)), min(bounds[1], estimate + max(float(high), 0.0))


@dataclass(frozen=True, eq=False)
class RatedPlan(Plan):
    """The plan of a HUSE study, with the engine that runs its resamples."""

    engine: Engine = field(default_factory=LocalEngine)
    progress: Progress = field(default_factory=Silent)

    def over(
        self, draw: Callable[[np.random.Generator], Ratings], requests: Sequence[Request], *, n: int, what: str
    ) -> NDArray[np.float64]:
        """The scores of ratings drawn at random: one row per draw, each with its own generator."""

        def one(number: int) -> list[float]:
            drawn = draw(stream(self.seed, "ratings", what, number))
            found = [request.value(drawn) for request in requests]
            self.progress.step(1)
            return found

        return np.array(self.engine.map(one, range(n)), dtype=np.float64)


# The number of resamples that is enough for a variance.
_MOST = 200


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances of each score, one entry per score: of nested resamples, of the noise of ratings in them, of raters.

    `raters` is what resampling raters adds to resampling ratings: habits and tastes that affect all ratings of a
    person. It is not part of `nested`, where the ratings of each item are resampled separately.
    """

    nested: F64
    ratings: F64
    raters: F64

    @property
    def total(self) -> F64:
        """The variance from all sources."""
        return self.nested + self.raters

    @property
    def widening(self) -> F64:
        """The factor by which nested resamples must be spread to include raters."""
        return np.sqrt(np.divide(self.total, self.nested, out=np.ones_like(self.nested), where=self.nested > 0))


def what_varies(view: Ratings, *, raters_known: bool) -> tuple[str, ...]:
    """What is resampled apart from items: ratings if an item has several, raters if a rater gave several."""
    if not (view.counts > 1).any():
        return ()
    people = len(np.unique(view.raters))
    return ("ratings", "raters") if raters_known and 1 < people < len(view.ratings) else ("ratings",)


def spread_of(
    view: Ratings, requests: Sequence[Request], resampled: F64, plan: RatedPlan, *, raters_known: bool
) -> Spread:
    """The variances, from resamples of ratings and of raters on the same items."""
    nothing = np.zeros(len(requests))
    varied = what_varies(view, raters_known=raters_known)
    if not len(resampled) or not varied:
        return Spread(_variance(resampled, nothing), nothing, nothing)
    n = min(plan.n_resamples, _MOST)
    people = len(np.unique(view.raters))
    crossed = "raters" in varied
    plan.progress.start("resampling ratings and raters", n * (1 + crossed))
    other_ratings = plan.over(partial(with_other_ratings, view), requests, n=n, what="ratings-only")
    noise = _variance(other_ratings, nothing)
    if not crossed:
        return Spread(_variance(resampled, nothing), noise, nothing)
    other_raters = plan.over(partial(with_other_raters, view), requests, n=n, what="raters-only")
    # The variance of a bootstrap of n raters is too small by the factor (n - 1) / n.
    drawn = _variance(other_raters, nothing) * people / (people - 1)
    return Spread(_variance(resampled, nothing), noise, np.maximum(drawn - noise, 0.0))


def _variance(values: F64, nothing: F64) -> F64:
    """The variance of each column over its defined values."""
    if not len(values):
        return nothing
    found = [np.var(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0 for column in values.T]
    return np.array(found, dtype=np.float64)


def at_least(
    estimate: float, ends: tuple[float, float], parts: Mapping[str, float], n: int, level: float
) -> tuple[float, float]:
    """An interval that is not narrower than the number of items allows.

    If no vote is wrong, no resample has a wrong one either. But after 40 correct votes, one in ten other votes may be
    wrong. The error behind a score is a share of items, so Wilson's interval of that share is a lower limit.
    """
    named = [name for name in ("accuracy", "accuracy_by_rating") if name in parts]
    if not named:
        return ends
    down, up = [], []
    for name in named:
        error = 1 - parts[name]
        low, high = wilson(error, n, level)
        # The second error is subtracted from the first, so its limits are swapped.
        ways = (error - low, high - error) if name == "accuracy" else (high - error, error - low)
        down.append(2 * ways[0])
        up.append(2 * ways[1])
    return min(ends[0], estimate - math.hypot(*down)), max(ends[1], estimate + math.hypot(*up))


_LABELS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Scores:
    """Results, their values on resamples (one column per result), the sources of their spread, and the methods.

    `view` is what they were measured on, `corrected` their p-values after correction for each other.
    """

    view: Ratings
    results: tuple[Result, ...]
    corrected: "Corrected"
    resampled: F64
    spread: Spread
    methods: "Methods"


@dataclass(frozen=True)
class Corrected:
    """The p-value of each result after correction for all tests of the study (Holm), NaN without a test.

    With fewer than `fewest` resamples none of them can be significant.
    """

    p_values: tuple[float, ...]
    fewest: int

    @classmethod
    def of(cls, results: Sequence[Result], level: float) -> Self:
        """The corrected p-values of all results of a study."""
        p_values = holm([math.nan if result.p_value is None else result.p_value for result in results])
        n_tests = sum(result.p_value is not None for result in results)
        return cls(tuple(p_values), fewest_resamples(n_tests, level))


def measure(rated: RatedItems, requests: Sequence[Request], plan: RatedPlan) -> Scores:
    """Every score with its interval, p-value and chance."""
    view = Ratings.of(rated)
    began = time.perf_counter()
    estimates = [float(request.value(view)) for request in requests]
    # The numbers behind each score, which an undefined score does not have.
    parts = [
        {} if request.metric.parts is None or math.isnan(estimate) else request.metric.parts(view, **request.options)
        for request, estimate in zip(requests, estimates, strict=True)
    ]
    groups = Groups.of(view)
    plan.progress.start("resampling", plan.n_resamples)
    values = plan.over(partial(resampled, view, groups), requests, n=plan.n_resamples, what="bootstrap")
    values = values.reshape(-1, len(requests))
    spread = spread_of(view, requests, values, plan, raters_known=rated.names_raters)
    chance = Chance(view, groups, plan, sum(request.metric.test is not None for request in requests))
    methods = Methods.of(rated, chance)
    tested = [
        chance.of(request)
        if request.metric.test is not None and plan.n_resamples and not math.isnan(estimate)
        else None
        for request, estimate in zip(requests, estimates, strict=True)
    ]
    builder = _ScoreBuilder(rated, chance, methods, began)
    results = [
        builder.result(request, estimate, own, null, _widened(values[:, column], float(spread.widening[column])))
        for column, (request, estimate, own, null) in enumerate(zip(requests, estimates, parts, tested, strict=True))
    ]
    return Scores(view, tuple(results), Corrected.of(results, plan.level), values, spread, methods)


def _widened(values: F64, by: float) -> F64:
    """The values, spread about their mean by a factor."""
    known = values[~np.isnan(values)]
    centre = known.mean() if len(known) else 0.0
    moved: F64 = centre + by * (values - centre)
    return moved


@dataclass(frozen=True, eq=False)
class _ScoreBuilder:
    rated: RatedItems
    chance: "Chance"
    methods: "Methods"
    began: float

    def result(
        self, request: Request, estimate: float, parts: Mapping[str, float], null: F64 | None, values: F64
    ) -> Result:
        """One score with its interval, its test against the scores by chance, and its parts."""
        metric, defined = request.metric, not math.isnan(estimate)
        by_chance = {} if null is None else self.chance.summary(null)
        return result_of(
            request,
            estimate,
            interval=self._interval(metric.bounds, estimate, values, parts) if defined else None,
            # The test is one-sided: low scores show a difference.
            p_value=None if null is None else p_value(-estimate, -null, exact=False),
            parts={**parts, **by_chance},
            undefined=None if defined else metric.undefined,
            signature=self.methods.signature(request, self.rated),
            seconds=time.perf_counter() - self.began,
            n=len(self.rated.items),
        )

    def _interval(
        self, bounds: tuple[float, float], estimate: float, values: F64, parts: Mapping[str, float]
    ) -> Interval | None:
        known, level = values[~np.isnan(values)], self.chance.plan.level
        # A resample is undefined if all its ratings are the same; an interval needs most resamples to be defined.
        if not len(known) or len(known) <= 0.9 * len(values):
            return None
        ends = interval_around(estimate, known, level=level, bounds=bounds)
        low, high = at_least(estimate, ends, parts, len(self.rated.items), level)
        method = "bootstrap" if (self.chance.view.counts > 1).any() else "bootstrap-items"
        return Interval(max(low, bounds[0]), min(high, bounds[1]), level, method)


@dataclass(frozen=True, eq=False)
class Chance:
    """Scores if sources are exchanged at random within contexts, as for texts that cannot be distinguished."""

    view: Ratings
    groups: Groups
    plan: RatedPlan
    n_tests: int

    def of(self, request: Request) -> F64:
        """The score under each exchange."""
        rng = stream(self.plan.seed, "ratings", "exchange")
        at_once = max(1, _LABELS_AT_ONCE // max(len(self.view), 1))
        scores = []
        for start in range(0, self.plan.n_resamples, at_once):
            count = min(at_once, self.plan.n_resamples - start)
            labels = self.groups.exchanged(self.view.is_model, count, rng)
            scores.append(self._under(request, labels))
        return np.concatenate(scores)

    def _under(self, request: Request, labels: NDArray[np.bool_]) -> F64:
        if request.metric.exchange is not None:
            return np.asarray(request.metric.exchange(self.view, labels, **request.options), dtype=np.float64)
        return np.array([request.value(replace(self.view, is_model=column)) for column in labels.T])

    def summary(self, null: F64) -> dict[str, float]:
        """Mean and range of the exchanges, and the score below which a test is significant after correction."""
        tail = (1 - self.plan.level) / 2
        low, high = np.quantile(null, (tail, 1 - tail))
        # A score that `count` exchanges do not exceed has the p-value (count + 1) / (n + 1), times the number of tests.
        p_values = self.n_tests * np.arange(1, len(null) + 1) / (len(null) + 1)
        most = sum(is_significant(p, self.plan.level) for p in p_values.tolist()) - 1
        below = float(np.sort(null)[most]) if most >= 0 else math.nan
        return {
            "chance": float(null.mean()), "chance_low": float(low), "chance_high": float(high), "told_below": below
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Methods:
    """How intervals and tests of a study are made: what is drawn again, and within what sources are exchanged."""

    plan: RatedPlan
    drawn: tuple[str, ...]
    exchanged_in: tuple[str, ...]

    @classmethod
    def of(cls, rated: RatedItems, chance: Chance) -> Self:
        """The methods that fit these ratings."""
        groups = chance.groups
        drawn = [*_groups_drawn(groups), *what_varies(chance.view, raters_known=rated.names_raters)]
        inside = [*(["contexts"] if groups.mixed else []), *(["rest"] if len(groups.rest) else [])]
        return cls(chance.plan, tuple(drawn), tuple(inside))

    def signature(self, request: Request, rated: RatedItems) -> str:
        """The signature of a score."""
        resampling: dict[str, Any] = {}
        if self.plan.n_resamples:
            resampling = {"interval": f"bootstrap-{'+'.join(self.drawn)}", "level": self.plan.level}
            if request.metric.test:
                resampling["test"] = f"exchange-in-{'+'.join(self.exchanged_in)}"
        ratings = len(rated.ratings) if rated.single else "means"
        return signature(
            request.metric.name,
            request.options,
            data={"items": f"{len(rated.items)}/{rated.digest}", "ratings": ratings},
            resampling=resampling | {"resamples": self.plan.n_resamples, "seed": self.plan.seed},
        )


def _groups_drawn(groups: Groups) -> list[str]:
    """Contexts, items, or both: contexts of few shapes are drawn item by item."""
    whole = [any(len(group) > 1 for group in stratum) for stratum in groups.strata]
    return [*(["contexts"] if any(whole) else []), *(["items"] if not all(whole) else [])]
