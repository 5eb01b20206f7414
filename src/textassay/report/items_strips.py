"""Strips of a conditional study: a small chart a metric, each system's interval beside people's band and chance."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.axis import Axis, axis, drawable, legible, reach
from textassay.report.cells import cell
from textassay.report.items_grid import BETTER
from textassay.report.items_rows import chance
from textassay.report.items_words import part_sizes
from textassay.report.short_names import short_names
from textassay.report.svg import COLOURS, drawing, element, fitted, line, marker, rectangle, text_width
from textassay.studies.conditioned import Conditional, SystemColumn
from textassay.studies.wording import number

_WIDTH, _LEFT, _RIGHT = 360.0, 98.0, 306.0
_TOP, _ROW, _BOTTOM = 22.0, 21.0, 22.0
_FONT = 11.5


@dataclass(frozen=True)
class ItemStrip:
    """The chart of one metric, its label, which way is better, and remarks on its axis and on sizes."""

    label: str
    aspect: str
    better: str
    chart: Markup
    remarks: tuple[str, ...]


def item_strip(conditional: Conditional, place: int) -> ItemStrip:
    """The strip of the metric at this place."""
    human = conditional.human.results[place]
    results = [beside_human(conditional, system, place) for system in conditional.systems]
    label = shortened(conditional.labels[place], 60)
    values = [value for result in (human, *results) for value in (*reach(result), chance(result))]
    scale = axis(values, _LEFT, _RIGHT, about=4, centre=human.estimate if drawable(human) else math.nan)
    foot = _TOP + _ROW * len(results)
    chart = drawing(
        *_ground(scale, foot),
        *_human(human, scale, foot),
        *_rows(conditional, results, scale),
        width=_WIDTH,
        height=foot + _BOTTOM,
        key=f"strip-{place}",
        title=f"{label} of each system",
        summary=_summary(conditional, (human, *results)),
    )
    return ItemStrip(
        label,
        human.aspect,
        BETTER.get(human.better, human.better),
        chart,
        tuple(_remarks(conditional, place, results, scale)),
    )


def beside_human(conditional: Conditional, system: SystemColumn, place: int) -> Result:
    """The result of a system that compares with people: of the same size wherever there is one."""
    return system.at_human_size.get(conditional.labels[place], system.results[place])


def _remarks(conditional: Conditional, place: int, results: list[Result], scale: Axis) -> Iterator[str]:
    if scale.bend:
        yield "Axis stretched around the human value"
    if any(drawn is not system.results[place] for drawn, system in zip(results, conditional.systems, strict=True)):
        size = part_sizes(conditional.human.results[place], conditional.human_sizes)
        yield f"All drawn at {size} texts an item, the most that people allow; the table also has whole items"
    if any(not math.isnan(chance(result)) for result in results):
        yield "The open ring is chance"


def _ground(scale: Axis, foot: float) -> Iterator[Markup]:
    for tick in legible(scale, _FONT):
        yield line(scale(tick), _TOP, scale(tick), foot, "grid")
        yield element("text", number(tick), x=scale(tick), y=foot + 15, text_anchor="middle", class_="tick")


def _human(human: Result, scale: Axis, foot: float) -> Iterator[Markup]:
    if not drawable(human):
        yield element("text", "human: no number", x=_LEFT, y=_TOP - 8, class_="tick")
        return
    ends = [scale(value) for value in reach(human)]
    yield rectangle(min(ends), _TOP, max(ends) - min(ends), foot - _TOP, "band")
    yield line(scale(human.estimate), _TOP - 4, scale(human.estimate), foot, "real")
    said = f"human {number(human.estimate)}"
    half = text_width(said, _FONT) / 2
    at = min(max(scale(human.estimate), half), _WIDTH - half)
    yield element("text", said, x=at, y=_TOP - 8, text_anchor="middle", class_="real-name")


def _rows(conditional: Conditional, results: list[Result], scale: Axis) -> Iterator[Markup]:
    names = [shortened(system.name, 60) for system in conditional.systems]
    for index, (name, label, result) in enumerate(zip(names, short_names(names), results, strict=True)):
        y = _TOP + _ROW * (index + 0.5)
        shown = cell(result, level=conditional.level)
        said = f"{name}: {shown}" if result.undefined is None else f"{name}: {shortened(result.undefined, 160)}"
        parts = [
            element("title", said),
            element("text", fitted(label, _LEFT - 10, _FONT), x=0, y=y + 4, class_="name"),
            element("text", shown.estimate, x=_WIDTH, y=y + 4, text_anchor="end", class_="value"),
        ]
        if not math.isnan(chance(result)):
            parts.append(element("circle", cx=scale(chance(result)), cy=y, r=3.5, class_="chance"))
        if drawable(result):
            ends = [scale(value) for value in reach(result)]
            parts.append(line(min(ends), y, max(ends), y, f"bar k{index % COLOURS}"))
            parts.append(marker(index, scale(result.estimate), y, 4.5))
        yield element("g", *parts, data_c=index)


def _summary(conditional: Conditional, results: tuple[Result, ...]) -> str:
    return "; ".join(
        f"{shortened(column.name, 40)} {cell(result, level=conditional.level)}"
        for column, result in zip((conditional.human, *conditional.systems), results, strict=True)
    )
