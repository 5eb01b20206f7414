"""A run of a comparison: builds all views, measures and tests, looks for what differs, and judges."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow.compute as pc

from textassay.corpus.markdown import plain_words, stripped
from textassay.corpus.printable import listed, many
from textassay.corpus.sample import FEW_LOST, Sample, stream
from textassay.encoders.remembered import Remembered
from textassay.engines.base import Engine
from textassay.inference.dependence import DependenceWarning, check_dependence, check_order
from textassay.inference.format_check import CASE, check_format, word_counts
from textassay.inference.format_check import Finding as FormatFinding
from textassay.inference.intervals import FEWEST_TEXTS
from textassay.inference.measure import Measured
from textassay.inference.overall.test import Overall, OverallPlan, overall_test
from textassay.inference.p_values import holm, is_significant
from textassay.inference.plan import Plan
from textassay.inference.record_design import RecordDesign
from textassay.inference.result import Result
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.registry import Request
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.compare.differences import what_differs
from textassay.studies.compare.meaning import what_differs_in_meaning
from textassay.studies.compare.measuring.axes import REAL, axes_without_markup
from textassay.studies.compare.measuring.contests import comparable_value, contests
from textassay.studies.compare.measuring.measurer import CandidateMeasured, Measurer
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.compare.separation import what_separates
from textassay.studies.compare.verdict import Row, Setting, Sight, judge
from textassay.studies.finding import Finding
from textassay.studies.gate.baseline import Values, check_values
from textassay.studies.gate.result import Check, Gate
from textassay.studies.gate.rules import GateRules
from textassay.studies.outcome import settings_of_metrics
from textassay.studies.sentences import sentence_of

# The metric whose classifier is shown, with its options.
_RIDGE = ("dd", "ridge")
# From this gap in capitals on, the words of two samples do not compare.
_MOST_CASE = 0.5
# Texts are parsed as Markdown for several samples that have many of them in common.
_REMEMBER = lru_cache(maxsize=50_000)


@dataclass(frozen=True, eq=False)
class Run:
    """A comparison that is ready to run."""

    measurer: Measurer
    design: RecordDesign
    asked_resamples: int
    notes: tuple[str, ...]
    sight: Sight
    quick: bool = False
    rules: GateRules = field(default_factory=GateRules)
    # The candidate that others must not be worse than.
    baseline: str | None = None
    _without_markdown: dict[int, tuple[Sample, Material]] = field(default_factory=dict, repr=False)
    _plain_words: Callable[[str], str] = field(default_factory=lambda: _REMEMBER(plain_words), repr=False)

    def outcome(self, engine: Engine) -> Comparison:
        """Build all views; measure and test; look for what differs; judge."""
        measurer, cut, names = self.measurer, self.measurer.cut, list(self.measurer.cut.candidates)
        plan = measurer.plan
        measurer.progress.start("comparing", measurer.steps())
        jobs = [measurer.real_jobs(), *map(measurer.candidate_jobs, names)]
        tasks: list[Callable[[], Any]] = [
            *map(measurer.measuring, jobs),
            *map(measurer.overall, names),
            *map(self._dependence, names),
            *map(self._format, names),
            *map(measurer.equal_lengths, names),
        ]
        engine.map(lambda read: read[0].build(read[1]), measurer.views(chain(*jobs)).items())
        baseline, *found = engine.map(lambda task: task(), tasks)
        found, overalls, warnings, formats, equals = (
            found[k : k + len(names)] for k in range(0, len(found), len(names))
        )
        without_markup = engine.map(lambda task: task(), list(map(self._without_markup, names, formats)))
        p_values = holm([math.nan if o is None or o.p_value is None else o.p_value for o in overalls])
        baseline = measurer.real(jobs[0], baseline)
        axes = self._axes(baseline, chain(*formats))
        outcomes = {name: measurer.candidate(*each) for name, *each in zip(names, jobs[1:], found, strict=True)}
        remarks = engine.map(self._remarks, names)
        found_by_name = zip(names, overalls, without_markup, warnings, formats, equals, remarks, p_values, strict=True)
        columns = [
            _bounded(
                self._column(
                    name,
                    outcomes[name],
                    overall=overall,
                    overall_without_markup=words,
                    warnings=signs,
                    findings=findings,
                    equal_lengths=equal,
                    axes_without_markup=axes.get(name, {}),
                    **rest,
                ),
                p,
                plan,
            )
            for name, overall, words, signs, findings, equal, rest, p in found_by_name
        ]
        contested = tuple(contests(measurer.requests, outcomes, level=plan.level))
        no_worse = tuple(self._beside_baseline(outcomes, baseline))
        of_reference = _of_reference(chain(*warnings))
        signs = {name: tuple(map(_sign, each)) for name, each in zip(names, warnings, strict=True)}
        notes = (*map(sentence_of, of_reference), *self._notes(columns))
        part = cut.held_out if cut.why_no_baseline is None else cut.plain
        real = Column("real v real", len(part), part.digest, baseline.results, axes_without_markup=axes.get(REAL, {}))
        return Comparison(
            reference=Column(cut.reference.name, len(cut.reference), cut.reference.digest, ()),
            real=real,
            candidates=tuple(self._judged(columns, real, signs, doubtful=bool(of_reference))),
            labels=tuple(request.label for request in measurer.requests),
            contests=contested,
            level=plan.level,
            notes=notes,
            n_resamples=plan.n_resamples,
            settings=settings_of_metrics(
                plan, measurer.requests, measurer.settings, design=self.design.kind, groups=self.design.field
            ),
            cautions=(*of_reference, *self._cautions()),
            gate=Gate(no_worse) if no_worse else None,
        )

    def _cautions(self) -> Iterator[Finding]:
        yield from self._of_broken()
        yield from self._of_lost()
        yield from _of_encoder(self.measurer.settings.encoder)
        yield from self._of_quick_run()

    def _of_broken(self) -> Iterator[Finding]:
        """Samples whose lines look like parts of longer texts."""
        samples = [("reference", self.design.reference), *self.design.candidates.items()]
        broken = tuple(name for name, sample in samples if sample.is_broken)
        if broken:
            yield Finding("broken texts", names=broken)

    def _of_lost(self) -> Iterator[Finding]:
        """Samples of which more than a few records had no text."""
        for name, sample in [("reference", self.design.reference), *self.design.candidates.items()]:
            n_lost = sum(count for _, count in sample.lost)
            if n_lost > FEW_LOST * (n_lost + len(sample)):
                reasons = listed([many(count, *reason.split("|", 1)) for reason, count in sample.lost])
                yield Finding("lost", names=(name,), n=(n_lost, n_lost + len(sample)), text=reasons)

    def _of_quick_run(self) -> Iterator[Finding]:
        if self.quick and self.measurer.plan.n_resamples:
            yield Finding("quick run", n=(self.measurer.plan.n_resamples,))

    def _beside_baseline(self, outcomes: Mapping[str, CandidateMeasured], real: Measured) -> Iterator[Check]:
        """The checks of `no_worse_than` with texts: every metric of every other candidate beside the baseline."""
        requests, against = self.measurer.requests, self.baseline
        if against is None:
            return
        digests = {name: sample.digest for name, sample in self.measurer.cut.candidates.items()}
        for name in (name for name in outcomes if name != against):
            if digests[name] == digests[against]:
                yield Check(name, "no-worse-than", "pass", Finding("same as baseline"))
                continue
            values = [
                _values(request, index, outcomes, (name, against), real) for index, request in enumerate(requests)
            ]
            yield from check_values(
                name, values, self.rules.margins, level=self.measurer.plan.level, n_candidates=len(outcomes) - 1
            )

    def _remarks(self, name: str) -> dict[str, Any]:
        """Phrases and meaning; on as many texts of both sides, or the larger one would show its rare words."""
        if not self.measurer.baseline:
            return {}
        sample = self.measurer.cut.candidates[name]
        settings, seed = self.measurer.settings, self.measurer.plan.seed
        size = min(len(sample), len(self.measurer.cut.reference))
        sides = [
            Material(side.cut(size, stream(seed, "phrases", side.digest)), settings)
            for side in (sample, self.measurer.cut.reference)
        ]
        over, under = what_differs(*sides)
        meaning = None if settings.encoder is None else what_differs_in_meaning(*sides, seed=seed)
        classified = any(
            (request.metric.name, *request.options.values()) == _RIDGE for request in self.measurer.requests
        )
        separation = what_separates(*sides) if classified else None
        return {"over": over, "under": under, "meaning": meaning, "separation": separation}

    def _dependence(self, name: str) -> Callable[[], tuple[DependenceWarning, ...]]:
        """The search for signs that texts are not independent, which the tests take for granted, ready to run."""
        if not self.measurer.plan.n_resamples:
            return tuple
        tokenizer, seed = self.measurer.settings.tokenizer, self.measurer.plan.seed
        candidate, reference = self.design.candidates[name], self.design.reference
        for role, sample in (("candidate", candidate), ("reference", reference)):
            if any(sample is other for other in self.design.undeclared):
                return partial(check_order, role, sample, tokenizer=tokenizer, seed=seed)
        return partial(check_dependence, candidate, reference, tokenizer=tokenizer, seed=seed)

    def _format(self, name: str) -> Callable[[], Sequence[FormatFinding]]:
        """The search for differences in format, ready to run.

        It reads the whole samples, not what the cut left of them: blank texts are counted against all texts.
        """
        if not self.measurer.baseline:
            return tuple
        settings, sides = self.measurer.settings, (self.design.candidates[name], self.design.reference)
        found = partial(check_format, *sides, tokenizer=settings.tokenizer)
        if settings.strip is None:
            return found
        # What looks like Markdown in texts without it is none: a comment in code is no heading.
        return lambda: [finding for finding in found() if not finding.is_markup]

    def _axes(self, baseline: Measured, findings: Iterable[FormatFinding]) -> Mapping[str, Mapping[str, Result]]:
        """The axes of the plane without Markdown, where a candidate and the reference differ in it."""
        measurer = self.measurer
        if not (measurer.baseline and measurer.plan.n_resamples and any(finding.is_markup for finding in findings)):
            return {}
        return axes_without_markup(
            measurer.requests, baseline.results, measurer.cut, self._words_of, plan=measurer.plan
        )

    def _without_markup(self, name: str, findings: Sequence[FormatFinding]) -> Callable[[], Overall | None]:
        """The overall test on words without Markdown where the samples differ in it, ready to run.

        Without vectors: all texts would have to be encoded again.
        """
        measurer = self.measurer
        if self.quick or not measurer.plan.n_resamples or not any(finding.is_markup for finding in findings):
            return lambda: None
        plan = OverallPlan(**vars(measurer.plan), n_candidates=len(measurer.cut.candidates))
        sides = [self._words_of(sample) for sample in measurer.cut.tested[name]]
        # A sample of nothing but markup has no words that could differ.
        if min(int((word_counts(side.sample.texts) > 0).sum()) for side in sides) < FEWEST_TEXTS:
            return lambda: None
        return partial(overall_test, *sides, plan=plan)

    def _words_of(self, sample: Sample) -> Material:
        """A sample without Markdown; each sample is counted once, and each text is parsed once."""
        if id(sample) not in self._without_markdown:
            settings = ViewSettings(self.measurer.settings.tokenizer, strip="markdown")
            words = Material(stripped(sample, "markdown", self._plain_words), settings)
            # With the sample itself, so that no other one gets its number.
            self._without_markdown[id(sample)] = sample, words
        return self._without_markdown[id(sample)][1]

    def _column(
        self, name: str, outcome: CandidateMeasured, *, warnings: Iterable[DependenceWarning], **found: Any
    ) -> Column:
        sample = self.measurer.cut.candidates[name]
        again = {request.label: result for request, result in outcome.at_baseline_size.items()}
        measured = outcome.measured
        return Column(
            name,
            len(sample),
            sample.digest,
            measured.results,
            at_baseline_size=again,
            adjusted=tuple(measured.adjusted[request] for request in self.measurer.requests),
            warnings=tuple(sentence_of(_sign(sign)) for sign in warnings if sign.about != "reference"),
            **found,
        )

    def _judged(
        self, columns: list[Column], real: Column, signs: Mapping[str, Sequence[Finding]], *, doubtful: bool
    ) -> Iterable[Column]:
        plan, requests = self.measurer.plan, self.measurer.requests
        overlap = self._real_overlap() if plan.n_resamples else 0.0
        setting = Setting(plan.level, self.sight, overlap, len(columns))
        for column in columns:
            rows = [
                _row(column, request.label, result, baseline, is_significant(p, plan.level))
                for request, result, baseline, p in zip(
                    requests, column.results, real.results, column.adjusted, strict=True
                )
            ]
            verdict = judge(
                rows,
                column.overall,
                setting=setting,
                warnings=[sign for sign in signs[column.name] if sign.metric != "reference"],
                doubtful=doubtful,
                format_differs=any(not (finding.harmless or finding.is_markup) for finding in column.findings),
                case_differs=any(map(_is_of_case, column.findings)),
                markup_differs=column.markup_differs,
                without_markup=column.overall_without_markup,
            )
            yield replace(column, verdict=verdict)

    def _group_notes(self) -> Iterable[str]:
        """Where texts come in groups, fewer groups than an interval needs."""
        for name, sample in [("reference", self.measurer.cut.reference), *self.measurer.cut.candidates.items()]:
            if sample.groups is not None and self.measurer.plan.n_resamples:
                groups = sample.count_independent()
                if groups < FEWEST_TEXTS:
                    yield f"{name}: {groups:,} groups; jackknife intervals need at least {FEWEST_TEXTS}"

    def _real_overlap(self) -> float | None:
        """The share of real texts of the baseline's one part that are in its other part word for word."""
        cut = self.measurer.cut
        if cut.why_no_baseline is not None:
            return None
        mine, base = (self.measurer.material(part).view(NearDuplicates).keys for part in (cut.held_out, cut.base))
        return float(np.isin(mine, base).mean())

    def _notes(self, columns: Sequence[Column]) -> Iterable[str]:
        cut, plan = self.measurer.cut, self.measurer.plan
        yield from self.notes
        yield from cut.notes
        yield from cut.baseline_notes if self.measurer.baseline else ()
        for name, sample in [("reference", cut.reference), *cut.candidates.items()]:
            yield from (f"{name}: {note}" for note in sample.notes)
        yield from self._group_notes()
        for column in columns:
            yield from _remarks_on(self.measurer.requests, column)
            whole = self.design.candidates[column.name], self.design.reference
            if whole[0].digest == whole[1].digest and len(pc.unique(whole[0].texts)) > 1:
                yield f"{column.name} has the same texts as the reference: it is a copy, not a second sample"
        if plan.n_resamples > self.asked_resamples:
            yield (
                f"raised to {plan.n_resamples:,} resamples, because correcting for {many(len(columns), 'candidate')}"
                f" at level {plan.level:g} needs them"
            )


