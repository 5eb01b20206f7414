"""Readers: a Sample, or batches of texts, from a file, a pattern, standard input or an object that holds texts."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.decoding import check_encoding, text_blocks
from textassay.corpus.delimited import delimited_texts
from textassay.corpus.errors import InputError
from textassay.corpus.jsonl import json_texts
from textassay.corpus.lines import line_texts
from textassay.corpus.objects import object_texts
from textassay.corpus.printable import shortened
from textassay.corpus.sample import Sample, is_not_blank
from textassay.corpus.sources import Source, byte_blocks, name_of, sources_of
from textassay.corpus.tables import parquet_texts

TextSource = str | os.PathLike[str] | Iterable[Any]

BATCH = 100_000
# A batch of long documents is closed before it fills the memory, however many texts were asked for.
_BATCH_BYTES = 1 << 27


def read_sample(
    source: TextSource, *, name: str | None = None, field: str | None = None, encoding: str = "utf-8"
) -> Sample:
    """Read a sample; what was left out (blank texts, a byte order mark) stands in its notes.

    `source` is a path, a pattern such as `runs/*.txt`, `-` for standard input, a list of texts, a pandas or polars
    column, an Arrow array or, with `field`, a table of any of these kinds or a Hugging Face dataset. `field` is ignored
    where there are no fields.

    >>> read_sample(["a cat sat", "a dog ran"], name="pets").name
    'pets'
    """
    opened = _open(source, name=name, field=field, encoding=encoding)
    batches = list(_batches(opened, BATCH))
    notes = tuple(note if count == 1 else f"{note} ({count} files)" for note, count in opened.notes.items())
    return Sample.of(pa.concat_arrays(batches), name=opened.name, notes=notes)


def read_batches(
    source: TextSource, *, field: str | None = None, encoding: str = "utf-8", batch_size: int = BATCH
) -> Iterator[pa.Array]:
    """The same texts in batches of at most `batch_size`, for corpora larger than memory; no file is ever held whole.

    Blank texts are still in the batches (null as an empty string): `Sample.of` leaves them out and counts them.

    >>> [batch.to_pylist() for batch in read_batches(["a", "b", "c"], batch_size=2)]
    [['a', 'b'], ['c']]
    """
    if batch_size < 1:
        raise InputError(f"batch_size is {batch_size}; wanted 1 or more")
    return _batches(_open(source, name=None, field=field, encoding=encoding), batch_size)


@dataclass(frozen=True, slots=True)
class _Opened:
    """Texts on their way in: what to call them, what one is called in messages, and what was noted so far."""

    name: str
    where: str
    unit: str
    texts: Iterator[pa.Array]
    notes: Counter[str]


def _open(source: TextSource, *, name: str | None, field: str | None, encoding: str) -> _Opened:
    encoding = check_encoding(encoding)
    notes: Counter[str] = Counter()
    if not isinstance(source, str | os.PathLike):
        called = "sample" if name is None else name
        where = shortened(called)
        return _Opened(called, where, "text", object_texts(source, where, field=field), notes)
    path = os.fsdecode(source)
    files = sources_of(path)
    texts = _files_texts(files, field=field, encoding=encoding, notes=notes)
    where = files[0].where if len(files) == 1 else name_of(path)
    unit = "row" if files[0].kind in ("csv", "tsv", "parquet") else "line"
    return _Opened(name_of(path) if name is None else name, where, unit, texts, notes)


def _files_texts(files: list[Source], *, field: str | None, encoding: str, notes: Counter[str]) -> Iterator[pa.Array]:
    for file in files:
        count = 0
        for texts in _file_texts(file, field=field, encoding=encoding, notes=notes):
            count += len(texts)
            yield texts
        if not count:
            notes["empty file"] += 1


def _file_texts(file: Source, *, field: str | None, encoding: str, notes: Counter[str]) -> Iterator[pa.Array]:
    if file.kind == "parquet":
        return parquet_texts(file, field=field)
    if file.kind == "json":
        raise InputError(f"{file.where}: one JSON document; wanted JSON lines (.jsonl), an object or a string a line")
    blocks = text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes)
    if file.kind in ("csv", "tsv"):
        return delimited_texts(blocks, file.where, field=field, delimiter="," if file.kind == "csv" else "\t")
    # Standard input and process substitution have no extension to tell records from lines; asking for a field does.
    if file.kind == "jsonl" or (file.kind is None and field is not None):
        return json_texts(blocks, file.where, field=field)
    return line_texts(blocks)


def _batches(opened: _Opened, batch_size: int) -> Iterator[pa.Array]:
    held: list[pa.Array] = []
    count = size = 0
    for texts in _checked(opened):
        place = 0
        while place < len(texts):
            part = texts.slice(place, batch_size - count)
            held.append(part)
            place += len(part)
            count += len(part)
            size += part.nbytes
            if count == batch_size or size >= _BATCH_BYTES:
                yield pa.concat_arrays(held)
                held, count, size = [], 0, 0
    if held:
        yield pa.concat_arrays(held)


def _checked(opened: _Opened) -> Iterator[pa.Array]:
    """The texts, and at their end an error if there was none or if all were blank."""
    count = 0
    found = False
    for texts in opened.texts:
        found = found or pc.any(is_not_blank(texts)).as_py() is True
        count += len(texts)
        yield texts
    if not found:
        many = f"{count} {opened.unit}s, all blank" if count > 1 else f"1 {opened.unit}, blank"
        wanted = "at least one text" if opened.unit == "text" else f"a text a {opened.unit}"
        raise InputError(f"{opened.where}: {many if count else 'empty'}; wanted {wanted}")
