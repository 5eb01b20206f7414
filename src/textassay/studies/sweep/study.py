"""Sweep: which decoding setting, or which checkpoint, of a model is closest to real text?"""

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from textassay.corpus.files.reading import unused_name
from textassay.corpus.printable import many, shortened
from textassay.corpus.readers import as_sample, read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.sizes import Cut, cut_samples
from textassay.corpus.tokenizers import get_tokenizer
from textassay.corpus.values import is_whole
from textassay.encoders.base import Encoder
from textassay.encoders.remembered import show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError, Setting
from textassay.inference.intervals import FEWEST_TEXTS
from textassay.inference.measure import Measured, measure
from textassay.inference.overall.test import Overall
from textassay.inference.p_values import holm, is_significant
from textassay.inference.plan import Plan, Progress, shows_progress, told
from textassay.metrics.learned.model_texts import model_name
from textassay.metrics.measurable import choose, measurable
from textassay.metrics.registry import Request, find_metric, listed, metric_names, parse_requests
from textassay.metrics.views import Material
from textassay.metrics.views import Settings as ViewSettings
from textassay.models.base import Decoding, Generator
from textassay.models.choose import get_model
from textassay.studies.compare.measuring.measurer import CandidateMeasured, Measurer
from textassay.studies.compare.result import Column
from textassay.studies.outcome import Settings, settings_of_metrics
from textassay.studies.sweep.best import Best, Valued, find_best
from textassay.studies.sweep.grid import GridPoint, checkpoint_files, grid_points
from textassay.studies.sweep.items import DEFAULT_CANDIDATES, ItemPrompts, sweep_of_items
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.samples import Draw, count_missing, draw_texts, samples_file
from textassay.studies.sweep.verdict import judge, settings_text
from textassay.work_files import WorkFile

DEFAULT_METRICS = ("cr", "bleu", "nrr", "entropy", "self_bleu", "cnd", "ms_jaccard", "dd")
WITH_ENCODER = ("frechet",)
DEFAULT_N = 1000
# The baseline needs two parts of the reference that are large enough for intervals.
FEWEST_REAL = 2 * FEWEST_TEXTS
# Numbers in remarks; "1 text" and "2 texts" are the same remark, too.
_NUMBERS = re.compile(r"[\d.,]+|(?<=text)s")
AnyModel = str | os.PathLike[str] | Generator


