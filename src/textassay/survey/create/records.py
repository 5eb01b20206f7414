"""Rows of a file with all their fields, and the place of each row for messages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.files import Source, byte_blocks, check_encoding, line_texts, sources_of, text_blocks
from textassay.corpus.json_lines import decode_json, has_json_lines, json_lines, seen
from textassay.corpus.printable import quoted
from textassay.corpus.records import DEFAULT, no_field
from textassay.corpus.tables import delimited_rows, open_parquet, wrong_width
from textassay.corpus.values import check_text
from textassay.errors import InputError

_DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its place for messages, its number in the file, and its fields."""

    place: str
    number: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of one file and the names of the fields of its first row."""

    where: str
    fields: list[str]
    rows: list[Record]

    def need(self, *names: str) -> None:
        """Raise an error that lists the fields of the file if one of these is missing."""
        for name in names:
            if name not in self.fields:
                raise no_field(self.fields, self.where, field=name, hint="")


def read_records(
    path: str,
    *,
    encoding: str = "utf-8",
    as_lines: bool = False,
    optional_end: Sequence[str] = (),
    wanted: str = "one text per row",
) -> Records:
    """The rows of a text, JSON, table or Parquet file, or of standard input; a line of text becomes the field `text`.

    Blank lines of text count as rows, because lines of several files may belong together; blank lines between records
    do not. With `as_lines` a file without a known extension is read as lines of text, not as records. Rows of a table
    may lack the last columns if `optional_end` names them; their cells are then empty. `wanted` describes the rows in
    the error for an empty file.
    """
    encoding = check_encoding(encoding)
    files = sources_of(path)
    if len(files) > 1:
        raise InputError(f"{path}: {len(files)} files match this pattern; wanted one")
    (file,) = files
    found = _rows(file, encoding, as_lines=as_lines, optional_end=optional_end, wanted=wanted)
    rows = [Record(place, number, fields) for place, number, fields in found]
    if not rows:
        raise InputError(f"{file.where}: empty; wanted {wanted}")
    return Records(file.where, list(rows[0].fields), rows)


def text_field(record: Record, name: str) -> str:
    """The text in a field, '' if it is missing; anything but a string is an error."""
    if name not in record.fields:
        raise no_field(list(record.fields), record.place, field=name, hint="")
    value = record.fields[name]
    if value is None:
        return ""
    if not isinstance(value, str):
        shown = seen(value) if isinstance(value, dict | list | bool | int | float) else type(value).__name__
        raise InputError(f"{record.place}: field {quoted([name])} is {shown}; wanted a string")
    return check_text(value, f"{record.place}: field {quoted([name])}")


def _rows(
    file: Source, encoding: str, *, as_lines: bool, optional_end: Sequence[str], wanted: str
) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    if file.kind == "parquet":
        return _parquet(file)
    # The note about a byte order mark is of no use in a survey, so it is dropped.
    text = "".join(text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=Counter()))
    if file.kind in _DELIMITERS:
        delimiter = _DELIMITERS[file.kind or ""]
        return _table(text, file.where, delimiter=delimiter, optional_end=optional_end, wanted=wanted)
    if file.kind == "json" and not has_json_lines(text):
        return _objects(_document(text, file.where))
    if file.kind in ("json", "jsonl") or (file.kind is None and not as_lines and text.lstrip().startswith("{")):
        return _objects(_decoded(text, file.where))
    return _lines(text, file.where)


def _lines(text: str, where: str) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    lines = [line for part in line_texts([text] if text else []) for line in part.to_pylist()]
    for number, line in enumerate(lines, 1):
        yield f"{where}:{number}", number, {DEFAULT: line}


def _document(text: str, where: str) -> Iterator[tuple[str, Any]]:
    """The values of a JSON array, or the one value of a document, with their places."""
    document = decode_json(text, where) if text.strip() else []
    values = document if isinstance(document, list) else [document]
    return ((f"{where}: record {number}", value) for number, value in enumerate(values, 1))


def _decoded(text: str, where: str) -> Iterator[tuple[str, Any]]:
    """The values of JSON lines with their places; blank lines are none."""
    for number, line in enumerate(json_lines(text) if text else [], 1):
        if line.strip():
            yield f"{where}:{number}", decode_json(line, f"{where}:{number}")


def _objects(values: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for number, (place, value) in enumerate(values, 1):
        fields = {DEFAULT: value} if isinstance(value, str) else value
        if not isinstance(fields, dict):
            raise InputError(f"{place}: {seen(value)}; wanted an object or a string")
        yield place, number, fields


def _table(
    text: str, where: str, *, delimiter: str, optional_end: Sequence[str], wanted: str
) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    rows = ((line, row) for line, row in delimited_rows([text], where, delimiter) if row)
    line, header = next(rows, (1, []))
    header = [name.strip() for name in header]
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise InputError(f"{where}:{line}: {len(twice)} fields have the name {quoted(twice[:1])}; wanted one")
    number = 0
    for number, (line, row) in enumerate(rows, 1):
        missing = header[len(row) :]
        if len(row) > len(header) or not set(missing) <= set(optional_end):
            raise wrong_width(f"{where}:{line}", row, header)
        yield f"{where}:{line}", number, dict(zip(header, [*row, *("" for _ in missing)], strict=True))
    if header and not number:
        raise InputError(f"{where}:{line}: a header and no rows; wanted {wanted}")


def _parquet(file: Source) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    with open_parquet(file) as parquet:
        rows = parquet.read().to_pylist()
    for number, row in enumerate(rows, 1):
        yield f"{file.where}, row {number}", number, row
