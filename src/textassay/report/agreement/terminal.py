"""The terminal view of an agreement study."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import shortened
from textassay.report.agreement import content
from textassay.report.table import MARK
from textassay.report.terminal import cut, dim, joined, notes, plain_table
from textassay.studies.agreement.result import Agreement


def render_terminal(found: Agreement, *, width: int, why: bool = False) -> RenderableType:
    """The table, the best metrics, and dominance; with `why` also reasons for missing numbers."""
    del width  # the table is narrow
    return joined(
        [
            [Text(cut(content.heading(found)), style="bold"), *notes(found.notes)],
            [_table(found), *map(dim, content.legend(found))],
            [Text(cut(content.outcome_sentence(found)))],
            [Text(cut(line)) for line in content.dominance_lines(found)],
            [dim(line) for line in content.missing_lines(found)] if why else [],
        ]
    )


def _table(found: Agreement) -> Table:
    table = plain_table(gap=2)
    table.add_column("metric")
    for name in content.HEAD:
        table.add_column(name, justify="right")
    for row in content.rows(found):
        tau = Text.assemble((row.cells[0], "bold" if row.marked else ""), MARK if row.marked else " ")
        table.add_row(Text(shortened(row.metric.name, 40)), tau, *map(Text, row.cells[1:]))
    return table
