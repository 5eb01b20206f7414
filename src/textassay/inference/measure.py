"""Measure: metrics on a candidate and a reference, each with its interval and test; paired differences."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.inference.intervals import (
    ONE_FOLD,
    Replicates,
    accuracy_interval,
    accuracy_p_value,
    fewest_texts,
    half_width,
    interval,
    leave_groups_out,
    resampling_fields,
    rests_on_one_fold,
    separable_interval,
    spread,
    summed,
    two_sided,
)
from textassay.inference.p_values import holm
from textassay.inference.permutation import (
    Design,
    PermutationTests,
    design_of,
    is_permutation,
    permutation_tests,
)
from textassay.inference.plan import Plan, Progress, Silent
from textassay.inference.result import (
    Interval,
    Result,
    option_fields,
    result_of,
    sample_field,
    setting_fields,
    signature,
)
from textassay.metrics.interval_methods import BINOMIAL, NEWCOMBE
from textassay.metrics.registry import Request
from textassay.metrics.views import Material, Pool

_SIDES = ("candidate", "reference")


@dataclass(frozen=True, eq=False)
class Measured:
    """Results in the order of the requests, p-values adjusted for all of them, and the jackknife replicates."""

    results: tuple[Result, ...]
    replicates: Mapping[Request, Replicates]
    adjusted: Mapping[Request, float]


@dataclass(frozen=True)
class _Point:
    estimate: float
    parts: Mapping[str, float]
    undefined: str | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Job:
    """Metrics to measure on materials, by the names metrics use for them: candidate, reference, train.

    `tested` are candidate and reference as the tests see them, where these have more texts than the estimates. Without
    `test` there are intervals but no p-values. `own` are materials that no other job reads: their views are built when
    the job runs, and freed when it is done.
    """

    requests: Sequence[Request]
    roles: Mapping[str, Material]
    tested: tuple[Material, Material] | None = None
    test: bool = True
    own: tuple[Material, ...] = ()


def measure_jobs(jobs: Iterable[Job], *, plan: Plan, progress: Progress | None = None) -> list[Measured]:
    """The results of each job, one job after the other."""
    found = []
    for job in jobs:
        # What is measured again counts as no progress.
        shown = None if job.own else progress
        found.append(measure(job.requests, job.roles, plan=plan, test=job.test, tested=job.tested, progress=shown))
        for material in job.own:
            material.clear()
    return found


@dataclass(frozen=True, eq=False)
class Blocks:
    """How corpora are resampled whose views have one row per block of texts: the folds of each, and the exchanges."""

    folds: tuple[I64, ...]
    design: Design | None = None


def measure(
    requests: Sequence[Request],
    roles: Mapping[str, Material],
    *,
    plan: Plan,
    test: bool = True,
    tested: tuple[Material, Material] | None = None,
    progress: Progress | None = None,
    blocks: Blocks | None = None,
) -> Measured:
    """Results for one candidate. `roles` gives the materials by the names metrics use: candidate, reference, train.

    `tested` are candidate and reference as the tests see them, where these have more texts than the estimates. Without
    `test` there are intervals but no p-values. `blocks` are for digests.
    """
    progress = progress or Silent()
    points = {request: _point(request, roles) for request in requests}
    defined = [request for request in requests if points[request].undefined is None]
    pool = Pool(tuple(roles[role] for role in _SIDES if role in roles))
    replicates: dict[Request, Replicates] = {}
    found = PermutationTests({}, {})
    design: Design | None = None
    if plan.n_resamples:
        jackknifed = [r for r in defined if r.metric.jackknifed and _enough_texts(r, roles)]
        folds = None if blocks is None else blocks.folds
        replicates = leave_groups_out(jackknifed, pool, seed=plan.seed, progress=progress, folds=folds)
        if test and "reference" in roles:
            whole = Pool(tested) if tested else pool
            if blocks is None or blocks.design is None:
                design = design_of(*(part.sample for part in whole.parts), seed=plan.seed)
            else:
                design = blocks.design
            chosen = [r for r in defined if is_permutation(r.metric.test)]
            found = permutation_tests(
                chosen, whole, design, n_resamples=plan.n_resamples, seed=plan.seed, progress=progress
            )
    held_out = {} if not (plan.n_resamples and test) else _held_out_p_values(defined, points, roles)
    p_values = {**found.p_values, **held_out}
    seen = dict(zip(_SIDES, tested, strict=True)) if tested else {}
    results = [
        _result(
            request,
            points[request],
            roles,
            plan,
            replicates=replicates,
            p_value=p_values.get(request),
            design=design if request in found.p_values else None,
            tested=seen,
        )
        for request in requests
    ]
    known = found.adjusted if not held_out else _adjusted(found.adjusted, held_out)
    adjusted = {r: known.get(r, math.nan) for r in requests}
    return Measured(tuple(results), replicates, adjusted)


def _held_out_p_values(
    requests: Sequence[Request], points: Mapping[Request, _Point], roles: Mapping[str, Material]
) -> dict[Request, float]:
    """p-values of metrics that classify a held-out part; none where texts come in groups."""
    exact = [request for request in requests if request.metric.test == BINOMIAL]
    independent = all(material.sample.groups is None for material in roles.values())
    return {request: accuracy_p_value(points[request].parts) for request in exact if independent}


def _adjusted(permuted: Mapping[Request, float], held_out: Mapping[Request, float]) -> dict[Request, float]:
    """Adjusted p-values of both kinds of tests: each kind by its own method, then for their number."""
    total = len(permuted) + len(held_out)
    own = dict(zip(held_out, holm(list(held_out.values())), strict=True))
    kinds = [kind for kind in (permuted, own) if kind]
    return {request: min(1.0, p * total / len(kind)) for kind in kinds for request, p in kind.items()}


def views_of_job(job: Job) -> Iterator[tuple[Material, type[Any]]]:
    """The views that a job reads, each with its material, in the order of the requests."""
    for request in job.requests:
        if _why_not(request, job.roles) is None:
            yield from zip((job.roles[role] for role in request.metric.roles), request.metric.views, strict=True)


def _point(request: Request, roles: Mapping[str, Material]) -> _Point:
    started = time.perf_counter()
    metric = request.metric
    reason = _why_not(request, roles)
    if reason is not None:
        return _Point(math.nan, {}, reason, 0.0)
    views: list[Any] = [roles[role].view(kind) for role, kind in zip(metric.roles, metric.views, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(request.value(*views))
        parts = metric.parts(*views, **request.options) if metric.parts else {}
    undefined = metric.undefined if math.isnan(estimate) else None
    return _Point(estimate, parts, undefined, time.perf_counter() - started)


def _why_not(request: Request, roles: Mapping[str, Material]) -> str | None:
    """Why a metric cannot be measured on these samples: one is missing or too small; None if it can be."""
    metric = request.metric
    missing = [role for role in metric.roles if role not in roles]
    if missing:
        return f"needs {'training' if missing[0] == 'train' else missing[0]} texts"
    small = [role for role in metric.roles if len(roles[role].sample) < request.minimum]
    if not small:
        return None
    seen = len(roles[small[0]].sample)
    return f"{seen} {'text' if seen == 1 else 'texts'} in the {small[0]}; needs {request.minimum} or more"


def _enough_texts(request: Request, roles: Mapping[str, Material]) -> bool:
    needed = fewest_texts(request.metric.interval_method)
    return all(roles[role].sample.count_independent() >= needed for role in request.metric.roles if role in roles)


def _result(
    request: Request,
    point: _Point,
    roles: Mapping[str, Material],
    plan: Plan,
    *,
    replicates: Mapping[Request, Replicates],
    p_value: float | None,
    design: Design | None,
    tested: Mapping[str, Material],
) -> Result:
    metric, n = request.metric, len(roles["candidate"].sample)
    # A share may be of the candidate's texts or of the reference's; its interval is based on the fewer of the two.
    few = min(roles[role].sample.count_independent() for role in _SIDES if role in metric.roles and role in roles)
    wanted = plan.n_resamples and point.undefined is None
    found = result_of(
        request,
        point.estimate,
        interval=_interval(request, point, few, plan, replicates, roles) if wanted else None,
        p_value=p_value,
        parts=point.parts,
        undefined=point.undefined,
        signature=_signature(
            request,
            roles,
            plan,
            test=None if p_value is None else metric.test,
            design=None if p_value is None else design,
            tested=tested,
        ),
        seconds=point.seconds,
        n=n,
    )
    if wanted and found.interval is None and rests_on_one_fold(request, point.estimate, replicates):
        return replace(found, notes=(ONE_FOLD,))
    return found


def _interval(
    request: Request,
    point: _Point,
    few: int,
    plan: Plan,
    replicates: Mapping[Request, Replicates],
    roles: Mapping[str, Material],
) -> Interval | None:
    if request.metric.interval == NEWCOMBE:
        return separable_interval(point.parts, plan.level)
    if request.metric.interval != BINOMIAL:
        return interval(request, point.estimate, n=few, level=plan.level, replicates=replicates)
    # Texts of one group are not independent, and a binomial interval would be too short.
    independent = all(material.sample.groups is None for material in roles.values())
    return accuracy_interval(point.parts, plan.level) if independent else None


def _signature(
    request: Request,
    roles: Mapping[str, Material],
    plan: Plan,
    *,
    test: str | None,
    design: Design | None,
    tested: Mapping[str, Material],
) -> str:
    metric = request.metric
    # A describing metric's p-value depends on the reference too, so its signature names it where there was a test.
    named = {*metric.roles, *(["reference"] if design else [])}
    samples = {role: material.sample for role, material in roles.items() if role in named}
    if design:
        others = {role: material.sample for role, material in tested.items()}
        samples |= {
            f"tested-{role}": sample for role, sample in others.items() if sample.digest != samples[role].digest
        }
    sizes = [len(samples[role]) for role in _SIDES if role in samples]
    return signature(
        metric.name,
        option_fields(request),
        settings=setting_fields(roles["candidate"].settings, metric.views),
        data={
            **{role: sample_field(sample) for role, sample in samples.items()},
            **(metric.approximate(sum(sizes)) if metric.approximate else {}),
        },
        resampling=resampling_fields(
            metric.interval,
            test,
            level=plan.level,
            n_resamples=plan.n_resamples,
            seed=plan.seed,
            design=design.kind if design else _kind(roles),
            block=design.block if design else 1,
        ),
    )


def _kind(roles: Mapping[str, Material]) -> str:
    return "independent" if roles["candidate"].sample.groups is None else "grouped"


@dataclass(frozen=True)
class Difference:
    """How much higher the first candidate's value is, its interval and the p-value of no difference."""

    estimate: float
    low: float
    high: float
    p_value: float


