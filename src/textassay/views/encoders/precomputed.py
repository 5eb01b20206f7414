"""Precomputed vectors: an encoder that looks texts up in a file of vectors that were made elsewhere."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT, Sample, digest_of
from textassay.views.encoders.base import F32
from textassay.views.encoders.vector_files import Block, kind_of, npy_block, npz_blocks, parquet_block

# Rows looked at together: a file larger than memory can be checked and used.
_ROWS = 8192
# Vectors of one text that differ by less, relative to their length, are rounding of half precision or of batching.
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
        """One row a text; a text that the file has no vector for is an error."""
        try:
            return np.asarray(self.values[np.array([self.places[text] for text in texts], np.int64)])
        except KeyError as error:
            raise InputError(f"{self.where}: no vector for the text {_quoted(error.args[0])}") from None


def precomputed(file: str | os.PathLike[str], *, samples: Mapping[str, Sample]) -> Precomputed:
    """The encoder of a file; `samples` has the reference first and then the candidates, whole, before any cut.

    - `.npz`: an array a sample, under the sample's name, with a row a text.
    - `.npy`: one array with the rows of all samples below each other, in the order of `samples`.
    - Parquet: a column `vector` of lists of numbers, beside a column `text` that says whose vector it is; without it,
      rows are taken as in `.npy`.

    Blank texts are left out of samples and have no row. Numbers of any kind become 32-bit floats.
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
            f"{block.label}: {len(block.rows):,} rows; wanted {wanted:,}, one a text: {counts} (blank texts left out)"
        )


def _check_dimension(block: Block, first: Block) -> None:
    if block.rows.shape[1] != first.rows.shape[1]:
        raise InputError(
            f"{block.label}: {block.rows.shape[1]} columns; wanted {first.rows.shape[1]}, as the first array has"
        )


def _joined(blocks: list[Block]) -> F32:
    """All rows as finite 32-bit floats; what a file has as such already stays where it is."""
    only = blocks[0].rows
    ready = len(blocks) == 1 and only.dtype == np.float32 and only.dtype.isnative and only.flags.c_contiguous
    values = only if ready else np.empty((sum(len(block.rows) for block in blocks), only.shape[1]), np.float32)
    begin = 0
    for block in blocks:
        for part in _parts(len(block.rows)):
            rows = values[begin + part.start : begin + part.stop]
            if not ready:
                # Beyond the range of 32 bits is infinity, which is refused below.
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
    """A text that comes again must come with the vector that it had."""
    again = np.flatnonzero(first != np.arange(len(first)))
    for part in _parts(len(again)):
        rows, others = again[part], first[again[part]]
        one, two = values[rows].astype(np.float64), values[others].astype(np.float64)
        lengths = np.maximum(np.linalg.norm(one, axis=1), np.linalg.norm(two, axis=1))
        far = np.flatnonzero(np.linalg.norm(one - two, axis=1) > _SAME * lengths)
        if len(far):
            row, other = int(rows[far[0]]), int(others[far[0]])
            text = _quoted(texts[row].as_py())
            raise InputError(f"{where}: rows {other + 1} and {row + 1} differ for one text, {text}; wanted one vector")


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
    """Of texts and vectors: which text has which vector is what results depend on."""
    hasher = hashlib.blake2b(f"{digest_of(texts)} {values.shape}".encode(), digest_size=8)
    for part in _parts(len(values)):
        hasher.update(np.ascontiguousarray(values[part], dtype="<f4").data)
    return hasher.hexdigest()


def _parts(rows: int) -> Iterator[slice]:
    return (slice(begin, min(begin + _ROWS, rows)) for begin in range(0, rows, _ROWS))


def _quoted(text: str) -> str:
    return quoted([text])
