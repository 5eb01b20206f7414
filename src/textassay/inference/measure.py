"""Measure: metrics on a candidate (and a reference), with the interval and the test that each one declares."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textassay.inference.jackknife import FEWEST_GROUPS, Replicates, half_width, leave_groups_out, spread
from textassay.inference.permutation import permutation_tests
from textassay.inference.progress import Progress, Silent
from textassay.inference.request import Request
from textassay.inference.result import Interval, Result
from textassay.inference.signature import signature
from textassay.inference.wilson import wilson
from textassay.views.material import Material, Pool


@dataclass(frozen=True)
class Plan:
    """How sure to be and how: the level of intervals, the number of resamples (0: estimates only) and the seed."""

    level: float = 0.95
    n_resamples: int = 999
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Measured:
    """Results in the order of the requests, and the jackknife replicates behind them (for paired comparisons)."""

    results: tuple[Result, ...]
    replicates: Mapping[Request, Replicates]


@dataclass(frozen=True)
class _Point:
    estimate: float
    parts: Mapping[str, float]
    undefined: str | None
    seconds: float


def measure(
    requests: Sequence[Request], roles: Mapping[str, Material], *, plan: Plan, progress: Progress | None = None
) -> Measured:
    """Results for one candidate. `roles` gives the materials by the names metrics use: candidate, reference, train."""
    progress = progress or Silent()
    points = {request: _point(request, roles) for request in requests}
    defined = [request for request in requests if points[request].undefined is None]
    pool = Pool(tuple(roles[role] for role in ("candidate", "reference") if role in roles))
    replicates: dict[Request, Replicates] = {}
    p_values: dict[Request, float] = {}
    if plan.n_resamples:
        jackknifed = [r for r in defined if r.metric.interval == "jackknife" and _enough_groups(r, roles)]
        replicates = leave_groups_out(jackknifed, pool, seed=plan.seed, progress=progress)
        tested = [r for r in defined if r.metric.test == "permutation"] if "reference" in roles else []
        p_values = permutation_tests(
            tested, pool, n_resamples=plan.n_resamples, seed=plan.seed, progress=progress
        )  # fmt: skip
    results = [
        _result(request, points[request], roles, plan, replicates.get(request), p_values.get(request))
        for request in requests
    ]
    return Measured(tuple(results), replicates)


def _point(request: Request, roles: Mapping[str, Material]) -> _Point:
    started = time.perf_counter()
    metric = request.metric
    missing = [role for role in metric.roles if role not in roles]
    if missing:
        return _Point(math.nan, {}, f"needs a {missing[0]} file (--{missing[0]})", 0.0)
    small = [role for role in metric.roles if len(roles[role].sample) < metric.minimum]
    if small:
        seen = len(roles[small[0]].sample)
        return _Point(math.nan, {}, f"{seen} text in the {small[0]}; needs {metric.minimum} or more", 0.0)
    views: list[Any] = [roles[role].view(kind) for role, kind in zip(metric.roles, metric.views, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(request(*views))
        parts = metric.parts(*views, **request.options) if metric.parts else {}
    undefined = metric.undefined if math.isnan(estimate) else None
    return _Point(estimate, parts, undefined, time.perf_counter() - started)


def _enough_groups(request: Request, roles: Mapping[str, Material]) -> bool:
    return all(len(roles[role].sample) >= FEWEST_GROUPS for role in request.metric.roles if role in roles)


def _result(
    request: Request,
    point: _Point,
    roles: Mapping[str, Material],
    plan: Plan,
    replicates: Replicates | None,
    p_value: float | None,
) -> Result:
    metric, candidate = request.metric, roles["candidate"]
    return Result(
        metric=metric.name,
        options=dict(request.options),
        estimate=point.estimate,
        better=metric.better,
        aspect=metric.aspect,
        interval=_interval(request, point, plan, replicates, len(candidate.sample)),
        p_value=None if p_value is None or math.isnan(p_value) else p_value,
        parts=dict(point.parts),
        undefined=point.undefined,
        signature=signature(
            metric.name,
            request.options,
            settings=candidate.settings,
            samples={role: roles[role].sample for role in metric.roles if role in roles},
            resampling=_resampling(metric, plan),
        ),
        seconds=point.seconds,
        n=len(candidate.sample),
    )


def _resampling(metric: Any, plan: Plan) -> dict[str, Any]:
    if not plan.n_resamples:
        return {"resamples": 0}
    return {
        "interval": metric.interval,
        "level": plan.level,
        "test": metric.test,
        "resamples": plan.n_resamples,
        "seed": plan.seed,
    }


def _interval(request: Request, point: _Point, plan: Plan, replicates: Replicates | None, n: int) -> Interval | None:
    method = request.metric.interval
    if point.undefined is not None or not plan.n_resamples or method is None:
        return None
    if method == "wilson":
        return Interval(*wilson(point.estimate, n, plan.level), plan.level, method)
    if replicates is None or not all(np.isfinite(values).all() for values in replicates.by_sample):
        return None
    half = half_width(spread(replicates.by_sample), plan.level)
    low, high = request.metric.bounds_for(request.options)
    return Interval(max(point.estimate - half, low), min(point.estimate + half, high), plan.level, method)
