"""Compare: is each candidate distributed like the reference, and if not, how does it differ?"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from textassay.corpus.files import unused_name
from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.markdown import plain_words, stripped
from textassay.corpus.printable import many
from textassay.corpus.readers import as_sample, candidate_systems, named_candidates
from textassay.corpus.sample import Sample, stream
from textassay.corpus.sizes import Cut
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.base import Encoder, default_is_installed
from textassay.encoders.remembered import Remembered, show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError
from textassay.inference.dependence import DependenceWarning, check_dependence, check_order
from textassay.inference.format_check import CASE, check_format
from textassay.inference.format_check import Finding as FormatFinding
from textassay.inference.intervals import FEWEST_TEXTS, Replicates
from textassay.inference.measure import Job, Measured, measure_jobs, paired_difference, views_of_job
from textassay.inference.overall.bank import views_of_bank
from textassay.inference.overall.test import Overall, OverallPlan, overall_test
from textassay.inference.p_values import holm, is_significant
from textassay.inference.plan import Plan, Progress, Silent
from textassay.inference.record_design import RecordDesign, check_design, record_design
from textassay.inference.result import Result, result_of
from textassay.metrics.measurable import answerable, choose
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.duplicates import NearDuplicates
from textassay.metrics.registry import Request, listed, parse_requests
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.studies.compare.axes import REAL, axes_without_markup
from textassay.studies.compare.differences import what_differs
from textassay.studies.compare.equal_lengths import EqualLengths, at_equal_lengths
from textassay.studies.compare.meaning import what_differs_in_meaning
from textassay.studies.compare.of_digests import are_digests, as_digest, compare_digests
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.compare.separation import what_separates
from textassay.studies.compare.verdict import Row, Setting, Sight, judge
from textassay.studies.finding import Finding
from textassay.studies.gate.baseline import Values, check_values, is_results
from textassay.studies.gate.result import Check, Gate, Splits
from textassay.studies.gate.rules import GateRules
from textassay.studies.gate.splits import decide_on_splits
from textassay.studies.gate.study import gated, read_contaminant
from textassay.studies.outcome import Contest, settings_of_metrics
from textassay.studies.sentences import sentence_of

# The exchanges that a quick run draws first; the overall test adds more where its p-value is close to a limit.
QUICK_EXCHANGES = 199
# From this gap in capitals on, the words of two samples do not compare.
_MOST_CASE = 0.5
# Texts are parsed as Markdown for several samples that have many of them in common.
_REMEMBER = lru_cache(maxsize=50_000)


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


def _known(real: Measured, request: Request, index: int) -> tuple[float, Replicates] | None:
    """The value of real text with its jackknife, if it has one."""
    replicates = real.replicates.get(request)
    return None if replicates is None else (real.results[index].estimate, replicates)


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
                _comparable_value(outcome, place, request, whole=len(sizes) == 1) for outcome in (one, other)
            )
            if mine is not None and theirs is not None:
                gap = paired_difference(mine, theirs, level=level)
                yield Contest(first, second, request.label, gap.estimate, gap.low, gap.high, gap.p_value)


def _comparable_value(
    outcome: CandidateMeasured, place: int, request: Request, *, whole: bool
) -> tuple[float, Replicates] | None:
    if whole or request not in outcome.at_baseline_size:
        replicates = outcome.measured.replicates.get(request)
        estimate = outcome.measured.results[place].estimate
    else:
        replicates = outcome.replicates_at_baseline_size.get(request)
        estimate = outcome.at_baseline_size[request].estimate
    return None if replicates is None else (estimate, replicates)


def compare(
    reference: Any,
    candidates: Any = None,
    *,
    by: str | None = None,
    reference_system: str | None = None,
    metrics: str | Sequence[str] = (),
    families: str | Sequence[str] = (),
    tokenizer: str = "words",
    lowercase: bool = False,
    strip: str | None = None,
    encoder: str | Encoder | None = None,
    train: Any = None,
    pair: str | bool | None = None,
    group: str | None = None,
    size: str | int = "match",
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    explain: bool | None = None,
    quick: bool = False,
    engine: str | Engine | None = None,
    gate: GateRules | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare candidates with a reference: how far apart, in quality and in diversity, and what differs.

    Parameters
    ----------
    reference
        Real texts: a list of strings, a path, a `Sample`, a column, a data frame, an Arrow table or a dataset; a pair
        of a path and a field; or a digest.
    candidates
        One such thing, a list of paths, or a mapping of names to texts. May be left out with `reference_system`.
    by
        The field of the system of a text (`"model"` in files of known tools): each system is a candidate.
    reference_system
        The system that is the reference; all other systems of both arguments are candidates.
    metrics
        Metrics as on the command line (`"bleu:n=4,cnd"` or `["bleu:n=4", "cnd"]`); by default all of the families
        `ngram` and `embedding` that can be measured.
    families
        Families of metrics: `ngram`, `embedding`, `learned`.
    tokenizer
        What a word is: `words`, `whitespace`, `treebank`, `plain`, `char`, or the file of a tokenizer.
    lowercase
        Whether texts are lower-cased first.
    strip
        `"markdown"` removes Markdown and keeps the words.
    encoder
        The sentence encoder (`"minilm"`, `"static"`, `"lsa"`, ...), or an object with `name`, `dimension` and `encode`.
    train
        The training texts of the candidates, to count copies.
    pair
        The field that names the prompt, document or author of each text, where samples have the same ones: only groups
        that all samples have are used. By default the prompts of the records, or their ids, if samples have the same
        ones; False treats all texts as independent.
    group
        The same where samples have different ones: tests exchange labels within a group that both samples have, and
        other groups as a whole. By default prompts with several texts. Samples made with `Sample.of(texts, groups=...)`
        keep their groups.
    size
        `"match"` estimates with as many texts as the smallest sample has, `"all"` with all, a number with so many.
    level
        The confidence level.
    n_resamples
        Exchanges of the permutation tests; 0 gives estimates only.
    seed
        The seed of all random numbers; the same texts, options and seed give the same numbers.
    explain
        Whether to add the baseline of real text, differences in format, phrases and topics; by default unless
        `n_resamples` is 0.
    quick
        The verdict in the shortest time: at most 199 exchanges at first, static vectors if the extra `embed` is
        installed, otherwise none, only the n-gram metrics, and no second overall test without markup. Metrics and an
        encoder that are given are used.
    engine
        Where the work runs: `local` (the default), or an `Engine`.
    gate
        The rules that a candidate must keep to pass; the decision is the `gate` of what is returned.
    progress
        What is told about the progress.

    Returns
    -------
    Comparison
        Results by candidate and metric (`found["a"]["cnd"]`), verdicts, and what differs.

    Examples
    --------
    >>> real = [f"the {pet} sat at {n}" for pet in ("cat", "dog") for n in range(30)]
    >>> found = compare(real, {"model": real[:3] * 20}, metrics="distinct", n_resamples=99)
    >>> found["model"].verdict.decision
    'differs'
    """
    check_design(pair, group)
    if quick:
        n_resamples = min(n_resamples, QUICK_EXCHANGES)
        families = families if metrics or families else "ngram"
        encoder = "static" if encoder is None and default_is_installed() else encoder
    words = get_tokenizer(tokenizer, lowercase=lowercase)
    field = pair if isinstance(pair, str) else group
    reference, given = _by_system(reference, candidates, by=by, reference_system=reference_system, group=field)
    if not given:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    rules = (gate or GateRules()).checked(Plan(level, n_resamples, seed))
    if are_digests(reference, given):
        unusable = {"pair": pair, "group": group, "encoder": encoder, "train": train, "families": families or None}
        unusable |= {"max_separable": rules.margin, "no_worse_than": rules.no_worse_than, "aa": rules.aa or None}
        unusable |= {"fail_on": next((name for name in rules.fail_on if name in ("copied", "format")), None)}
        counted = compare_digests(
            as_digest(reference),
            {name: as_digest(each, name) for name, each in given.items()},
            metrics=listed(metrics),
            plan=Plan(level, n_resamples, seed),
            engine=get_engine(engine, anywhere=True),
            unusable=[name for name, value in unusable.items() if value is not None],
        )
        return gated(counted, rules, None, plan=Plan(level, n_resamples, seed), engine=get_engine(engine))
    against = None
    if rules.no_worse_than is not None and not is_results(rules.no_worse_than):
        against = unused_name("baseline", given)
        given = {**given, against: rules.no_worse_than}
    plan = Plan(level, n_resamples, seed).checked().enough_for(len(given))
    workers, progress = get_engine(engine), progress or Silent()
    metrics, families = listed(metrics), listed(families)
    named = {spec.partition(":")[0].strip() for spec in metrics}
    choice = choose(parse_requests(metrics, families=families), encoder, named=named, families=families)
    # Whatever the metrics read, the overall test uses an encoder that was asked for.
    chosen = choice.encoder if encoder is None or not n_resamples else encoder
    requests, missing = answerable(choice.requests, named, trained=train is not None)
    samples = {name: stripped(as_sample(texts, name, group=field), strip) for name, texts in given.items()}
    real = stripped(as_sample(reference, "reference", group=field), strip)
    design = record_design(real, samples, pair=pair, group=group)
    baseline = n_resamples > 0 if explain is None else explain
    cut = design.cut(size=size, seed=seed, baseline=baseline)
    seen = None
    if chosen is not None:
        seen = show_all(
            chosen,
            reference=real,
            candidates=samples,
            used=cut.everything,
            start=partial(progress.start, "encoding"),
            step=progress.step,
        )
    settings = ViewSettings(words, seen, strip)
    measurer = Measurer(
        requests=requests,
        settings=settings,
        cut=cut,
        train=None if train is None else Material(stripped(as_sample(train, "train"), strip), settings),
        plan=plan,
        progress=progress,
        baseline=baseline,
    )
    of_encoder = seen.notes if seen else ()
    notes = (*design.notes, *choice.notes, *missing, *of_encoder, *([_quick_note(plan, seen)] if quick else ()))
    study = _Study(
        measurer,
        design=design,
        asked_resamples=n_resamples,
        notes=notes,
        sight=_sight(seen),
        quick=quick,
        rules=rules,
        baseline=against,
    )
    contaminant = read_contaminant(rules.contaminant, real, strip)
    found = gated(
        study.run(workers), rules, measurer.tested, plan=plan, engine=workers, contaminant=contaminant, baseline=against
    )
    if not rules.aa or found.gate is None:
        return found
    exchanges = min(n_resamples, QUICK_EXCHANGES)
    options = {"tokenizer": tokenizer, "lowercase": lowercase, "level": level, "n_resamples": exchanges}
    size = min(sample.count_independent() for sample in samples.values())
    splits = _splits(real, rules, contaminant, options | {"engine": workers}, size=size, seed=seed)
    return replace(found, gate=replace(found.gate, aa=splits))


