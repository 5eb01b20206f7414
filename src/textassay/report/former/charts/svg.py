"""SVG elements, axes and bars, with all text escaped."""

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from markupsafe import Markup, escape

from textassay.corpus.printable import printable
from textassay.document.words import number
from textassay.inference.result import Result

# Distinguished by shape as well as by colour: 8 shapes and 7 colours have no common divisor, so 56 pairs differ.
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "star", "hexagon")
COLOURS = 7

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


def drawing(
    *children: str, width: float, height: float, key: str, title: str, summary: str, own_size: bool = False
) -> Markup:
    """A whole chart that a screen reader announces by its title and summary; `key` makes their ids unique.

    It is as wide as the page, or with `own_size` no wider than it was drawn.
    """
    size = {"width": _plain(width), "height": _plain(height), "class_": "own-size"} if own_size else {}
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", summary, id=f"{key}-desc"),
        *children,
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        **size,
    )


def as_file(picture: Markup, *, width: float, height: float) -> str:
    """A drawing in a file of its own, with the namespace and the size that it has from the page otherwise."""
    view = f"0 0 {width:g} {height:g}"
    file = element("svg", picture, xmlns="http://www.w3.org/2000/svg", viewBox=view, width=width, height=height)
    return f"{file}\n"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """A rectangle; at least a pixel each way, so that a very narrow interval is still visible."""
    return element("rect", x=x, y=y, width=max(width, 1.0), height=max(height, 1.0), class_=class_)


def marker(index: int, x: float, y: float, r: float = 5.0) -> Markup:
    """The mark of the candidate at this place in the comparison."""
    class_ = f"mark k{index % COLOURS}"
    shape = SHAPES[index % len(SHAPES)]
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=r, class_=class_)
    points = " ".join(f"{_plain(x + r * dx)},{_plain(y + r * dy)}" for dx, dy in _OUTLINES[shape])
    return element("polygon", points=points, class_=class_)


def key(mark: Markup) -> Markup:
    """A mark of radius 5 around (8, 8) for use before a name."""
    return element("svg", mark, viewBox="0 0 16 16", class_="key", aria_hidden="true")


def keys(count: int) -> list[Markup]:
    """The marks of the first candidates for use before their names."""
    return [key(marker(index, 8.0, 8.0, 5.0)) for index in range(count)]


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
    """The approximate width of a text in a font of this size; the font itself is not known here."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    """In units of the size of the font, for one of the widest fonts in use."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    return _WIDTHS.get(character, _CAPITAL if character.isupper() else _OTHER)


def fitted(text: str, room: float, size: float) -> str:
    """The text without its middle where it is too wide, because names of one family differ at their ends.

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


# An outlier may make the axis this many times as long as the typical distance from real text; beyond that, the axis is
# stretched.
_LOPSIDED = 12.0
_AIR = 0.06


@dataclass(frozen=True)
class Axis:
    """A scale from values (`low` to `high`) to pixels (`start` to `end`; swapped ends reverse it).

    With a `bend` it is stretched around `centre`, asinh((value - centre) / bend): linear near it, logarithmic far away.
    """

    low: float
    high: float
    start: float
    end: float
    centre: float = 0.0
    bend: float = 0.0
    ticks: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        """The pixel of a value, limited to the axis."""
        at, low, high = (self._unbent(v) for v in (min(max(value, self.low), self.high), self.low, self.high))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def value(self, share: float) -> float:
        """The value at this share of the axis."""
        low, high = self._unbent(self.low), self._unbent(self.high)
        at = low + share * (high - low)
        return self.centre + self.bend * math.sinh(at) if self.bend else at

    def _unbent(self, value: float) -> float:
        return math.asinh((value - self.centre) / self.bend) if self.bend else value


def axis(values: Iterable[float], start: float, end: float, *, centre: float = math.nan, about: int = 4) -> Axis:
    """An axis that covers all finite values and has about this many ticks, stretched around `centre` if needed.

    >>> axis([0.81, 0.83, 0.86], 0, 100).ticks
    (0.82, 0.84, 0.86)
    >>> axis([0.001, 0.002, 0.003, 5.0], 0, 100, centre=0.002).ticks
    (0.0, 0.003, 0.02, 0.2, 2.0)
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    finest = _finest(max(abs(low), abs(high)))
    bend = _bend(finite, centre)
    if bend:
        bare = Axis(low, high, start, end, centre, bend)
        wide = Axis(bare.value(-_AIR), bare.value(1 + _AIR), start, end, centre, bend)
    else:
        air = max(_AIR * (high - low), 0.6 * finest)
        wide = Axis(low - air, high + air, start, end)
    ticks = tuple(_bent_ticks(wide, about) if bend else _even_ticks(wide, about, finest))
    return Axis(wide.low, wide.high, start, end, wide.centre, bend, ticks)


