"""Figures: the plots of a document drawn by matplotlib, where it is installed, to be changed or joined with others."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from textassay.corpus.printable import printable
from textassay.document.blocks import REAL
from textassay.document.plot import (
    Area,
    Band,
    Bars,
    Cells,
    Discs,
    Dots,
    Ends,
    Layer,
    Line,
    Marks,
    Names,
    Plot,
    Point,
    Rule,
    Scale,
)
from textassay.errors import InputError

# The colours and shapes of candidates by index, as in the drawings of a report.
_COLOURS = ("#0072b2", "#d55e00", "#00855f", "#b5478d", "#9a6a00", "#5b4fc4", "#3f7f94")
_SHAPES = "osD^vPX"
_GREY, _INK = "#5b6570", "#1b1f24"
# Inches: the width of one chart, the height of a chart of numbers, and of a row with a name.
_WIDTH, _HEIGHT, _ROW = 6.0, 4.0, 0.32


def figure(plots: Sequence[Plot]) -> Any:
    """A matplotlib figure with one pair of axes per plot; it belongs to no window and can be saved in any format."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is not installed; install it, or use the drawing's svg and save") from None
    columns = 1 if len(plots) == 1 else 2
    rows = math.ceil(len(plots) / columns)
    found = Figure(figsize=(_WIDTH * columns, sum(map(_height, plots[::columns]))), layout="constrained")
    places = found.subplots(rows, columns, squeeze=False).ravel()
    for axes, plot in zip(places, plots, strict=False):
        _draw(plot, axes)
    for axes in places[len(plots) :]:
        axes.set_axis_off()
    return found


def _height(plot: Plot) -> float:
    return 1.2 + _ROW * len(plot.y.names) if plot.y.names else _HEIGHT


def _draw(plot: Plot, axes: Any) -> None:
    for layer in plot.layers:
        _DRAWN[type(layer)](layer, axes)
    _set_axis(plot.x, axes, "x")
    _set_axis(plot.y, axes, "y")
    axes.set_title(_safe(plot.title), loc="left", fontsize="medium", pad=16)
    axes.spines[["top", "right"]].set_visible(False)
    if plot.square:
        axes.set_aspect("equal", adjustable="datalim")
    handles, names = axes.get_legend_handles_labels()
    if plot.legend and names:
        axes.legend(handles, names, fontsize="small", frameon=False)


def _set_axis(scale: Scale, axes: Any, name: str) -> None:
    arrow = {"higher": " →", "lower": " ←"}.get(scale.better, "")
    axes.set(**{f"{name}label": _safe(scale.title) + arrow})
    axis = getattr(axes, f"{name}axis")
    if scale.log:
        axes.set(**{f"{name}scale": "log"})
    if scale.limits and all(map(math.isfinite, scale.limits)) and scale.limits[0] < scale.limits[1]:
        axes.update_datalim([(end, end) for end in scale.limits], updatex=name == "x", updatey=name == "y")
        axes.autoscale_view()
    if scale.percent:
        axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    ticks = list(enumerate(scale.names)) if scale.names else scale.ticks
    if ticks is not None:
        axis.set_ticks([place for place, _ in ticks], [_safe(text) for _, text in ticks])
    if scale.names:
        axes.set(**{f"{name}lim": (-0.5, len(scale.names) - 0.5)})
    # Rows of names run from the top.
    if scale.reversed != (bool(scale.names) and name == "y"):
        axis.set_inverted(True)


def _safe(text: str) -> str:
    """A text on one line that matplotlib does not take for a formula, and does not leave out of a legend."""
    shown = printable(text.replace("\n", " ")).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _colour(candidate: int | None, tone: str = "") -> str:
    if candidate is None or candidate == REAL:
        return _GREY if candidate == REAL or tone == "quiet" else _INK
    return _COLOURS[candidate % len(_COLOURS)]


def _band(layer: Band, axes: Any) -> None:
    across, along = (axes.axvspan, axes.axvline) if layer.axis == "x" else (axes.axhspan, axes.axhline)
    if math.isfinite(layer.low) and math.isfinite(layer.high):
        across(layer.low, layer.high, color=_GREY, alpha=0.15, linewidth=0, label=_safe(layer.name) or None)
    if layer.value is not None and math.isfinite(layer.value):
        along(layer.value, color=_GREY, linestyle="--", linewidth=1)


def _rule(layer: Rule, axes: Any) -> None:
    style = {"color": _GREY, "linewidth": 1, "linestyle": "--" if layer.dashed else "-"}
    (x, y), (x_end, y_end) = layer.start, layer.end
    if x is not None and x == x_end and y is None:
        axes.axvline(x, **style)
        above = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom", "fontsize": "small"}
        axes.annotate(_safe(layer.name), (x, 1.0), **above)
    elif y is not None and y == y_end and x is None:
        axes.axhline(y, **style)
    elif x is not None and y is not None and x_end is not None and y_end is not None:
        axes.plot([x, x_end], [y, y_end], **style)


