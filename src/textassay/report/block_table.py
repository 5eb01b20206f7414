"""A table of numbers in a terminal, in as many pieces as its width asks for, so that no number is ever cut."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from textassay.report.short_names import fitted_names

MOST_NAME = 24
# Between two columns; and what a label needs to be read when it is folded.
_GAP, _LEAST_LABEL = 3, 10


@dataclass(frozen=True)
class Line:
    """A row: its label, the yardstick's cell and one a column; a rule stands between lines of different sections."""

    label: Text
    cells: tuple[Text, ...]
    section: str


def fits_whole(lines: Sequence[Line], names: Sequence[str], width: int) -> bool:
    """True when all columns fit side by side, each with its name."""
    shown = [names[0], *fitted_names(names[1:], MOST_NAME)]
    columns = [max(cell_len(name), cells) for name, cells in zip(shown, _widths(lines), strict=True)]
    return _label_width(lines) + sum(column + _GAP for column in columns) <= width


def fits_in_pieces(lines: Sequence[Line], width: int) -> bool:
    """True when the labels fit beside the yardstick and any one column."""
    yardstick, *columns = _widths(lines)
    return _label_width(lines) + yardstick + max(columns, default=0) + 2 * _GAP <= width


def block_tables(lines: Sequence[Line], names: Sequence[str], width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the yardstick beside the columns, or before them if it must be."""
    numbers = _widths(lines)
    widest = max(numbers[1:], default=0)
    yardstick = max(numbers[0], cell_len(names[0]))
    beside = _LEAST_LABEL + yardstick + widest + 2 * _GAP <= width
    label = min(_label_width(lines), max(width - widest - _GAP - beside * (yardstick + _GAP), _LEAST_LABEL))
    room = width - label - _GAP - beside * (yardstick + _GAP)
    shown = [names[0], *fitted_names(names[1:], min(MOST_NAME, max(room, widest)))]
    widths = [max(cell_len(name), number) for name, number in zip(shown, numbers, strict=True)]
    for block in _blocks(widths, room, beside=beside):
        yield _table(lines, {place: (shown[place], widths[place]) for place in block}, label)


def _label_width(lines: Sequence[Line]) -> int:
    return max((line.label.cell_len for line in lines), default=0)


def _widths(lines: Sequence[Line]) -> list[int]:
    """How wide the cells of each column are."""
    columns = zip(*(line.cells for line in lines), strict=True)
    return [max(cell_len(part) for text in column for part in text.plain.split("\n")) for column in columns] or [0]


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


def _table(lines: Sequence[Line], block: Mapping[int, tuple[str, int]], label: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("metric", overflow="fold", width=label)
    for place, (name, width) in block.items():
        table.add_column(Text(name, justify="right"), width=width, no_wrap=True, style="" if place else "cyan")
    previous = ""
    for line in lines:
        if previous not in ("", line.section):
            table.add_section()
        previous = line.section
        table.add_row(line.label, *(_right(line.cells[place], width) for place, (_, width) in block.items()))
    return table


def _right(text: Text, width: int) -> Text:
    """The text at the right, with the blanks at its end, which hold the place of a mark: a table would cut them."""
    lines = text.split("\n", allow_blank=True)
    for line in lines:
        line.pad_left(width - line.cell_len)
    return Text("\n").join(lines)
