"""The terminal view of a conditional study: a row a metric, a column a system, then verdicts and the worst items."""

import math
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.report.conditional.grid import missing_lines, paired_rows
from textassay.report.conditional.items import Worst, worst_items
from textassay.report.conditional.text_forms import ItemRow, item_rows
from textassay.report.conditional.words import all_notes, combined, counts, heading, human_title, legend, power_lines
from textassay.report.table import (
    ARROWS,
    MARK,
    MOST_NAME,
    BlockLine,
    Cell,
    block_tables,
    fits_in_pieces,
    fits_whole,
    fitted_names,
)
from textassay.studies.conditional.result import Conditional
from textassay.studies.wording import number

_STYLES = {"same": "green", "differs": "yellow", "collapsed": "bold red", "untested": "dim"}
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "!", "untested": "?"}
# Notes and verdicts are ours, but may quote what is not.
_LONGEST, _MOST_CONTESTS = 400, 12


def render_terminal(conditional: Conditional, *, width: int, why: bool = False, top: int = 5) -> RenderableType:
    """Everything a reader of the terminal needs, notes first; `top` is how many of the worst items to show."""
    names = fitted_names([printable(column.name) for column in conditional.systems], MOST_NAME)
    sections: list[list[RenderableType]] = [
        [_heading(conditional), *(_dim(f"note: {note}") for note in all_notes(conditional))],
        list(_table(conditional, width)),
        list(_verdicts(conditional, names)),
        list(_contests(conditional, width)),
        [_dim(line) for line in missing_lines(conditional, ids=why)],
        [Text(shortened(line, _LONGEST)) for line in power_lines(conditional)],
        [_dim(line) for line in _behind(conditional)] if why else [],
        list(_worst(conditional, width, top)),
    ]
    parts: list[RenderableType] = []
    for section in sections:
        parts += [Text(""), *section] if parts and section else section
    return Group(*parts)


def _dim(line: str) -> Text:
    return Text(shortened(line, _LONGEST), style="dim")


def _heading(conditional: Conditional) -> Text:
    name, *_ = fitted_names([printable(conditional.items.name)], MOST_NAME)
    return Text.assemble((name, "bold"), f": {heading(conditional)}")


def _table(conditional: Conditional, width: int) -> Iterator[RenderableType]:
    """With chance in the cells if all columns then stand side by side; with intervals below estimates if need be."""
    rows = item_rows(conditional)
    names = [human_title(conditional), *(printable(column.name) for column in conditional.systems)]
    lines = _lines(rows, _chances(rows), stacked=False)
    with_chance = fits_whole(lines, names, width)
    if not with_chance:
        nothing = [[""] * len(names) for _ in rows]
        lines = _lines(rows, nothing, stacked=False)
        if not fits_in_pieces(lines, width):
            lines = _lines(rows, nothing, stacked=True)
    yield from block_tables(lines, names, width)
    yield from map(_dim, legend(conditional, chance=with_chance))


def _chances(rows: list[ItemRow]) -> list[list[str]]:
    """What stands behind each cell, equally wide within a column, so that the numbers before it stay in line."""
    said = [["" if math.isnan(chance) else f" (chance {number(chance)})" for chance in row.chances] for row in rows]
    widths = [max(map(len, column)) for column in zip(*said, strict=True)]
    return [[text.ljust(width) for text, width in zip(line, widths, strict=True)] for line in said]


def _lines(rows: list[ItemRow], behind: list[list[str]], *, stacked: bool) -> list[BlockLine]:
    found = []
    for row, texts in zip(rows, behind, strict=True):
        cells = [
            _text(cell, text, stacked=stacked, dim=bool(row.at)) for cell, text in zip(row.cells, texts, strict=True)
        ]
        found.append(BlockLine(_label(row), tuple(cells), row.group))
    return found


def _label(row: ItemRow) -> Text:
    if row.at:
        return Text(f"  at {row.at}", style="dim")
    return Text.assemble(shortened(row.label, 60), (f" {ARROWS[row.better]}", "dim"))


def _text(cell: Cell, behind: str, *, stacked: bool, dim: bool) -> Text:
    """A cell in one line, or with its interval below the estimate."""
    mark = (MARK if cell.marked else " ", "bold yellow")
    estimate = (cell.estimate, "bold" if cell.marked else "dim" if dim else "")
    if stacked and cell.spread:
        return Text.assemble(estimate, mark, "\n", (cell.spread, "not bold dim"), " ")
    spread = f" {cell.spread}" if cell.spread else ""
    return Text.assemble(estimate, (spread, "not bold dim"), mark, (behind, "dim"))


def _verdicts(conditional: Conditional, names: list[str]) -> Iterator[Table]:
    width = max(map(cell_len, names), default=0)
    for column, name in zip(conditional.systems, names, strict=True):
        level = column.verdict.level if column.verdict else "untested"
        said = Table.grid(padding=(0, 1))
        said.add_column(width=width + 2, no_wrap=True)
        said.add_column(overflow="fold")
        head = Text(f"{_SIGNS.get(level, '?')} {name}", style=_STYLES.get(level, ""))
        if column.verdict is not None:
            said.add_row(head, Text(shortened(column.verdict.sentence, _LONGEST)))
            head = Text("")
        said.add_row(head, _dim(f"items: {counts(column)}"))
        yield said


def _contests(conditional: Conditional, width: int) -> Iterator[RenderableType]:
    found = paired_rows(conditional)
    columns = [column.name for column in (conditional.human, *conditional.systems)]
    room = max(8, min(MOST_NAME, width // 6))
    names = dict(zip(columns, fitted_names([printable(name) for name in columns], room), strict=True))
    if not found:
        return
    yield _dim(
        f"differences on the same items, first minus second; {MARK} Holm-adjusted p <= {1 - conditional.level:g}"
    )
    shown = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right", "left"):
        shown.add_column(justify=justify, overflow="fold")
    for one in found[:_MOST_CONTESTS]:
        pair = f"{names[one.contest.first]} − {names[one.contest.second]}"
        ahead = f"{names[one.ahead]} ahead" if one.ahead else ""
        shown.add_row(Text(pair), Text(shortened(one.contest.label, 60)), Text(one.gap), Text(ahead))
    yield shown
    if len(found) > _MOST_CONTESTS:
        yield _dim(f"and {len(found) - _MOST_CONTESTS:,} more differences, all less clear")


def _behind(conditional: Conditional) -> Iterator[str]:
    """What stands behind the cells, for those who ask why."""
    adjusted = ((math.nan,) * len(conditional.labels), *conditional.adjusted())
    for place, label in enumerate(conditional.labels):
        for column, p in zip((conditional.human, *conditional.systems), adjusted, strict=True):
            line = combined(label, column, place, p[place])
            if line:
                yield line


def _worst(conditional: Conditional, width: int, top: int) -> Iterator[RenderableType]:
    found = worst_items(conditional, top)
    if found:
        yield _dim("the worst items, references | candidates; > the central reference")
    for item in found:
        yield _item_title(item)
        sides = Table.grid(padding=(0, 1))
        side = max((width - 7) // 2, 1)
        for wide in (1, side, 1, side):
            sides.add_column(width=wide, overflow="fold")
        for central, left, right in item.lines():
            sides.add_row(">" if central else "", Text(left), Text("|", style="dim"), Text(right))
        yield sides


def _item_title(item: Worst) -> Text:
    title = Text.assemble((item.system, "bold"), " on ", (item.id, "bold"), f": {item.how}")
    return title.append(f"\n  {item.prompt}", style="dim") if item.prompt else title
