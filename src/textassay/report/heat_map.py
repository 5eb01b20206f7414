"""Heat maps: grids of numbers as coloured cells with their values in them, the lighter the better, as one SVG file."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from textassay.report.svg import as_file, drawing, element, rectangle, text_width
from textassay.studies.reproduced import Cell, Grid, Steps
from textassay.studies.wording import number, plus_minus

# Colours from worst to best, each with the ink that stands out on it; they stay the same on light and dark pages.
_ANCHORS = ((16, 33, 66), (32, 92, 140), (112, 166, 196), (240, 246, 250))
STEPS = 24
_LIGHTER = "lighter is better"
_CELL, _ROW, _LEFT, _TOP, _GAP = 68.0, 46.0, 60.0, 46.0, 58.0
_SURROUNDINGS = Markup("""
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
    light = luminance((red, green, blue))
    ink = "#ffffff" if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else "#000000"
    return f"#{red:02x}{green:02x}{blue:02x}", ink


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance of a colour, as contrast is measured by."""
    shares = [channel / 255 for channel in rgb]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def heat_maps(grids: Sequence[Grid], *, title: str, summary: str) -> str:
    """All grids below each other, each on its own scale of colours: an SVG file that stands by itself."""
    width = _LEFT + max(_width(grid) for grid in grids) + 16
    parts: list[Markup] = []
    top = 12.0
    for grid in grids:
        parts.append(element("g", *_grid(grid), transform=f"translate(0 {top:g})"))
        top += _TOP + _ROW * len(grid.down.values) + _GAP
    page = [element("style", _styles()), rectangle(0.0, 0.0, width, top, "page")]
    picture = drawing(*page, *parts, width=width, height=top, key="heat", title=title, summary=summary)
    return as_file(picture, width=width, height=top)


def _width(grid: Grid) -> float:
    """What a grid needs to the right of its ticks."""
    head = text_width(_named(grid.down) + _LIGHTER, 12.0) + 24
    return max(_CELL * len(grid.across.values), text_width(grid.title, 15.0), head)


def _styles() -> Markup:
    shades = (colour(step / (STEPS - 1)) for step in range(STEPS))
    return _SURROUNDINGS + Markup("").join(_STEP.format(step, *shade) for step, shade in enumerate(shades))


def _grid(grid: Grid) -> Iterable[Markup]:
    """The first row at the bottom, as on an axis."""
    bottom = _TOP + _ROW * len(grid.down.values)
    middle = _LEFT + _CELL * len(grid.across.values) / 2
    yield element("text", grid.title, x=_LEFT, y=16.0, class_="name")
    yield element("text", _named(grid.down), x=_LEFT, y=36.0, class_="axis")
    yield element("text", _LIGHTER, x=_LEFT + _width(grid), y=36.0, text_anchor="end", class_="axis")
    for place, (row, cells) in enumerate(zip(grid.down.values, grid.cells, strict=True)):
        y = bottom - _ROW * (place + 1)
        yield element("text", str(row), x=_LEFT - 10, y=y + _ROW / 2 + 4, text_anchor="end", class_="tick")
        for at, cell in enumerate(cells):
            yield from _cell(cell, _LEFT + _CELL * at, y, _step(grid, cell.estimate))
    for at, column in enumerate(grid.across.values):
        x = _LEFT + _CELL * (at + 0.5)
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
