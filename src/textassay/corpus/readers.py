"""Readers: a Sample from a file, a pattern, standard input, or an object that holds texts.

None of those packages is imported: what an object can do decides how it is read.
"""

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.files import (
    Source,
    byte_blocks,
    check_encoding,
    has_known_extension,
    line_texts,
    name_of,
    sources_of,
    text_blocks,
)
from textassay.corpus.items.joining import system_paths
from textassay.corpus.json_lines import kind_of
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.records import (
    Rows,
    Values,
    Wanted,
    concat_rows,
    json_line_rows,
    json_rows,
    json_rows_or_lines,
    layout_of,
    no_groups,
    record_rows,
    rows_of,
)
from textassay.corpus.sample import Sample, is_not_blank
from textassay.corpus.tables import batch_texts, column_texts, delimited_texts, is_text, parquet_texts, schema_layout
from textassay.corpus.values import check_text, string_array
from textassay.errors import InputError

_ROWS = 10_000
_PEEK = 100
# Before it knew Arrow streams, `pa.chunked_array` took each string of such an object for a list of characters.
_STREAMS = hasattr(pa.ChunkedArray, "__arrow_c_stream__")


def object_texts(source: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    """The texts an object holds, from the wanted fields where there are fields."""
    if isinstance(source, Mapping):
        raise InputError(f"{where}: a dict with {quoted([str(key) for key in source])}; wanted one of its values")
    if _can(source, "lazy", "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table | pa.RecordBatchReader):
        return _table_texts(source, where, wanted)
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return _column(source, where, wanted)
    if _can(source, "with_format", "select_columns", "iter"):
        return _dataset_texts(source, where, wanted)
    if _can(source, "columns", "head", "__getitem__"):
        return _frame_texts(source, where, wanted)
    if _is_pandas(source) or _can(source, "to_arrow") or (_STREAMS and _can(source, "__arrow_c_stream__")):
        return _column(source, where, wanted)
    return _iterable_texts(source, where, wanted)


def _can(source: Any, *names: str) -> bool:
    return all(hasattr(source, name) for name in names)


def _is_pandas(source: Any) -> bool:
    return _can(source, "isna", "to_numpy")


def _table_texts(table: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    layout = schema_layout(table.schema, where, wanted)
    batches = table.to_batches() if isinstance(table, pa.Table) else table
    return batch_texts(batches, where, layout)


def _dataset_texts(dataset: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    # Through the public iterator, not `.data`: the table underneath ignores `select`, `shuffle` and `filter`.
    arrow = dataset.with_format("arrow")
    for first in arrow.iter(batch_size=1):
        layout = schema_layout(first.schema, where, wanted)
        yield from batch_texts(arrow.select_columns(layout.names).iter(batch_size=_ROWS), where, layout)
        return


def _frame_texts(frame: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    by_name = {str(label): label for label in reversed(list(frame.columns))}

    def textual() -> list[str]:
        head = frame.head(_PEEK)
        return [name for name in names if _looks_textual(head[by_name[name]])]

    names = [str(label) for label in frame.columns]
    layout = layout_of(names, where, wanted, textual=textual)
    texts = _column_texts(frame[by_name[layout.text]], f"{where}: field {quoted([layout.text])}")
    yield rows_of(
        texts, layout, lambda name: _any_values(frame[by_name[name]]), lambda index: f"{where}: row {index + 1}"
    )


def _any_values(column: Any) -> Values:
    """The values of a column that may mix types, missing ones as null."""
    try:
        values: Values = _arrow(column)
    except (pa.ArrowException, TypeError, ValueError):
        missing = column.isna() if _is_pandas(column) else [value is None for value in column]
        return [None if gone else value for value, gone in zip(column, missing, strict=True)]
    return values


def _looks_textual(column: Any) -> bool:
    try:
        return is_text(_arrow(column).type)
    except (pa.ArrowException, TypeError, ValueError):
        return False


def _arrow(column: Any) -> Any:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if _is_pandas(column):
        return pa.array(column, from_pandas=True)
    return column.to_arrow() if _can(column, "to_arrow") else pa.chunked_array(column)


def _column(column: Any, where: str, wanted: Wanted) -> Iterator[Rows]:
    if wanted.group is not None:
        raise no_groups(where, wanted.group, seen="one column of texts")
    yield Rows(_column_texts(column, where))


def _column_texts(column: Any, where: str) -> pa.Array:
    try:
        values = _arrow(column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        _refuse_odd(column, where)
        raise InputError(f"{where}: {shortened(str(error))}; wanted a column of strings") from None
    if pa.types.is_struct(values.type):
        raise InputError(f"{where}: a column of records; wanted strings")
    return column_texts(values, where)


def _iterable_texts(source: Iterable[Any], where: str, wanted: Wanted) -> Iterator[Rows]:
    if isinstance(source, io.TextIOBase):
        source = (line.removesuffix("\n") for line in source)
    try:
        values = iter(source)
    except TypeError:
        expected = "a path, a list of texts or a column of them"
        raise InputError(f"{where}: {type(source).__name__} given; wanted {expected}") from None
    chunks = iter(lambda: list(islice(values, _ROWS)), [])
    first = next(chunks, [])
    if first and isinstance(first[0], Mapping):
        return record_rows(chain([first], chunks), f"{where}: record ", wanted)
    if wanted.group is not None:
        raise no_groups(where, wanted.group, seen="texts without fields")
    return _strings(chain([first], chunks), where)


def _strings(chunks: Iterable[list[Any]], where: str) -> Iterator[Rows]:
    start = 1
    for chunk in chunks:
        for place, value in enumerate(chunk, start):
            if not isinstance(value, str):
                raise _odd(value, where, place)
        yield Rows(string_array(chunk, f"{where}: text ", start=start))
        start += len(chunk)


def _refuse_odd(column: Iterable[Any], where: str) -> None:
    """Name the first value of a column of Python objects that is neither a string nor missing."""
    for place, value in enumerate(column, 1):
        is_missing = value is None or value != value  # noqa: PLR0124 - only NaN differs from itself
        if isinstance(value, str):
            check_text(value, f"{where}: text {place}")
        elif not is_missing:
            raise _odd(value, where, place)


def _odd(value: object, where: str, place: int) -> InputError:
    shown = shortened(repr(value), 40)
    return InputError(f"{where}: text {place} is {type(value).__name__} ({shown}); wanted a string")


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


ONE = "candidate"


def named_candidates(candidates: Any) -> dict[str, Any]:
    """Candidates by name; each value is what `read_sample` takes, or a `Sample`.

    A mapping has the names already. A path is one candidate with the name of its file, and a list of paths several. A
    list of samples, columns or lists is several. Anything else is the texts of one candidate, called "candidate": a
    list of strings, a column, a data frame, a dataset, a list of records. No text is ever looked up as a file: a list
    of strings is a list of paths only if every one of them ends as a readable file does (`.txt`, `.jsonl.gz`, ...) or
    is a `pathlib.Path`.

    Examples
    --------
    >>> named_candidates(["a cat sat", "a dog ran"])
    {'candidate': ['a cat sat', 'a dog ran']}
    >>> named_candidates(["runs/mle.txt", "runs/gan.jsonl"])
    {'mle': 'runs/mle.txt', 'gan': 'runs/gan.jsonl'}
    >>> sorted(named_candidates([["a cat"], ["a dog"]]))
    ['candidate 1', 'candidate 2']
    """
    if isinstance(candidates, Mapping):
        return _checked_name(candidates)
    if isinstance(candidates, Sample):
        return {candidates.name: candidates}
    if isinstance(candidates, str | os.PathLike):
        return {name_of(os.fsdecode(candidates)): candidates}
    if not isinstance(candidates, list | tuple):
        return {ONE: candidates}
    if not candidates:
        raise InputError("no candidate given; wanted at least one sample to compare with the reference")
    if _are_paths(candidates):
        return dict(system_paths(candidates))
    if _are_samples(candidates):
        return _numbered(candidates)
    return {ONE: candidates}


def _checked_name(candidates: Mapping[Any, Any]) -> dict[str, Any]:
    for name in candidates:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"candidates: a name is {_shown(name)}; wanted a string that is not blank")
    return dict(candidates)


def _shown(name: Any) -> str:
    return quoted([name]) if isinstance(name, str) else kind_of(name)


def _are_paths(values: Sequence[Any]) -> bool:
    paths = [isinstance(value, os.PathLike) for value in values]
    if any(paths) and not all(isinstance(value, str | os.PathLike) for value in values):
        raise InputError("candidates: a list of paths and other things; wanted one kind, or a dict of names")
    return any(paths) or all(isinstance(value, str) and has_known_extension(value) for value in values)


def _are_samples(values: Sequence[Any]) -> bool:
    """Whether each value holds texts and is neither a text nor a record."""
    return all(
        isinstance(value, Sample)
        or (hasattr(value, "__iter__") and not isinstance(value, str | bytes | os.PathLike | Mapping))
        for value in values
    )


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    """Samples under their own names, anything else by number; a name that comes twice gets a number too."""
    named: dict[str, Any] = {}
    for place, value in enumerate(values, 1):
        name = value.name if isinstance(value, Sample) else f"{ONE} {place}"
        unique, number = name, 2
        while unique in named:
            unique, number = f"{name} ({number})", number + 1
        named[unique] = value
    return named