def _splits(
    reference: Sample, rules: GateRules, contaminant: Sample | None, options: Mapping[str, Any], *, size: int, seed: int
) -> Splits:
    """How the rules decide on splits of the reference, each a quick comparison with the same options."""
    alone = replace(rules, aa=0, no_worse_than=None, margins={}, contaminant=contaminant)
    group = None if reference.groups is None else "group"

    def decide(mine: Sample, theirs: Sample, seed: int) -> Gate:
        found = compare(theirs, {"split": mine}, metrics="repetition", gate=alone, group=group, seed=seed, **options)
        assert found.gate is not None
        return found.gate

    return decide_on_splits(reference, decide, size=size, count=rules.aa, seed=seed)


def _quick_note(plan: Plan, seen: Remembered | None) -> str:
    vectors = "without vectors" if seen is None else f"with vectors by {seen.name.partition('/')[0]}"
    begin = f"{plan.n_resamples:,} exchanges at first" if plan.n_resamples else "no exchanges"
    return (
        f"quick run: the overall test {vectors}, {begin}, and not again without markup; p-values are coarser than in a "
        "full run"
    )


def _by_system(
    reference: Any, candidates: Any, *, by: str | None, reference_system: str | None, group: str | None
) -> tuple[Any, Mapping[str, Any]]:
    """The reference and the candidates by name; their systems, if these are asked for."""
    if reference_system is None:
        given = named_candidates(candidates)
        return reference, given if by is None else candidate_systems(given, by=by, group=group)[1]
    given = {} if candidates is None else named_candidates(candidates)
    sources = {unused_name("reference", given): reference, **given}
    return candidate_systems(sources, by=by, reference=reference_system, group=group)


