"""The HTML report of a conditional study: one file that needs no network, with every item to look through."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Template

from textassay.report.assets import asset, policy
from textassay.report.guide import entries
from textassay.report.html_table import TITLES
from textassay.report.items_curves import curves
from textassay.report.items_data import items_block
from textassay.report.items_facts import candidates_span, item_facts, level_of, outcome_sentence
from textassay.report.items_grid import item_grid
from textassay.report.items_missing import missing_lines
from textassay.report.items_paired import paired_rows
from textassay.report.items_scatter import scatters
from textassay.report.items_strips import item_strip
from textassay.report.items_view import excerpt, item_views, worst_first
from textassay.report.items_words import all_notes
from textassay.report.kinds import kind_bar, kind_class, kind_key, kind_word
from textassay.report.page_with_items import page_with_items, template
from textassay.report.standing import WORDS
from textassay.report.strip_chart import Strip
from textassay.studies.conditioned import KINDS, Conditional, SystemColumn
from textassay.version import __version__

_STYLES = ("report.css", "items.css")
_SCRIPTS = ("report.js", "items_tools.js", "items_store.js", "items_list.js", "items_page.js", "items.js")


@dataclass(frozen=True)
class ItemLimits:
    """How much of each list is shown; what is left out is said. `cell` is the grid of the scatter in pixels."""

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
    ItemLimits(strips=60, scatters=12, cell=2.0, static=25, texts=12, characters=400, contests=60, signatures=300,
               points=80),
    ItemLimits(strips=24, scatters=6, cell=4.0, static=10, texts=6, characters=200, contests=60, signatures=100,
               points=30),
    ItemLimits(strips=6, scatters=2, cell=5.0, static=5, texts=3, characters=100, contests=20, signatures=20, points=0),
    ItemLimits(strips=0, scatters=0, cell=5.0, static=0, texts=0, characters=0, contests=0, signatures=0, points=0),
)  # fmt: skip


def render_items_html(conditional: Conditional) -> str:
    """The report of a conditional study as one self-contained HTML page.

    It stays under 1.5 MB: the items that miss farthest come with their texts, as many as there is room for, and the
    page says how many do not. Verdicts and the table are always whole, so only a table of many thousands of cells can
    go beyond.
    """
    contents = (_content(conditional, limits) for limits in _LADDER)
    return page_with_items(_template(), contents, lambda _, room: items_block(conditional, room=room))


@cache
def _template() -> Template:
    filters: dict[str, Any] = {
        "kind_class": kind_class,
        "kind_key": kind_key,
        "kind_word": kind_word,
        "excerpt": excerpt,
        "level_of": level_of,
    }
    return template("items.html.j2", filters)


def _content(conditional: Conditional, limits: ItemLimits) -> dict[str, Any]:
    style, script = asset(*_STYLES), asset(*_SCRIPTS)
    places = worst_first(conditional)[: limits.static]
    signatures = [
        (column, result.signature)
        for column in (conditional.human, *conditional.systems)
        for result in (*column.results, *column.at_human_size.values())
    ]
    return {
        "c": conditional,
        "limits": limits,
        "version": __version__,
        "style": style,
        "script": script,
        "policy": policy(style=style, script=script),
        "words": WORDS,
        "kinds": KINDS,
        "summary": outcome_sentence(conditional),
        "facts": item_facts(conditional),
        "notes": all_notes(conditional),
        "missing": missing_lines(conditional, ids=True),
        "cards": [_card(conditional, system) for system in conditional.systems],
        "grid": item_grid(conditional),
        "strips": _strips(conditional, limits.strips),
        "scatters": scatters(conditional, cell=limits.cell)[: limits.scatters],
        "contests": paired_rows(conditional)[: limits.contests],
        "curves": curves(conditional.sensitivity),
        "static": item_views(conditional, places, texts=limits.texts, characters=limits.characters),
        "signatures": signatures[: limits.signatures],
        "signature_count": len(signatures),
        "guide": entries(conditional.human.results),
    }


def _card(conditional: Conditional, system: SystemColumn) -> dict[str, Any]:
    counts = [system.count(kind) for kind in KINDS]
    return {
        "system": system,
        "counts": list(zip(KINDS, counts, strict=True)),
        "total": len(system.items),
        "bar": kind_bar(counts),
        "candidates": candidates_span(conditional, system),
    }


def _strips(conditional: Conditional, most: int) -> list[tuple[str, list[Strip]]]:
    """The strips under the titles of their aspects."""
    drawn = [item_strip(conditional, place) for place in range(min(len(conditional.labels), most))]
    groups = [(title, [chart for chart in drawn if chart.aspect == aspect]) for aspect, title in TITLES.items()]
    return [(title, charts) for title, charts in groups if charts]
