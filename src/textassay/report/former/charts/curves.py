"""Curves over two axes of numbers, with marked points."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.report.former.charts.svg import (
    COLOURS,
    Axis,
    Box,
    axis,
    drawing,
    element,
    fitted,
    keys,
    legible,
    line,
    marker,
    rectangle,
    text_width,
)

WIDTH, HEIGHT = 420.0, 320.0
_SMALL, _FONT = 11.0, 12.0
# With more points than this, marks would cover the line.
_MOST_MARKS = 16
# Marks of the sources that several charts of a page share begin here, so that a curve and a point differ.
_STAR = 6
# The longest name of a place on an axis without numbers.
_LONGEST_PLACE = 70.0


@dataclass(frozen=True)
class Trace:
    """A curve through these points; `index` is its colour and mark.

    `limits` are the ends of the interval of each point, drawn as a band.
    """

    name: str
    points: Sequence[tuple[float, float]]
    index: int = 0
    limits: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Spotted:
    """A point with a star and its name, which is a tooltip only if it is not `written`."""

    name: str
    x: float
    y: float
    written: bool = True


@dataclass(frozen=True)
class Rung:
    """A value across the whole chart with its interval, such as that of real text."""

    name: str
    value: float
    low: float
    high: float


def curve_chart(
    traces: Sequence[Trace],
    *,
    spots: Sequence[Spotted] = (),
    rung: Rung | None = None,
    places: Sequence[tuple[float, str]] = (),
    across: str,
    up: str,
    key: str,
    title: str,
    summary: str,
) -> Markup:
    """All traces and spots in one frame; `places` are the names of places on the axis across, if it has no numbers."""
    known = [(x, y) for trace in traces for x, y in trace.points] + [(spot.x, spot.y) for spot in spots]
    heights = [value for _, value in known] + [end for trace in traces for ends in trace.limits for end in ends]
    heights += [] if rung is None else [rung.value, rung.low, rung.high]
    y = axis(heights, HEIGHT - 46.0, 14.0, about=5)
    left = 30 + max((text_width(_tick(tick), _SMALL) for tick in y.ticks), default=0.0)
    frame = Box(left, 14.0, WIDTH - 14.0, HEIGHT - 46.0)
    x = axis([value for value, _ in known], frame.left, frame.right, about=5)
    return drawing(
        *_ground(x, y, frame, places),
        *(_level(rung, y, frame) if rung is not None else ()),
        *(_band(trace, x, y) for trace in traces if trace.limits),
        *(_drawn(trace, x, y) for trace in traces if trace.points),
        *(part for spot in spots for part in _star(spot, x, y, frame)),
        *_names(across, up, frame),
        width=WIDTH,
        height=HEIGHT,
        key=key,
        title=title,
        summary=summary,
    )


def legend(traces: Sequence[Trace]) -> list[tuple[Markup, str]]:
    """The mark and the name of each curve."""
    marks = keys(max((trace.index for trace in traces), default=-1) + 1)
    return [(marks[trace.index], trace.name) for trace in traces]


def _tick(value: float) -> str:
    return f"{value:g}"


def _ground(x: Axis, y: Axis, frame: Box, places: Sequence[tuple[float, str]]) -> Iterator[Markup]:
    for tick, name in _spaced(x, places) if places else [(tick, _tick(tick)) for tick in legible(x, _SMALL)]:
        yield line(x(tick), frame.top, x(tick), frame.bottom, "grid")
        yield element("text", name, x=x(tick), y=frame.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(frame.left, y(tick), frame.right, y(tick), "grid")
        yield element("text", _tick(tick), x=frame.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _spaced(x: Axis, places: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """The places whose names do not touch each other, each name cut to the space of its neighbours."""
    end = -math.inf
    for place, name in places:
        shown = fitted(name, _LONGEST_PLACE, _SMALL)
        half = text_width(shown, _SMALL) / 2
        if x(place) - half > end:
            yield place, shown
            end = x(place) + half + _SMALL / 2


def _level(rung: Rung, y: Axis, frame: Box) -> Iterator[Markup]:
    ends = [y(value) for value in (rung.low, rung.high, rung.value) if math.isfinite(value)]
    if not math.isfinite(rung.value):
        return
    yield rectangle(frame.left, min(ends), frame.right - frame.left, max(ends) - min(ends), "band")
    yield line(frame.left, y(rung.value), frame.right, y(rung.value), "real")
    above = min(ends) - frame.top > 16
    at = min(ends) - 5 if above else max(ends) + 13
    yield element("text", rung.name, x=frame.right - 4, y=at, text_anchor="end", class_="real-name")


def _band(trace: Trace, x: Axis, y: Axis) -> Markup:
    """The intervals of the points from one to the next."""
    ends = [(x(at), y(low), y(high)) for (at, _), (low, high) in zip(trace.points, trace.limits, strict=True)]
    corners = [*((at, high) for at, _, high in ends), *((at, low) for at, low, _ in reversed(ends))]
    points = " ".join(f"{at:.1f},{up:.1f}" for at, up in corners)
    return element("polygon", points=points, class_=f"fill spread-band k{trace.index % COLOURS}")


def _drawn(trace: Trace, x: Axis, y: Axis) -> Markup:
    pixels = [(x(a), y(b)) for a, b in trace.points if math.isfinite(a) and math.isfinite(b)]
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in pixels)
    marks = pixels if len(pixels) <= _MOST_MARKS else []
    return element(
        "g",
        element("title", trace.name),
        element("path", d=path, class_=f"bar curve k{trace.index % COLOURS}"),
        *(marker(trace.index, a, b, 4.0) for a, b in marks),
    )


def _star(spot: Spotted, x: Axis, y: Axis, frame: Box) -> Iterator[Markup]:
    """The star, and its name at the lower left: curves of optima fall to the right."""
    across, upright = x(spot.x), y(spot.y)
    at_right = across - frame.left < text_width(spot.name, _SMALL) + 14
    room = (frame.right - across if at_right else across - frame.left) - 12
    yield element("g", element("title", spot.name), marker(_STAR, across, upright, 6.5))
    if not spot.written:
        return
    yield element(
        "text",
        fitted(spot.name, room, _FONT),
        x=across + (10 if at_right else -10),
        y=upright + (14 if upright < frame.bottom - 20 else -8),
        text_anchor="start" if at_right else "end",
        class_="real-name",
    )


def _names(across: str, up: str, frame: Box) -> Iterator[Markup]:
    middle, centre = (frame.top + frame.bottom) / 2, (frame.left + frame.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", fitted(across, frame.right - frame.left, _FONT), x=centre, y=frame.bottom + 36, **style)
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    yield element("text", fitted(up, frame.bottom - frame.top, _FONT), transform=turned, **style)
