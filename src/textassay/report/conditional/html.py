"""The HTML report of a conditional study."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Template

from textassay.corpus.printable import shortened
from textassay.report.charts.strips import Strip
from textassay.report.conditional.charts import curves, item_strip, kind_bar, kind_class, kind_key, kind_word, scatters
from textassay.report.conditional.grid import item_grid, missing_lines, paired_rows
from textassay.report.conditional.items import excerpt, item_views, items_block, worst_first
from textassay.report.conditional.words import all_notes, sizes_text
from textassay.report.page import WORDS, asset, page_with_items, policy, setting_text, template
from textassay.report.table import TITLES, entries, level_text
from textassay.studies.conditional.result import KIND_WORDS, KINDS, Conditional, SystemColumn
from textassay.studies.wording import listed, share
from textassay.version import __version__

_SETTINGS = {
    "distances": "Distances",
    "tokenizer": "Tokens",
    "encoder": "Encoder",
    "test": "Tests",
    "resamples": "Resamples",
    "seed": "Seed",
    "version": "Version",
}
_MISSES = tuple(kind for kind in KIND_WORDS if kind not in ("same", "untested"))


def item_facts(conditional: Conditional) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    items = conditional.items.items
    found = [
        ("Items", f"{len(items):,}"),
        ("References per item", span(len(item.references) for item in items)),
        ("Human row", f"{sizes_text(*conditional.human_sizes)} references"),
        ("Interval level", level_text(conditional.level)),
        *((term, setting_text(conditional, name)) for name, term in _SETTINGS.items()),
    ]
    return [(term, value) for term, value in found if value]


def candidates_span(conditional: Conditional, system: SystemColumn) -> str:
    """How many candidates a system has an item."""
    return span(len(item.candidates.get(system.name, ())) for item in conditional.items.items)


def span(counts: Iterable[int]) -> str:
    """A count, or from which to which and which is the most frequent.

    >>> span([5, 5, 5]), span([5, 6, 5])
    ('5', '5 to 6, mostly 5')
    """
    tally = Counter(counts)
    if len(tally) < 2:
        return f"{next(iter(tally), 0):,}"
    return f"{min(tally):,} to {max(tally):,}, mostly {tally.most_common(1)[0][0]:,}"


def outcome_sentence(conditional: Conditional) -> str:
    """The outcome in a sentence or two."""
    if len(conditional.systems) == 1:
        system = conditional.systems[0]
        return f"{shortened(system.name, 60)} {_VERBS[level_of(system)][0]}. {_how(system)}".strip()
    levels = Counter(level_of(system) for system in conditional.systems)
    clauses = [f"{levels[level]} {_VERBS[level][levels[level] > 1]}" for level in _VERBS if levels[level]]
    return f"Of {len(conditional.systems)} systems, {listed(clauses)}."


_VERBS = {
    "collapsed": ("has collapsed", "have collapsed"),
    "differs": ("differs from the references", "differ from the references"),
    "same": ("shows no difference", "show no difference"),
    "untested": ("was not tested", "were not tested"),
}


def level_of(system: SystemColumn) -> str:
    """A key of `standing.WORDS`; what was not judged was not tested either."""
    found = system.verdict.level if system.verdict else "untested"
    return found if found in WORDS else "untested"


def _how(system: SystemColumn) -> str:
    found = [(kind, system.count(kind)) for kind in _MISSES]
    shares = [f"{KIND_WORDS[kind]} on {share(count / len(system.items))}" for kind, count in found if count]
    return f"It is {listed(shares)} of the items." if shares else ""


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


def render_html(conditional: Conditional) -> str:
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
        for result in (*column.results, *column.at_baseline_size.values())
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
