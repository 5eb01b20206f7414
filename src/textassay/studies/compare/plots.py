"""The plots of a comparison: separable shares, the plane of quality and diversity, and a strip per metric."""

import math
from collections.abc import Iterator, Sequence

from textassay.corpus.printable import shortened
from textassay.document.blocks import REAL, Chart
from textassay.document.plot import Band, Layer, Marks, Plot, Point, Scale, rule
from textassay.document.results import better_words, cell_text, ends, in_unit, result_cell, unit_of_results
from textassay.document.words import sentence
from textassay.inference.effect_size import CLEAR, LARGE
from textassay.inference.result import Result
from textassay.studies.compare.ranking import Ranked, Ranking
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.planes import plane_axis, plane_bands, plane_indexes

# Candidates in the picture of the summary; the table has all.
_MOST_PICTURED = 24


def separable_plot(order: Ranking) -> Plot | None:
    """The separable shares with their lower bounds, the closest candidate first; None where there are none."""
    known = [row for row in order.rows if _share(row) is not None]
    rows = known[:_MOST_PICTURED]
    if not rows:
        return None
    few = f"the {len(rows)} closest of {len(known)} candidates" if len(known) > len(rows) else "each candidate"
    points = tuple(_share_point(row, float(index)) for index, row in enumerate(rows))
    return Plot(
        f"Separable share of {few}",
        Scale("separable share: texts unlike the reference's", better="lower", limits=(0.0, 1.0), percent=True),
        Scale(names=tuple(shortened(row.column.name, 60) for row in rows)),
        (rule("x", 0.0, dashed=False), rule("x", CLEAR, "clear"), rule("x", LARGE, "large"), Marks(points)),
        summary="; ".join(point.detail for point in points),
        size="large",
    )


def _share(row: Ranked) -> tuple[float, float] | None:
    """The separable share of a candidate and its lower bound."""
    share = row.column.overall.separable if row.column.overall is not None else None
    if share is None or share.estimate is None or share.low is None:
        return None
    return max(share.estimate, 0.0), share.low


def _share_point(row: Ranked, place: float) -> Point:
    share = _share(row)
    assert share is not None
    value, low = share
    text = f"{100 * value:.0f} %"
    detail = f"{shortened(row.column.name, 60)}: {text}, at least {100 * low:.0f} %"
    return Point(value, place, (min(low, value), value), candidate=row.index, label=text, detail=detail)


def plane_chart(found: Comparison) -> Chart | None:
    """The candidates in the plane of a quality and a diversity metric; None without such metrics."""
    places = _plane_places(found)
    if places is None:
        return None
    without = " without Markdown" if found.real.axes_without_markup else ""
    columns = [found.real, *found.candidates]
    units = [unit_of_results(pair[axis] for pair in (_axes(found, c, places) for c in columns)) for axis in (0, 1)]
    labels = [
        f"{shortened(found.labels[place], 30)}{without}{f' in {unit.name}' if unit.name else ''}"
        for place, unit in zip(places, units, strict=True)
    ]
    scaled = [[in_unit(*each) for each in zip(_axes(found, c, places), units, strict=True)] for c in columns]
    names = [shortened(name, 60) for name in found.names]
    real, *points = [
        _point(found, pair, index, name, labels)
        for index, (pair, name) in enumerate(zip(scaled, ["real text", *names], strict=True), REAL)
    ]
    quality, diversity = scaled[0]
    drawn = tuple(point for point in points if math.isfinite(point.x) and math.isfinite(point.y))
    plot = Plot(
        "Quality and diversity",
        plane_axis("quality", labels[0], quality),
        plane_axis("diversity", labels[1], diversity),
        (*plane_bands(quality, diversity), Marks((real,)), Marks(drawn)),
        summary="; ".join(point.detail for point in (real, *drawn)),
        size="large",
    )
    caption = f"Horizontal axis: {labels[0]}. Vertical axis: {labels[1]}. Bars and bands are intervals."
    missing = [name for name, point in zip(names, points, strict=True) if point not in drawn]
    return Chart(plot, caption, tuple(_plane_remarks(found, places, missing)))


