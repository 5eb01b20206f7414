"""Results as parts of a document: cells with intervals, how to read them, the guide to metrics, and settings."""

import inspect
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median

from textassay.corpus.printable import shortened
from textassay.document.blocks import Cell, Entry, Legend, Section, Signatures, Text
from textassay.document.plot import Ends
from textassay.document.words import level_text, number, p_text, spread
from textassay.inference.p_values import is_significant
from textassay.inference.result import Result
from textassay.metrics.registry import Metric, all_metrics

ARROWS = {"higher": "↑", "lower": "↓", "closer": "≈"}
# In the order of all tables and charts.
ASPECTS = {"quality": "Quality", "diversity": "Diversity", "both": "Both at once"}
_MISLEADS = re.compile(r"\bMisleading\b.*?\.(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Unit:
    """What a row or column of small numbers is counted in: its name, and how many there are in 1."""

    name: str = ""
    factor: float = 1.0

    def behind(self, label: str) -> str:
        """A label with the unit."""
        return f"{label} ({self.name})" if self.name else label


def unit_of(values: Iterable[float]) -> Unit:
    """A power of ten that makes the median of these values 1 to 100; none if it is at least 0.01 or one is large.

    >>> unit_of([0.00703, 0.000536]).behind("cnd-2"), unit_of([2.28e-5]), unit_of([0.3, 0.001]).name
    ('cnd-2 (10⁻⁴)', Unit(name='10⁻⁶', factor=1000000.0), '')
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    typical = median(sizes) if sizes else 0.0
    if not 1e-100 < typical < 0.01 or max(sizes) >= 0.1:
        return Unit()
    power = 2 * math.floor(math.log10(typical) / 2)
    return Unit("10" + str(power).translate(_RAISED), 10.0**-power)


def unit_of_results(results: Iterable[Result]) -> Unit:
    """The unit of a row of results; none where one is 0: a share of 0 beside small ones is easier to read without."""
    values = [result.estimate for result in results]
    return Unit() if 0 in values else unit_of(values)


def in_unit(result: Result, unit: Unit) -> Result:
    """The result with its estimate and interval in this unit, for a plot."""
    interval = result.interval
    if interval is not None:
        interval = replace(interval, low=unit.factor * interval.low, high=unit.factor * interval.high)
    return replace(result, estimate=unit.factor * result.estimate, interval=interval)


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def result_cell(
    result: Result,
    adjusted_p: float = math.nan,
    *,
    level: float,
    floor: float | None = None,
    unadjusted: str = "",
    unit: Unit | None = None,
) -> Cell:
    """The cell of a result: its estimate and interval in this unit, and whether it is significant.

    `unadjusted` is the text of its p-value before the adjustment. With `floor`, the smallest p-value that was possible,
    the cell has both p-values. `no_number` has the footnote of a result without a number.
    """
    if result.undefined is not None:
        return Cell(number(math.nan), detail=shortened(result.undefined, 160))
    interval, details, factor = result.interval, [], unit.factor if unit else 1.0
    if interval is not None:
        details.append(f"{level_text(level)} interval {number(interval.low)} to {number(interval.high)}")
    if floor is not None and result.p_value is not None:
        unadjusted = p_text(result.p_value, floor=floor)
    if unadjusted:
        details.append(f"p {unadjusted} before adjustment")
    estimate = factor * result.estimate
    return Cell(
        number(estimate),
        result.estimate,
        spread=spread(estimate, low=factor * interval.low, high=factor * interval.high) if interval else "",
        marked=is_significant(adjusted_p, level),
        small=() if floor is None or math.isnan(adjusted_p) else (f"p {p_text(adjusted_p, floor=floor)}",),
        detail=", ".join(details),
    )


def no_number(result: Result) -> str:
    """The footnote of a result without a number; empty where there is one."""
    return "" if result.undefined is None else f"No number: {shortened(result.undefined, 160)}."


def cell_text(cell: Cell) -> str:
    """A cell in one line: the estimate with its interval."""
    return f"{cell.text} {cell.spread}".strip()


def ends(result: Result) -> Ends | None:
    """The ends of the interval for a plot; None without one."""
    return None if result.interval is None else (result.interval.low, result.interval.high)


def better_words(better: str, *, target: str) -> str:
    """Which way is better, for the label of a chart or a row; `target` is what closer means."""
    return f"closer to {target} is better" if better == "closer" else f"{better} is better"


def interval_legend(results: Iterable[Result], level: float, *, of: str) -> list[str]:
    """How to read intervals; empty where there are none."""
    if not any(result.interval for result in results):
        return []
    return [
        f"± half the width of the {level_text(level)} interval of {of};"
        " [low, high] its bounds where the estimate is not in the middle"
    ]


def better_legend(results: Iterable[Result], *, target: str) -> str:
    """Which way is better, for the arrows that the table has."""
    used = {result.better for result in results}
    return ", ".join(f"{arrow} {better_words(way, target=target)}" for way, arrow in ARROWS.items() if way in used)


def metric_guide(results: Iterable[Result], *, target: str) -> Legend:
    """One entry per metric, in the order of the results; a metric that is not registered is left out."""
    known = all_metrics()
    names = dict.fromkeys(result.metric for result in results)
    return Legend(tuple(_entry(known[name], target) for name in names if name in known))


def _entry(metric: Metric, target: str) -> Entry:
    found = _MISLEADS.search(inspect.getdoc(metric.function) or "")
    misleads = " ".join(found.group().split()) if found else ""
    text = " ".join(part for part in (metric.summary, misleads, *why_missing(metric)) if part)
    return Entry(f"{metric.name} ({better_words(metric.better, target=target)})", re.sub("`+", "", text))


def why_missing(metric: Metric) -> tuple[str, ...]:
    """Why a metric has no interval and why it has no test; empty if it has both."""
    reasons = (("No interval", metric.why_no_interval), ("No test", metric.why_no_test))
    return tuple(f"{what}: {reason}." for what, reason in reasons if reason)


# The settings that all studies have, with their terms.
COMMON_SETTINGS = {"resamples": "Resamples", "seed": "Seed", "version": "Version"}


def setting_pairs(
    settings: Mapping[str, str | int | tuple[str, ...]], terms: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Terms and values of these settings; those that the outcome does not have are left out."""
    found = ((term, setting_text(settings, name)) for name, term in terms.items())
    return tuple((term, value) for term, value in found if value)


def setting_text(settings: Mapping[str, str | int | tuple[str, ...]], name: str, *, most: int = 8) -> str:
    """A setting of an outcome, several values separated by semicolons; empty if it is not known."""
    value = settings.get(name, ())
    values = value if isinstance(value, tuple) else (value,)
    return "; ".join(shortened(str(each), 80) for each in values[:most])


def signature_section(pairs: Iterable[tuple[str, str]]) -> Section:
    """The signatures of all numbers with their names."""
    return Section("signatures", "Signatures", (Text((_SIGNATURES,)), Signatures(tuple(pairs))))


_SIGNATURES = (
    "The same signature gives the same number on every machine. Samples are identified by the digest of their content,"
    " not by name."
)