@shows_progress
def sweep(
    model: AnyModel | None,
    reference: Any = None,
    *,
    items: Any = None,
    candidates: int = DEFAULT_CANDIDATES,
    temperature: Any = None,
    top_k: Any = None,
    top_p: Any = None,
    checkpoints: Any = None,
    prompts: Any = None,
    n: int | None = None,
    metrics: str | Sequence[str] = (),
    families: str | Sequence[str] = (),
    tokenizer: str = "words",
    lowercase: bool = False,
    encoder: str | Encoder | None = None,
    train: Any = None,
    oracle: AnyModel | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    resume: str | os.PathLike[str] | None = None,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> Sweep:
    """Sample a model at many decoding settings and measure which is closest to real text.

    Parameters
    ----------
    model
        A model, its file, or a name that `get_model` takes; None if there are `checkpoints` only.
    reference
        Real texts, in any form that `read_sample` takes.
    items, candidates
        In place of a reference, items with a prompt and several references each, in any form that `read_items` takes.
        Every setting writes `candidates` texts per prompt, and metrics are those of `conditional`, such as
        `"trm:distance=cider,score"`; by default its default ones. `found.best` compares settings item by item.
    temperature, top_k, top_p
        A number, a list of numbers, or a string with numbers and ranges: `"0.5:1.5:0.1"` in equal steps, `"0.25:4:x2"`
        by a factor. None in a list, or `none`, is no truncation. All combinations are settings, at most 200. By default
        the temperatures from 0.5 to 1.5 in steps of 0.1, or 1 if another parameter or `checkpoints` is given.
    checkpoints
        A pattern or a list of model files, each of which is swept like `model`.
    prompts
        Prompts for conditional models, one per text.
    n
        The number of texts per setting. By default 1,000, or the number of reference texts or prompts if it is less.
    metrics, families, tokenizer, lowercase, encoder, train
        As in `compare`. By default cr, bleu, nrr, entropy, self_bleu, cnd, ms_jaccard and dd; also frechet with an
        encoder.
    oracle
        A model whose probabilities are taken as those of real text. The Bhattacharyya distance of each setting from it,
        its likelihood of the texts (`oracle_nll`), the entropy of each setting (`model_entropy`) and the likelihood of
        texts of the oracle (`nll`) are measured, too.
    level
        The level of intervals and tests, and of the settings that may be the best.
    n_resamples
        The number of exchanges of the overall test; 0 measures estimates only.
    seed
        The seed of samples, intervals and tests.
    resume
        A file for finished samples, from which a stopped sweep continues. It may have samples of other settings, too.
    engine, progress
        Where to run; and True for a progress bar, or an object that is told about the progress.

    Returns
    -------
    Sweep
        `found["t=0.7"]["cnd"]` is a result, `found.best` has the best setting of each metric, and `found.samples` the
        texts.

    Examples
    --------
    >>> from textassay import train_model
    >>> names, verbs = ("cat", "dog", "cow", "owl", "hen"), ("sat", "ran", "ate", "slept")
    >>> pets = [f"{article} {name} {verb}" for article in ("a", "the") for name in names for verb in verbs]
    >>> found = sweep(train_model("ngram:order=2", pets), pets, temperature="0.5,1", metrics="cnd,nrr", n_resamples=0)
    >>> found.names, [best.setting for best in found.best]
    (('t=0.5', 't=1'), ['t=0.5', 't=1'])
    """
    plan, workers, counter = Plan(level, n_resamples, seed).checked(), get_engine(engine), told(progress)
    if items is not None:
        _check_alone({"reference": reference, "prompts": prompts, "n": n, "train": train, "oracle": oracle})
        _check_alone({"families": listed(families) or None})
        asked_items = ItemPrompts.of(items, candidates)
        models = _models(model, checkpoints)
        points = grid_points(temperature, top_k, top_p, models=list(models))
        opened = _all_opened(models, counter)
        with samples_file(resume) as work:
            drawn = _drawn(points, opened, asked_items.draw(seed), work, counter)
        return sweep_of_items(
            asked_items,
            drawn,
            points,
            opened,
            metrics=metrics,
            tokenizer=tokenizer,
            encoder=encoder,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            engine=workers,
            progress=counter,
        )
    if reference is None:
        raise InputError("no real texts given; wanted ", Setting("reference"), " or ", Setting("items"))
    real = _checked_reference(reference)
    models = _models(model, checkpoints)
    points = grid_points(temperature, top_k, top_p, models=list(models))
    draw = _draw(n, seed, real, prompts)
    names = listed(metrics) or ([] if listed(families) else [*DEFAULT_METRICS, *(WITH_ENCODER if encoder else ())])
    families = listed(families)
    choice = choose(parse_requests(names, families=families), encoder, named=set(names), families=families)
    asked = metric_names(names)
    requests = measurable(choice.requests, asked, Setting("train"), given=train is not None)
    words = get_tokenizer(tokenizer, lowercase=lowercase)
    opened = _all_opened(models, counter)
    judge_model = None if oracle is None else _opened(oracle)
    with samples_file(resume) as work:
        samples, known = _sampled(points, opened, draw, judge_model, work, counter)
    cut = _cut(real, samples, seed)
    seen = None
    if choice.encoder is not None:
        seen = show_all(
            choice.encoder,
            reference=real,
            candidates=samples,
            used=cut.everything,
            start=partial(counter.start, "encoding"),
            step=counter.step,
        )
    settings = ViewSettings(words, seen)
    measurer = Measurer(
        requests=requests,
        settings=settings,
        cut=cut,
        train=None if train is None else Material(as_sample(train, "train"), settings),
        plan=plan.enough_for(len(points)),
        progress=counter,
        tests=False,
    )
    against = (
        None if known is None or judge_model is None else OracleStudy(judge_model, Material(known, settings), plan)
    )
    notes = (*choice.notes, *(seen.notes if seen else ()), *_notes(real, samples, cut))
    if measurer.plan.n_resamples > n_resamples:
        raised = f"raised to {measurer.plan.n_resamples:,} resamples, because correcting for"
        notes = (*notes, f"{raised} {many(len(points), 'setting')} at level {level:g} needs them")
    study = _Study(measurer, points, samples, opened, notes, draw, against)
    return study.run(workers)


def _check_alone(given: Mapping[str, Any]) -> None:
    """Refuse what a sweep over items has no use for."""
    for name, value in given.items():
        if value is not None:
            raise InputError(Setting(name), " and ", Setting("items"), "; wanted one of the two")


def _drawn(
    points: Sequence[GridPoint], models: Mapping[str, Generator], draw: Draw, work: WorkFile, progress: Progress
) -> dict[str, list[str]]:
    """The texts of each setting by name."""
    left = [count_missing(_model_of(point, models).name, point.decoding, draw, work) for point in points]
    progress.start("sampling", sum(left))
    return {
        point.name: draw_texts(_model_of(point, models), point.decoding, draw, work, step=progress.step)
        for point in points
    }


def _checked_reference(reference: Any) -> Sample:
    real = as_sample(reference, "reference")
    if len(real) < FEWEST_REAL:
        seen = many(len(real), "text")
        raise InputError(f"reference {shortened(real.name, 60)}: {seen}; a sweep needs at least {FEWEST_REAL}")
    return real


def _models(model: AnyModel | None, checkpoints: Any) -> dict[str, AnyModel]:
    """Models by names that are different and printable; that of a model which is no file is `model`."""
    files: dict[str, AnyModel] = {} if checkpoints is None else dict(checkpoint_files(checkpoints))
    if model is None:
        if not files:
            raise InputError("no model given; wanted a model, or ", Setting("checkpoints"))
        return _labelled(files)
    path = os.fsdecode(model) if isinstance(model, str | os.PathLike) else None
    if path in files.values():
        return _labelled(files)
    return _labelled({_own_name(path, files): model, **files})


def _labelled(models: Mapping[str, AnyModel]) -> dict[str, AnyModel]:
    """The models by short labels; labels that are equal once they are cut get numbers."""
    found: dict[str, AnyModel] = {}
    for name, model in models.items():
        found[unused_name(shortened(name, 60), found)] = model
    return found


def _own_name(path: str | None, taken: Mapping[str, AnyModel]) -> str:
    name = "model" if path is None else os.path.basename(path).removesuffix(".safetensors")
    return name if name not in taken else f"{name} (model)"


def _draw(n: int | None, seed: int, real: Sample, prompts: Any) -> Draw:
    """How many texts to draw, with which prompts."""
    given = None if prompts is None else read_sample(prompts, name="prompts")
    limits = {f"the reference has {many(len(real), 'text')}": len(real)}
    if given is not None:
        limits[f"there are {many(len(given), 'prompt')}"] = len(given)
    if n is None:
        n = min(DEFAULT_N, *limits.values())
    if not is_whole(n) or n < FEWEST_TEXTS:
        raise InputError(Setting("n", n), f"; wanted a whole number of texts, {FEWEST_TEXTS} or more")
    for what, most in limits.items():
        if n > most:
            raise InputError(Setting("n", n), f"; {what}, wanted at most as many texts per setting")
    return Draw(n, seed, None if given is None else given.take(np.arange(n)))


def _all_opened(models: Mapping[str, AnyModel], progress: Progress) -> dict[str, Generator]:
    """The models by name."""
    progress.start("reading models", len(models))
    opened = {}
    for name, model in models.items():
        opened[name] = _opened(model)
        progress.step(1)
    return opened


def _sampled(
    points: Sequence[GridPoint],
    models: Mapping[str, Generator],
    draw: Draw,
    oracle: Generator | None,
    work: WorkFile,
    progress: Progress,
) -> tuple[dict[str, Sample], Sample | None]:
    """The sample of each setting by name, and that of the oracle if there is one."""
    of_oracle = Draw(draw.n, draw.seed, purpose="oracle")
    left = sum(count_missing(_model_of(point, models).name, point.decoding, draw, work) for point in points)
    left += 0 if oracle is None else count_missing(oracle.name, Decoding(), of_oracle, work)
    progress.start("sampling", left)
    samples = {}
    for point in points:
        texts = draw_texts(_model_of(point, models), point.decoding, draw, work, step=progress.step)
        contexts = None if draw.prompts is None else draw.prompts.texts
        samples[point.name] = Sample.of(texts, name=point.name, contexts=contexts)
    if oracle is None:
        return samples, None
    known = Sample.of(draw_texts(oracle, Decoding(), of_oracle, work, step=progress.step), name="oracle")
    if len(known) < FEWEST_TEXTS:
        raise InputError(f"oracle {oracle.name}: {many(len(known), 'text is', 'texts are')} not blank")
    return samples, known


def _model_of(point: GridPoint, models: Mapping[str, Generator]) -> Generator:
    return models[point.model] if point.model else next(iter(models.values()))


def _opened(model: AnyModel) -> Generator:
    if isinstance(model, str | os.PathLike):
        return get_model(model)
    if not callable(getattr(model, "sample", None)) or not hasattr(model, "name"):
        raise InputError(f"model: {type(model).__name__}; wanted a model, its file, or a name such as oracle:DIR")
    return model


def _cut(real: Sample, samples: Mapping[str, Sample], seed: int) -> Cut:
    """All samples at the size of the smallest one; blank texts are not counted."""
    smallest = min(samples.values(), key=len)
    if len(smallest) < FEWEST_TEXTS:
        seen = many(len(smallest), "text is", "texts are")
        raise InputError(f"{smallest.name}: {seen} not blank; a sweep needs at least {FEWEST_TEXTS} per setting")
    return cut_samples(real, samples, size=len(smallest), seed=seed)


def _notes(real: Sample, samples: Mapping[str, Sample], cut: Cut) -> Iterable[str]:
    yield from cut.notes
    yield from cut.baseline_notes
    yield from (f"reference: {note}" for note in real.notes)
    yield from (f"{name}: {note}" for name, sample in samples.items() for note in sample.notes)


# In the order of reports: quality, diversity, both.
ORACLE_NAMES = ("oracle_nll", "model_entropy", "nll", "bhattacharyya")


@dataclass(frozen=True, eq=False)
class OracleStudy:
    """An oracle, texts that it has generated, and the plan of intervals."""

    oracle: Generator
    texts: Material
    plan: Plan

    def measured(self, candidate: Material, model: Generator, decoding: Decoding) -> Measured:
        """The measures of a model at a decoding setting, from a sample of it, in the order of `ORACLE_NAMES`."""
        requests = [self._request(name, model, decoding) for name in ORACLE_NAMES]
        found = measure(requests, {"candidate": candidate, "reference": self.texts}, plan=self.plan, test=False)
        # The requests of two settings differ in their options, so that replicates are kept by metric.
        by_name = {request.metric.name: each for request, each in found.replicates.items()}
        return Measured(found.results, {find_request(name): each for name, each in by_name.items()}, {})

    def baseline(self) -> Measured:
        """The measures of the oracle itself: its entropy, and a distance of 0."""
        return self.measured(self.texts, self.oracle, Decoding())

    def _request(self, name: str, model: Generator, decoding: Decoding) -> Request:
        given: dict[str, Any] = {
            "model": model_name(model),
            "oracle": model_name(self.oracle),
            "temperature": decoding.temperature,
            "top_k": decoding.top_k or 0,
            "top_p": 1.0 if decoding.top_p is None else decoding.top_p,
        }
        plain = find_request(name)
        return Request(plain.metric, {**plain.options, **{k: v for k, v in given.items() if k in plain.options}})


def find_request(name: str) -> Request:
    """The request of a metric with the defaults of its options."""
    metric = find_metric(name)
    return Request(metric, {option.name: option.default for option in metric.options.values()})


@dataclass(frozen=True, eq=False)
class _Study:
    measurer: Measurer
    points: Sequence[GridPoint]
    samples: Mapping[str, Sample]
    models: Mapping[str, Generator]
    notes: tuple[str, ...]
    draw: Draw
    oracle: OracleStudy | None

    def run(self, engine: Engine) -> Sweep:
        """Measure real text and every setting, find the best ones, and judge."""
        measurer, cut = self.measurer, self.measurer.cut
        measurer.progress.start("measuring", measurer.steps())
        tasks: list[Callable[[], Any]] = [self._baseline, *(partial(self._setting, point) for point in self.points)]
        baseline, *found = engine.map(lambda task: task(), tasks)
        measured = {point.name: each for point, (each, _) in zip(self.points, found, strict=True)}
        swept = self._columns(measured, [overall for _, overall in found])
        best = tuple(self._best(request, baseline, measured) for request in self._requests)
        plan = measurer.plan
        floor = 1 / (plan.n_resamples + 1) if plan.n_resamples else 0.0
        return Sweep(
            models=tuple(model.name for model in self.models.values()),
            reference=Column(cut.reference.name, len(cut.reference), cut.reference.digest, ()),
            real=Column("real v real", len(cut.held_out), cut.held_out.digest, baseline.results),
            swept=swept,
            labels=tuple(request.label for request in self._requests),
            best=best,
            verdict=judge(swept, best, level=plan.level, floor=floor),
            level=plan.level,
            notes=(*self.notes, *self._remarks(swept)),
            settings=self._settings(),
            samples=self.samples,
        )

    @property
    def _requests(self) -> list[Request]:
        """The metrics of the table, those of the oracle last."""
        return [*self.measurer.requests, *(map(find_request, ORACLE_NAMES) if self.oracle else ())]

    def _remarks(self, swept: Sequence[SettingColumn]) -> Iterable[str]:
        """What metrics note about their own values; remarks that differ in their numbers only are one note."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        for column in swept:
            for request, result in zip(self._requests, column.results, strict=True):
                for remark in request.metric.remarks(result.parts) if request.metric.remarks else ():
                    found.setdefault((request.label, _NUMBERS.sub("", remark)), {})[column.name] = remark
        names = [column.name for column in swept]
        for (label, _), remarks in found.items():
            first, shown = next(iter(remarks.items())), settings_text(list(remarks), names)
            example = "" if len(remarks) == 1 else f", for example at {first[0]}"
            yield f"{label} at {shown}{example}: {first[1]}"

    def _baseline(self) -> Measured:
        jobs = self.measurer.real_jobs()
        real = self.measurer.real(jobs, self.measurer.measuring(jobs)())
        return real if self.oracle is None else _joined(real, self.oracle.baseline())

    def _setting(self, point: GridPoint) -> tuple[CandidateMeasured, Overall | None]:
        jobs = self.measurer.candidate_jobs(point.name)
        found = self.measurer.candidate(jobs, self.measurer.measuring(jobs)())
        overall = self.measurer.overall(point.name)()
        sample = self.measurer.cut.candidates[point.name]
        if self.oracle is not None:
            material, model = self.measurer.material(sample), _model_of(point, self.models)
            found = replace(
                found, measured=_joined(found.measured, self.oracle.measured(material, model, point.decoding))
            )
        self.measurer.forget(sample)
        return found, overall

    def _columns(
        self, measured: Mapping[str, CandidateMeasured], overalls: Sequence[Overall | None]
    ) -> tuple[SettingColumn, ...]:
        p_values = [math.nan if one is None or one.p_value is None else one.p_value for one in overalls]
        adjusted, level = holm(p_values), self.measurer.plan.level
        columns = []
        for point, overall, p in zip(self.points, overalls, adjusted, strict=True):
            sample, each = self.measurer.cut.candidates[point.name], measured[point.name]
            columns.append(
                SettingColumn(
                    point.name,
                    point.model,
                    point.decoding,
                    len(sample),
                    sample.digest,
                    each.measured.results,
                    {request.label: result for request, result in each.at_baseline_size.items()},
                    None if overall is None else overall.corrected(p, differs=is_significant(p, level)),
                )
            )
        return tuple(columns)

    def _best(self, request: Request, baseline: Measured, measured: Mapping[str, CandidateMeasured]) -> Best:
        index = self._requests.index(request)
        closer = request.metric.better == "closer"
        values = {name: _valued(each, request, index, again=closer) for name, each in measured.items()}
        real = Valued(baseline.results[index].estimate, baseline.replicates.get(request))
        # Blank texts that were left out, or cuts, give texts of one fold different prompts.
        paired = self.draw.prompts is not None and all(len(s) == self.draw.n for s in self.samples.values())
        return find_best(
            request.label, request.metric.better, values, real, level=self.measurer.plan.level, paired=paired
        )

    def _settings(self) -> Settings:
        return settings_of_metrics(
            self.measurer.plan,
            self.measurer.requests,
            self.measurer.settings,
            tested=False,
            model=[model.name for model in self.models.values()],
            oracle=None if self.oracle is None else self.oracle.oracle.name,
            prompts=None if self.draw.prompts is None else self.draw.prompts.digest,
        )


def _joined(first: Measured, second: Measured) -> Measured:
    """The results of both in order."""
    replicates = {**first.replicates, **second.replicates}
    return Measured((*first.results, *second.results), replicates, {**first.adjusted, **second.adjusted})


def _valued(each: CandidateMeasured, request: Request, place: int, *, again: bool) -> Valued:
    """The value at a setting, of the size of the baseline if it is compared with real text."""
    if again and request in each.at_baseline_size:
        return Valued(each.at_baseline_size[request].estimate, each.replicates_at_baseline_size.get(request))
    return Valued(each.measured.results[place].estimate, each.measured.replicates.get(request))
