"""What stands in a cell: the same words in the terminal, in Markdown and in CSV."""

import math
from dataclasses import dataclass

from textassay.inference.result import Result
from textassay.metrics.declare import all_metrics
from textassay.studies.comparison import Comparison
from textassay.studies.wording import number, plus_minus, share

MARK = "*"
# How the fix of a format finding begins when the tokenizer evens the difference out.
NO_EFFECT = "no effect"


@dataclass(frozen=True)
class Cell:
    """An estimate and half its interval's width as text; `marked` when it differs significantly from the reference."""

    estimate: str
    spread: str
    marked: bool

    def __str__(self) -> str:
        spread = f" ±{self.spread}" if self.spread else ""
        return f"{self.estimate}{spread}{MARK if self.marked else ''}"


NOTHING = Cell("", "", False)


def cell(result: Result, adjusted: float = math.nan, *, level: float) -> Cell:
    """The cell of one result; `adjusted` is its Holm-adjusted p-value, if it has one."""
    if result.undefined is not None:
        return Cell(number(math.nan), "", False)
    spread = plus_minus((result.interval.high - result.interval.low) / 2) if result.interval else ""
    return Cell(number(result.estimate), spread, adjusted < 1 - level)


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
        lines.append(f"± half of the {share(comparison.level)} interval for the expected value at this sample size")
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the reference (permutation test, Holm-adjusted p < {1 - comparison.level:.2g})"
        )
    return lines
