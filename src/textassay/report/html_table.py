"""The metric table of the HTML report: groups of rows, cells with p-values, and the reasons for what is missing."""

import math
from dataclasses import dataclass, replace

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.metrics.declare import all_metrics
from textassay.report.cells import ARROWS, cell, level_text
from textassay.report.guide import BETTER
from textassay.studies.comparison import Comparison
from textassay.studies.wording import number, p_text

TITLES = {"quality": "Quality", "diversity": "Diversity", "both": "Both at once"}


@dataclass(frozen=True)
class Figure:
    """A cell as shown: `detail` is brought up by a pointer, `note` is the number of a footnote or 0."""

    estimate: str
    spread: str
    p: str
    marked: bool
    detail: str
    note: int


_NOTHING = Figure("", "", "", False, "", 0)


@dataclass(frozen=True)
class Line:
    """A metric's row; `notes` are the numbers of its footnotes, `size` is real text's own n where it differs."""

    label: str
    sign: str
    better: str
    notes: tuple[int, ...]
    real: Figure
    size: int | None
    figures: tuple[Figure, ...]
    tested: bool


@dataclass(frozen=True)
class Grid:
    """The whole table: rows by aspect, footnotes in order, and whether there are intervals and tests at all."""

    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    notes: tuple[str, ...]
    intervals: bool
    tests: bool


def grid(comparison: Comparison) -> Grid:
    """The table of a comparison, quality first, then diversity, then what joins both."""
    notes: dict[str, int] = {}
    results = [result for column in comparison.candidates for result in column.results]
    groups = []
    for aspect, title in TITLES.items():
        places = [place for place, result in enumerate(comparison.real.results) if result.aspect == aspect]
        if places:
            lines = [line for place in places for line in _lines(comparison, place, notes)]
            groups.append((title, tuple(lines)))
    return Grid(
        groups=tuple(groups),
        notes=tuple(notes),
        intervals=any(result.interval is not None for result in results),
        tests=any(result.p_value is not None for result in results),
    )


def _lines(comparison: Comparison, place: int, notes: dict[str, int]) -> list[Line]:
    """The row of a metric; where the yardstick had fewer texts, a second one with all columns at that size."""
    line = _line(comparison, place, notes)
    label, real = comparison.labels[place], comparison.real.results[place]
    again = [column.at_real_size.get(label) for column in comparison.candidates]
    if not any(again):
        return [line]
    smaller = [_NOTHING if result is None else _figure(result, comparison, notes) for result in again]
    second = Line(f"at n = {real.n:,}", "", "", (), line.real, None, tuple(smaller), tested=False)
    return [replace(line, real=_NOTHING, size=None), second]


def _line(comparison: Comparison, place: int, notes: dict[str, int]) -> Line:
    real = comparison.real.results[place]
    results = [column.results[place] for column in comparison.candidates]
    metric = all_metrics().get(real.metric)
    reasons = []
    if metric is not None and any(result.interval or result.p_value is not None for result in results):
        reasons += [f"No interval: {metric.why_no_interval}."] if metric.why_no_interval else []
        reasons += [f"No test: {metric.why_no_test}."] if metric.why_no_test else []
    return Line(
        label=shortened(comparison.labels[place], 60),
        sign=ARROWS.get(real.better, ""),
        better=BETTER.get(real.better, real.better),
        notes=tuple(_noted(reason, notes) for reason in reasons),
        real=_figure(real, comparison, notes),
        size=real.n if any(result.n != real.n for result in results) else None,
        figures=tuple(
            _figure(column.results[place], comparison, notes, adjusted=column.adjusted[place])
            for column in comparison.candidates
        ),
        tested=any(result.p_value is not None for result in results),
    )


def _figure(result: Result, comparison: Comparison, notes: dict[str, int], *, adjusted: float = math.nan) -> Figure:
    level, floor = comparison.level, comparison.floor
    shown = cell(result, adjusted, level=level)
    details = []
    if result.interval is not None and result.undefined is None:
        details.append(f"{level_text(level)} interval {number(result.interval.low)} to {number(result.interval.high)}")
    if result.p_value is not None:
        details.append(f"p {p_text(result.p_value, floor=floor)} before adjustment")
    if result.undefined is not None:
        details.append(shortened(result.undefined, 160))
    return Figure(
        estimate=shown.estimate,
        spread=shown.spread,
        p="" if math.isnan(adjusted) else p_text(adjusted, floor=floor),
        marked=shown.marked,
        detail=", ".join(details),
        note=0 if result.undefined is None else _noted(f"No number: {shortened(result.undefined, 160)}.", notes),
    )


def _noted(reason: str, notes: dict[str, int]) -> int:
    """The number of a footnote; the same reason is written once."""
    return notes.setdefault(reason, len(notes) + 1)
