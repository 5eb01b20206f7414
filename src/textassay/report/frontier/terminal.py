"""The terminal view of a frontier study."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.frontier import content
from textassay.report.table import LEVELS, level_of
from textassay.report.terminal import MOST_NAME, cut, dim, fitted_names, joined, named_lines, notes, plain_table
from textassay.studies.frontier.result import Frontier


def render_terminal(found: Frontier, *, width: int, why: bool = False) -> RenderableType:
    """The table, the verdict on each pair, and notes; with `why` also the conditions of the theorems."""
    del width  # the table is narrow, and verdicts are wrapped
    names = fitted_names([printable(source.name) for source in found.sources], MOST_NAME)
    return joined(
        [
            [Text.assemble(("frontier ", ""), (cut(content.heading(found)), "bold")), *notes(found.notes)],
            [_table(found, names), *map(dim, content.legend(found))],
            [_verdicts(found, names)],
            [Text(cut(f"{pair}: {line}")) for pair, line in content.theory_lines(found)] if why else [],
        ]
    )


def _table(found: Frontier, names: list[str]) -> Table:
    several, used = len(found.sources) > 1, content.used_columns(found)
    table = plain_table(gap=2)
    for head in (*(["source"] if several else []), "pair"):
        table.add_column(head)
    for place in used:
        table.add_column(content.HEAD[place], justify="right", style="bold" if place == 0 else "")
    named = dict(zip(found.names, names, strict=True))
    for row in content.rows(found):
        first = [Text(named[row.source.name])] if several else []
        table.add_row(*first, Text(printable(row.analysis.pair)), *(Text(row.cells[place]) for place in used))
    return table


def _verdicts(found: Frontier, names: list[str]) -> Table:
    named = dict(zip(found.names, names, strict=True))
    several = len(found.sources) > 1
    lines = []
    for row in content.rows(found):
        level = LEVELS[level_of(row.analysis.verdict)]
        pair = printable(row.analysis.pair)
        shown = f"{named[row.source.name]} {pair}" if several else pair
        lines.append((Text(f"{level.sign} {shown}", style=level.style), Text(cut(row.analysis.verdict.sentence))))
    return named_lines(lines, width=max(head.cell_len for head, _ in lines))
