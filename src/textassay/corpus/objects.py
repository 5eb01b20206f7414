"""Texts that are in memory already: lists, records, Arrow data, pandas and polars columns, Hugging Face datasets.

None of those packages is imported: what an object can do decides how it is read.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.fields import Wanted, layout_of, no_groups
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.record_rows import record_rows
from textassay.corpus.rows import Rows, Values, rows_of
from textassay.corpus.strings import check_text, string_array
from textassay.corpus.tables import batch_texts, column_texts, is_text, schema_layout

_ROWS = 10_000
_PEEK = 100
# Before it knew Arrow streams, `pa.chunked_array` took each string of such an object for a list of characters.
_STREAMS = hasattr(pa.ChunkedArray, "__arrow_c_stream__")


def object_texts(source: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    """The texts an object holds, from the wanted fields where there are fields."""
    if isinstance(source, Mapping):
        raise InputError(f"{where}: a dict with {quoted([str(key) for key in source])}; wanted one of its values")
    if _can(source, "lazy", "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table | pa.RecordBatchReader):
        return _table_texts(source, where, wanted)
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _column(source, where, wanted)
    if _can(source, "with_format", "select_columns", "iter"):
        return _dataset_texts(source, where, wanted)
    if _can(source, "columns", "head", "__getitem__"):
        return _frame_texts(source, where, wanted)
    if _is_pandas(source) or _can(source, "to_arrow") or (_STREAMS and _can(source, "__arrow_c_stream__")):
        return _column(source, where, wanted)
    return _iterable_texts(source, where, wanted)


def _can(source: Any, *names: str) -> bool:
    return all(hasattr(source, name) for name in names)


def _is_pandas(source: Any) -> bool:
    return _can(source, "isna", "to_numpy")


def _table_texts(table: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    layout = schema_layout(table.schema, where, wanted)
    batches = table.to_batches() if isinstance(table, pa.Table) else table
    return batch_texts(batches, where, layout)


def _dataset_texts(dataset: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    # Through the public iterator, not `.data`: the table underneath ignores `select`, `shuffle` and `filter`.
    arrow = dataset.with_format("arrow")
    for first in arrow.iter(batch_size=1):
        layout = schema_layout(first.schema, where, wanted)
        yield from batch_texts(arrow.select_columns(layout.names).iter(batch_size=_ROWS), where, layout)
        return


def _frame_texts(frame: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    by_name = {str(label): label for label in reversed(list(frame.columns))}

    def textual() -> list[str]:
        head = frame.head(_PEEK)
        return [name for name in names if _looks_textual(head[by_name[name]])]

    names = [str(label) for label in frame.columns]
    layout = layout_of(names, where, wanted, textual=textual)
    texts = _column_texts(frame[by_name[layout.text]], f"{where}: field {quoted([layout.text])}")
    yield rows_of(
        texts, layout, lambda name: _any_values(frame[by_name[name]]), lambda index: f"{where}: row {index + 1}"
    )


def _any_values(column: Any) -> Values:
    """The values of a column that may mix types, missing ones as null."""
    try:
        values: Values = _arrow(column)
    except (pa.ArrowException, TypeError, ValueError):
        missing = column.isna() if _is_pandas(column) else [value is None for value in column]
        return [None if gone else value for value, gone in zip(column, missing, strict=True)]
    return values


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


def _column(column: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    if wanted.group is not None:
        raise no_groups(where, wanted.group, seen="one column of texts")
    yield Rows(_column_texts(column, where))


def _column_texts(column: Any, where: str) -> pa.Array:
    try:
        values = _arrow(column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        _refuse_odd(column, where)
        raise InputError(f"{where}: {shortened(str(error))}; wanted a column of strings") from None
    if pa.types.is_struct(values.type):
        raise InputError(f"{where}: a column of records; wanted strings")
    return column_texts(values, where)


def _iterable_texts(source: Iterable[Any], where: str, wanted: Wanted) -> Iterator[Rows]:
    if isinstance(source, io.TextIOBase):
        source = (line.removesuffix("\n") for line in source)
    try:
        values = iter(source)
    except TypeError:
        expected = "a path, a list of texts or a column of them"
        raise InputError(f"{where}: {type(source).__name__} given; wanted {expected}") from None
    chunks = iter(lambda: list(islice(values, _ROWS)), [])
    first = next(chunks, [])
    if first and isinstance(first[0], Mapping):
        return record_rows(chain([first], chunks), f"{where}: record ", wanted)
    if wanted.group is not None:
        raise no_groups(where, wanted.group, seen="texts without fields")
    return _strings(chain([first], chunks), where)


def _strings(chunks: Iterable[list[Any]], where: str) -> Iterator[Rows]:
    start = 1
    for chunk in chunks:
        for place, value in enumerate(chunk, start):
            if not isinstance(value, str):
                raise _odd(value, where, place)
        yield Rows(string_array(chunk, f"{where}: text ", start=start))
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
