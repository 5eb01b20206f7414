"""Studies made by hand for the tests of reports: comparisons, conditional studies and HUSE studies of any size.

Each kind also comes with hostile texts in every place that holds a text from outside. `Page` parses a report.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

import textassay as ta
from textassay.corpus.item_set import Item, ItemSet
from textassay.corpus.ratings.rated_items import NOBODY, RatedItem, RatedItems
from textassay.inference.format_check import Finding
from textassay.inference.items.misses import Miss
from textassay.inference.items.misses import kind_of as kind_of_miss
from textassay.inference.result import Interval, Result
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.meaning import Meaning, Region, UnmatchedText
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.conditional.result import Conditional, CurvePoint, ItemOutcome, Sensitivity, SystemColumn
from textassay.studies.contests import Contest
from textassay.studies.finding import Verdict
from textassay.studies.huse.item_votes import kind_of as kind_of_item
from textassay.studies.huse.result import (
    AtK,
    DecisionMap,
    HuseItem,
    HuseResult,
    Outlook,
    RaterAgreement,
    RaterFacts,
    StabilityPoint,
)
from textassay.studies.outcome import Outcome

HOSTILE = (
    "<script>alert(1)</script>",
    "</style></script><img src=x onerror=alert(1)>",
    "\" onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "nul \x00 escape \x1b[31m delete \x7f c1 \x85 line \u2028 override \u202egnp.exe \u2066 isolate",
    "bytes \udcff alone",
    "שלום עולם",
    "👩‍👩‍👧 emoji",
    "https://example.org/a.js //example.org/b.css url(https://example.org/c)",
    "long" * 2000,
)
# Besides what is dangerous in a page or a terminal: table cells and links in Markdown, formulas in a spreadsheet.
HOSTILE_MARKUP = (
    *HOSTILE,
    "=cmd|' /C calc'!A0",
    "+1 | pipes | and `code` and [a link](javascript:alert(1))",
    "[bold red]markup[/bold red] \\| $math$ ~~struck~~",
    "```\nfence\n```\r\n# heading",
)

# A name that is dangerous in a page, in a terminal and in Markdown.
HOSTILE_NAME = "<script>alert(1)</script>\x1b[31m|*"


def assert_harmless(found: Outcome) -> None:
    """No form of a study passes on what a hostile name in it would do to a terminal or a page."""
    pages = found.to_html(), found._repr_html_()
    for text in (str(found), found.to_markdown(), found.to_csv(), *pages):
        assert "\x1b" not in text
    for page in pages:
        assert "<script>alert" not in page


class Page(HTMLParser):
    """A parsed page: its elements, its text, and complaints where tags do not nest."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "wbr"})
    APART = frozenset({"dd", "dt", "div", "h1", "h2", "h3", "li", "p", "small", "summary", "td", "th", "title"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.complaints: list[str] = []
        self.within: dict[str, str] = {}
        self.feed(text)
        self.close()
        self.complaints += [f"never closed: {tag}" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and that it is open."""
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost open element, which must be this one."""
        if not self.open or self.open[-1] != tag:
            self.complaints.append(f"</{tag}> closes {self.open[-1:]} at {self.getpos()}")
        else:
            self.open.pop()
        if tag in self.APART:
            self.text += " "

    def handle_data(self, data: str) -> None:
        """Gather what is read, and the content of script and style apart from it."""
        if self.open and self.open[-1] in {"script", "style"}:
            self.within[self.open[-1]] = self.within.get(self.open[-1], "") + data
        else:
            self.text += data

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]


# Aspect, better, whether it has a test, and the value of real text, by name.
COMPARE_METRICS = {
    "cr": ("quality", "higher", True, 0.3),
    "nrr": ("diversity", "closer", True, -0.2),
    "bleu": ("quality", "higher", False, 0.6),
    "self_bleu": ("diversity", "closer", False, 0.5),
    "cnd": ("both", "lower", True, 0.01),
}


def compare_result(
    metric: str,
    estimate: float,
    *,
    half: float | None = 0.02,
    p: float | None = 0.001,
    n: int = 500,
    order: int = 2,
    undefined: str | None = None,
) -> Result:
    """A result of a known metric; without a test where the metric has none."""
    aspect, better, tested, _ = COMPARE_METRICS[metric]
    shown = None if half is None or undefined else Interval(estimate - half, estimate + half, 0.95, "jackknife")
    return Result(
        metric=metric,
        options={"n": order},
        estimate=math.nan if undefined else estimate,
        better=better,
        aspect=aspect,
        interval=shown,
        p_value=p if tested and not undefined else None,
        parts={},
        undefined=undefined,
        signature=f"{metric}|n:{order}|tok:words+lower|candidate:{n}/abc|reference:500/def|resamples:999|seed:7|v:0.1.0",
        seconds=0.1,
        n=n,
    )


def phrase(text: str, *examples: str, more: int = 40, less: int = 2, z: float = 6.5) -> Phrase:
    """An over-produced phrase."""
    return Phrase(text, len(text.split()) or 1, more, less, z, examples, more / 10, less / 10)


def candidate(name: str, results: Sequence[Result], **extra: object) -> Column:
    """A judged candidate with a phrase on each side."""
    values: dict[str, object] = {
        "verdict": Verdict.of("differs", "less diverse than the reference (nrr-2 -0.31)"),
        "over": (phrase("a big dog", "There is A BIG dog here", "no such words"),),
        "under": (phrase("of it", "most of it", more=1, less=30, z=-5.25),),
    }
    values["adjusted"] = tuple(math.nan if found.p_value is None else found.p_value for found in results)
    return Column(name, 500, "abc", tuple(results), **(values | extra))  # type: ignore[arg-type]


def comparison(
    names: Sequence[str] = ("small", "large"),
    *,
    metrics: Sequence[tuple[str, int]] = (("cr", 2), ("nrr", 2), ("bleu", 4), ("self_bleu", 4), ("cnd", 2)),
    half: float | None = 0.02,
    p: float | None = 0.001,
    real_n: int = 500,
    **extra: object,
) -> Comparison:
    """Candidates that move away from real text one after the other, with tests and intervals or without."""
    real = [
        compare_result(metric, COMPARE_METRICS[metric][3], half=half, p=None, n=real_n, order=order)
        for metric, order in metrics
    ]
    columns = [
        candidate(
            name,
            [compare_result(m, COMPARE_METRICS[m][3] * (1 + 0.1 * place), half=half, p=p, order=n) for m, n in metrics],
        )
        for place, name in enumerate(names)
    ]
    values: dict[str, object] = {
        "reference": Column("real_train", 500, "def", ()),
        "real": Column("real v real", real_n, "def", tuple(real)),
        "candidates": tuple(columns),
        "labels": tuple(f"{metric}-{order}" for metric, order in metrics),
        "contests": (),
        "level": 0.95,
        "notes": ("samples cut to 500 texts each (the largest has 10,000)",),
        "n_resamples": 999,
        "settings": {"tokenizer": "words+lower", "resamples": 999, "seed": 7, "version": "0.1.0"},
    }
    return Comparison(**(values | extra))  # type: ignore[arg-type]


def hostile_comparison(texts: Sequence[str] = HOSTILE) -> Comparison:
    """Every place that holds a text from outside holds each hostile text somewhere."""
    names = ["cr", "nrr", "bleu", "self_bleu", "cnd"]
    real = [compare_result(metric, COMPARE_METRICS[metric][3]) for metric in names]
    columns = [
        candidate(
            text,
            [
                *(compare_result(metric, COMPARE_METRICS[metric][3] * 1.1) for metric in names[:-1]),
                compare_result("cnd", 0.0, undefined=text),
            ],
            verdict=Verdict.of("differs", *texts),
            findings=(Finding(text, text, 0.9, 0.1, text),),
            over=(phrase(text, f"before {text} after", text),),
            under=(phrase("after", f"before {text} after"),),
        )
        for text in texts
    ]
    return Comparison(
        reference=Column(texts[0], 500, "def", ()),
        real=Column("real v real", 500, "def", tuple(real)),
        candidates=tuple(columns),
        labels=tuple(texts[: len(names)]),
        contests=tuple(Contest(text, text, text, 0.1, 0.05, 0.15, 0.01) for text in texts),
        level=0.95,
        notes=tuple(texts),
        settings={"tokenizer": texts[0], "encoder": tuple(texts)},
    )


def pairs(names: Sequence[str], count: int) -> tuple[Contest, ...]:
    """`count` contests, the last one the clearest."""
    return tuple(Contest(names[0], names[1], f"m-{i}", 0.01 * i, 0.01 * i - 1, 0.01 * i + 1, 0.5) for i in range(count))


REGION_WORDS = ("bathroom", "toilet", "sink", "mirror")


def region(
    place: int = 0,
    *,
    words: Sequence[str] = REGION_WORDS,
    candidate: float = 0.2,
    reference: float = 0.05,
    p: float = 0.0001,
    of: int = 12,
    examples: Sequence[str] = ("a bathroom with a sink", "a white toilet", "a mirror"),
) -> Region:
    """A region on a ring of `of` regions, by default with too many texts of the candidate."""
    turn = 2 * math.pi * place / of
    at = 0.5 + 0.4 * math.cos(turn), 0.5 + 0.3 * math.sin(turn)
    counts = round(500 * candidate), round(500 * reference)
    theirs = tuple(f"real: {text}" for text in examples)
    return Region(tuple(words), *counts, candidate, reference, p, tuple(examples), theirs, at)


def meaning(
    regions: Sequence[Region] | None = None,
    *,
    points: int = 350,
    unmatched: Sequence[UnmatchedText] = (UnmatchedText("is is shown .", 1.23, "broccoli is on a board"),),
) -> Meaning:
    """By default two regions that differ and one that does not; `points` texts per sample."""
    if regions is None:
        rare = region(4, words=("frisbee", "throwing"), candidate=0.01, reference=0.12)
        regions = (region(), rare, region(8, words=("dog", "cat"), candidate=0.1, reference=0.09, p=0.8))
    spiral = [(0.5 + 0.5 * math.cos(i) * i / points, 0.5 + 0.5 * math.sin(i) * i / points) for i in range(points)]
    mirrored = [(y, x) for x, y in spiral]
    return Meaning(tuple(regions), tuple(unmatched), tuple(unmatched), 0.86, 0.345, tuple(spiral), tuple(mirrored))


def with_meaning(found: Comparison | None = None, shown: Meaning | None = None) -> Comparison:
    """A comparison whose candidates all have this meaning."""
    found, shown = found or comparison(), shown or meaning()
    return replace(found, candidates=tuple(replace(column, meaning=shown) for column in found.candidates))


def hostile_meaning() -> Comparison:
    """Hostile texts as words, examples and unmatched of hostile candidates."""
    regions = [
        region(i, words=[text] * 4 if i % 3 else (), candidate=0.05 + 0.1 * (i % 2), reference=0.1, examples=[text])
        for i, text in enumerate(HOSTILE)
    ]
    unmatched = [UnmatchedText(text, 1.5, text) for text in HOSTILE]
    return with_meaning(hostile_comparison(), meaning(regions, unmatched=unmatched))


@dataclass(frozen=True)
class ItemMetric:
    """A metric of these tests, and the values of people, chance and the first system."""

    metric: str
    options: dict[str, Any]
    aspect: str
    better: str
    tested: bool
    human: float
    chance: float
    system: float
    human_sizes: tuple[int, int] = (2, 3)


ITEM_METRICS = {
    "score meteor": ItemMetric("score", {"distance": "meteor"}, "quality", "higher", False, 0.41, 0.4, 0.31, (1, 4)),
    "trm meteor": ItemMetric(
        "trm", {"distance": "meteor", "variant": "paper"}, "both", "lower", True, 0.63, 0.61, 1.31
    ),
    "trm edit": ItemMetric("trm", {"distance": "edit", "variant": "paper"}, "both", "lower", True, 0.64, 0.62, 1.02),
    "mmd": ItemMetric("mmd", {"variant": "biased"}, "both", "lower", True, 0.21, 0.2, 0.48),
}
ITEM_LABELS = tuple(ITEM_METRICS)
MISSES = (
    Miss("too narrow", 3.4, 0.9, 0.001),
    Miss("elsewhere", 0.4, 2.7, 0.004),
    Miss("too wide", -2.2, 0.3, 0.011),
    Miss("same", 0.3, -0.2, 0.62),
)
UNTESTED = Miss("untested", math.nan, math.nan, math.nan)
ONE_REFERENCE = "one reference; wanted 2 or more"


def item_result(
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
    kind = ITEM_METRICS[label]
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


def combined_parts(p: float) -> dict[str, float]:
    """What goes with the p-value of a combined test: adjusted as if for twelve tests."""
    others = {"harmonic_mean": 0.4, "fisher": 0.03, "simes": 0.002}
    return {"z": 9.54, "adjusted": min(12 * p, 1.0), "draws": 9999.0, "units": 11.0} | others


def part_sizes(label: str) -> dict[str, float]:
    """How many candidates and references the human parts of a metric have."""
    candidates, references = ITEM_METRICS[label].human_sizes
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
    """Items whose texts name their place; every seventh item has only one reference."""
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
    """Results and difference of each item, all kinds in turn; an item with one reference may have no number.

    The first item differs most: standard scores decrease with the place.
    """
    found = []
    for place, item in enumerate(items.items):
        single = len(item.references) < 2
        results = [
            item_result(label, math.nan, half=None, n=11, undefined=ONE_REFERENCE)
            if single and ITEM_METRICS[label].tested
            else item_result(
                label,
                ITEM_METRICS[label].system * worse + 0.01 * (place % 9),
                half=None,
                p=0.001 * (1 + place % 40),
                n=15,
            )
            for label in labels
        ]
        miss, weight = MISSES[place % len(MISSES)], 1 + 1 / (1 + place)
        far = UNTESTED if single else replace(miss, spread=miss.spread * weight, place=miss.place * weight)
        found.append(ItemOutcome(item.id, tuple(results), far))
    return tuple(found)


def system(
    name: str,
    items: ItemSet,
    labels: Sequence[str] = ITEM_LABELS,
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
        item_result(
            label, ITEM_METRICS[label].system * worse, half=half, p=p, n=n,
            parts={"items": float(defined), "chance": ITEM_METRICS[label].chance}
            | ({} if p is None else combined_parts(p))
            if ITEM_METRICS[label].tested
            else {"items": float(n), "chance": ITEM_METRICS[label].chance},
        )
        for label in labels
    ]  # fmt: skip
    again = {
        label: item_result(
            label, ITEM_METRICS[label].system * worse * 0.9, half=half, p=None, n=n, parts=part_sizes(label)
        )
        for label in labels
    }  # fmt: skip
    verdict = Verdict.of("differs", "too narrow on 3 of 12 items", "elsewhere on 3 (trm meteor 1.31, people 0.63)")
    return SystemColumn(name, tuple(results), outcomes(items, labels, worse=worse), verdict, again if small else {})


def human(
    items: ItemSet, labels: Sequence[str] = ITEM_LABELS, *, half: float | None = 0.02, p: float | None = 0.4
) -> SystemColumn:
    """References against references."""
    results = [
        item_result(
            label, ITEM_METRICS[label].human, half=half, p=p, n=len(items), parts=part_sizes(label)
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
    labels: Sequence[str] = ITEM_LABELS,
    half: float | None = 0.02,
    p: float | None = 0.0004,
    small: bool = True,
    sensitivity: bool = False,
    **extra: object,
) -> Conditional:
    """Systems that move away from the references one after the other, with everything that a study reports."""
    items = item_set(count, names)
    columns = [
        system(name, items, labels, worse=1 + 0.1 * place, half=half, p=p, small=small)
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


def hostile_conditional(texts: Sequence[str] = HOSTILE_MARKUP) -> Conditional:
    """Every place that holds a text from outside holds each hostile text somewhere."""
    two = tuple(texts[:2])
    items = [
        Item(f"{place} {text}", (text, *texts[:3]), dict.fromkeys(two, (text, *texts[3:6])), text)
        for place, text in enumerate(texts)
    ]
    labels = (*ITEM_LABELS[:2], *texts[:2])
    found = conditional(two, count=len(texts), notes=tuple(texts), sensitivity=True)
    same = ItemSet(texts[0], found.items.digest, tuple(items), tuple(texts))
    columns = []
    for system in found.systems:
        own = [
            replace(outcome, id=item.id, results=(*outcome.results[:-1], item_result("mmd", math.nan, undefined=text)))
            for outcome, item, text in zip(system.items, items, texts, strict=True)
        ]
        again = dict(zip(labels, system.at_baseline_size.values(), strict=True))
        judged = Verdict.of("differs", *texts)
        columns.append(replace(system, items=tuple(own), verdict=judged, at_baseline_size=again))
    contests = tuple(Contest(two[0], two[1], label, -0.1, -0.15, -0.05, 0.003) for label in labels)
    people = tuple(replace(outcome, id=item.id) for outcome, item in zip(found.human.items, items, strict=True))
    return replace(
        found, items=same, systems=tuple(columns), labels=labels, contests=contests, central=(1,) * len(items),
        human=replace(found.human, items=people), sensitivity=tuple(curve(name, texts[0]) for name in two),
        settings={"tokenizer": texts[0], "distances": tuple(texts)},
    )  # fmt: skip


MANY_LABELS = ("score meteor", "score cider", "trm meteor", "trm edit", "mmd", "frechet")
_CAPTION_WORDS = """
a man woman dog horse riding holding standing on in under the street beach table kitchen red small large wave board
skateboard photo of white black with two people near bus train clock plate food cat bed grass
"""


def one_candidate(count: int = 4) -> Conditional:
    """A study of one candidate per item: no triangles, so that the differences of single items are not measured."""
    items = [
        {"id": f"i{at}", "candidates": [f"a cat {at}"], "references": [f"a dog {at}", f"a bird {at}", f"it {at}"]}
        for at in range(count)
    ]
    return ta.conditional(items, metrics="score:distance=edit,trm:distance=edit", n_resamples=19)


def many_items(
    count: int = 1000,
    *,
    systems: Sequence[str] = ("beam search", "nucleus 0.9"),
    references: int = 5,
    candidates: int = 10,
    words: int = 11,
    prompts: bool = False,
) -> Conditional:
    """`count` items; the first system repeats itself, the last one is off target."""
    chance = random.Random(7)
    items = [_many_item(place, chance, systems, references, candidates, words, prompts) for place in range(count)]
    columns = [_many_column(name, items, chance, at) for at, name in enumerate(systems)]
    people = _many_column("human", items, chance, -1)
    return Conditional(
        items=ItemSet.of(items, name="captions"),
        human=people,
        systems=tuple(columns),
        labels=MANY_LABELS,
        contests=tuple(Contest(systems[0], systems[-1], label, -0.1, -0.15, -0.05, 0.003) for label in MANY_LABELS),
        central=tuple(chance.randrange(references) for _ in items),
        human_sizes=(2, 3),
        level=0.95,
        notes=(),
    )


def _caption(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_CAPTION_WORDS.split(), k=words)).capitalize() + "."


def _many_item(
    place: int,
    chance: random.Random,
    systems: Sequence[str],
    references: int,
    candidates: int,
    words: int,
    prompts: bool,
) -> Item:
    people = tuple(_caption(chance, words) for _ in range(references))
    written = {}
    for at, name in enumerate(systems):
        texts = [_caption(chance, words) for _ in range(candidates)]
        if at == 0 and place % 5 == 0:
            texts = [people[0]] * (candidates - 2) + texts[:2]
        written[name] = tuple(texts)
    return Item(f"img-{place:05d}", people, written, _caption(chance, 8) if prompts else None)


def _miss(chance: random.Random, at: int) -> Miss:
    spread, place = chance.gauss((1.6, -0.3, 0.0)[at], 1.3) / 3, chance.gauss((0.3, 1.6, 0.0)[at], 1.1) / 3
    p = min(1.0, 10 ** (-2 * max(abs(spread), place, 0.0) ** 1.3))
    kind = kind_of_miss(spread, place) if p <= 0.05 else "same"
    return Miss(kind, spread, place, p)


def _many_result(label: str, estimate: float, p: float, *, half: float | None = None, **parts: float) -> Result:
    name, _, distance = label.partition(" ")
    quality = name == "score"
    return Result(
        metric=name,
        options={"distance": distance} if distance else {},
        estimate=estimate,
        better="higher" if quality else "lower",
        aspect="quality" if quality else "both",
        interval=None if half is None else Interval(estimate - half, estimate + half, 0.95, "bootstrap:items"),
        p_value=None if quality else p,
        parts=parts,
        undefined=None,
        signature=f"{label.replace(' ', '|distance:')}|tok:plain|items:1000/abc|seed:0|v:0.1.0",
        seconds=0.0,
        n=10,
    )


def _profile(chance: random.Random, miss: Miss) -> dict[str, float]:
    tilt = max(min(miss.spread / 4, 0.3), -0.3)
    sides = {"references": -tilt, "candidates": tilt}
    return {
        f"{side}_{rank}": 1 / 3 + sign * way + chance.uniform(-0.02, 0.02)
        for side, way in sides.items()
        for rank, sign in (("shorter", 1.0), ("between", 0.0), ("longer", -1.0))
    }


def _many_column(name: str, items: Sequence[Item], chance: random.Random, at: int) -> SystemColumn:
    found = []
    for item in items:
        miss = _miss(chance, at)
        parts = _profile(chance, miss)
        results = [
            _many_result(label, chance.uniform(0.1, 1.4), chance.random() ** 3, **(parts if "trm" in label else {}))
            for label in MANY_LABELS
        ]
        found.append(ItemOutcome(item.id, tuple(results), miss))
    whole = [
        _many_result(
            label, 0.6 + 0.1 * at + 0.05 * place, 0.4 if at < 0 else 0.0004, half=0.03,
            items=float(len(items)), chance=0.55, fisher=1e-9, simes=0.002,
        )
        for place, label in enumerate(MANY_LABELS)
    ]  # fmt: skip
    again = {label: _many_result(label, 0.58 + 0.12 * at, 0.4, half=0.03) for label in MANY_LABELS}
    reasons = ("too narrow on 412 of 1,000 items", "less like the references than people are (score meteor 0.31)")
    return SystemColumn(name, tuple(whole), tuple(found), Verdict.of("differs", *reasons), again if at >= 0 else {})


HUSE_METRICS = ("huse", "huse_q", "huse_d")
RATING_LABELS = {1.0: "Invalid", 2.0: "Rare", 3.0: "Specific", 4.0: "Average", 5.0: "Typical", 6.0: "Very Typical"}
RATINGS_PER_ITEM = 20
_K = 16
_HEADLINE_WORDS = """
police minister election market rates shares team coach injury storm island talks treaty court ruling judge leader party
vote budget oil prices bank growth trade deal visit summit rebels troops border town fire rescue flight airport strike
"""

F64 = NDArray[np.float64]


def huse_study(
    n: int = 40, seed: int = 0, hostile: bool = False, raters: bool = True, *, level: float = 0.95
) -> HuseResult:
    """A study of `n` items, half of them human; with `raters=False` it has only mean ratings.

    Ratings and log-probabilities are random, scores and votes are computed from them; the stability and the facts
    about raters are made up. With `hostile`, every place that holds a text from outside holds
    a hostile one.
    """
    found = _huse_study(n, seed, raters, level)
    return _made_hostile(found) if hostile else found


@cache
def _huse_study(n: int, seed: int, raters: bool, level: float) -> HuseResult:
    rng = np.random.default_rng(seed)
    is_model = np.arange(n) % 2 == 1
    quality = np.where(is_model, rng.normal(3.7, 0.9, n), rng.normal(4.5, 0.6, n))
    log_prob = np.where(is_model, rng.normal(-2.3, 0.7, n), rng.normal(-3.3, 1.1, n))
    single = np.clip(np.rint(quality[:, None] + rng.normal(0, 1.1, (n, RATINGS_PER_ITEM))), 1, 6)
    rating = single.mean(1)
    features = np.column_stack([rating, log_prob])
    features /= features.std(0)
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k < n / 2]
    both, alone, other = (_shares(part, is_model, ks) for part in (features, features[:, :1], features[:, 1:]))
    by_k = tuple(_at_k(k, is_model, both[k], alone[k]) for k in ks)
    k = max(each for each in ks if each <= _K)
    at = next(each for each in by_k if each.k == k)
    rated = _rated(rng, is_model, log_prob, single if raters else None, rating)
    results = tuple(_huse_result(metric, getattr(at, metric), n, k, level, rated.digest) for metric in HUSE_METRICS)
    return HuseResult(
        rated=rated,
        labels=HUSE_METRICS,
        results=results,
        items=tuple(
            _huse_item(item, float(rating[i]), [float(share[k][i]) for share in (both, alone, other)], RATINGS_PER_ITEM)
            for i, item in enumerate(rated.items)
        ),
        by_k=by_k,
        stability=tuple(_stability(at, n, raters)),
        outlook=tuple(_outlook(metric, raters) for metric in HUSE_METRICS),
        agreement=_agreement(results, level) if raters else None,
        decision_map=_decision_map(features, is_model, k, rating, log_prob),
        cloud=tuple(
            (at.huse_d + 0.07 * float(a), at.huse_q + 0.06 * float(b)) for a, b in rng.normal(0, 1, (200, 2))
        ),
        verdict=Verdict.of("differs", "told from people (HUSE 0.55, p 0.001)", "by quality more than by diversity"),
        level=level,
        notes=("3 human items had no partner and were left out, so that both sources are of one size",),
        settings={"resamples": 999, "seed": 0, "version": "0.1.0"},
    )  # fmt: skip


def _shares(features: F64, is_model: NDArray[np.bool_], ks: Sequence[int]) -> dict[int, F64]:
    """For each k the share of the model among the nearest neighbours of every item."""
    _, order = NearestNeighbors(n_neighbors=max(ks)).fit(features).kneighbors()
    votes = is_model[order]
    return {k: votes[:, :k].mean(1) for k in ks}


def _at_k(k: int, is_model: NDArray[np.bool_], both: F64, alone: F64) -> AtK:
    huse, huse_q = (2 - 2 * float(np.mean((share > 0.5) == is_model)) for share in (both, alone))
    return AtK(k, huse, huse_q, 1 + huse - huse_q)


def _headline(rng: np.random.Generator, words: int) -> str:
    known = _HEADLINE_WORDS.split()
    return " ".join(known[at] for at in rng.integers(0, len(known), words))


def _rated(
    rng: np.random.Generator, is_model: NDArray[np.bool_], log_prob: F64, single: F64 | None, rating: F64
) -> RatedItems:
    n = len(is_model)
    contexts = [_headline(rng, 18) for _ in range((n + 1) // 2)]
    items = []
    for i in range(n):
        name, length = ("model" if is_model[i] else "human"), 6 + i % 7
        text = _headline(rng, length)
        whole = float(log_prob[i]) * length
        items.append(RatedItem(f"{name}-{i // 2:03d}", bool(is_model[i]), whole, length, text, contexts[i // 2]))
    each = 1 if single is None else RATINGS_PER_ITEM
    given = rating if single is None else single.ravel()
    item_of = np.repeat(np.arange(n), each)
    rater_of = np.full(n * each, NOBODY) if single is None else np.arange(n * each) % RATINGS_PER_ITEM
    names = () if single is None else tuple(f"r{at:03d}" for at in range(RATINGS_PER_ITEM))
    scale, labels = (1.0, 6.0), RATING_LABELS
    return RatedItems("headlines", tuple(items), names, item_of, rater_of, given, scale, labels, "pointer net")


def _huse_item(item: RatedItem, rating: float, shares: Sequence[float], n_ratings: int) -> HuseItem:
    """An item with the share of the model by both features, by rating and by log-probability."""
    votes, by_rating, by_log_prob = (share if item.is_model else 1 - share for share in shares)
    told, told_by_rating = ((share > 0.5) == item.is_model for share in shares[:2])
    return HuseItem(
        item=item,
        rating=rating,
        n_ratings=n_ratings,
        log_prob=item.log_prob / item.length,
        votes=votes,
        votes_by_rating=by_rating,
        votes_by_log_prob=by_log_prob,
        share_model=shares[0],
        told=told,
        told_by_rating=told_by_rating,
        kind=kind_of_item(votes, by_rating),
    )


def _huse_result(metric: str, estimate: float, n: int, k: int, level: float, digest: str, **extra: Any) -> Result:
    aspect = {"huse": "both", "huse_q": "quality", "huse_d": "diversity"}[metric]
    tested = {"p_value": None if metric == "huse_d" else 0.001}
    values: dict[str, Any] = {
        "metric": metric,
        "options": {"k": k, "variant": "released", "per": "token"},
        "estimate": estimate,
        "better": "higher",
        "aspect": aspect,
        "interval": Interval(estimate - 0.11, estimate + 0.13, level, "bootstrap:ratings"),
        "parts": {"chance": 0.98, "chance_low": 0.84, "chance_high": 1.12, "accuracy": 1 - estimate / 2},
        "undefined": None,
        "signature": f"{metric}|k:{k}|variant:released|per:token|items:{n}/{digest}|resamples:999|seed:0|v:0.1.0",
        "seconds": 0.1,
        "n": n,
    }
    return Result(**(values | tested | extra))


def undefined(result: Result, reason: str) -> Result:
    """The same metric without a number."""
    return replace(result, estimate=math.nan, interval=None, p_value=None, parts={}, undefined=reason)


def _stability(at: AtK, n: int, raters: bool) -> list[StabilityPoint]:
    points = []
    sizes = {"items": sorted({max(n * part // 8, 4) for part in (1, 2, 4, 6, 8)})}
    if raters:
        sizes["ratings"] = [1, 2, 5, 10, 20]
    for metric in HUSE_METRICS:
        end = getattr(at, metric)
        for along, steps in sizes.items():
            for step in steps:
                left = 1 - step / steps[-1]
                low, high = end + 0.1 * left - 0.05, end + 0.3 * left + 0.05
                points.append(StabilityPoint(metric, along, step, end + 0.2 * left, low, high))
    return points


def _outlook(metric: str, raters: bool) -> Outlook:
    worth = "twice the items would narrow the interval from ±0.12 to ±0.085; more ratings hardly would"
    return Outlook(metric, 0.12, 0.085, 0.115 if raters else math.nan, worth)


def _agreement(results: Sequence[Result], level: float) -> RaterAgreement:
    facts = [RaterFacts(f"r{at:03d}", 40 - at, 4.1 - 0.02 * at, 0.6 - 0.02 * at, 0.001, "") for at in range(18)]
    facts.append(RaterFacts("r018", 40, 3.5, -0.02, 0.55, "agrees with nobody: correlation -0.02, p 0.55"))
    facts.append(RaterFacts("r019", 40, 6.0, math.nan, math.nan, "gave 6 every time"))
    without = [replace(result, estimate=result.estimate - 0.02, n=result.n) for result in results]
    return RaterAgreement(0.34, 0.36, Interval(0.27, 0.41, level, "bootstrap:items"), tuple(facts), tuple(without))


def _decision_map(features: F64, is_model: NDArray[np.bool_], k: int, rating: F64, log_prob: F64) -> DecisionMap:
    ratings, log_probs = np.linspace(rating.min(), rating.max(), 40), np.linspace(log_prob.min(), log_prob.max(), 40)
    scale = rating.std(), log_prob.std()
    across, down = np.meshgrid(ratings / scale[0], log_probs / scale[1])
    places = np.column_stack([across.ravel(), down.ravel()])
    _, order = NearestNeighbors(n_neighbors=k).fit(features).kneighbors(places)
    share = is_model[order].mean(1).reshape(across.shape)
    return DecisionMap(
        tuple(map(float, ratings)), tuple(map(float, log_probs)), tuple(tuple(map(float, row)) for row in share)
    )


def _made_hostile(found: HuseResult) -> HuseResult:
    """The same numbers with a hostile text wherever there can be a text."""
    texts = [*HOSTILE_MARKUP, "x" * 10_000, "🙂" * 300, ""]

    def text(at: int) -> str:
        return texts[at % len(texts)]

    items = tuple(
        replace(
            each,
            item=replace(each.item, id=f"{at} {text(at)}", text=text(at), context=text(at // 2 + 3)),
        )
        for at, each in enumerate(found.items)
    )
    labels = {value: text(at) for at, value in enumerate(RATING_LABELS)}
    names = tuple(f"{at} {text(at)}" for at in range(len(found.rated.raters)))
    rated = replace(
        found.rated, name=text(1), items=tuple(each.item for each in items), raters=names, labels=labels, model=text(0),
        notes=tuple(HOSTILE_MARKUP),
    )  # fmt: skip
    agreement = found.agreement
    if agreement is not None:
        facts = [replace(fact, name=names[at], reason=text(at)) for at, fact in enumerate(agreement.raters)]
        agreement = replace(agreement, raters=tuple(facts))
    return replace(
        found, rated=rated, items=items, agreement=agreement, verdict=Verdict.of("differs", *HOSTILE_MARKUP),
        stability=tuple(replace(p, metric=text(HUSE_METRICS.index(p.metric))) for p in found.stability),
        results=(*found.results[:2], undefined(found.results[2], text(0))), notes=tuple(HOSTILE_MARKUP),
        outlook=tuple(replace(each, worth=text(at)) for at, each in enumerate(found.outlook)),
        labels=tuple(HOSTILE_MARKUP[:3]),
    )  # fmt: skip
