"""Rows: texts, and beside each its group, its context and its id where records give them."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.errors import InputError
from textassay.corpus.fields import Layout
from textassay.corpus.printable import quoted
from textassay.corpus.sample import TEXT, is_not_blank

# An Arrow array, chunked or not, or a sequence of Python values.
Values: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rows:
    """A run of texts; the other columns have one value per text, null where a record gives none."""

    texts: pa.Array
    groups: pa.Array | None = None
    contexts: pa.Array | None = None
    ids: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.texts)


def rows_of(texts: pa.Array, layout: Layout, column: Callable[[str], Values], place: Callable[[int], str]) -> Rows:
    """Texts with the columns of a layout; `column` gives a field's values, `place` names a row by its index."""
    groups = None
    if layout.group is not None:
        groups = labels(column(layout.group))
        _check_groups(texts, groups, layout.group, place)
    contexts = [labels(column(name)) for name in layout.contexts]
    ids = None if layout.id is None else labels(column(layout.id))
    return Rows(texts, groups, _together(contexts), ids)


def concat_rows(parts: Sequence[Rows]) -> Rows:
    """Several runs as one; a column that only some of them have is null in the others."""
    return Rows(
        pa.concat_arrays([part.texts for part in parts]),
        _concat([(part.groups, len(part)) for part in parts]),
        _concat([(part.contexts, len(part)) for part in parts]),
        _concat([(part.ids, len(part)) for part in parts]),
    )


def labels(values: Values) -> pa.Array:
    """Any values as strings, null where one is missing or blank: 7 and 7.0 become "7", lists and objects JSON.

    >>> labels(["a", 7, 7.0, None, " ", [1, 2]]).to_pylist()
    ['a', '7', '7', None, None, '[1, 2]']
    """
    if isinstance(values, pa.ChunkedArray):
        return pa.concat_arrays([labels(chunk) for chunk in values.chunks] or [pa.array([], TEXT)])
    strings = _from_arrow(values) if isinstance(values, pa.Array) else _from_list(values)
    return pc.if_else(is_not_blank(strings), strings, pa.scalar(None, TEXT))


def _from_arrow(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return _from_arrow(column.dictionary).take(column.indices)
    if pa.types.is_floating(column.type):
        return _from_list(column.to_pylist())
    try:
        strings = column.cast(TEXT)
        # Neither Arrow nor Parquet checks on the way in that what is declared a string is one.
        strings.validate(full=True)
    except pa.ArrowException:
        return _from_list(_plain(column))
    return strings


def _plain(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [value.decode(errors="replace") for value in column.cast(pa.large_binary()).to_pylist()]


def _from_list(values: Sequence[Any]) -> pa.Array:
    # Nearly every column holds strings only or whole numbers only, which Arrow converts without a Python loop.
    kinds = set(map(type, values)) - {type(None)}
    try:
        if len(kinds) == 1 and kinds <= {str, int}:
            return pa.array(values, type=TEXT if kinds == {str} else pa.int64()).cast(TEXT)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        pass
    strings = [value if value is None else _label(value) for value in values]
    # Half a surrogate pair makes a text unusable, but two labels are told apart without it.
    return pa.array([value and value.encode(errors="backslashreplace").decode() for value in strings], type=TEXT)


def _label(value: Any) -> str | None:
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else repr(float(value))
    if isinstance(value, str):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(type(value))


def _together(columns: list[pa.Array]) -> pa.Array | None:
    """Contexts of several fields as one: an instruction and its input are one prompt."""
    if len(columns) < 2:
        return columns[0] if columns else None
    joined = pc.binary_join_element_wise(*columns, pa.scalar("\n", TEXT), null_handling="skip")
    return pc.if_else(is_not_blank(joined), joined, pa.scalar(None, TEXT))


def _check_groups(texts: pa.Array, groups: pa.Array, field: str, place: Callable[[int], str]) -> None:
    # A blank text is left out together with its group, so it needs none.
    bare = pc.index(pc.and_(is_not_blank(texts), pc.is_null(groups)), pa.scalar(True)).as_py()
    if bare >= 0:
        raise InputError(f"{place(bare)}: field {quoted([field])} is missing or blank; wanted the group of each text")


def _concat(columns: list[tuple[pa.Array | None, int]]) -> pa.Array | None:
    if all(column is None for column, _ in columns):
        return None
    return pa.concat_arrays([pa.nulls(size, TEXT) if column is None else column for column, size in columns])
