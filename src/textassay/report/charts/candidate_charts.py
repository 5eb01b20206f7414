"""Charts of a comparison: the candidates on the plane of quality and diversity, and one strip per metric."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from textassay.corpus.printable import many, shortened
from textassay.inference.result import Result
from textassay.report.charts.plane import NARROW, WIDE, PlaneChart, Point
from textassay.report.charts.strips import Bar, Baseline, Strip, strip_axis, strip_chart
from textassay.report.charts.svg import Axis, drawable
from textassay.report.table import better_words, figure, short_names
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.outcome import falls, plane_places

STRETCHED = "axis stretched around real text"


def beside_real(comparison: Comparison, column: Column, place: int) -> Result:
    """The result of a column that is comparable with real text: of the same size if there is one."""
    return column.beside_real(comparison.labels[place], column.results[place])


def size_remark(comparison: Comparison, place: int) -> str:
    """The size that is drawn if it is not that of the candidates, and a warning if sizes could not be made equal."""
    real = comparison.real.results[place]
    whole = {column.results[place].n for column in comparison.candidates}
    drawn = {beside_real(comparison, column, place).n for column in comparison.candidates}
    if not drawable(real) or not drawn or whole == {real.n}:
        return ""
    if drawn == {real.n}:
        whole_sizes = _sizes_text(whole)
        return f"all drawn at n = {real.n:,}, the largest size of real v real; the table also has n = {whole_sizes}"
    return f"real text has n = {real.n:,}, candidates n = {_sizes_text(drawn)}; the value may depend on the size"


def _sizes_text(sizes: set[int]) -> str:
    return f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")


@dataclass(frozen=True)
class Plane:
    """Two drawings of one plane, for wide and for narrow pages, its labels, and remarks."""

    wide: Markup
    narrow: Markup
    quality: str
    diversity: str
    remarks: tuple[str, ...]


def draw_plane(comparison: Comparison) -> Plane | None:
    """The plane, or None when the comparison has no metric of quality or none of diversity."""
    axes = plane_axes(comparison)
    if axes is None:
        return None
    labels = shortened(comparison.labels[axes[0]], 60), shortened(comparison.labels[axes[1]], 60)
    real = _point(-1, comparison.real, comparison, axes)
    shorter = short_names([shortened(column.name, 60) for column in comparison.candidates])
    points = [
        replace(_point(index, column, comparison, axes), label=label)
        for index, (column, label) in enumerate(zip(comparison.candidates, shorter, strict=True))
    ]
    chart = PlaneChart(
        points=tuple(point for point in points if drawable(point.quality) and drawable(point.diversity)),
        real=real,
        quality=_axis_name("quality", labels[0], real.quality),
        diversity=_axis_name("diversity", labels[1], real.diversity),
        reversed=(falls(real.quality), falls(real.diversity)),
    )
    return Plane(
        wide=chart.draw(WIDE),
        narrow=chart.draw(NARROW),
        quality=labels[0],
        diversity=labels[1],
        remarks=tuple(_plane_remarks(comparison, axes, points, chart)),
    )


def plane_axes(comparison: Comparison) -> tuple[int, int] | None:
    """The places of the quality and the diversity metric to draw, None when one of them is missing."""
    results = {
        place: comparison.real.results[place]
        for place in range(len(comparison.labels))
        if any(drawable(column.results[place]) for column in comparison.candidates)
    }
    return plane_places(results)


def _point(index: int, column: Column, comparison: Comparison, axes: tuple[int, int]) -> Point:
    name = shortened(column.name, 60)
    quality, diversity = (beside_real(comparison, column, place) for place in axes)
    values = ", ".join(
        f"{shortened(comparison.labels[place], 60)} {figure(result, level=comparison.level)}"
        for place, result in zip(axes, (quality, diversity), strict=True)
    )
    return Point(index, name, name, f"{name}: {values}", quality, diversity)


def _axis_name(aspect: str, label: str, result: Result) -> str:
    turned = ", reversed axis" if falls(result) else ""
    return f"more {aspect} → ({shortened(label, 30)}{turned})"


def _plane_remarks(comparison: Comparison, axes: tuple[int, int], points: list[Point], chart: PlaneChart) -> list[str]:
    """Candidates and labels that are left out, stretched axes, and differences in size."""
    remarks = []
    missing = [point.name for point in points if not (drawable(point.quality) and drawable(point.diversity))]
    if missing:
        remarks.append(f"Not drawn, because a number is missing on one of the axes: {', '.join(missing)}.")
    unlabelled = chart.unlabelled(WIDE)
    if unlabelled:
        are = "is" if unlabelled == 1 else "are"
        remarks.append(f"{many(unlabelled, 'label')} {are} left out for lack of space; the legend names every mark.")
    labels = [shortened(comparison.labels[place], 60) for place in axes]
    stretched = [label for label, bent in zip(labels, chart.stretched(), strict=True) if bent]
    if stretched:
        remarks.append(f"{' and '.join(stretched)}: {STRETCHED}; distant values are farther away than they appear.")
    sizes = [(label, size_remark(comparison, place)) for label, place in zip(labels, axes, strict=True)]
    return remarks + [f"{label}: {remark}." for label, remark in sizes if remark]


def strip(comparison: Comparison, place: int) -> Strip:
    """The strip of the metric at this place."""
    real = comparison.real.results[place]
    bars = [Bar(column.name, beside_real(comparison, column, place)) for column in comparison.candidates]
    label = shortened(comparison.labels[place], 60)
    scale = strip_axis(real, bars)
    baseline = Baseline("real", "real text", Bar(comparison.real.name, real))
    title = f"{label} of each candidate"
    chart = strip_chart(baseline, bars, scale, key=f"strip-{place}", title=title, level=comparison.level)
    return Strip(
        label, real.aspect, better_words(real.better, "real text"), chart, _strip_remarks(scale, comparison, place)
    )


def _strip_remarks(scale: Axis, comparison: Comparison, place: int) -> tuple[str, ...]:
    found = (STRETCHED if scale.bend else "", size_remark(comparison, place))
    return tuple(remark[0].upper() + remark[1:] for remark in found if remark)
