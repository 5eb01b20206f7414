"""Compare: is each candidate distributed like the reference, and if not, how does it differ?"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.engines.local import Engine, LocalEngine
from textassay.inference.measure import Measured, Plan, count_steps, measure
from textassay.inference.paired import paired_difference
from textassay.inference.progress import Progress, Silent
from textassay.inference.request import Request, parse_requests
from textassay.inference.result import Result
from textassay.inference.streams import stream
from textassay.studies.comparison import Column, Comparison, Contest
from textassay.studies.differences import what_differs
from textassay.studies.formatting import check_format
from textassay.studies.sizes import Cut, cut_samples
from textassay.studies.verdict import Row, judge
from textassay.views.material import Material, Settings

# Room between the smallest p-value that can come out and the one that is needed.
_MARGIN = 1.2


def compare(
    reference: Any,
    candidates: Mapping[str, Any],
    *,
    metrics: Sequence[str] = (),
    families: Sequence[str] = (),
    tokenizer: str = "words",
    lowercase: bool = False,
    train: Any = None,
    size: str | int = "match",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare candidates with a reference; texts are a `Sample`, a path, or any iterable of strings.

    Metrics are written as on the command line (`["bleu:n=4", "cnd"]`); without any, every default metric is measured.
    """
    check_plan(level, n_resamples, seed)
    requests = parse_requests(metrics, families=families)
    settings = Settings(get_tokenizer(tokenizer, lowercase=lowercase))
    samples = {name: as_sample(texts, name) for name, texts in candidates.items()}
    if not samples:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    real = as_sample(reference, "reference")
    chosen = _answerable(requests, train is not None, asked=bool(metrics))
    tests = len(samples) * sum(request.metric.test is not None for request in chosen)
    study = _Study(
        reference=real,
        candidates=samples,
        requests=chosen,
        settings=settings,
        cut=cut_samples(real, samples, size=size, seed=seed),
        train=None if train is None else Material(as_sample(train, "train"), settings),
        plan=Plan(level, enough_resamples(n_resamples, tests, level), seed),
        asked_resamples=n_resamples,
        progress=progress or Silent(),
    )
    return study.run(engine or LocalEngine())


def check_plan(level: float, n_resamples: int, seed: int) -> None:
    """Refuse settings that no interval or test can be made from."""
    if not 0.5 <= level < 1:
        raise InputError(f"--level is {level}; wanted at least 0.5 and below 1, such as 0.95")
    if n_resamples < 0 or 0 < n_resamples < 19:
        raise InputError(f"--resamples is {n_resamples}; wanted 0 (estimates only) or at least 19")
    if seed < 0:
        raise InputError(f"--seed is {seed}; wanted 0 or more")


def enough_resamples(wanted: int, tests: int, level: float) -> int:
    """At least as many as the Holm correction of this many tests needs for any of them to become significant.

    >>> enough_resamples(999, 36, 0.95), enough_resamples(999, 120, 0.95), enough_resamples(0, 120, 0.95)
    (999, 2879, 0)
    """
    return max(wanted, math.ceil(_MARGIN * tests / (1 - level) - 1e-9) - 1) if wanted else 0


def as_sample(texts: Any, name: str) -> Sample:
    """A sample from whatever a user hands over."""
    return texts if isinstance(texts, Sample) else read_sample(texts, name=name)


def _answerable(requests: list[Request], has_train: bool, *, asked: bool) -> list[Request]:
    """Without a training file the default table leaves out what needs one; a metric asked for by name stays."""
    return [r for r in requests if has_train or asked or "train" not in r.metric.roles]