def _marks(layer: Marks, axes: Any) -> None:
    for number, point in enumerate(layer.points):
        if not (math.isfinite(point.x) and math.isfinite(point.y)):
            continue
        colour = _colour(point.candidate, point.tone)
        axes.errorbar(
            point.x,
            point.y,
            xerr=_arms(point.x, point.x_ends),
            yerr=_arms(point.y, point.y_ends),
            fmt=_shape(point),
            color=colour,
            markerfacecolor="white" if point.open else colour,
            label=_safe(layer.name) if layer.name and not number else None,
        )
        if point.label:
            place = {"textcoords": "offset points", "xytext": (7, 4), "fontsize": "small"}
            axes.annotate(_safe(point.label.partition("\n")[0]), (point.x, point.y), **place)


def _shape(point: Point) -> str:
    return "o" if point.candidate in (None, REAL) else _SHAPES[(point.candidate or 0) % len(_SHAPES)]


def _arms(value: float, ends: Ends | None) -> list[list[float]] | None:
    """The lengths of an interval on both sides; an end that is not finite has none."""
    if ends is None:
        return None
    return [[max(arm, 0.0) if math.isfinite(arm) else 0.0] for arm in (value - ends[0], ends[1] - value)]


def _dots(layer: Dots, axes: Any) -> None:
    if layer.points:
        colour = _colour(layer.candidate, layer.tone)
        axes.scatter(*zip(*layer.points, strict=True), s=6, color=colour, alpha=0.6, label=_safe(layer.name) or None)


def _line(layer: Line, axes: Any) -> None:
    if not layer.points:
        return
    colour, style = _colour(layer.candidate, layer.tone), "--" if layer.dashed else "-"
    xs, ys = zip(*layer.points, strict=True)
    shape = "o" if layer.marked else None
    axes.plot(xs, ys, color=colour, linestyle=style, marker=shape, markersize=3, label=_safe(layer.name) or None)
    if layer.ends:
        low, high = zip(*((math.nan, math.nan) if ends is None else ends for ends in layer.ends), strict=True)
        axes.fill_between(xs, low, high, color=colour, alpha=0.16, linewidth=0)


def _area(layer: Area, axes: Any) -> None:
    xs, ys = zip(*layer.corners, strict=True)
    axes.fill(xs, ys, color=_colour(layer.candidate, layer.tone), alpha=0.16, linewidth=0)


def _bars(layer: Bars, axes: Any) -> None:
    for piece in range(max(map(len, layer.values), default=0)):
        widths = [values[piece] if piece < len(values) else 0.0 for values in layer.values]
        starts = [sum(values[:piece]) for values in layer.values]
        colours = [_colour(piece if layer.tones else _at(layer.candidates, row)) for row in range(len(widths))]
        name = _safe(layer.names[piece]) if piece < len(layer.names) else None
        axes.barh(range(len(widths)), widths, left=starts, color=colours, height=0.6, label=name)
    for row, text in enumerate(layer.texts):
        axes.annotate(_safe(text), (sum(layer.values[row]), row), fontsize="small", va="center")


def _at(candidates: tuple[int, ...], row: int) -> int | None:
    return candidates[row] if row < len(candidates) else 0


def _cells(layer: Cells, axes: Any) -> None:
    rows, columns = len(layer.shades), max(map(len, layer.shades), default=0)
    x = layer.x_edges or tuple(place - 0.5 for place in range(columns + 1))
    y = layer.y_edges or tuple(place - 0.5 for place in range(rows + 1))
    shades = [[math.nan if shade is None else shade for shade in row] for row in layer.shades]
    axes.pcolormesh(x, y, shades, cmap="RdBu", vmin=-1.0, vmax=1.0)
    for row, texts in enumerate(layer.texts):
        for column, text in enumerate(texts):
            middle = ((x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2)
            axes.text(*middle, _safe(text), ha="center", va="center", fontsize="x-small")


def _discs(layer: Discs, axes: Any) -> None:
    # Areas in points: together the discs of a chart cover a fixed part of it.
    for disc in layer.discs:
        colour = {"more": _COLOURS[1], "less": _COLOURS[5]}.get(disc.tone, _GREY)
        axes.scatter(disc.x, disc.y, s=8000 * disc.part, color=colour, alpha=0.25)
        axes.scatter(disc.x, disc.y, s=8000 * disc.wanted, facecolors="none", edgecolors=colour, linestyle="--")
        if disc.label:
            axes.annotate(_safe(disc.label.partition("\n")[0]), (disc.x, disc.y), fontsize="x-small")


def _names(layer: Names, axes: Any) -> None:
    for x, y, text in layer.places:
        axes.text(x, y, _safe(text), ha="center", va="center", fontsize="small")


_DRAWN: dict[type[Layer], Callable[[Any, Any], None]] = {
    Band: _band,
    Rule: _rule,
    Marks: _marks,
    Dots: _dots,
    Discs: _discs,
    Line: _line,
    Area: _area,
    Bars: _bars,
    Cells: _cells,
    Names: _names,
}
