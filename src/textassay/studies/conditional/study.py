"""The conditional study: several candidates against several references, item by item and over all items."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from textassay.corpus.item_set import Item, ItemSet, TextTable, read_items, table_of
from textassay.corpus.printable import quoted
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import Tokenizer, get_tokenizer
from textassay.distances.base import (
    NEEDS_ENCODER,
    Surroundings,
    base_name,
    check_distance,
    get_distance,
    with_distance_options,
)
from textassay.distances.custom import check_own, own_distance
from textassay.encoders.base import DEFAULT, Encoder, can_encode
from textassay.encoders.remembered import show_all
from textassay.engines.base import Engine, get_engine
from textassay.errors import InputError, Setting
from textassay.inference.format_check import check_format
from textassay.inference.items.combined_tests import Combined, Tests, measure_items, plan_tests
from textassay.inference.items.item_work import ItemMeasured, ItemPlan, ItemWork, Measured, human_sizes
from textassay.inference.items.summary import Gap, Measuring, Summary, SystemResults
from textassay.inference.items.triangle_null import asymptotic_p
from textassay.inference.p_values import holm
from textassay.inference.plan import Progress, shows_progress, told
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.measurable import left_out, no_encoder
from textassay.metrics.registry import Request, listed, parse_requests
from textassay.studies.answers.study import answers
from textassay.studies.conditional.result import Conditional, ItemOutcome, Sensitivity, SystemColumn
from textassay.studies.conditional.sensitivity import sensitivity_of
from textassay.studies.conditional.verdict import Evidence, judge_system
from textassay.studies.contests import Contest
from textassay.studies.outcome import settings_of

HUMAN = "human"
_NOTHING = Combined({})
MOST_PARTITIONS = 5_000
Own = Mapping[str, Callable[[str, str], float]]

# The distances measured by default; those on vectors need an encoder.
_DISTANCES = ("meteor", "cider", "bert")
# The triangle statistic of the paper, and with ties in equal parts: if texts repeat, only the latter is a valid test.
_BY_DISTANCE = ("score", "trm", "trm:variant=split")
_BY_VECTORS = ("mmd", "frechet")
# Labellings to combine references that are defined for one distance.
_ONLY = {"coco": "rouge_l", "joint": "bleu"}


@shows_progress
def conditional(
    items: Any,
    *,
    metrics: str | Sequence[str] = (),
    distances: str | Sequence[str] | Own = (),
    tokenizer: str = "plain",
    encoder: str | Encoder | None = None,
    document_frequencies: str | None = None,
    partitions: int = MOST_PARTITIONS,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
    null: str = "permutation",
    sensitivity: bool = False,
    power: float = 0.8,
    references: bool = True,
    engine: str | Engine | None = None,
    progress: Progress | bool | None = None,
) -> Conditional:
    """Compare each system's candidates with the references of the same item.

    Parameters
    ----------
    items
        A path, an `ItemSet`, or items or mappings with `references` and `candidates`.
    metrics
        Metrics as on the command line (`["trm:distance=cider", "score:over=max"]`); by default `score` and `trm` with
        each of the distances, `mmd` and `frechet`.
    distances
        Names of distances between two texts, or your own functions by name.
    tokenizer
        What a word is; `plain` counts neither case nor punctuation.
    encoder
        The sentence encoder, or an object with `name`, `dimension` and `encode`.
    document_frequencies
        A file of document frequencies for CIDEr; by default they are counted in the references.
    partitions
        An item is tested exactly if its texts can be divided in at most so many ways.
    level
        The confidence level.
    n_resamples
        Exchanges of the permutation tests; 0 gives estimates only.
    seed
        The seed of all random numbers; the same texts, options and seed give the same numbers.
    null
        `"permutation"` tests by exchanging candidates and references, `"asymptotic"` by the limit for many texts.
    sensitivity
        Whether to measure which differences the tests would find, with the power `power`.
    power
        The power that `sensitivity` asks for.
    references
        False leaves references out. Without any reference the outcome is that of `answers`, on how different the
        candidates of an item are.
    engine
        Where the work runs: `local` (the default), or an `Engine`.
    progress
        True shows a progress bar, in a terminal or a notebook; or an object that is told about the progress.

    Returns
    -------
    Conditional
        Results by system and metric, each item with its own tests, and verdicts; without references an `Answers`.

    Examples
    --------
    >>> items = [
    ...     {"references": [f"a cat at {n}", f"one cat, {n}", f"cats {n}"], "candidates": {"m": [f"a cat at {n}"] * 3}}
    ...     for n in range(8)
    ... ]
    >>> found = conditional(items, metrics="trm:variant=split", distances="rouge_l", n_resamples=39)
    >>> found["m"].verdict.decision
    'collapsed'
    """
    _check(partitions, power, null)
    plan = ItemPlan(level, n_resamples, seed, partitions=partitions, asymptotic=null == "asymptotic").checked()
    workers = get_engine(engine)
    progress = told(progress)
    words = get_tokenizer(tokenizer)
    chosen = read_items(items, needs_references=False)
    if not references or not any(item.references for item in chosen.items):
        _check_without_references(distances, document_frequencies, null, sensitivity=sensitivity)
        without = answers(
            chosen,
            metrics=metrics,
            tokenizer="words" if tokenizer == "plain" else tokenizer,
            encoder=encoder,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            engine=engine,
            progress=progress,
        )
        # Type checkers see the outcome of items with references; `answers` has the type of the other one.
        return cast(Conditional, without)
    requests, unmeasured = _choose(metrics, distances, encodes=can_encode(encoder))
    setup = _set_up(
        chosen,
        requests,
        own=distances if isinstance(distances, Mapping) else {},
        tokenizer=words,
        encoder=DEFAULT if encoder is None else encoder,
        document_frequencies=document_frequencies,
        progress=progress,
    )
    study = _Study(chosen, replace(setup, notes=(*unmeasured, *setup.notes)), plan, workers, progress)
    return study.run(power=power if sensitivity else None)


def _check(partitions: int, power: float, null: str) -> None:
    if not 0 <= partitions <= 2_000_000:
        raise InputError(Setting("partitions", partitions), "; wanted 0 to 2,000,000")
    if not 0 < power < 1:
        raise InputError(Setting("power", power), "; wanted a number between 0 and 1, such as 0.8")
    if null not in ("permutation", "asymptotic"):
        raise InputError(Setting("null", null), "; wanted permutation or asymptotic")


def _check_without_references(
    distances: object, document_frequencies: str | None, null: str, *, sensitivity: bool
) -> None:
    """Refuse options that are about references."""
    given = {
        "distances": bool(distances),
        "document_frequencies": document_frequencies is not None,
        "null": null != "permutation",
        "sensitivity": sensitivity,
    }
    for name, is_given in given.items():
        if is_given:
            raise InputError("items without references, and ", Setting(name), "; it needs references")


def _choose(
    metrics: str | Sequence[str], distances: str | Sequence[str] | Own, *, encodes: bool
) -> tuple[list[Request], list[str]]:
    """The requests, and a note on what was left out because no encoder is installed."""
    if not isinstance(distances, Mapping | str | Sequence) or not all(isinstance(name, str) for name in distances):
        raise InputError(Setting("distances", distances), "; wanted names, or functions by name: {'mine': function}")
    own = distances if isinstance(distances, Mapping) else {}
    for name, function in own.items():
        check_own(name, function)
    metrics = list(map(with_distance_options, listed(metrics)))
    distances = listed(distances) if isinstance(distances, str) else list(distances)
    distances = [name if name in own else with_distance_options(name) for name in distances]
    for name in distances:
        check_distance(name, list(own))
    specs, notes = list(metrics), []
    if not metrics:
        wanted = list(distances) or [name for name in _DISTANCES if encodes or name not in NEEDS_ENCODER]
        specs = [f"{metric}:distance={name}" for name in wanted for metric in _BY_DISTANCE]
        if not distances and encodes:
            specs += _BY_VECTORS
        elif not distances:
            missing = ", ".join([*(f"distance {name}" for name in NEEDS_ENCODER), *_BY_VECTORS])
            notes = [left_out(missing)]
    elif distances:
        specs = [spec for metric in metrics for spec in _with_distances(metric, distances)]
    requests = parse_requests(specs, on="items")
    for request in requests:
        if "distance" in request.options:
            check_distance(request.options["distance"], list(own))
        over = str(request.options.get("over"))
        if over in _ONLY and base_name(request.options["distance"]) != _ONLY[over]:
            seen = request.options["distance"]
            raise InputError(f"over={over} is for distance={_ONLY[over]}; the distance is {seen!r}")
        if _needs_encoder(request) and not encodes:
            raise no_encoder()
    return requests, notes


def _with_distances(spec: str, distances: Sequence[str]) -> list[str]:
    """A metric with each of the distances, unless it names its own or has none."""
    (first, *_) = parse_requests([spec], on="items")
    if "distance" not in first.options or ":distance=" in spec.replace(" ", ""):
        return [spec]
    return [f"{spec}:distance={name}" for name in distances]


def _needs_encoder(request: Request) -> bool:
    return request.metric.reads_vectors or request.options.get("distance") in NEEDS_ENCODER


@dataclass(frozen=True, eq=False)
class Setup:
    """What to measure, and everything it is measured with."""

    requests: Sequence[Request]
    pools: Pools
    signatures: Mapping[str, str]
    encoder_name: str | None
    notes: tuple[str, ...]


def _set_up(
    items: ItemSet,
    requests: Sequence[Request],
    *,
    own: Own,
    tokenizer: Tokenizer,
    encoder: str | Encoder,
    document_frequencies: str | None,
    progress: Progress,
) -> Setup:
    """Number and check the texts, encode them, and make the distances, in this order."""
    options = [request.options for request in requests]
    names = dict.fromkeys(each["distance"] for each in options if "distance" in each)
    table = table_of(items, tokenizer)
    if slow := [name for name in _QUADRATIC if name in names]:
        _check_lengths(items, table, slow)
    format_notes = _format_notes(items, tokenizer)
    seen, values, encoder_name = None, None, None
    if any(map(_needs_encoder, requests)):
        reference, *candidates = [
            Sample.of(
                list(dict.fromkeys(all_texts(items.items, system))), name="references" if system is None else system
            )
            for system in (None, *items.systems)
        ]
        seen = show_all(
            encoder,
            reference=reference,
            candidates=dict(zip(items.systems, candidates, strict=True)),
            used=[reference, *candidates],
            start=partial(progress.start, "encoding"),
            step=progress.step,
        )
        encoder_name = seen.name
        values = seen.encode(table.texts) if any(request.metric.reads_vectors for request in requests) else None
    progress.start("preparing distances", 0)
    surroundings = Surroundings(table, seen, document_frequencies)
    made = {n: own_distance(n, own[n], table) if n in own else get_distance(n, surroundings) for n in names}
    # Such as that WordNet is missing.
    missing = [note for distance in made.values() for note in getattr(distance, "notes", ())]
    ways = [each.get("over") for each in options]
    return Setup(
        requests,
        Pools(table, made, values, shares="coco" in ways, joint="joint" in ways),
        signatures={name: distance.signature for name, distance in made.items()},
        encoder_name=encoder_name,
        notes=(*(() if seen is None else seen.notes), *missing, *format_notes),
    )


def _format_notes(items: ItemSet, tokenizer: Tokenizer) -> list[str]:
    """Notes on differences in format between the references and each system."""
    reference = Sample.of(all_texts(items.items), name="references")
    notes = []
    for system in items.systems:
        candidate = Sample.of(all_texts(items.items, system), name=system)
        for finding in check_format(candidate, reference, tokenizer=tokenizer):
            if not finding.harmless:
                notes.append(f"format of {system!r}: {finding.message}: {finding.fix}")
    return notes


def all_texts(items: Iterable[Item], system: str | None = None) -> list[str]:
    """All references, or all candidates of a system, in order."""
    if system is None:
        return [text for item in items for text in item.references]
    return [text for item in items for text in item.candidates.get(system, ())]


# Distances that compare each word of a text with each word of another one, and the work (pairs of words, about ten
# minutes) and memory that they may take. The memory is that of one item.
_QUADRATIC = ("rouge_l", "edit")
_MOST_PAIRS, _MOST_BYTES = 10**12, 2**30


def _check_lengths(items: ItemSet, table: TextTable, names: Sequence[str]) -> None:
    """Refuse texts that are too long for these distances, whose time grows with the square of their length."""
    wanted = f"; wanted shorter texts, or another distance than {' and '.join(names)}"
    pairs = 0
    for item in items.items:
        for texts in item.candidates.values():
            numbers = [table.number_of[text] for text in (*item.references, *texts)]
            words = int(table.sequences.lengths[numbers].sum())
            pairs += words**2
            if words**2 > 8 * _MOST_BYTES:
                different = len(np.unique(np.concatenate([table.ids(number) for number in numbers])))
                if different * words > 8 * _MOST_BYTES:
                    seen = f"item {quoted([item.id])}: {words:,} words, {different:,} of them different"
                    raise InputError(f"{seen}, which takes more than 1 GiB of memory{wanted}")
    if pairs > _MOST_PAIRS:
        raise InputError(f"items: {pairs:.0e} pairs of words in the texts of each item, which takes hours{wanted}")


@dataclass(frozen=True, eq=False)
class _Study:
    items: ItemSet
    setup: Setup
    plan: ItemPlan
    engine: Engine
    progress: Progress

    @property
    def human_name(self) -> str:
        """What the row of references against references is called; a system may have taken the usual name."""
        return HUMAN if HUMAN not in self.items.systems else f"{HUMAN} references"

    def run(self, *, power: float | None) -> Conditional:
        items, requests, human_name = self.items.items, self.setup.requests, self.human_name
        tests = plan_tests(self.items, requests, self.plan)
        work = ItemWork(
            requests,
            self.items.systems,
            self.setup.pools,
            self.plan,
            asymptotic_p if self.plan.asymptotic and self.plan.n_resamples else None,
            tests.drawings,
        )
        self.progress.start("measuring", len(items))
        found, combined = measure_items(work, self.items, tests, engine=self.engine, progress=self.progress)
        tokenizer = self.setup.pools.table.tokenizer.signature
        measuring = Measuring(self.items, self.plan, tokenizer, self.setup.encoder_name, self.setup.signatures)
        summary = Summary(self.plan, measuring, tests.clusters(len(items)))
        human = [each.human for each in found]
        systems = {name: [each.systems[name] for each in found] for name in self.items.systems}
        gaps = list(summary.gaps(requests, systems, (human_name, human)))
        parts = [
            summary.of_system(requests, name, measured, combined.get(name, _NOTHING))
            for name, measured in (*systems.items(), (None, human))
        ]
        *columns, human_column = map(self._column, (*systems, human_name), (*systems.values(), human), parts)
        curves = () if power is None else tuple(self._sensitivity(tests, power))
        notes = (*self.items.notes, *self.setup.notes, *tests.notes, *self._notes(found, power))
        used = _used(measuring, requests)
        return Conditional(
            items=self.items,
            human=human_column,
            labels=tuple(request.label for request in requests),
            central=tuple(each.central for each in found),
            human_sizes=_usual(human_sizes(None, len(item.references)) for item in items),
            level=self.plan.level,
            notes=notes,
            sensitivity=curves,
            systems=tuple(self._judged(columns, combined, gaps)),
            contests=tuple(Contest(g.first, g.second, g.label, g.estimate, g.low, g.high, g.p_value) for g in gaps),
            settings=settings_of(self.plan, **used),
        )

    def _column(self, name: str, measured: Sequence[Measured], found: SystemResults) -> SystemColumn:
        """The results of one system, or of references against references, with its items."""
        items = zip(self.items.items, found.items, measured, strict=True)
        outcomes = tuple(ItemOutcome(item.id, results, one.miss) for item, results, one in items)
        return SystemColumn(name, found.over_items, outcomes, at_baseline_size=found.at_baseline_size)

    def _sensitivity(self, tests: Tests, power: float) -> Iterator[Sensitivity]:
        """The curves of each system, from items that share no texts."""
        for name in self.items.systems:
            yield sensitivity_of(
                _one_of_each(self.items, tests.groups[name]),
                name,
                self.setup.requests,
                self.setup.pools,
                self.plan,
                power=power,
                engine=self.engine,
                progress=self.progress,
            )

    def _judged(
        self,
        columns: Collection[SystemColumn],
        combined: Mapping[str | None, Combined],
        gaps: Sequence[Gap],
    ) -> Iterable[SystemColumn]:
        adjusted = list(zip(gaps, holm([gap.p_value for gap in gaps]), strict=True))
        for column in columns:
            found = combined.get(column.name, _NOTHING)
            evidence = Evidence(
                dict(zip((request.label for request in self.setup.requests), column.results, strict=True)),
                min((_smallest_p(request, found) for request in self.setup.requests), default=1.0) * len(columns),
                found.misses,
                [(g, p) for g, p in adjusted if (g.first, g.second) == (column.name, self.human_name)],
                (column.count("collapsed"), self._several(column.name)),
            )
            yield replace(column, verdict=judge_system(evidence, level=self.plan.level))

    def _several(self, system: str) -> int:
        """How many items have several candidates of this system, and references that are not all one text."""
        items = self.items.items
        return sum(len(item.candidates.get(system, ())) > 1 and len(set(item.references)) > 1 for item in items)

    def _notes(self, found: Sequence[ItemMeasured], power: float | None) -> Iterable[str]:
        if power is not None and not self.plan.n_resamples:
            yield "no sensitivity: without resamples nothing is tested"
        if self.plan.asymptotic and self.plan.n_resamples:
            measured = [system.figures.items() for each in found for system in each.systems.values()]
            triangles = [figures for one in measured for request, figures in one if request.metric.triangles]
            tested = [figures for figures in triangles if not math.isnan(figures.p_value)]
            refused = sum(not figures.asymptotic for figures in tested)
            if refused:
                yield (
                    f"the asymptotic null does not hold for {refused:,} of {len(tested):,} triangle statistics "
                    "(too few texts, or no normal limit): those were tested by permutation"
                )


def _used(measuring: Measuring, requests: Sequence[Request]) -> dict[str, str | list[str] | None]:
    """What the numbers are measured with, for the settings of the outcome."""
    read = [measuring.read(request) for request in requests]
    tested = measuring.plan.n_resamples > 0
    return {
        "distances": [fields["dist"] for fields in read if "dist" in fields],
        "tokenizer": [fields["tok"] for fields in read if "tok" in fields],
        "encoder": [fields["enc"] for fields in read if "enc" in fields],
        "interval": "bootstrap over items" if tested else None,
        "test": _item_tests(measuring, requests) if tested else None,
    }


def _item_tests(measuring: Measuring, requests: Sequence[Request]) -> list[str]:
    """How p-values of items are computed, in words; with the metrics where these differ."""
    metrics: dict[str, dict[str, None]] = {}
    for request in requests:
        exact = f"exact up to {measuring.plan.most(request):,} labellings per item"
        words = f"asymptotic, or {exact}" if measuring.is_asymptotic(request) else exact
        metrics.setdefault(words, {})[request.metric.name] = None
    return [words if len(metrics) == 1 else f"{', '.join(names)}: {words}" for words, names in metrics.items()]


def _smallest_p(request: Request, combined: Combined) -> float:
    """The smallest p-value that the combined test could give."""
    test = combined.tests.get(request)
    return 1.0 if test is None else test.smallest_p


def _one_of_each(items: ItemSet, groups: Sequence[Sequence[int]]) -> ItemSet:
    """One item of each cluster, and all items that share no texts: these are independent."""
    left_out = {index for group in groups for index in group[1:]}
    kept = tuple(item for index, item in enumerate(items.items) if index not in left_out)
    return replace(items, items=kept)


def _usual(sizes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sizes that most items have."""
    known = Counter(size for size in sizes if 0 not in size)
    return known.most_common(1)[0][0] if known else (0, 0)
