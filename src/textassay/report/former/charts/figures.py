"""Figures of reproductions: heat maps, panels of curves and matrices of correlations, as one SVG file."""

import math
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from textassay.document.words import number, plus_minus
from textassay.errors import InputError
from textassay.report.former.charts.label_placement import Spot, place_labels
from textassay.report.former.charts.svg import (
    COLOURS,
    Axis,
    Box,
    as_file,
    axis,
    drawing,
    element,
    fitted,
    legible,
    line,
    marker,
    rectangle,
    text_width,
)
from textassay.reproduce.result import Cell, Grid, Line, Matrix, Panel, Reproduction, Steps

# Colours from worst to best, each with a readable text colour; they stay the same on light and dark pages.
_ANCHORS = ((16, 33, 66), (32, 92, 140), (112, 166, 196), (240, 246, 250))
STEPS = 24
_LIGHTER = "lighter is better"
_CELL, _ROW, _MAP_LEFT, _MAP_TOP, _MAP_GAP = 68.0, 46.0, 60.0, 46.0, 58.0
_MAP_SURROUNDINGS = Markup("""
svg { --page: #ffffff; --ink: #1b1f24; --quiet: #565e67; }
@media (prefers-color-scheme: dark) { svg { --page: #1b1f23; --ink: #e6e8ea; --quiet: #a7aeb6; } }
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--ink); }
.page { fill: var(--page); }
.name { font-size: 15px; font-weight: 650; }
.tick, .axis { fill: var(--quiet); font-size: 12px; }
.half { font-size: 10.5px; }
""")
_STEP = Markup(".s{0} {{ fill: {1}; }} .i{0} {{ fill: {2}; }}\n")


def colour(share: float) -> tuple[str, str]:
    """Fill and ink at a share of the way from worst to best.

    >>> colour(0.0), colour(1.0)
    (('#102142', '#ffffff'), ('#f0f6fa', '#000000'))
    """
    place = min(max(share, 0.0), 1.0) * (len(_ANCHORS) - 1)
    first = min(int(place), len(_ANCHORS) - 2)
    low, high = _ANCHORS[first], _ANCHORS[first + 1]
    red, green, blue = (round(a + (place - first) * (b - a)) for a, b in zip(low, high, strict=True))
    return shade((red, green, blue))