@dataclass(frozen=True, eq=False)
class _Study:
    reference: Sample
    candidates: Mapping[str, Sample]
    requests: Sequence[Request]
    settings: Settings
    cut: Cut
    train: Material | None
    plan: Plan
    asked_resamples: int
    progress: Progress

    def run(self, engine: Engine) -> Comparison:
        reference = Material(self.cut.reference, self.settings)
        materials = {name: Material(sample, self.settings) for name, sample in self.cut.candidates.items()}
        self.progress.start("comparing", self._steps())
        tasks: list[tuple[str, Material | None]] = [("", None), *materials.items()]
        (real, _), *measured = engine.map(lambda task: self._column(task[0], task[1], reference), tasks)
        columns = self._judged([column for column, _ in measured], real)
        return Comparison(
            reference=_column_of(self.cut.reference, ()),
            real=real,
            candidates=tuple(columns),
            labels=tuple(request.label for request in self.requests),
            contests=tuple(self._contests({c.name: m for c, m in measured if m is not None})),
            level=self.plan.level,
            notes=tuple(self._notes(columns)),
        )

    def _steps(self) -> int:
        describing = [request for request in self.requests if not request.metric.compares]
        comparing = [request for request in self.requests if request.metric.compares]
        real = count_steps(describing, self.plan, tested=False) + count_steps(comparing, self.plan, tested=True)
        return real + len(self.cut.candidates) * count_steps(self.requests, self.plan, tested=True)

    def _column(self, name: str, material: Material | None, reference: Material) -> tuple[Column, Measured | None]:
        if material is None:
            return self._real(reference), None
        measured = self._measure(self.requests, material, reference)
        over, under = what_differs(material, reference)
        # The whole samples, not what the cut left of them: blank texts are counted against all texts.
        findings = check_format(self.candidates[name], self.reference, tokenizer=self.settings.tokenizer)
        column = replace(_column_of(material.sample, measured.results), name=name)
        again = self._at_real_size(material)
        return replace(column, findings=findings, over=over, under=under, at_real_size=again), measured

    def _at_real_size(self, material: Material) -> dict[str, Result]:
        """Comparing metrics again, on as few texts as the yardstick had; nothing where it had as many."""
        size = len(self.cut.base)
        if size == len(self.cut.reference):
            return {}
        comparing = [request for request in self.requests if request.metric.compares]
        smaller = material.sample.cut(size, stream(self.plan.seed, "at real size", material.sample.digest))
        roles = {"candidate": Material(smaller, self.settings), "reference": Material(self.cut.base, self.settings)}
        results = measure(comparing, roles, plan=self.plan, test=False).results
        return {request.label: result for request, result in zip(comparing, results, strict=True)}

    def _measure(self, requests: Sequence[Request], candidate: Material, reference: Material | None) -> Measured:
        roles = {"candidate": candidate, "reference": reference, "train": self.train}
        given = {role: material for role, material in roles.items() if material is not None}
        return measure(requests, given, plan=self.plan, progress=self.progress)

    def _real(self, reference: Material) -> Column:
        """The yardstick: describing metrics on the whole reference, comparing metrics between two real parts."""
        held_out = Material(self.cut.held_out, self.settings)
        base = reference if self.cut.base is self.cut.reference else Material(self.cut.base, self.settings)
        describing = [request for request in self.requests if not request.metric.compares]
        comparing = [request for request in self.requests if request.metric.compares]
        found = dict(zip(describing, self._measure(describing, reference, None).results, strict=True))
        found |= dict(zip(comparing, self._measure(comparing, held_out, base).results, strict=True))
        column = _column_of(self.cut.held_out, tuple(found[request] for request in self.requests))
        return replace(column, name="real v real")

    def _judged(self, columns: list[Column], real: Column) -> list[Column]:
        table = Comparison(real, real, tuple(columns), (), (), self.plan.level, ())
        judged = []
        for column, adjusted in zip(columns, table.adjusted(), strict=True):
            rows = [
                Row(
                    request.label, result, yardstick, p < 1 - self.plan.level, column.beside_real(request.label, result)
                )
                for request, result, yardstick, p in zip(
                    self.requests, column.results, real.results, adjusted, strict=True
                )
            ]
            judged.append(replace(column, verdict=judge(rows, resampled=self.plan.n_resamples > 0)))
        return judged

    def _contests(self, measured: Mapping[str, Measured]) -> Iterable[Contest]:
        for (first, one), (second, other) in combinations(measured.items(), 2):
            for place, request in enumerate(self.requests):
                if request in one.replicates and request in other.replicates:
                    difference = paired_difference(
                        (one.results[place].estimate, one.replicates[request]),
                        (other.results[place].estimate, other.replicates[request]),
                        level=self.plan.level,
                    )
                    yield Contest(
                        first, second, request.label, difference.estimate, difference.low, difference.high,
                        difference.p_value,
                    )  # fmt: skip

    def _notes(self, columns: Sequence[Column]) -> Iterable[str]:
        yield from self.cut.notes
        everyone = {"reference": self.cut.reference, **self.cut.candidates}
        for name, sample in everyone.items():
            yield from (f"{name}: {note}" for note in sample.notes)
        for column in columns:
            if column.digest == self.cut.reference.digest:
                yield f"{column.name} has the same texts as the reference: it is a copy, not a second sample"
        if self.plan.n_resamples > self.asked_resamples:
            yield f"{self.plan.n_resamples} resamples instead of {self.asked_resamples}: this many tests need them"


def _column_of(sample: Sample, results: tuple[Any, ...]) -> Column:
    return Column(sample.name, len(sample), sample.digest, results)
