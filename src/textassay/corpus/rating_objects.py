"""Ratings that are in memory already: rated items, data frames, and records with the fields of a file's columns.

None of the packages that make frames is imported: what an object can do decides how it is read.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.frames import frame_columns, is_frame, plain_cell
from textassay.corpus.item_records import kind_of
from textassay.corpus.rated import RatedItems
from textassay.corpus.rating_checks import check_reading
from textassay.corpus.rating_columns import Columns, columns_of
from textassay.corpus.rating_files import columns_from, read_ratings
from textassay.corpus.rating_items import rated_items
from textassay.corpus.rating_tables import Table, records_table
from textassay.corpus.sources import name_of

_WANTED = "a path, a data frame or a list of dicts"


def as_ratings(
    value: Any, *, log_probs: Any = None, model: str | None = None, scale: tuple[float, float] | None = None
) -> RatedItems:
    """Rated items from what `read_ratings` reads: a path, a data frame with its columns, or dicts with its fields.

    `log_probs` may be any of these too, whatever the ratings are.

    >>> rows = [{"source": source, "text": "a cat", "log_prob": -4, "rating": 3} for source in ("human", "gpt")]
    >>> rated = as_ratings(rows)
    >>> rated.model, rated.items[0].length, rated.single
    ('gpt', 2, False)
    """
    if isinstance(value, RatedItems):
        given = {"log_probs": log_probs, "model": model, "scale": scale}
        if names := [name for name, option in given.items() if option is not None]:
            raise InputError(f"ratings: RatedItems are complete; wanted no {' and no '.join(names)} with them")
        return value
    check_reading(model, scale)
    if isinstance(value, str | os.PathLike) and (log_probs is None or isinstance(log_probs, str | os.PathLike)):
        return read_ratings(value, log_probs=log_probs, model=model, scale=scale)
    counts: Counter[str] = Counter()
    columns = _columns(value, "ratings", counts)
    joined = None if log_probs is None else _columns(log_probs, "log_probs", counts)
    name = name_of(os.fsdecode(value)) if isinstance(value, str | os.PathLike) else "ratings"
    return rated_items(columns, name=name, log_probs=joined, model=model, scale=scale, notes=list(counts))


def _columns(value: Any, where: str, notes: Counter[str]) -> Columns:
    if isinstance(value, str | os.PathLike):
        return columns_from(os.fsdecode(value), encoding="utf-8", notes=notes)
    # Before anything else is asked of it: even the names of its columns are work for a lazy frame.
    if hasattr(value, "lazy") and hasattr(value, "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    return columns_of([(_frame if is_frame(value) else _records)(value, where)], where)


def _frame(frame: Any, where: str) -> Table:
    header, columns = frame_columns(frame)
    if not columns or not columns[0]:
        raise InputError(f"{where}: a frame without rows; wanted at least one")
    plain: list[Sequence[Any]] = [[plain_cell(cell) for cell in column] for column in columns]
    return Table(where, where, header, plain, _places(len(columns[0]), where))


def _records(values: Any, where: str) -> Table:
    if isinstance(values, Mapping | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{where}: {kind_of(values)}; wanted {_WANTED}")
    listed = list(values)
    records = [_plain_record(value) if isinstance(value, Mapping) else value for value in listed]
    return records_table(records, _places(len(records), where), where)


def _places(count: int, where: str) -> list[str]:
    return [f"{where}: row {number}" for number in range(1, count + 1)]


def _plain_record(record: Mapping[Any, Any]) -> dict[Any, Any]:
    return {field: plain_cell(cell) for field, cell in record.items()}