def paired_difference(
    first: tuple[float, Replicates], second: tuple[float, Replicates], *, level: float = 0.95
) -> Difference:
    """The difference of a metric between two candidates measured against the same reference with the same seed.

    The reference's groups are the same for both, so its noise is differenced away; the candidates vary on their own.
    """
    return linear_combination([(1.0, *first), (-1.0, *second)], level=level)


def linear_combination(
    terms: Sequence[tuple[float, float, Replicates]], *, level: float = 0.95, n_paired: int = 0
) -> Difference:
    """The sum of weighted values of a metric, given as (weight, value, replicates), all against the same reference.

    The first `n_paired` candidates share their folds, because their texts have the same prompts in the same order; the
    others vary on their own.
    """
    value = sum(weight * estimate for weight, estimate, _ in terms)
    arrays = [[weight * part for part in replicates.by_sample] for weight, _, replicates in terms]
    # What comes after candidate and reference, such as the seeds of clusters, varies for each candidate on its own.
    rest = [part for parts in arrays for part in parts[2:]]
    if terms[0][2].joint:
        # Texts in groups: everything that leaves with a fold leaves at once.
        return _difference(value, [summed([part for parts in arrays for part in parts[:2]]), *rest], level)
    candidates = [parts[0] for parts in arrays]
    shared = [parts[1] for parts in arrays if len(parts) > 1]
    sources = [*_added(candidates[:n_paired]), *candidates[n_paired:], *_added(shared)]
    return _difference(value, [*sources, *rest], level)


def _added(arrays: Sequence[F64]) -> list[F64]:
    """The sum of arrays over the same folds as the only element, nothing if there are none."""
    return [np.sum(arrays, axis=0)] if arrays else []


def _difference(difference: float, sources: Sequence[F64], level: float) -> Difference:
    error = spread(sources)
    half = half_width(error, level)
    return Difference(difference, difference - half, difference + half, two_sided(difference, error))
