"""Tables of ratings and of log-probabilities: files with columns, or records with fields, as columns of cells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from textassay.corpus.counting import many
from textassay.corpus.decoding import text_blocks
from textassay.corpus.delimited import Row, delimited_rows, wrong_width
from textassay.corpus.errors import InputError
from textassay.corpus.frames import parquet_columns, plain_cell
from textassay.corpus.item_records import kind_of
from textassay.corpus.jsonl import decode_json, has_json_lines, json_lines, seen
from textassay.corpus.printable import quoted
from textassay.corpus.sources import Source, byte_blocks, sources_of

_DELIMITERS = {"csv": ",", "tsv": "\t"}
# Few enough that rows are gone soon after they are read: so many small lists at once are slow.
_ROWS = 1_000
_JSON = {"{": "jsonl", "[": "json"}


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of cells as they are written; `places` says where each row stands, `head` where the header does."""

    where: str
    head: str
    header: list[str]
    columns: list[Sequence[Any]]
    places: list[str]


def read_tables(path: str, *, encoding: str, notes: Counter[str]) -> list[Table]:
    """The tables of a path or a pattern, one a file, each with at least one row."""
    return [_read(file, encoding, notes) for file in sources_of(path)]


def records_table(records: Sequence[Any], places: list[str], where: str) -> Table:
    """A table of records, whose header is all fields there are; a field that a record lacks is a null there."""
    if not records:
        raise InputError(f"{where}: no records; wanted at least one")
    fields: dict[Any, None] = {}
    for place, record in zip(places, records, strict=True):
        if not isinstance(record, Mapping):
            raise InputError(f"{place}: {kind_of(record)}; wanted an object with a field for each column")
        fields.update(dict.fromkeys(record))
    columns: list[Sequence[Any]] = [[record.get(field) for record in records] for field in fields]
    return Table(where, where, [str(field) for field in fields], columns, places)


def _read(file: Source, encoding: str, notes: Counter[str]) -> Table:
    if file.kind == "lines":
        wanted = ".csv, .tsv, .jsonl, .json or .parquet"
        raise InputError(f"{file.where}: not a file of ratings by its name; wanted {wanted}")
    if file.kind == "parquet":
        return _parquet(file)
    text = "".join(text_blocks(byte_blocks(file), file.where, encoding=encoding, notes=notes))
    if not text.strip():
        raise InputError(f"{file.where}: empty; wanted a header and rows, or JSON records")
    kind = file.kind or _kind(text)
    if kind in _DELIMITERS:
        return _delimited(text, file.where, _DELIMITERS[kind], notes)
    is_document = kind == "json" and not has_json_lines(text)
    return _document(text, file.where) if is_document else _lines(text, file.where, notes)


def _kind(text: str) -> str:
    """What standard input holds, where no extension says so: its first character and its first line do."""
    start = text.lstrip()
    header = start.split("\n", 1)[0]
    return _JSON.get(start[0]) or ("tsv" if "\t" in header and "," not in header else "csv")


def _delimited(text: str, where: str, delimiter: str, notes: Counter[str]) -> Table:
    rows = delimited_rows([text], where, delimiter)
    # There is one: the text is not blank.
    blank, (first, header) = next((number, row) for number, row in enumerate(rows) if row[1])
    columns: list[list[str]] = [[] for _ in header]
    places: list[str] = []
    while chunk := list(islice(rows, _ROWS)):
        full = [(line, row) for line, row in chunk if row]
        blank += len(chunk) - len(full)
        _check_width(full, header, where)
        for column, cells in zip(columns, zip(*[row for _, row in full], strict=True), strict=bool(full)):
            column.extend(cells)
        places.extend(f"{where}:{line}" for line, _ in full)
    if not places:
        raise InputError(f"{where}:{first}: a header and nothing below it ({quoted(header)}); wanted rows")
    _note_blank(blank, where, notes)
    return Table(where, f"{where}:{first}", header, list(columns), places)


def _check_width(rows: list[Row], header: list[str], where: str) -> None:
    for line, row in rows:
        if len(row) != len(header):
            raise wrong_width(f"{where}:{line}", row, header)


def _lines(text: str, where: str, notes: Counter[str]) -> Table:
    lines = json_lines(text)
    full = [(f"{where}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]
    _note_blank(len(lines) - len(full), where, notes)
    return records_table([decode_json(line, place) for place, line in full], [place for place, _ in full], where)


def _document(text: str, where: str) -> Table:
    document = decode_json(text, where)
    if not isinstance(document, list | dict):
        raise InputError(f"{where}: {seen(document)}; wanted a list of objects")
    # One line of JSON lines is a document too.
    records = [document] if isinstance(document, dict) else document
    return records_table(records, [f"{where}: record {number}" for number in range(1, len(records) + 1)], where)


def _parquet(file: Source) -> Table:
    header, columns = parquet_columns(file)
    count = len(columns[0]) if columns else 0
    if not count:
        raise InputError(f"{file.where}: no rows; wanted at least one")
    plain: list[Sequence[Any]] = [[plain_cell(cell) for cell in column] for column in columns]
    return Table(file.where, file.where, header, plain, [f"{file.where}: row {row}" for row in range(1, count + 1)])


def _note_blank(count: int, where: str, notes: Counter[str]) -> None:
    if count:
        notes[f"{where}: {many(count, 'blank line')} left out"] += 1
