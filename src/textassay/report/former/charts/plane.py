"""The drawing of a quality-diversity plane: marks with intervals both ways, bands of real text, labels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from textassay.document.words import number
from textassay.inference.result import Result
from textassay.report.former.charts.label_placement import Place, Spot, place_labels
from textassay.report.former.charts.svg import (
    COLOURS,
    Axis,
    Box,
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

_FONT, _SMALL, _LINE = 12.0, 11.0, 15.0
# Pixels between the places of a line that labels should not cover.
_STEP = 4.0


@dataclass(frozen=True)
class Canvas:
    """A size to draw at, its margins, and the key of the drawing's ids."""

    key: str
    width: float
    height: float
    longest_name: float

    def frame(self, left: float = 0.0) -> Box:
        """Where the data goes; `left` is the space for the labels of the vertical axis."""
        return Box(left, 22.0, self.width - 30.0, self.height - 46.0)


WIDE = Canvas("plane-wide", 760.0, 460.0, longest_name=150.0)
NARROW = Canvas("plane-narrow", 360.0, 400.0, longest_name=96.0)


@dataclass(frozen=True)
class Point:
    """A sample on the plane; `tooltip` names its values, `index` is its place among the candidates."""

    index: int
    name: str
    label: str
    tooltip: str
    quality: Result
    diversity: Result


@dataclass(frozen=True)
class PlaneChart:
    """What is drawn: the points, real text, the names of the axes, and whether each is reversed.

    `lines` are the places of points to be joined by a line.
    """

    points: Sequence[Point]
    real: Point
    quality: str
    diversity: str
    reversed: tuple[bool, bool]
    lines: Sequence[Sequence[int]] = ()

    def draw(self, canvas: Canvas) -> Markup:
        """The drawing at this size."""
        everyone = (self.real, *self.points)
        x, y, frame = self._axes(canvas)
        return drawing(
            *_grid(x, y, frame),
            *_bands(self.real, x, y, frame),
            *(_joined([self.points[place] for place in places], x, y) for places in self.lines if places),
            *(_mark(point, x, y) for point in self.points),
            *(_label(point.index, name, spot, place) for point, name, spot, place in self._placed(canvas) if place),
            *self._axis_names(frame),
            width=canvas.width,
            height=canvas.height,
            key=canvas.key,
            title="Quality-diversity plane",
            summary="; ".join(point.tooltip for point in everyone),
        )

    def stretched(self) -> tuple[bool, bool]:
        """Whether each axis is stretched around real text, because one distant sample would compress the others."""
        x, y, _ = self._axes(WIDE)
        return x.bend > 0, y.bend > 0

    def _axes(self, canvas: Canvas) -> tuple[Axis, Axis, Box]:
        bare = canvas.frame()
        y = _axis(self.real.diversity, [p.diversity for p in self.points], bare.bottom, bare.top, self.reversed[1])
        frame = canvas.frame(34 + max((text_width(number(tick), _SMALL) for tick in y.ticks), default=0.0))
        x = _axis(self.real.quality, [p.quality for p in self.points], frame.left, frame.right, self.reversed[0])
        return x, y, frame

    def unlabelled(self, canvas: Canvas) -> int:
        """How many marks have no label for lack of space."""
        return sum(place is None for *_, place in self._placed(canvas))

    def _placed(self, canvas: Canvas) -> list[tuple[Point, str, Spot, Place | None]]:
        x, y, frame = self._axes(canvas)
        names = [fitted(point.label, canvas.longest_name, _FONT) for point in self.points]
        spots = [
            Spot(x(point.quality.estimate), y(point.diversity.estimate), text_width(name, _FONT), _LINE)
            for point, name in zip(self.points, names, strict=True)
        ]
        covered = [box for point in self.points for box in _extent(point, x, y)]
        covered += [box for places in self.lines for box in _along([self.points[at] for at in places], x, y)]
        real = self.real.quality, self.real.diversity
        marks = [Spot(x(real[0].estimate), y(real[1].estimate), 0.0, 0.0)] if all(map(drawable, real)) else []
        places = place_labels(spots, covered, frame, marks=marks)
        return list(zip(self.points, names, spots, places, strict=True))

    def _axis_names(self, frame: Box) -> Iterator[Markup]:
        middle, centre = (frame.top + frame.bottom) / 2, (frame.left + frame.right) / 2
        style = {"text_anchor": "middle", "class_": "axis-name"}
        across = fitted(self.quality, frame.right - frame.left, _FONT)
        upright = fitted(self.diversity, frame.bottom - frame.top, _FONT)
        yield element("text", across, x=centre, y=frame.bottom + 38, **style)
        yield element("text", upright, transform=f"translate(13 {middle:.0f}) rotate(-90)", **style)


