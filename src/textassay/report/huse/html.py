"""The HTML report of a HUSE study."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from textassay.corpus.printable import many, share, shortened
from textassay.corpus.rating_files import raters_are_known
from textassay.inference.result import Result
from textassay.report.charts.decision_map import STEPS, draw_map, kind_bar, kind_class, kind_key, source_key
from textassay.report.charts.score_charts import METRICS, draw_plane, k_curves, stability_curves
from textassay.report.charts.svg import Axis, drawing, element, line, marker, reach, rectangle
from textassay.report.huse.content import (
    active_raters,
    chosen_k,
    citations,
    k_range,
    log_prob_words,
    model_name,
    outcome_sentence,
    scale_text,
    score,
    tie_rule,
    untested_reasons,
    whole_texts,
)
from textassay.report.huse.items import clearest, entry_view, groups, huse_block, source_counts
from textassay.report.huse.raters import raters
from textassay.report.items import render_with_items
from textassay.report.page import COMMON_SETTINGS, Page, setting_rows, setting_text, span
from textassay.report.table import every_note, guide, level_of, level_text
from textassay.studies.huse.result import KINDS, TITLES, HuseResult, titled
from textassay.studies.wording import p_text

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _MIDDLE = 300.0, 54.0, 6.0, 294.0, 20.0


@dataclass(frozen=True)
class Score:
    """A card: everything but the drawing is plain text, empty if it is not known."""

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
    "huse_q": "quality: what ratings alone show",
    "huse_d": "diversity: what the model's probability adds",
}


def scores(found: HuseResult) -> list[Score]:
    """A card per result, in the order HUSE, HUSE-Q, HUSE-D, then results with other options."""
    first = {result.metric: place for place, result in reversed(list(enumerate(found.results)))}
    order = [first[metric] for metric in TITLES if metric in first]
    order += [place for place in range(len(found.results)) if place not in order]
    untested = untested_reasons(found)
    cards = [_score(found, place, untested) for place in order]
    scale = _scale(found.results)
    return [
        replace(card, gauge=_gauge(place, found.results[place], scale)) if not card.undefined else card
        for place, card in zip(order, cards, strict=True)
    ]


def _score(found: HuseResult, place: int, untested: Mapping[str, str]) -> Score:
    result = found.results[place]
    return Score(
        title=titled(found.labels[place]),
        aspect=_ASPECTS.get(result.metric, ""),
        estimate=score(result.estimate),
        interval=_interval(result),
        p_value="" if result.p_value is None else p_text(result.p_value),
        untested=untested.get(result.metric, ""),
        chance=_chance(result, found.level),
        meaning=_meaning(result),
        undefined="" if math.isfinite(result.estimate) else result.undefined or "unknown reason",
        gauge=None,
    )


def _interval(result: Result) -> str:
    interval = result.interval
    if interval is None or not math.isfinite(result.estimate):
        return ""
    return f"{score(interval.low)} to {score(interval.high)}, {level_text(interval.level)} interval"


def _chance(result: Result, level: float) -> str:
    """What indistinguishable texts score at this size."""
    mean, low, high = (result.parts.get(name, math.nan) for name in ("chance", "chance_low", "chance_high"))
    if not math.isfinite(result.estimate + mean):
        return ""
    text = f"Indistinguishable texts would score {score(mean)}"
    return f"{text}, {score(low)} to {score(high)} in {level_text(level)} of cases." if low <= high else f"{text}."


def _meaning(result: Result) -> str:
    """One sentence; the implied error of the best discriminator is half the score."""
    if not math.isfinite(result.estimate):
        return ""
    if result.metric == "huse_d":
        return _diversity(result)
    features = "the rating alone" if result.metric == "huse_q" else "rating and probability"
    error = result.estimate / 2
    if error >= 0.5:
        return f"By {features}, the nearest neighbours identify the source no better than a random guess."
    wrong = f"the nearest neighbours assign the wrong source to {share(error)} of texts"
    return f"By {features}, {wrong}; guessing would give 50 %."


def _diversity(result: Result) -> str:
    """The loss of diversity in words, and a caution if the interval includes no loss."""
    if result.estimate >= 1:
        noise = " A value above 1 is noise." if result.estimate > 1 else ""
        return f"The model's probability adds nothing to the ratings: no lack of diversity was found.{noise}"
    more = share((1 - result.estimate) / 2)
    text = f"With the model's probability as well, the source of a further {more} of texts is identified"
    if result.interval is not None and result.interval.high < 1:
        return f"{text}: the model does not write some of what people write."
    return f"{text}. This may be chance, because the interval includes 1."


def _scale(results: Sequence[Result]) -> Axis:
    """One axis for all cards, with 1 at the same place on each; it covers all intervals and bands of chance."""
    drawn = [result for result in results if math.isfinite(result.estimate)]
    values = [value for result in drawn for value in (*reach(result), *_by_chance(result))]
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
    summary = f"{name} {score(result.estimate)}, {_interval(result) or 'no interval'}; the band shows chance"
    return drawing(
        *parts, width=_WIDTH, height=_HEIGHT, key=f"gauge-{place}", title=f"{name} between 0 and 1", summary=summary
    )


# Up to this number every item has its own mark on the map.
_EACH_ITS_MARK = 1_000


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; the page states what is left out. `cell` is the grid of the map in pixels."""

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
    Limits(cell=2.5, static=8, characters=600, cloud=500, raters=500),
    Limits(cell=4.0, static=4, characters=300, cloud=200, raters=100),
    Limits(cell=6.0, static=0, characters=0, cloud=0, raters=0, flagged=5, signatures=6),
)