def _sight(seen: Remembered | None) -> Sight:
    """What a verdict may claim about vectors of this encoder."""
    if seen is None:
        return Sight()
    return Sight(seen.sees, reliable=seen.reads_these_texts and seen.reads_whole_texts)


@dataclass(frozen=True, eq=False)
class _Study:
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

    def run(self, engine: Engine) -> Comparison:
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
            cautions=(*of_reference, *_of_encoder(measurer.settings.encoder)),
            gate=Gate(no_worse) if no_worse else None,
        )

    def _beside_baseline(self, outcomes: Mapping[str, CandidateMeasured], real: Measured) -> Iterator[Check]:
        """The checks of `no_worse_than` with texts: every metric of every other candidate beside the baseline."""
        requests, against = self.measurer.requests, self.baseline
        if against is None:
            return
        whole = len({outcome.measured.results[0].n for outcome in outcomes.values()} if requests else ()) == 1
        digests = {name: sample.digest for name, sample in self.measurer.cut.candidates.items()}
        for name in (name for name in outcomes if name != against):
            if digests[name] == digests[against]:
                yield Check(name, "no-worse-than", "pass", Finding("same as baseline"))
                continue
            values = []
            for index, request in enumerate(requests):
                own, others = (_comparable_value(outcomes[one], index, request, whole=whole) for one in (name, against))
                result = outcomes[name].measured.results[index]
                values.append(Values(request.label, result, own, others, _known(real, request, index)))
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
        classified = any(request.label == "dd" for request in self.measurer.requests)
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
        tokenizer = self.measurer.settings.tokenizer
        return partial(check_format, self.design.candidates[name], self.design.reference, tokenizer=tokenizer)

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
        if min(len(side.sample) for side in sides) < FEWEST_TEXTS:
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
                format_differs=any(not finding.harmless for finding in column.findings),
                case_differs=any(map(_is_of_case, column.findings)),
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
            if column.digest == cut.reference.digest:
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
    return Finding("dependence", sign.about, names=(sign.kind,), condition=sign.option or "", text=sign.message)


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
