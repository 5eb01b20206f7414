"""Plots: what a chart shows, as data. One module of the report draws all of them.

A plot has two axes and layers. An axis is a scale of numbers or a list of names; a layer is drawn over the layers
before it. Coordinates are values of the axes: on an axis with names, the index of a name (rows run from the top). What
has a coordinate that is not finite is not drawn; an end of an interval that is not finite is left out.

Colour and shape follow from a `candidate`, its index in the outcome, so that it looks the same in all charts and
tables; `REAL` of `blocks` is real text, which has a ring. Charts whose series are not candidates (metrics, pairs)
number them from 0 in the same way. A `tone` replaces both: a decision, a grade, a kind of items, or "best" (a star),
"quiet" (grey), "human" and "model". Without either the colour is that of the text.

All strings are plain text and may come from a text under evaluation: they are escaped, shortened and wrapped when they
are drawn. "\\n" in a label begins a second line of less importance.
"""

from dataclasses import dataclass
from typing import Literal

# The lower and the upper end of an interval.
Ends = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """An axis: its title, and names instead of numbers if there are any.

    `better` is the direction in which things improve ("higher", "lower"; nothing for "closer"); an arrow beside the
    title shows it. A `reversed` axis has its highest value at the left or at the bottom. An axis with a `centre` is
    stretched around it if values are far away. `limits` are values that it covers in any case. `log` is a logarithmic
    axis, `percent` one of shares. `ticks` are places with their texts instead of round numbers; an axis with no ticks
    at all has an empty tuple.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    better: str = ""
    reversed: bool = False
    centre: float | None = None
    limits: Ends | None = None
    log: bool = False
    percent: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None


@dataclass(frozen=True)
class Band:
    """A range of one axis over the whole other one: the interval of real text, with its value as a line."""

    axis: Literal["x", "y"]
    low: float
    high: float
    value: float | None = None
    name: str = ""


@dataclass(frozen=True)
class Rule:
    """A straight line with its name at the end. None in a coordinate is that edge of the chart.

    A rule without `dashed` is a zero line or a similar axis of its own.
    """

    start: tuple[float | None, float | None]
    end: tuple[float | None, float | None]
    name: str = ""
    dashed: bool = True


def rule(axis: Literal["x", "y"], value: float, name: str = "", *, dashed: bool = True) -> Rule:
    """A limit: the line at this value of one axis, across the whole other one."""
    place = (value, None) if axis == "x" else (None, value)
    return Rule(place, place, name, dashed)


@dataclass(frozen=True)
class Point:
    """A value with intervals; `label` is written beside it, `detail` is a tooltip. An `open` mark is not filled.

    On an axis of names the label is at the end of the row, as its number.
    """

    x: float
    y: float
    x_ends: Ends | None = None
    y_ends: Ends | None = None
    candidate: int | None = None
    label: str = ""
    detail: str = ""
    tone: str = ""
    open: bool = False


@dataclass(frozen=True)
class Marks:
    """Points with the marks of their candidates and intervals as bars. With a `name` they are in the legend."""

    points: tuple[Point, ...]
    name: str = ""


@dataclass(frozen=True)
class Dots:
    """Many small points of one candidate or tone, without names: one path however many.

    Points at one place cover each other, unless they are `piled`: drawn side by side around it.
    """

    points: tuple[tuple[float, float], ...]
    candidate: int | None = None
    tone: str = ""
    name: str = ""
    piled: bool = False


@dataclass(frozen=True)
class Disc:
    """Two circles around a place: a filled one whose area is `part`, a dashed one whose area is `wanted`.

    Both are shares of one sample; together the discs of a chart cover a fixed part of it. A `number` is a badge in the
    middle with the `label` beside it.
    """

    x: float
    y: float
    part: float
    wanted: float
    tone: str = "even"
    number: int | None = None
    label: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Discs:
    """Places with the shares of two samples there, as in the map of meaning; `names` explain tones in the legend."""

    discs: tuple[Disc, ...]
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """A curve through its points, with the range of each if it has one; its name is in the legend."""

    points: tuple[tuple[float, float], ...]
    ends: tuple[Ends | None, ...] = ()
    candidate: int | None = None
    name: str = ""
    detail: str = ""
    tone: str = ""
    dashed: bool = False
    marked: bool = True


@dataclass(frozen=True)
class Area:
    """A shaded polygon."""

    corners: tuple[tuple[float, float], ...]
    candidate: int | None = None
    name: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars from zero, one per index of an axis of names, to the other side where they are negative.

    Each is a tuple of pieces that are added up. `tones` and `names` (in the legend) have one entry per piece. Without
    tones a bar has the mark of `candidates`, one entry per bar. `texts` are written at the ends of the bars.
    """

    values: tuple[tuple[float, ...], ...]
    tones: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    candidates: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """A grid of shaded cells, rows from the top, with their texts; None is an empty cell.

    Shades from 0 to 1 are one colour, from 0 to -1 another (disagreement, the other source). On axes of numbers,
    `x_edges` and `y_edges` are where cells begin and end, one more than there are columns and rows; the rows then are
    in the order of the edges.
    """

    shades: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()
    x_edges: tuple[float, ...] = ()
    y_edges: tuple[float, ...] = ()


@dataclass(frozen=True)
class Names:
    """Texts centred at places, the most important first; one is left out where there is no space for it."""

    places: tuple[tuple[float, float, str], ...]


Layer = Band | Rule | Marks | Dots | Discs | Line | Area | Bars | Cells | Names


@dataclass(frozen=True)
class Plot:
    """A chart: `title` and `summary` are read by screen readers, `size` is its shape on a page.

    A strip is a few rows, such as one metric of all candidates, with names at the left and numbers at the right (a
    gauge has one row with an empty name). Small charts are beside each other; large ones fill the page and have a
    second form for narrow screens. Charts whose vertical axis has names are as high as these need. Without `legend`
    the names of layers are tooltips alone. `square` axes have the same scale, as on a map.
    """

    title: str
    x: Scale
    y: Scale
    layers: tuple[Layer, ...]
    summary: str = ""
    size: Literal["strip", "small", "large"] = "small"
    legend: bool = True
    square: bool = False
