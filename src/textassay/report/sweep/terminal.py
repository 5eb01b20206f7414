"""The terminal view of a sweep."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.sweep import content
from textassay.report.table import LEVELS, level_of
from textassay.report.terminal import (
    MOST_NAME,
    column_blocks,
    cut,
    dim,
    fitted_names,
    joined,
    named_lines,
    notes,
    plain_table,
)
from textassay.studies.sweep.result import Sweep

_GAP = 2
_FEWEST_CELLS = 30


def render_terminal(found: Sweep, *, width: int) -> RenderableType:
    """The best settings, the values of all settings, and the verdict."""
    return joined(
        [
            [Text.assemble("sweep ", (cut(content.heading(found)), "bold")), *notes(found.notes)],
            [_best(found)],
            *([table] for table in _values(found, max(width, _FEWEST_CELLS))),
            [dim(line) for line in content.legend(found)],
            [_verdict(found)],
        ]
    )


def _best(found: Sweep) -> Table:
    table = plain_table(gap=_GAP)
    table.add_column("metric", no_wrap=True)
    for place, head in enumerate(content.HEAD):
        table.add_column(head, justify="right" if place in (1, 2) else "left", no_wrap=place < 3, overflow="fold")
    for row in content.best_rows(found):
        setting, value, real, among = map(printable, row.cells)
        table.add_row(
            Text.assemble(row.label, (f" {row.arrow}", "dim")), Text(setting, style="bold"), value, real, among
        )
    return table


def _values(found: Sweep, width: int) -> Iterator[Table]:
    """Tables of at most this width, with as many metrics in each as fit."""
    rows = content.value_rows(found)
    names = [*fitted_names([printable(name) for name in found.names], MOST_NAME), content.REAL]
    heads = [*(printable(label) for label in found.labels), *(["overall p"] if content.is_tested(found) else [])]
    columns = [[_cell(row, place) for row in rows] for place in range(len(found.labels))]
    columns += [[Text(row.p) for row in rows]] if content.is_tested(found) else []
    widths = [max(len(head), *(cell.cell_len for cell in cells)) for head, cells in zip(heads, columns, strict=True)]
    room = width - max(map(len, names)) - _GAP
    for block in column_blocks(widths, room, gap=_GAP):
        table = plain_table(gap=_GAP)
        table.add_column("setting", no_wrap=True)
        for place in block:
            table.add_column(heads[place], justify="right", no_wrap=True)
        for at, (name, row) in enumerate(zip(names, rows, strict=True)):
            cells = [columns[place][at] for place in block]
            table.add_row(Text(name, style="dim" if row.is_real else "bold"), *cells)
        yield table


def _cell(row: content.ValueRow, place: int) -> Text:
    mark = content.AMONG if row.among[place] else " "
    style = "dim" if row.is_real else "bold" if row.among[place] else ""
    return Text.assemble((row.figures[place].estimate, style), mark)


def _verdict(found: Sweep) -> Table:
    level = LEVELS[level_of(found.verdict)]
    lines = [Text(cut(reason)) for reason in found.verdict.reasons]
    heads = [Text(level.sign, style=level.style), *(Text("") for _ in lines[1:])]
    return named_lines(zip(heads, lines, strict=True), width=1)