_SECTIONS = (
    ("scores", "Scores"),
    ("plane", "Quality and diversity"),
    ("map", "Decision map"),
    ("items", "Items"),
    ("neighbours", "Neighbours"),
    ("stability", "Stability"),
    ("raters", "Raters"),
    ("reading", "How to read this"),
    ("signatures", "Signatures"),
)


def render_html(found: HuseResult) -> str:
    """The report of a HUSE study as one self-contained HTML page.

    It stays under 1.5 MB: the clearest examples come with their texts, as many as fit, and the page states how many do
    not. Scores, notes and charts are always complete.
    """
    page = Page.of(
        "huse.html.j2",
        styles=("page.css", "items.css", "huse.css"),
        scripts=("page.js", "tools.js", "huse/store.js", "huse/list.js", "huse/map.js", "huse/static.js"),
        filters={
            "kind_class": kind_class,
            "kind_key": kind_key,
            "source_key": source_key,
            "score": score,
            "titled": titled,
        },
    )
    contents = (_content(found, limits) for limits in _LADDER)
    return render_with_items(page, contents, lambda content, room: huse_block(found, content["map"], room=room))


def _content(found: HuseResult, limits: Limits) -> dict[str, Any]:
    content = {
        "j": found,
        "limits": limits,
        "sections": _SECTIONS,
        "titles": TITLES,
        "line_titles": [TITLES[metric] for metric in METRICS],
        "steps": range(STEPS),
        "kinds": KINDS,
        "model": model_name(found),
        "whole": whole_texts(found),
        "log_prob_words": log_prob_words(found),
        "k": chosen_k(found),
        "ties": tie_rule(found),
        "k_range": k_range(found),
        "groups": groups(found),
        "static": _static(found, limits),
        "raters": raters(found, most=limits.raters),
        "citations": citations(found),
        "signatures": [(label, result.signature) for label, result in zip(found.labels, found.results, strict=True)],
        "summary": outcome_sentence(found),
        "level": level_of(found.verdict),
        "notes": every_note(found.rated.notes, found.notes),
        "guide": guide(found.results, target="the human value"),
        "settings": huse_settings(found),
        "interval": setting_text(found, "interval") or "bootstrap over items",
    }
    return content | _drawings(found, limits)


def _drawings(found: HuseResult, limits: Limits) -> dict[str, Any]:
    counted = source_counts(found)
    return {
        "scores": scores(found),
        "plane": draw_plane(found, most=limits.cloud),
        "map": draw_map(found, cell=limits.cell if len(found.items) > _EACH_ITS_MARK else 0.0),
        "bars": [(is_model, sum(counts), kind_bar(counts)) for is_model, counts in counted],
        "by_k": k_curves(found, chosen_k(found)),
        "stability": stability_curves(found),
    }


def huse_settings(found: HuseResult) -> list[tuple[str, str]]:
    """Terms and values of what was measured."""
    rated = found.rated
    model = sum(item.is_model for item in rated.items)
    k = chosen_k(found)
    variants = dict.fromkeys(str(r.options["variant"]) for r in found.results if "variant" in r.options)
    terms = [
        ("Items", f"{len(rated.items) - model:,} human, {model:,} from the model"),
        ("Ratings", _ratings(found)),
        ("Ratings per item", span(judged.n_ratings for judged in found.items) if rated.single else ""),
        ("Scale", shortened(scale_text(found), 80)),
        ("Neighbours", f"k = {k}" if k else ""),
        ("Ties", ", ".join(shortened(name, 30) for name in variants)),
        ("Interval level", level_text(found.level)),
        *setting_rows(found, COMMON_SETTINGS),
    ]
    return [(term, value) for term, value in terms if value]


def _ratings(found: HuseResult) -> str:
    """How many ratings were measured, and by how many raters if that is known."""
    rated = found.rated
    if not rated.single:
        return "one mean per item"
    by = f" by {many(len(active_raters(found)), 'rater')}" if raters_are_known(rated) else ""
    return f"{len(rated.ratings):,}{by}"


def _static(found: HuseResult, limits: Limits) -> list[tuple[str, list[Any]]]:
    """For readers without scripts and on paper: the clearest examples of each kind."""
    chosen = [(kind, clearest(found, kind, limits.static)) for kind in KINDS]
    return [(kind, [entry_view(found, p, characters=limits.characters) for p in places]) for kind, places in chosen]
