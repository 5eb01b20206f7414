"""Charts of a sweep: the curve of quality and diversity, and one chart per metric over the settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.former.charts.curves import Rung, Spotted, Trace, curve_chart
from textassay.report.former.charts.plane import NARROW, WIDE, PlaneChart, Point
from textassay.report.former.charts.svg import drawable
from textassay.report.former.table import ARROWS, better_words, figure
from textassay.studies.planes import falls, plane_indexes
from textassay.studies.sweep.grid import SHORT, value_text
from textassay.studies.sweep.result import SettingColumn, Sweep
from textassay.studies.sweep.verdict import varied

# The name of the values of real text.
REAL = "real v real"
_NAMES = {"temperature": "temperature", "top_k": "top-k", "top_p": "top-p", "model": "checkpoint"}
# Steps of a grid that differ by more than this factor are drawn on a logarithmic axis.
_UNEVEN = 3.0


@dataclass(frozen=True)
class Line:
    """Settings that differ in the parameter on the axis only, in its order; `name` has the other parameters."""

    name: str
    settings: tuple[SettingColumn, ...]


@dataclass(frozen=True)
class Across:
    """The axis of the settings: its name, the place of each setting, and the names of places without numbers."""

    name: str
    places: dict[str, float]
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class MetricChart:
    """The values of one metric over the settings, the names of its lines, and remarks."""

    label: str
    better: str
    aspect: str
    chart: Markup
    remarks: tuple[str, ...]


def axis_parameter(found: Sweep) -> str:
    """The parameter on the axis: the first one that varies."""
    return next(iter(varied(found.swept)), "temperature")


def lines(found: Sweep) -> list[Line]:
    """The settings in lines of one parameter."""
    first = axis_parameter(found)
    others = [name for name in varied(found.swept) if name != first]
    groups: dict[str, list[SettingColumn]] = {}
    for column in found.swept:
        groups.setdefault(", ".join(_value_name(column, name) for name in others), []).append(column)
    return [Line(name, tuple(columns)) for name, columns in groups.items()]


def _value_name(column: SettingColumn, parameter: str) -> str:
    if parameter == "model":
        return column.model
    return f"{SHORT[parameter]}={value_text(getattr(column.decoding, parameter))}"


def across(found: Sweep) -> Across:
    """Numbers on a plain or, for uneven steps, a logarithmic axis; places in order for names."""
    parameter = axis_parameter(found)
    values = {column.name: _axis_value(column, parameter) for column in found.swept}
    known = sorted({value for value in values.values() if isinstance(value, float)})
    if len(known) < len(set(values.values())):
        order = list(dict.fromkeys(values.values()))
        ticks = tuple((float(at), shortened(_tick_name(value), 40)) for at, value in enumerate(order))
        return Across(_NAMES[parameter], {name: float(order.index(value)) for name, value in values.items()}, ticks)
    numbers = {name: value for name, value in values.items() if isinstance(value, float)}
    gaps = [later - earlier for earlier, later in pairwise(known)]
    if len(gaps) < 2 or known[0] <= 0 or max(gaps) < _UNEVEN * min(gaps):
        return Across(_NAMES[parameter], numbers, ())
    ticks = tuple((math.log(value), value_text(value)) for value in known)
    return Across(
        f"{_NAMES[parameter]} (logarithmic)", {name: math.log(value) for name, value in numbers.items()}, ticks
    )


def _axis_value(column: SettingColumn, parameter: str) -> float | str | None:
    value = column.model if parameter == "model" else getattr(column.decoding, parameter)
    return float(value) if isinstance(value, int | float) else value


def _tick_name(value: float | str | None) -> str:
    return value if isinstance(value, str) else value_text(value)


def metric_chart(found: Sweep, place: int, *, among: str) -> MetricChart:
    """The chart of the metric at this place; `among` are the settings that cannot be distinguished from the best."""
    scale, best, real = across(found), found.best[place], found.real.results[place]
    label = shortened(found.labels[place], 60)
    traces = [trace for at, each in enumerate(lines(found)) if (trace := _trace(found, each, place, at, scale)).points]
    spots = []
    if best.setting:
        result = _beside_real(found, found[best.setting], place)
        spots = [Spotted(f"best: {best.setting}", scale.places[best.setting], result.estimate, written=False)]
    values = "; ".join(
        f"{column.name}: {figure(_beside_real(found, column, place), level=found.level).short}"
        for column in found.swept
    )
    chart = curve_chart(
        traces,
        spots=spots,
        rung=_rung(real),
        places=scale.ticks,
        across=scale.name,
        up=label,
        key=f"sweep-{place}",
        title=f"{label} over the settings",
        summary=f"{values}; {REAL}: {figure(real, level=found.level).short}",
    )
    better = f"{ARROWS[real.better]} {better_words(real.better, 'real text')}"
    return MetricChart(label, better, real.aspect, chart, tuple(_remarks(found, place, traces, among)))


def _beside_real(found: Sweep, column: SettingColumn, place: int) -> Result:
    return column.beside_real(found.labels[place], column.results[place])


def _trace(found: Sweep, each: Line, place: int, at: int, scale: Across) -> Trace:
    known = [(column, _beside_real(found, column, place)) for column in each.settings]
    drawn = [(column, result) for column, result in known if drawable(result)]
    points = [(scale.places[column.name], result.estimate) for column, result in drawn]
    ends = [
        (result.interval.low, result.interval.high) if result.interval else (result.estimate, result.estimate)
        for _, result in drawn
    ]
    has_intervals = any(result.interval for _, result in drawn)
    return Trace(each.name or "settings", points, at, ends if has_intervals else ())


def _rung(real: Result) -> Rung | None:
    if not drawable(real):
        return None
    interval = real.interval
    low, high = (interval.low, interval.high) if interval else (real.estimate, real.estimate)
    return Rung("real text", real.estimate, low, high)


def _remarks(found: Sweep, place: int, traces: Sequence[Trace], among: str) -> list[str]:
    best, remarks = found.best[place], []
    if best.setting and any(trace.limits for trace in traces):
        shown = "no other setting" if among == "none" else among
        remarks.append(f"Best: {best.setting}; not distinguishable from it: {shown}")
    whole, real = found.swept[0].n, found.real.results[place]
    drawn = _beside_real(found, found.swept[0], place).n
    if drawn != whole:
        remarks.append(f"All drawn at n = {drawn:,}, the largest size of {REAL}; the table has n = {whole:,}")
    elif drawable(real) and real.n != whole:
        remarks.append(f"Real text has n = {real.n:,}, settings n = {whole:,}; the value may depend on the size")
    missing = [column.name for column in found.swept if not drawable(_beside_real(found, column, place))]
    if missing:
        remarks.append(f"No value at {', '.join(missing[:6])}{' and others' if len(missing) > 6 else ''}")
    return remarks


@dataclass(frozen=True)
class Plane:
    """Two drawings of the plane of quality and diversity, for wide and for narrow pages, and the names of its axes.

    `marks` is what the labels of the marks are: the parameter that varies, or settings.
    """

    wide: Markup
    narrow: Markup
    quality: str
    diversity: str
    marks: str


def plane(found: Sweep) -> Plane | None:
    """The settings in the plane of a quality and a diversity metric, joined by lines; None without such metrics."""
    results = {
        place: real
        for place, real in enumerate(found.real.results)
        if any(drawable(_beside_real(found, column, place)) for column in found.swept)
    }
    places = plane_indexes(results)
    if places is None:
        return None
    points: list[Point] = []
    joined = []
    for at, each in enumerate(lines(found)):
        own = [_point(found, column, places, at) for column in each.settings]
        drawn = [point for point in own if drawable(point.quality) and drawable(point.diversity)]
        joined.append(list(range(len(points), len(points) + len(drawn))))
        points += drawn
    quality, diversity = (found.real.results[place] for place in places)
    real = Point(
        -1, "real text", "real text", _values_text(found, "real text", places, (quality, diversity)), quality, diversity
    )
    labels = [shortened(found.labels[place], 30) for place in places]
    chart = PlaneChart(
        points,
        real,
        _axis_name("quality", labels[0], quality),
        _axis_name("diversity", labels[1], diversity),
        (falls(quality), falls(diversity)),
        joined,
    )
    marks = _NAMES[axis_parameter(found)] if len(varied(found.swept)) == 1 else "setting"
    return Plane(chart.draw(WIDE), chart.draw(NARROW), labels[0], labels[1], marks)


def _point(found: Sweep, column: SettingColumn, places: tuple[int, int], index: int) -> Point:
    quality, diversity = (_beside_real(found, column, place) for place in places)
    text = _values_text(found, column.name, places, (quality, diversity))
    return Point(index, column.name, _mark_name(found, column), text, quality, diversity)


def _mark_name(found: Sweep, column: SettingColumn) -> str:
    """The value of the only parameter that varies, because short labels overlap less; else the whole setting."""
    if len(varied(found.swept)) != 1:
        return column.name
    return shortened(_tick_name(_axis_value(column, axis_parameter(found))), 60)


def _values_text(found: Sweep, name: str, places: tuple[int, int], results: tuple[Result, Result]) -> str:
    values = [
        f"{shortened(found.labels[place], 60)} {figure(result, level=found.level).short}"
        for place, result in zip(places, results, strict=True)
    ]
    return f"{name}: {', '.join(values)}"


def _axis_name(aspect: str, label: str, result: Result) -> str:
    turned = ", reversed axis" if falls(result) else ""
    return f"more {aspect} → ({label}{turned})"
