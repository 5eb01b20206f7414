"""Vector files: arrays read from .npy, .npz and Parquet, or one line that says what is wrong with the file."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sources import failures_named
from textassay.corpus.tables import text_array

VECTOR, TEXT_FIELD = "vector", "text"
_WANTED = "wanted an array saved as .npy, arrays saved as .npz, or Parquet"
_FAILURES = (EOFError, MemoryError, OverflowError, RuntimeError, TokenError, zlib.error, zipfile.BadZipFile)
_MAGIC = {b"\x93NUM": "npy", b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet"}


@dataclass(frozen=True, eq=False)
class Block:
    """An array as it stands in a file, and how messages call it."""

    label: str
    rows: Any


def kind_of(file: str) -> str:
    """What the first bytes say, whatever the name of the file says: `npy`, `npz` or `parquet`."""
    where = shortened(file)
    with failures_named(where), open(file, "rb") as handle:
        magic = handle.read(4)
    if magic not in _MAGIC:
        raise InputError(f"{where}: begins with {magic!r}, which no array file does; {_WANTED}")
    return _MAGIC[magic]


def npy_block(file: str) -> Block:
    """The one array of a .npy file, mapped into memory rather than read."""
    where = shortened(file)
    with _failures_named(where):
        return _checked(where, np.load(file, mmap_mode="r", allow_pickle=False))


def npz_blocks(file: str, names: list[str]) -> list[Block]:
    """The arrays of these names, in this order."""
    where = shortened(file)
    # Opened here, because NumPy leaves a damaged archive open.
    with _failures_named(where), open(file, "rb") as handle, np.load(handle, allow_pickle=False) as arrays:
        missing = [name for name in names if name not in arrays.files]
        if missing:
            has = quoted(arrays.files) or "none"
            raise InputError(f"{where}: no array named {quoted(missing)}; arrays are {has}; wanted one a sample")
        return [_checked(f"{where}, array {quoted([name])}", arrays[name]) for name in names]


def parquet_block(file: str) -> tuple[Block, pa.Array | None]:
    """The vectors of a Parquet file and, where it has that column, their texts."""
    where = shortened(file)
    with failures_named(where):
        import pyarrow.parquet as pq

        with open(file, "rb") as handle:
            columns = pq.ParquetFile(handle).schema_arrow.names
            if VECTOR not in columns:
                raise InputError(f"{where}: no column '{VECTOR}'; columns are {quoted(columns)}")
            wanted = [VECTOR, TEXT_FIELD] if TEXT_FIELD in columns else [VECTOR]
            table = pq.read_table(handle, columns=wanted)
        block = _checked(where, _matrix(table.column(VECTOR).combine_chunks(), where))
        if TEXT_FIELD not in columns:
            return block, None
        return block, text_array(table.column(TEXT_FIELD).combine_chunks(), where, field=TEXT_FIELD)


def _matrix(column: pa.Array, where: str) -> Any:
    """A column of lists as an array; they must all be there and be of one length."""
    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise InputError(f"{where}: column '{VECTOR}' is of type {kind}; wanted lists of numbers")
    lengths = np.asarray(column.value_lengths().fill_null(-1), dtype=np.int64)
    odd = np.flatnonzero(lengths != lengths[0]) if len(lengths) else lengths
    if column.null_count:
        raise InputError(f"{where}, row {np.argmin(lengths) + 1}: no vector; wanted one in every row")
    if len(odd):
        seen = f"{where}, row {odd[0] + 1}: a vector of {lengths[odd[0]]} numbers"
        raise InputError(f"{seen}; wanted {lengths[0]}, as in the first row")
    flat = column.flatten()
    if flat.null_count:
        row = int(np.argmax(np.asarray(flat.is_null()))) // lengths[0] + 1
        raise InputError(f"{where}, row {row}: a gap in the vector; wanted finite numbers")
    return flat.to_numpy(zero_copy_only=False).reshape(len(column), lengths[0] if len(lengths) else 0)


def _checked(label: str, rows: Any) -> Block:
    """Refuse what is not a table of numbers."""
    if not isinstance(rows, np.ndarray):
        raise InputError(f"{label}: not an array; {_WANTED}")
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{label}: values of type {rows.dtype}; wanted numbers")
    if rows.ndim != 2:
        raise InputError(f"{label}: shape {rows.shape}; wanted two dimensions, a row a text")
    if not rows.shape[1]:
        raise InputError(f"{label}: shape {rows.shape}; wanted at least one column")
    return Block(label, rows)


@contextmanager
def _failures_named(where: str) -> Iterator[None]:
    """As for any file, and what NumPy and zip archives raise besides."""
    with failures_named(where):
        try:
            yield
        except (
            EOFError,
            MemoryError,
            OverflowError,
            RuntimeError,
            TokenError,
            zlib.error,
            zipfile.BadZipFile,
        ) as error:
            raise ValueError(str(error) or "ends too early") from error
