"""Precomputed vectors: an encoder that looks texts up in a .npy, .npz or Parquet file."""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.corpus.files.reading import failures_named, open_regular
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT, Sample, digest_of
from textassay.corpus.values import text_array
from textassay.errors import InputError

VECTOR, TEXT_FIELD = "vector", "text"
_WANTED = "wanted an array saved as .npy, arrays saved as .npz, or Parquet"
_MAGIC = {b"\x93NUM": "npy", b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"PAR1": "parquet"}


@dataclass(frozen=True, eq=False)
class Block:
    """An array as read from a file, and its name in messages."""

    label: str
    rows: Any


def kind_of(file: str) -> str:
    """The kind of file, from its first bytes and not its name: `npy`, `npz` or `parquet`."""
    where = shortened(file)
    with failures_named(where), open_regular(file) as handle:
        magic = handle.read(4)
    if magic not in _MAGIC:
        raise InputError(f"{where}: begins with {magic!r}, unlike any array file; {_WANTED}")
    return _MAGIC[magic]


def npy_block(file: str) -> Block:
    """The array of a .npy file, mapped into memory."""
    where = shortened(file)
    with _failures_named(where):
        return _checked(where, np.load(file, mmap_mode="r", allow_pickle=False))


def npz_blocks(file: str, names: list[str]) -> list[Block]:
    """The arrays of these names, in this order."""
    where = shortened(file)
    # Opened here, because NumPy does not close a damaged archive.
    with _failures_named(where), open_regular(file) as handle, np.load(handle, allow_pickle=False) as arrays:
        missing = [name for name in names if name not in arrays.files]
        if missing:
            has = quoted(arrays.files) or "none"
            raise InputError(f"{where}: no array named {quoted(missing)}; arrays are {has}; wanted one per sample")
        return [_checked(f"{where}, array {quoted([name])}", arrays[name]) for name in names]


def parquet_block(file: str) -> tuple[Block, pa.Array | None]:
    """The vectors of a Parquet file and, if it has a text column, their texts."""
    where = shortened(file)
    with failures_named(where):
        import pyarrow.parquet as pq

        with open_regular(file) as handle:
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
    """A column of lists as an array; no list may be missing, and all must have the same length."""
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
        raise InputError(f"{where}, row {row}: a missing value in the vector; wanted finite numbers")
    return flat.to_numpy(zero_copy_only=False).reshape(len(column), lengths[0] if len(lengths) else 0)


def _checked(label: str, rows: Any) -> Block:
    """Raise an error if this is not a table of numbers."""
    if not isinstance(rows, np.ndarray):
        raise InputError(f"{label}: not an array; {_WANTED}")
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{label}: values of type {rows.dtype}; wanted numbers")
    if rows.ndim != 2:
        raise InputError(f"{label}: shape {rows.shape}; wanted two dimensions, one row per text")
    if not rows.shape[1]:
        raise InputError(f"{label}: shape {rows.shape}; wanted at least one column")
    return Block(label, rows)


@contextmanager
def _failures_named(where: str) -> Iterator[None]:
    """Name the file in errors, including those of NumPy and of zip archives."""
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


# Rows checked together, so that a file larger than memory can be used.
_ROWS = 8192
# Smaller relative differences between vectors of the same text come from half precision or from batching.
_SAME = 0.05


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Vectors by text: `places[text]` is the row of `values`."""

    name: str
    where: str
    values: F32 = field(repr=False)
    places: Mapping[str, int] = field(repr=False)

    @property
    def dimension(self) -> int:
        """Columns."""
        return self.values.shape[1]

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text; a text without a vector in the file is an error."""
        try:
            return np.asarray(self.values[np.array([self.places[text] for text in texts], np.int64)])
        except KeyError as error:
            raise InputError(f"{self.where}: no vector for the text {_quoted(error.args[0])}") from None


def precomputed(file: str | os.PathLike[str], *, samples: Mapping[str, Sample]) -> Precomputed:
    """The encoder of a file; `samples` has the whole reference first and then the whole candidates.

    - `.npz`: one array per sample, under the sample's name, with one row per text.
    - `.npy`: one array with the rows of all samples, in the order of `samples`.
    - Parquet: a column `vector` of lists of numbers and a column `text` with the text of each vector; without it, the
      rows are used as in `.npy`.

    Blank texts are left out of samples and have no row. All numbers are converted to 32-bit floats.
    """
    path, where = os.fspath(file), shortened(os.fspath(file))
    blocks, texts = _read(path, samples)
    values = _joined(blocks)
    encoded = texts.dictionary_encode()
    ids = np.asarray(encoded.indices, dtype=np.int64)
    first = np.unique(ids, return_index=True)[1]
    _check_repeats(where, values, texts, first[ids])
    places = dict(zip(encoded.dictionary.to_pylist(), first.tolist(), strict=True))
    encoder = Precomputed(f"vectors/{_digest(texts, values)}", where, values, places)
    _check_complete(encoder, samples)
    return encoder


