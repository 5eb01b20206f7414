"""Sweeps over items: several texts per prompt at each setting, against several references (Figures 5 and 6 of TRM)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.item_set import Item, ItemSet, read_items
from textassay.corpus.printable import many, quoted
from textassay.corpus.sample import Sample, digest_of
from textassay.corpus.values import is_whole
from textassay.errors import InputError, Setting
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.models.base import Generator
from textassay.studies.compare.result import Column
from textassay.studies.conditional.result import Conditional, SystemColumn
from textassay.studies.conditional.study import conditional
from textassay.studies.contests import Contest
from textassay.studies.finding import NO_TEST, Finding
from textassay.studies.outcome import Settings
from textassay.studies.sweep.best import Best, loss
from textassay.studies.sweep.grid import GridPoint
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.samples import Draw
from textassay.studies.sweep.verdict import judge, settings_text

DEFAULT_CANDIDATES = 5
_OTHER_SIZE = (
    "references against references have fewer texts per item than a setting; textassay conditional compares them at "
    "one size"
)


@dataclass(frozen=True, eq=False)
class ItemPrompts:
    """Items with prompts, and how many texts are drawn per prompt."""

    items: ItemSet
    candidates: int

    @classmethod
    def of(cls, items: Any, candidates: int) -> "ItemPrompts":
        """Read items; each needs a prompt and a reference."""
        if not is_whole(candidates) or not 1 <= candidates <= 1000:
            raise InputError(Setting("candidates", candidates), "; wanted a whole number from 1 to 1,000")
        read = read_items(items, needs_candidates=False)
        for what, missing in (
            ("prompt", [item.id for item in read.items if not (item.prompt or "").strip()]),
            ("reference", [item.id for item in read.items if not item.references]),
        ):
            if missing:
                seen = f"{read.name}: {len(missing):,} of {many(len(read.items), 'item')} without {what}"
                raise InputError(f"{seen}, {quoted(missing[:1])} first; wanted a {what} for each item of a sweep")
        return cls(read, candidates)

    def draw(self, seed: int) -> Draw:
        """As many texts per prompt as wanted, those of one prompt one after the other."""
        prompts = [str(item.prompt) for item in self.items.items for _ in range(self.candidates)]
        return Draw(len(prompts), seed, Sample.of(prompts, name="prompts"), purpose="item sweep")

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> ItemSet:
        """The items with the texts of each setting as the candidates of a system."""
        k = self.candidates
        items = tuple(
            Item(
                item.id,
                item.references,
                {name: tuple(drawn[index * k : (index + 1) * k]) for name, drawn in texts.items()},
                item.prompt,
            )
            for index, item in enumerate(self.items.items)
        )
        return ItemSet.of(items, name=self.items.name, notes=self.items.notes)


def sweep_of_items(
    prompts: ItemPrompts,
    texts: Mapping[str, Sequence[str]],
    points: Sequence[GridPoint],
    models: Mapping[str, Generator],
    **options: Any,
) -> Sweep:
    """The sweep from the texts of each setting; `options` are those of `conditional`."""
    found = conditional(prompts.with_texts(texts), **options)
    swept = tuple(map(_column, points, found.systems, texts.values()))
    best = tuple(_best(found, index) for index in range(len(found.labels)))
    known: Settings = {"model": tuple(model.name for model in models.values()), "candidates": prompts.candidates}
    return Sweep(
        models=tuple(model.name for model in models.values()),
        reference=Column(found.items.name, len(found.items), found.items.digest, ()),
        real=Column("references", len(found.items), found.items.digest, _without_numbers(found.human.results)),
        swept=swept,
        labels=found.labels,
        best=best,
        verdict=judge(swept, best, level=found.level, floor=0.0, tested=_tested(found.systems)),
        level=found.level,
        notes=found.notes,
        settings={**known, **found.settings},
        samples={name: Sample.of(list(drawn), name=name) for name, drawn in texts.items()},
    )


def _column(point: GridPoint, system: SystemColumn, texts: Sequence[str]) -> SettingColumn:
    digest = digest_of(Sample.of(list(texts), name=point.name).texts)
    # The number of texts, as in other sweeps; the number of items is among the parts.
    results = tuple(replace(result, n=len(texts)) for result in system.results)
    return SettingColumn(point.name, point.model, point.decoding, len(texts), digest, results)


def _without_numbers(results: Sequence[Result]) -> tuple[Result, ...]:
    """Beside values of other sizes, the values of references against references would mislead."""
    nothing: dict[str, Any] = {"interval": None, "p_value": None, "parts": {}, "undefined": _OTHER_SIZE}
    return tuple(replace(result, estimate=math.nan, **nothing) for result in results)


def _best(found: Conditional, place: int) -> Best:
    """The best setting of a metric, and those that no other setting beats by more than chance explains.

    As in `best.py`, with the paired tests of settings on the same items: one-sided, at the level divided by the number
    of other settings.
    """
    results = {system.name: system.results[place] for system in found.systems}
    losses = {name: loss(result.estimate, result.better, math.nan) for name, result in results.items()}
    known = [name for name, each in losses.items() if math.isfinite(each)]
    label = found.labels[place]
    if not known:
        return Best(label, "", (), tuple(losses))
    best = min(known, key=losses.__getitem__)
    tests = {frozenset((each.first, each.second)): each for each in found.contests if each.label == label}
    compared = [name for name in known if name == best or frozenset((name, best)) in tests]
    level = 1 - (1 - found.level) / max(len(compared) - 1, 1)
    among = tuple(
        name
        for name in compared
        if not any(
            losses[other] < losses[name] and _is_clear(tests.get(frozenset((name, other))), level) for other in compared
        )
    )
    return Best(label, best, among, tuple(name for name in losses if name not in compared))


def _is_clear(contest: Contest | None, level: float) -> bool:
    return contest is not None and is_significant(contest.p_value / 2, level)


def _tested(systems: Sequence[SystemColumn]) -> tuple[str, Finding]:
    """The decision, and what the combined tests of all settings found."""
    decisions = {system.name: "untested" if system.verdict is None else system.verdict.decision for system in systems}
    alike = tuple(name for name, decision in decisions.items() if decision == "same")
    if alike:
        return "same", Finding("alike over items", names=alike, text=settings_text(alike, list(decisions)))
    if all(decision == "differs" for decision in decisions.values()):
        return "differs", Finding("every setting differs over items")
    return "untested", Finding("some untested") if "differs" in decisions.values() else NO_TEST