def _axis(real: Result, results: Sequence[Result], start: float, end: float, backwards: bool) -> Axis:
    values = [value for result in (real, *results) for value in reach(result)]
    centre = real.estimate if drawable(real) else math.nan
    return axis(values, *((end, start) if backwards else (start, end)), about=5, centre=centre)


def _grid(x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
    for tick in legible(x, _SMALL):
        yield line(x(tick), frame.top, x(tick), frame.bottom, "grid")
        yield element("text", number(tick), x=x(tick), y=frame.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(frame.left, y(tick), frame.right, y(tick), "grid")
        yield element("text", number(tick), x=frame.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _bands(real: Point, x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
    """Bands as wide as real text's own intervals, and lines that cross at real text."""
    if drawable(real.quality):
        left, right = _ends(real.quality, x)
        yield rectangle(left, frame.top, right - left, frame.bottom - frame.top, "band")
        at = x(real.quality.estimate)
        yield line(at, frame.top, at, frame.bottom, "real")
        # Above the frame, where no label of a candidate can overlap it.
        half = text_width("real text", _FONT) / 2
        middle = min(max(at, frame.left + half), frame.right - half)
        yield element("text", "real text", x=middle, y=frame.top - 7, text_anchor="middle", class_="real-name")
    if drawable(real.diversity):
        top, bottom = _ends(real.diversity, y)
        yield rectangle(frame.left, top, frame.right - frame.left, bottom - top, "band")
        yield line(frame.left, y(real.diversity.estimate), frame.right, y(real.diversity.estimate), "real")
    if drawable(real.quality) and drawable(real.diversity):
        yield element("circle", cx=x(real.quality.estimate), cy=y(real.diversity.estimate), r=8.0, class_="ring")


def _ends(result: Result, scale: Axis) -> tuple[float, float]:
    """The pixels of an interval's ends, or of the estimate where there is no interval; the smaller one first."""
    pixels = [scale(value) for value in reach(result)]
    return min(pixels), max(pixels)


def _mark(point: Point, x: Axis, y: Axis) -> Markup:
    across, up = x(point.quality.estimate), y(point.diversity.estimate)
    (left, right), (top, bottom) = _ends(point.quality, x), _ends(point.diversity, y)
    bar = f"bar k{point.index % COLOURS}"
    return element(
        "g",
        element("title", point.tooltip),
        line(left, up, right, up, bar),
        line(across, top, across, bottom, bar),
        marker(point.index, across, up, 5.5),
        data_c=point.index,
    )


def _joined(points: Sequence[Point], x: Axis, y: Axis) -> Markup:
    pixels = [(x(point.quality.estimate), y(point.diversity.estimate)) for point in points]
    path = "M" + "L".join(f"{across:.1f} {up:.1f}" for across, up in pixels)
    return element("path", d=path, class_=f"bar curve joined k{points[0].index % COLOURS}")


def _along(points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Box]:
    """What the line through these points covers, in steps of a few pixels."""
    pixels = [(x(point.quality.estimate), y(point.diversity.estimate)) for point in points]
    for (left, top), (right, bottom) in pairwise(pixels):
        steps = max(1, round(math.hypot(right - left, bottom - top) / _STEP))
        for step in range(steps):
            across, up = left + (right - left) * step / steps, top + (bottom - top) * step / steps
            yield Box(across - 2, up - 2, across + 2, up + 2)


def _extent(point: Point, x: Axis, y: Axis) -> list[Box]:
    """What a mark and its two bars cover, with a margin."""
    across, up = x(point.quality.estimate), y(point.diversity.estimate)
    (left, right), (top, bottom) = _ends(point.quality, x), _ends(point.diversity, y)
    mark = Box(across - 7, up - 7, across + 7, up + 7)
    return [mark, Box(left, up - 2, right, up + 2), Box(across - 2, top, across + 2, bottom)]


def _label(index: int, name: str, spot: Spot, place: Place) -> Markup:
    box = place.box
    # Anchored at the side that faces the mark: the width of the text is only estimated.
    anchor, at = "middle", (box.left + box.right) / 2
    if box.left > spot.x:
        anchor, at = "start", box.left
    elif box.right < spot.x:
        anchor, at = "end", box.right
    parts = [element("text", name, x=at, y=box.bottom - 4, text_anchor=anchor, class_="name")]
    if place.leader:
        x, y = min(max(spot.x, box.left), box.right), min(max(spot.y, box.top), box.bottom)
        # The line starts at the edge of the mark, not under it.
        start = min(7 / (math.hypot(x - spot.x, y - spot.y) or 1.0), 1.0)
        parts.insert(0, line(spot.x + start * (x - spot.x), spot.y + start * (y - spot.y), x, y, "leader"))
    return element("g", *parts, data_c=index)
