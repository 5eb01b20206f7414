"""SVG: elements with escaped text, marks of candidates and tones, and the widths of texts."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from markupsafe import Markup, escape

from textassay.corpus.printable import printable
from textassay.document.blocks import REAL
from textassay.report.tones import tone_of

# Distinguished by shape as well as by colour: 8 shapes and 7 colours have no common divisor, so 56 pairs differ.
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "hexagon")
COLOURS = 7
# The shapes of tones that are no candidates; all others are circles.
_TONE_SHAPES = {
    "best": "star", "human": "square", "t-slight": "triangle", "t-clear": "triangle", "t-large": "diamond",
    "t-differs": "triangle", "t-collapsed": "hexagon", "t-untested": "diamond", "t-narrow": "down",
    "t-wide": "triangle", "t-elsewhere": "square", "t-close": "hexagon", "t-different": "plus",
}  # fmt: skip
# Tones of charts alone; all others are decisions, grades and kinds of items, which have a class of their own.
_OWN_TONES = frozenset(("best", "quiet", "human", "model", "more", "less", "even"))

_WIDE = 1.05
_CAPITAL, _OTHER = 0.79, 0.64
_WIDTHS = {
    character: width
    for width, characters in {
        0.3: "ijlIJ'", 0.37: " .,:;-/|f", 0.42: "tr()[]!", 0.55: "scz", 0.82: "w", 1.0: "mMW@%…",
    }.items()
    for character in characters
}  # fmt: skip


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """One element; `class_` is written as class, an underscore inside a name as a hyphen; None leaves an attribute out.

    >>> print(element("text", "a < b", x=1.25, class_="name"))
    <text x="1.2" class="name">a &lt; b</text>
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), plain(value))
        for name, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(child if isinstance(child, Markup) else escape(printable(child)) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inner)


def plain(value: object) -> str:
    """An attribute; coordinates to a tenth of a pixel, so that a chart of hundreds of marks stays small."""
    if not isinstance(value, float):
        return printable(str(value))
    rounded = round(value, 1)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def words(content: str, x: float, y: float, class_: str, *, anchor: str | None = None, turned: float = 0.0) -> Markup:
    """A text at a place, `turned` by degrees around it."""
    turn = f"rotate({turned:g} {plain(x)} {plain(y)})" if turned else None
    # The text direction of a name must not move the words beside it.
    return element("text", content, x=x, y=y, text_anchor=anchor, class_=class_, transform=turn)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str, **attributes: object) -> Markup:
    """A rectangle; at least a pixel each way, so that a very narrow interval is still visible."""
    return element("rect", x=x, y=y, width=max(width, 1.0), height=max(height, 1.0), class_=class_, **attributes)


def path(points: Iterable[tuple[float, float]], class_: str, *, closed: bool = False) -> Markup:
    """A line through points, or the area within them."""
    d = "L".join(f"{plain(x)} {plain(y)}" for x, y in points)
    return element("path", d=f"M{d}{'Z' if closed else ''}", class_=class_)


# Marks.


def colour_class(candidate: int | None, tone: str = "") -> str:
    """The class that gives a mark, a bar or an area its colour: of a tone, of a candidate, or of the text."""
    if tone:
        return tone if tone in _OWN_TONES else tone_of(tone).css
    if candidate is None:
        return "plain"
    return "real" if candidate == REAL else f"k{candidate % COLOURS}"


def mark(candidate: int | None, x: float, y: float, *, r: float = 5.0, tone: str = "", is_open: bool = False) -> Markup:
    """The mark of a candidate or a tone; real text has a ring."""
    if candidate == REAL and not tone:
        return element("circle", cx=x, cy=y, r=r + 1, class_="ring")
    class_ = f"mark {colour_class(candidate, tone)}{' open' if is_open else ''}"
    shape = _shape(candidate, tone)
    r = 1.3 * r if tone == "best" else r
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=r, class_=class_)
    points = " ".join(f"{plain(x + r * dx)},{plain(y + r * dy)}" for dx, dy in _OUTLINES[shape])
    return element("polygon", points=points, class_=class_)


def _shape(candidate: int | None, tone: str) -> str:
    if tone:
        return _TONE_SHAPES.get(tone, _TONE_SHAPES.get(tone_of(tone).css, "circle"))
    return SHAPES[(candidate or 0) % len(SHAPES)]


def key(candidate: int | None, tone: str = "", *, is_open: bool = False) -> Markup:
    """A mark for use before a name."""
    return framed_key(mark(candidate, 8.0, 8.0, tone=tone, is_open=is_open))


def framed_key(drawn: Markup) -> Markup:
    """What is drawn in a square of 16 pixels, for use before a name."""
    return element("svg", drawn, viewBox="0 0 16 16", class_="key", aria_hidden="true")


def stamps(candidate: int | None, tone: str, places: Sequence[tuple[float, float]], r: float) -> Markup:
    """The mark of a candidate at many places as one path: one element per text would fill the page."""
    shape, class_ = _shape(candidate, tone), colour_class(candidate, tone)
    if candidate == REAL or shape == "circle":
        # Lines of no length with round ends, as thick as CSS makes them.
        return element("path", d="".join(f"M{plain(x)} {plain(y)}h0" for x, y in places), class_=f"dots {class_}")
    corners = [(r * dx, r * dy) for dx, dy in _OUTLINES[shape]]
    sides = " ".join(f"{plain(x2 - x1)} {plain(y2 - y1)}" for (x1, y1), (x2, y2) in pairwise(corners))
    # Every byte counts hundreds of times: a minus sign and a point part numbers as well as a space and a zero.
    around = re.sub(r"\b0\.", ".", f"l{sides}z").replace(" -", "-")
    across, up = corners[0]
    d = "".join(f"M{plain(x + across)} {plain(y + up)}{around}" for x, y in places)
    return element("path", d=d, class_=f"mark stamps {class_}")


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


# Texts.


def text_width(text: str, size: float) -> float:
    """The approximate width of a text in a font of this size; the font itself is not known here."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    """In units of the size of the font, for one of the widest fonts in use."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    return _WIDTHS.get(character, _CAPITAL if character.isupper() else _OTHER)


@lru_cache(maxsize=10_000)
def fitted(text: str, room: float, size: float) -> str:
    """The text without its middle where it is too wide, because names of one family differ at their ends.

    >>> fitted("gpt2-large-temperature-0.7", 90, 11)
    'gpt2-la…re-0.7'
    """
    if text_width(text, size) <= room:
        return text
    fits = (text_width(_without_middle(text, keep), size) <= room for keep in range(3, min(len(text), 200) + 1))
    return _without_middle(text, 2 + sum(takewhile(bool, fits)))


def _without_middle(text: str, keep: int) -> str:
    head = keep // 2
    return f"{text[:head]}…{text[len(text) - (keep - head - 1) :]}"


def wrapped(text: str, room: float, size: float, most: int) -> list[str] | None:
    """The text in at most this many lines, broken at spaces only; None if it does not fit.

    >>> wrapped("lost topics", 45, 11, 2), wrapped("lost topics", 20, 11, 2)
    (['lost', 'topics'], None)
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines if len(lines) <= most and all(text_width(each, size) <= room for each in lines) else None


@dataclass(frozen=True)
class Box:
    """A rectangle on the canvas."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def overlap(self, other: "Box") -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)
