"""SVG by hand: elements with all text escaped and printable, marker shapes, and how wide a text will be."""

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from textassay.corpus.printable import printable

# Told apart by shape as well as by colour: 8 shapes and 7 colours have no common divisor, so 56 pairs differ.
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "hexagon")
COLOURS = 7

_NARROW, _WIDE = 0.57, 1.05


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """One element; `class_` stands for class, an underscore inside a name for a hyphen, None leaves an attribute out.

    >>> print(element("text", "a < b", x=1.25, class_="name"))
    <text x="1.2" class="name">a &lt; b</text>
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _plain(value))
        for name, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(child if isinstance(child, Markup) else escape(printable(child)) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inner)


def _plain(value: object) -> str:
    """Coordinates to a tenth of a pixel: a chart of hundreds of marks stays small."""
    if not isinstance(value, float):
        return printable(str(value))
    rounded = round(value, 1)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def drawing(*children: str, width: float, height: float, key: str, title: str, summary: str) -> Markup:
    """A whole chart that a screen reader announces by its title and summary; `key` makes their ids unique."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", summary, id=f"{key}-desc"),
        *children,
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def as_file(picture: Markup, *, width: float, height: float) -> str:
    """A drawing in a file of its own: inside a page it knows its language and its size, here it must be told."""
    view = f"0 0 {width:g} {height:g}"
    file = element("svg", picture, xmlns="http://www.w3.org/2000/svg", viewBox=view, width=width, height=height)
    return f"{file}\n"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """A rectangle; at least a pixel each way, so that a very narrow interval is still seen."""
    return element("rect", x=x, y=y, width=max(width, 1.0), height=max(height, 1.0), class_=class_)


def marker(index: int, x: float, y: float, r: float = 5.0) -> Markup:
    """The mark of the candidate at this place in the comparison."""
    class_ = f"mark k{index % COLOURS}"
    shape = SHAPES[index % len(SHAPES)]
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=r, class_=class_)
    points = " ".join(f"{_plain(x + r * dx)},{_plain(y + r * dy)}" for dx, dy in _OUTLINES[shape])
    return element("polygon", points=points, class_=class_)


def dots(places: Iterable[tuple[float, float]], class_: str) -> Markup:
    """Round dots at many places as one path: lines of no length with round ends, as thick as CSS makes them."""
    return element("path", d="".join(f"M{_plain(x)} {_plain(y)}h0" for x, y in places), class_=class_)


def stamps(index: int, places: Iterable[tuple[float, float]], r: float) -> Markup:
    """The mark of a candidate at many places as one path: an element a text would fill the page."""
    shape = SHAPES[index % len(SHAPES)]
    if shape == "circle":
        return dots(places, f"bar dots k{index % COLOURS}")
    corners = [(r * dx, r * dy) for dx, dy in _OUTLINES[shape]]
    sides = " ".join(f"{_plain(x2 - x1)} {_plain(y2 - y1)}" for (x1, y1), (x2, y2) in pairwise(corners))
    # Every byte counts hundreds of times: a minus sign and a point part numbers as well as a space and a zero.
    around = re.sub(r"\b0\.", ".", f"l{sides}z").replace(" -", "-")
    across, up = corners[0]
    d = "".join(f"M{_plain(x + across)} {_plain(y + up)}{around}" for x, y in places)
    return element("path", d=d, class_=f"mark dots k{index % COLOURS}")


def _polygon(corners: int, turn: float, radii: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    angles = [turn + 2 * math.pi * k / corners for k in range(corners)]
    return tuple(
        (radii[k % len(radii)] * math.sin(a), -radii[k % len(radii)] * math.cos(a)) for k, a in enumerate(angles)
    )


_PLUS = ((-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4))
# Radii that make the shapes look equally large.
_OUTLINES = {
    "square": _polygon(4, math.pi / 4, (1.28,)),
    "triangle": _polygon(3, 0.0, (1.35,)),
    "diamond": _polygon(4, 0.0, (1.35,)),
    "down": _polygon(3, math.pi, (1.35,)),
    "plus": _PLUS + tuple((-x, -y) for x, y in _PLUS),
    "star": _polygon(10, 0.0, (1.5, 0.65)),
    "hexagon": _polygon(6, 0.0, (1.15,)),
}


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a font of this size; there is no font to ask here."""
    return size * sum(
        0.0 if unicodedata.combining(c) else _WIDE if unicodedata.east_asian_width(c) in "WF" else _NARROW for c in text
    )


def fitted(text: str, room: float, size: float) -> str:
    """The text with its middle left out where it is too wide: names of one family differ at their ends.

    >>> fitted("gpt2-large-temperature-0.7", 90, 11)
    'gpt2-la…re-0.7'
    """
    if text_width(text, size) <= room:
        return text
    keep = len(text)
    while keep > 2 and text_width(_without_middle(text, keep), size) > room:
        keep -= 1
    return _without_middle(text, keep)


def _without_middle(text: str, keep: int) -> str:
    head = keep // 2
    return f"{text[:head]}…{text[len(text) - (keep - head - 1) :]}"


@dataclass(frozen=True)
class Box:
    """A rectangle on the canvas."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)

    @property
    def area(self) -> float:
        """Width times height."""
        return (self.right - self.left) * (self.bottom - self.top)
