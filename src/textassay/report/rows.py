"""The rows of the metric table, for every form of it that is plain text."""

from dataclasses import dataclass

from textassay.report.cells import NOTHING, Cell, cell
from textassay.studies.comparison import Comparison


@dataclass(frozen=True)
class Row:
    """One metric: the yardstick's cell, then one a candidate; `size` is set where all were measured at that size."""

    label: str
    better: str
    aspect: str
    size: int | None
    cells: tuple[Cell, ...]


def rows(comparison: Comparison) -> list[Row]:
    """One row a metric; where the yardstick had fewer texts, a second one with all columns at that size."""
    found = []
    level, columns = comparison.level, comparison.candidates
    for place, (label, real) in enumerate(zip(comparison.labels, comparison.real.results, strict=True)):
        cells = [cell(column.results[place], column.adjusted[place], level=level) for column in columns]
        again = [column.at_real_size.get(label) for column in columns]
        yardstick = cell(real, level=level)
        if not any(again):
            found.append(Row(label, real.better, real.aspect, None, (yardstick, *cells)))
            continue
        smaller = [NOTHING if result is None else cell(result, level=level) for result in again]
        found.append(Row(label, real.better, real.aspect, None, (NOTHING, *cells)))
        found.append(Row(label, real.better, real.aspect, real.n, (yardstick, *smaller)))
    return found
