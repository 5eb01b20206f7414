"""Rows of one file with all their fields, each with its place."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textassay.corpus.files.reading import sources_of
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.rows import no_field
from textassay.corpus.tables import Expected, open_source, read_tables
from textassay.corpus.values import check_text, kind_of
from textassay.errors import InputError


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its place, its number in the file, and the values of its fields."""

    place: str
    number: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of one file and the names of their fields."""

    where: str
    fields: list[str]
    rows: list[Record]

    def need(self, *names: str) -> None:
        """Refuse the file if one of these fields is missing, and list the fields it has."""
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
    """The rows of one file in any format of `read_sample`; a line of text has the field `text`.

    Blank lines of a text file are rows, because the number of a line tells what belongs to it. `as_lines` reads a file
    without a known extension as lines of text, not as records. Rows of a table may lack the last columns if these are
    among `optional_end`; their cells are then empty. `wanted` describes the rows, for a file that has none.
    """
    notes: Counter[str] = Counter()
    if (count := len(sources_of(path, notes))) > 1:
        raise InputError(f"{shortened(path)}: {count} files match this pattern; wanted one")
    expected = Expected(texts=True, unnamed="lines" if as_lines else "JSON or table", optional=optional_end)
    opened = open_source(path, expected, name=None, kind="records", encoding=encoding, notes=notes)
    (table,) = read_tables(opened, wanted=wanted)
    names = list(table.fields)
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{table.head}: {len(twice)} fields have the name {quoted(twice[:1])}; wanted one")
    rows = [Record(table.place(row), row + 1, fields) for row, fields in enumerate(table.rows())]
    return Records(table.where, names, rows)


def text_field(record: Record, name: str) -> str:
    """A text, blank where there is none; anything but a string is an error."""
    if name not in record.fields:
        raise no_field(list(record.fields), record.place, field=name, hint="")
    value = record.fields[name]
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{record.place}: field {quoted([name])} is {kind_of(value)}; wanted a string")
    return check_text(value, f"{record.place}: field {quoted([name])}")
