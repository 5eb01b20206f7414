"""The three scores as cards: the number, its interval, what chance would score, and what it means in a sentence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.inference.result import Result
from textassay.report.axis import Axis, drawable, reach
from textassay.report.cells import level_text
from textassay.report.huse_facts import untested_reasons
from textassay.report.huse_words import score
from textassay.report.svg import drawing, element, line, marker, rectangle
from textassay.studies.judged import TITLES, Judged, titled
from textassay.studies.wording import p_text, share

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


def scores(found: Judged) -> list[Score]:
    """A card for each result, in the order HUSE, HUSE-Q, HUSE-D, and what has further options behind them."""
    first = {result.metric: place for place, result in reversed(list(enumerate(found.results)))}
    order = [first[metric] for metric in TITLES if metric in first]
    order += [place for place in range(len(found.results)) if place not in order]
    scale = _scale(found.results)
    return [_score(found, place, scale) for place in order]


def _score(found: Judged, place: int, scale: Axis) -> Score:
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
