"""The Markdown form of a document: escaped text and tables that GitHub and most other programs show."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from urllib.parse import quote as quoted_path

from textassay.corpus.printable import printable, shortened
from textassay.document.blocks import (
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
from textassay.report.tones import tone_of_decision

# Sentences, names and quotes may quote texts of any length.
_LONGEST, _LONGEST_QUOTE, _LONGEST_PARAGRAPH = 400, 240, 2000
# Rows of a summary; the tables below it have all candidates.
_MOST_ROWS = 30
# Characters that could start a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$#])")
# What could make a list or a heading of a line that begins with it.
_BEGINNING = re.compile(r"^(\s*)(\d*)([-+=.)])")


def text(document: Document, *, top: int = 5) -> str:
    """The whole document: the summary, then all sections; of a list of items the first `top`."""
    parts = [[f"# {escaped(document.summary.question)}"], *_summary(document.summary)]
    for section in document.sections:
        parts += _section(section, top)
    parts += [["## Notes"], _bullets(document.notes)] if document.notes else []
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def escaped(line: str, *, most: int = _LONGEST) -> str:
    r"""The text within a line, shortened, with every character escaped that Markdown would interpret there.

    >>> print(escaped("a|b *c*"))
    a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", shortened(line, most))


def paragraph(line: str, *, most: int = _LONGEST) -> str:
    r"""The text as a line of its own: its beginning makes no list either.

    >>> print(paragraph("- no list"), paragraph("1. nor here"))
    \- no list 1\. nor here
    """
    return _BEGINNING.sub(r"\1\2\\\3", escaped(line, most=most))


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {paragraph(line)}" for line in lines]


def _summary(summary: Summary) -> Iterator[list[str]]:
    yield [paragraph(summary.about)] if summary.about else []
    yield [f"**{escaped(summary.sentence, most=_LONGEST_PARAGRAPH)}**"] if summary.sentence else []
    shown = summary.rows[:_MOST_ROWS]
    if shown:
        yield _summary_table(summary, shown)
    hidden = len(summary.rows) - len(shown)
    yield _bullets(
        [*([f"{hidden:,} more {escaped(summary.noun)}s are in the tables below"] if hidden else []), *summary.ties]
    )
    yield [paragraph(summary.left_out)] if summary.left_out else []
    yield [f"- **{escaped(row.name)}**: {'; '.join(map(escaped, row.why))}" for row in shown if row.why]
    yield [f"- ⚠ {escaped(caveat)}" for caveat in summary.caveats]


def _summary_table(summary: Summary, rows: Sequence[SummaryRow]) -> list[str]:
    is_ranked = any(row.rank is not None for row in rows)
    tells = any(row.stands_out for row in rows)
    head = [*([""] if is_ranked else []), escaped(summary.noun), "verdict", *map(escaped, summary.columns)]
    lines = []
    for row in rows:
        tone = tone_of_decision(row.decision, row.grade)
        cells = [_cell(row.cells[place]) if place < len(row.cells) else "" for place in range(len(summary.columns))]
        rank = [*([str(row.rank or "")] if is_ranked else [])]
        own = [*rank, escaped(row.name), escaped(f"{tone.sign} {tone.words}"), *cells]
        lines.append([*own, *([escaped(row.stands_out)] if tells else [])])
    return _grid([*head, *(["what stands out"] if tells else [])], lines)


def _section(section: Section, top: int) -> Iterator[list[str]]:
    yield [f"## {escaped(section.title)}"] if section.title else []
    for block in section.blocks:
        yield from _block(block, top)


def _block(block: Block, top: int) -> Iterator[list[str]]:
    match block:
        case Summary():
            yield from _summary(block)
        case Text():
            yield from ([paragraph(one, most=_LONGEST_PARAGRAPH)] for one in block.paragraphs)
        case Table():
            yield from _table(block, top)
        case Chart():
            lines = (block.plot.title, block.plot.summary, block.caption, *block.remarks)
            said = ". ".join(dict.fromkeys(escaped(line).rstrip(".") for line in lines if line))
            yield [f"![{said}]({quoted_path(block.file)})" if block.file else f"*Chart:* {said}"]
        case Facts():
            yield _bullets(f"{term}: {value}" for term, value in block.pairs)
        case Signatures():
            yield _fenced(block)
        case Items():
            yield from _items(block, top)
        case Notes():
            yield _bullets(block.lines)
        case Legend():
            yield [
                f"- **{escaped(entry.name)}**: {escaped(entry.text, most=_LONGEST_PARAGRAPH)}"
                for entry in block.entries
            ]
        case Details():
            yield [f"<details><summary>{_html(block.title)} {_html(block.quiet)}</summary>"]
            for inner in block.blocks:
                yield from _block(inner, top)
            yield ["</details>"]