def _read(path: str, samples: Mapping[str, Sample]) -> tuple[list[Block], pa.Array]:
    """The arrays of a file and the texts of their rows."""
    kind = kind_of(path)
    stacked = pa.concat_arrays([sample.texts for sample in samples.values()])
    if kind == "npz":
        blocks = npz_blocks(path, list(samples))
        for block, (name, sample) in zip(blocks, samples.items(), strict=True):
            _check_count(block, {name: sample})
            _check_dimension(block, blocks[0])
        return blocks, stacked
    block, texts = (npy_block(path), None) if kind == "npy" else parquet_block(path)
    if texts is None:
        _check_count(block, samples)
    return [block], stacked if texts is None else texts


def _check_count(block: Block, samples: Mapping[str, Sample]) -> None:
    wanted = sum(map(len, samples.values()))
    if len(block.rows) != wanted:
        counts = " + ".join(f"{len(sample):,} of '{shortened(name, 60)}'" for name, sample in samples.items())
        raise InputError(
            f"{block.label}: {len(block.rows):,} rows; wanted {wanted:,}, one per text: {counts} (blank texts left out)"
        )


def _check_dimension(block: Block, first: Block) -> None:
    if block.rows.shape[1] != first.rows.shape[1]:
        raise InputError(
            f"{block.label}: {block.rows.shape[1]} columns; wanted {first.rows.shape[1]}, as in the first array"
        )


def _joined(blocks: list[Block]) -> F32:
    """All rows as finite 32-bit floats; an array that has them already is not copied."""
    only = blocks[0].rows
    ready = len(blocks) == 1 and only.dtype == np.float32 and only.dtype.isnative and only.flags.c_contiguous
    values = only if ready else np.empty((sum(len(block.rows) for block in blocks), only.shape[1]), np.float32)
    begin = 0
    for block in blocks:
        for part in _parts(len(block.rows)):
            rows = values[begin + part.start : begin + part.stop]
            if not ready:
                # Numbers beyond the range of 32 bits become infinite, which is an error below.
                with np.errstate(over="ignore"):
                    rows[...] = block.rows[part]
            _check_finite(block, rows, part.start)
        begin += len(block.rows)
    return values


def _check_finite(block: Block, rows: F32, start: int) -> None:
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, column = bad[0].tolist()
        seen = block.rows[start + row, column]
        raise InputError(
            f"{block.label}, row {start + row + 1}: {seen} in column {column + 1}; wanted finite 32-bit numbers"
        )


def _check_repeats(where: str, values: F32, texts: pa.Array, first: NDArray[np.int64]) -> None:
    """Raise an error if a repeated text has different vectors."""
    again = np.flatnonzero(first != np.arange(len(first)))
    for part in _parts(len(again)):
        rows, others = again[part], first[again[part]]
        one, two = values[rows].astype(np.float64), values[others].astype(np.float64)
        lengths = np.maximum(np.linalg.norm(one, axis=1), np.linalg.norm(two, axis=1))
        far = np.flatnonzero(np.linalg.norm(one - two, axis=1) > _SAME * lengths)
        if len(far):
            row, other = int(rows[far[0]]), int(others[far[0]])
            text = _quoted(texts[row].as_py())
            seen = f"rows {other + 1} and {row + 1} have different vectors for the text {text}"
            raise InputError(f"{where}: {seen}; wanted one vector per text")


def _check_complete(encoder: Precomputed, samples: Mapping[str, Sample]) -> None:
    known = pa.array(list(encoder.places), TEXT)
    for name, sample in samples.items():
        missing = np.flatnonzero(~np.asarray(pc.is_in(sample.texts, value_set=known), dtype=bool))
        if len(missing):
            text = _quoted(sample.texts[int(missing[0])].as_py())
            raise InputError(
                f"{encoder.where}: no vector for {len(missing):,} of {len(sample):,} texts of {quoted([name])}, "
                f"the first is text {missing[0] + 1}, {text}; wanted one for every text"
            )


def _digest(texts: pa.Array, values: F32) -> str:
    """Digest of texts and vectors, because results depend on which text has which vector."""
    hasher = hashlib.blake2b(f"{digest_of(texts)} {values.shape}".encode(), digest_size=8)
    for part in _parts(len(values)):
        hasher.update(np.ascontiguousarray(values[part], dtype="<f4").data)
    return hasher.hexdigest()


def _parts(rows: int) -> Iterator[slice]:
    return (slice(begin, min(begin + _ROWS, rows)) for begin in range(0, rows, _ROWS))


def _quoted(text: str) -> str:
    return quoted([text])
