"""Comma- and tab-separated files with a header: one column of them is the texts."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.fields import pick_field
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT

_LONGEST = 1 << 28
_PEEK = 100
_ROWS = 10_000

Row = tuple[int, list[str]]


def delimited_texts(blocks: Iterable[str], where: str, *, field: str | None, delimiter: str) -> Iterator[pa.Array]:
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
        place = _column(header, [row for _, row in first], f"{where}:{line}", field)
        yield from _column_texts(chain(first, rows), where, header, place)
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


def _column(header: list[str], rows: list[list[str]], where: str, field: str | None) -> int:
    def textual() -> list[str]:
        if len(header) == 1:
            return header
        full = [row for row in rows if len(row) == len(header)]
        return [name for place, name in enumerate(header) if any(_is_words(row[place]) for row in full)]

    return header.index(pick_field(header, where, field=field, textual=textual))


def _is_words(value: str) -> bool:
    """Whether a cell shows that its column holds text: it is neither blank nor a number."""
    try:
        float(value)
    except ValueError:
        return bool(value.strip())
    return False


def _column_texts(rows: Iterator[Row], where: str, header: list[str], place: int) -> Iterator[pa.Array]:
    width = len(header)
    while chunk := list(islice(rows, _ROWS)):
        texts = []
        for line, row in chunk:
            if len(row) == width:
                texts.append(row[place])
            elif not row:
                texts.append("")
            else:
                many = f"{len(row)} field{'s' if len(row) > 1 else ''}"
                raise InputError(f"{where}:{line}: {many}; wanted {width} as in the header ({quoted(header)})")
        yield pa.array(texts, type=TEXT)


def _blank(count: int) -> pa.Array:
    return pa.array([""] * count, type=TEXT)
