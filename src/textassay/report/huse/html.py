"""The HTML report of a HUSE study."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from textassay.inference.result import Result
from textassay.report.charts.svg import Axis, drawable, drawing, element, line, marker, reach, rectangle
from textassay.report.huse.decision_map import STEPS, draw_map, kind_class, kind_key, source_key
from textassay.report.huse.items import entry_view, groups, huse_block, most_telling, source_bars
from textassay.report.huse.raters import raters
from textassay.report.huse.score_charts import METRICS, draw_plane, k_curves, stability_curves
from textassay.report.huse.words import (
    all_notes,
    chosen_k,
    citations,
    huse_facts,
    k_range,
    level_of,
    model_name,
    outcome_sentence,
    score,
    tie_rule,
    unbroken,
    untested_reasons,
    whole_texts,
)
from textassay.report.page import WORDS, asset, page_with_items, policy, setting_text, template
from textassay.report.table import entries as guide_entries
from textassay.report.table import level_text
from textassay.studies.huse.result import KINDS, TITLES, HuseResult, titled
from textassay.studies.wording import p_text, share
from textassay.version import __version__

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _MIDDLE = 300.0, 54.0, 6.0, 294.0, 20.0


@dataclass(frozen=True)
class Score:
    """A card: everything but the drawing is plain text, empty where it is not known."""

    title: str
    aspect: str
    estimate: str
    interval: str
    p_value: str
    untested: str
    chance: str
    meaning: str
    undefined: str
    gauge: Markup | None


_ASPECTS = {
    "huse": "quality and diversity together",
    "huse_q": "quality: what ratings alone can tell",
    "huse_d": "diversity: what the model's probability adds",
}


def scores(found: HuseResult) -> list[Score]:
    """A card for each result, in the order HUSE, HUSE-Q, HUSE-D, and what has further options behind them."""
    first = {result.metric: place for place, result in reversed(list(enumerate(found.results)))}
    order = [first[metric] for metric in TITLES if metric in first]
    order += [place for place in range(len(found.results)) if place not in order]
    scale = _scale(found.results)
    return [_score(found, place, scale) for place in order]


def _score(found: HuseResult, place: int, scale: Axis) -> Score:
    result = found.results[place]
    return Score(
        title=titled(found.labels[place]),
        aspect=_ASPECTS.get(result.metric, ""),
        estimate=score(result.estimate),
        interval=_interval(result),
        p_value="" if result.p_value is None else p_text(result.p_value),
        untested=untested_reasons(found).get(result.metric, ""),
        chance=_chance(result, found.level),
        meaning=_meaning(result),
        undefined="" if drawable(result) else result.undefined or "no reason is known",
        gauge=_gauge(place, result, scale) if drawable(result) else None,
    )


def _interval(result: Result) -> str:
    interval = result.interval
    if interval is None or not drawable(result):
        return ""
    return f"{score(interval.low)} to {score(interval.high)}, {level_text(interval.level)} interval"


def _chance(result: Result, level: float) -> str:
    """The yardstick: what texts of one source score at this size."""
    mean, low, high = (result.parts.get(name, math.nan) for name in ("chance", "chance_low", "chance_high"))
    if not drawable(result) or not math.isfinite(mean):
        return ""
    said = f"Indistinguishable texts would score {score(mean)}"
    return f"{said}, {score(low)} to {score(high)} in {level_text(level)} of cases." if low <= high else f"{said}."


def _meaning(result: Result) -> str:
    """One sentence; the implied error of the best discriminator is half the score."""
    if not drawable(result):
        return ""
    if result.metric == "huse_d":
        return _diversity(result)
    seen = "the rating alone" if result.metric == "huse_q" else "rating and probability"
    error = result.estimate / 2
    if error >= 0.5:
        return f"By {seen}, neighbours name the wrong source as often as a guess would: nothing tells them apart."
    return f"By {seen}, neighbours name the wrong source of {share(error)} of texts; a guess would of 50 %."


def _diversity(result: Result) -> str:
    """The loss of diversity in words, and a caution where the interval does not rule out that there is none."""
    if result.estimate >= 1:
        noise = " Above 1 is noise." if result.estimate > 1 else ""
        return f"The model's probability adds nothing to what ratings tell: no lack of diversity shows.{noise}"
    more = share((1 - result.estimate) / 2)
    said = f"With the model's probability beside the rating, neighbours tell a further {more} of texts"
    if result.interval is not None and result.interval.high < 1:
        return f"{said}: the model misses some of what people write."
    return f"{said}; as its interval reaches 1, that may be chance."


def _scale(results: Sequence[Result]) -> Axis:
    """One line for all cards, so that 1 is at the same place on each: it holds all intervals and bands of chance."""
    values = [value for result in results if drawable(result) for value in (*reach(result), *_by_chance(result))]
    known = [value for value in (*values, 0.0, 1.1) if math.isfinite(value)]
    return Axis(min(known), max(known), _LEFT, _RIGHT)


def _by_chance(result: Result) -> tuple[float, float]:
    low, high = (result.parts.get(name, math.nan) for name in ("chance_low", "chance_high"))
    return low, high


def _gauge(place: int, result: Result, scale: Axis) -> Markup:
    """The score on a line from 0 to 1, with its interval and the band that chance alone gives."""
    low, high = _by_chance(result)
    parts = [line(_LEFT, _MIDDLE, _RIGHT, _MIDDLE, "gauge-line")]
    if low <= high:
        parts.append(rectangle(scale(low), _MIDDLE - 13, scale(high) - scale(low), 26, "band"))
    for tick in (0.0, 0.5, 1.0):
        parts.append(line(scale(tick), _MIDDLE - 3, scale(tick), _MIDDLE + 13, "zero"))
        parts.append(element("text", f"{tick:g}", x=scale(tick), y=_HEIGHT - 6, text_anchor="middle", class_="tick"))
    ends = [scale(value) for value in reach(result)]
    parts.append(line(min(ends), _MIDDLE, max(ends), _MIDDLE, "bar k0"))
    parts.append(marker(0, scale(result.estimate), _MIDDLE, 6.0))
    name = TITLES.get(result.metric, result.metric)
    summary = f"{name} {score(result.estimate)}, {_interval(result) or 'no interval'}; the band is what chance gives"
    return drawing(
        *parts, width=_WIDTH, height=_HEIGHT, key=f"gauge-{place}", title=f"{name} between 0 and 1", summary=summary
    )


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


def render_html(found: HuseResult) -> str:
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


def _content(found: HuseResult, limits: HuseLimits) -> dict[str, Any]:
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
        "interval": setting_text(found, "interval") or "bootstrap over items",
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


def _static(found: HuseResult, limits: HuseLimits) -> list[tuple[str, list[Any]]]:
    """For readers without scripts and on paper: the most telling items of each kind."""
    chosen = [(kind, most_telling(found, kind, limits.static)) for kind in KINDS]
    return [(kind, [entry_view(found, p, characters=limits.characters) for p in places]) for kind, places in chosen]
