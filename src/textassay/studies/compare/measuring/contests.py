"""Contests: every two candidates of a comparison on every metric that has a jackknife."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from textassay.inference.intervals import Replicates
from textassay.inference.measure import paired_difference
from textassay.inference.p_values import holm
from textassay.metrics.registry import Request
from textassay.studies.compare.measuring.measurer import CandidateMeasured
from textassay.studies.outcome import Contest


def contests(
    requests: Sequence[Request], outcomes: Mapping[str, CandidateMeasured], *, level: float
) -> Iterable[Contest]:
    """Every two candidates on every metric with a jackknife; samples of unequal size are cut to one size."""
    found = list(_contests(requests, outcomes, level=level))
    adjusted = holm([contest.p_value for contest in found])
    return [replace(contest, adjusted=p) for contest, p in zip(found, adjusted, strict=True)]


def _contests(
    requests: Sequence[Request], outcomes: Mapping[str, CandidateMeasured], *, level: float
) -> Iterable[Contest]:
    sizes = {outcome.measured.results[0].n for outcome in outcomes.values()} if requests else set()
    for (first, one), (second, other) in combinations(outcomes.items(), 2):
        for place, request in enumerate(requests):
            mine, theirs = (
                comparable_value(outcome, place, request, whole=len(sizes) == 1) for outcome in (one, other)
            )
            if mine is not None and theirs is not None:
                gap = paired_difference(mine, theirs, level=level)
                yield Contest(first, second, request.label, gap.estimate, gap.low, gap.high, gap.p_value)


def comparable_value(
    outcome: CandidateMeasured, place: int, request: Request, *, whole: bool
) -> tuple[float, Replicates] | None:
    """The value of a metric with its jackknife: on all texts, or on as many as the baseline has if sizes differ."""
    if whole or request not in outcome.at_baseline_size:
        replicates = outcome.measured.replicates.get(request)
        estimate = outcome.measured.results[place].estimate
    else:
        replicates = outcome.replicates_at_baseline_size.get(request)
        estimate = outcome.at_baseline_size[request].estimate
    return None if replicates is None else (estimate, replicates)
