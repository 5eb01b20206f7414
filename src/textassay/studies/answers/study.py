"""The study of answers: how different are several answers to one prompt, over many prompts?

Prompts are what is drawn at random: every metric is measured on the answers to one prompt, and its mean over prompts
has an interval of the bootstrap over prompts. Two systems are compared on the prompts that both answered, with equally
many answers of each.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from textassay.corpus.formats.record import TextKind
from textassay.corpus.item_set import Item, ItemSet, read_items
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.sample import Sample, as_text_array, digest_of
from textassay.corpus.tables import AnySource
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.base import Encoder
from textassay.encoders.given_prompt import GivenPrompt, reads_prompts, with_prompt
from textassay.encoders.remembered import Remembered, show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError
from textassay.inference.items.means import bootstrap_interval, paired
from textassay.inference.measure import measure
from textassay.inference.plan import Plan, Progress, shows_progress, told
from textassay.inference.result import Interval, Result, option_fields, result_of, setting_fields, signature
from textassay.metrics.measurable import choose
from textassay.metrics.ngrams.duplicates import NearDuplicates, wording_classes
from textassay.metrics.registry import Request, listed, metric_names, parse_requests
from textassay.metrics.vectors.meanings import meaning_classes
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Material, Settings
from textassay.studies.answers.result import Answers, FileClasses, PromptAnswers, SystemAnswers
from textassay.studies.answers.verdict import judged
from textassay.studies.contests import Contest
from textassay.studies.finding import Verdict
from textassay.studies.outcome import settings_of

# What is measured if nothing is named; the first metric that can be measured ranks the systems.
DEFAULT_METRICS = ("meanings", "wordings", "distinct:n=2", "self_bleu:n=4", "vendi", "dissimilarity")
METHOD = "bootstrap:prompts"
# Fewer answers have nothing to differ from.
_FEWEST = 2
# Prompts that a note names.
_NAMED = 3


@shows_progress
def answers(
    items: Any,
    *,
    by: str | None = None,
    field: str | None = None,
    text: TextKind = "answer",
    prompts_from: AnySource | None = None,
    metrics: str | Sequence[str] = (),
    tokenizer: str = "words",
    encoder: str | Encoder | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> Answers:
    """Measure how different several answers to one prompt are, without references.

    Parameters
    ----------
    items
        A path or records with one text each (`prompt` and `text`, or the file of a known tool such as NoveltyBench), or
        items as for `conditional`, whose references are left out. An `ItemSet` is taken as it is.
    by
        The field of the system of a text. By default what a known tool has as the system, or the field `model`.
    field
        The field of the texts, as for `read_sample`.
    text, prompts_from
        The answer or the reasoning of a model, and the requests of a batch, as for `read_sample`.
    metrics
        Metrics that describe one sample, such as `"meanings:similarity=0.7,distinct:n=3"`. By default `meanings`,
        `wordings`, `distinct:n=2`, `self_bleu:n=4`, `vendi` and `dissimilarity`; without an encoder those that need
        none.
    tokenizer, encoder
        As for `compare`.
    level, n_resamples, seed
        The level of intervals, the number of bootstrap samples of prompts (0: estimates only), and the seed.
    engine, progress
        Where to run; and True for a progress bar, or an object that is told about the progress.

    Returns
    -------
    Answers
        `found["model-a"]["meanings"]` is the mean number of meanings per prompt with its interval.

    Examples
    --------
    >>> records = [{"prompt": "Name a colour.", "text": text} for text in ("Blue.", "Blue.", "Blue.")]
    >>> found = answers(records, metrics="wordings")
    >>> print(found.systems[0].verdict.sentence)
    one answer, three times, on 1 of 1 prompt; 1.00 wordings per 3 answers on average
    """
    plan = Plan(level, n_resamples, seed).checked()
    workers = get_engine(engine)
    progress = told(progress)
    chosen = read_items(items, needs_references=False, by=by, field=field, text=text, prompts_from=prompts_from)
    named = listed(metrics)
    requests = _requests(named)
    choice = choose(requests, encoder, named=metric_names(named), families=())
    sizes, notes = _sizes(chosen)
    seen = _encoded(chosen, choice.encoder, progress) if choice.encoder is not None else None
    settings = Settings(get_tokenizer(tokenizer), seen)
    study = _Study(chosen, choice.requests, settings, plan, sizes)
    progress.start("measuring", len(chosen))
    measured = workers.map(partial(study.prompt, step=progress.step), range(len(chosen)))
    columns = [study.column(name, [found[name] for found in measured if name in found]) for name in chosen.systems]
    contests = tuple(study.contests(columns))
    return Answers(
        prompts=chosen,
        systems=tuple(judged(columns, contests, level=level)),
        labels=tuple(request.label for request in choice.requests),
        contests=contests,
        level=level,
        notes=(*chosen.notes, *choice.notes, *notes, *(seen.notes if seen else ())),
        settings=settings_of(plan, **_used(plan, choice.requests, study.named, several=len(columns) > 1)),
    )


def _used(plan: Plan, requests: Sequence[Request], settings: Settings, *, several: bool) -> dict[str, str | None]:
    """What the numbers are measured with, for the settings of the outcome."""
    read = [setting_fields(settings, request.metric.views) for request in requests]
    return {
        "tokenizer": next((fields["tok"] for fields in read if "tok" in fields), None),
        "encoder": next((fields["enc"] for fields in read if "enc" in fields), None),
        "interval": "bootstrap over prompts" if plan.n_resamples else None,
        "test": "signs of differences exchanged over prompts" if plan.n_resamples and several else None,
    }


def _requests(named: Sequence[str]) -> list[Request]:
    """The metrics, each of which describes one sample and can be measured on a few texts."""
    requests = parse_requests(named or DEFAULT_METRICS)
    for request in requests:
        if len(request.metric.roles) != 1 or request.metric.family not in ("ngram", "embedding"):
            wanted = ", ".join(spec.partition(":")[0] for spec in DEFAULT_METRICS)
            raise InputError(
                f"metric {request.metric.name!r} does not describe answers alone; wanted {wanted}, entropy"
            )
    return requests


def _sizes(items: ItemSet) -> tuple[dict[str, int], list[str]]:
    """How many answers of each system are measured per prompt, and notes on prompts and answers that are not.

    Systems are compared on equally many answers: the first ones, as many as the system with the fewest has.
    """
    sizes: dict[str, int] = {}
    single, uneven = [], []
    for item in items.items:
        counts = [len(texts) for texts in item.candidates.values() if len(texts) >= _FEWEST]
        if any(len(texts) == 1 for texts in item.candidates.values()):
            single.append(item.id)
        if counts:
            sizes[item.id] = min(counts)
        if len(set(counts)) > 1:
            uneven.append(item.id)
    if not sizes:
        seen = f"{shortened(items.name)}: no references, and one answer to each of {many(len(items), 'prompt')}"
        raise InputError(f"{seen}; wanted several answers per prompt in a file or a pattern, or a field 'references'")
    notes = []
    if single:
        notes.append(f"a single answer of a system to {_named(single)}, which is not measured")
    if uneven:
        notes.append(f"systems have different numbers of answers to {_named(uneven)}: the fewest of each were measured")
    return sizes, [*notes, *_one_sided(items)]


def _named(ids: Sequence[str]) -> str:
    return f"{many(len(ids), 'prompt')} ({quoted(list(ids), _NAMED)})"


def _one_sided(items: ItemSet) -> Iterator[str]:
    """Prompts that only some of several systems answered."""
    systems = items.systems
    alone = [item.id for item in items.items if sum(map(bool, item.candidates.values())) < len(systems)]
    if len(systems) > 1 and alone:
        yield f"not answered by all systems: {_named(alone)}; systems are compared on the prompts that both answered"


def _encoded(items: ItemSet, encoder: str | Encoder, progress: Progress) -> Remembered:
    """The encoder with the vectors of all answers."""
    samples = {
        name: _sample([text for item in items.items for text in item.candidates.get(name, ())], name)
        for name in items.systems
    }
    pooled = _sample([text for sample in samples.values() for text in sample.texts.to_pylist()], "answers")
    return show_all(
        encoder,
        reference=pooled,
        candidates=samples,
        used=[pooled, *_prompts(items)] if reads_prompts(encoder) else [pooled],
        start=partial(progress.start, "encoding"),
        step=progress.step,
    )


def _prompts(items: ItemSet) -> list[Sample]:
    """The prompts, and the prompts with each answer."""
    known = [item for item in items.items if item.prompt is not None]
    together = (
        text for item in known for texts in item.candidates.values() for text in with_prompt(item.prompt or "", texts)
    )
    return [_sample([item.prompt or "" for item in known], "prompts"), _sample(list(together), "prompts with answers")]


def _sample(texts: Sequence[str], name: str) -> Sample:
    """A sample with its blank texts: a system that wrote nothing did answer."""
    array = as_text_array(texts, name)
    return Sample(array, name, digest_of(array))


@dataclass(frozen=True, eq=False)
class _Study:
    items: ItemSet
    requests: Sequence[Request]
    settings: Settings
    plan: Plan
    sizes: Mapping[str, int]

    def prompt(self, index: int, *, step: Any) -> dict[str, PromptAnswers]:
        """One prompt of every system that answered it several times."""
        item = self.items.items[index]
        found = {
            name: self._measured(item, texts[: self.sizes[item.id]])
            for name, texts in item.candidates.items()
            if len(texts) >= _FEWEST
        }
        step(1)
        return found

    def _measured(self, item: Item, texts: Sequence[str]) -> PromptAnswers:
        material = Material(_sample(texts, "answers"), self._given(item.prompt))
        results = measure(self.requests, {"candidate": material}, plan=replace(self.plan, n_resamples=0)).results
        duplicates = material.view(NearDuplicates)
        wordings, classes = wording_classes(duplicates), None
        if self.settings.encoder is not None:
            classes = meaning_classes(material.view(Vectors).values, **self._meaning_options())
        kind = _kind(len(duplicates.sizes), int(wordings.max()) + 1, classes)
        shown = wordings if classes is None else classes
        return PromptAnswers(item.id, len(texts), tuple(r.estimate for r in results), kind, tuple(shown.tolist()))

    def _given(self, prompt: str | None) -> Settings:
        """The settings with vectors given the prompt, where it is known and the encoder can read it."""
        encoder = self.settings.encoder
        if encoder is None or prompt is None or not reads_prompts(encoder):
            return self.settings
        return replace(self.settings, encoder=GivenPrompt(encoder, prompt))

    @cached_property
    def named(self) -> Settings:
        """The settings as signatures name them: with the encoder of the prompts, if any is known."""
        return next((self._given(item.prompt) for item in self.items.items if item.prompt is not None), self.settings)

    def _meaning_options(self) -> Mapping[str, Any]:
        return next((request.options for request in self.requests if request.metric.name == "meanings"), {})

    def column(self, name: str, prompts: Sequence[PromptAnswers]) -> SystemAnswers:
        """The results of one system over its prompts."""
        results = tuple(self._result(at, request, name, prompts) for at, request in enumerate(self.requests))
        return SystemAnswers(name, results, tuple(prompts), Verdict("untested"), self._file_classes(name, prompts))

    def _result(self, at: int, request: Request, name: str, prompts: Sequence[PromptAnswers]) -> Result:
        values = np.array([prompt.values[at] for prompt in prompts])
        known = values[~np.isnan(values)]
        limits = bootstrap_interval(
            values, level=self.plan.level, n_resamples=self.plan.n_resamples, seed=self.plan.seed
        )
        return result_of(
            request,
            float(known.mean()) if len(known) else math.nan,
            signature=self._signature(request, name),
            n=len(known),
            interval=Interval(*_within(limits, request.bounds), self.plan.level, METHOD) if limits else None,
            parts={"answers": float(np.mean([prompt.n for prompt in prompts]))} if prompts else {},
            undefined=None if len(known) else _why_undefined(request, prompts),
        )

    def _signature(self, request: Request, name: str) -> str:
        texts = [item.candidates.get(name, ())[: self.sizes.get(item.id, 0)] for item in self.items.items]
        own = hashlib.blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()
        plan = self.plan
        resampling: dict[str, Any] = {"resamples": plan.n_resamples}
        if plan.n_resamples:
            resampling = {"interval": METHOD, "level": plan.level, **resampling, "seed": plan.seed}
        return signature(
            request.metric.name,
            option_fields(request),
            settings=setting_fields(self.named, request.metric.views),
            data={"prompts": f"{len(self.items)}/{self.items.digest}", "system": own},
            resampling=resampling,
        )

    def contests(self, columns: Sequence[SystemAnswers]) -> Iterator[Contest]:
        """Every two systems on the prompts that both answered, by every metric."""
        for first, second in combinations(columns, 2) if self.plan.n_resamples else ():
            one, other = ({prompt.id: prompt.values for prompt in column.prompts} for column in (first, second))
            both = [id_ for id_ in one if id_ in other]
            for at, request in enumerate(self.requests):
                found = paired(
                    [one[id_][at] for id_ in both],
                    [other[id_][at] for id_ in both],
                    level=self.plan.level,
                    n_resamples=self.plan.n_resamples,
                    seed=self.plan.seed,
                )
                yield Contest(
                    first.name, second.name, request.label, found.estimate, found.low, found.high, found.p_value
                )

    def _file_classes(self, name: str, prompts: Sequence[PromptAnswers]) -> FileClasses | None:
        """The classes of the file beside ours; None where the file has none."""
        by_id = {item.id: item.partitions.get(name, ()) for item in self.items.items}
        pairs = [(by_id[prompt.id][: prompt.n], prompt.classes) for prompt in prompts if by_id[prompt.id]]
        if not pairs:
            return None
        return FileClasses(
            len(pairs),
            float(np.mean([len(set(theirs)) for theirs, _ in pairs])),
            float(np.mean([len(set(ours)) for _, ours in pairs])),
            float(np.mean([adjusted_rand_score(theirs, ours) for theirs, ours in pairs])),
            float(np.mean([adjusted_rand_score(theirs, [0] * len(theirs)) for theirs, _ in pairs])),
        )


def _kind(n_texts: int, n_wordings: int, meanings: Any) -> str:
    """How alike the answers are."""
    if n_texts == 1:
        return "collapsed"
    if n_wordings == 1:
        return "one wording"
    return "one meaning" if meanings is not None and not meanings.any() else "varied"


def _within(limits: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    return max(limits[0], bounds[0]), min(limits[1], bounds[1])


def _why_undefined(request: Request, prompts: Sequence[PromptAnswers]) -> str:
    return request.metric.undefined if prompts else "no prompt with several answers"
