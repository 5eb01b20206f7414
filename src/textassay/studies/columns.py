"""Columns: the metrics of one candidate, of the yardstick, and of the candidate again at the yardstick's size."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from textassay.inference.jackknife import Replicates
from textassay.inference.measure import Measured, Plan, count_steps, measure
from textassay.inference.multiplicity import holm
from textassay.inference.overall import Overall, OverallPlan, overall_test
from textassay.inference.paired import paired_difference
from textassay.inference.progress import Progress
from textassay.inference.request import Request
from textassay.inference.result import Result
from textassay.inference.streams import stream
from textassay.studies.comparison import Contest
from textassay.studies.sizes import Cut, cut_to
from textassay.views.material import Material, Settings


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was measured of a candidate: all its texts, and where the yardstick had fewer, as many as that."""

    measured: Measured
    overall: Overall | None
    at_real_size: Mapping[Request, Result]
    replicates_at_real_size: Mapping[Request, Replicates]


@dataclass(frozen=True, eq=False)
class Measurer:
    """The requests and everything they are measured with."""

    requests: Sequence[Request]
    settings: Settings
    cut: Cut
    train: Material | None
    plan: Plan
    progress: Progress
    yardstick: bool = True

    @property
    def comparing(self) -> list[Request]:
        """Metrics that compare a candidate with a reference."""
        return [request for request in self.requests if request.metric.compares]

    @property
    def describing(self) -> list[Request]:
        """Metrics that describe one sample."""
        return [request for request in self.requests if not request.metric.compares]

    def steps(self) -> int:
        """Steps of progress for the yardstick and all candidates."""
        real = count_steps(self.requests, self.plan, tested=False)
        return real + len(self.cut.candidates) * (1 + count_steps(self.requests, self.plan, tested=True))

    def real(self) -> tuple[Result, ...]:
        """The yardstick: describing metrics on the reference alone, comparing metrics between two real parts."""
        if not self.yardstick:
            return tuple(map(_not_measured, self.requests))
        plain, held_out, base = (
            Material(sample, self.settings) for sample in (self.cut.plain, self.cut.held_out, self.cut.base)
        )
        found = dict(zip(self.describing, self._measure(self.describing, plain, None).results, strict=True))
        compared = self._measure(self.comparing, held_out, base, test=False)
        found |= dict(zip(self.comparing, compared.results, strict=True))
        return tuple(found[request] for request in self.requests)

    def candidate(self, name: str, material: Material, reference: Material) -> Outcome:
        """A candidate against the reference, and again on as few texts as the yardstick had."""
        tested = self._tested(name, material, reference)
        measured = self._measure(self.requests, material, reference, tested=tested)
        again = [*self._compared_again(material), *self._described_again(material)] if self.yardstick else []
        overall = None
        if self.plan.n_resamples:
            plan = OverallPlan(self.plan.level, self.plan.n_resamples, self.plan.seed, len(self.cut.candidates))
            overall = overall_test(*tested, plan=plan, progress=self.progress)
        return Outcome(
            measured,
            overall,
            {request: result for request, result, _ in again},
            {request: replicates for request, _, replicates in again if replicates is not None},
        )

    def _tested(self, name: str, material: Material, reference: Material) -> tuple[Material, Material]:
        """The texts that the tests use; what the estimates use already is not read again."""
        mine, real = self.cut.tested[name]
        return (
            material if mine is material.sample else Material(mine, self.settings),
            reference if real is reference.sample else Material(real, self.settings),
        )

    def _measure(
        self,
        requests: Sequence[Request],
        candidate: Material,
        reference: Material | None,
        *,
        tested: tuple[Material, Material] | None = None,
        test: bool = True,
    ) -> Measured:
        roles = {"candidate": candidate, "reference": reference, "train": self.train}
        given = {role: material for role, material in roles.items() if material is not None}
        return measure(requests, given, plan=self.plan, test=test, tested=tested, progress=self.progress)

    def _compared_again(self, material: Material) -> Iterable[tuple[Request, Result, Replicates | None]]:
        size = len(self.cut.base)
        if len(material.sample) == len(self.cut.reference) == size:
            return []
        base = Material(self.cut.base, self.settings)
        return self._again(self.comparing, {"candidate": self._cut(material, size), "reference": base})

    def _described_again(self, material: Material) -> Iterable[tuple[Request, Result, Replicates | None]]:
        size = len(self.cut.plain)
        if len(material.sample) == size:
            return []
        train = {} if self.train is None else {"train": self.train}
        return self._again(self.describing, {"candidate": self._cut(material, size), **train})

    def _again(
        self, requests: Sequence[Request], roles: Mapping[str, Material]
    ) -> Iterable[tuple[Request, Result, Replicates | None]]:
        found = measure(requests, roles, plan=self.plan, test=False)
        return [
            (request, result, found.replicates.get(request))
            for request, result in zip(requests, found.results, strict=True)
        ]

    def _cut(self, material: Material, size: int) -> Material:
        rng = stream(self.plan.seed, "at real size", material.sample.digest)
        return Material(cut_to(material.sample, size, rng), self.settings)


def _not_measured(request: Request) -> Result:
    metric = request.metric
    return Result(
        metric=metric.name,
        options=dict(request.options),
        estimate=math.nan,
        better=metric.better,
        aspect=metric.aspect,
        interval=None,
        p_value=None,
        parts={},
        undefined="not measured: the yardstick was not asked for",
        signature="",
        seconds=0.0,
    )


def contests(requests: Sequence[Request], outcomes: Mapping[str, Outcome], *, level: float) -> Iterable[Contest]:
    """Every two candidates on every metric with a jackknife; of unequal samples, parts of one size."""
    found = list(_contests(requests, outcomes, level=level))
    adjusted = holm([contest.p_value for contest in found])
    return [replace(contest, adjusted=p) for contest, p in zip(found, adjusted, strict=True)]


def _contests(requests: Sequence[Request], outcomes: Mapping[str, Outcome], *, level: float) -> Iterable[Contest]:
    sizes = {outcome.measured.results[0].n for outcome in outcomes.values()} if requests else set()
    for (first, one), (second, other) in combinations(outcomes.items(), 2):
        for place, request in enumerate(requests):
            mine, theirs = (_standing(outcome, place, request, whole=len(sizes) == 1) for outcome in (one, other))
            if mine is not None and theirs is not None:
                gap = paired_difference(mine, theirs, level=level)
                yield Contest(first, second, request.label, gap.estimate, gap.low, gap.high, gap.p_value)


def _standing(outcome: Outcome, place: int, request: Request, *, whole: bool) -> tuple[float, Replicates] | None:
    if whole or request not in outcome.at_real_size:
        replicates = outcome.measured.replicates.get(request)
        estimate = outcome.measured.results[place].estimate
    else:
        replicates = outcome.replicates_at_real_size.get(request)
        estimate = outcome.at_real_size[request].estimate
    return None if replicates is None else (estimate, replicates)
