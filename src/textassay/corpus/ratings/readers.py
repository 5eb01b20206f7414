"""Readers of ratings: files, data frames and records, with log-probabilities from the same or a second file.

None of the packages that make frames is imported: what an object can do decides how it is read.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textassay.corpus.files import check_encoding, name_of
from textassay.corpus.items.joining import AnyPath, check_stdin_once
from textassay.corpus.json_lines import kind_of
from textassay.corpus.printable import shortened
from textassay.corpus.ratings.assembly import rated_items
from textassay.corpus.ratings.columns import Columns, Table, columns_of, read_tables, records_table
from textassay.corpus.ratings.rated_items import RatedItems, check_reading
from textassay.corpus.tables import frame_columns, is_frame, plain_cell
from textassay.errors import InputError


def read_ratings(
    source: AnyPath,
    *,
    log_probs: AnyPath | None = None,
    model: str | None = None,
    scale: tuple[float, float] | None = None,
    encoding: str = "utf-8",
) -> RatedItems:
    """Read ratings of texts by people and by a model, with each text's log-probability under the model.

    The file is `.csv`, `.tsv`, `.jsonl` or `.json` (a list of objects, or JSON Lines), plain, `.gz` or `.zst`,
    `.parquet`, or `-` for standard input. Its columns, in any order, of any case, with or without underscores:

    - `rating`: a number; in a row an item the mean rating. A blank one is left out and counted.
    - `source`: `human` (or `reference`, `real`, `gold`, 0, false), otherwise the model; `model` chooses among several.
    - `log_prob`: the natural logarithm of the whole text's probability, perhaps `-inf`; or `nll`, its negative.
    - `text`, or `length` in tokens, or both. Without lengths, tokens are counted between spaces.
    - `rater`, `item`, `context`, `rating_label`: as far as known. With a rater, or with several rows an item and
      source, a row is a rating; otherwise it is an item.

    The names in the paper's released files (`HumanJudgement`, `ModelProbability`, `Label`, `LengthOfUtterance`) mean
    the same. `log_probs` is a second file with `log_prob` and `item` (perhaps `source`), or `text` (perhaps `source`
    and `context`). A `length` in it counts, and a `text` must be that of the ratings. `scale` is the lowest and the
    highest rating there can be; by default those there are.
    """
    path = os.fsdecode(source)
    second = None if log_probs is None else os.fsdecode(log_probs)
    check_stdin_once([path, *([] if second is None else [second])])
    encoding = check_encoding(encoding)
    counts: Counter[str] = Counter()
    columns = columns_from(path, encoding=encoding, notes=counts)
    joined = None if second is None else columns_from(second, encoding=encoding, notes=counts)
    notes = [note if count == 1 else f"{note} ({count} files)" for note, count in counts.items()]
    return rated_items(columns, name=name_of(path), log_probs=joined, model=model, scale=scale, notes=notes)


def columns_from(path: str, *, encoding: str, notes: Counter[str]) -> Columns:
    """The columns of a file, or of the files of a pattern."""
    tables = read_tables(path, encoding=encoding, notes=notes)
    return columns_of(tables, tables[0].where if len(tables) == 1 else shortened(name_of(path)))


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
