"""Plots: what a chart shows, as data. One module of the report draws all of them.

A plot has two axes and layers. An axis is a scale of numbers or a list of names; a layer is drawn over the layers
before it. Coordinates are values of the axes: on an axis with names, the index of a name.
"""

from dataclasses import dataclass
from typing import Literal

# An estimate with the ends of its interval.
Ends = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """An axis: its title, and names instead of numbers if there are any.

    `better` is the direction in which things improve ("higher", "lower"; "closer" without one). A `reversed` axis has
    its highest value at the left or at the bottom. An axis with a `centre` is stretched around it if values are far
    away. `limits` are values that it covers in any case. `log` is a logarithmic axis, `percent` one of shares.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    better: str = ""
    reversed: bool = False
    centre: float | None = None
    limits: Ends | None = None
    log: bool = False
    percent: bool = False


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
    """A straight line: a limit, or the diagonal. `dashed` unless it is an axis of its own."""

    start: tuple[float, float]
    end: tuple[float, float]
    name: str = ""
    dashed: bool = True


@dataclass(frozen=True)
class Point:
    """A value with intervals. `candidate` gives its mark, `label` is written beside it, `detail` is a tooltip.

    A `tone` replaces the colour of the candidate by that of a badge; an `open` mark is not filled.
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
    """Points with the marks of their candidates, intervals as bars."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Dots:
    """Many small points of one candidate, without names: one path however many."""

    points: tuple[tuple[float, float], ...]
    candidate: int | None = None
    tone: str = ""


@dataclass(frozen=True)
class Line:
    """A curve through its points, with the range of each if it has one; its name is in the legend."""

    points: tuple[tuple[float, float], ...]
    ends: tuple[Ends | None, ...] = ()
    candidate: int | None = None
    name: str = ""
    dashed: bool = False
    marked: bool = True


@dataclass(frozen=True)
class Area:
    """A shaded polygon; areas of one `series` have one colour."""

    corners: tuple[tuple[float, float], ...]
    series: int = 0
    name: str = ""


@dataclass(frozen=True)
class Bars:
    """Bars from zero, one per index of an axis of names; pieces of a bar are added up, one tone each."""

    values: tuple[tuple[float, ...], ...]
    tones: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """A grid of shaded cells, rows from the top, with their texts; shades from -1 (low) over 0 to 1 (high)."""

    shades: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Names:
    """Texts at places, moved aside where they would overlap."""

    places: tuple[tuple[float, float, str], ...]
    size: Literal["small", "large"] = "small"


Layer = Band | Rule | Marks | Dots | Line | Area | Bars | Cells | Names


@dataclass(frozen=True)
class Plot:
    """A chart: `title` and `summary` are read by screen readers, `size` is its shape on a page.

    A strip is a few rows beside real text, small charts stand side by side, large ones fill the page and have a second
    form for narrow screens.
    """

    title: str
    x: Scale
    y: Scale
    layers: tuple[Layer, ...]
    summary: str = ""
    size: Literal["strip", "small", "large"] = "small"
