"""Items that are in memory already: sets, items, dicts, and data frames with a row an item or a row a text.

None of the packages that make frames is imported: what an object can do decides how it is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from textassay.corpus.items.entries import entry_of
from textassay.corpus.items.item_files import ItemFile, Row, table_entries
from textassay.corpus.json_lines import kind_of
from textassay.corpus.tables import frame_columns, is_frame, plain_cell
from textassay.errors import InputError

_WANTED = "a path, a list of items or of dicts, or a data frame"
_ITEM = ("id", "references", "candidates", "prompt")


def object_entries(value: Any, where: str) -> ItemFile:
    """The entries an object holds; `where` is what messages call it."""
    # Before anything else is asked of it: even the names of its columns are work for a lazy frame.
    if hasattr(value, "lazy") and hasattr(value, "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    return _table(value, where) if is_frame(value) else _listed(value, where)


def _table(frame: Any, where: str) -> ItemFile:
    header, columns = frame_columns(frame)
    return ItemFile(where, table_entries(header, _rows(columns), where), header)


def _rows(columns: list[list[Any]]) -> Iterator[Row]:
    for number, cells in enumerate(zip(*columns, strict=True), 1):
        yield f"row {number}", [_plain(cell) for cell in cells]


def _listed(values: Any, where: str) -> ItemFile:
    if isinstance(values, Mapping | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{where}: {kind_of(values)}; wanted {_WANTED}")
    records = [_record(value, f"item {number}") for number, value in enumerate(values, 1)]
    entries = [entry_of(record, f"item {number}") for number, record in enumerate(records, 1)]
    return ItemFile(where, entries, [str(field) for field in records[0]] if records else [])


def _record(value: Any, place: str) -> dict[str, Any]:
    if all(hasattr(value, name) for name in _ITEM):
        value = {name: getattr(value, name) for name in _ITEM}
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: {kind_of(value)}; wanted an Item, or a dict with 'references' and 'candidates'")
    return {field: _plain(inner) for field, inner in value.items()}


def _plain(value: Any) -> Any:
    """What JSON would have: lists for arrays, tuples and series, null for the marks of missing values."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif hasattr(value, "to_list"):
        value = value.to_list()
    if isinstance(value, tuple):
        return list(value)
    return plain_cell(value)
