"""The metric table in a terminal, in as many pieces as its width asks for, so that no number is ever cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable
from textassay.report.cells import ARROWS, MARK, Cell
from textassay.report.rows import Row, rows
from textassay.report.short_names import fitted_names
from textassay.studies.comparison import Comparison

MOST_NAME = 24
# Between two columns; and what a label needs to be read when it is folded.
_GAP, _LEAST_LABEL = 3, 10


@dataclass(frozen=True)
class _Content:
    """What stands in the cells, and how wide each column of numbers and the labels are."""

    rows: list[Row]
    labels: list[Text]
    cells: list[list[Text]]
    numbers: list[int]

    @property
    def label(self) -> int:
        return max((text.cell_len for text in self.labels), default=0)

    @property
    def widest(self) -> int:
        """The widest number of a candidate."""
        return max(self.numbers[1:], default=0)


def metric_tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the yardstick beside the candidates, or before them if it must be."""
    real = comparison.real.name
    content = _content(comparison, stacked=False)
    if content.label + content.numbers[0] + content.widest + 2 * _GAP > width:
        content = _content(comparison, stacked=True)
    yardstick = max(content.numbers[0], cell_len(real))
    beside = _LEAST_LABEL + yardstick + content.widest + 2 * _GAP <= width
    label = min(content.label, max(width - content.widest - _GAP - beside * (yardstick + _GAP), _LEAST_LABEL))
    room = width - label - _GAP - beside * (yardstick + _GAP)
    candidates = [printable(column.name) for column in comparison.candidates]
    names = [real, *fitted_names(candidates, min(MOST_NAME, max(room, content.widest)))]
    widths = [max(cell_len(name), number) for name, number in zip(names, content.numbers, strict=True)]
    for block in _blocks(widths, room, beside=beside):
        yield _table(content, names, block, label)


def _blocks(widths: Sequence[int], room: int, *, beside: bool) -> Iterator[list[int]]:
    """The places of the columns of each table."""
    kept = [0] if beside else []
    block: list[int] = []
    if not beside:
        yield [0]
    for place in range(1, len(widths)):
        if block and sum(widths[i] + _GAP for i in block) + widths[place] > room:
            yield kept + block
            block = []
        block.append(place)
    yield kept + block


def _content(comparison: Comparison, *, stacked: bool) -> _Content:
    found = rows(comparison)
    cells = [[_text(item, stacked=stacked) for item in row.cells] for row in found]
    numbers = [
        max((max(map(cell_len, line[place].plain.split("\n"))) for line in cells), default=0)
        for place in range(1 + len(comparison.candidates))
    ]
    return _Content(found, [_label(row) for row in found], cells, numbers)


def _table(content: _Content, names: list[str], block: list[int], label: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold", width=label)
    for place in block:
        table.add_column(Text(names[place]), justify="right", no_wrap=True, style="" if place else "cyan")
    previous = ""
    for row, text, cells in zip(content.rows, content.labels, content.cells, strict=True):
        if previous not in ("", row.aspect):
            table.add_section()
        previous = row.aspect
        table.add_row(text, *(cells[place] for place in block))
    return table


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
