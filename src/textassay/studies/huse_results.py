"""Scores on ratings with their intervals, tests and what chance gives."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_rows import raters_are_known
from textassay.inference.p_value import p_value
from textassay.inference.rated_resamples import Groups, interval_around, resampled
from textassay.inference.request import Request
from textassay.inference.result import Interval, Result
from textassay.inference.streams import stream
from textassay.studies.huse_plan import RatedPlan
from textassay.studies.huse_spread import Spread, at_least, spread_of, what_varies
from textassay.version import __version__
from textassay.views.ratings import Ratings

F64 = NDArray[np.float64]
_LABELS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Scores:
    """Results, the values of each on resamples, one column a result, and where their spread comes from."""

    results: tuple[Result, ...]
    resampled: F64
    spread: Spread


def measure(rated: RatedItems, requests: Sequence[Request], plan: RatedPlan) -> Scores:
    """Every score with its interval, p-value and chance."""
    view = Ratings.of(rated)
    groups = Groups.of(view)
    began = time.perf_counter()
    estimates = [float(request(view)) for request in requests]

    def scores_of(rng: np.random.Generator) -> list[float]:
        part = resampled(view, groups, rng)
        return [request(part) for request in requests]

    plan.progress.start("resampling", plan.n_resamples)
    values = plan.over(scores_of, n=plan.n_resamples, what="bootstrap").reshape(-1, len(requests))
    spread = spread_of(view, requests, values, plan, raters_known=raters_are_known(rated))
    chance = Chance(view, groups, plan, sum(request.metric.test is not None for request in requests))
    scene = _Scene(rated, chance, began)
    results = [
        scene.result(request, estimate, _widened(values[:, column], float(spread.widening[column])))
        for column, (request, estimate) in enumerate(zip(requests, estimates, strict=True))
    ]
    return Scores(tuple(results), values, spread)


def _widened(values: F64, by: float) -> F64:
    """Spread about their mean."""
    known = values[~np.isnan(values)]
    centre = known.mean() if len(known) else 0.0
    moved: F64 = centre + by * (values - centre)
    return moved


@dataclass(frozen=True, eq=False)
class _Scene:
    rated: RatedItems
    chance: "Chance"
    began: float

    def result(self, request: Request, estimate: float, values: F64) -> Result:
        """One score with all that goes with it."""
        metric, defined, plan = request.metric, not math.isnan(estimate), self.chance.plan
        tested = metric.test is not None and plan.n_resamples > 0 and defined
        null = self.chance.of(request) if tested else np.zeros(0)
        parts = metric.parts(self.chance.view, **request.options) if metric.parts is not None and defined else {}
        return Result(
            metric=metric.name,
            options=dict(request.options),
            estimate=estimate,
            better=metric.better,
            aspect=metric.aspect,
            interval=self._interval(metric.bounds, estimate, values, parts) if defined else None,
            # Low scores are the telling ones.
            p_value=p_value(-estimate, -null, exact=False) if tested else None,
            parts={**parts, **self.chance.summary(null)},
            undefined=None if defined else metric.undefined,
            signature=_signature(request, self.rated, self.chance),
            seconds=time.perf_counter() - self.began,
            n=len(self.rated.items),
        )

    def _interval(
        self, bounds: tuple[float, float], estimate: float, values: F64, parts: Mapping[str, float]
    ) -> Interval | None:
        known, level = values[~np.isnan(values)], self.chance.plan.level
        # A resample may be undefined by bad luck (all ratings the same); an interval rests on the great majority.
        if not len(known) or len(known) <= 0.9 * len(values):
            return None
        ends = interval_around(estimate, known, level=level, bounds=bounds)
        low, high = at_least(estimate, ends, parts, len(self.rated.items), level)
        method = "bootstrap" if (self.chance.view.counts > 1).any() else "bootstrap-items"
        return Interval(max(low, bounds[0]), min(high, bounds[1]), level, method)


@dataclass(frozen=True, eq=False)
class Chance:
    """Scores when sources are exchanged at random within contexts: what texts that cannot be told apart would get."""

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
        return np.array([request(replace(self.view, is_model=column)) for column in labels.T])

    def summary(self, null: F64) -> dict[str, float]:
        """Mean and range of the exchanges, and below what a score is significant after correction for all tests."""
        if not len(null):
            return {}
        tail = (1 - self.plan.level) / 2
        low, high = np.quantile(null, (tail, 1 - tail))
        # As many exchanges as may score as low at the most: (count + 1) / (n + 1), times the tests, stays below.
        most = math.ceil((1 - self.plan.level) * (len(null) + 1) / self.n_tests - 1 - 1e-9) - 1
        below = float(np.sort(null)[most]) if most >= 0 else math.nan
        return {
            "chance": float(null.mean()), "chance_low": float(low), "chance_high": float(high), "told_below": below
        }  # fmt: skip


def _signature(request: Request, rated: RatedItems, chance: Chance) -> str:
    plan, groups = chance.plan, chance.groups
    fields = [request.metric.name, *(f"{name}:{value}" for name, value in request.options.items())]
    fields.append(f"items:{len(rated.items)}/{rated.digest}")
    fields.append(f"ratings:{len(rated.ratings) if rated.single else 'means'}")
    if plan.n_resamples:
        drawn = [*_groups_drawn(groups), *what_varies(chance.view, raters_known=raters_are_known(rated))]
        fields += [f"interval:bootstrap-{'+'.join(drawn)}", f"level:{plan.level}"]
        inside = [*(["contexts"] if groups.mixed else []), *(["rest"] if len(groups.rest) else [])]
        fields += [f"test:exchange-in-{'+'.join(inside)}"] if request.metric.test else []
    fields += [f"resamples:{plan.n_resamples}", f"seed:{plan.seed}", f"v:{__version__}"]
    return "|".join(fields)


def _groups_drawn(groups: Groups) -> list[str]:
    """Contexts, items, or both: contexts of few shapes are drawn item by item."""
    whole = [any(len(group) > 1 for group in stratum) for stratum in groups.strata]
    return [*(["contexts"] if any(whole) else []), *(["items"] if not all(whole) else [])]
