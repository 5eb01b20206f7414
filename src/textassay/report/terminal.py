"""The terminal form of a document: the answer on one screen, and on request the tables and texts behind it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text as Line

from textassay.corpus.printable import many, printable, shortened
from textassay.document.blocks import (
    REAL,
    Badge,
    Block,
    Cell,
    Chart,
    Details,
    Document,
    Facts,
    Item,
    Items,
    Legend,
    Notes,
    Quote,
    Row,
    Section,
    Signatures,
    Summary,
    SummaryRow,
    Table,
    Text,
    notes_of,
)
from textassay.report.names import fitted_names
from textassay.report.tones import tone_of, tone_of_decision

MARK = "*"
# Cells between two columns, and the width that a column of words needs to be readable when it is folded.
_GAP, _LEAST = 2, 12
# A longer word is broken where it is in a column.
_LONG_WORD = 16
_MOST_NAME = 24
# Sentences, names and quotes may quote texts of any length.
_LONGEST, _LONGEST_QUOTE, _LONGEST_PARAGRAPH = 400, 240, 2000
# Lines of an item before its texts; a page has all of them.
_MOST_LINES = 2
# The rows of a summary where there is no screen to fill, and those that come before caveats and lists where one is.
_MOST_ROWS, _FIRST_ROWS = 30, 6


def render(
    document: Document,
    *,
    width: int,
    height: int | None = None,
    table: bool = False,
    why: bool = False,
    top: int = 5,
) -> Group:
    """The summary, then the sections that are always shown, and those of `--table` and `--why` if they are wanted.

    Without `table` and `why` it fills at most `height` lines, less one for the prompt: it leaves out items and notes of
    the sections first, then reasons, then the last candidates. Of a list of items, the first `top` are shown.
    """
    wanted = {"screen"} | ({"table"} if table else set()) | ({"why"} if why else set())
    sections = [section for section in document.sections if section.shown in wanted]
    whole = table or why
    hints: list[RenderableType] = [_line("    ".join(document.summary.hints), "dim")] if document.summary.hints else []
    room = None if whole or height is None else height - 1 - sum(_height(part, width) for part in hints)
    if room is None:
        screen = _screen(sections, width, top)
    else:
        least = _height(_answer(document.summary, width, min(len(document.summary.rows), _FIRST_ROWS), 0, {}), width)
        screen = _fitted(sections, width, top, room - least)
        rest = room - (_height(screen, width) if sections else 0)
        # Sections that leave no room for the answer scroll anyway.
        room = rest if rest >= least else room
    parts: list[list[RenderableType]] = [[_summary(document.summary, width, room, whole=whole)]]
    parts += [[screen]] if sections else []
    parts += [[_line(f"note: {note}", "dim") for note in document.notes]] if whole and document.notes else []
    return _joined([*parts, hints], blank=whole or height is None)


def _screen(sections: Sequence[Section], width: int, top: int, most: int | None = None) -> Group:
    """The sections below the answer; of each list of items and notes, the first `most`."""
    few = sections if most is None else [replace(each, blocks=_first(each.blocks, most)) for each in sections]
    return _joined([_section(section, width, top) for section in few])


def _fitted(sections: Sequence[Section], width: int, top: int, room: int) -> Group:
    """The sections with as many items and notes as fit into this many lines."""
    lengths = [_length(block, top) for section in sections for block in section.blocks]
    most = max(lengths, default=0)
    k = _largest(0, most, lambda n: _height(_screen(sections, width, top, n), width) <= room)
    return _screen(sections, width, top, k if k < most else None)


def _length(block: Block, top: int) -> int:
    match block:
        case Items():
            return min(len(block.items), top)
        case Notes():
            return len(block.lines)
    return 0


def _first(blocks: Sequence[Block], most: int) -> tuple[Block, ...]:
    """The blocks with at most so many items and notes in each list."""
    found: list[Block] = []
    for block in blocks:
        match block:
            case Items():
                found.append(replace(block, items=block.items[:most]))
            case Notes() if len(block.lines) > most:
                more = f"… and {len(block.lines) - most:,} more: --table"
                found.append(Notes((*block.lines[:most], more)))
            case _:
                found.append(block)
    return tuple(found)


def _joined(parts: Iterable[Sequence[RenderableType]], *, blank: bool = True) -> Group:
    """The parts with a blank line between any two that have content."""
    found: list[RenderableType] = []
    for part in parts:
        found += [Line(""), *part] if found and part and blank else part
    return Group(*found)


def _line(text: str, style: str = "", *, most: int = _LONGEST) -> Line:
    """A text that may be long or hostile, as a line that wraps."""
    return Line(shortened(text, most), style=style)


def _height(content: RenderableType, width: int) -> int:
    """The number of lines of some content."""
    console = Console(
        file=StringIO(), width=width, color_system=None, force_jupyter=False
    )  # fmt: skip
    return len(console.render_lines(content, pad=False))


def _grid(widths: Sequence[int | None], *, gap: int = _GAP) -> Grid:
    """A table without rules; a column without a width is folded into what is left."""
    grid = Grid.grid(padding=(0, gap, 0, 0), pad_edge=False)
    for width in widths:
        grid.add_column(width=width, overflow="fold")
    return grid


# The summary.


def _summary(summary: Summary, width: int, room: int | None, *, whole: bool = False) -> Group:
    """The answer in at most `room` lines if that is possible, without its hints.

    The first candidates come before caveats, these before the other candidates, and reasons last.
    """

    def fits(n: int, caveats: int, reasons: dict[int, list[str]]) -> bool:
        return room is None or _height(_answer(summary, width, n, caveats, reasons), width) <= room

    n = len(summary.rows) if whole else min(len(summary.rows), _MOST_ROWS)
    caveats = _largest(0, len(summary.caveats), lambda k: fits(min(n, _FIRST_ROWS), k, {}))
    n = _largest(min(n, 1), n, lambda k: fits(k, caveats, {}))
    shown = summary.rows[:n]
    tells = _layout(summary, shown, width).tells
    whole_reasons = {
        row.candidate: list(row.why) or [row.stands_out] * bool(row.stands_out and not tells) for row in shown
    }
    if fits(n, caveats, whole_reasons):
        return _answer(summary, width, n, caveats, whole_reasons)
    # One reason of each candidate, the second of each, and so on, as many as there is space for; first of all one of
    # each in which something stands out.
    told = [row for row in shown if whole_reasons[row.candidate]]
    first = [row for row in told if row.stands_out] or told
    order = [*first, *(row for row in told if row not in first)]
    order += [row for depth in (1, 2) for row in told if len(whole_reasons[row.candidate]) > depth]

    def kept(k: int) -> dict[int, list[str]]:
        counts = Counter(row.candidate for row in order[:k])
        return {row.candidate: _reasons(row, counts[row.candidate], with_column=tells) for row in order[:k]}

    most = _largest(0, len(order), lambda k: fits(n, caveats, kept(k)))
    # A reason of some candidates alone would look as if the others had none.
    return _answer(summary, width, n, caveats, kept(most) if most >= len(first) else {})


def _largest(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """The largest number for which something fits; `least` if it never does."""
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(middle) else (least, middle - 1)
    return least


def _answer(summary: Summary, width: int, n: int, caveats: int, reasons: dict[int, list[str]]) -> Group:
    """The summary with its first `n` rows, so many of its caveats, and these reasons by candidate."""
    shown = summary.rows[:n]
    head = [_heading(summary, width), *([_line(summary.sentence, most=_LONGEST_PARAGRAPH)] if summary.sentence else [])]
    table: list[RenderableType] = [_layout(summary, shown, width).table] if shown else []
    indent = 3 if shown and _is_ranked(shown) else 0
    below = [*_hidden(summary.rows[n:]), *([summary.left_out] if summary.left_out else []), *_few(summary.ties)]
    table += [Padding(_line(line, "dim"), (0, 0, 0, indent)) for line in below]
    return _joined([head, table, [*_reason_lines(shown, reasons, width), *_caveats(summary, caveats)]])


def _heading(summary: Summary, width: int) -> Line:
    """The question, and what was compared behind it or on a line of its own."""
    question, context = shortened(summary.question, _LONGEST), shortened(summary.about, _LONGEST)
    fits = cell_len(question) + cell_len(context) + 3 <= width
    parts = [(question, "bold"), *([("   " if fits else "\n", ""), (context, "dim")] if context else [])]
    return Line.assemble(*parts)


def _hidden(rows: Sequence[SummaryRow]) -> list[str]:
    """How many candidates are not shown, by verdict."""
    if not rows:
        return []
    counts = Counter(tone_of_decision(row.decision, row.grade).words for row in rows)
    verdicts = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    return [f"… and {len(rows):,} more ({verdicts}); all: --table"]


def _few(lines: Sequence[str], most: int = 3) -> list[str]:
    rest = len(lines) - most
    return [*lines[:most], *([f"… and {rest} more: --table"] if rest > 0 else [])]


# Short words where a column of verdicts would be too wide; its head then says that it is about differences.
_SHORT_WORDS = {"no difference found": "none found"}


def _is_ranked(rows: Sequence[SummaryRow]) -> bool:
    return len(rows) > 1 and any(row.rank is not None for row in rows)


@dataclass(frozen=True)
class _Form:
    """A form of the table of a summary: the cells of a name and between columns, and verdicts in full or short.

    `stacked` intervals are below the values. One that `tells` has a column of what stands out.
    """

    name: int
    long: bool = False
    stacked: bool = False
    tells: bool = False
    gap: int = _GAP


_FORMS = (
    *(_Form(name, long=long, tells=True) for name, long in ((40, True), (24, True), (24, False))),
    *(_Form(name, long=long) for name, long in ((24, True), (24, False))),
    _Form(24, gap=1),
    *(_Form(14, gap=gap) for gap in (_GAP, 1)),
    *(_Form(name, stacked=True) for name in (24, 14)),
)


@dataclass(frozen=True)
class _Layout:
    """The table of a summary, and whether it has the column of what stands out."""

    table: RenderableType
    tells: bool


def _layout(summary: Summary, rows: Sequence[SummaryRow], width: int) -> _Layout:
    """The first form of the table that fits: wide, without what stands out, with short names, with intervals below.

    On a screen that is narrower than any of them, each candidate has lines of its own.
    """
    for form in _FORMS:
        columns = _summary_columns(summary, rows, form)
        widths = [column.natural for column in columns]
        rest = width - sum(widths) - form.gap * (len(columns) - 1)
        if not form.tells and rest >= 0:
            return _Layout(_drawn(columns, widths, gap=form.gap), tells=False)
        stands_out = [_line(row.stands_out) for row in rows]
        head = Line("what stands out")
        longest = max((line.cell_len for line in (head, *stands_out)), default=0)
        if form.tells and any(stands_out) and rest - form.gap >= min(longest, 28):
            columns.append(_Column(head, stands_out, numeric=False))
            return _Layout(_drawn(columns, [*widths, min(rest - form.gap, longest)]), tells=True)
    return _Layout(_cards(summary, rows), tells=False)


def _summary_columns(summary: Summary, rows: Sequence[SummaryRow], form: _Form) -> list["_Column"]:
    names = fitted_names([printable(row.name) for row in rows], form.name)
    verdicts = [_verdict(row, long=form.long) for row in rows]
    columns = [_Column(_line(summary.noun), [Line(name, style="bold") for name in names], numeric=False)]
    if any(row.decision for row in rows):
        is_difference = not form.long and any(row.decision == "same" for row in rows)
        columns.append(_Column(Line("difference" if is_difference else "verdict"), verdicts, numeric=False))
    for place, head in enumerate(summary.columns):
        cells = [row.cells[place] if place < len(row.cells) else Cell("") for row in rows]
        columns.append(_cell_column(_line(head), cells, numeric=False, stacked=form.stacked))
    if _is_ranked(rows):
        ranks = [Line("" if row.rank is None else str(row.rank)) for row in rows]
        columns.insert(0, _Column(Line(""), ranks, numeric=False))
    return columns


def _verdict(row: SummaryRow, *, long: bool) -> Line:
    tone = tone_of_decision(row.decision, row.grade)
    words = tone.words if long else _SHORT_WORDS.get(tone.words, tone.words).removesuffix(" difference")
    return Line(f"{tone.sign} {words}", style=tone.style)


def _cards(summary: Summary, rows: Sequence[SummaryRow]) -> Group:
    """One candidate below the other: its name and verdict, then its values."""
    names = fitted_names([printable(row.name) for row in rows], _MOST_NAME)
    lines: list[RenderableType] = []
    for row, name in zip(rows, names, strict=True):
        rank = f"{row.rank} " if row.rank is not None and len(rows) > 1 else ""
        lines.append(Line.assemble(rank, (name, "bold"), "  ", _verdict(row, long=True)))
        values = [f"{head} {_plain(cell)}" for head, cell in zip(summary.columns, row.cells, strict=False)]
        lines += [Padding(_line("; ".join(values)), (0, 0, 0, 2))] if values else []
    return Group(*lines)


def _reasons(row: SummaryRow, n: int, *, with_column: bool) -> list[str]:
    """So many reasons; a single one is what stands out, unless a column has it or the first reason says it."""
    tells = row.stands_out and not with_column and not any(row.stands_out in why for why in row.why[:1])
    return [row.stands_out] if tells and n == 1 else list(row.why[:n])


def _reason_lines(rows: Sequence[SummaryRow], reasons: dict[int, list[str]], width: int) -> Iterator[RenderableType]:
    """The reasons of each candidate behind its rank, or behind its name where it has none."""
    told = [row for row in rows if reasons.get(row.candidate)]
    if not told:
        return
    ranks = [str(row.rank) for row in rows]
    is_clear = len(set(ranks)) == len(rows) and all(row.rank is not None for row in rows)
    names = ranks if is_clear else fitted_names([printable(row.name) for row in rows], min(18, width // 3))
    label = {row.candidate: name for row, name in zip(rows, names, strict=True)}
    widest = max(cell_len(label[row.candidate]) for row in told)
    grid = _grid([widest if len(rows) > 1 else 0, None])
    for row in told:
        for place, reason in enumerate(reasons[row.candidate]):
            grid.add_row(Line("" if place or len(rows) == 1 else label[row.candidate], style="bold"), _line(reason))
    yield grid if len(rows) > 1 else Group(*(_line(reason) for row in told for reason in reasons[row.candidate]))


def _caveats(summary: Summary, n: int) -> Iterator[RenderableType]:
    grid = _grid([1, None], gap=1)
    rest = len(summary.caveats) - n
    more = [f"{many(rest, 'more caveat' if n else 'caveat')}: --why"] if rest else []
    for caveat in (*summary.caveats[:n], *more):
        grid.add_row(Line("!", style="yellow"), _line(caveat))
    if summary.caveats:
        yield grid


# Sections.


def _section(section: Section, width: int, top: int) -> list[RenderableType]:
    blocks = _joined(list(_block(block, width, top)) for block in section.blocks)
    return [_line(section.title, "bold underline"), blocks] if section.title else [blocks]


def _block(block: Block, width: int, top: int) -> Iterator[RenderableType]:
    match block:
        case Summary():
            yield _summary(block, width, None, whole=True)
        case Text():
            yield from (_line(paragraph, most=_LONGEST_PARAGRAPH) for paragraph in block.paragraphs)
        case Table():
            yield from _table(block, width, top)
        case Chart():
            lines = (block.plot.title, block.plot.summary, block.caption, *block.remarks)
            yield from (_line(line, "dim") for line in lines if line)
        case Facts():
            yield from _pairs(block.pairs, width)
        case Items():
            yield from _items(block, top)
        case Notes():
            yield from (_line(line) for line in block.lines)
        case Legend():
            yield from _pairs([(entry.name, entry.text) for entry in block.entries], width, style="dim")
        case Signatures():
            yield from _pairs(block.pairs, width, style="dim")
        case Details():
            quiet = f"  {shortened(block.quiet, _LONGEST)}" if block.quiet else ""
            yield Line.assemble((shortened(block.title, _LONGEST), "bold"), (quiet, "dim"))
            for inner in block.blocks:
                yield from _block(inner, width, top)


def _pairs(pairs: Sequence[tuple[str, str]], width: int, *, style: str = "") -> Iterator[RenderableType]:
    """Terms with their texts behind them."""
    if pairs:
        widest = max(cell_len(shortened(term, _LONGEST)) for term, _ in pairs)
        grid = _grid([min(widest, max(width // 3, _LEAST)), None])
        for term, text in pairs:
            grid.add_row(_line(term, style or "bold"), _line(text, style, most=_LONGEST_PARAGRAPH))
        yield grid


def _items(block: Items, top: int) -> Iterator[RenderableType]:
    if block.title:
        yield _line(block.title, "bold")
    for item in block.items[:top]:
        yield from _item(item)
    hidden = block.total - min(top, len(block.items))
    if hidden > 0:
        option = "--top N" if len(block.items) >= top else "--why"
        yield _line(f"… and {hidden:,} more: {option}, or --report FILE.html", "dim")


def _item(item: Item) -> Iterator[RenderableType]:
    yield Line.assemble(
        (shortened(item.name, _LONGEST), "bold"), *(piece for badge in item.badges for piece in _badge(badge))
    )
    yield from (Padding(_line(line), (0, 0, 0, 2)) for line in (item.prompt, *item.lines[:_MOST_LINES]) if line)
    for side in item.sides:
        badge = _badge(side.badge) if side.badge else []
        line = f"  {shortened(side.line, _LONGEST)}" if side.line else ""
        yield Padding(Line.assemble(shortened(side.name, _LONGEST), *badge, (line, "dim")), (0, 0, 0, 2))
        yield from (Padding(_quote(quote), (0, 0, 0, 4)) for quote in side.texts)
        rest = (side.total or 0) - len(side.texts)
        if rest > 0:
            yield Padding(_line(f"… and {rest:,} more", "dim"), (0, 0, 0, 4))


def _badge(badge: Badge) -> list[tuple[str, str]]:
    return [("  ", ""), (shortened(badge.text, _LONGEST), tone_of(badge.tone).style)]


def _quote(quote: Quote) -> Line:
    """A part of a text with its phrase in bold, its tags before it."""
    tags = "".join(f"[{shortened(tag, 60)}] " for tag in quote.tags)
    before, after = (shortened(part, _LONGEST_QUOTE) for part in (quote.before, quote.after))
    return Line.assemble((tags, "dim"), before, (shortened(quote.phrase, _LONGEST_QUOTE), "bold"), after)


# Tables.


@dataclass(frozen=True)
class _Column:
    """A column as text; one that is not `numeric` may be folded."""

    head: Line
    cells: Sequence[Line]
    numeric: bool
    is_real: bool = False

    @property
    def natural(self) -> int:
        """The cells that it needs without being folded."""
        parts = [part for text in (self.head, *self.cells) for part in text.plain.split("\n")]
        return max(map(cell_len, parts), default=0)

    @property
    def least(self) -> int:
        """The cells that it needs at least."""
        words = (cell_len(word) for text in (self.head, *self.cells) for word in text.plain.split())
        return self.natural if self.numeric else min(self.natural, max(_LEAST, min(max(words, default=0), _LONG_WORD)))


def _cell_column(head: Line, cells: Sequence[Cell], *, numeric: bool, stacked: bool, is_real: bool = False) -> _Column:
    """The cells with what stands beside them, or `stacked` below them; marks have a place of their own."""
    has_marks = any(cell.marked for cell in cells)
    return _Column(head, [_cell(cell, numeric and has_marks, stacked=stacked) for cell in cells], numeric, is_real)


def _cell(cell: Cell, place_of_mark: bool, *, stacked: bool) -> Line:
    text = shortened(cell.text, _LONGEST)
    shown = Line(f"“{text}”" if cell.quoted and text else text, style="bold" if cell.marked else "")
    beside = [shortened(part, _LONGEST) for part in (cell.spread, *cell.small) if part]
    mark = (MARK if cell.marked else " " if place_of_mark else "", "bold yellow")
    if stacked:
        return Line.assemble(shown, mark, *(piece for part in beside for piece in ("\n", (part, "not bold dim"))))
    spread, small = (f" {shortened(cell.spread, _LONGEST)}" if cell.spread else ""), beside[bool(cell.spread) :]
    behind = f" ({'; '.join(small)})" if small else ""
    return Line.assemble(shown, (spread, "not bold dim"), mark, (behind, "not bold dim"))


def _plain(cell: Cell) -> str:
    return _cell(cell, False, stacked=False).plain


def _table(table: Table, width: int, top: int) -> Iterator[RenderableType]:
    """The table in one or several blocks of columns, then its footnotes."""
    if table.title:
        yield _line(table.title, "bold")
    if table.brief:
        table = replace(table, rows=tuple(map(_without_small, table.rows)))
    columns = _columns(table, stacked=False)
    if not _fits(columns, width):
        columns = _columns(table, stacked=True)
    for block in _blocks(columns, width):
        yield _drawn(
            [columns[place] for place in block], _widths([columns[place] for place in block], width), table.rows
        )
    hidden = (table.total or 0) - len(table.rows)
    left_out = [f"… and {hidden:,} more rows"] if hidden > 0 else []
    yield from (_line(line, "dim") for line in (*left_out, table.caption, *table.footnotes, *notes_of(table)) if line)
    examples = [(row, quote) for row in table.rows for quote in row.examples[:1]]
    for row, quote in examples[:top]:
        yield Line.assemble((f"{shortened(row.cells[0].text, 60)}: ", "dim"), _quote(quote))


def _without_small(row: Row) -> Row:
    return replace(row, cells=tuple(replace(cell, small=()) for cell in row.cells))


def _columns(table: Table, *, stacked: bool) -> list[_Column]:
    candidates = [place for place, head in enumerate(table.heads) if head.candidate is not None]
    names = fitted_names([printable(table.heads[place].text) for place in candidates], _MOST_NAME)
    short = dict(zip(candidates, names, strict=True))
    found = []
    for place, head in enumerate(table.heads):
        cells = [row.cells[place] if place < len(row.cells) else Cell("") for row in table.rows]
        shown = _line(short.get(place, head.text))
        column = _cell_column(shown, cells, numeric=head.numeric, stacked=stacked, is_real=head.candidate == REAL)
        found.append(column)
    return found


def _fits(columns: Sequence[_Column], width: int) -> bool:
    """Whether the first column, the baseline and any one other column fit side by side."""
    first, *others = columns
    beside = sum(column.least + _GAP for column in others if column.is_real)
    return first.least + beside + _GAP + max((c.least for c in others if not c.is_real), default=0) <= width


def _blocks(columns: Sequence[_Column], width: int) -> Iterator[list[int]]:
    """The places of the columns of each block: the first column and the baseline, and as many others as fit."""
    kept = [place for place, column in enumerate(columns) if place == 0 or column.is_real]
    if not _fits(columns, width):
        kept = [0]
    room = width - sum(columns[place].least + _GAP for place in kept)
    block: list[int] = []
    for place in range(len(columns)):
        if place in kept:
            continue
        if block and sum(columns[other].least + _GAP for other in block) + columns[place].least > room:
            yield sorted([*kept, *block])
            block = []
        block.append(place)
    yield sorted([*kept, *block])


def _widths(columns: Sequence[_Column], width: int) -> list[int]:
    """The width of each column: what it needs at least, and a fair share of what is left."""
    widths = [min(column.least, width) for column in columns]
    rest = width - sum(widths) - _GAP * (len(columns) - 1)
    while rest > 0 and (open_ones := [i for i, column in enumerate(columns) if widths[i] < column.natural]):
        for place in open_ones[:rest]:
            widths[place] += 1
        rest -= len(open_ones[:rest])
    return widths


def _drawn(columns: Sequence[_Column], widths: Sequence[int], rows: Sequence[Row] = (), *, gap: int = _GAP) -> Grid:
    """The table, with the titles of sections of rows between them."""
    grid = _grid(widths, gap=gap)
    grid.show_header, grid.header_style = True, "bold"
    for drawn, column, width in zip(grid.columns, columns, widths, strict=True):
        drawn.header = _aligned(column.head, width, numeric=column.numeric)
    n = max((len(column.cells) for column in columns), default=0)
    sections = [rows[place].section if rows else "" for place in range(n)]
    for section, places in groupby(range(n), key=lambda place: sections[place]):
        if section:
            grid.add_row(_line(section, "dim italic"))
        for place in places:
            cells = zip(columns, widths, strict=True)
            texts = [_aligned(column.cells[place], width, numeric=column.numeric) for column, width in cells]
            grid.add_row(*texts, style="dim" if rows and rows[place].quiet else "")
    return grid


def _aligned(text: Line, width: int, *, numeric: bool) -> Line:
    """A number at the right, with a space that holds the place of a mark: a table would remove it."""
    if not numeric:
        return text
    lines = text.split("\n", allow_blank=True)
    for line in lines:
        line.pad_left(max(width - line.cell_len, 0))
    return Line("\n").join(lines)
