"""The layers of charts: one function per kind, which draws it on a canvas."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal

from markupsafe import Markup

from textassay.document.plot import (
    Area,
    Band,
    Bars,
    Cells,
    Disc,
    Discs,
    Dots,
    Ends,
    Layer,
    Line,
    Marks,
    Names,
    Point,
    Rule,
)  # fmt: skip
from textassay.report.axes import Axis
from textassay.report.canvas import SMALL, Canvas
from textassay.report.svg import (
    Box,
    colour_class,
    element,
    fitted,
    line,
    mark,
    path,
    plain,
    rectangle,
    stamps,
    text_width,
    words,
)

# Marks on a line with more points than this would hide it.
_MOST_MARKS = 24
# Pixels between the places of a line that labels should not cover.
_STEP = 4.0
# The angle at which piled points follow each other, and how far they are apart.
_GOLDEN, _APART = math.pi * (3 - math.sqrt(5)), 2.8
# The share of a chart that all discs together cover.
_COVERED = 0.16
# The darkest shade on which a text can be read.
_CELL_TEXT = 0.6


@dataclass(frozen=True)
class Label:
    """A text that wants a place: near a mark, centred where it is, or along a level line that ends there."""

    x: float
    y: float
    text: str
    candidate: int | None = None
    kind: Literal["mark", "centred", "line"] = "mark"


# What a layer is drawn as: elements, places that labels should not cover, and labels.
Piece = Markup | Box | Label


def _band(band: Band, canvas: Canvas) -> Iterator[Piece]:
    frame = canvas.frame
    across = band.axis == "x"
    scale = canvas.x if across else canvas.y
    known = [scale(value) for value in (band.low, band.high, band.value) if value is not None and math.isfinite(value)]
    if not known:
        return
    low, high = min(known), max(known)
    shape = (low, frame.top, high - low, frame.height) if across else (frame.left, low, frame.width, high - low)
    yield rectangle(*shape, "band")
    if band.value is not None and math.isfinite(band.value):
        at = scale(band.value)
        ends = (at, frame.top - 3.0, at, frame.bottom) if across else (frame.left, at, frame.right, at)
        yield line(*ends, "real-line")
        yield from _line_name(band.name, ends, canvas)


def _line_name(name: str, ends: tuple[float, float, float, float], canvas: Canvas) -> Iterator[Piece]:
    """The name at the end of a straight line: above the frame if it is upright, else near its right end."""
    x1, _, x2, y2 = ends
    if name and abs(x1 - x2) < 1.0:
        shown = fitted(name, 0.7 * canvas.width, SMALL)
        half = text_width(shown, SMALL) / 2
        middle = min(max(x2, half), canvas.width - half)
        yield words(shown, middle, canvas.frame.top - 6.0, "real-name", anchor="middle")
    elif name:
        yield Label(max(x1, x2), y2, name, kind="line")


def _rule(rule: Rule, canvas: Canvas) -> Iterator[Piece]:
    frame = canvas.frame
    (x1, y1), (x2, y2) = rule.start, rule.end
    if any(value is not None and not math.isfinite(value) for value in (x1, y1, x2, y2)):
        return
    ends = (
        frame.left if x1 is None else canvas.x(x1),
        frame.bottom if y1 is None else canvas.y(y1),
        frame.right if x2 is None else canvas.x(x2),
        frame.top if y2 is None else canvas.y(y2),
    )
    yield line(*ends, "rule dashed" if rule.dashed else "rule")
    yield from _line_name(rule.name, ends, canvas)


def _marks(layer: Marks, canvas: Canvas) -> Iterator[Piece]:
    for point in layer.points:
        if math.isfinite(point.x) and math.isfinite(point.y):
            yield from _point(point, canvas)


def _point(point: Point, canvas: Canvas) -> Iterator[Piece]:
    x, y = canvas.spot(point.x, point.y)
    (left, right), (top, bottom) = _pixels(point.x_ends, x, canvas.x), _pixels(point.y_ends, y, canvas.y)
    bar = f"bar {colour_class(point.candidate, point.tone)}"
    parts = [element("title", point.detail)] if point.detail else []
    parts += [line(left, y, right, y, bar)] if right > left else []
    parts += [line(x, top, x, bottom, bar)] if bottom > top else []
    parts.append(mark(point.candidate, x, y, tone=point.tone, is_open=point.open))
    at_end = bool(canvas.plot.y.names) and bool(point.label)
    if at_end:
        shown = fitted(point.label, canvas.width - canvas.frame.right - 6.0, SMALL)
        parts.append(words(shown, canvas.width - 1.0, y + 4.0, "value", anchor="end"))
    yield group(point.candidate, parts)
    yield Box(x - 7.0, y - 7.0, x + 7.0, y + 7.0)
    yield Box(left, y - 2.0, right, y + 2.0)
    yield Box(x - 2.0, top, x + 2.0, bottom)
    if point.label and not at_end:
        yield Label(x, y, point.label, point.candidate)


def group(candidate: int | None, parts: Sequence[Markup]) -> Markup:
    """Elements of one candidate, which a page can highlight."""
    return element("g", *parts, data_c=candidate)


def _pixels(ends: Ends | None, pixel: float, axis: Axis) -> tuple[float, float]:
    """The pixels of an interval's ends, the smaller one first; those of the value without it."""
    known = [axis(end) for end in ends or () if math.isfinite(end)]
    return min([pixel, *known]), max([pixel, *known])


