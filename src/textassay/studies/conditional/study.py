"""The conditional study: several candidates against several references, item by item and over all items."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.item_set import ItemSet, read_items
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.base import Encoder
from textassay.errors import InputError, Setting
from textassay.inference.engine import Engine, Progress, Silent, get_engine
from textassay.inference.over_items import Combined, measure_all, plan_tests
from textassay.inference.p_values import holm
from textassay.inference.per_item import ItemMeasured, ItemPlan, ItemWork, Measured, human_sizes
from textassay.inference.triangle_null import asymptotic_p
from textassay.metrics.registry import Request
from textassay.studies.conditional.across_items import Measuring, Summary
from textassay.studies.conditional.result import Conditional, ItemOutcome, SystemColumn
from textassay.studies.conditional.sensitivity import sensitivity_of
from textassay.studies.conditional.setup import Setup, set_up
from textassay.studies.conditional.verdict import Evidence, judge_system
from textassay.studies.outcome import Contest

HUMAN = "human"
_NOTHING = Combined({})
MOST_PARTITIONS = 200_000


def conditional(
    items: Any,
    *,
    metrics: str | Sequence[str] = (),
    distances: str | Sequence[str] | Mapping[str, Callable[[str, str], float]] = (),
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
    engine: str | Engine | None = None,
    progress: Progress | None = None,
) -> Conditional:
    """Compare each system's candidates with the references of the same item.

    `items` is a path, an `ItemSet`, or an iterable of items or plain objects with `references` and `candidates`.
    Metrics are written as on the command line (`["trm:distance=cider", "score:over=max"]`); without any, the default
    ones are measured with each of the distances. Distances are names, or your own functions of two texts by name.
    """
    _check(partitions, power, null)
    plan = ItemPlan(level, n_resamples, seed, partitions=partitions, asymptotic=null == "asymptotic").checked()
    workers = get_engine(engine)
    progress = progress or Silent()
    words = get_tokenizer(tokenizer)
    chosen = read_items(items)
    setup = set_up(
        chosen,
        metrics=metrics,
        distances=distances,
        tokenizer=words,
        encoder=encoder,
        document_frequencies=document_frequencies,
        progress=progress,
    )
    study = _Study(chosen, setup, plan, workers, progress)
    return study.run(power=power if sensitivity else None)


def _check(partitions: int, power: float, null: str) -> None:
    if not 0 <= partitions <= 2_000_000:
        raise InputError(Setting("partitions", partitions), "; wanted 0 to 2,000,000")
    if not 0 < power < 1:
        raise InputError(Setting("power", power), "; wanted a number between 0 and 1, such as 0.8")
    if null not in ("permutation", "asymptotic"):
        raise InputError(Setting("null", null), "; wanted permutation or asymptotic")


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
        tests = plan_tests(self.items, self.setup.requests, self.plan)
        work = ItemWork(
            self.setup.requests,
            self.items.systems,
            self.setup.pools,
            self.plan,
            asymptotic_p if self.plan.asymptotic and self.plan.n_resamples else None,
            tests.drawings,
        )
        self.progress.start("measuring", len(self.items.items))
        found, combined = measure_all(work, self.items, tests, engine=self.engine, progress=self.progress)
        clusters = tests.clusters(len(self.items.items))
        measuring = self._measuring()
        summary = Summary(self.plan, measuring, clusters)
        human = [each.human for each in found]
        systems = {name: [each.systems[name] for each in found] for name in self.items.systems}
        contests = tuple(summary.contests(self.setup.requests, systems, (self.human_name, human)))
        columns = {
            name: self._column(summary, name, measured, combined.get(name, _NOTHING))
            for name, measured in systems.items()
        }
        curves = []
        if power is not None:
            curves = [
                sensitivity_of(
                    _one_of_each(self.items, tests.groups[name]),
                    name,
                    self.setup,
                    self.plan,
                    power=power,
                    engine=self.engine,
                    progress=self.progress,
                )
                for name in self.items.systems
            ]
        return Conditional(
            items=self.items,
            human=self._column(summary, None, human, combined.get(None, _NOTHING)),
            systems=tuple(self._judged(columns, combined, contests)),
            labels=tuple(request.label for request in self.setup.requests),
            contests=contests,
            central=tuple(each.central for each in found),
            human_sizes=_usual(human_sizes(None, len(item.references)) for item in self.items.items),
            level=self.plan.level,
            notes=(*self.items.notes, *self.setup.notes, *tests.notes, *self._notes(found, power)),
            sensitivity=tuple(curves),
            settings=measuring.settings(self.setup.requests),
        )

    def _measuring(self) -> Measuring:
        setup = self.setup
        tokenizer = setup.pools.table.tokenizer.signature
        return Measuring(self.items, self.plan, tokenizer, setup.encoder_name, setup.signatures)

    def _column(
        self, summary: Summary, system: str | None, measured: Sequence[Measured], combined: Combined
    ) -> SystemColumn:
        requests = self.setup.requests
        outcomes = [
            ItemOutcome(item.id, tuple(summary.item(r, system, place, each) for r in requests), each.miss)
            for place, (item, each) in enumerate(zip(self.items.items, measured, strict=True))
        ]
        results = tuple(summary.over_items(request, system, measured, combined) for request in requests)
        again = {} if system is None else {r: summary.at_baseline_size(r, system, measured) for r in requests}
        return SystemColumn(
            self.human_name if system is None else system,
            results,
            tuple(outcomes),
            at_baseline_size={request.label: result for request, result in again.items() if result is not None},
        )

    def _judged(
        self,
        columns: Mapping[str, SystemColumn],
        combined: Mapping[str | None, Combined],
        contests: Sequence[Contest],
    ) -> Iterable[SystemColumn]:
        gaps = list(zip(contests, holm([contest.p_value for contest in contests]), strict=True))
        for column in columns.values():
            found = combined.get(column.name, _NOTHING)
            evidence = Evidence(
                dict(zip((request.label for request in self.setup.requests), column.results, strict=True)),
                min((_smallest_p(request, found) for request in self.setup.requests), default=1.0) * len(columns),
                found.misses,
                [(c, p) for c, p in gaps if (c.first, c.second) == (column.name, self.human_name)],
            )
            yield replace(column, verdict=judge_system(evidence, level=self.plan.level))

    def _notes(self, found: Sequence[ItemMeasured], power: float | None) -> Iterable[str]:
        if power is not None and not self.plan.n_resamples:
            yield "no sensitivity: without resamples nothing is tested"
        if self.plan.asymptotic and self.plan.n_resamples:
            measured = [system.figures.items() for each in found for system in each.systems.values()]
            triangles = [figures for one in measured for request, figures in one if request.metric.name == "trm"]
            tested = [figures for figures in triangles if not math.isnan(figures.p_value)]
            refused = sum(not figures.asymptotic for figures in tested)
            if refused:
                yield (
                    f"the asymptotic null does not hold for {refused:,} of {len(tested):,} triangle statistics "
                    "(too few texts, or no normal limit): those were tested by permutation"
                )


def _smallest_p(request: Request, combined: Combined) -> float:
    """The smallest p-value that the combined test could give."""
    test = combined.tests.get(request)
    return 1.0 if test is None else test.smallest_p


def _one_of_each(items: ItemSet, groups: Sequence[Sequence[int]]) -> ItemSet:
    """One item of each cluster, and all items that share no texts: these are independent."""
    left_out = {place for group in groups for place in group[1:]}
    kept = tuple(item for place, item in enumerate(items.items) if place not in left_out)
    return replace(items, items=kept)


def _usual(sizes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sizes that most items have."""
    known = Counter(size for size in sizes if 0 not in size)
    return known.most_common(1)[0][0] if known else (0, 0)