def shade(rgb: tuple[int, int, int]) -> tuple[str, str]:
    """A colour as fill, and black or white as the ink with more contrast on it."""
    light = luminance(rgb)
    ink = "#ffffff" if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else "#000000"
    red, green, blue = rgb
    return f"#{red:02x}{green:02x}{blue:02x}", ink


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance of a colour, as contrast is measured by."""
    shares = [channel / 255 for channel in rgb]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def heat_maps(grids: Sequence[Grid], *, title: str, summary: str) -> str:
    """All grids below each other, each on its own scale of colours: a complete SVG file."""
    width = _MAP_LEFT + max(_width(grid) for grid in grids) + 16
    parts: list[Markup] = []
    top = 12.0
    for grid in grids:
        parts.append(element("g", *_grid(grid), transform=f"translate(0 {top:g})"))
        top += _MAP_TOP + _ROW * len(grid.down.values) + _MAP_GAP
    page = [element("style", _styles()), rectangle(0.0, 0.0, width, top, "page")]
    picture = drawing(*page, *parts, width=width, height=top, key="heat", title=title, summary=summary)
    return as_file(picture, width=width, height=top)


def _width(grid: Grid) -> float:
    """What a grid needs to the right of its ticks."""
    head = text_width(_named(grid.down) + _LIGHTER, 12.0) + 24
    return math.ceil(max(_CELL * len(grid.across.values), text_width(grid.title, 15.0), head))


def _styles() -> Markup:
    shades = (colour(step / (STEPS - 1)) for step in range(STEPS))
    return _MAP_SURROUNDINGS + Markup("").join(_STEP.format(step, *shade) for step, shade in enumerate(shades))


def _grid(grid: Grid) -> Iterable[Markup]:
    """The first row at the bottom, as on an axis."""
    bottom = _MAP_TOP + _ROW * len(grid.down.values)
    middle = _MAP_LEFT + _CELL * len(grid.across.values) / 2
    yield element("text", grid.title, x=_MAP_LEFT, y=16.0, class_="name")
    yield element("text", _named(grid.down), x=_MAP_LEFT, y=36.0, class_="axis")
    yield element("text", _LIGHTER, x=_MAP_LEFT + _width(grid), y=36.0, text_anchor="end", class_="axis")
    for place, (row, cells) in enumerate(zip(grid.down.values, grid.cells, strict=True)):
        y = bottom - _ROW * (place + 1)
        yield element("text", str(row), x=_MAP_LEFT - 10, y=y + _ROW / 2 + 4, text_anchor="end", class_="tick")
        for at, cell in enumerate(cells):
            yield from _cell(cell, _MAP_LEFT + _CELL * at, y, _step(grid, cell.estimate))
    for at, column in enumerate(grid.across.values):
        x = _MAP_LEFT + _CELL * (at + 0.5)
        yield element("text", str(column), x=x, y=bottom + 17, text_anchor="middle", class_="tick")
    yield element("text", _named(grid.across), x=middle, y=bottom + 36, text_anchor="middle", class_="axis")


def _named(steps: Steps) -> str:
    return f"{steps.what} ({steps.symbol})"


def _step(grid: Grid, value: float) -> int:
    """Which of the steps of colour a value has; in a grid that is all the same, the best."""
    low, high = grid.extremes
    worst, best = (high, low) if grid.better == "lower" else (low, high)
    return round((value - worst) / (best - worst) * (STEPS - 1)) if best != worst else STEPS - 1


def _cell(cell: Cell, x: float, y: float, step: int) -> Iterable[Markup]:
    middle = x + _CELL / 2
    yield rectangle(x + 1, y + 1, _CELL - 2, _ROW - 2, f"s{step}")
    if cell.interval is None:
        yield element(
            "text", number(cell.estimate), x=middle, y=y + _ROW / 2 + 5, text_anchor="middle", class_=f"i{step}"
        )
        return
    half = f"±{plus_minus((cell.interval.high - cell.interval.low) / 2)}"
    yield element("text", number(cell.estimate), x=middle, y=y + 21, text_anchor="middle", class_=f"i{step}")
    yield element("text", half, x=middle, y=y + 36, text_anchor="middle", class_=f"half i{step}")


_WIDE, _TALL = 350.0, 260.0
_AXIS_NAME, _TOP, _PANEL_TOP, _BOTTOM = 36.0, 64.0, 22.0, 60.0
_IN_A_ROW = 2
_PANEL_FONT, _PANEL_SMALL, _LEGEND_ROW = 13.0, 12.0, 22.0
_STAR, _STAR_SIZE = 6, 7.0
_MOST_MARKS = 24
_COLOUR = Markup(".curve.k{0} {{ stroke: var(--k{0}); }} .band.k{0}, .mark.k{0}, .area.k{0} {{ fill: var(--k{0}); }}\n")
_PANEL_SURROUNDINGS = Markup("""
svg { --page: #ffffff; --ink: #1b1f24; --quiet: #565e67; --rule: #d7dce1;
  --k0: #0072b2; --k1: #d55e00; --k2: #00855f; --k3: #b5478d; --k4: #9a6a00; --k5: #5b4fc4; --k6: #3f7f94; }
@media (prefers-color-scheme: dark) {
  svg { --page: #1b1f23; --ink: #e6e8ea; --quiet: #a7aeb6; --rule: #3a4148;
    --k0: #56b4e9; --k1: #ff9d57; --k2: #3cc79d; --k3: #ee8fc4; --k4: #e0b400; --k5: #a79bff; --k6: #86c7d9; }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--ink); }
.page { fill: var(--page); } .name { font-size: 15px; font-weight: 650; } .tick, .axis { fill: var(--quiet); }
.tick, .point-name { font-size: 12px; } .rule { stroke: var(--rule); } .leader { stroke: var(--quiet); }
.dashed { stroke: var(--quiet); stroke-dasharray: 4 4; } .curve { fill: none; stroke-width: 2; }
.band { opacity: 0.18; } .area { opacity: 0.16; }
""") + Markup("").join(
    Markup(
        ".curve.k{0} {{ stroke: var(--k{0}); }} .band.k{0}, .mark.k{0}, .area.k{0} {{ fill: var(--k{0}); }}\n"
    ).format(at)
    for at in range(COLOURS)
)


def curve_panels(panels: Sequence[Panel], *, title: str, summary: str) -> str:
    """The panels, two in a row, below one legend of all curves and areas."""
    curves = [each.name for panel in panels for each in panel.lines]
    names = list(dict.fromkeys([*curves, *(area.name for panel in panels for area in panel.areas)]))
    columns = min(len(panels), _IN_A_ROW)
    axes = [axis(_heights(panel, panels), _TALL, 0.0, about=5) for panel in panels]
    margin = _AXIS_NAME + max(text_width(f"{tick:g}", _PANEL_SMALL) for up in axes for tick in (*up.ticks, 0.0))
    width = max(columns * (margin + _WIDE) + 16, 1.1 * text_width(title, 15.0) + 28)
    legend, legend_rows = _legend(names, width, shaded=set(names) - set(curves))
    top = _TOP + _LEGEND_ROW * (legend_rows - 1)
    row_height = _PANEL_TOP + _TALL + _BOTTOM
    height = top + row_height * math.ceil(len(panels) / columns)
    body: list[Markup] = []
    for place, panel in enumerate(panels):
        left = margin + place % columns * (margin + _WIDE)
        upper = top + row_height * (place // columns) + _PANEL_TOP
        frame = Box(left, upper, left + _WIDE, upper + _TALL)
        body += _panel(panel, frame, _heights(panel, panels), names, margin)
    picture = drawing(
        element("style", _PANEL_SURROUNDINGS),
        rectangle(0.0, 0.0, width, height, "page"),
        element("text", fitted(title, width - 2 * 14, 15.0), x=14.0, y=22.0, class_="name"),
        *legend,
        *body,
        width=width,
        height=height,
        key="curves",
        title=title,
        summary=summary,
    )
    return as_file(picture, width=width, height=height)


def _legend(names: Sequence[str], width: float, shaded: set[str]) -> tuple[list[Markup], int]:
    """The marks with their names, in as many rows as they need; shaded areas have a patch."""
    parts: list[Markup] = []
    x, y, rows = 20.0, 43.0, 1
    for place, name in enumerate(names):
        room = text_width(name, _PANEL_FONT) + 36
        if x > 20 and x + room > width:
            x, y, rows = 20.0, y + _LEGEND_ROW, rows + 1
        patch = rectangle(x - 6, y - 10, 12.0, 12.0, f"area k{place % COLOURS}")
        mark = patch if name in shaded else marker(place, x, y - 4, 4.5)
        parts += [mark, element("text", name, x=x + 10, y=y)]
        x += room
    return parts, rows


def _heights(panel: Panel, panels: Sequence[Panel]) -> list[float]:
    """What the vertical axis must cover: also the other panels of this quantity if the panel has limits."""
    alike = [each for each in panels if each.limits and each.up == panel.up] if panel.limits else [panel]
    curves = [v for each in alike for line in each.lines for p in line.points for v in (p.low, p.mean, p.high)]
    corners = [y for each in alike for area in each.areas for _, y in area.corners]
    points = [point.y for each in alike for point in each.points]
    return [*(panel.limits or ()), *corners, *points, *(value for value in curves if value is not None)]


def _places(panel: Panel) -> list[float]:
    curves = [point.x for each in panel.lines for point in each.points]
    corners = [x for area in panel.areas for x, _ in area.corners]
    return sorted({*curves, *corners, *(point.x for point in panel.points)})


def _panel(panel: Panel, frame: Box, heights: Sequence[float], names: Sequence[str], margin: float) -> Iterator[Markup]:
    up, across = axis(heights, frame.bottom, frame.top, about=5), axis(_places(panel), frame.left, frame.right, about=5)
    yield element("text", fitted(panel.title, _WIDE, _PANEL_FONT), x=frame.left, y=frame.top - 9)
    for area in panel.areas:
        corners = _points([(across(x), up(y)) for x, y in area.corners])
        yield element("polygon", points=corners, class_=f"area k{names.index(area.name) % COLOURS}")
    for tick in up.ticks:
        yield line(frame.left, up(tick), frame.right, up(tick), "rule")
        yield element("text", f"{tick:g}", x=frame.left - 6, y=up(tick) + 4, class_="tick", text_anchor="end")
    for tick in legible(across, _PANEL_SMALL):
        yield element("text", f"{tick:g}", x=across(tick), y=frame.bottom + 18, class_="tick", text_anchor="middle")
    yield from _axis_names(panel, frame, margin)
    for (x1, y1), (x2, y2) in panel.dashed:
        yield line(across(x1), up(y1), across(x2), up(y2), "dashed")
    for each in panel.lines:
        if any(point.low is not None for point in each.points):
            yield _band(names.index(each.name), each, across, up)
    for each in panel.lines:
        yield from _curve(names.index(each.name), each, across, up)
    yield from _named_points(panel, across, up, frame)


def _axis_names(panel: Panel, frame: Box, margin: float) -> Iterator[Markup]:
    middle = (frame.left + frame.right) / 2
    across = fitted(panel.across, _WIDE, _PANEL_FONT)
    yield element("text", across, x=middle, y=frame.bottom + 38, class_="axis", text_anchor="middle")
    turned = f"translate({frame.left - margin + 18:.0f} {(frame.top + frame.bottom) / 2:.0f}) rotate(-90)"
    yield element(
        "text", fitted(panel.up, _TALL + 30, _PANEL_FONT), transform=turned, class_="axis", text_anchor="middle"
    )


def _band(place: int, each: Line, across: Axis, up: Axis) -> Markup:
    known = [point for point in each.points if point.low is not None and point.high is not None]
    there = [(across(point.x), up(point.high)) for point in known if point.high is not None]
    back = [(across(point.x), up(point.low)) for point in reversed(known) if point.low is not None]
    return element("polygon", points=_points([*there, *back]), class_=f"band k{place % COLOURS}")


def _curve(place: int, each: Line, across: Axis, up: Axis) -> Iterator[Markup]:
    pixels = [(across(point.x), up(point.mean)) for point in each.points]
    if each.joined:
        yield element("polyline", points=_points(pixels), class_=f"curve k{place % COLOURS}")
    if not each.joined or len(pixels) <= _MOST_MARKS:
        yield from (marker(place, x, y, 3.5) for x, y in pixels)


def _named_points(panel: Panel, across: Axis, up: Axis, frame: Box) -> Iterator[Markup]:
    """Stars with their names, which cover neither each other nor the curves if there is room."""
    names = [fitted(point.name, 170.0, _PANEL_SMALL) for point in panel.points]
    spots = [
        Spot(across(point.x), up(point.y), text_width(name, _PANEL_SMALL), 15.0)
        for point, name in zip(panel.points, names, strict=True)
    ]
    curves = [(across(point.x), up(point.mean)) for each in panel.lines for point in each.points]
    covered = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in [*curves, *((spot.x, spot.y) for spot in spots)]]
    for name, spot, place in zip(names, spots, place_labels(spots, covered, frame), strict=True):
        star = marker(_STAR, spot.x, spot.y, _STAR_SIZE)
        yield element("g", element("title", name), star, style="--k6: var(--ink)")
        if place:
            yield element("text", name, x=place.box.left, y=place.box.bottom - 3, class_="point-name")
            if place.leader:
                x, y = (
                    min(max(spot.x, place.box.left), place.box.right),
                    min(max(spot.y, place.box.top), place.box.bottom),
                )
                yield line(spot.x, spot.y, x, y, "leader")


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


_SQUARE, _MATRIX_LABEL = 44.0, 110.0
# Disagreement, none, and agreement.
_ENDS = ((178, 84, 28), (246, 246, 246), (31, 111, 178))


def diverging(value: float) -> tuple[str, str]:
    """Fill and ink of a correlation.

    >>> diverging(0.0), diverging(1.0)
    (('#f6f6f6', '#000000'), ('#1f6fb2', '#ffffff'))
    """
    low, middle, high = _ENDS
    end = high if value >= 0 else low
    red, green, blue = (round(m + min(abs(value), 1.0) * (e - m)) for m, e in zip(middle, end, strict=True))
    return shade((red, green, blue))


def matrix_squares(matrix: Matrix, *, title: str, summary: str) -> str:
    """The correlations as coloured squares with their numbers."""
    size = _SQUARE * len(matrix.names)
    width, height = _MATRIX_LABEL + size + 12, 40 + size + _MATRIX_LABEL
    parts: list[Markup] = []
    for down, (name, row) in enumerate(zip(matrix.names, matrix.values, strict=True)):
        middle = _SQUARE * (down + 0.5)
        short = fitted(name, _MATRIX_LABEL - 12, _PANEL_SMALL)
        parts.append(element("text", short, x=_MATRIX_LABEL - 8, y=44 + middle, text_anchor="end", class_="tick"))
        turned = f"translate({_MATRIX_LABEL + middle + 4:.0f} {48 + size:.0f}) rotate(-90)"
        parts.append(element("text", short, transform=turned, text_anchor="end", class_="tick"))
        parts += [
            part
            for across, value in enumerate(row)
            if value is not None
            for part in _square(value, _MATRIX_LABEL + _SQUARE * across, 40 + _SQUARE * down)
        ]
    picture = drawing(
        element("style", _PANEL_SURROUNDINGS),
        rectangle(0.0, 0.0, width, height, "page"),
        element("text", fitted(title, width - 28, 15.0), x=14.0, y=22.0, class_="name"),
        *parts,
        width=width,
        height=height,
        key="matrix",
        title=title,
        summary=summary,
    )
    return as_file(picture, width=width, height=height)


def _square(value: float, x: float, y: float) -> Iterator[Markup]:
    fill, ink = diverging(value)
    yield element("rect", x=x + 1, y=y + 1, width=_SQUARE - 2, height=_SQUARE - 2, fill=fill)
    middle = {"x": x + _SQUARE / 2, "y": y + _SQUARE / 2 + 4, "text_anchor": "middle"}
    yield element("text", f"{value:.2f}", **middle, style=f"fill: {ink}")


def figure(reproduction: Reproduction) -> str:
    """The drawing; a reproduction that is a table has none."""
    words = {"title": reproduction.title, "summary": reproduction.design}
    if reproduction.grids:
        return heat_maps(reproduction.grids, **words)
    if reproduction.panels:
        return curve_panels(reproduction.panels, **words)
    if reproduction.matrices:
        return matrix_squares(reproduction.matrices[0], **words)
    raise InputError(f"--svg: {reproduction.name} is a table and has no figure; wanted --markdown or --json")
