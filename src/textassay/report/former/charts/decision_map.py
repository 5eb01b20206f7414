"""The decision map: every item by log-probability and rating, over the vote of its neighbours."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.report.former.charts.svg import (
    SHAPES,
    Axis,
    Box,
    axis,
    drawing,
    element,
    fitted,
    key,
    legible,
    line,
    marker,
    piece_bar,
    stamps,
)
from textassay.report.former.huse_scores import log_prob_of, whole_texts
from textassay.studies.huse.result import KINDS, DecisionMap, HuseResult

_CLASSES = {
    "quality failure": "quality-kind",
    "diversity failure": "diversity-kind",
    "indistinguishable": "alike-kind",
}
_SHAPES = {"quality failure": "down", "diversity failure": "diamond", "indistinguishable": "hexagon"}
# As in the paper: squares are human items, circles items from the model.
_SOURCE_SHAPES = ("square", "circle")
SOURCE_CLASSES = ("human-source", "model-source")


def kind_class(kind: str) -> str:
    """The class that colours a kind; an unknown kind is shown as indistinguishable."""
    return _CLASSES.get(kind, _CLASSES["indistinguishable"])


def kind_key(kind: str) -> Markup:
    """The mark of a kind, for use before its name."""
    return _key(_SHAPES.get(kind, "hexagon"), kind_class(kind))


@dataclass(frozen=True)
class Kind:
    """A kind of items as a page shows it: its mark, and the class that colours it."""

    key: Markup
    css_class: str


def shown_kinds(found: HuseResult) -> dict[str, Kind]:
    """All known kinds in their order, and any other kind that items have."""
    kinds = dict.fromkeys((*KINDS, *(judged.kind for judged in found.items)))
    return {kind: Kind(kind_key(kind), kind_class(kind)) for kind in kinds}


def source_key(is_model: bool) -> Markup:
    """The mark of a source, for use before its name."""
    return _key(_SOURCE_SHAPES[is_model], SOURCE_CLASSES[is_model])


def _key(shape: str, class_: str) -> Markup:
    return key(element("g", marker(SHAPES.index(shape), 8.0, 8.0, 5.0), class_=class_))


def source_marks(is_model: bool, places: Iterable[tuple[float, float]], r: float) -> Markup:
    """The mark of a source at many places; circles are thick dots, drawn over larger ones that give them an edge."""
    marks = stamps(SHAPES.index(_SOURCE_SHAPES[is_model]), places, r)
    behind = [element("g", marks, class_="edge")] if is_model else []
    return element("g", *behind, marks, class_=SOURCE_CLASSES[is_model])


def kind_bar(counts: Sequence[int]) -> Markup:
    """A bar for all items with one piece per kind; the numbers are given beside it as text."""
    return piece_bar((kind_class(kind), count) for kind, count in zip(KINDS, counts, strict=True))


# The vote is drawn in this many steps, the middle one without colour.
STEPS = 11
_SMALL = 11.0
_LONGEST_NAME = 84.0
# Up to this many items: their class and the size of their squares; the class sets the size of circles.
_DENSITIES: tuple[tuple[float, str, float], ...] = ((400, "few", 3.4), (1500, "many", 2.4), (math.inf, "dense", 1.6))
_TURNS = 6


@dataclass(frozen=True)
class Canvas:
    """A size to draw at."""

    key: str
    width: float
    height: float

    def frame(self, named: bool) -> Box:
        """Where the data goes; names of ratings need space at the left."""
        return Box(46.0 + named * (_LONGEST_NAME - 8), 12.0, self.width - 12.0, self.height - 44.0)


WIDE = Canvas("map-wide", 720.0, 500.0)
NARROW = Canvas("map-narrow", 360.0, 380.0)


@dataclass(frozen=True)
class Drawn:
    """The drawing at one size, with the axes that give the places of items."""

    key: str
    chart: Markup
    x: Axis
    y: Axis


@dataclass(frozen=True)
class Map:
    """Both drawings, how many items are not drawn because a number is missing, and a class for the density of marks."""

    wide: Drawn
    narrow: Drawn
    missing: int
    density: str


def draw_map(found: HuseResult, *, cell: float) -> Map | None:
    """The map; marks within the same cell of this many pixels are drawn once. None if no item has a place."""
    whole = whole_texts(found)
    known = [(log_prob_of(j, whole=whole), j.rating, j.item.is_model) for j in found.items]
    placed = [point for point in known if _finite(*point)]
    if not placed:
        return None
    wide, narrow = (_draw(found, placed, canvas, cell) for canvas in (WIDE, NARROW))
    return Map(wide, narrow, len(found.items) - len(placed), _density(len(placed))[0])


def _density(count: int) -> tuple[str, float]:
    """A class and the size of squares: with many items marks are small, or they would cover each other."""
    return next((name, size) for most, name, size in _DENSITIES if count <= most)


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _draw(found: HuseResult, placed: Sequence[tuple[float, float, bool]], canvas: Canvas, cell: float) -> Drawn:
    labels = found.rated.labels if canvas is WIDE else {}
    frame = canvas.frame(bool(labels))
    across = [x for x, _, _ in placed]
    # A text with an extremely low probability would otherwise push all others to the edge.
    x = axis(across, frame.left, frame.right, about=6, centre=sorted(across)[len(across) // 2])
    y = axis([y for _, y, _ in placed], frame.bottom, frame.top, about=6)
    chart = drawing(
        *_shades(found.decision_map, x, y),
        *_ground(x, y, frame, {value: shortened(name, 40) for value, name in labels.items()}),
        *_marks(placed, x, y, cell),
        *_names(frame, canvas, whole=whole_texts(found)),
        width=canvas.width,
        height=canvas.height,
        key=canvas.key,
        title="Decision map: rating against log-probability",
        summary=_described(found, placed),
    )
    return Drawn(canvas.key, chart, x, y)


def _described(found: HuseResult, placed: Sequence[tuple[float, float, bool]]) -> str:
    model = sum(is_model for *_, is_model in placed)
    right = sum(judged.told for judged in found.items)
    return (
        f"{len(placed) - model:,} human items as squares, {model:,} from {shortened(found.rated.model, 40)} as circles;"
        f" neighbours name the right source for {right:,} of {len(found.items):,}"
    )


def _shades(found: DecisionMap, x: Axis, y: Axis) -> Iterator[Markup]:
    """One path per step of the vote, in which neighbouring cells of a row are one rectangle."""
    lefts, tops = _edges(found.log_probs, x), _edges(found.ratings, y)
    paths: dict[int, list[str]] = {}
    for row, (low, high) in enumerate(tops):
        steps = [_step(column[row]) for column in found.share_model]
        at = 0
        for step, run in groupby(steps):
            end = at + len(list(run))
            paths.setdefault(step, []).append(_rectangle(lefts[at][0], high, lefts[end - 1][1], low))
            at = end
    for step, rectangles in sorted(paths.items()):
        if step not in (-1, STEPS // 2):
            yield element("path", d="".join(rectangles), class_=f"vote v{step}")


def _step(share: float) -> int:
    return round(share * (STEPS - 1)) if math.isfinite(share) else -1


def _edges(places: Sequence[float], scale: Axis) -> list[tuple[float, float]]:
    """The ends of each cell: half-way to its neighbours, and at the ends of the axis."""
    middles = [scale((a + b) / 2) for a, b in pairwise(places)]
    ends = [scale(scale.low), *middles, scale(scale.high)] if places else []
    return list(pairwise(ends))


def _rectangle(left: float, top: float, right: float, bottom: float) -> str:
    return f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}z"


def _ground(x: Axis, y: Axis, frame: Box, names: dict[float, str]) -> Iterator[Markup]:
    for tick in legible(x, _SMALL):
        yield line(x(tick), frame.bottom, x(tick), frame.bottom + 4, "zero")
        yield element("text", f"{tick:g}", x=x(tick), y=frame.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        text = fitted(f"{names[tick]} {tick:g}", _LONGEST_NAME, _SMALL) if tick in names else f"{tick:g}"
        yield line(frame.left - 4, y(tick), frame.left, y(tick), "zero")
        yield element("text", text, x=frame.left - 7, y=y(tick) + 4, text_anchor="end", class_="tick")
    yield element(
        "rect",
        x=frame.left,
        y=frame.top,
        width=frame.right - frame.left,
        height=frame.bottom - frame.top,
        class_="frame",
    )


def _marks(placed: Sequence[tuple[float, float, bool]], x: Axis, y: Axis, cell: float) -> Iterator[Markup]:
    """The marks of both sources in turns, so that neither covers all of the other."""
    _, size = _density(len(placed))
    for turn in range(_TURNS):
        for is_model in (False, True):
            pixels = [(x(a), y(b)) for a, b, model in placed if model == is_model]
            if cell:
                pixels = list({(round(a / cell) * cell, round(b / cell) * cell): None for a, b in pixels})
            if pixels[turn::_TURNS]:
                yield source_marks(is_model, pixels[turn::_TURNS], size)


def _names(frame: Box, canvas: Canvas, *, whole: bool) -> Iterator[Markup]:
    middle, centre = (frame.top + frame.bottom) / 2, (frame.left + frame.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    what = "log-probability of the text" if whole else "log-probability per token"
    across = f"{what}: more likely under the model →" if canvas is WIDE else f"{what} →"
    yield element("text", across, x=centre, y=frame.bottom + 36, **style)
    yield element("text", "mean rating →", transform=f"translate(13 {middle:.0f}) rotate(-90)", **style)
