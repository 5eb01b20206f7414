"""Every item of a system as a mark: how far it is off target (right) against how far too narrow (up) or wide (down)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.counting import many
from textassay.corpus.printable import shortened
from textassay.report.axis import Axis, axis, legible
from textassay.report.kinds import kind_marks, kind_word
from textassay.report.svg import Box, drawing, element, line
from textassay.studies.conditioned import KINDS, Conditional, SystemColumn

_WIDTH, _HEIGHT = 420.0, 340.0
_FRAME = Box(46.0, 12.0, _WIDTH - 12.0, _HEIGHT - 44.0)
_SMALL = 11.0


@dataclass(frozen=True)
class Scatter:
    """The chart of one system, and how many of its items have no place on it."""

    index: int
    system: SystemColumn
    chart: Markup
    missing: int


def scatters(conditional: Conditional, *, cell: float) -> list[Scatter]:
    """A chart a system, all with the same axes; marks closer than a cell of so many pixels are drawn once."""
    points = [point for system in conditional.systems for kind in KINDS for point in _points(system, kind)]
    if not points:
        return []
    x = _scale([place for place, _ in points], _FRAME.left, _FRAME.right)
    y = _scale([spread for _, spread in points], _FRAME.bottom, _FRAME.top)
    return [_scatter(index, system, x, y, cell) for index, system in enumerate(conditional.systems)]


def _points(system: SystemColumn, kind: str) -> list[tuple[float, float]]:
    """Place and spread of the items that miss in this way; items without a test have no mark."""
    if kind == "untested":
        return []
    misses = [item.miss for item in system.items if item.miss.kind == kind]
    return [(m.place, m.spread) for m in misses if math.isfinite(m.place) and math.isfinite(m.spread)]


def _scale(values: list[float], start: float, end: float) -> Axis:
    # Chance, at zero, and some of both sides are always in sight.
    return axis([*values, -1.0, 1.0], start, end, about=6)


def _scatter(index: int, system: SystemColumn, x: Axis, y: Axis, cell: float) -> Scatter:
    by_kind = {kind: _points(system, kind) for kind in KINDS}
    drawn = sum(map(len, by_kind.values()))
    counts = ", ".join(f"{kind_word(kind)} {system.count(kind):,}" for kind in KINDS)
    # What was found lies on top of what was not.
    marks = [kind_marks(kind, _cells(points, x, y, cell), 3.2) for kind, points in reversed(by_kind.items()) if points]
    chart = drawing(
        *_ground(x, y),
        *marks,
        *_names(),
        width=_WIDTH,
        height=_HEIGHT,
        key=f"scatter-{index}",
        title=f"Items of {shortened(system.name, 60)}: place against spread",
        summary=f"{many(drawn, 'item')}: {counts}",
    )
    return Scatter(index, system, chart, len(system.items) - drawn)


def _cells(points: list[tuple[float, float]], x: Axis, y: Axis, cell: float) -> list[tuple[float, float]]:
    """Pixels of the points, one a cell: a page of ten thousand items has no room for ten thousand marks."""
    found = {(round(x(a) / cell), round(y(b) / cell)): None for a, b in points}
    return [(across * cell, down * cell) for across, down in found]


def _ground(x: Axis, y: Axis) -> Iterator[Markup]:
    for tick in legible(x, _SMALL):
        yield line(x(tick), _FRAME.top, x(tick), _FRAME.bottom, "zero" if tick == 0 else "grid")
        yield element("text", f"{tick:g}", x=x(tick), y=_FRAME.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(_FRAME.left, y(tick), _FRAME.right, y(tick), "zero" if tick == 0 else "grid")
        yield element("text", f"{tick:g}", x=_FRAME.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _names() -> Iterator[Markup]:
    middle, centre = (_FRAME.top + _FRAME.bottom) / 2, (_FRAME.left + _FRAME.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", "place: off target →", x=centre, y=_FRAME.bottom + 36, **style)
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    yield element("text", "← too wide   spread   too narrow →", transform=turned, **style)
