"""Permutation tests: exchange labels between candidate and reference and see how often chance does as badly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.design import Design
from textassay.inference.p_values import p_value, step_down
from textassay.inference.progress import Progress
from textassay.metrics.registry import Request
from textassay.metrics.views import Pool, Resamples

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """The p-value of each metric, alone and adjusted for all metrics tested with it."""

    p_values: Mapping[Request, float]
    adjusted: Mapping[Request, float]


def permutation_tests(
    requests: Sequence[Request], pool: Pool, design: Design, *, n_resamples: int, seed: int, progress: Progress
) -> PermutationTests:
    """Test each metric that declares this test; the candidate is the pool's first part.

    A metric that compares is tested towards worse (one-sided), or where neither higher nor lower is better, both ways;
    one that describes, for any difference from the reference's own value. The same exchanges serve all metrics, so a
    metric's own p-value does not depend on which others there are; the adjusted one does (Westfall and Young).
    """
    if not requests:
        return PermutationTests({}, {})
    masks = design.labellings(n_resamples, seed)
    values = _statistics(requests, pool, Resamples(design.units, (masks, ~masks)), progress)
    extremes = [values[r] if _is_one_sided(r) else off_centre(values[r]) for r in requests]
    return PermutationTests(
        {r: p_value(float(row[0]), row[1:], exact=False) for r, row in zip(requests, extremes, strict=True)},
        dict(zip(requests, step_down(np.stack(extremes)).tolist(), strict=True)),
    )


def is_permutation(test: str | None) -> bool:
    """True for this test and its variants: `permutation:second-order` tests an expansion of the metric."""
    return test is not None and test.partition(":")[0] == "permutation"


def _is_one_sided(request: Request) -> bool:
    return request.metric.compares and request.metric.better != "closer"


def off_centre(values: F64) -> F64:
    """How far each value is from the mean over all labellings; a difference of samples of one size, from 0.

    The observed labelling is among them, so the test keeps its level.
    """
    gaps = np.abs(values - values.mean())
    # Where all labellings have one value, rounding must not tell them apart.
    return np.where(gaps <= _ROUNDING * np.abs(values).max(initial=0.0), 0.0, gaps)


def _statistics(
    requests: Sequence[Request], pool: Pool, resamples: Resamples, progress: Progress
) -> dict[Request, F64]:
    quick = [request for request in requests if request.metric.exchange is not None]
    found = {request: _exchanged(request, pool, resamples, progress) for request in quick}
    others = [request for request in requests if request not in found]
    values: dict[Request, list[Any]] = {request: [] for request in others}
    for kind in dict.fromkeys(request.metric.views[0] for request in others):
        mine = [request for request in others if request.metric.views[0] is kind]
        for candidate, reference in kind.resample(pool, resamples):  # type: ignore[attr-defined]
            for request in mine:
                values[request].append(np.atleast_1d(_statistic(request, candidate, reference)))
            progress.step(len(values[mine[0]][-1]) * len(mine))
    return found | {request: np.concatenate(rows) for request, rows in values.items()}


def _exchanged(request: Request, pool: Pool, resamples: Resamples, progress: Progress) -> F64:
    """Some metrics have a function for exchanged labels, which is much faster than computing them again."""
    exchange = request.metric.exchange
    assert exchange is not None
    views: list[Any] = [part.view(request.metric.views[0]) for part in pool.parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        values: F64 = exchange(*views, resamples=resamples, **request.options)
    progress.step(len(values))
    return _towards_worse(request, values)


def _statistic(request: Request, candidate: Any, reference: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        if not request.metric.compares:
            return request(candidate) - request(reference)
        return _towards_worse(request, request(candidate, reference))


def _towards_worse(request: Request, values: Any) -> Any:
    """Turned so that more is worse; differences of a metric that describes stay as they are."""
    return -values if request.metric.compares and request.metric.better == "higher" else values
