"""The metric table of a comparison in a terminal."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.block_table import Line, block_tables, fits_in_pieces
from textassay.report.cells import ARROWS, MARK, Cell
from textassay.report.rows import Row, rows
from textassay.studies.comparison import Comparison


def metric_tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the yardstick beside the candidates, or before them if it must be."""
    lines = _lines(comparison, stacked=False)
    if not fits_in_pieces(lines, width):
        lines = _lines(comparison, stacked=True)
    names = [comparison.real.name, *(printable(column.name) for column in comparison.candidates)]
    yield from block_tables(lines, names, width)


def _lines(comparison: Comparison, *, stacked: bool) -> list[Line]:
    return [
        Line(_label(row), tuple(_text(item, stacked=stacked) for item in row.cells), row.aspect)
        for row in rows(comparison)
    ]


def _label(row: Row) -> Text:
    if row.size is not None:
        return Text(f"  at n = {row.size:,}", style="dim")
    return Text.assemble(printable(row.label), (f" {ARROWS[row.better]}", "dim"))


def _text(item: Cell, *, stacked: bool) -> Text:
    """A cell in one line, or with its interval below the estimate."""
    mark = (MARK if item.marked else " ", "bold yellow")
    estimate = (item.estimate, "bold" if item.marked else "")
    if not item.spread:
        return Text.assemble(estimate, mark)
    if stacked:
        return Text.assemble(estimate, mark, "\n", (item.spread, "not bold dim"), " ")
    return Text.assemble(estimate, (f" {item.spread}", "not bold dim"), mark)
