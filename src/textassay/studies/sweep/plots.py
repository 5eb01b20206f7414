"""The plots of a sweep: each metric over the settings, and the settings in the plane of quality and diversity."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from textassay.corpus.printable import shortened
from textassay.document.blocks import REAL, Chart
from textassay.document.plot import Band, Line, Marks, Plot, Point, Scale
from textassay.document.results import cell_text, ends, result_cell
from textassay.inference.result import Result
from textassay.studies.planes import plane_axis, plane_bands, plane_indexes
from textassay.studies.sweep.grid import SHORT, value_text
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.verdict import varied

# The name of the values of real text.
REAL_NAME = "real v real"
_NAMES = {"temperature": "temperature", "top_k": "top-k", "top_p": "top-p", "model": "checkpoint"}
# Steps of a grid that differ by more than this factor are drawn on a logarithmic axis.
_UNEVEN = 3.0


def drawable(found: Sweep) -> dict[int, Result]:
    """The results of real text by index, for metrics that have a value at any setting."""
    return {
        index: real
        for index, real in enumerate(found.real.results)
        if any(math.isfinite(beside_real(found, column, index).estimate) for column in found.swept)
    }


@dataclass(frozen=True)
class Series:
    """Settings that differ in the parameter on the axis only, in its order; `name` has the other parameters."""

    name: str
    settings: tuple[SettingColumn, ...]


def series_of(found: Sweep) -> list[Series]:
    """The settings in series of one parameter."""
    first = _axis_parameter(found)
    others = [name for name in varied(found.swept) if name != first]
    groups: dict[str, list[SettingColumn]] = {}
    for column in found.swept:
        groups.setdefault(", ".join(_value_name(column, name) for name in others), []).append(column)
    return [Series(name, tuple(columns)) for name, columns in groups.items()]


def _axis_parameter(found: Sweep) -> str:
    """The parameter on the axis: the first one that varies."""
    return next(iter(varied(found.swept)), "temperature")


def _value_name(column: SettingColumn, parameter: str) -> str:
    if parameter == "model":
        return column.model
    return f"{SHORT[parameter]}={value_text(getattr(column.decoding, parameter))}"


def axis_of_settings(found: Sweep) -> tuple[Scale, dict[str, float]]:
    """The axis of the settings and their places on it.

    It has numbers, on a logarithmic axis for uneven steps, or the values in order if some of them are no numbers.
    """
    parameter = _axis_parameter(found)
    values = {column.name: _axis_value(column, parameter) for column in found.swept}
    known = sorted({value for value in values.values() if isinstance(value, float)})
    if len(known) < len(set(values.values())):
        order = list(dict.fromkeys(values.values()))
        ticks = tuple((float(at), shortened(_tick_name(value), 40)) for at, value in enumerate(order))
        return Scale(_NAMES[parameter], ticks=ticks), {name: float(order.index(v)) for name, v in values.items()}
    numbers = {name: value for name, value in values.items() if isinstance(value, float)}
    gaps = [later - earlier for earlier, later in pairwise(known)]
    if len(gaps) < 2 or known[0] <= 0 or max(gaps) < _UNEVEN * min(gaps):
        return Scale(_NAMES[parameter]), numbers
    ticks = tuple((value, value_text(value)) for value in known)
    return Scale(f"{_NAMES[parameter]} (logarithmic)", log=True, ticks=ticks), numbers


def _axis_value(column: SettingColumn, parameter: str) -> float | str | None:
    value = column.model if parameter == "model" else getattr(column.decoding, parameter)
    return float(value) if isinstance(value, int | float) else value


def _tick_name(value: float | str | None) -> str:
    return value if isinstance(value, str) else value_text(value)


def metric_plot(found: Sweep, place: int) -> Plot:
    """The values of a metric over the settings, beside real text, with a star at the best setting."""
    axis, places = axis_of_settings(found)
    best, real = found.best[place], found.real.results[place]
    label = shortened(found.labels[place], 60)
    layers: list[Band | Line | Marks] = []
    if math.isfinite(real.estimate):
        low, high = ends(real) or (real.estimate, real.estimate)
        layers.append(Band("y", low, high, real.estimate, "real text"))
    series = series_of(found)
    for at, each in enumerate(series):
        layers += _curve(found, each, place, places, at if len(series) > 1 else None)
    if best.setting:
        value = beside_real(found, found[best.setting], place).estimate
        star = Point(places[best.setting], value, detail=f"best: {best.setting}", tone="best")
        layers.append(Marks((star,)))
    values = "; ".join(
        f"{column.name}: {cell_text(result_cell(beside_real(found, column, place), level=found.level))}"
        for column in found.swept
    )
    return Plot(
        f"{label} over the settings",
        axis,
        Scale(label, better="" if real.better == "closer" else real.better),
        tuple(layers),
        summary=f"{values}; {REAL_NAME}: {cell_text(result_cell(real, level=found.level))}",
    )


def beside_real(found: Sweep, column: SettingColumn, place: int) -> Result:
    """The result of a metric to set beside real text: of the same size if there is one."""
    return column.beside_real(found.labels[place], column.results[place])


def _curve(
    found: Sweep, each: Series, place: int, places: dict[str, float], index: int | None
) -> Iterator[Line | Marks]:
    """A line through the settings; the only one has the marks of the settings, one of several its own."""
    known = [(column, beside_real(found, column, place)) for column in each.settings]
    drawn = [(column, result) for column, result in known if math.isfinite(result.estimate)]
    points = tuple((places[column.name], result.estimate) for column, result in drawn)
    limits = tuple(ends(result) for _, result in drawn)
    if not points:
        return
    yield Line(
        points,
        limits if any(limits) else (),
        index,
        name=shortened(each.name, 60),
        tone="quiet" if index is None else "",
        marked=index is not None,
    )
    if index is None:
        names = [found.names.index(column.name) for column, _ in drawn]
        yield Marks(tuple(Point(x, y, candidate=name) for (x, y), name in zip(points, names, strict=True)))


def plane_chart(found: Sweep) -> Chart | None:
    """The settings in the plane of a quality and a diversity metric, joined by lines; None without such metrics."""
    places = plane_indexes(drawable(found))
    if places is None:
        return None
    labels = [shortened(found.labels[index], 30) for index in places]
    quality, diversity = (found.real.results[index] for index in places)
    centre = _point(found, REAL, "real text", (quality, diversity), labels)
    lines, points = [], []
    for each in series_of(found):
        known = [_setting_point(found, column, places, labels) for column in each.settings]
        drawn = [point for point in known if math.isfinite(point.x) and math.isfinite(point.y)]
        lines.append(Line(tuple((p.x, p.y) for p in drawn), name=shortened(each.name, 60), tone="quiet", marked=False))
        points += drawn
    plot = Plot(
        "Quality-diversity plane",
        plane_axis("quality", labels[0], quality),
        plane_axis("diversity", labels[1], diversity),
        (*plane_bands(quality, diversity), *lines, Marks((centre,)), Marks(tuple(points))),
        summary="; ".join(point.detail for point in (centre, *points)),
        size="large",
    )
    marks = _NAMES[_axis_parameter(found)] if len(varied(found.swept)) == 1 else "setting"
    shown = f"Horizontal axis: {labels[0]}. Vertical axis: {labels[1]}. Labels of marks: {marks}."
    return Chart(plot, f"{shown} Bars and bands are intervals.")


def _setting_point(found: Sweep, column: SettingColumn, places: tuple[int, int], labels: Sequence[str]) -> Point:
    quality, diversity = (beside_real(found, column, place) for place in places)
    point = _point(found, found.names.index(column.name), column.name, (quality, diversity), labels)
    # The value of the only parameter that varies, because short labels overlap less; else the whole setting.
    alone = len(varied(found.swept)) == 1
    label = shortened(_tick_name(_axis_value(column, _axis_parameter(found))), 60) if alone else column.name
    return replace(point, label=label)


def _point(found: Sweep, candidate: int, name: str, results: tuple[Result, Result], labels: Sequence[str]) -> Point:
    values = [
        f"{label} {cell_text(result_cell(result, level=found.level))}"
        for label, result in zip(labels, results, strict=True)
    ]
    x, y = results
    return Point(x.estimate, y.estimate, ends(x), ends(y), candidate, name, f"{name}: {', '.join(values)}")
