"""Texts that are in memory already: lists, Arrow data, pandas and polars columns, Hugging Face datasets.

None of those packages is imported: what an object can do decides how it is read.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.fields import pick_field
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.strings import check_text, string_array
from textassay.corpus.tables import batch_texts, is_text, schema_field, text_array

_ROWS = 10_000
_PEEK = 100
# Before it knew Arrow streams, `pa.chunked_array` took each string of such an object for a list of characters.
_STREAMS = hasattr(pa.ChunkedArray, "__arrow_c_stream__")


def object_texts(source: Any, where: str, *, field: str | None) -> Iterator[pa.Array]:
    """The texts an object holds; `field` names the column where there are columns."""
    if isinstance(source, Mapping):
        raise InputError(f"{where}: a dict with {quoted([str(key) for key in source])}; wanted one of its values")
    if _can(source, "lazy", "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table | pa.RecordBatchReader):
        return _table_texts(source, where, field)
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _column_texts(source, where)
    if _can(source, "with_format", "select_columns", "iter"):
        return _dataset_texts(source, where, field)
    if _can(source, "columns", "head", "__getitem__"):
        return _frame_texts(source, where, field)
    if _is_pandas(source) or _can(source, "to_arrow") or (_STREAMS and _can(source, "__arrow_c_stream__")):
        return _column_texts(source, where)
    return _iterable_texts(source, where)


def _can(source: Any, *names: str) -> bool:
    return all(hasattr(source, name) for name in names)


def _is_pandas(source: Any) -> bool:
    return _can(source, "isna", "to_numpy")


def _table_texts(table: Any, where: str, field: str | None) -> Iterator[pa.Array]:
    name = schema_field(table.schema, where, field)
    batches = table.to_batches() if isinstance(table, pa.Table) else table
    return batch_texts(batches, where, name)


def _dataset_texts(dataset: Any, where: str, field: str | None) -> Iterator[pa.Array]:
    # Through the public iterator, not `.data`: the table underneath ignores `select`, `shuffle` and `filter`.
    arrow = dataset.with_format("arrow")
    for first in arrow.iter(batch_size=1):
        name = schema_field(first.schema, where, field)
        yield from batch_texts(arrow.select_columns([name]).iter(batch_size=_ROWS), where, name)
        return


def _frame_texts(frame: Any, where: str, field: str | None) -> Iterator[pa.Array]:
    labels = list(frame.columns)
    names = [str(label) for label in labels]

    def textual() -> list[str]:
        head = frame.head(_PEEK)
        return [name for name, label in zip(names, labels, strict=True) if _looks_textual(head[label])]

    name = pick_field(names, where, field=field, textual=textual)
    return _column_texts(frame[labels[names.index(name)]], f"{where}: field {quoted([name])}")


def _looks_textual(column: Any) -> bool:
    try:
        return is_text(_arrow(column).type)
    except (pa.ArrowException, TypeError, ValueError):
        return False


def _arrow(column: Any) -> Any:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if _is_pandas(column):
        return pa.array(column, from_pandas=True)
    return column.to_arrow() if _can(column, "to_arrow") else pa.chunked_array(column)


def _column_texts(column: Any, where: str) -> Iterator[pa.Array]:
    try:
        values = _arrow(column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        _refuse_odd(column, where)
        raise InputError(f"{where}: {shortened(str(error))}; wanted a column of strings") from None
    if pa.types.is_struct(values.type):
        raise InputError(f"{where}: a column of records; wanted strings")
    start = 1
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        yield text_array(chunk, where, start=start)
        start += len(chunk)


def _iterable_texts(source: Iterable[Any], where: str) -> Iterator[pa.Array]:
    if isinstance(source, io.TextIOBase):
        source = (line.removesuffix("\n") for line in source)
    try:
        values = iter(source)
    except TypeError:
        wanted = "a path, a list of texts or a column of them"
        raise InputError(f"{where}: {type(source).__name__} given; wanted {wanted}") from None
    start = 1
    while chunk := list(islice(values, _ROWS)):
        for place, value in enumerate(chunk, start):
            if not isinstance(value, str):
                raise _odd(value, where, place)
        yield string_array(chunk, f"{where}: text ", start=start)
        start += len(chunk)


def _refuse_odd(column: Iterable[Any], where: str) -> None:
    """Name the first value of a column of Python objects that is neither a string nor missing."""
    for place, value in enumerate(column, 1):
        is_missing = value is None or value != value  # noqa: PLR0124 - only NaN differs from itself
        if isinstance(value, str):
            check_text(value, f"{where}: text {place}")
        elif not is_missing:
            raise _odd(value, where, place)


def _odd(value: object, where: str, place: int) -> InputError:
    shown = shortened(repr(value), 40)
    return InputError(f"{where}: text {place} is {type(value).__name__} ({shown}); wanted a string")
