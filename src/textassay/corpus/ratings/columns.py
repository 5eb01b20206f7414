"""Columns of a table of ratings: which column is which, and the values of its cells."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from textassay.corpus.files import Source, byte_blocks, sources_of, text_blocks
from textassay.corpus.json_lines import decode_json, has_json_lines, json_lines, kind_of, seen
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.tables import Row, delimited_rows, parquet_columns, plain_cell, wrong_width
from textassay.corpus.values import check_text
from textassay.errors import InputError

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


# The names each column may have, those of the paper's released files among them; messages ask for the first.
_NAMES = {
    "item": ("item", "item_id", "id"),
    "source": ("source", "label", "is_model"),
    "text": ("text", "utterance", "sentence"),
    "context": ("context", "prompt"),
    "log_prob": ("log_prob", "ModelProbability", "log_probability", "logp", "log_likelihood"),
    "nll": ("nll", "negative_log_likelihood"),
    "rater": ("rater", "rater_id", "worker", "worker_id", "annotator", "annotator_id"),
    "rating": ("rating", "judgment", "judgement", "HumanJudgment", "HumanJudgement", "mean_rating"),
    "rating_label": ("rating_label",),
    "length": ("length", "LengthOfUtterance", "tokens", "n_tokens", "num_tokens"),
}


def _plain(name: str) -> str:
    return "".join(name.casefold().split()).replace("_", "").replace("-", "")


_ROLES = {_plain(name): role for role, names in _NAMES.items() for name in names}


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells by what they mean. `names` is what the columns are called, `head` the place of the header.

    A column with nothing in it is not among them, but among `blank`.
    """

    where: str
    head: str
    header: list[str]
    names: dict[str, str]
    blank: dict[str, str]
    cells: dict[str, Sequence[Any]]
    places: list[str]

    def __contains__(self, role: str) -> bool:
        return role in self.cells

    def need(self, *roles: str, hint: str = "") -> None:
        """An error where none of these columns is there."""
        if any(role in self.cells for role in roles):
            return
        if empty := [self.blank[role] for role in roles if role in self.blank]:
            raise InputError(f"{self.head}: nothing in the column {quoted(empty)}; wanted values{hint}")
        wanted = " or ".join(quoted([role]) for role in roles)
        seen = f"columns are {quoted(self.header)}" if self.header else "there are no columns"
        raise InputError(f"{self.head}: no column {wanted}; {seen}{hint}")


def columns_of(tables: Sequence[Table], where: str) -> Columns:
    """The columns of one or more tables, one below the other."""
    names: dict[str, str] = {}
    cells: dict[str, list[Any]] = {}
    rows = 0
    for table in tables:
        for role, place in _roles(table).items():
            names.setdefault(role, table.header[place].strip())
            cells.setdefault(role, [None] * rows).extend(table.columns[place])
        rows += len(table.places)
        for column in cells.values():
            column.extend([None] * (rows - len(column)))
    places = [place for table in tables for place in table.places]
    return _without_blank(Columns(where, tables[0].head, tables[0].header, names, {}, dict(cells), places))


def part_of(columns: Columns, rows: Sequence[int]) -> Columns:
    """The same columns with only these rows."""
    cells: dict[str, Sequence[Any]] = {role: [column[row] for row in rows] for role, column in columns.cells.items()}
    return _without_blank(replace(columns, cells=cells, places=[columns.places[row] for row in rows]))


def _without_blank(columns: Columns) -> Columns:
    empty = {role for role, column in columns.cells.items() if all(map(is_blank, column))}
    cells = {role: column for role, column in columns.cells.items() if role not in empty}
    return replace(columns, cells=cells, blank=columns.blank | {role: columns.names[role] for role in empty})