def _is_of_case(finding: FormatFinding) -> bool:
    """Whether at least half of the texts of one sample have capitals that the other one's lack, for the tokenizer."""
    gap = abs(finding.candidate_share - finding.reference_share)
    return finding.kind in CASE and not finding.harmless and gap >= _MOST_CASE


def _sign(sign: DependenceWarning) -> Finding:
    """A sign of dependence as a finding: its kind, the option that helps, and what shows it.

    Sorted texts are no sign of dependence, but they hide signs that the order could show.
    """
    names = (sign.kind, sign.field)
    return Finding("dependence", sign.about, names=names, condition=sign.option or "", text=sign.message)


def _of_reference(signs: Iterable[DependenceWarning]) -> tuple[Finding, ...]:
    """What the reference shows, once for all candidates: the first sign of each kind."""
    first: dict[str, Finding] = {}
    for sign in signs:
        if sign.about == "reference":
            first.setdefault(sign.kind, _sign(sign))
    return tuple(first.values())


def _of_encoder(encoder: Any) -> Iterator[Finding]:
    """Why vectors allow no verdict, if they do not."""
    why = encoder.why_no_verdict if isinstance(encoder, Remembered) else None
    if why is not None:
        yield Finding("encoder", encoder.sees, text=why)


def _row(column: Column, label: str, result: Result, baseline: Result, significant: bool) -> Row:
    """A metric as the verdict reads it: at equal lengths, if the lengths of texts move it and differ."""
    equal = column.equal_lengths
    if label in equal.results:
        mine, real = equal.results[label]
        return Row(label, mine, real, significant, mine, equal_lengths=True)
    like_real = column.beside_real(label, result)
    return Row(label, result, baseline, significant, like_real, only_length=label in equal.left_out)


