"""Parquet files and Arrow tables: one column of them is the texts."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.errors import InputError
from textassay.corpus.fields import Layout, Wanted, layout_of
from textassay.corpus.printable import quoted
from textassay.corpus.rows import Rows, rows_of
from textassay.corpus.sample import TEXT, as_text_array
from textassay.corpus.sources import Source, failures_named

# Few enough rows that long documents stay within memory; the reader joins them to the batches asked for.
_ROWS = 10_000


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
