"""The plots of a conditional study: kinds of items, spread against place, metrics, and p-values by numbers of texts."""

import math
from collections.abc import Iterator, Sequence

from textassay.corpus.printable import many, share, shortened
from textassay.document.plot import Band, Bars, Dots, Line, Marks, Plot, Point, Scale, rule
from textassay.document.results import cell_text, ends, result_cell
from textassay.document.words import p_text
from textassay.inference.result import Result
from textassay.studies.conditional.ranking import beside_people, not_comparable
from textassay.studies.conditional.result import (
    DIFFERENCES,
    KIND_WORDS,
    Conditional,
    CurvePoint,
    Sensitivity,
    SystemColumn,
    chance_of,
    kind_counts,
    kind_tone,
)

# Systems of one chart; the tables have all of them.
_MOST_SYSTEMS = 24
# Items without a test of spread and place have no mark.
_NOT_PLACED = ("differs", "untested")
# Marks nearer than this are drawn once: a chart of ten thousand items has no room for ten thousand marks.
_GRAIN = 0.02
# Smaller p-values are drawn here: they decide nothing more, and one such line would flatten all others.
_SMALLEST = 1e-100


def kinds_plot(systems: Sequence[SystemColumn]) -> Plot:
    """How many items of each system are of each kind."""
    systems = systems[:_MOST_SYSTEMS]
    counted = [kind_counts(system) for system in systems]
    kinds = [kind for kind in KIND_WORDS if any(counts[kind] for counts in counted)]
    shares = tuple(
        tuple(counts[kind] / max(len(system.items), 1) for kind in kinds)
        for system, counts in zip(systems, counted, strict=True)
    )
    return Plot(
        "How the items differ",
        Scale("share of items", percent=True, limits=(0.0, 1.0)),
        Scale(names=tuple(shortened(system.name, 40) for system in systems)),
        (Bars(shares, tuple(map(kind_tone, kinds)), tuple(KIND_WORDS[kind] for kind in kinds)),),
        summary="; ".join(f"{system.name}: {counts_text(system)}" for system in systems),
        size="large",
    )


def counts_text(system: SystemColumn) -> str:
    """How many items there are of each kind; kinds without items are left out."""
    counts = kind_counts(system).items()
    return " · ".join(f"{count:,} {KIND_WORDS[kind]}" for kind, count in counts if count)


def placed(system: SystemColumn, kind: str) -> list[tuple[float, float]]:
    """Place and spread of the items of this kind; items without a test of these have none."""
    if kind in _NOT_PLACED:
        return []
    misses = [item.miss for item in system.items if item.miss.kind == kind]
    return [(m.place, m.spread) for m in misses if math.isfinite(m.place) and math.isfinite(m.spread)]


def spread_plot(system: SystemColumn) -> Plot | None:
    """One mark per item by place and spread, in the tone of its kind; None without any."""
    by_kind = {kind: points for kind in KIND_WORDS if (points := placed(system, kind))}
    if not by_kind:
        return None
    # Items that differ are drawn over the others.
    layers = [
        Dots(_apart(points), tone=kind_tone(kind), name=KIND_WORDS[kind]) for kind, points in reversed(by_kind.items())
    ]
    drawn = sum(map(len, by_kind.values()))
    return Plot(
        f"Items of {shortened(system.name, 60)}",
        Scale("place: to the right, farther apart", limits=(-1.0, 1.0)),
        Scale("spread: above 0 too narrow, below too wide", limits=(-1.0, 1.0)),
        (rule("x", 0.0, dashed=False), rule("y", 0.0, dashed=False), *layers),
        summary=f"{many(drawn, 'item')}: {counts_text(system)}",
    )


