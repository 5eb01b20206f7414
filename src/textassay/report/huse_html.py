"""The HTML report of a HUSE study: one file that needs no network, with every item to look through."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Template

from textassay.report.assets import asset, policy
from textassay.report.cells import level_text
from textassay.report.guide import entries as guide_entries
from textassay.report.huse_curves import METRICS, k_curves, stability_curves
from textassay.report.huse_data import huse_block
from textassay.report.huse_facts import (
    chosen_k,
    citations,
    huse_facts,
    level_of,
    model_name,
    outcome_sentence,
    tie_rule,
    whole_texts,
)
from textassay.report.huse_items import entry_view, groups, most_telling, source_bars
from textassay.report.huse_map import STEPS, draw_map
from textassay.report.huse_marks import kind_class, kind_key, source_key
from textassay.report.huse_plane import draw_plane
from textassay.report.huse_raters import raters
from textassay.report.huse_scores import scores
from textassay.report.huse_words import all_notes, drawn, k_range, score, unbroken
from textassay.report.page_with_items import page_with_items, template
from textassay.report.standing import WORDS
from textassay.studies.judged import KINDS, TITLES, Judged, titled
from textassay.studies.wording import share
from textassay.version import __version__

_STYLES = ("report.css", "items.css", "huse.css")
_SCRIPTS = ("report.js", "items_tools.js", "huse_store.js", "huse_list.js", "huse_map.js", "huse.js")
# Up to here every item has its own mark on the map.
_EACH_ITS_MARK = 1_000


@dataclass(frozen=True)
class HuseLimits:
    """How much of each list is shown; what is left out is said. `cell` is the grid of the map's marks in pixels."""

    cell: float
    static: int
    characters: int
    cloud: int
    raters: int
    notes: int = 30
    reasons: int = 8
    flagged: int = 50
    signatures: int = 60


# The first that leaves room for the items is used.
_LADDER = (
    HuseLimits(cell=2.5, static=8, characters=600, cloud=500, raters=500),
    HuseLimits(cell=4.0, static=4, characters=300, cloud=200, raters=100),
    HuseLimits(cell=6.0, static=0, characters=0, cloud=0, raters=0, flagged=5, signatures=6),
)


def render_huse_html(found: Judged) -> str:
    """The report of a HUSE study as one self-contained HTML page.

    It stays under 1.5 MB: the most telling items come with their texts, as many as there is room for, and the page says
    how many do not. Scores, notes and charts are always whole.
    """
    contents = (_content(found, limits) for limits in _LADDER)
    return page_with_items(_template(), contents, lambda content, room: huse_block(found, content["map"], room=room))


@cache
def _template() -> Template:
    filters: dict[str, Any] = {
        "kind_class": kind_class,
        "kind_key": kind_key,
        "source_key": source_key,
        "score": score,
        "titled": titled,
        "unbroken": unbroken,
        "share": lambda value: unbroken(share(value)),
        "level": lambda value: unbroken(level_text(value)),
    }
    return template("huse.html.j2", filters)


def _content(found: Judged, limits: HuseLimits) -> dict[str, Any]:
    style, script = asset(*_STYLES), asset(*_SCRIPTS)
    k = chosen_k(found)
    return {
        "j": found,
        "limits": limits,
        "version": __version__,
        "style": style,
        "script": script,
        "policy": policy(style=style, script=script),
        "level": level_of(found),
        "words": WORDS,
        "titles": TITLES,
        "line_titles": [TITLES[metric] for metric in METRICS],
        "model": model_name(found),
        "whole": whole_texts(found),
        "summary": outcome_sentence(found),
        "facts": huse_facts(found),
        "drawn": drawn(found),
        "notes": all_notes(found),
        "scores": scores(found),
        "plane": draw_plane(found, most=limits.cloud),
        "map": draw_map(found, cell=limits.cell if len(found.items) > _EACH_ITS_MARK else 0.0),
        "steps": range(STEPS),
        "kinds": KINDS,
        "groups": groups(found),
        "bars": source_bars(found),
        "static": _static(found, limits),
        "k": k,
        "ties": tie_rule(found),
        "k_range": k_range(found),
        "by_k": k_curves(found, k),
        "stability": stability_curves(found),
        "raters": raters(found, most=limits.raters),
        "signatures": list(zip(found.labels, found.results, strict=True)),
        "citations": citations(found),
        "guide": guide_entries(found.results),
    }


def _static(found: Judged, limits: HuseLimits) -> list[tuple[str, list[Any]]]:
    """For readers without scripts and on paper: the most telling items of each kind."""
    chosen = [(kind, most_telling(found, kind, limits.static)) for kind in KINDS]
    return [(kind, [entry_view(found, p, characters=limits.characters) for p in places]) for kind, places in chosen]
