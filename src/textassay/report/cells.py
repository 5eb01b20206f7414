"""What stands in a cell: the same words in the terminal, in Markdown and in HTML."""

import math
from dataclasses import dataclass

from textassay.inference.p_value import is_significant
from textassay.inference.result import Result
from textassay.metrics.declare import all_metrics
from textassay.studies.comparison import Comparison
from textassay.studies.wording import number, plus_minus

MARK = "*"
ARROWS = {"higher": "↑", "lower": "↓", "closer": "≈"}
# Half a width stands for an interval only if its sides are about equal: they may differ by this share of the width.
_LOPSIDED = 0.1


@dataclass(frozen=True)
class Cell:
    """An estimate and its interval as text; `marked` when it differs significantly from the reference."""

    estimate: str
    spread: str
    marked: bool

    def __str__(self) -> str:
        spread = f" {self.spread}" if self.spread else ""
        return f"{self.estimate}{spread}{MARK if self.marked else ''}"


NOTHING = Cell("", "", False)


def cell(result: Result, adjusted: float = math.nan, *, level: float) -> Cell:
    """The cell of one result; `adjusted` is its adjusted p-value, if it has one."""
    if result.undefined is not None:
        return Cell(number(math.nan), "", False)
    interval = result.interval
    shown = spread(result.estimate, low=interval.low, high=interval.high) if interval else ""
    return Cell(number(result.estimate), shown, is_significant(adjusted, level))


def spread(estimate: float, *, low: float, high: float) -> str:
    """An interval beside its estimate: half its width, or its bounds where the estimate is not in the middle.

    >>> spread(0.421, low=0.4126, high=0.4294), spread(0.0, low=0.0, high=0.0152)
    ('±0.0084', '[0, 0.015]')
    """
    width = high - low
    if math.isnan(width):
        return number(width)
    if math.isfinite(width) and abs(high + low - 2 * estimate) <= _LOPSIDED * width:
        return f"±{plus_minus(width / 2)}"
    return f"[{_bound(low, width)}, {_bound(high, width)}]"


def _bound(value: float, width: float) -> str:
    """A bound with as many decimals as two significant digits of the width have."""
    if value == 0 or not 1e-5 <= width < math.inf:
        return number(value)
    return f"{value:z,.{max(1 - math.floor(math.log10(width)), 0)}f}"


def level_text(level: float) -> str:
    """The level of intervals as a percentage, never rounded to another one.

    >>> level_text(0.95), level_text(0.975), level_text(0.999)
    ('95 %', '97.5 %', '99.9 %')
    """
    return f"{100 * level:g} %"


def reasons(comparison: Comparison) -> list[str]:
    """Why a number, an interval or a test is missing, one line a metric (and candidate, where it is its own)."""
    lines = []
    metrics = all_metrics()
    for place, label in enumerate(comparison.labels):
        for column in (comparison.real, *comparison.candidates):
            result = column.results[place]
            if result.undefined is not None:
                lines.append(f"{label}, {column.name}: no number: {result.undefined}")
        metric = metrics.get(comparison.candidates[0].results[place].metric)
        if metric is not None and metric.why_no_test:
            lines.append(f"{label}: no test: {metric.why_no_test}")
        if metric is not None and metric.why_no_interval:
            lines.append(f"{label}: no interval: {metric.why_no_interval}")
    return lines


def legend(comparison: Comparison) -> list[str]:
    """How to read the table."""
    results = [result for column in comparison.candidates for result in column.results]
    lines = []
    if any(result.interval for result in results):
        lines.append(
            f"± half of the {level_text(comparison.level)} interval for the expected value at this sample size,"
            " [low, high] its bounds where the estimate is not in the middle"
        )
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the reference: permutation test, adjusted for all metrics and never below the overall"
            f" test, p <= {1 - comparison.level:g}"
        )
    if any(column.overall is not None for column in comparison.candidates):
        lines.append(
            "word-pair distance: 0 for equal distributions, 1 without a common word pair;"
            " vector distance: 0 for equal distributions, about 0.2 between captions and news"
        )
    higher, lower, closer = (ARROWS[better] for better in ("higher", "lower", "closer"))
    lines.append(
        f"{higher} higher is better, {lower} lower is better, {closer} closer to real text's own value is better"
    )
    return lines