def _remarks_on(requests: Sequence[Request], column: Column) -> Iterable[str]:
    """What metrics note about their own values."""
    for request, result in zip(requests, column.results, strict=True):
        remarks = request.metric.remarks(result.parts) if request.metric.remarks else ()
        yield from (f"{column.name}: {request.label}: {remark}" for remark in (*remarks, *result.notes))


def _bounded(column: Column, p: float, plan: Plan) -> Column:
    """A column whose overall p-value is `p`, corrected for the number of candidates; no other p-value is below it.

    A metric or region can only differ where there is a difference at all, so the larger of the two p-values is right
    for both questions (a closed test).
    """
    if column.overall is None or math.isnan(p):
        return column
    differs = is_significant(p, plan.level)
    return replace(
        column,
        overall=column.overall.corrected(p, differs=differs),
        adjusted=tuple(max(own, p) if not math.isnan(own) else own for own in column.adjusted),
        # Phrases have no p-values: without a difference there is nothing that they could explain.
        over=column.over if differs else (),
        under=column.under if differs else (),
        meaning=column.meaning and column.meaning.at_least(p),
        separation=column.separation if differs else None,
    )


def _values(
    request: Request, index: int, outcomes: Mapping[str, CandidateMeasured], names: tuple[str, str], real: Measured
) -> Values:
    """A metric of a candidate and of the baseline, by these names, and of real text: on as many texts where needed."""
    beside = real.results[index]
    sizes = {outcome.measured.results[index].n for outcome in outcomes.values()}
    if request.metric.better == "closer" and beside.undefined is None:
        sizes.add(beside.n)
    own, others = (comparable_value(outcomes[name], index, request, whole=len(sizes) == 1) for name in names)
    return Values(request.label, own, others, (beside, real.replicates.get(request)))