def _apart(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return tuple(dict.fromkeys((round(x / _GRAIN) * _GRAIN, round(y / _GRAIN) * _GRAIN) for x, y in points))


def metric_plot(found: Conditional, index: int) -> Plot | None:
    """A metric of each system beside the human value; an open mark is what chance gives. None without a number."""
    systems = found.systems[:_MOST_SYSTEMS]
    results = [beside_people(found, system, index) for system in systems]
    if not any(math.isfinite(result.estimate) for result in results):
        return None
    human, label = found.human.results[index], shortened(found.labels[index], 60)
    is_drawn = math.isfinite(human.estimate) and not not_comparable(found, index)
    layers: list[Band | Marks] = [_human_band(found, human)] if is_drawn else []
    chances = [(place, chance_of(result)) for place, result in enumerate(results)]
    open_marks = tuple(
        Point(chance, place, tone="quiet", open=True, detail="chance")
        for place, chance in chances
        if math.isfinite(chance)
    )
    layers += [Marks(open_marks, "chance")] if open_marks else []
    layers.append(Marks(tuple(_row_points(found, systems, results))))
    shown = [(found.human.name, human)] if is_drawn else []
    shown += [(system.name, result) for system, result in zip(systems, results, strict=True)]
    return Plot(
        label,
        Scale(
            label,
            better="" if human.better == "closer" else human.better,
            centre=human.estimate if is_drawn else None,
        ),
        Scale(names=tuple(shortened(system.name, 40) for system in systems)),
        tuple(layers),
        summary="; ".join(f"{name} {cell_text(result_cell(each, level=found.level))}" for name, each in shown),
        size="strip",
    )


def _human_band(found: Conditional, human: Result) -> Band:
    low, high = ends(human) or (human.estimate, human.estimate)
    return Band("x", low, high, human.estimate, shortened(found.human.name, 40))


def _row_points(found: Conditional, systems: Sequence[SystemColumn], results: Sequence[Result]) -> Iterator[Point]:
    for index, (system, result) in enumerate(zip(systems, results, strict=True)):
        if math.isfinite(result.estimate):
            cell = result_cell(result, level=found.level)
            detail = f"{system.name}: {cell_text(cell)}"
            yield Point(result.estimate, index, ends(result), candidate=index, label=cell.text, detail=detail)


def p_value_plot(curve: Sensitivity) -> Plot | None:
    """The p-value of each metric by the number of candidates at all references; None without any."""
    labels = list(dict.fromkeys(point.label for point in curve.points))
    falling = {label: points for label in labels if (points := _falling(curve, label))}
    if not falling:
        return None
    lines = [
        Line(
            tuple((point.candidates, max(point.p_value, _SMALLEST)) for point in points),
            candidate=labels.index(label),
            name=shortened(label, 60),
            detail=_described(points),
        )
        for label, points in falling.items()
    ]
    limit = 1 - curve.level
    return Plot(
        f"p-value of {shortened(curve.system, 60)} by number of candidates",
        Scale("candidates per item"),
        Scale("combined p", log=True),
        (rule("y", limit, f"p = {limit:.3g}"), *lines),
        summary="; ".join(map(_described, falling.values())),
    )


def _falling(curve: Sensitivity, label: str) -> list[CurvePoint]:
    """The points of a metric at all references, by the number of candidates."""
    most = max(point.references for point in curve.points)
    own = [p for p in curve.points if p.label == label and p.references == most and math.isfinite(p.p_value)]
    return sorted(own, key=lambda point: point.candidates)


def _described(points: Sequence[CurvePoint]) -> str:
    first, last = points[0], points[-1]
    return (
        f"{shortened(first.label, 40)}: p {p_text(first.p_value)} at {first.candidates}"
        f" and {p_text(last.p_value)} at {last.candidates} candidates"
    )


def shares_text(system: SystemColumn) -> str:
    """The shares of items that differ, one answer first and then the most frequent kind; empty without any."""
    counts = {kind: n for kind, n in kind_counts(system).items() if n and kind in DIFFERENCES}
    order = sorted(counts, key=lambda kind: (kind != "collapsed", -counts[kind]))
    return ", ".join(f"{share(counts[kind] / len(system.items))} {KIND_WORDS[kind]}" for kind in order)
