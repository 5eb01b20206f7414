"""Charts of a conditional study: sensitivity curves, kinds of items, scatters of items, and one strip per metric."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from textassay.corpus.printable import many, shortened
from textassay.document.words import p_text
from textassay.inference.result import Result
from textassay.report.former.charts.strips import Bar, Baseline, Strip, strip_axis, strip_chart
from textassay.report.former.charts.svg import (
    COLOURS,
    SHAPES,
    Axis,
    Box,
    axis,
    drawing,
    element,
    key,
    keys,
    legible,
    line,
    marker,
    piece_bar,
    stamps,
)
from textassay.report.former.conditional_table import TARGET, kind_counts, own_sizes, part_sizes
from textassay.report.former.table import better_words
from textassay.studies.conditional.result import (
    KIND_WORDS,
    KINDS,
    Conditional,
    CurvePoint,
    Sensitivity,
    SystemColumn,
    chance_of,
)

_CURVE_WIDTH, _CURVE_HEIGHT = 480.0, 300.0
_CURVE_FRAME = Box(56.0, 14.0, _CURVE_WIDTH - 14.0, _CURVE_HEIGHT - 42.0)
# Smaller p-values are drawn here: they decide nothing more, and one such line would flatten all others.
_SMALLEST = 1e-100


@dataclass(frozen=True)
class Need:
    """What one metric needs for the wanted power: numbers as text, and the power with all texts."""

    label: str
    candidates: str
    references: str
    power: float
    item_power: float


@dataclass(frozen=True)
class Curve:
    """The chart of one system, the labels of its lines in order with their marks, and what each metric needs."""

    sensitivity: Sensitivity
    labels: tuple[str, ...]
    marks: tuple[Markup, ...]
    chart: Markup | None
    references: int
    needs: tuple[Need, ...]


def curves(found: Sequence[Sensitivity]) -> list[Curve]:
    """A chart for each system with a sensitivity curve."""
    return [_curve(index, each) for index, each in enumerate(found)]


def _curve(index: int, sensitivity: Sensitivity) -> Curve:
    labels = tuple(dict.fromkeys(point.label for point in sensitivity.points))
    most = max((point.references for point in sensitivity.points), default=0)
    lines = [_falling(sensitivity.points, label, most) for label in labels]
    drawn = [point for points in lines for point in points]
    return Curve(
        sensitivity=sensitivity,
        labels=labels,
        marks=tuple(keys(len(labels))),
        chart=_chart(index, sensitivity, lines) if drawn else None,
        references=most,
        needs=tuple(_need(sensitivity, label) for label in sensitivity.needed),
    )


def _falling(points: Sequence[CurvePoint], label: str, references: int) -> list[CurvePoint]:
    """The points of a metric at all references, by the number of candidates."""
    own = [p for p in points if p.label == label and p.references == references and math.isfinite(p.p_value)]
    return sorted(own, key=lambda point: point.candidates)


def _chart(index: int, sensitivity: Sensitivity, lines: Sequence[Sequence[CurvePoint]]) -> Markup:
    drawn = [point for points in lines for point in points]
    x = axis([float(point.candidates) for point in drawn], _CURVE_FRAME.left + 8, _CURVE_FRAME.right - 8, about=10)
    limit = math.log10(1 - sensitivity.level)
    y = axis([0.0, limit, *map(_height, drawn)], _CURVE_FRAME.bottom, _CURVE_FRAME.top, about=5)
    name = shortened(sensitivity.system, 60)
    return drawing(
        *_curve_ground(x, y, sorted({point.candidates for point in drawn})),
        *_limit(y, limit),
        *(_line(place, points, x, y) for place, points in enumerate(lines) if points),
        width=_CURVE_WIDTH,
        height=_CURVE_HEIGHT,
        key=f"curve-{index}",
        title=f"p-value of {name} by number of candidates",
        summary="; ".join(_described(points) for points in lines if points),
    )


def _height(point: CurvePoint) -> float:
    return math.log10(max(point.p_value, _SMALLEST))


def _described(points: Sequence[CurvePoint]) -> str:
    first, last = points[0], points[-1]
    return (
        f"{shortened(first.label, 40)}: p {p_text(first.p_value)} at {first.candidates}"
        f" and {p_text(last.p_value)} at {last.candidates} candidates"
    )


def _curve_ground(x: Axis, y: Axis, counts: Sequence[int]) -> Iterator[Markup]:
    every = max(1, math.ceil(len(counts) / 12))
    for count in counts[::every]:
        at = x(float(count))
        yield line(at, _CURVE_FRAME.top, at, _CURVE_FRAME.bottom, "grid")
        yield element("text", str(count), x=at, y=_CURVE_FRAME.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(_CURVE_FRAME.left, y(tick), _CURVE_FRAME.right, y(tick), "grid")
        yield element("text", f"{tick:g}", x=_CURVE_FRAME.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")
    middle, centre = (_CURVE_FRAME.top + _CURVE_FRAME.bottom) / 2, (_CURVE_FRAME.left + _CURVE_FRAME.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", "candidates per item", x=centre, y=_CURVE_FRAME.bottom + 34, **style)
    yield element("text", "log10 of combined p", transform=f"translate(14 {middle:.0f}) rotate(-90)", **style)


def _limit(y: Axis, limit: float) -> Iterator[Markup]:
    yield line(_CURVE_FRAME.left, y(limit), _CURVE_FRAME.right, y(limit), "real")
    text = f"p = {10**limit:.3g}"
    yield element("text", text, x=_CURVE_FRAME.left + 2, y=y(limit) - 5, class_="real-name")


def _line(place: int, points: Sequence[CurvePoint], x: Axis, y: Axis) -> Markup:
    pixels = [(x(float(point.candidates)), y(_height(point))) for point in points]
    path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in pixels)
    return element(
        "g",
        element("title", _described(points)),
        element("path", d=path, class_=f"bar curve k{place % COLOURS}"),
        *(marker(place, across, down, 4.0) for across, down in pixels),
    )


def _need(sensitivity: Sensitivity, label: str) -> Need:
    points = [point for point in sensitivity.points if point.label == label]
    largest = max(points, key=lambda point: (point.candidates, point.references), default=None)
    fewest = sensitivity.needed[label]
    candidates, references = (
        "more" if fewest.get(side) is None else f"{fewest[side]}" for side in ("candidates", "references")
    )
    return Need(
        shortened(label, 60),
        candidates,
        references,
        largest.power if largest else math.nan,
        largest.item_power if largest else math.nan,
    )


# CSS classes by kind.
CLASSES = {
    "too narrow": "narrow-kind",
    "too wide": "wide-kind",
    "elsewhere": "elsewhere-kind",
    "too close": "close-kind",
    "differs": "differs-kind",
    "same": "same-kind",
    "untested": "untested-kind",
}


_SHAPES = {
    "too narrow": "down",
    "too wide": "triangle",
    "elsewhere": "square",
    "too close": "hexagon",
    "differs": "plus",
    "same": "circle",
    "untested": "diamond",
}


def kind_class(kind: str) -> str:
    """The class that colours a kind; an unknown kind is shown as untested."""
    return CLASSES.get(kind, CLASSES["untested"])


def kind_word(kind: str) -> str:
    """The words that a report shows for a kind."""
    return KIND_WORDS.get(kind, kind)


def kind_key(kind: str) -> Markup:
    """The mark of a kind, for use before its name."""
    return key(element("g", marker(_shape(kind), 8.0, 8.0, 5.0), class_=kind_class(kind)))


@dataclass(frozen=True)
class Kind:
    """A kind of items as a page shows it: its words, its mark, and the class that colours it."""

    words: str
    key: Markup
    css_class: str


def shown_kinds(conditional: Conditional) -> dict[str, Kind]:
    """All known kinds in their order, and any other kind that items have."""
    others = (item.miss.kind for system in conditional.systems for item in system.items)
    return {kind: Kind(kind_word(kind), kind_key(kind), kind_class(kind)) for kind in dict.fromkeys((*KINDS, *others))}


def kind_marks(kind: str, places: Iterable[tuple[float, float]], r: float) -> Markup:
    """The mark of a kind at many places."""
    return element("g", stamps(_shape(kind), places, r), class_=kind_class(kind))


def _shape(kind: str) -> int:
    return SHAPES.index(_SHAPES.get(kind, "diamond"))


def kind_bar(counts: Mapping[str, int]) -> Markup:
    """A bar for all items with one piece per kind; the numbers are given beside it as text."""
    return piece_bar([(kind_class(kind), count) for kind, count in counts.items()])


_SCATTER_WIDTH, _SCATTER_HEIGHT = 420.0, 340.0
_SCATTER_FRAME = Box(46.0, 12.0, _SCATTER_WIDTH - 12.0, _SCATTER_HEIGHT - 44.0)
_SMALL = 11.0


@dataclass(frozen=True)
class Scatter:
    """The chart of one system, and how many of its items are not on it."""

    index: int
    system: SystemColumn
    chart: Markup
    missing: int


def scatters(conditional: Conditional, *, cell: float) -> list[Scatter]:
    """One chart per system, all with the same axes; marks within the same cell of this many pixels are drawn once."""
    points = [point for system in conditional.systems for kind in KINDS for point in _points(system, kind)]
    if not points:
        return []
    x = _scale([place for place, _ in points], _SCATTER_FRAME.left, _SCATTER_FRAME.right)
    y = _scale([spread for _, spread in points], _SCATTER_FRAME.bottom, _SCATTER_FRAME.top)
    return [_scatter(index, system, x, y, cell) for index, system in enumerate(conditional.systems)]


def _points(system: SystemColumn, kind: str) -> list[tuple[float, float]]:
    """Place and spread of the items of this kind; items without a test of these have no mark."""
    if kind in ("differs", "untested"):
        return []
    misses = [item.miss for item in system.items if item.miss.kind == kind]
    return [(m.place, m.spread) for m in misses if math.isfinite(m.place) and math.isfinite(m.spread)]


def _scale(values: list[float], start: float, end: float) -> Axis:
    # Chance, at zero, and both sides of it are always visible.
    return axis([*values, -1.0, 1.0], start, end, about=6)


def _scatter(index: int, system: SystemColumn, x: Axis, y: Axis, cell: float) -> Scatter:
    by_kind = {kind: _points(system, kind) for kind in KINDS}
    drawn = sum(map(len, by_kind.values()))
    counts = ", ".join(f"{kind_word(kind)} {count:,}" for kind, count in kind_counts(system).items())
    # Significant items are drawn on top of the others.
    marks = [kind_marks(kind, _cells(points, x, y, cell), 3.2) for kind, points in reversed(by_kind.items()) if points]
    chart = drawing(
        *_scatter_ground(x, y),
        *marks,
        *_names(),
        width=_SCATTER_WIDTH,
        height=_SCATTER_HEIGHT,
        key=f"scatter-{index}",
        title=f"Items of {shortened(system.name, 60)}: place against spread",
        summary=f"{many(drawn, 'item')}: {counts}",
    )
    return Scatter(index, system, chart, len(system.items) - drawn)


def _cells(points: list[tuple[float, float]], x: Axis, y: Axis, cell: float) -> list[tuple[float, float]]:
    """Pixels of the points, one per cell: a page of ten thousand items has no room for ten thousand marks."""
    found = {(round(x(a) / cell), round(y(b) / cell)): None for a, b in points}
    return [(across * cell, down * cell) for across, down in found]


def _scatter_ground(x: Axis, y: Axis) -> Iterator[Markup]:
    for tick in legible(x, _SMALL):
        yield line(x(tick), _SCATTER_FRAME.top, x(tick), _SCATTER_FRAME.bottom, "zero" if tick == 0 else "grid")
        yield element("text", f"{tick:g}", x=x(tick), y=_SCATTER_FRAME.bottom + 16, text_anchor="middle", class_="tick")
    for tick in y.ticks:
        yield line(_SCATTER_FRAME.left, y(tick), _SCATTER_FRAME.right, y(tick), "zero" if tick == 0 else "grid")
        yield element("text", f"{tick:g}", x=_SCATTER_FRAME.left - 6, y=y(tick) + 4, text_anchor="end", class_="tick")


def _names() -> Iterator[Markup]:
    middle, centre = (_SCATTER_FRAME.top + _SCATTER_FRAME.bottom) / 2, (_SCATTER_FRAME.left + _SCATTER_FRAME.right) / 2
    style = {"text_anchor": "middle", "class_": "axis-name"}
    yield element("text", "place: farther apart →", x=centre, y=_SCATTER_FRAME.bottom + 36, **style)
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    yield element("text", "← too wide   spread   too narrow →", transform=turned, **style)


def item_strip(conditional: Conditional, place: int) -> Strip:
    """The strip of the metric at this place."""
    human = conditional.human.results[place]
    reason = _not_comparable(conditional, place)
    if reason:
        human = replace(human, estimate=math.nan, interval=None, undefined=reason)
    bars = [_bar(conditional, system, place) for system in conditional.systems]
    label = shortened(conditional.labels[place], 60)
    scale = strip_axis(human, bars)
    baseline = Baseline("human", "human", Bar(conditional.human.name, human), reason or "no number")
    title = f"{label} of each system"
    chart = strip_chart(baseline, bars, scale, key=f"strip-{place}", title=title, level=conditional.level)
    remarks = tuple(_remarks(conditional, place, bars, scale))
    return Strip(label, human.aspect, better_words(human.better, TARGET), chart, remarks)


def beside_human(conditional: Conditional, system: SystemColumn, place: int) -> Result:
    """The result of a system that is comparable with the human one: of the same size if there is one."""
    return system.at_baseline_size.get(conditional.labels[place], system.results[place])


def _not_comparable(conditional: Conditional, place: int) -> str:
    """Why the human value has no place on the axis of the systems: the sizes, or empty if they are the same."""
    human, label = conditional.human.results[place], conditional.labels[place]
    if human.undefined is not None:
        return ""
    here = part_sizes(human, conditional.human_sizes)
    whole = [system.results[place] for system in conditional.systems if label not in system.at_baseline_size]
    found = dict.fromkeys(own_sizes(result) for result in whole if result.undefined is None)
    others = [sizes for sizes in found if sizes not in ("", here)]
    return f"not comparable: {here} against {' and '.join(others)}" if others else ""


def _bar(conditional: Conditional, system: SystemColumn, place: int) -> Bar:
    result = beside_human(conditional, system, place)
    return Bar(system.name, result, chance_of(result))


def _remarks(conditional: Conditional, place: int, bars: Sequence[Bar], scale: Axis) -> Iterator[str]:
    if scale.bend:
        yield "Axis stretched around the human value"
    if any(bar.result is not system.results[place] for bar, system in zip(bars, conditional.systems, strict=True)):
        size = part_sizes(conditional.human.results[place], conditional.human_sizes)
        yield f"All drawn at {size} texts per item, the largest size with a human value; the table also has whole items"
    if any(not math.isnan(bar.chance) for bar in bars):
        yield "The open circle is chance"
