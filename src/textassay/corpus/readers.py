"""Readers: a Sample, or batches of texts, from a file, a pattern, standard input or an object that holds texts."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.counting import many
from textassay.corpus.decoding import check_encoding, text_blocks
from textassay.corpus.delimited import delimited_texts
from textassay.corpus.errors import InputError
from textassay.corpus.fields import Wanted, no_groups
from textassay.corpus.lines import line_texts
from textassay.corpus.objects import object_texts
from textassay.corpus.printable import shortened
from textassay.corpus.record_rows import json_line_rows, json_rows, json_rows_or_lines
from textassay.corpus.rows import Rows, concat_rows
from textassay.corpus.sample import Sample, is_not_blank
from textassay.corpus.sources import Source, byte_blocks, name_of, sources_of
from textassay.corpus.tables import parquet_texts

TextSource = str | os.PathLike[str] | Iterable[Any]

BATCH = 100_000
# A batch of long documents is closed before it fills the memory, however many texts were asked for.
_BATCH_BYTES = 1 << 27
# What messages call the place of one text, by the kind of file.
_UNITS = {"csv": "row", "tsv": "row", "parquet": "row", "json": "record"}


def read_sample(
    source: TextSource,
    *,
    name: str | None = None,
    field: str | None = None,
    group: str | None = None,
    encoding: str = "utf-8",
) -> Sample:
    """Read a sample; its notes report what was left out (blank texts, a byte order mark).

    Parameters
    ----------
    source
        A path, a pattern such as `runs/*.txt`, `-` for standard input, a list of texts or of dicts, a pandas or polars
        column, an Arrow array, a data frame, an Arrow table or a Hugging Face dataset.
    name
        What to call the sample; by default the stem of the file, or "sample".
    field
        The field that holds the texts; ignored where there are no fields. By default `text`, or the only one that
        holds strings.
    group
        The field that holds the group of each text: its prompt, document or author. Every text needs one.
    encoding
        The encoding of text files.

    Returns
    -------
    Sample
        The texts, and their `groups` if asked for. `contexts` are the fields `prompt`, `instruction`, `question`,
        `context` and `input` together, and `ids` the field `id` or `uid`, where the records have them.

    Examples
    --------
    >>> read_sample(["a cat sat", "a dog ran"], name="pets").name
    'pets'
    >>> records = [{"prompt": 1, "output": "a cat sat"}, {"prompt": 2, "output": "a dog ran"}]
    >>> read_sample(records, group="prompt").groups.to_pylist()
    ['1', '2']
    """
    opened = _open(source, Wanted(field, group), name=name, encoding=encoding)
    rows = concat_rows(list(_checked(opened)))
    notes = tuple(note if count == 1 else f"{note} ({count} files)" for note, count in opened.notes.items())
    return Sample.of(
        rows.texts, name=opened.name, ids=rows.ids, contexts=rows.contexts, notes=notes, groups=rows.groups
    )


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
    return _batches(_open(source, Wanted(field, beside=False), name=None, encoding=encoding), batch_size)


@dataclass(frozen=True, slots=True)
class _Opened:
    """Texts on their way in: what to call them, what one is called in messages, and what was noted so far."""

    name: str
    where: str
    unit: str
    rows: Iterator[Rows]
    notes: Counter[str]


def _open(source: TextSource, wanted: Wanted, *, name: str | None, encoding: str) -> _Opened:
    encoding = check_encoding(encoding)
    notes: Counter[str] = Counter()
    if not isinstance(source, str | os.PathLike):
        called = "sample" if name is None else name
        where = shortened(called)
        return _Opened(called, where, "text", object_texts(source, where, wanted), notes)
    path = os.fsdecode(source)
    files = sources_of(path)
    rows = _files_rows(files, wanted, encoding=encoding, notes=notes)
    where = files[0].where if len(files) == 1 else name_of(path)
    unit = _UNITS.get(files[0].kind or "", "line")
    return _Opened(name_of(path) if name is None else name, where, unit, rows, notes)


def _files_rows(files: list[Source], wanted: Wanted, *, encoding: str, notes: Counter[str]) -> Iterator[Rows]:
    for file in files:
        count = 0
        for rows in _file_rows(file, wanted, encoding=encoding, notes=notes):
            count += len(rows)
            yield rows
        if not count:
            notes["empty file"] += 1


def _file_rows(file: Source, wanted: Wanted, *, encoding: str, notes: Counter[str]) -> Iterator[Rows]:
    if file.kind == "parquet":
        return parquet_texts(file, wanted)
    blocks = text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes)
    if file.kind == "json":
        return json_rows("".join(blocks), file.where, wanted)
    if file.kind in ("csv", "tsv"):
        return delimited_texts(blocks, file.where, wanted, delimiter="," if file.kind == "csv" else "\t")
    # Standard input and process substitution have no extension to tell records from lines; asking for a field does.
    asked = wanted.text is not None or wanted.group is not None
    if file.kind == "jsonl":
        return json_line_rows(blocks, file.where, wanted)
    if file.kind is None and asked:
        return json_rows_or_lines(blocks, file.where, wanted)
    if wanted.group is not None:
        raise no_groups(file.where, wanted.group, seen="one text per line without fields")
    return (Rows(texts) for texts in line_texts(blocks))


def _batches(opened: _Opened, batch_size: int) -> Iterator[pa.Array]:
    held: list[pa.Array] = []
    count = size = 0
    for rows in _checked(opened):
        texts, place = rows.texts, 0
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


def _checked(opened: _Opened) -> Iterator[Rows]:
    """The rows, and at their end an error if there was none or if all were blank."""
    count = 0
    found = False
    for rows in opened.rows:
        found = found or pc.any(is_not_blank(rows.texts)).as_py() is True
        count += len(rows)
        yield rows
    if not found:
        seen = f"{many(count, opened.unit)}, {'all blank' if count > 1 else 'blank'}" if count else "empty"
        wanted = "at least one text" if opened.unit == "text" else f"one text per {opened.unit}"
        raise InputError(f"{opened.where}: {seen}; wanted {wanted}")