def _html(line: str) -> str:
    return escape(shortened(line, _LONGEST))


def _fenced(block: Signatures) -> list[str]:
    """Signatures without any change, between fences that none of them can close."""
    shown = [printable(f"{name}: {signature}") for name, signature in block.pairs]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """The lines of a table whose cells are escaped; the columns `right` hold numbers."""
    numeric = set(right)
    rules = ["---:" if place in numeric else "---" for place in range(len(head))]
    return [f"| {' | '.join(line)} |" for line in (head, rules, *rows)]


def _table(table: Table, top: int) -> Iterator[list[str]]:
    yield [f"**{escaped(table.title)}**"] if table.title else []
    right = [place for place, head in enumerate(table.heads) if head.numeric]
    yield _grid([escaped(head.text) for head in table.heads], _rows(table), right)
    hidden = (table.total or 0) - len(table.rows)
    left_out = [f"and {hidden:,} more rows"] if hidden > 0 else []
    yield _bullets(line for line in (*left_out, table.caption, *table.footnotes, *notes_of(table)) if line)
    told = [row for row in table.rows if row.examples and row.cells]
    yield [f"- {escaped(row.cells[0].text)}: {_quote(quote)}" for row in told[:top] for quote in row.examples[:1]]


def _rows(table: Table) -> Iterator[list[str]]:
    """The rows, with the title of each section in a row of its own."""
    for section, rows in groupby(table.rows, key=lambda row: row.section):
        if section:
            yield [f"*{escaped(section)}*", *([""] * (len(table.heads) - 1))]
        for row in rows:
            yield _row(row, len(table.heads))


def _row(row: Row, columns: int) -> list[str]:
    cells = [_cell(cell) for cell in row.cells[:columns]]
    return [*cells, *([""] * (columns - len(cells)))]


def _cell(cell: Cell) -> str:
    text = f"“{cell.text}”" if cell.quoted and cell.text else cell.text
    small = f" ({'; '.join(cell.small)})" if cell.small else ""
    mark = r"\*" if cell.marked else ""
    return f"{escaped(f'{text} {cell.spread}'.strip())}{mark}{escaped(small)}"


def _items(block: Items, top: int) -> Iterator[list[str]]:
    yield [f"**{escaped(block.title)}**"] if block.title else []
    for item in block.items[:top]:
        yield from _item(item)
    hidden = block.total - min(top, len(block.items))
    yield [f"and {hidden:,} more"] if hidden > 0 else []


def _item(item: Item) -> Iterator[list[str]]:
    badges = "".join(f" · {_badge(badge)}" for badge in item.badges)
    yield [f"### {escaped(item.name)}{badges}"]
    yield [f"- {paragraph(line)}" for line in (item.prompt, *item.lines) if line]
    lines = []
    for side in item.sides:
        badge = f" · {_badge(side.badge)}" if side.badge else ""
        lines.append(f"- **{escaped(side.name)}**{badge}{f' · {escaped(side.line)}' if side.line else ''}")
        lines += [f"  - {_quote(quote)}" for quote in side.texts]
        rest = (side.total or 0) - len(side.texts)
        lines += [f"  - and {rest:,} more"] if rest > 0 else []
    yield lines


def _badge(badge: Badge) -> str:
    return escaped(badge.text)


def _quote(quote: Quote) -> str:
    tags = "".join(f"\\[{escaped(tag, most=60)}\\] " for tag in quote.tags)
    before, phrase, after = (escaped(part, most=_LONGEST_QUOTE) for part in (quote.before, quote.phrase, quote.after))
    # Emphasis must not begin or end with a space.
    marked = phrase.replace(phrase.strip(), f"**{phrase.strip()}**", 1) if phrase.strip() else phrase
    return f"{tags}{before}{marked}{after}"
