"""Which column of a table of ratings is which: names are matched whatever their case, spaces, hyphens, underscores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted
from textassay.corpus.rating_tables import Table

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
