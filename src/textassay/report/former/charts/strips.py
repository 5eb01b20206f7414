"""Charts of intervals: strips of several columns on one axis beside a baseline, and gauges of one number."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from textassay.corpus.printable import many, shortened
from textassay.document.words import number
from textassay.inference.result import Interval, Result
from textassay.report.former.charts.plane import NARROW, WIDE, PlaneChart, Point
from textassay.report.former.charts.svg import (
    COLOURS,
    Axis,
    axis,
    drawable,
    drawing,
    element,
    fitted,
    legible,
    line,
    marker,
    reach,
    rectangle,
    text_width,
)
from textassay.report.former.table import better_words, figure, short_names
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.planes import falls, plane_indexes

_WIDTH, _LEFT, _RIGHT = 360.0, 98.0, 306.0
_TOP, _ROW, _BOTTOM = 22.0, 21.0, 22.0
_FONT = 11.5


@dataclass(frozen=True)
class Strip:
    """The chart of one metric, its label, which way is better, and remarks on its axis and on sizes."""

    label: str
    aspect: str
    better: str
    chart: Markup
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """One column of a strip; `chance` is drawn as an open ring where it is a number."""

    name: str
    result: Result
    chance: float = math.nan


@dataclass(frozen=True)
class Baseline:
    """The column that the band shows, its short name on the chart, and its name and the reason if it is not drawn."""

    short: str
    missing: str
    bar: Bar
    reason: str = "no number"


def strip_axis(baseline: Result, bars: Iterable[Bar]) -> Axis:
    """The axis that covers the baseline and all bars, stretched around the baseline if needed."""
    centre = baseline.estimate if drawable(baseline) else math.nan
    values = [value for bar in bars for value in (*reach(bar.result), bar.chance)]
    return axis([*reach(baseline), *values], _LEFT, _RIGHT, about=4, centre=centre)


def strip_chart(baseline: Baseline, bars: Sequence[Bar], scale: Axis, *, key: str, title: str, level: float) -> Markup:
    """The chart as an inline drawing."""
    foot = _TOP + _ROW * len(bars)
    return drawing(
        *_ground(scale, foot),
        *_band(baseline, scale, foot),
        *_rows(bars, scale, level),
        width=_WIDTH,
        height=foot + _BOTTOM,
        key=key,
        title=title,
        summary="; ".join(
            f"{shortened(bar.name, 40)} {figure(bar.result, level=level).short}" for bar in (baseline.bar, *bars)
        ),
    )


def _ground(scale: Axis, foot: float) -> Iterator[Markup]:
    for tick in legible(scale, _FONT):
        yield line(scale(tick), _TOP, scale(tick), foot, "grid")
        yield element("text", number(tick), x=scale(tick), y=foot + 15, text_anchor="middle", class_="tick")


def _band(baseline: Baseline, scale: Axis, foot: float) -> Iterator[Markup]:
    result = baseline.bar.result
    if not drawable(result):
        yield element("text", f"{baseline.missing}: {baseline.reason}", x=_LEFT, y=_TOP - 8, class_="tick")
        return
    ends = [scale(value) for value in reach(result)]
    yield rectangle(min(ends), _TOP, max(ends) - min(ends), foot - _TOP, "band")
    yield line(scale(result.estimate), _TOP - 4, scale(result.estimate), foot, "real")
    text = f"{baseline.short} {number(result.estimate)}"
    half = text_width(text, _FONT) / 2
    at = min(max(scale(result.estimate), half), _WIDTH - half)
    yield element("text", text, x=at, y=_TOP - 8, text_anchor="middle", class_="real-name")


def _rows(bars: Sequence[Bar], scale: Axis, level: float) -> Iterator[Markup]:
    names = [shortened(bar.name, 60) for bar in bars]
    for index, (bar, name, label) in enumerate(zip(bars, names, short_names(names), strict=True)):
        result, y = bar.result, _TOP + _ROW * (index + 0.5)
        shown = figure(result, level=level)
        tooltip = (
            f"{name}: {shown.short}" if result.undefined is None else f"{name}: {shortened(result.undefined, 160)}"
        )
        parts = [
            element("title", tooltip),
            element("text", fitted(label, _LEFT - 6, _FONT), x=0, y=y + 4, class_="name"),
            element("text", shown.estimate, x=_WIDTH, y=y + 4, text_anchor="end", class_="value"),
        ]
        if not math.isnan(bar.chance):
            parts.append(element("circle", cx=scale(bar.chance), cy=y, r=3.5, class_="chance"))
        if drawable(result):
            ends = [scale(value) for value in reach(result)]
            parts.append(line(min(ends), y, max(ends), y, f"bar k{index % COLOURS}"))
            parts.append(marker(index, scale(result.estimate), y, 4.5))
        yield element("g", *parts, data_c=index)


# A gauge of a score: its size, the ends of its line, and the height of the line.
_SCORE_WIDTH, _SCORE_HEIGHT, _SCORE_LEFT, _SCORE_RIGHT, _SCORE_MIDDLE = 300.0, 54.0, 6.0, 294.0, 20.0


def gauge_axis(results: Sequence[Result]) -> Axis:
    """One axis for the gauges of all scores, with 1 at the same place on each; it covers intervals and chance."""
    drawn = [result for result in results if math.isfinite(result.estimate)]
    values = [value for result in drawn for value in (*reach(result), *by_chance(result))]
    known = [value for value in (*values, 0.0, 1.1) if math.isfinite(value)]
    return Axis(min(known), max(known), _SCORE_LEFT, _SCORE_RIGHT)


def by_chance(result: Result) -> tuple[float, float]:
    """The range of scores that chance alone gives; NaN if it is not known."""
    low, high = (result.parts.get(name, math.nan) for name in ("chance_low", "chance_high"))
    return low, high


def score_gauge(result: Result, scale: Axis, *, key: str, title: str, summary: str) -> Markup:
    """The score on a line from 0 to 1, with its interval and the band that chance alone gives."""
    middle = _SCORE_MIDDLE
    low, high = by_chance(result)
    parts = [line(_SCORE_LEFT, middle, _SCORE_RIGHT, middle, "gauge-line")]
    if low <= high:
        parts.append(rectangle(scale(low), middle - 13, scale(high) - scale(low), 26, "band"))
    for tick in (0.0, 0.5, 1.0):
        parts.append(line(scale(tick), middle - 3, scale(tick), middle + 13, "zero"))
        parts.append(
            element("text", f"{tick:g}", x=scale(tick), y=_SCORE_HEIGHT - 6, text_anchor="middle", class_="tick")
        )
    ends = [scale(value) for value in reach(result)]
    parts.append(line(min(ends), middle, max(ends), middle, "bar k0"))
    parts.append(marker(0, scale(result.estimate), middle, 6.0))
    return drawing(*parts, width=_SCORE_WIDTH, height=_SCORE_HEIGHT, key=key, title=title, summary=summary)


_ALPHA_WIDTH, _ALPHA_HEIGHT, _ALPHA_LEFT, _ALPHA_RIGHT, _ALPHA_MIDDLE = 360.0, 66.0, 8.0, 352.0, 28.0


def alpha_gauge(alpha: float, interval: Interval | None, ticks: Mapping[float, str], *, summary: str) -> Markup:
    """Krippendorff's alpha with its interval; ticks other than 0 and 1 are limits."""
    middle = _ALPHA_MIDDLE
    values = [alpha, *((interval.low, interval.high) if interval else ()), 0.0, 1.0]
    scale = Axis(min(v for v in values if math.isfinite(v)), 1.0, _ALPHA_LEFT, _ALPHA_RIGHT)
    parts = [line(_ALPHA_LEFT, middle, _ALPHA_RIGHT, middle, "gauge-line")]
    for tick, text in ticks.items():
        at = scale(tick)
        anchor = "end" if tick == 1 else "start" if at < _ALPHA_LEFT + 30 else "middle"
        parts.append(line(at, middle - 14, at, middle + 14, "zero" if tick in (0.0, 1.0) else "real"))
        parts.append(element("text", text, x=at, y=middle + 30, text_anchor=anchor, class_="tick"))
    if interval and math.isfinite(interval.low) and math.isfinite(interval.high):
        parts.append(line(scale(interval.low), middle, scale(interval.high), middle, "bar k0"))
    parts.append(marker(0, scale(alpha), middle, 6.0))
    return drawing(
        *parts,
        width=_ALPHA_WIDTH,
        height=_ALPHA_HEIGHT,
        key="alpha",
        title="Krippendorff's alpha",
        summary=summary,
    )


