"""Strips: a small chart a metric, each candidate's interval on one axis beside what real text reaches."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.axis import Axis, axis, drawable, legible, reach
from textassay.report.cells import cell
from textassay.report.guide import BETTER
from textassay.report.remarks import STRETCHED, beside_real, size_remark
from textassay.report.short_names import short_names
from textassay.report.svg import COLOURS, drawing, element, fitted, line, marker, rectangle, text_width
from textassay.studies.comparison import Comparison
from textassay.studies.wording import number

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


def strip(comparison: Comparison, place: int) -> Strip:
    """The strip of the metric at this place."""
    real = comparison.real.results[place]
    results = [beside_real(comparison, column, place) for column in comparison.candidates]
    label = shortened(comparison.labels[place], 60)
    centre = real.estimate if drawable(real) else math.nan
    scale = axis(
        [value for result in (real, *results) for value in reach(result)], _LEFT, _RIGHT, about=4, centre=centre
    )
    foot = _TOP + _ROW * len(results)
    chart = drawing(
        *_ground(scale, foot),
        *_real(real, scale, foot),
        *_rows(comparison, place, scale),
        width=_WIDTH,
        height=foot + _BOTTOM,
        key=f"strip-{place}",
        title=f"{label} of each candidate",
        summary=_summary(comparison, place),
    )
    return Strip(label, real.aspect, BETTER.get(real.better, real.better), chart, _remarks(scale, comparison, place))


def _remarks(scale: Axis, comparison: Comparison, place: int) -> tuple[str, ...]:
    found = (STRETCHED if scale.bend else "", size_remark(comparison, place))
    return tuple(remark[0].upper() + remark[1:] for remark in found if remark)


def _ground(scale: Axis, foot: float) -> Iterator[Markup]:
    for tick in legible(scale, _FONT):
        yield line(scale(tick), _TOP, scale(tick), foot, "grid")
        yield element("text", number(tick), x=scale(tick), y=foot + 15, text_anchor="middle", class_="tick")


def _real(real: Result, scale: Axis, foot: float) -> Iterator[Markup]:
    if not drawable(real):
        yield element("text", "real text: no number", x=_LEFT, y=_TOP - 8, class_="tick")
        return
    ends = [scale(value) for value in reach(real)]
    yield rectangle(min(ends), _TOP, max(ends) - min(ends), foot - _TOP, "band")
    yield line(scale(real.estimate), _TOP - 4, scale(real.estimate), foot, "real")
    said = f"real {number(real.estimate)}"
    half = text_width(said, _FONT) / 2
    at = min(max(scale(real.estimate), half), _WIDTH - half)
    yield element("text", said, x=at, y=_TOP - 8, text_anchor="middle", class_="real-name")


def _rows(comparison: Comparison, place: int, scale: Axis) -> Iterator[Markup]:
    labels = short_names([shortened(column.name, 60) for column in comparison.candidates])
    for index, (column, label) in enumerate(zip(comparison.candidates, labels, strict=True)):
        result, y = beside_real(comparison, column, place), _TOP + _ROW * (index + 0.5)
        name = shortened(column.name, 60)
        shown = cell(result, level=comparison.level)
        parts = [
            element(
                "title",
                f"{name}: {shown}" if result.undefined is None else f"{name}: {shortened(result.undefined, 160)}",
            ),
            element("text", fitted(label, _LEFT - 10, _FONT), x=0, y=y + 4, class_="name"),
            element("text", shown.estimate, x=_WIDTH, y=y + 4, text_anchor="end", class_="value"),
        ]
        if drawable(result):
            ends = [scale(value) for value in reach(result)]
            parts.append(line(min(ends), y, max(ends), y, f"bar k{index % COLOURS}"))
            parts.append(marker(index, scale(result.estimate), y, 4.5))
        yield element("g", *parts, data_c=index)


def _summary(comparison: Comparison, place: int) -> str:
    return "; ".join(
        f"{shortened(column.name, 40)} {cell(beside_real(comparison, column, place), level=comparison.level)}"
        for column in (comparison.real, *comparison.candidates)
    )
