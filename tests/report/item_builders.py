"""Conditional studies made by hand for the tests of reports: any number of systems and items, and hostile texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.report.builders import HOSTILE as HOSTILE_TEXTS
from textassay.corpus.items.item_set import Item, ItemSet
from textassay.inference.result import Interval, Result
from textassay.studies.conditional.result import Conditional, CurvePoint, ItemOutcome, Miss, Sensitivity, SystemColumn
from textassay.studies.outcome import Contest
from textassay.studies.verdict import Verdict

# Besides what is dangerous in a page or a terminal: table cells and links in Markdown, formulas in a spreadsheet.
HOSTILE = (
    *HOSTILE_TEXTS,
    "=cmd|' /C calc'!A0",
    "+1 | pipes | and `code` and [a link](javascript:alert(1))",
    "[bold red]markup[/bold red] \\| $math$ ~~struck~~",
    "```\nfence\n```\r\n# heading",
)


@dataclass(frozen=True)
class Kind:
    """A metric as these tests know it: what it is, and what people, chance and a first system reach."""

    metric: str
    options: dict[str, Any]
    aspect: str
    better: str
    tested: bool
    human: float
    chance: float
    system: float
    human_sizes: tuple[int, int] = (2, 3)


KINDS = {
    "score meteor": Kind("score", {"distance": "meteor"}, "quality", "higher", False, 0.41, 0.4, 0.31, (1, 4)),
    "trm meteor": Kind("trm", {"distance": "meteor", "variant": "paper"}, "both", "lower", True, 0.63, 0.61, 1.31),
    "trm edit": Kind("trm", {"distance": "edit", "variant": "paper"}, "both", "lower", True, 0.64, 0.62, 1.02),
    "mmd": Kind("mmd", {"variant": "biased"}, "both", "lower", True, 0.21, 0.2, 0.48),
}
LABELS = tuple(KINDS)
MISSES = (
    Miss("too narrow", 3.4, 0.9, 0.001),
    Miss("elsewhere", 0.4, 2.7, 0.004),
    Miss("too wide", -2.2, 0.3, 0.011),
    Miss("same", 0.3, -0.2, 0.62),
)
UNTESTED = Miss("untested", math.nan, math.nan, math.nan)
ONE_REFERENCE = "one reference; wanted 2 or more"


def result(
    label: str,
    estimate: float,
    *,
    half: float | None = 0.02,
    p: float | None = 0.0004,
    n: int = 15,
    undefined: str | None = None,
    parts: Mapping[str, float] | None = None,
) -> Result:
    """A result of a known metric; without a test where the metric has none."""
    kind = KINDS[label]
    defined = undefined is None
    low_high = Interval(estimate - half, estimate + half, 0.95, "bootstrap") if defined and half is not None else None
    return Result(
        metric=kind.metric,
        options=kind.options,
        estimate=estimate if defined else math.nan,
        better=kind.better,
        aspect=kind.aspect,
        interval=low_high,
        p_value=p if kind.tested and defined else None,
        parts=parts or {},
        undefined=undefined,
        signature=f"{kind.metric}|distance:{kind.options.get('distance', 'none')}|tok:plain|items:{n}/abc|v:0.1.0",
        seconds=0.1,
        n=n,
    )


def tests(p: float) -> dict[str, float]:
    """What goes with the p-value of a combined test: adjusted as if for twelve tests."""
    others = {"harmonic_mean": 0.4, "fisher": 0.03, "simes": 0.002}
    return {"z": 9.54, "adjusted": min(12 * p, 1.0), "draws": 9999.0, "units": 11.0} | others


def sizes(label: str) -> dict[str, float]:
    """How many candidates and references the human parts of a metric have."""
    candidates, references = KINDS[label].human_sizes
    return {"candidates": float(candidates), "references": float(references)}


def item_set(
    count: int = 12,
    systems: Sequence[str] = ("beam", "nucleus"),
    *,
    references: int = 5,
    candidates: int = 10,
    name: str = "captions",
    prompt: str | None = "what is on picture {}?",
) -> ItemSet:
    """Items with texts that tell where they stand; every seventh has one reference only."""
    items = [
        Item(
            f"img-{place:04d}",
            tuple(f"reference {r} of picture {place}" for r in range(1 if place % 7 == 6 else references)),
            {s: tuple(f"{s} says {c % 3} of picture {place}" for c in range(candidates)) for s in systems},
            prompt.format(place) if prompt else None,
        )
        for place in range(count)
    ]
    return ItemSet.of(items, name=name)


def outcomes(items: ItemSet, labels: Sequence[str], *, worse: float = 1.0) -> tuple[ItemOutcome, ...]:
    """Each item's results and its miss, all kinds in turn; an item of one reference has no number where one is needed.

    The first item misses farthest: standard scores fall with the place.
    """
    found = []
    for place, item in enumerate(items.items):
        single = len(item.references) < 2
        results = [
            result(label, math.nan, half=None, n=11, undefined=ONE_REFERENCE)
            if single and KINDS[label].tested
            else result(
                label, KINDS[label].system * worse + 0.01 * (place % 9), half=None, p=0.001 * (1 + place % 40), n=15
            )
            for label in labels
        ]
        miss, weight = MISSES[place % len(MISSES)], 1 + 1 / (1 + place)
        far = UNTESTED if single else replace(miss, spread=miss.spread * weight, place=miss.place * weight)
        found.append(ItemOutcome(item.id, tuple(results), far))
    return tuple(found)


def column(
    name: str,
    items: ItemSet,
    labels: Sequence[str] = LABELS,
    *,
    worse: float = 1.0,
    half: float | None = 0.02,
    p: float | None = 0.0004,
    small: bool = True,
) -> SystemColumn:
    """A judged system; `small` adds what it scores on parts as small as the human ones."""
    n = len(items)
    defined = sum(len(item.references) > 1 for item in items.items)
    results = [
        result(
            label, KINDS[label].system * worse, half=half, p=p, n=n,
            parts={"items": float(defined), "chance": KINDS[label].chance} | ({} if p is None else tests(p))
            if KINDS[label].tested
            else {"items": float(n), "chance": KINDS[label].chance},
        )
        for label in labels
    ]  # fmt: skip
    again = {
        label: result(
            label, KINDS[label].system * worse * 0.9, half=half, p=None, n=n, parts=sizes(label)
        )
        for label in labels
    }  # fmt: skip
    verdict = Verdict("differs", ("too narrow on 3 of 12 items", "elsewhere on 3 (trm meteor 1.31, people 0.63)"))
    return SystemColumn(name, tuple(results), outcomes(items, labels, worse=worse), verdict, again if small else {})


def human(
    items: ItemSet, labels: Sequence[str] = LABELS, *, half: float | None = 0.02, p: float | None = 0.4
) -> SystemColumn:
    """References against references."""
    results = [
        result(
            label, KINDS[label].human, half=half, p=p, n=len(items), parts=sizes(label)
        )
        for label in labels
    ]  # fmt: skip
    untested = [replace(outcome, miss=UNTESTED) for outcome in outcomes(items, labels, worse=0.5)]
    return SystemColumn("human", tuple(results), tuple(untested))


def curve(system: str, label: str = "trm meteor", *, needed: int | None = 4) -> Sensitivity:
    """A p-value that falls with the number of candidates, and with that of references."""
    points = [CurvePoint(label, c, 5, 10, 10.0 ** -(c / 2), 1 - 0.5**c, 0.1 * c) for c in range(1, 11)]
    points += [CurvePoint(label, 10, r, 10, 10.0**-r, 1 - 0.4**r, 0.2 * r) for r in range(2, 5)]
    return Sensitivity(system, 0.95, 0.8, tuple(points), {label: {"candidates": needed, "references": 3}})


def conditional(
    names: Sequence[str] = ("beam", "nucleus"),
    *,
    count: int = 12,
    labels: Sequence[str] = LABELS,
    half: float | None = 0.02,
    p: float | None = 0.0004,
    small: bool = True,
    sensitivity: bool = False,
    **extra: object,
) -> Conditional:
    """Systems that move away from the references one after the other, with everything a study can say of them."""
    items = item_set(count, names)
    columns = [
        column(name, items, labels, worse=1 + 0.1 * place, half=half, p=p, small=small)
        for place, name in enumerate(names)
    ]
    values: dict[str, object] = {
        "items": items,
        "human": human(items, labels, half=half, p=None if p is None else 0.4),
        "systems": tuple(columns),
        "labels": tuple(labels),
        "contests": tuple(
            Contest(names[0], name, label, -0.1, -0.15, -0.05, 0.003) for name in names[1:] for label in labels
        ),
        "central": tuple(None if len(item.references) < 2 else 2 for item in items.items),
        "human_sizes": (2, 3),
        "level": 0.95,
        "notes": ("p-values are exact: all 3,003 ways to tell candidates from references were listed",),
        "sensitivity": tuple(curve(name) for name in names) if sensitivity else (),
        "settings": {"tokenizer": "plain", "version": "0.1.0"},
    }
    return Conditional(**(values | extra))  # type: ignore[arg-type]


def hostile(texts: Sequence[str] = HOSTILE) -> Conditional:
    """Every place that holds a text from outside holds each hostile text somewhere."""
    two = tuple(texts[:2])
    items = [
        Item(f"{place} {text}", (text, *texts[:3]), dict.fromkeys(two, (text, *texts[3:6])), text)
        for place, text in enumerate(texts)
    ]
    labels = (*LABELS[:2], *texts[:2])
    found = conditional(two, count=len(texts), notes=tuple(texts), sensitivity=True)
    same = ItemSet(texts[0], found.items.digest, tuple(items), tuple(texts))
    columns = []
    for system in found.systems:
        own = [
            replace(outcome, id=item.id, results=(*outcome.results[:-1], result("mmd", math.nan, undefined=text)))
            for outcome, item, text in zip(system.items, items, texts, strict=True)
        ]
        again = dict(zip(labels, system.at_baseline_size.values(), strict=True))
        judged = Verdict("differs", tuple(texts))
        columns.append(replace(system, items=tuple(own), verdict=judged, at_baseline_size=again))
    contests = tuple(Contest(two[0], two[1], label, -0.1, -0.15, -0.05, 0.003) for label in labels)
    people = tuple(replace(outcome, id=item.id) for outcome, item in zip(found.human.items, items, strict=True))
    return replace(
        found, items=same, systems=tuple(columns), labels=labels, contests=contests, central=(1,) * len(items),
        human=replace(found.human, items=people), sensitivity=tuple(curve(name, texts[0]) for name in two),
        settings={"tokenizer": texts[0], "distances": tuple(texts)},
    )  # fmt: skip