def _plane_places(found: Comparison) -> tuple[int, int] | None:
    """The places of the quality and the diversity metric to draw, None when one of them is missing."""
    results = {
        index: real
        for index, real in enumerate(found.real.results)
        if any(math.isfinite(column.results[index].estimate) for column in found.candidates)
    }
    # A plane needs two metrics.
    return plane_indexes(results) if len(results) > 1 else None


def _axes(found: Comparison, column: Column, places: tuple[int, int]) -> tuple[Result, Result]:
    """The results of a column on both axes, without Markdown where the samples differ in it."""
    first, second = (
        column.axes_without_markup.get(found.labels[index], column.beside_real(found.labels[index], result))
        for index, result in ((index, column.results[index]) for index in places)
    )
    return first, second


def _point(found: Comparison, pair: Sequence[Result], index: int, name: str, labels: Sequence[str]) -> Point:
    values = [
        f"{label} {cell_text(result_cell(result, level=found.level))}"
        for label, result in zip(labels, pair, strict=True)
    ]
    x, y = pair
    return Point(x.estimate, y.estimate, ends(x), ends(y), index, name, f"{name}: {', '.join(values)}")


def _plane_remarks(found: Comparison, places: tuple[int, int], missing: Sequence[str]) -> Iterator[str]:
    """Candidates that are left out, and differences in size."""
    if missing:
        yield f"Not drawn, because a number is missing on one of the axes: {', '.join(missing)}."
    for index in places:
        remark = _size_remark(found, index)
        if remark:
            yield f"{shortened(found.labels[index], 60)}: {remark}."


def strip_chart(found: Comparison, place: int) -> Chart:
    """One metric of all candidates beside real text."""
    measured = [column.beside_real(found.labels[place], column.results[place]) for column in found.candidates]
    unit = unit_of_results([found.real.results[place], *measured])
    real, *results = [in_unit(result, unit) for result in (found.real.results[place], *measured)]
    names = [shortened(name, 60) for name in found.names]
    rows = list(zip(names, results, strict=True))
    values = [f"{name} {cell_text(result_cell(each, level=found.level))}" for name, each in rows]
    layers: list[Layer] = []
    if math.isfinite(real.estimate):
        values.insert(0, f"real text {cell_text(result_cell(real, level=found.level))}")
        layers.append(Band("x", *(ends(real) or (real.estimate,) * 2), real.estimate, "real"))
    layers.append(Marks(tuple(_strip_point(at, *row, level=found.level) for at, row in enumerate(rows))))
    better = better_words(real.better, target="real text")
    plot = Plot(
        unit.behind(shortened(found.labels[place], 60)),
        Scale(better, better=real.better, centre=real.estimate if math.isfinite(real.estimate) else None),
        Scale(names=tuple(names)),
        tuple(layers),
        summary="; ".join(values),
        size="strip",
    )
    remark = _size_remark(found, place)
    return Chart(plot, remarks=(sentence(remark),) if remark else ())


def _strip_point(index: int, name: str, result: Result, *, level: float) -> Point:
    cell = result_cell(result, level=level)
    detail = f"{name}: {cell_text(cell) if result.undefined is None else shortened(result.undefined, 160)}"
    return Point(result.estimate, float(index), ends(result), candidate=index, label=cell.text, detail=detail)


def _size_remark(found: Comparison, place: int) -> str:
    """The size that is drawn if it is not that of the candidates, and a warning if sizes could not be made equal."""
    real, label = found.real.results[place], found.labels[place]
    whole = {column.results[place].n for column in found.candidates}
    drawn = {column.beside_real(label, column.results[place]).n for column in found.candidates}
    if not math.isfinite(real.estimate) or whole == {real.n}:
        return ""
    if drawn == {real.n}:
        return f"all drawn at n = {real.n:,}, the largest size of real v real; the table also has n = {_sizes(whole)}"
    return f"real text has n = {real.n:,}, candidates n = {_sizes(drawn)}; the value may depend on the size"


def _sizes(sizes: set[int]) -> str:
    return f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")
