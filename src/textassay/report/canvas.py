"""The canvas of a chart: its size, its margins, its axes and their names."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.document.plot import (
    Area,
    Band,
    Bars,
    Cells,
    Discs,
    Dots,
    Layer,
    Line,
    Marks,
    Names,
    Plot,
    Point,
    Rule,
    Scale,
)
from textassay.report.axes import Axis, alike, axis_of
from textassay.report.names import short_names
from textassay.report.svg import Box, element, fitted, line, text_width, words, wrapped

FONT, SMALL = 12.0, 11.0
# The height of a line of text, and of a row of names.
LINE, _ROW, _CELL_ROW, _LEAST_ROW = 15.0, 23.0, 28.0, 18.0
_WIDEST_CELL = 76.0
_TITLE_GAP = 20.0


@dataclass(frozen=True)
class Form:
    """A size to draw at; the height of charts with rows of names follows from these."""

    name: str
    width: float
    height: float

    @property
    def is_narrow(self) -> bool:
        """Whether it is for a phone or a card."""
        return self.width < 400


STRIP, SMALL_FORM = Form("strip", 360.0, 60.0), Form("small", 360.0, 260.0)
WIDE, NARROW = Form("wide", 760.0, 440.0), Form("narrow", 360.0, 350.0)
PICTURE, PICTURE_NARROW = Form("picture", 400.0, 310.0), Form("picture-narrow", 360.0, 270.0)


def forms_of(plot: Plot, *, is_picture: bool = False) -> tuple[Form, ...]:
    """The sizes at which a page has this plot: one, or one for wide and one for narrow screens."""
    if is_picture:
        return PICTURE, PICTURE_NARROW
    if plot.size == "large":
        return WIDE, NARROW
    return (STRIP if plot.size == "strip" else SMALL_FORM,)


@dataclass(frozen=True)
class Canvas:
    """The axes, the frame of the data, and the whole width of a drawing."""

    x: Axis
    y: Axis
    frame: Box
    width: float
    height: float
    plot: Plot
    form: Form

    def spot(self, x: float, y: float) -> tuple[float, float]:
        """The pixels of a place."""
        return self.x(x), self.y(y)


def canvas_of(plot: Plot, form: Form) -> Canvas:
    xs, ys = _reach(plot, 0), _reach(plot, 1)
    rows = len(plot.y.names)
    top = 6.0 + (_TITLE_GAP if _title_of(plot.y, upwards=True) else 0.0) + (17.0 if _named_above(plot) else 0.0)
    right = _right_margin(plot, form)
    left = _left_margin(plot, ys, form, top)
    width, frame_right = _width(plot, form, left, right)
    bottom = _bottom_margin(plot, (frame_right - left) / max(len(plot.x.names), 1))
    height = top + rows * _row_height(plot) + bottom if rows else form.height
    frame = Box(left, top, frame_right, height - bottom)
    about = 4 if form.is_narrow else 5
    x = axis_of(plot.x, xs, frame.left, frame.right, about=about)
    y = axis_of(plot.y, ys, *((frame.top, frame.bottom) if rows else (frame.bottom, frame.top)), about=about)
    x, y = alike(x, y) if plot.square else (x, y)
    return Canvas(x, y, frame, width, height, plot, form)


def _width(plot: Plot, form: Form, left: float, right: float) -> tuple[float, float]:
    """The whole width and the right end of the frame; cells are never wider than a number needs."""
    most = left + _WIDEST_CELL * len(plot.x.names) if plot.x.names and has_cells(plot) else math.inf
    end = min(form.width - right, most)
    title = text_width(_title_of(plot.x), FONT) + left if most < math.inf else 0.0
    return (min(form.width, max(end + right, title)) if end == most else form.width), end


def _row_height(plot: Plot) -> float:
    rows, usual = len(plot.y.names), _CELL_ROW if has_cells(plot) else _ROW
    lines = max((text.count("\n") + 1 for layer in plot.layers for text in _cell_texts(layer)), default=1)
    return max(usual + LINE * (lines - 1) - (4.0 if rows > 20 else 0.0), _LEAST_ROW)


def _cell_texts(layer: Layer) -> Iterator[str]:
    yield from (text for row in layer.texts for text in row) if isinstance(layer, Cells) else ()


def has_cells(plot: Plot) -> bool:
    return any(isinstance(layer, Cells) for layer in plot.layers)


def _named_above(plot: Plot) -> bool:
    """Whether a name stands above the frame: that of a vertical band or line."""
    return any(
        bool(layer.name) and (layer.axis == "x" if isinstance(layer, Band) else _is_upright(layer))
        for layer in plot.layers
        if isinstance(layer, Band | Rule)
    )


def _is_upright(rule: Rule) -> bool:
    return rule.start[0] is not None and rule.start[0] == rule.end[0]


def _row_labels(plot: Plot) -> list[tuple[int, str]]:
    """The number at the end of each row of an axis of names."""
    points = [point for layer in plot.layers if isinstance(layer, Marks) for point in layer.points]
    return [(round(point.y), point.label) for point in points if point.label and math.isfinite(point.y)]


def _right_margin(plot: Plot, form: Form) -> float:
    if not plot.y.names:
        return 10.0 + (10.0 if plot.x.names else 0.0)
    widest = max((text_width(text, SMALL) for _, text in _row_labels(plot)), default=0.0)
    return min(widest + 14.0 if widest else 8.0, 0.4 * form.width)


def _left_margin(plot: Plot, ys: Sequence[float], form: Form, top: float) -> float:
    if plot.y.names:
        widest = max((text_width(name, FONT) for name in _short(plot.y.names)), default=0.0)
        return min(widest + 10.0 if widest else 8.0, (0.3 if form.is_narrow else 0.32) * form.width)
    ticks = axis_of(plot.y, ys, form.height - 40.0, top).ticks
    return 8.0 + max((text_width(tick.text, SMALL) for tick in ticks), default=0.0) + (4.0 if ticks else 0.0)


def _short(names: Sequence[str]) -> list[str]:
    """The names of an axis, without their common beginning where they are long."""
    return short_names(names) if any(len(name) > 14 for name in names) else list(names)


def _bottom_margin(plot: Plot, room: float) -> float:
    title = 20.0 if _title_of(plot.x) else 0.0
    if plot.x.names:
        lines, turned = _column_names(plot.x.names, room)
        longest = max((text_width(each, SMALL) for name in lines for each in name), default=0.0)
        return title + 6.0 + (0.8 * longest + 8.0 if turned else LINE * max(map(len, lines)))
    return title + (22.0 if plot.x.ticks is None or plot.x.ticks else 4.0)


def _column_names(names: Sequence[str], room: float) -> tuple[list[list[str]], bool]:
    """The names below columns of this width in at most two lines each, or turned if one of them does not fit."""
    short = _short(names)
    lines = [wrapped(name, room - 6.0, SMALL, 2) for name in short]
    if any(each is None for each in lines):
        return [[fitted(name, 110.0, SMALL)] for name in short], True
    return [each or [""] for each in lines], False


def _title_of(scale: Scale, *, upwards: bool = False) -> str:
    """The title of an axis with an arrow towards what is better; that of an upright axis is written above it."""
    if upwards and ("←" in scale.title or "→" in scale.title):
        return scale.title.translate({ord("←"): "↓", ord("→"): "↑"})
    if not scale.title or scale.better not in ("higher", "lower"):
        return scale.title
    is_forward = (scale.better == "higher") is not scale.reversed
    if upwards:
        return f"{'↑' if is_forward else '↓'} {scale.title}"
    return f"{scale.title} →" if is_forward else f"← {scale.title}"


def axes(canvas: Canvas) -> Iterator[Markup]:
    frame, plot = canvas.frame, canvas.plot
    x_title, y_title = _title_of(plot.x), _title_of(plot.y, upwards=True)
    x_title, y_title = (
        f"{title}, stretched" if title and axis.bend else title
        for title, axis in ((x_title, canvas.x), (y_title, canvas.y))
    )
    if y_title:
        yield words(fitted(y_title, canvas.width - 4.0, FONT), 0.0, 13.0, "axis-name")
    if x_title:
        # Below the frame, or where that is too narrow for it, below the whole chart.
        width = text_width(x_title, FONT)
        middle = min((frame.left + frame.right) / 2, canvas.width - width / 2)
        middle = max(middle, min(width, canvas.width) / 2)
        shown = fitted(x_title, canvas.width - 4.0, FONT)
        yield words(shown, middle, canvas.height - 5.0, "axis-name", anchor="middle")
    yield from _x_ticks(canvas)
    yield from _y_ticks(canvas)


def _x_ticks(canvas: Canvas) -> Iterator[Markup]:
    frame, plot = canvas.frame, canvas.plot
    if plot.x.names:
        lines, turned = _column_names(plot.x.names, frame.width / len(plot.x.names))
        for index, name in enumerate(lines):
            yield from _column_name(canvas.x(index), frame.bottom, name, turned=turned)
        return
    for tick in canvas.x.legible(SMALL):
        place = canvas.x(tick.value)
        yield line(place, frame.top, place, frame.bottom, "grid")
        shown = fitted(tick.text, 120.0, SMALL)
        half = text_width(shown, SMALL) / 2
        middle = min(max(place, half), canvas.width - half)
        yield words(shown, middle, frame.bottom + 15.0, "tick", anchor="middle")


def _column_name(x: float, bottom: float, lines: Sequence[str], *, turned: bool) -> Iterator[Markup]:
    if turned:
        yield words(lines[0], x + 4.0, bottom + 12.0, "tick", anchor="end", turned=-50.0)
        return
    for place, each in enumerate(lines):
        yield words(each, x, bottom + 14.0 + LINE * place, "tick", anchor="middle")


def _y_ticks(canvas: Canvas) -> Iterator[Markup]:
    frame, plot = canvas.frame, canvas.plot
    if plot.y.names:
        shown = [fitted(name, frame.left - 8.0, FONT) for name in _short(plot.y.names)]
        for index, (name, whole) in enumerate(zip(shown, plot.y.names, strict=True)):
            title = element("title", whole) if name != whole else Markup("")
            label = element("text", name, title, x=0.0, y=canvas.y(index) + 4.0, class_="name")
            yield label
        return
    for tick in canvas.y.ticks:
        place = canvas.y(tick.value)
        yield line(frame.left, place, frame.right, place, "grid")
        yield words(tick.text, frame.left - 6.0, place + 4.0, "tick", anchor="end")


# What the layers cover on each axis: 0 is x, 1 is y.


def _reach(plot: Plot, axis: int) -> list[float]:
    values = [value for layer in plot.layers for value in _values(layer, axis) if value is not None]
    found = [value for value in values if math.isfinite(value)]
    if found and any(isinstance(layer, Discs) for layer in plot.layers):
        air = 0.12 * (max(found) - min(found))
        found += [min(found) - air, max(found) + air]
    return found


def _values(layer: Layer, axis: int) -> Iterable[float | None]:
    match layer:
        case Band():
            return (layer.low, layer.high, layer.value) if layer.axis == "xy"[axis] else ()
        case Rule():
            return layer.start[axis], layer.end[axis]
        case Marks():
            return [value for point in layer.points for value in _point_values(point, axis)]
        case Dots():
            return [place[axis] for place in layer.points]
        case Discs():
            return [(disc.x, disc.y)[axis] for disc in layer.discs]
        case Line():
            places = [place[axis] for place in layer.points]
            return [*places, *(end for each in layer.ends if each for end in each)] if axis else places
        case Area():
            return [place[axis] for place in layer.corners]
        case Bars():
            sums = [sum(v for v in bar if v * sign > 0) for bar in layer.values for sign in (-1, 1)]
            return [0.0, *sums]
        case Cells():
            return layer.y_edges if axis else layer.x_edges
        case Names():
            return [(x, y)[axis] for x, y, _ in layer.places]


def _point_values(point: Point, axis: int) -> Iterator[float]:
    yield (point.x, point.y)[axis]
    yield from (point.x_ends, point.y_ends)[axis] or ()
