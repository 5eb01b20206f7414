"""The HTML report of a conditional study."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import shortened
from textassay.report.conditional.charts import curves, item_strip, kind_bar, kind_class, kind_key, kind_word, scatters
from textassay.report.conditional.content import (
    TARGET,
    all_notes,
    combined_tests,
    human_parts,
    missing_lines,
    outcome_sentence,
    table_lines,
)
from textassay.report.conditional.items import excerpt, item_views, items_block, worst_first
from textassay.report.items import render_with_items
from textassay.report.page import COMMON_SETTINGS, Page, grouped_strips, setting_rows, span
from textassay.report.table import ARROWS, better_words, grid, guide, level_text, paired_rows, short_names
from textassay.studies.conditional.result import KINDS, Conditional, SystemColumn

_SCRIPTS = ("store", "list", "item_page", "routing")


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; the page states what is left out. `cell` is the grid of the scatter in pixels."""

    strips: int
    scatters: int
    cell: float
    static: int
    texts: int
    characters: int
    contests: int
    signatures: int
    points: int
    notes: int = 30
    reasons: int = 8


# The first that leaves room for the items is used; only studies of dozens of systems need the later ones.
_LADDER = (
    Limits(strips=60, scatters=12, cell=2.0, static=25, texts=12, characters=400, contests=60, signatures=300,
               points=80),
    Limits(strips=24, scatters=6, cell=4.0, static=10, texts=6, characters=200, contests=60, signatures=100,
               points=30),
    Limits(strips=6, scatters=2, cell=5.0, static=5, texts=3, characters=100, contests=20, signatures=20, points=0),
    Limits(strips=0, scatters=0, cell=5.0, static=0, texts=0, characters=0, contests=0, signatures=0, points=0),
)  # fmt: skip


def render_html(conditional: Conditional) -> str:
    """The report of a conditional study as one self-contained HTML page.

    It stays under 1.5 MB: the items that differ most come with their texts, as many as fit, and the page states how
    many do not. Verdicts and the table are always complete, so only a table of thousands of cells can exceed the limit.
    """
    page = Page.of(
        "conditional/page.html.j2",
        styles=("page.css", "items.css"),
        scripts=("page.js", "tools.js", *(f"conditional/{name}.js" for name in _SCRIPTS)),
        filters={"kind_class": kind_class, "kind_key": kind_key, "kind_word": kind_word, "excerpt": excerpt},
    )
    contents = (_content(conditional, limits) for limits in _LADDER)
    return render_with_items(page, contents, lambda _, room: items_block(conditional, room=room))


def _content(conditional: Conditional, limits: Limits) -> dict[str, Any]:
    systems = conditional.systems
    places = worst_first(conditional)[: limits.static]
    signatures = [
        (column.name, result.signature)
        for column in (conditional.human, *systems)
        for result in (*column.results, *column.at_baseline_size.values())
    ]
    strips = [item_strip(conditional, place) for place in range(min(len(conditional.labels), limits.strips))]
    content = {
        "c": conditional,
        "limits": limits,
        "kinds": KINDS,
        "short_names": short_names([shortened(system.name, 60) for system in systems]),
        "summary": outcome_sentence(conditional),
        "settings": _settings(conditional),
        "notes": all_notes(conditional),
        "missing": missing_lines(conditional, ids=True),
        "cards": [_card(conditional, system) for system in systems],
        "grid": grid(table_lines(conditional)),
        "better": {better: better_words(better, TARGET) for better in ARROWS},
        "combined_tests": combined_tests(conditional),
        "strips": grouped_strips(strips),
        "scatters": scatters(conditional, cell=limits.cell)[: limits.scatters],
        "contests": paired_rows(conditional, conditional.contests)[: limits.contests],
        "curves": curves(conditional.sensitivity),
        "static": item_views(conditional, places, texts=limits.texts, characters=limits.characters),
        "signatures": signatures,
        "guide": guide(conditional.human.results, target=TARGET),
    }
    return content | {"sections": list(_sections(content))}


def _sections(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Ids and titles of the sections that the page has."""
    yield "verdicts", "Verdicts"
    if content["scatters"]:
        yield "misses", "How items differ"
    yield "table", "Table"
    if content["strips"]:
        yield "strips", "Metric by metric"
    yield "items", "Items"
    if content["curves"]:
        yield "sensitivity", "Sensitivity"
    yield "reading", "How to read this"


_SETTINGS = {"distances": "Distances", "tokenizer": "Tokens", "encoder": "Encoder", "test": "Tests"}


def _settings(conditional: Conditional) -> list[tuple[str, str]]:
    """Terms and values for the top of the page."""
    items = conditional.items.items
    return [
        ("Items", f"{len(items):,}"),
        ("References per item", span(len(item.references) for item in items)),
        *([("Human column", f"{' or '.join(sizes)} references")] if (sizes := human_parts(conditional)) else []),
        ("Interval level", level_text(conditional.level)),
        *setting_rows(conditional, _SETTINGS | COMMON_SETTINGS),
    ]


def _card(conditional: Conditional, system: SystemColumn) -> dict[str, Any]:
    counts = [system.count(kind) for kind in KINDS]
    return {
        "system": system,
        "counts": list(zip(KINDS, counts, strict=True)),
        "total": len(system.items),
        "bar": kind_bar(counts),
        "candidates": span(len(item.candidates.get(system.name, ())) for item in conditional.items.items),
    }
