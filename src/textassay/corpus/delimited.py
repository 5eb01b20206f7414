"""Comma- and tab-separated files with a header: one column of them is the texts."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import pyarrow as pa

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.fields import Layout, Wanted, layout_of
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.rows import Rows, rows_of
from textassay.corpus.sample import TEXT

_LONGEST = 1 << 28
_PEEK = 100
_ROWS = 10_000

Row = tuple[int, list[str]]


def delimited_texts(blocks: Iterable[str], where: str, wanted: Wanted, *, delimiter: str) -> Iterator[Rows]:
    """The texts of one column. Empty lines count as blank texts, also those above the header."""
    rows = delimited_rows(blocks, where, delimiter)
    leading = 0
    for line, header in rows:
        if not header:
            leading += 1
            continue
        yield _blank(leading)
        # The guess looks at a fixed number of rows, so that it does not depend on how the file is cut.
        first = list(islice(rows, _PEEK))
        layout = _layout(header, [row for _, row in first], f"{where}:{line}", wanted)
        yield from _column_texts(chain(first, rows), where, header, layout)
        return
    yield _blank(leading)


def delimited_rows(blocks: Iterable[str], where: str, delimiter: str) -> Iterator[Row]:
    """Rows with the line each begins on; a quoted text may go over many lines."""
    # The csv module refuses fields over 128 KB, and its limit is one for the whole process. Longer texts are texts too;
    # some bound stays, for a quote that is never closed.
    csv.field_size_limit(max(_LONGEST, csv.field_size_limit()))
    lines = chain.from_iterable(io.StringIO(block, newline="\n") for block in blocks)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{where}:{line}: a broken row: {shortened(str(error))}") from None
        if row is None:
            return
        yield line, row


def wrong_width(place: str, row: list[str], header: list[str]) -> InputError:
    """The error for a row that does not have as many fields as the header."""
    return InputError(f"{place}: {many(len(row), 'field')}; wanted {len(header)} as in the header ({quoted(header)})")


def _layout(header: list[str], rows: list[list[str]], where: str, wanted: Wanted) -> Layout:
    def textual() -> list[str]:
        if len(header) == 1:
            return header
        full = [row for row in rows if len(row) == len(header)]
        return [name for place, name in enumerate(header) if any(_is_words(row[place]) for row in full)]

    return layout_of(header, where, wanted, textual=textual)


def _is_words(value: str) -> bool:
    """Whether a cell shows that its column holds text: it is neither blank nor a number."""
    try:
        float(value)
    except ValueError:
        return bool(value.strip())
    return False


def _column_texts(rows: Iterator[Row], where: str, header: list[str], layout: Layout) -> Iterator[Rows]:
    empty = [""] * len(header)
    while chunk := list(islice(rows, _ROWS)):
        full = []
        for line, row in chunk:
            if row and len(row) != len(header):
                raise wrong_width(f"{where}:{line}", row, header)
            full.append(row or empty)
        yield _rows(full, [line for line, _ in chunk], where, header, layout)


def _rows(rows: list[list[str]], lines: list[int], where: str, header: list[str], layout: Layout) -> Rows:
    def column(name: str) -> list[str]:
        place = header.index(name)
        return [row[place] for row in rows]

    texts = pa.array(column(layout.text), type=TEXT)
    return rows_of(texts, layout, column, lambda index: f"{where}:{lines[index]}")


def _blank(count: int) -> Rows:
    return Rows(pa.array([""] * count, type=TEXT))
