"""The measurer: everything that is measured on the candidates and on the baseline of a comparison."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.printable import many
from textassay.corpus.sample import Sample, stream
from textassay.corpus.sizes import Cut
from textassay.inference.intervals import Replicates
from textassay.inference.measure import Job, Measured, measure_jobs, views_of_job
from textassay.inference.overall.bank import views_of_bank
from textassay.inference.overall.test import Overall, OverallPlan, overall_test
from textassay.inference.plan import Plan, Progress
from textassay.inference.result import Result, result_of
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.registry import Request
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.compare.measuring.equal_lengths import EqualLengths, at_equal_lengths


@dataclass(frozen=True, eq=False)
class CandidateMeasured:
    """What was measured on a candidate: on all its texts and, if the baseline had fewer, on as many as that."""

    measured: Measured
    at_baseline_size: Mapping[Request, Result]
    replicates_at_baseline_size: Mapping[Request, Replicates]


@dataclass(frozen=True, eq=False)
class Measurer:
    """The requests and everything they are measured with. Each sample has one material, so no view is built twice."""

    requests: Sequence[Request]
    settings: ViewSettings
    cut: Cut
    train: Material | None
    plan: Plan
    progress: Progress
    baseline: bool = True
    # Whether each metric is tested; the overall test does not depend on it.
    tests: bool = True
    _materials: dict[int, Material] = field(default_factory=dict, repr=False)

    def material(self, sample: Sample) -> Material:
        """The material of a sample of the cut."""
        return self._materials.setdefault(id(sample), Material(sample, self.settings))

    def forget(self, sample: Sample) -> None:
        """Free the views of a sample that nothing will be measured on again."""
        self._materials.pop(id(sample), None)

    @property
    def comparing(self) -> list[Request]:
        """Metrics that compare a candidate with a reference."""
        return [request for request in self.requests if request.metric.compares]

    @property
    def describing(self) -> list[Request]:
        """Metrics that describe one sample."""
        return [request for request in self.requests if not request.metric.compares]

    def steps(self) -> int:
        """Steps of progress for the baseline and all candidates."""
        if not self.plan.n_resamples:
            return len(self.cut.candidates)
        jackknifed = sum(request.metric.jackknifed for request in self.requests)
        exchanged = self.tests * sum(request.metric.test is not None for request in self.requests)
        tested = exchanged * (self.plan.n_resamples + 1)
        return jackknifed + len(self.cut.candidates) * (1 + jackknifed + tested)

    def real_jobs(self) -> list[Job]:
        """The baseline: describing metrics on the reference alone, comparing metrics between two real parts."""
        if not self.baseline:
            return []
        jobs = [Job(self.describing, self._with_train({"candidate": self.material(self.cut.plain)}))]
        if self.cut.why_no_baseline is None:
            parts = {"candidate": self.material(self.cut.held_out), "reference": self.material(self.cut.base)}
            jobs.append(Job(self.comparing, self._with_train(parts), test=False))
        return [job for job in jobs if job.requests]

    def candidate_jobs(self, name: str) -> list[Job]:
        """A candidate against the reference, and again on as few texts as the baseline had."""
        material, reference = self.material(self.cut.candidates[name]), self.material(self.cut.reference)
        roles = self._with_train({"candidate": material, "reference": reference})
        whole = Job(self.requests, roles, tested=self.tested(name), test=self.tests)
        return [whole, *(self._at_baseline_size(name) if self.baseline else ())]

    def views(self, jobs: Iterable[Job]) -> dict[Material, list[type[Any]]]:
        """The views that jobs and the overall test read, by material."""
        tested = [part for name in self.cut.candidates for part in self.tested(name) if self.plan.n_resamples]
        # First the views that others are made from, last those that only the overall test reads. Moments of vectors
        # that are not in memory yet are read from the encoder again for each resample.
        first = (Sequences, TextNgrams, *((Vectors,) if self.settings.encoder is not None else ()))
        pairs: list[tuple[Material, type[Any]]] = [(part, kind) for part in tested for kind in first]
        pairs += [pair for job in jobs if not job.own for pair in views_of_job(job)]
        pairs += [(part, kind) for part in tested for kind in views_of_bank(part)]
        read: dict[Material, list[type[Any]]] = {}
        for material, kind in dict.fromkeys(pairs):
            read.setdefault(material, []).append(kind)
        return read

    def real(self, jobs: Sequence[Job], found: Sequence[Measured]) -> Measured:
        """The baseline from what its jobs found."""
        if not self.baseline:
            return Measured(tuple(_not_measured(request, "not asked for") for request in self.requests), {}, {})
        results, replicates = _joined(jobs, found)
        missing = {request: _not_measured(request, self.cut.why_no_baseline or "") for request in self.comparing}
        results = missing | results
        n = min(len(self.cut.held_out), len(self.cut.base))
        results |= {
            request: _not_measured(
                request, f"two parts of the reference with {many(n, 'text')} each; needs {request.minimum} or more"
            )
            for request in self.comparing
            if self.cut.why_no_baseline is None and n < request.minimum
        }
        return Measured(tuple(results[request] for request in self.requests), replicates, {})

    def candidate(self, jobs: Sequence[Job], found: Sequence[Measured]) -> CandidateMeasured:
        """A candidate from what its jobs found."""
        return CandidateMeasured(found[0], *_joined(jobs[1:], found[1:]))

    def measuring(self, jobs: Sequence[Job]) -> Callable[[], list[Measured]]:
        """The jobs, ready to run."""
        return partial(measure_jobs, jobs, plan=self.plan, progress=self.progress)

    def overall(self, name: str) -> Callable[[], Overall | None]:
        """The overall test of a candidate, ready to run; it returns None where only estimates are wanted."""
        if not self.plan.n_resamples:
            return lambda: None
        plan = OverallPlan(**vars(self.plan), n_candidates=len(self.cut.candidates))
        return partial(overall_test, *self.tested(name), plan=plan, progress=self.progress)

    def equal_lengths(self, name: str) -> Callable[[], EqualLengths]:
        """What the verdict reads at equal lengths, ready to run; nothing where no baseline was asked for."""
        if not (self.baseline and self.plan.n_resamples):
            return EqualLengths
        cut = self.cut
        if cut.why_no_baseline is not None:
            return partial(
                at_equal_lengths,
                self.requests,
                self.material(cut.candidates[name]),
                (self.material(cut.plain), None),
                plan=self.plan,
            )
        mine = self.material(cut.like_held_out.get(name, cut.candidates[name]))
        real = self.material(cut.base), self.material(cut.held_out)
        return partial(at_equal_lengths, self.requests, mine, real, plan=self.plan)

    def _with_train(self, roles: dict[str, Material]) -> dict[str, Material]:
        return roles if self.train is None else roles | {"train": self.train}

    def tested(self, name: str) -> tuple[Material, Material]:
        """Candidate and reference as the tests use them."""
        mine, real = self.cut.tested[name]
        return self.material(mine), self.material(real)

    def _at_baseline_size(self, name: str) -> Iterator[Job]:
        """What is measured again, on as many texts as the baseline had: metrics that compare, metrics that describe."""
        material = self.material(self.cut.candidates[name])
        size, base = len(self.cut.base), self.material(self.cut.base)
        is_alike = len(material.sample) == len(self.cut.reference) == size
        if self.comparing and self.cut.why_no_baseline is None and not is_alike:
            alike = self.cut.like_held_out.get(name)
            cut = self._cut(material, size) if alike is None else Material(alike, self.settings)
            yield Job(self.comparing, {"candidate": cut, "reference": base}, test=False, own=(cut,))
        if self.describing and len(material.sample) != len(self.cut.plain):
            cut = self._cut(material, len(self.cut.plain))
            yield Job(self.describing, self._with_train({"candidate": cut}), test=False, own=(cut,))

    def _cut(self, material: Material, size: int) -> Material:
        rng = stream(self.plan.seed, "at real size", material.sample.digest)
        return Material(material.sample.cut(size, rng), self.settings)


def _joined(jobs: Sequence[Job], found: Sequence[Measured]) -> tuple[dict[Request, Result], dict[Request, Replicates]]:
    """Results and replicates of several jobs by request."""
    results = {
        request: result
        for job, each in zip(jobs, found, strict=True)
        for request, result in zip(job.requests, each.results, strict=True)
    }
    return results, {request: values for each in found for request, values in each.replicates.items()}


def _not_measured(request: Request, why: str) -> Result:
    return result_of(request, math.nan, undefined=f"no baseline: {why}", signature="")
