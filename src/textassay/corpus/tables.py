"""Tables: CSV and TSV files, Parquet files, Arrow tables and data frames, read column by column."""

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files import Source, failures_named
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.records import Layout, Rows, Wanted, layout_of, rows_of
from textassay.corpus.sample import TEXT, as_text_array
from textassay.errors import InputError

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


# Few enough rows that long documents stay within memory; the reader joins them to the batches asked for.


def parquet_texts(source: Source, wanted: Wanted) -> Iterator[Rows]:
    """The texts of one column of a Parquet file; columns that nobody asks for are never read."""
    with open_parquet(source) as file:
        layout = schema_layout(file.schema_arrow, source.where, wanted)
        yield from batch_texts(file.iter_batches(_ROWS, columns=layout.names), source.where, layout)


@contextmanager
def open_parquet(source: Source) -> Iterator[Any]:
    """A Parquet file, with errors that name it."""
    if source.codec is not None:
        raise InputError(f"{source.where}: a packed Parquet file; wanted it unpacked (Parquet compresses by itself)")
    with failures_named(source.where):
        import pyarrow.parquet as pq

        with open(source.path, "rb") as handle:
            yield pq.ParquetFile(handle)


def schema_layout(schema: pa.Schema, where: str, wanted: Wanted) -> Layout:
    """The fields of a table that are read."""
    textual = [column.name for column in schema if is_text(column.type)]
    return layout_of(schema.names, where, wanted, textual=lambda: textual)


def batch_texts(batches: Iterable[Any], where: str, layout: Layout) -> Iterator[Rows]:
    """The rows of record batches (or of tables)."""
    start = 1
    for batch in batches:
        texts = column_texts(batch.column(layout.text), where, start=start, field=layout.text)
        yield rows_of(texts, layout, batch.column, partial(_row, where, start))
        start += len(texts)


def _row(where: str, start: int, index: int) -> str:
    return f"{where}: row {start + index}"


def column_texts(column: Any, where: str, *, start: int = 1, field: str | None = None) -> pa.Array:
    """The texts of an Arrow column in one piece or in chunks, which may have a dictionary each."""
    texts = []
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        texts.append(text_array(chunk, where, start=start, field=field))
        start += len(chunk)
    return pa.concat_arrays(texts) if texts else pa.array([], TEXT)


def text_array(column: pa.Array, where: str, *, start: int = 1, field: str | None = None) -> pa.Array:
    """An Arrow column as texts: null becomes a blank text, bytes that are not UTF-8 are an error with their row."""
    label = where if field is None else f"{where}: field {quoted([field])}"
    texts = pc.fill_null(as_text_array(_plain_values(column), label), "")
    try:
        # Neither Arrow nor Parquet checks on the way in that what is declared a string is one.
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raise _not_utf8(texts, label, start) from None
    return texts


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def _plain_values(column: pa.Array) -> pa.Array:
    """Categories as plain strings: Arrow cannot decode a dictionary of string views, which a stream may carry."""
    if pa.types.is_dictionary(column.type) and is_text(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(TEXT)).dictionary_decode()
    return column


def _not_utf8(texts: pa.Array, label: str, start: int) -> InputError:
    for row, value in enumerate(texts.cast(pa.large_binary()), start):
        try:
            value.as_py().decode()
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            return InputError(f"{label}, row {row}: byte 0x{byte:02x} is not valid utf-8; wanted strings")
    return InputError(f"{label}: a damaged column; wanted strings")


_MISSING = ("NAType", "NaTType")


def is_frame(value: Any) -> bool:
    """Whether a value has columns to take."""
    is_arrow = isinstance(value, pa.Table | pa.RecordBatch | pa.RecordBatchReader)
    return is_arrow or all(hasattr(value, name) for name in ("columns", "head", "__getitem__"))


def frame_columns(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """The names of a frame's columns and their cells."""
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.schema.names, [column.to_pylist() for column in frame.columns]
    header = [str(label) for label in frame.columns]
    # By place, as two columns may share a name; which is refused further on, where it matters.
    columns = [
        (frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place]).to_list() for place in range(len(header))
    ]
    return header, columns


def parquet_columns(source: Source) -> tuple[list[str], list[list[Any]]]:
    """The names of a Parquet file's columns and their cells."""
    with open_parquet(source) as file:
        return frame_columns(file.read())


def plain_cell(cell: Any) -> Any:
    """A cell without the types of other libraries; their marks of missing values and NaN become None."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    is_nan = isinstance(cell, float) and cell != cell  # noqa: PLR0124 - only NaN differs from itself
    return None if is_nan or type(cell).__name__ in _MISSING else cell
