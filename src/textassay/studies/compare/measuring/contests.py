"""Contests: every two candidates of a comparison on every metric that has a jackknife."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from textassay.inference.intervals import Replicates
from textassay.inference.measure import paired_difference
from textassay.inference.p_values import holm
from textassay.inference.result import Result
from textassay.metrics.registry import Request
from textassay.studies.compare.measuring.measurer import CandidateMeasured
from textassay.studies.contests import Contest


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
        for index, request in enumerate(requests):
            (mine, own), (theirs, others) = (
                comparable_value(outcome, index, request, whole=len(sizes) == 1) for outcome in (one, other)
            )
            if own is not None and others is not None:
                gap = paired_difference((mine.estimate, own), (theirs.estimate, others), level=level)
                yield Contest(first, second, request.label, gap.estimate, gap.low, gap.high, gap.p_value)


def comparable_value(
    outcome: CandidateMeasured, index: int, request: Request, *, whole: bool
) -> tuple[Result, Replicates | None]:
    """A result with its jackknife: on all texts, or on as many as the baseline has if sizes differ."""
    if whole or request not in outcome.at_baseline_size:
        return outcome.measured.results[index], outcome.measured.replicates.get(request)
    return outcome.at_baseline_size[request], outcome.replicates_at_baseline_size.get(request)