STRETCHED = "axis stretched around real text"


def beside_real(comparison: Comparison, column: Column, place: int) -> Result:
    """The result of a column that is comparable with real text: of the same size if there is one."""
    return column.beside_real(comparison.labels[place], column.results[place])


def size_remark(comparison: Comparison, place: int) -> str:
    """The size that is drawn if it is not that of the candidates, and a warning if sizes could not be made equal."""
    real = comparison.real.results[place]
    whole = {column.results[place].n for column in comparison.candidates}
    drawn = {beside_real(comparison, column, place).n for column in comparison.candidates}
    if not drawable(real) or not drawn or whole == {real.n}:
        return ""
    if drawn == {real.n}:
        whole_sizes = _sizes_text(whole)
        return f"all drawn at n = {real.n:,}, the largest size of real v real; the table also has n = {whole_sizes}"
    return f"real text has n = {real.n:,}, candidates n = {_sizes_text(drawn)}; the value may depend on the size"


def _sizes_text(sizes: set[int]) -> str:
    return f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")


@dataclass(frozen=True)
class Plane:
    """Two drawings of one plane, for wide and for narrow pages, its labels, and remarks."""

    wide: Markup
    narrow: Markup
    quality: str
    diversity: str
    remarks: tuple[str, ...]


def draw_plane(comparison: Comparison) -> Plane | None:
    """The plane, or None when the comparison has no metric of quality or none of diversity."""
    axes = plane_axes(comparison)
    if axes is None:
        return None
    without = " without Markdown" if comparison.real.axes_without_markup else ""
    labels = tuple(f"{shortened(comparison.labels[place], 60)}{without}" for place in axes)
    real = _point(-1, comparison.real, comparison, axes)
    shorter = short_names([shortened(column.name, 60) for column in comparison.candidates])
    points = [
        replace(_point(index, column, comparison, axes), label=label)
        for index, (column, label) in enumerate(zip(comparison.candidates, shorter, strict=True))
    ]
    chart = PlaneChart(
        points=tuple(point for point in points if drawable(point.quality) and drawable(point.diversity)),
        real=real,
        quality=_axis_name("quality", labels[0], real.quality),
        diversity=_axis_name("diversity", labels[1], real.diversity),
        reversed=(falls(real.quality), falls(real.diversity)),
    )
    return Plane(
        wide=chart.draw(WIDE),
        narrow=chart.draw(NARROW),
        quality=labels[0],
        diversity=labels[1],
        remarks=tuple(_plane_remarks(comparison, axes, points, chart)),
    )