def is_blank(cell: Any) -> bool:
    """Whether a cell says nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _roles(table: Table) -> dict[str, int]:
    """The place of each column that is known; two that mean the same are an error."""
    found: dict[str, int] = {}
    for place, name in enumerate(table.header):
        role = _ROLES.get(_plain(name))
        if role is None:
            continue
        if role in found:
            raise _both(table, (found[role], place), f"mean the {role.replace('_', ' ')}")
        found[role] = place
    if "log_prob" in found and "nll" in found:
        raise _both(table, (found["log_prob"], found["nll"]), "hold log-probabilities")
    return found


def _both(table: Table, places: Iterable[int], mean: str) -> InputError:
    names = " and ".join(quoted([table.header[place].strip()]) for place in places)
    return InputError(f"{table.head}: the columns {names} both {mean}; wanted one; columns are {quoted(table.header)}")


T = TypeVar("T")
# Squares of larger numbers and their sums are not to be trusted.
_LARGEST = 1e30


def values_of(columns: Columns, role: str, convert: Callable[[Any, str, str], T | None]) -> list[T | None]:
    """A column's values, None where a cell is blank; `convert` is given a cell, its place and the column's name."""
    cells, name = columns.cells[role], columns.names[role]

    def value_of(cell: Any, row: int) -> T | None:
        return None if is_blank(cell) else convert(cell, columns.places[row], name)

    # As keys true and 1 are the same, so only strings are converted once for all cells that repeat them.
    if any(kind is not str for kind in set(map(type, cells))):
        return [value_of(cell, row) for row, cell in enumerate(cells)]
    first = dict(zip(reversed(cells), reversed(range(len(cells))), strict=True))
    # In the order of rows, so that the first bad cell is the one that is named.
    known = {cell: value_of(cell, row) for cell, row in sorted(first.items(), key=itemgetter(1))}
    return [known[cell] for cell in cells]


def required(values: Sequence[T | None], columns: Columns, role: str) -> list[T]:
    """The values, or an error for the first that is missing."""
    if None in values:
        place = columns.places[values.index(None)]
        raise InputError(f"{place}: nothing in {quoted([columns.names[role]])}; wanted one in each row")
    return [value for value in values if value is not None]


def number_of(cell: Any, place: str, name: str) -> float:
    """A number that is not infinite."""
    value = _float(cell, place, name)
    if not math.isfinite(value):
        raise InputError(f"{place}: {shortened(name)} is {value}; wanted a finite number")
    return value


def log_prob_of(cell: Any, place: str, name: str) -> float | None:
    """A log-probability, perhaps minus infinity; NaN is a missing one."""
    value = _float(cell, place, name)
    if value > 0:
        raise InputError(
            f"{place}: {shortened(name)} {value:g} is above 0; wanted a natural logarithm of a probability"
        )
    return None if math.isnan(value) else value


def nll_of(cell: Any, place: str, name: str) -> float | None:
    """A log-probability that is written as its negative."""
    value = _float(cell, place, name)
    if value < 0:
        wanted = "minus the natural logarithm of a probability"
        raise InputError(f"{place}: {shortened(name)} {value:g} is below 0; wanted {wanted}")
    return None if math.isnan(value) else 0.0 - value


def length_of(cell: Any, place: str, name: str) -> int:
    """A number of tokens."""
    value = _float(cell, place, name)
    if not value.is_integer() or value < 0:
        raise InputError(f"{place}: {shortened(name)} is {value:g}; wanted a whole number of tokens")
    return int(value)


def name_of_cell(cell: Any, place: str, name: str) -> str:
    """An id or a name: a string without the spaces around it, or a whole number."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, bool) or not isinstance(cell, str | int):
        raise InputError(f"{place}: {quoted([name])} is {kind_of(cell)}; wanted a string or a whole number")
    return check_text(_digits(cell, place, name).strip(), f"{place}: {quoted([name])}")


def source_of_cell(cell: Any, place: str, name: str) -> str:
    """The name of a source, which may be a truth value too."""
    return name_of_cell(str(cell) if isinstance(cell, bool) else cell, place, name)


def text_of(cell: Any, place: str, name: str) -> str:
    """A text as it is."""
    if not isinstance(cell, str):
        raise InputError(f"{place}: {quoted([name])} is {kind_of(cell)}; wanted a string")
    return check_text(cell, f"{place}: {quoted([name])}")


def context_of(cell: Any, place: str, name: str) -> str:
    """A context: a text, or a number that stands for one."""
    return text_of(cell, place, name) if isinstance(cell, str) else name_of_cell(cell, place, name)


def log_probs_of(columns: Columns) -> list[float | None]:
    """The log-probabilities of either kind of column; none where there is no such column."""
    if "nll" in columns:
        return values_of(columns, "nll", nll_of)
    return values_of(columns, "log_prob", log_prob_of) if "log_prob" in columns else [None] * len(columns.places)


def _float(cell: Any, place: str, name: str) -> float:
    try:
        # Python reads 1_000 as a number, which nobody writes into a table on purpose.
        if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal) or _has_underscore(cell):
            raise ValueError
        # Adding nothing makes -0.0 the 0.0 it means.
        value = float(cell) + 0.0
        if math.isfinite(value) and abs(value) > _LARGEST:
            raise OverflowError
        return value
    except OverflowError:
        raise InputError(f"{place}: {shortened(name)} is too large a number; wanted a smaller one") from None
    except ValueError:
        given = quoted([cell]) if isinstance(cell, str) else kind_of(cell)
        raise InputError(f"{place}: {shortened(name)} is {given}; wanted a number") from None


def _has_underscore(cell: object) -> bool:
    return isinstance(cell, str) and "_" in cell


def _digits(cell: str | int, place: str, name: str) -> str:
    try:
        return str(cell)
    except ValueError:
        # Python refuses to write out integers of many thousand digits.
        raise InputError(f"{place}: {quoted([name])} is a number with too many digits; wanted a name") from None
