"""Compare: is each candidate distributed like the reference, and if not, how does it differ?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.engines.local import Engine, LocalEngine
from textassay.inference.measure import Plan
from textassay.inference.multiplicity import threshold
from textassay.inference.permutation import smallest_p
from textassay.inference.progress import Progress, Silent
from textassay.inference.request import Request, parse_requests
from textassay.inference.streams import stream
from textassay.studies.checks import check_plan, enough_resamples
from textassay.studies.columns import Measurer, Outcome, contests
from textassay.studies.comparison import Column, Comparison
from textassay.studies.differences import what_differs
from textassay.studies.encoding import choose, show_all
from textassay.studies.formatting import check_format
from textassay.studies.meaning_differs import what_differs_in_meaning
from textassay.studies.sizes import cut_samples
from textassay.studies.verdict import Row, judge
from textassay.views.encoders.base import Encoder
from textassay.views.material import Material, Settings


def compare(
    reference: Any,
    candidates: Mapping[str, Any],
    *,
    metrics: Sequence[str] = (),
    families: Sequence[str] = (),
    tokenizer: str = "words",
    lowercase: bool = False,
    encoder: str | Encoder | None = None,
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
    So is the encoder (`"minilm"`, `"lsa"`, ...), which may also be an object with `name`, `dimension` and `encode`.
    """
    check_plan(level, n_resamples, seed)
    progress = progress or Silent()
    named = {spec.partition(":")[0].strip() for spec in metrics}
    choice = choose(parse_requests(metrics, families=families), encoder, named=named, families=families)
    words = get_tokenizer(tokenizer, lowercase=lowercase)
    samples = {name: as_sample(texts, name) for name, texts in candidates.items()}
    if not samples:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    real = as_sample(reference, "reference")
    chosen = _answerable(choice.requests, train is not None, named)
    tests = len(samples) * sum(request.metric.test is not None for request in chosen)
    cut = cut_samples(real, samples, size=size, seed=seed)
    seen = None
    if choice.encoder is not None:
        seen = show_all(choice.encoder, reference=real, candidates=samples, used=cut.everything, progress=progress)
    settings = Settings(words, seen)
    measurer = Measurer(
        requests=chosen,
        settings=settings,
        cut=cut,
        train=None if train is None else Material(as_sample(train, "train"), settings),
        plan=Plan(level, enough_resamples(n_resamples, tests, level), seed),
        progress=progress,
    )
    notes = (*choice.notes, *(seen.notes if seen else ()))
    study = _Study(measurer, reference=real, candidates=samples, asked_resamples=n_resamples, notes=notes)
    return study.run(engine or LocalEngine())


def as_sample(texts: Any, name: str) -> Sample:
    """A sample from whatever a user hands over."""
    return texts if isinstance(texts, Sample) else read_sample(texts, name=name)


def _answerable(requests: list[Request], has_train: bool, asked: set[str]) -> list[Request]:
    """Without a training file the default table leaves out what needs one; a metric asked for by name stays."""
    return [r for r in requests if has_train or r.metric.name in asked or "train" not in r.metric.roles]


@dataclass(frozen=True, eq=False)
class _Study:
    measurer: Measurer
    reference: Sample
    candidates: Mapping[str, Sample]
    asked_resamples: int
    notes: tuple[str, ...]

    def run(self, engine: Engine) -> Comparison:
        measurer, cut = self.measurer, self.measurer.cut
        reference = Material(cut.reference, measurer.settings)
        materials = [Material(sample, measurer.settings) for sample in cut.candidates.values()]
        measurer.progress.start("comparing", measurer.steps())
        tasks: list[Callable[[], Any]] = [
            measurer.real,
            *(partial(measurer.candidate, material, reference) for material in materials),
            *(partial(self._remarks, name, cut.candidates[name]) for name in cut.candidates),
        ]
        real_results, *rest = engine.map(lambda task: task(), tasks)
        outcomes: dict[str, Outcome] = dict(zip(cut.candidates, rest[: len(materials)], strict=True))
        real = Column("real v real", len(cut.held_out), cut.held_out.digest, real_results)
        columns = [
            self._column(name, outcome, remarks)
            for (name, outcome), remarks in zip(outcomes.items(), rest[len(materials) :], strict=True)
        ]
        return Comparison(
            reference=Column(cut.reference.name, len(cut.reference), cut.reference.digest, ()),
            real=real,
            candidates=tuple(self._judged(columns, real)),
            labels=tuple(request.label for request in measurer.requests),
            contests=tuple(contests(measurer.requests, outcomes, level=measurer.plan.level)),
            level=measurer.plan.level,
            notes=tuple(self._notes(columns)),
        )

    def _remarks(self, name: str, sample: Sample) -> dict[str, Any]:
        """Format, phrases and meaning; on as many texts of both sides, or the larger one would show its rare words."""
        settings, seed = self.measurer.settings, self.measurer.plan.seed
        size = min(len(sample), len(self.measurer.cut.reference))
        sides = [
            Material(side.cut(size, stream(seed, "phrases", side.digest)), settings)
            for side in (sample, self.measurer.cut.reference)
        ]
        over, under = what_differs(*sides)
        # The whole samples, not what the cut left of them: blank texts are counted against all texts.
        findings = check_format(self.candidates[name], self.reference, tokenizer=settings.tokenizer)
        meaning = None if settings.encoder is None else what_differs_in_meaning(*sides, seed=seed)
        return {"findings": findings, "over": over, "under": under, "meaning": meaning}

    def _column(self, name: str, outcome: Outcome, remarks: dict[str, Any]) -> Column:
        sample = self.measurer.cut.candidates[name]
        again = {request.label: result for request, result in outcome.at_real_size.items()}
        results = outcome.measured.results
        return Column(name, len(sample), sample.digest, results, at_real_size=again, **remarks)

    def _judged(self, columns: list[Column], real: Column) -> Iterable[Column]:
        plan, requests = self.measurer.plan, self.measurer.requests
        table = Comparison(real, real, tuple(columns), (), (), plan.level, ())
        tests = sum(result.p_value is not None for column in columns for result in column.results)
        for column, adjusted in zip(columns, table.adjusted(), strict=True):
            rows = [
                Row(
                    request.label,
                    result,
                    yardstick,
                    p < threshold(plan.level),
                    column.beside_real(request.label, result),
                )
                for request, result, yardstick, p in zip(requests, column.results, real.results, adjusted, strict=True)
            ]
            smallest = smallest_p((column.n, len(self.measurer.cut.reference)), plan.n_resamples)
            testable = tests * smallest < threshold(plan.level)
            yield replace(column, verdict=judge(rows, resampled=plan.n_resamples > 0, testable=testable))

    def _notes(self, columns: Sequence[Column]) -> Iterable[str]:
        cut, plan = self.measurer.cut, self.measurer.plan
        yield from self.notes
        yield from cut.notes
        for name, sample in [("reference", cut.reference), *cut.candidates.items()]:
            yield from (f"{name}: {note}" for note in sample.notes)
        for column in columns:
            if column.digest == cut.reference.digest:
                yield f"{column.name} has the same texts as the reference: it is a copy, not a second sample"
        if plan.n_resamples > self.asked_resamples:
            yield f"{plan.n_resamples} resamples instead of {self.asked_resamples}: this many tests need them"