def _dots(layer: Dots, canvas: Canvas) -> Iterator[Piece]:
    places = [canvas.spot(x, y) for x, y in layer.points if math.isfinite(x) and math.isfinite(y)]
    places = list(_piled(places)) if layer.piled else places
    title = [element("title", layer.name)] if layer.name else []
    yield group(layer.candidate, [*title, stamps(layer.candidate, layer.tone, places, 2.2)])


def _piled(places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Points that share a place side by side around it, like the seeds of a sunflower."""
    at: Counter[tuple[float, float]] = Counter()
    for x, y in places:
        turn, r = _GOLDEN * at[x, y], _APART * math.sqrt(at[x, y])
        at[x, y] += 1
        yield x + r * math.cos(turn), y + r * math.sin(turn)


def class_of(layer: Line | Area) -> str:
    return colour_class(layer.candidate, layer.tone)


def line_class(layer: Line) -> str:
    return f"{class_of(layer)}{' dashed' if layer.dashed else ''}"


def _curve(layer: Line, canvas: Canvas) -> Iterator[Piece]:
    runs = [list(run) for known, run in groupby(enumerate(layer.points), key=_is_known) if known]
    title = layer.detail or layer.name
    parts = [element("title", title)] if title else []
    for run in runs:
        spots = [canvas.spot(*point) for _, point in run]
        parts += _range(layer, [index for index, _ in run], canvas)
        parts.append(path(spots, f"curve {line_class(layer)}"))
        if layer.marked and len(layer.points) <= _MOST_MARKS:
            parts += [mark(layer.candidate, x, y, r=3.6, tone=layer.tone) for x, y in spots]
        yield from _along(spots)
    yield group(layer.candidate, parts)


def _is_known(numbered: tuple[int, tuple[float, float]]) -> bool:
    return all(map(math.isfinite, numbered[1]))


def _range(layer: Line, indexes: Sequence[int], canvas: Canvas) -> Iterator[Markup]:
    """The band of the intervals along a curve."""
    pairs = [(layer.points[i][0], layer.ends[i]) for i in indexes if i < len(layer.ends)]
    known = [(x, ends) for x, ends in pairs if ends is not None and all(map(math.isfinite, ends))]
    if len(known) > 1:
        there = [canvas.spot(x, high) for x, (_, high) in known]
        back = [canvas.spot(x, low) for x, (low, _) in reversed(known)]
        yield path([*there, *back], f"spread-band {class_of(layer)}", closed=True)


def _along(spots: Sequence[tuple[float, float]]) -> Iterator[Box]:
    """What a line covers, in steps of a few pixels."""
    for (left, top), (right, bottom) in pairwise(spots[: 4 * _MOST_MARKS]):
        steps = max(1, round(math.hypot(right - left, bottom - top) / _STEP))
        for step in range(steps):
            x, y = left + (right - left) * step / steps, top + (bottom - top) * step / steps
            yield Box(x - 2.0, y - 2.0, x + 2.0, y + 2.0)


def _area(layer: Area, canvas: Canvas) -> Iterator[Piece]:
    corners = [canvas.spot(x, y) for x, y in layer.corners if math.isfinite(x) and math.isfinite(y)]
    if len(corners) > 2:
        title = [element("title", layer.name)] if layer.name else []
        yield element("g", *title, path(corners, f"area {class_of(layer)}", closed=True))


def _bars(layer: Bars, canvas: Canvas) -> Iterator[Piece]:
    lying = bool(canvas.plot.y.names)
    along, across = (canvas.x, canvas.y) if lying else (canvas.y, canvas.x)
    thick = 0.62 * abs(across(1.0) - across(0.0)) if len(layer.values) > 1 else min(26.0, 0.62 * canvas.frame.height)
    for index, pieces in enumerate(layer.values):
        middle, ends = across(float(index)), [along.zero]
        candidate = layer.candidates[index] if index < len(layer.candidates) else None
        parts: list[Markup] = []
        for start, end, piece in _stacked(pieces):
            tone = layer.tones[piece] if piece < len(layer.tones) else ""
            class_ = f"fill {colour_class(None if tone else candidate, tone)}"
            low, high = sorted((along(start), along(end)))
            shape = (
                (low, middle - thick / 2, high - low, thick) if lying else (middle - thick / 2, low, thick, high - low)
            )
            parts.append(rectangle(*shape, class_))
            ends += [low, high]
        yield group(candidate, parts)
        text = layer.texts[index] if index < len(layer.texts) else ""
        yield from _bar_text(text, middle, ends, pieces, canvas, lying=lying)


def _stacked(pieces: Sequence[float]) -> Iterator[tuple[float, float, int]]:
    """The start and the end of each piece, added up on its side of zero."""
    up = down = 0.0
    for place, value in enumerate(pieces):
        if not math.isfinite(value) or value == 0:
            continue
        start = up if value > 0 else down
        yield start, start + value, place
        up, down = (up + value, down) if value > 0 else (up, down + value)


def _bar_text(
    text: str, middle: float, ends: Sequence[float], pieces: Sequence[float], canvas: Canvas, *, lying: bool
) -> Iterator[Markup]:
    if not text:
        return
    if not lying:
        yield words(text, middle, min(ends) - 5.0, "value", anchor="middle")
        return
    width = text_width(text, SMALL)
    is_left = sum(pieces) < 0 and min(ends) - width - 5.0 > canvas.frame.left
    at = min(ends) - 5.0 if is_left else min(max(ends) + 5.0, canvas.width - width)
    yield words(text, at, middle + 4.0, "value", anchor="end" if is_left else "start")


def _cells(layer: Cells, canvas: Canvas) -> Iterator[Piece]:
    if layer.x_edges or layer.y_edges:
        yield from _fields(layer, canvas)
        return
    wide = abs(canvas.x(1.0) - canvas.x(0.0)) if len(canvas.plot.x.names) > 1 else canvas.frame.width
    high = abs(canvas.y(1.0) - canvas.y(0.0)) if len(canvas.plot.y.names) > 1 else canvas.frame.height
    for down, row in enumerate(layer.shades):
        for across, shade in enumerate(row):
            if shade is not None and math.isfinite(shade):
                text = layer.texts[down][across] if layer.texts else ""
                yield _cell(shade, text, canvas.spot(float(across), float(down)), (wide, high))


def _cell(shade: float, text: str, middle: tuple[float, float], size: tuple[float, float]) -> Markup:
    (x, y), (wide, high) = middle, size
    box = rectangle(
        x - wide / 2 + 0.5, y - high / 2 + 0.5, wide - 1, high - 1, _heat(shade), fill_opacity=_opacity(shade)
    )
    lines = text.split("\n") if text else []
    if any(text_width(each, SMALL) > wide - 2.0 for each in lines):
        return element("g", element("title", text.replace("\n", " ")), box)
    first = y + 4.0 - 7.0 * (len(lines) - 1)
    texts = [
        words(each, x, first + 14.0 * at, "cell-small" if at else "cell", anchor="middle")
        for at, each in enumerate(lines)
    ]
    return element("g", box, *texts)


def _heat(shade: float) -> str:
    return "heat" if shade >= 0 else "cool"


def _opacity(shade: float) -> str:
    # No darker than a text in the cell can be read on.
    return f"{_CELL_TEXT * min(abs(shade), 1.0):.2f}"


def _fields(layer: Cells, canvas: Canvas) -> Iterator[Piece]:
    """Cells between edges: one path per shade, because there may be thousands."""
    paths: dict[float, list[str]] = {}
    for down, row in enumerate(layer.shades):
        top, bottom = sorted((canvas.y(layer.y_edges[down]), canvas.y(layer.y_edges[down + 1])))
        shades = [None if s is None or not math.isfinite(s) else round(s, 1) for s in row]
        for shade, run in groupby(enumerate(shades), key=lambda cell: cell[1]):
            if shade:
                indexes = [index for index, _ in run]
                left, right = canvas.x(layer.x_edges[indexes[0]]), canvas.x(layer.x_edges[indexes[-1] + 1])
                d = f"M{plain(left)} {plain(top)}H{plain(right)}V{plain(bottom)}H{plain(left)}Z"
                paths.setdefault(shade, []).append(d)
    for shade, pieces in paths.items():
        yield element("path", d="".join(pieces), class_=_heat(shade), fill_opacity=_opacity(shade))


def _discs(layer: Discs, canvas: Canvas) -> Iterator[Piece]:
    whole = _COVERED * canvas.frame.area
    for disc in sorted(layer.discs, key=lambda disc: -max(disc.part, disc.wanted)):
        if math.isfinite(disc.x) and math.isfinite(disc.y):
            yield from _disc(disc, whole, canvas)


def _disc(disc: Disc, whole: float, canvas: Canvas) -> Iterator[Piece]:
    x, y = canvas.spot(disc.x, disc.y)
    have, wanted = (math.sqrt(max(part, 0.0) * whole / math.pi) for part in (disc.part, disc.wanted))
    parts = [element("title", disc.detail)] if disc.detail else []
    parts += [
        element("circle", cx=x, cy=y, r=have, class_="disc"),
        element("circle", cx=x, cy=y, r=have, class_="have"),
    ]
    parts.append(element("circle", cx=x, cy=y, r=wanted, class_="wanted"))
    if disc.number is not None:
        badge = element("circle", cx=x, cy=y, r=8.0, class_="number-disc")
        parts += [badge, words(str(disc.number), x, y + 3.8, "number", anchor="middle")]
        yield Box(x - 9.0, y - 9.0, x + 9.0, y + 9.0)
    yield element("g", *parts, class_=colour_class(None, disc.tone))
    if disc.label:
        yield Label(x, y, disc.label)


def _names(layer: Names, canvas: Canvas) -> Iterator[Piece]:
    for x, y, text in layer.places:
        if math.isfinite(x) and math.isfinite(y):
            yield Label(*canvas.spot(x, y), text, kind="centred")


DRAWN: Mapping[type[Layer], Callable[[Any, Canvas], Iterator[Piece]]] = {
    Band: _band, Rule: _rule, Marks: _marks, Dots: _dots, Discs: _discs, Line: _curve, Area: _area, Bars: _bars,
    Cells: _cells, Names: _names,
}  # fmt: skip
