"""Cells of a table of ratings to values: numbers, log-probabilities, lengths, names and texts, checked one by one."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeVar

from textassay.corpus.errors import InputError
from textassay.corpus.item_records import kind_of
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.rating_columns import Columns, is_blank
from textassay.corpus.strings import check_text

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
