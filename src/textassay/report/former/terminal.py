"""The terminal view of all studies: sections, verdicts, and tables that fit the width."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.report.former.table import LEVELS, MARK, Figure, Line, level_of, short_names
from textassay.studies.finding import Verdict

# Notes and verdicts may quote texts of any length.
_LONGEST = 400
MOST_NAME = 24
# Cells between two columns of the metric table; and what a label needs to be readable when it is folded.
_GAP, _LEAST_LABEL = 3, 10


def joined(sections: Iterable[Sequence[RenderableType]]) -> Group:
    """The sections with a blank line between any two that have content."""
    parts: list[RenderableType] = []
    for section in sections:
        parts += [Text(""), *section] if parts and section else section
    return Group(*parts)


def cut(line: str) -> str:
    """A line that may be long, shortened and made printable."""
    return shortened(line, _LONGEST)


def dim(line: str) -> Text:
    """A line of less importance."""
    return Text(cut(line), style="dim")


def notes(lines: Iterable[str]) -> list[Text]:
    """Notes, one per line."""
    return [dim(f"note: {line}") for line in lines]


def heading(name: str, rest: str, *, before: str = "", width: int | None = None) -> Text:
    """The first line: the name of what was measured, and its sizes; two lines where one is wider than `width`."""
    shown, *_ = fitted_names([printable(name)], MOST_NAME)
    title = Text.assemble(before, (shown, "bold"), cut(rest))
    if width is None or title.cell_len <= width:
        return title
    first, _, second = rest.partition("; ")
    return Text.assemble(before, (shown, "bold"), cut(f"{first};"), f"\n  {second}")


def named_lines(rows: Iterable[tuple[Text, Text]], *, width: int) -> Table:
    """Lines behind their names; a line that does not fit is continued below its own beginning."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def verdict_lines(verdicts: Iterable[tuple[str, Verdict | None, Sequence[Text]]]) -> Iterator[Table]:
    """A sign and a name, then the reasons one per line, and further lines below; names are fitted already."""
    known = list(verdicts)
    width = max((cell_len(name) for name, *_ in known), default=0) + 2
    for name, verdict, more in known:
        level = LEVELS[level_of(verdict)]
        lines = [*(Text(cut(reason)) for reason in (verdict.reasons if verdict else ())), *more]
        if lines:
            heads = [Text(f"{level.sign} {name}".rstrip(), style=level.style), *(Text("") for _ in lines[1:])]
            yield named_lines(zip(heads, lines, strict=True), width=width if name else 1)


def plain_table(*, gap: int = _GAP) -> Table:
    """A table with a rule below its head and none elsewhere."""
    padding = (0, gap - 1, 0, 0) if gap < _GAP else (0, 1)
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=padding)