def _bend(values: list[float], centre: float) -> float:
    """The distance from the centre up to which the axis is about linear, 0 for a plain axis."""
    distances = [abs(value - centre) for value in values]
    if math.isnan(centre) or len(values) < 3 or max(distances) <= _LOPSIDED * median(distances):
        return 0.0
    return median(distances) or max(distances) / (4 * _LOPSIDED)


def _even_ticks(scale: Axis, about: int, finest: float) -> list[float]:
    step = max(_step((scale.high - scale.low) / about), finest)
    places = range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)
    return [_exact(place * step, step) for place in places]


def _bent_ticks(scale: Axis, about: int) -> list[float]:
    """Places along the axis, each moved to a round number nearby, and kept if it does not touch the previous one."""
    ticks: list[float] = []
    apart = 0.7 * abs(scale.end - scale.start) / about
    for place in range(12 * about + 1):
        share, half = place / (12 * about), 0.25 / about
        step = _step((scale.value(share + half) - scale.value(share - half)) / 2)
        tick = _exact(round(scale.value(share) / step) * step, step)
        if scale.low <= tick <= scale.high and (not ticks or abs(scale(tick) - scale(ticks[-1])) > apart):
            ticks.append(tick)
    return sorted(ticks)


def _finest(largest: float) -> float:
    """The smallest step that three significant digits can show at this size."""
    return float(10.0 ** (math.floor(math.log10(largest)) - 2)) if largest > 0 else 0.01


def _step(rough: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten."""
    power = float(10.0 ** math.floor(math.log10(rough)))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def _exact(value: float, step: float) -> float:
    """Rounded to the step's own digits, so that 3 * 0.1 is 0.3; never minus zero."""
    return round(value, max(0, 1 - math.floor(math.log10(step)))) + 0.0


def legible(scale: Axis, size: float) -> list[float]:
    """The ticks of a level axis whose labels, in a font of this size, do not touch each other."""
    kept: list[float] = []
    end = -math.inf
    for tick in sorted(scale.ticks, key=scale):
        half = text_width(number(tick), size) / 2
        if scale(tick) - half > end:
            kept.append(tick)
            end = scale(tick) + half + size / 2
    return kept


def reach(result: Result) -> list[float]:
    """The finite values that a drawing of this result must cover: its estimate and the ends of its interval."""
    if not drawable(result):
        return []
    ends = [result.interval.low, result.interval.high] if result.interval else []
    return [value for value in (result.estimate, *ends) if math.isfinite(value)]


def drawable(result: Result) -> bool:
    """True when there is a finite number to draw."""
    return result.undefined is None and math.isfinite(result.estimate)


_WIDTH, _HEIGHT, _GAP = 600.0, 26.0, 1.5


def piece_bar(counts: Iterable[tuple[str, int]]) -> Markup:
    """A bar with one piece per class, as long as its count; the numbers are given beside it as text."""
    known = list(counts)
    total = sum(count for _, count in known) or 1
    pieces, at = [], 0.0
    for class_, count in known:
        width = _WIDTH * count / total
        if count:
            pieces.append(rectangle(at, 0.0, max(width - _GAP, 1.0), _HEIGHT, class_))
        at += width
    view = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return element("svg", *pieces, viewBox=view, preserveAspectRatio="none", class_="kind-bar", aria_hidden="true")
