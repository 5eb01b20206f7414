"""Sensitivity drawn: how the combined p-value falls with the number of candidates, a line a metric."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.report.axis import Axis, axis
from textassay.report.svg import COLOURS, Box, drawing, element, line, marker
from textassay.studies.conditioned import CurvePoint, Sensitivity
from textassay.studies.wording import p_text

_WIDTH, _HEIGHT = 480.0, 300.0
_FRAME = Box(56.0, 14.0, _WIDTH - 14.0, _HEIGHT - 42.0)
# Smaller p-values are drawn here: nothing is decided there any more, and one line would flatten all others.
_SMALLEST = 1e-100


@dataclass(frozen=True)
class Need:
    """What one metric needs for the wanted power: numbers as text, and the power there is with everything."""

    label: str
    candidates: str
    references: str
    power: float
    item_power: float


@dataclass(frozen=True)
class Curve:
    """The chart of one system, its lines in order, what each needs and every point behind it."""

    sensitivity: Sensitivity
    labels: tuple[str, ...]
    chart: Markup | None
    references: int
    needs: tuple[Need, ...]


def curves(found: Sequence[Sensitivity]) -> list[Curve]:
    """A chart for each system whose sensitivity was looked at."""
    return [_curve(index, each) for index, each in enumerate(found)]


def _curve(index: int, sensitivity: Sensitivity) -> Curve:
    labels = tuple(dict.fromkeys(point.label for point in sensitivity.points))
    most = max((point.references for point in sensitivity.points), default=0)
    lines = [_falling(sensitivity.points, label, most) for label in labels]
    drawn = [point for points in lines for point in points]
    return Curve(
        sensitivity=sensitivity,
        labels=labels,
        chart=_chart(index, sensitivity, lines) if drawn else None,
        references=most,
        needs=tuple(_need(sensitivity, label) for label in sensitivity.needed),
    )


def _falling(points: Sequence[CurvePoint], label: str, references: int) -> list[CurvePoint]:
    """The points of a metric at all references, by the number of candidates."""
    own = [p for p in points if p.label == label and p.references == references and math.isfinite(p.p_value)]
    return sorted(own, key=lambda point: point.candidates)


def _chart(index: int, sensitivity: Sensitivity, lines: Sequence[Sequence[CurvePoint]]) -> Markup:
    drawn = [point for points in lines for point in points]
    x = axis([float(point.candidates) for point in drawn], _FRAME.left + 8, _FRAME.right - 8, about=10)
    limit = math.log10(1 - sensitivity.level)
    y = axis([0.0, limit, *map(_height, drawn)], _FRAME.bottom, _FRAME.top, about=5)
    name = shortened(sensitivity.system, 60)
    return drawing(
        *_ground(x, y, sorted({point.candidates for point in drawn})),
        *_limit(y, limit),
        *(_line(place, points, x, y) for place, points in enumerate(lines) if points),
        width=_WIDTH,
        height=_HEIGHT,
        key=f"curve-{index}",
        title=f"p-value of {name} by number of candidates",
        summary="; ".join(_said(points) for points in lines if points),
    )


def _height(point: CurvePoint) -> float:
    return math.log10(max(point.p_value, _SMALLEST))


def _said(points: Sequence[CurvePoint]) -> str:
    first, last = points[0], points[-1]
    return (
        f"{shortened(first.label, 40)}: p {p_text(first.p_value)} at {first.candidates}"
        f" and {p_text(last.p_value)} at {last.candidates} candidates"
    )


def _ground(x: Axis, y: Axis, counts: Sequence[int]) -> Iterator[Markup]:
    every = max(1, math.ceil(len(counts) / 12))
    for count in counts[::every]:
        at = x(float(count))
        yield line(at, _FRAME.top, at, _FRAME.bottom, "grid")
        yield element("text", str(count), x=at, y=_FRAME.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(_FRAME.left, y(tick), _FRAME.right, y(tick), "grid")
        yield element("text", f"{tick:g}", x=_FRAME.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")
    middle, centre = (_FRAME.top + _FRAME.bottom) / 2, (_FRAME.left + _FRAME.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", "candidates per item", x=centre, y=_FRAME.bottom + 34, **style)
    yield element("text", "log10 of combined p", transform=f"translate(14 {middle:.0f}) rotate(-90)", **style)


def _limit(y: Axis, limit: float) -> Iterator[Markup]:
    yield line(_FRAME.left, y(limit), _FRAME.right, y(limit), "real")
    said = f"p = {10**limit:.3g}"
    yield element("text", said, x=_FRAME.left + 2, y=y(limit) - 5, class_="real-name")


def _line(place: int, points: Sequence[CurvePoint], x: Axis, y: Axis) -> Markup:
    pixels = [(x(float(point.candidates)), y(_height(point))) for point in points]
    path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in pixels)
    return element(
        "g",
        element("title", _said(points)),
        element("path", d=path, class_=f"bar curve k{place % COLOURS}"),
        *(marker(place, across, down, 4.0) for across, down in pixels),
    )


def _need(sensitivity: Sensitivity, label: str) -> Need:
    points = [point for point in sensitivity.points if point.label == label]
    largest = max(points, key=lambda point: (point.candidates, point.references), default=None)
    fewest = sensitivity.needed[label]
    candidates, references = (
        "more" if fewest.get(side) is None else f"{fewest[side]}" for side in ("candidates", "references")
    )
    return Need(
        shortened(label, 60),
        candidates,
        references,
        largest.power if largest else math.nan,
        largest.item_power if largest else math.nan,
    )
