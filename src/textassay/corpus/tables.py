"""The record reader: rows with named fields, from files, data frames, datasets and Python records.

Samples, items, ratings and surveys all read through it, so that all of them take the same formats and objects, check
them by the same rules and report errors in the same words. No package that makes frames is imported: the methods of an
object decide how it is read.
"""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from textassay.corpus.files.reading import (
    BLOCK,
    PER_LINE,
    PER_RECORD,
    PER_VALUE,
    Budget,
    Source,
    Span,
    byte_blocks,
    check_encoding,
    decoded_blocks,
    line_texts,
    name_of,
    sources_of,
    whole_lines,
)
from textassay.corpus.formats.inspect_files import inspect_logs, is_zip
from textassay.corpus.formats.json_documents import document_parts
from textassay.corpus.formats.recognise import LISTS, has_list
from textassay.corpus.parquet import parquet_batches, parquet_layout
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.process_settings import long_csv_fields
from textassay.corpus.values import (
    Column,
    decode_line,
    has_all,
    has_json_lines,
    holds_text,
    is_column,
    json_lines,
    kind_of,
    not_a_string,
    plain_value,
    python_values,
    string_array,
    text_column,
)
from textassay.errors import InputError

# The field of texts, where a source names none.
TEXT_FIELD = "text"
RECORDS = "records: .jsonl, .json, .csv, .tsv or .parquet, dicts, a data frame or a dataset"
_SOURCES = "a path, a list of dicts, a data frame or a dataset"
_TEXT_SOURCES = "a path, a list of texts or of dicts, a column, a data frame or a dataset"
_DELIMITERS = {"csv": ",", "tsv": "\t"}
# An object of JSON, alone or in a list, as far as its first key.
_OBJECT = re.compile(r'\[?\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
# What messages call one row, by the kind of file.
_UNITS = {"csv": "row", "tsv": "row", "parquet": "row", "json": "record", "eval": "sample"}
_PEEK = 100
# Few enough that long documents fit in memory, and that the lists of a part are freed before they slow Python down.
_ROWS = 10_000

AnySource = str | os.PathLike[str] | Iterable[Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a reader accepts.

    With `texts`, texts without fields are accepted: lines, strings and columns. `unnamed` is the format of a file whose
    name has no known extension, such as standard input, if it does not begin with an object of JSON. `record` is what
    every record must have, for messages. Rows of a CSV file may lack the last columns if they are among `optional`.
    """

    texts: bool = False
    unnamed: Literal["lines", "JSON or lines", "JSON or table"] = "JSON or table"
    record: str = ""
    optional: Collection[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a file or an object. The place of a row (`real.jsonl:17`) is `prefix` and its number.

    `columns` has one column per field. JSON objects and dicts are kept as `records` instead, with None for a null and
    strings as they are; `fields` are then those of the first record. `texts` are those of a source without
    fields. `head` is the place of the names of the fields.
    """

    where: str
    prefix: str
    numbers: Sequence[int]
    head: str
    fields: Sequence[str] = ()
    columns: Sequence[Column] = ()
    records: list[Any] | None = None
    texts: Column | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, row: int) -> str:
        """The place of a row in a message, by its index."""
        return f"{self.prefix}{self.numbers[row]}"

    def column(self, field: str) -> Column:
        """The values of a field, null where a record lacks it."""
        if self.records is None:
            return self.columns[self.fields.index(field)]
        # The type is tested first because `isinstance` of an abstract class is slow.
        return [
            record.get(field) if type(record) is dict or isinstance(record, Mapping) else None
            for record in self.records
        ]

    def rows(self) -> list[Mapping[str, Any]]:
        """Each row as a mapping of fields to values, for a whole table."""
        if self.records is not None:
            return self.records
        return [dict(zip(self.fields, cells, strict=True)) for cells in zip(*self.columns, strict=True)]

    def text_fields(self) -> list[str]:
        """The fields that hold text, as far as the first rows show."""
        if self.records is not None:
            first = next((record for record in self.records if isinstance(record, Mapping)), {})
            return [str(name) for name, value in first.items() if isinstance(value, str)]
        if len(self.fields) == 1 and isinstance(self.columns[0], list):
            return list(self.fields)
        return [name for name, column in zip(self.fields, self.columns, strict=True) if holds_text(column)]


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A file or an object before its rows are read.

    `head` is a table with the first rows, or without rows where the types of the columns are known. `parts(names)`
    reads all rows, in parts, with the columns of these names or, for None, with all columns. Where `head` has no rows,
    they can be read more than once, unless the source `is_once`.
    """

    head: Table
    parts: Callable[[Sequence[str] | None], Iterator[Table]]
    is_once: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A source with one table per file: its name, what messages call it, and what they call one of its rows."""

    name: str
    where: str
    unit: str
    tables: Iterator[OpenTable]


def open_source(
    source: AnySource, expected: Expected, *, name: str | None, kind: str, encoding: str, notes: Counter[str]
) -> Opened:
    """Open a path, a pattern, standard input or an object; `kind` is the name of an object that has no other.

    What is left out is counted in `notes`.
    """
    encoding = check_encoding(encoding)
    if not isinstance(source, str | os.PathLike):
        called = kind if name is None else name
        where = shortened(called)
        return Opened(called, where, "text", iter([_open_object(source, where, expected)]))
    path = os.fsdecode(source)
    files = sources_of(path, notes)
    if isinstance(source, Span):
        files = [replace(files[0], span=source.number)]
    where = files[0].where if len(files) == 1 else name_of(path)
    budget = Budget.of_input()
    tables = (_open_file(file, expected, encoding, budget, notes) for file in files)
    return Opened(name_of(path) if name is None else name, where, _UNITS.get(files[0].kind or "", "line"), tables)


def read_tables(opened: Opened, *, wanted: str | None = None) -> list[Table]:
    """Whole tables with plain Python values, one per file; with `wanted`, a table without rows is an error."""
    tables = [_whole(table) for table in opened.tables]
    for table in tables:
        if wanted is not None and not len(table):
            seen = "a header and no rows" if table.fields else "empty"
            raise InputError(f"{table.head}: {seen}; wanted {wanted}")
    return tables


def listed_notes(notes: Counter[str]) -> tuple[str, ...]:
    """Each note once, with the number of files it is about if there are several."""
    return tuple(note if count == 1 else f"{note} ({count} files)" for note, count in notes.items())


def _whole(opened: OpenTable) -> Table:
    head = opened.head
    parts = list(opened.parts(None)) or [head]
    numbers = [number for part in parts for number in part.numbers]
    if head.records is not None:
        records = [_plain_record(record) for part in parts for record in part.records or ()]
        names = dict.fromkeys(str(name) for record in records for name in record)
        return Table(head.where, head.prefix, numbers, head.where, list(names), records=records)
    if any(part.texts is not None for part in parts):
        texts = [text for part in parts for text in python_values(part.texts)]
        return Table(head.where, head.prefix, numbers, head.where, [TEXT_FIELD], [texts], texts=texts)
    columns: list[list[Any]] = [[] for _ in head.fields]
    for part in parts:
        for column, values in zip(columns, part.columns, strict=True):
            column.extend(python_values(values))
    return Table(head.where, head.prefix, numbers, head.head, head.fields, columns)


def _plain_record(record: Any) -> dict[Any, Any]:
    if record is None or isinstance(record, str):
        return {TEXT_FIELD: record}
    return {name: plain_value(value) for name, value in record.items()}


def _open_file(file: Source, expected: Expected, encoding: str, budget: Budget, notes: Counter[str]) -> OpenTable:
    if file.kind == "lines" and not expected.texts:
        raise InputError(f"{file.where}: lines of text have no fields; wanted .jsonl, .json, .csv, .tsv or .parquet")
    if file.kind == "parquet":
        return _open_parquet(file, budget, per_row=PER_LINE if expected.texts else PER_RECORD)
    if file.kind in (None, "eval") and _is_zip(file):
        logs = _numbered(inspect_logs(file, budget))
        return _open_records(logs, f"{file.where}: sample ", file.where, expected, f"an object{expected.record}")
    is_lines = file.kind == "lines" or (file.kind is None and expected.unnamed == "lines")
    unpacked = byte_blocks(file, budget, per_line=PER_LINE if is_lines else PER_RECORD, notes=notes)
    pieces = decoded_blocks(unpacked, file.where, encoding=encoding, notes=notes)
    kind, pieces = (file.kind, pieces) if file.kind else _detected(pieces, expected)
    wanted = f"an object{expected.record}"
    if kind == "json":
        first = next(pieces, "")
        pieces = chain([first], pieces)
        if not has_json_lines(first):
            parts = document_parts(pieces, file.where, budget, lists=LISTS, has_list=has_list)
            return _open_records(_of_document(parts), f"{file.where}: record ", file.where, expected, wanted)
    blocks = whole_lines(pieces)
    if kind == "lines":
        return _open_lines(blocks, file.where)
    blocks = _charged_values(blocks, budget, file.where)
    if kind in _DELIMITERS:
        return _open_delimited(blocks, file.where, _DELIMITERS[kind], expected, notes)
    return _open_records(_decoded(blocks, file.where, notes), f"{file.where}:", file.where, expected, wanted)


def _is_zip(file: Source) -> bool:
    found = file.codec is None and os.path.isfile(file.path) and is_zip(file)
    if file.kind == "eval" and not found:
        raise InputError(f"{file.where}: not a zip file; wanted a log of inspect")
    return found


def _charged_values(blocks: Iterable[str], budget: Budget, where: str) -> Iterator[str]:
    """Blocks whose values are charged before they are decoded, where they are decoded in one piece.

    The values of a short line are freed before the next block is read. A line of many blocks may consist of empty
    values, which take many times the memory of their characters.
    """
    for block in blocks:
        if len(block) > 2 * BLOCK:
            budget.charge(PER_VALUE * sum(map(block.count, "[{,\t")), where)
        yield block


def _detected(blocks: Iterator[str], expected: Expected) -> tuple[str, Iterator[str]]:
    """The format of a file without a known extension, by its beginning; objects of JSON are records everywhere."""
    first: list[str] = []
    for block in blocks:
        first.append(block)
        if block.strip():
            break
    start = "".join(first).lstrip()
    header = start.partition("\n")[0]
    if expected.unnamed == "lines" and not _OBJECT.match(start):
        kind = "lines"
    elif start[:1] in ("{", "["):
        # A document may have its brace alone on the first line.
        kind = "jsonl" if start[0] == "{" and header.rstrip().endswith("}") else "json"
    elif expected.unnamed == "JSON or lines":
        kind = "lines"
    else:
        kind = "tsv" if "\t" in header and "," not in header else "csv"
    return kind, chain(first, blocks)


def _open_lines(blocks: Iterator[str], where: str) -> OpenTable:
    def parts(_: Sequence[str] | None) -> Iterator[Table]:
        start = 1
        for texts in line_texts(blocks):
            yield Table(where, f"{where}:", range(start, start + len(texts)), where, texts=texts)
            start += len(texts)

    return OpenTable(Table(where, f"{where}:", (), where), parts)


def _open_delimited(
    blocks: Iterator[str], where: str, delimiter: str, expected: Expected, notes: Counter[str]
) -> OpenTable:
    rows = delimited_rows(blocks, where, delimiter)
    with long_csv_fields():
        blank, (line, header) = next(((number, row) for number, row in enumerate(rows) if row[1]), (0, (1, [])))
    head = f"{where}:{line}" if header else where
    names = [name.strip() for name in header]
    chunks = _chunks(_even(rows, names, where, expected.optional, blank=blank, notes=notes))
    first = next(chunks, [])

    def table(chunk: Sequence[Row], chosen: Sequence[str]) -> Table:
        indices = [names.index(name) for name in chosen] if chosen is not names else range(len(names))
        columns = [[row[index] for _, row in chunk] for index in indices]
        return Table(where, f"{where}:", [number for number, _ in chunk], head, chosen, columns)

    def parts(chosen: Sequence[str] | None) -> Iterator[Table]:
        return (table(chunk, names if chosen is None else chosen) for chunk in chain([first], chunks) if chunk)

    return OpenTable(table(first[:_PEEK], names), parts)


Row = tuple[int, list[str]]


def delimited_rows(blocks: Iterable[str], where: str, delimiter: str) -> Iterator[Row]:
    """Rows with the line each begins on; a quoted text may span many lines, and an empty line is an empty row.

    Read the rows inside of `long_csv_fields()`: the limit on the length of a field is a setting of the whole process.
    It is not changed here, because a generator that is not read to its end would not restore it.
    """
    lines = chain.from_iterable(io.StringIO(block, newline="\n") for block in blocks)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{where}:{line}: a broken row: {shortened(str(error))}") from None
        if row is None:
            return
        yield line, row


def _even(
    rows: Iterable[Row], header: list[str], where: str, optional: Collection[str], *, blank: int, notes: Counter[str]
) -> Iterator[Row]:
    """Rows as long as the header; empty ones are left out and counted, together with `blank` ones above the header."""
    for line, row in rows:
        if len(row) == len(header):
            yield line, row
        elif row:
            missing = header[len(row) :]
            if not missing or not set(missing) <= set(optional):
                seen = many(len(row), "field")
                raise InputError(f"{where}:{line}: {seen}; wanted {len(header)} as in the header ({quoted(header)})")
            yield line, [*row, *("" for _ in missing)]
        else:
            blank += 1
    _note_blank(blank, where, notes)


def _note_blank(count: int, where: str, notes: Counter[str]) -> None:
    if count:
        notes[f"{where}: {many(count, 'blank line')} left out"] += 1


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Lists of rows. Rows before a bad one are yielded first, so that the first fault of a file is the one reported."""
    while True:
        chunk: list[Row] = []
        try:
            with long_csv_fields():
                for row in islice(rows, _ROWS):
                    chunk.append(row)
        except InputError:
            yield chunk
            raise
        if not chunk:
            return
        yield chunk


# Values with their numbers.
Chunk: TypeAlias = tuple[Sequence[int], list[Any]]


def _numbered(values: Iterator[Any]) -> Iterator[Chunk]:
    start = 1
    while chunk := list(islice(values, _ROWS)):
        yield range(start, start + len(chunk)), chunk
        start += len(chunk)


def _of_document(parts: Iterator[Any]) -> Iterator[Chunk]:
    """The records of a document that is a list, part by part; any other document is a record, each part of it too."""
    start = 1
    for part in parts:
        values = part if isinstance(part, list) else [part]
        for index in range(0, len(values), _ROWS):
            chunk = values[index : index + _ROWS]
            yield range(start, start + len(chunk)), chunk
            start += len(chunk) if isinstance(part, list) else 0


def _decoded(blocks: Iterable[str], where: str, notes: Counter[str]) -> Iterator[Chunk]:
    """The values of JSON Lines with their line numbers; those before a bad line are yielded before its error."""
    blank = 0
    start = 1
    for block in blocks:
        lines = json_lines(block)
        numbers: list[int] = []
        values: list[Any] = []
        try:
            for number, line in enumerate(lines, start):
                value = decode_line(line, where, number)
                if value is not None or line.strip():
                    numbers.append(number)
                    values.append(value)
        except InputError as error:
            yield numbers, values
            if number == start + len(lines) - 1 and not block.endswith("\n"):
                raise InputError(f"{error}; the file ends within a value, so it is incomplete") from None
            raise
        yield numbers, values
        blank += len(lines) - len(numbers)
        start += len(lines)
    _note_blank(blank, where, notes)


def _open_records(chunks: Iterator[Chunk], prefix: str, where: str, expected: Expected, wanted: str) -> OpenTable:
    checked = _checked_records(chunks, prefix, expected, wanted)
    first = next(checked, ((), []))

    def table(chunk: Chunk) -> Table:
        numbers, records = chunk
        row, record = next(((row, r) for row, r in enumerate(records) if isinstance(r, Mapping)), (0, {}))
        head = f"{prefix}{numbers[row]}" if records else where
        return Table(where, prefix, numbers, head, list(map(str, record)), records=records)

    def parts(_: Sequence[str] | None) -> Iterator[Table]:
        return (table(chunk) for chunk in chain([first], checked) if chunk[1])

    return OpenTable(table(first), parts)


def _checked_records(chunks: Iterable[Chunk], prefix: str, expected: Expected, wanted: str) -> Iterator[Chunk]:
    """Records as mappings; strings and nulls stay where texts are accepted, and anything else is an error.

    Records before a bad one are yielded before its error, so that the first fault of a file is the one reported.
    """
    for numbers, values in chunks:
        if set(map(type, values)) <= {dict}:
            yield numbers, values
            continue
        records: list[Any] = []
        for number, value in zip(numbers, values, strict=True):
            if is_dataclass(value) and not isinstance(value, type):
                records.append({field.name: getattr(value, field.name) for field in fields(value)})
            elif isinstance(value, Mapping) or (expected.texts and isinstance(value, str | None)):
                records.append(value)
            else:
                yield numbers[: len(records)], records
                or_text = " or a string" if expected.texts and not expected.record else ""
                raise InputError(f"{prefix}{number}: {kind_of(value)}; wanted {wanted}{or_text}")
        yield numbers, records


def _open_parquet(file: Source, budget: Budget, *, per_row: int) -> OpenTable:
    schema, strings = parquet_layout(file)

    def parts(names: Sequence[str] | None) -> Iterator[Table]:
        batches = parquet_batches(file, schema, names, strings=strings, rows=_ROWS, per_row=per_row, budget=budget)
        return _arrow_parts(batches, file.where, names)

    return OpenTable(_arrow_part(schema.empty_table(), file.where, None), parts)


def _arrow_parts(batches: Iterable[Any], where: str, names: Sequence[str] | None) -> Iterator[Table]:
    start = 1
    for batch in batches:
        yield _arrow_part(batch, where, names, start=start)
        start += batch.num_rows


def _arrow_part(batch: Any, where: str, names: Sequence[str] | None, *, start: int = 1) -> Table:
    """A record batch or an Arrow table."""
    numbers = range(start, start + batch.num_rows)
    columns = batch.columns if names is None else [batch.column(name) for name in names]
    return Table(where, f"{where}: row ", numbers, where, batch.schema.names if names is None else names, columns)


def _open_object(source: Any, where: str, expected: Expected) -> OpenTable:
    if isinstance(source, Mapping):
        names = quoted([str(key) for key in source])
        raise InputError(f"{where}: a dict ({names}); wanted one of its values, or a list of dicts")
    # Nothing else is asked of a lazy frame: even the names of its columns take work.
    if has_all(source, "lazy", "collect"):
        raise InputError(f"{where}: a lazy frame; wanted it collected")
    if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return _open_arrow(source, where)
    if has_all(source, "with_format", "select_columns", "iter"):
        return _open_dataset(source, where)
    if has_all(source, "columns", "head", "__getitem__") and not isinstance(source, pa.Array | pa.ChunkedArray):
        return _open_frame(source, where)
    if is_column(source):
        if not expected.texts:
            raise InputError(f"{where}: a column without fields; wanted {RECORDS}")
        texts = text_column(source, where)
        column = Table(where, f"{where}: text ", range(1, len(texts) + 1), where, texts=texts)
        return OpenTable(Table(where, column.prefix, (), where), lambda _: iter([column]))
    return _open_iterable(source, where, expected)


def _open_arrow(table: Any, where: str) -> OpenTable:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])

    def parts(names: Sequence[str] | None) -> Iterator[Table]:
        return _arrow_parts(table.to_batches() if isinstance(table, pa.Table) else table, where, names)

    is_once = isinstance(table, pa.RecordBatchReader)
    return OpenTable(_arrow_part(table.schema.empty_table(), where, None), parts, is_once)


def _open_dataset(dataset: Any, where: str) -> OpenTable:
    # Through the public iterator, not `.data`: the table underneath ignores `select`, `shuffle` and `filter`.
    arrow = dataset.with_format("arrow")
    first = next(iter(arrow.iter(batch_size=1)), None)

    def parts(names: Sequence[str] | None) -> Iterator[Table]:
        chosen = arrow if names is None else arrow.select_columns(list(names))
        return _arrow_parts(chosen.iter(batch_size=_ROWS), where, names)

    head = pa.table({}) if first is None else first
    return OpenTable(_arrow_part(head.slice(0, 0), where, None), parts)


def _open_frame(frame: Any, where: str) -> OpenTable:
    names = [str(label) for label in frame.columns]

    def table(rows: Any, chosen: Sequence[str] | None) -> Table:
        # By position, because two columns may have one name.
        indices = range(len(names)) if chosen is None else [names.index(name) for name in chosen]
        columns = [rows.iloc[:, index] if hasattr(rows, "iloc") else rows[:, index] for index in indices]
        numbers = range(1, len(rows) + 1)
        return Table(where, f"{where}: row ", numbers, where, names if chosen is None else chosen, columns)

    return OpenTable(table(frame.head(_PEEK), None), lambda chosen: iter([table(frame, chosen)]))


def _open_iterable(source: Any, where: str, expected: Expected) -> OpenTable:
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise InputError(f"{where}: {kind_of(source)}; wanted {_TEXT_SOURCES if expected.texts else _SOURCES}")
    values: Iterator[Any] = iter(source)
    if isinstance(source, io.TextIOBase):
        values = (line.removesuffix("\n") for line in values)
    first = list(islice(values, 1))
    values = chain(first, values)
    if expected.texts and not (first and isinstance(first[0], Mapping)):
        return OpenTable(Table(where, f"{where}: text ", (), where), lambda _: _string_parts(values, where))
    wanted = f"a dict{expected.record}"
    return _open_records(_numbered(values), f"{where}: record ", where, expected, wanted)


def _string_parts(values: Iterator[Any], where: str) -> Iterator[Table]:
    for numbers, chunk in _numbered(values):
        for number, value in zip(numbers, chunk, strict=True):
            if not isinstance(value, str):
                raise not_a_string(value, f"{where}: text {number}")
        texts = string_array(chunk, f"{where}: text ", start=numbers[0])
        yield Table(where, f"{where}: text ", numbers, where, texts=texts)
