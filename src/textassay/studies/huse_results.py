"""Scores on ratings with their intervals, tests and what chance gives."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.rated import RatedItems
from textassay.engines.local import Engine
from textassay.inference.p_value import p_value
from textassay.inference.progress import Progress
from textassay.inference.rated_resamples import Groups, interval_around, resampled
from textassay.inference.request import Request
from textassay.inference.result import Interval, Result
from textassay.inference.streams import stream
from textassay.version import __version__
from textassay.views.ratings import Ratings

F64 = NDArray[np.float64]
_LABELS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class RatedPlan:
    """How scores on ratings are tested, and where the work runs."""

    level: float
    n_resamples: int
    seed: int
    engine: Engine
    progress: Progress

    def over(self, measure: Callable[[np.random.Generator], Sequence[float]], *, n: int, what: str) -> F64:
        """What a function of a random stream returns, one row a resample, each with a stream of its own."""

        def one(number: int) -> Sequence[float]:
            found = measure(stream(self.seed, "ratings", what, number))
            self.progress.step(1)
            return found

        return np.array(self.engine.map(one, range(n)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Scores:
    """Results, and the values of each on resamples, one column a result; no rows without resamples."""

    results: tuple[Result, ...]
    resampled: F64


def measure(rated: RatedItems, requests: Sequence[Request], plan: RatedPlan) -> Scores:
    """Every score with its interval, p-value and chance."""
    view = Ratings.of(rated)
    groups = Groups.of(view)
    began = time.perf_counter()
    estimates = [request(view) for request in requests]

    def scores_of(rng: np.random.Generator) -> list[float]:
        part = resampled(view, groups, rng)
        return [request(part) for request in requests]

    plan.progress.start("resampling", plan.n_resamples)
    values = plan.over(scores_of, n=plan.n_resamples, what="bootstrap").reshape(-1, len(requests))
    chance = _Chance(view, groups, plan)
    results = [
        _result(request, float(estimate), values[:, column], chance, rated, plan, time.perf_counter() - began)
        for column, (request, estimate) in enumerate(zip(requests, estimates, strict=True))
    ]
    return Scores(tuple(results), values)


def _result(
    request: Request,
    estimate: float,
    values: F64,
    chance: "_Chance",
    rated: RatedItems,
    plan: RatedPlan,
    seconds: float,
) -> Result:
    metric, defined = request.metric, not math.isnan(estimate)
    null = chance.of(request) if plan.n_resamples and defined else np.zeros(0)
    known = values[~np.isnan(values)]
    interval = None
    # A resample may be undefined by bad luck (all ratings the same); an interval rests on the great majority.
    if defined and len(known) > 0.9 * len(values) and len(known):
        ends = interval_around(estimate, known, level=plan.level, bounds=metric.bounds)
        interval = Interval(*ends, plan.level, "bootstrap" if rated.single else "bootstrap-items")
    tested = metric.test is not None and len(null) > 0
    return Result(
        metric=metric.name,
        options=dict(request.options),
        estimate=estimate,
        better=metric.better,
        aspect=metric.aspect,
        interval=interval,
        # Low scores are the telling ones.
        p_value=p_value(-estimate, -null, exact=False) if tested else None,
        parts={**_parts(request, chance.view, defined), **_range(null, plan.level)},
        undefined=None if defined else metric.undefined,
        signature=_signature(request, rated, plan),
        seconds=seconds,
        n=len(rated.items),
    )


def _parts(request: Request, view: Ratings, defined: bool) -> Mapping[str, float]:
    parts = request.metric.parts
    return parts(view, **request.options) if parts is not None and defined else {}


def _range(null: F64, level: float) -> dict[str, float]:
    if not len(null):
        return {}
    tail = (1 - level) / 2
    low, high = np.quantile(null, (tail, 1 - tail))
    return {"chance": float(null.mean()), "chance_low": float(low), "chance_high": float(high)}


@dataclass(frozen=True, eq=False)
class _Chance:
    """Scores when sources are exchanged at random within contexts: what texts that cannot be told apart would get."""

    view: Ratings
    groups: Groups
    plan: RatedPlan

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


def _signature(request: Request, rated: RatedItems, plan: RatedPlan) -> str:
    fields = [request.metric.name, *(f"{name}:{value}" for name, value in request.options.items())]
    fields.append(f"items:{len(rated.items)}/{rated.digest}")
    fields.append(f"ratings:{len(rated.ratings) if rated.single else 'means'}")
    if plan.n_resamples:
        drawn = "contexts+ratings" if rated.single else "contexts"
        fields += [f"interval:bootstrap-{drawn}", f"level:{plan.level}", "test:exchange-in-contexts"]
    fields += [f"resamples:{plan.n_resamples}", f"seed:{plan.seed}", f"v:{__version__}"]
    return "|".join(fields)
