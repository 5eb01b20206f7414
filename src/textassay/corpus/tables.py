"""Parquet files and Arrow tables: one column of them is the texts."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.errors import InputError
from textassay.corpus.fields import pick_field
from textassay.corpus.printable import quoted
from textassay.corpus.sample import TEXT, as_text_array
from textassay.corpus.sources import Source, failures_named

# Few enough rows that long documents stay within memory; the reader joins them to the batches asked for.
_ROWS = 10_000


def parquet_texts(source: Source, *, field: str | None) -> Iterator[pa.Array]:
    """The texts of one column of a Parquet file; other columns are never read."""
    if source.codec is not None:
        raise InputError(f"{source.where}: a packed Parquet file; wanted it unpacked (Parquet compresses by itself)")
    with failures_named(source.where):
        import pyarrow.parquet as pq

        with open(source.path, "rb") as handle:
            file = pq.ParquetFile(handle)
            name = schema_field(file.schema_arrow, source.where, field)
            batches = file.iter_batches(_ROWS, columns=[name])
            yield from batch_texts(batches, source.where, name)


def schema_field(schema: pa.Schema, where: str, field: str | None) -> str:
    """The field of a table that holds the texts."""
    textual = [column.name for column in schema if is_text(column.type)]
    return pick_field(schema.names, where, field=field, textual=lambda: textual)


def batch_texts(batches: Iterable[Any], where: str, field: str) -> Iterator[pa.Array]:
    """The texts of one column of record batches (or of tables)."""
    start = 1
    for batch in batches:
        column = batch.column(field)
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            yield text_array(chunk, where, start=start, field=field)
            start += len(chunk)


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