def plane_axes(comparison: Comparison) -> tuple[int, int] | None:
    """The places of the quality and the diversity metric to draw, None when one of them is missing."""
    results = {
        place: comparison.real.results[place]
        for place in range(len(comparison.labels))
        if any(drawable(column.results[place]) for column in comparison.candidates)
    }
    # A plane needs two metrics.
    return plane_indexes(results) if len(results) > 1 else None


def _point(index: int, column: Column, comparison: Comparison, axes: tuple[int, int]) -> Point:
    name = shortened(column.name, 60)
    quality, diversity = (
        column.axes_without_markup.get(comparison.labels[place], beside_real(comparison, column, place))
        for place in axes
    )
    values = ", ".join(
        f"{shortened(comparison.labels[place], 60)} {figure(result, level=comparison.level).short}"
        for place, result in zip(axes, (quality, diversity), strict=True)
    )
    return Point(index, name, name, f"{name}: {values}", quality, diversity)


def _axis_name(aspect: str, label: str, result: Result) -> str:
    turned = ", reversed axis" if falls(result) else ""
    return f"more {aspect} → ({shortened(label, 30)}{turned})"


def _plane_remarks(comparison: Comparison, axes: tuple[int, int], points: list[Point], chart: PlaneChart) -> list[str]:
    """Candidates and labels that are left out, stretched axes, and differences in size."""
    remarks = []
    missing = [point.name for point in points if not (drawable(point.quality) and drawable(point.diversity))]
    if missing:
        remarks.append(f"Not drawn, because a number is missing on one of the axes: {', '.join(missing)}.")
    unlabelled = chart.unlabelled(WIDE)
    if unlabelled:
        are = "is" if unlabelled == 1 else "are"
        remarks.append(f"{many(unlabelled, 'label')} {are} left out for lack of space; the legend names every mark.")
    labels = [shortened(comparison.labels[place], 60) for place in axes]
    stretched = [label for label, bent in zip(labels, chart.stretched(), strict=True) if bent]
    if stretched:
        remarks.append(f"{' and '.join(stretched)}: {STRETCHED}; distant values are farther away than they appear.")
    sizes = [(label, size_remark(comparison, place)) for label, place in zip(labels, axes, strict=True)]
    return remarks + [f"{label}: {remark}." for label, remark in sizes if remark]


def strip(comparison: Comparison, place: int) -> Strip:
    """The strip of the metric at this place."""
    real = comparison.real.results[place]
    bars = [Bar(column.name, beside_real(comparison, column, place)) for column in comparison.candidates]
    label = shortened(comparison.labels[place], 60)
    scale = strip_axis(real, bars)
    baseline = Baseline("real", "real text", Bar(comparison.real.name, real))
    title = f"{label} of each candidate"
    chart = strip_chart(baseline, bars, scale, key=f"strip-{place}", title=title, level=comparison.level)
    return Strip(
        label, real.aspect, better_words(real.better, "real text"), chart, _strip_remarks(scale, comparison, place)
    )


def _strip_remarks(scale: Axis, comparison: Comparison, place: int) -> tuple[str, ...]:
    found = (STRETCHED if scale.bend else "", size_remark(comparison, place))
    return tuple(remark[0].upper() + remark[1:] for remark in found if remark)