def fitted_names(names: Sequence[str], width: int) -> list[str]:
    """The names in at most this many cells of a terminal, still different from each other, by number if necessary.

    >>> fitted_names(["model-temperature-0.7-topk-run-1", "model-temperature-0.7-topk-run-2"], 24)
    ['model-tempe…7-topk-run-1', 'model-tempe…7-topk-run-2']
    """
    for shorter in (list(names), short_names(names, fewest=2)):
        for tail in (width // 2, 0):
            fitted = [_fitted(name, width, tail) for name in shorter]
            if len(set(fitted)) == len(names):
                return fitted
    prefixes = [f"{place} " for place in range(1, len(names) + 1)]
    return [f"{prefix}{_fitted(name, width - len(prefix), 0)}" for prefix, name in zip(prefixes, names, strict=True)]


def _fitted(name: str, width: int, tail: int) -> str:
    """The name in at most `width` cells, with up to `tail` cells of its end."""
    if cell_len(name) <= width:
        return name
    end = next(name[len(name) - n :] for n in range(tail, -1, -1) if cell_len(name[len(name) - n :]) <= tail)
    room = max(width - 1 - cell_len(end), 0)
    return f"{next(name[:n] for n in range(room, -1, -1) if cell_len(name[:n]) <= room)}…{end}"


@dataclass(frozen=True)
class _Row:
    """A row of the metric table as text: its label, the baseline's cell, and one cell per column."""

    label: Text
    cells: tuple[Text, ...]
    section: str


def metric_tables(lines: Sequence[Line], names: Sequence[str], width: int) -> tuple[list[Table], bool]:
    """Tables of at most this width, and whether their cells show what chance gives.

    Chance is shown where all columns then fit side by side. Intervals go below their estimates where not even one
    column fits beside the baseline. `names` starts with the baseline.
    """
    shown = list(map(printable, names))
    rows = _rows(lines, stacked=False, chance=True)
    if any(figure.chance for line in lines for figure in line.figures) and _fits_whole(rows, shown, width):
        return list(_tables(rows, shown, width)), True
    rows = _rows(lines, stacked=False, chance=False)
    if not _fits_in_pieces(rows, width):
        rows = _rows(lines, stacked=True, chance=False)
    return list(_tables(rows, shown, width)), False


def _rows(lines: Sequence[Line], *, stacked: bool, chance: bool) -> list[_Row]:
    behind = [[_behind(figure, chance=chance) for figure in line.figures] for line in lines]
    # Equally wide within a column, so that the numbers before it stay aligned.
    widths = [max(map(len, column)) for column in zip(*behind, strict=True)]
    return [
        _Row(
            _label(line),
            tuple(
                _cell(figure, text.ljust(wide), stacked=stacked, quiet=bool(line.at))
                for figure, text, wide in zip(line.figures, texts, widths, strict=True)
            ),
            line.section,
        )
        for line, texts in zip(lines, behind, strict=True)
    ]


def _behind(figure: Figure, *, chance: bool) -> str:
    size = f" ({figure.size})" if figure.size else ""
    return size + (f" (chance {figure.chance})" if figure.chance and chance else "")


def _label(line: Line) -> Text:
    if line.at:
        return Text(f"  at {line.at}", style="dim")
    return Text.assemble(line.label, (f" {line.arrow}", "dim"))


def _cell(figure: Figure, behind: str, *, stacked: bool, quiet: bool) -> Text:
    """A cell in one line, or with its interval below the estimate."""
    mark = (MARK if figure.marked else " ", "bold yellow")
    estimate = (figure.estimate, "bold" if figure.marked else "dim" if quiet else "")
    if stacked and figure.spread:
        below = [figure.spread, *([behind.strip()] if behind.strip() else [])]
        return Text.assemble(estimate, mark, *(piece for one in below for piece in ("\n", (one, "not bold dim"), " ")))
    spread = f" {figure.spread}" if figure.spread else ""
    return Text.assemble(estimate, (spread, "not bold dim"), mark, (behind, "dim"))


def _fits_whole(rows: Sequence[_Row], names: Sequence[str], width: int) -> bool:
    """True when all columns fit side by side, each with its name."""
    shown = [names[0], *fitted_names(names[1:], MOST_NAME)]
    columns = [max(cell_len(name), cells) for name, cells in zip(shown, _widths(rows), strict=True)]
    return _label_width(rows) + sum(column + _GAP for column in columns) <= width


def _fits_in_pieces(rows: Sequence[_Row], width: int) -> bool:
    """True when the labels fit beside the baseline and any one column."""
    baseline, *columns = _widths(rows)
    return _label_width(rows) + baseline + max(columns, default=0) + 2 * _GAP <= width


def _tables(rows: Sequence[_Row], names: Sequence[str], width: int) -> Iterator[Table]:
    """Tables of at most this width, each with the baseline beside the columns, or before them if it does not fit."""
    numbers = _widths(rows)
    widest = max(numbers[1:], default=0)
    baseline = max(numbers[0], cell_len(names[0]))
    beside = _LEAST_LABEL + baseline + widest + 2 * _GAP <= width
    label = min(_label_width(rows), max(width - widest - _GAP - beside * (baseline + _GAP), _LEAST_LABEL))
    room = width - label - _GAP - beside * (baseline + _GAP)
    shown = [names[0], *fitted_names(names[1:], min(MOST_NAME, max(room, widest)))]
    widths = [max(cell_len(name), number) for name, number in zip(shown, numbers, strict=True)]
    for block in _blocks(widths, room, beside=beside):
        yield _table(rows, {place: (shown[place], widths[place]) for place in block}, label)


def _label_width(rows: Sequence[_Row]) -> int:
    return max((row.label.cell_len for row in rows), default=0)


def _widths(rows: Sequence[_Row]) -> list[int]:
    """The width of the cells of each column."""
    columns = zip(*(row.cells for row in rows), strict=True)
    return [max(cell_len(part) for text in column for part in text.plain.split("\n")) for column in columns] or [0]


def _blocks(widths: Sequence[int], room: int, *, beside: bool) -> Iterator[list[int]]:
    """The places of the columns of each table."""
    kept = [0] if beside else []
    if not beside:
        yield [0]
    yield from (kept + [place + 1 for place in block] for block in column_blocks(widths[1:], room, gap=_GAP))


def column_blocks(widths: Sequence[int], room: int, *, gap: int = 0) -> Iterator[list[int]]:
    """The places of the columns of each table, as many per table as there is room for.

    >>> list(column_blocks([5, 5, 5], 12, gap=2))
    [[0, 1], [2]]
    """
    block: list[int] = []
    for place, wide in enumerate(widths):
        if block and sum(widths[other] + gap for other in block) + wide > room:
            yield block
            block = []
        block.append(place)
    yield block


def _table(rows: Sequence[_Row], block: Mapping[int, tuple[str, int]], label: int) -> Table:
    table = plain_table()
    table.add_column("metric", overflow="fold", width=label)
    for place, (name, width) in block.items():
        table.add_column(Text(name, justify="right"), width=width, no_wrap=True, style="" if place else "cyan")
    previous = ""
    for row in rows:
        if previous not in ("", row.section):
            table.add_section()
        previous = row.section
        table.add_row(row.label, *(_right(row.cells[place], width) for place, (_, width) in block.items()))
    return table


def _right(text: Text, width: int) -> Text:
    """The text at the right, with the spaces at its end, which hold the place of a mark: a table would remove them."""
    lines = text.split("\n", allow_blank=True)
    for line in lines:
        line.pad_left(width - line.cell_len)
    return Text("\n").join(lines)
