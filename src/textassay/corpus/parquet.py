"""Parquet files: batches of rows within a limit of memory, because a small file may unpack to a large one."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files.reading import Budget, PackedBudget, Source, failures_named, open_regular
from textassay.errors import InputError


def parquet_layout(file: Source) -> tuple[Any, list[str]]:
    """The Arrow schema of a file and the paths of its columns of strings."""
    with _open_parquet(file) as parquet:
        return parquet.schema_arrow, _string_columns(parquet)


def parquet_batches(
    file: Source,
    schema: Any,
    names: Sequence[str] | None,
    *,
    strings: Sequence[str],
    rows: int,
    per_row: int,
    budget: Budget,
) -> Iterator[Any]:
    """The chosen columns in batches of at most `rows` rows; every row and the memory of its strings are charged."""
    with _open_parquet(file, dictionaries=strings) as parquet:
        packed = budget.of_packed(os.path.getsize(file.path))
        groups = list(range(parquet.metadata.num_row_groups)) if file.span is None else [file.span]
        packed.charge(sum(parquet.metadata.row_group(k).num_rows for k in groups) * per_row, file.where)
        _check_pages(parquet.metadata, groups, names, packed, file.where)
        for batch in parquet.iter_batches(rows, row_groups=groups, columns=names):
            yield from _without_dictionaries(batch, schema, packed, file.where)


def _string_columns(parquet: Any) -> list[str]:
    """The columns of strings, nested ones too, by their paths."""
    columns = [parquet.schema.column(index) for index in range(len(parquet.schema))]
    is_string = [column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL" for column in columns]
    return [column.path for column, wanted in zip(columns, is_string, strict=True) if wanted]


def _check_pages(
    metadata: Any, groups: Sequence[int], names: Sequence[str] | None, packed: PackedBudget, where: str
) -> None:
    """Refuse a row group whose pages do not fit, before they are unpacked. Their memory is not charged: it is freed."""
    for place in groups:
        group = metadata.row_group(place)
        columns = [group.column(number) for number in range(group.num_columns)]
        paths = [column.path_in_schema for column in columns]
        chosen = set(paths if names is None else chain.from_iterable(_paths_of(name, paths) for name in names))
        size = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in chosen)
        packed.charge(size, where)
        packed.budget.taken -= size


def _paths_of(name: str, paths: Sequence[str]) -> list[str]:
    """The paths of a column: its name, or the names of its nested columns after a dot."""
    return [name] if name in paths else [path for path in paths if path.startswith(f"{name}.")]


def _without_dictionaries(batch: Any, schema: Any, packed: PackedBudget, where: str) -> Iterator[Any]:
    """A batch with plain strings in place of dictionaries, charged before the strings are made.

    A text that repeats is in a Parquet file once, so that its copies may take far more memory than the file.
    """
    packed.charge(_plain_bytes(batch.columns), where)
    kinds = dict(zip(schema.names, schema.types, strict=True))
    for part in _small_parts(batch):
        names = part.schema.names
        columns = [_cast(column, kinds[name]) for name, column in zip(names, part.columns, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names)


def _small_parts(batch: Any) -> Iterator[Any]:
    """Parts of a batch whose strings Arrow can index with 32 bits."""
    if len(batch) < 2 or _plain_bytes(batch.columns) < 1 << 30:
        yield batch
        return
    middle = len(batch) // 2
    yield from _small_parts(batch.slice(0, middle))
    yield from _small_parts(batch.slice(middle))


def _plain_bytes(columns: Iterable[Any]) -> int:
    """The memory of columns without dictionaries."""
    total = 0
    for column in columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            total += pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
        elif pa.types.is_struct(kind):
            total += _plain_bytes(column.flatten())
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
            total += _plain_bytes([column.flatten()])
        total += 8 * len(column)
    return total


def _cast(column: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column if column.type == kind else column.cast(kind)


@contextmanager
def _open_parquet(source: Source, dictionaries: Sequence[str] = ()) -> Iterator[Any]:
    """A Parquet file, with errors that name it; the columns with these paths are read as dictionaries."""
    if source.codec is not None:
        raise InputError(
            f"{source.where}: a compressed Parquet file; wanted it decompressed (Parquet compresses by itself)"
        )
    with failures_named(source.where):
        import pyarrow.parquet as pq

        with open_regular(source.path) as handle:
            yield pq.ParquetFile(handle, read_dictionary=list(dictionaries))
