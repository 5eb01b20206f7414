"""Figures of reproductions: heat maps and panels of curves, as one SVG file."""

import math
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from textassay.errors import InputError
from textassay.report.charts.svg import Axis, as_file, axis, drawing, element, line, marker, rectangle, text_width
from textassay.reproduce.result import Cell, Grid, Line, Panel, Reproduction, Steps
from textassay.studies.wording import number, plus_minus

# Colours from worst to best, each with the ink that stands out on it; they stay the same on light and dark pages.
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
    """All grids below each other, each on its own scale of colours: an SVG file that stands by itself."""
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


_WIDE, _TALL, _PANEL_GAP = 380.0, 280.0, 34.0
_PANEL_LEFT, _PANEL_TOP, _BOTTOM = 44.0, 76.0, 46.0
_PANEL_SURROUNDINGS = Markup("""
svg { --page: #ffffff; --ink: #1b1f24; --quiet: #565e67; --rule: #d7dce1; --k0: #1f6fb2; --k1: #b5541c; }
@media (prefers-color-scheme: dark) {
  svg { --page: #1b1f23; --ink: #e6e8ea; --quiet: #a7aeb6; --rule: #3a4148; --k0: #79b8ee; --k1: #f0a06c; }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; fill: var(--ink); }
.page { fill: var(--page); } .name { font-size: 15px; font-weight: 650; } .tick, .axis { fill: var(--quiet); }
.tick { font-size: 12px; } .rule { stroke: var(--rule); }
.curve { fill: none; stroke-width: 2; } .band { opacity: 0.18; }
.curve.k0 { stroke: var(--k0); } .curve.k1 { stroke: var(--k1); }
.band.k0, .mark.k0 { fill: var(--k0); } .band.k1, .mark.k1 { fill: var(--k1); }
""")


def curve_panels(panels: Sequence[Panel], *, title: str, summary: str) -> str:
    """The panels, with one scale upwards for all of them."""
    heights = [v for panel in panels for each in panel.lines for p in each.points for v in (p.low, p.mean, p.high)]
    up = axis([0.0, 1.0, *heights], _PANEL_TOP + _TALL, _PANEL_TOP, about=6)
    width = _PANEL_LEFT + len(panels) * (_WIDE + _PANEL_GAP)
    height = _PANEL_TOP + _TALL + _BOTTOM
    names = [each.name for each in panels[0].lines]
    body = [
        part
        for place, panel in enumerate(panels)
        for part in _panel(panel, _PANEL_LEFT + place * (_WIDE + _PANEL_GAP), up)
    ]
    picture = drawing(
        element("style", _PANEL_SURROUNDINGS),
        rectangle(0.0, 0.0, width, height, "page"),
        element("text", title, x=_PANEL_LEFT, y=22.0, class_="name"),
        *_legend(names),
        *body,
        width=width,
        height=height,
        key="curves",
        title=title,
        summary=summary,
    )
    return as_file(picture, width=width, height=height)


def _legend(names: Sequence[str]) -> Iterator[Markup]:
    x = _PANEL_LEFT + 6
    for place, name in enumerate(names):
        yield marker(place, x, 41.0, 4.5)
        yield element("text", name, x=x + 10, y=45.0)
        x += 40 + text_width(name, 13)


def _panel(panel: Panel, left: float, up: Axis) -> Iterator[Markup]:
    places = sorted({point.x for each in panel.lines for point in each.points})
    across = axis(places, left + 6, left + _WIDE - 6, about=6)
    bottom = _PANEL_TOP + _TALL
    yield element("text", panel.title, x=left, y=_PANEL_TOP - 10)
    for tick in up.ticks:
        yield line(left, up(tick), left + _WIDE, up(tick), "rule")
        yield element("text", f"{tick:g}", x=left - 6, y=up(tick) + 4, class_="tick", text_anchor="end")
    for tick in across.ticks:
        yield element("text", f"{tick:g}", x=across(tick), y=bottom + 18, class_="tick", text_anchor="middle")
    yield element("text", panel.across, x=left + _WIDE / 2, y=bottom + 38, class_="axis", text_anchor="middle")
    for place, each in enumerate(panel.lines):
        yield _band(place, each, across, up)
    for place, each in enumerate(panel.lines):
        yield _curve(place, each, across, up)
        yield from (marker(place, across(point.x), up(point.mean), 3.5) for point in each.points)


def _band(place: int, each: Line, across: Axis, up: Axis) -> Markup:
    there = [(across(point.x), up(point.high)) for point in each.points]
    back = [(across(point.x), up(point.low)) for point in reversed(each.points)]
    return element("polygon", points=_points([*there, *back]), class_=f"band k{place}")


def _curve(place: int, each: Line, across: Axis, up: Axis) -> Markup:
    middle = [(across(point.x), up(point.mean)) for point in each.points]
    return element("polyline", points=_points(middle), class_=f"curve k{place}")


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def figure(reproduction: Reproduction) -> str:
    """The drawing; a reproduction that is a table has none."""
    if reproduction.grids:
        return heat_maps(reproduction.grids, title=reproduction.title, summary=reproduction.design)
    if reproduction.panels:
        return curve_panels(reproduction.panels, title=reproduction.title, summary=reproduction.design)
    raise InputError(f"--svg: {reproduction.name} is a table and has no figure; wanted --markdown or --json")
