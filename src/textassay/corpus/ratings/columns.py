"""The columns of a ratings table: which column has which role, their values, and which rows belong to one item."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeVar

from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.tables import Table
from textassay.corpus.values import check_text, kind_of
from textassay.errors import InputError, Setting

# The names each column may have, those of the paper's released files among them; messages ask for the first.
_NAMES = {
    "item": ("item", "item_id", "id"),
    "source": ("source", "label", "is_model"),
    "model": ("model", "model_name"),
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


def role_of(name: str) -> str | None:
    """What a column with this name means, None if it has no known meaning.

    >>> role_of("Human Judgment"), role_of("colour")
    ('rating', None)
    """
    return _ROLES.get(_plain(name))


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells by what they mean. `names` is what the columns are called, `head` the place of the header.

    An empty column is listed in `blank` instead.
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

    def need(self, *roles: str, hint: Sequence[str | Setting] = ()) -> None:
        """Raise an error if none of these columns exists."""
        if any(role in self.cells for role in roles):
            return
        if empty := [self.blank[role] for role in roles if role in self.blank]:
            raise InputError(f"{self.head}: nothing in the column {quoted(empty)}; wanted values", *hint)
        wanted = " or ".join(quoted([role]) for role in roles)
        seen = f"columns are {quoted(self.header)}" if self.header else "there are no columns"
        raise InputError(f"{self.head}: no column {wanted}; {seen}", *hint)


def columns_of(tables: Sequence[Table], where: str, *, rating: str | None = None) -> Columns:
    """The columns of one or more tables, one below the other; `rating` is the name of that of the ratings."""
    names: dict[str, str] = {}
    cells: dict[str, list[Any]] = {}
    rows = 0
    for table in tables:
        for role, index in _roles(table, rating).items():
            name = table.fields[index]
            names.setdefault(role, name.strip())
            # By position where there are columns, because two of them may have one name.
            column = table.columns[index] if table.records is None else table.column(name)
            cells.setdefault(role, [None] * rows).extend(column)
        rows += len(table)
        for values in cells.values():
            values.extend([None] * (rows - len(values)))
    indices = [table.place(row) for table in tables for row in range(len(table))]
    header = list(tables[0].fields)
    return _without_blank(Columns(where, tables[0].head, header, names, {}, dict(cells), indices))


def part_of(columns: Columns, rows: Sequence[int]) -> Columns:
    """The same columns with only these rows."""
    cells: dict[str, Sequence[Any]] = {role: [column[row] for row in rows] for role, column in columns.cells.items()}
    return _without_blank(replace(columns, cells=cells, places=[columns.places[row] for row in rows]))


def _without_blank(columns: Columns) -> Columns:
    empty = {role for role, column in columns.cells.items() if all(map(is_blank, column))}
    cells = {role: column for role, column in columns.cells.items() if role not in empty}
    return replace(columns, cells=cells, blank=columns.blank | {role: columns.names[role] for role in empty})


def is_blank(cell: Any) -> bool:
    """Whether a cell is empty or blank."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _roles(table: Table, rating: str | None) -> dict[str, int]:
    """The index of each column that is known; two that mean the same are an error."""
    found: dict[str, int] = {}
    if rating is not None and rating not in table.fields:
        raise InputError(f"{table.head}: no column {quoted([rating])}; columns are {quoted(list(table.fields))}")
    for index, name in enumerate(table.fields):
        role = "rating" if name == rating else role_of(name)
        if role is None or (role == "rating" and rating not in (None, name)):
            continue
        if role in found:
            raise _both(table, (found[role], index), f"mean the {role.replace('_', ' ')}")
        found[role] = index
    if "log_prob" in found and "nll" in found:
        raise _both(table, (found["log_prob"], found["nll"]), "hold log-probabilities")
    return found


def _both(table: Table, places: Iterable[int], mean: str) -> InputError:
    names = " and ".join(quoted([table.fields[index].strip()]) for index in places)
    return InputError(
        f"{table.head}: the columns {names} both {mean}; wanted one; columns are {quoted(list(table.fields))}"
    )


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
        index = columns.places[values.index(None)]
        raise InputError(f"{index}: nothing in {quoted([columns.names[role]])}; wanted one in each row")
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
    """A context: a text, or a number used as its id."""
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


HUMAN = "human"
MODEL = "model"
# The paper's released files answer "is it from the model?" in the column Label.
_PEOPLE = {"human", "humans", "reference", "references", "real", "gold", "person", "people", "false", "0"}
_YES = {"true", "1"}


def sources_in(columns: Columns) -> list[str]:
    """The source of each row: `human` for all that people wrote, otherwise the name of a model."""
    named = required(values_of(columns, "source", source_of_cell), columns, "source")
    meant = {name: _meant(name) for name in set(named)}
    return [meant[name] for name in named]


def models_of(columns: Columns) -> list[str]:
    """The names in the column `model`, which has one for each of several models; blank ones belong to all."""
    if "model" not in columns:
        return []
    return [name for name in dict.fromkeys(values_of(columns, "model", source_of_cell)) if name is not None]


def rows_of_model(columns: Columns, model: str | None) -> tuple[Columns, str | None]:
    """The rows of the model where a column `model` has several, and the source that is left to choose."""
    names = models_of(columns)
    if len(names) < 2:
        return columns, model
    where = f"{columns.where}: {quoted([columns.names['model']])}"
    if model is None:
        seen = f"{where} has {len(names)} models: {quoted(names)}"
        raise InputError(f"{seen}; wanted one (use ", Setting("model", "NAME"), ")")
    if model.strip() not in names:
        raise InputError(f"{where} has no model {quoted([model])}; models are {quoted(names)}")
    given = values_of(columns, "model", source_of_cell)
    return part_of(columns, [row for row, name in enumerate(given) if name in (None, model.strip())]), None


def two_sources(columns: Columns, model: str | None, notes: list[str]) -> tuple[Columns, list[str], str]:
    """The rows of people and of one model, the source of each, and what the model is called."""
    columns.need("source")
    sources = sources_in(columns)
    counts = Counter(sources)
    models = [source for source in counts if source != HUMAN]
    column = quoted([columns.names["source"]])
    if HUMAN not in counts:
        raise InputError(
            f"{columns.where}: only {quoted(models)} in {column}; wanted 'human' too, for texts written by people"
        )
    if not models:
        raise InputError(f"{columns.where}: only human texts in {column}; wanted texts of a model too")
    chosen = _chosen(models, model, f"{columns.where}: {column}")
    others = [source for source in models if source != chosen]
    if not others:
        return columns, sources, chosen
    rows = [row for row, source in enumerate(sources) if source in (HUMAN, chosen)]
    left = len(sources) - len(rows)
    notes.append(f"{many(left, 'row')} of {quoted(others)} left out, because the model is {quoted([chosen])}")
    return part_of(columns, rows), [sources[row] for row in rows], chosen


def _meant(name: str) -> str:
    plain = name.casefold()
    return HUMAN if plain in _PEOPLE else MODEL if plain in _YES else name


def _chosen(models: list[str], model: str | None, where: str) -> str:
    if model is not None:
        if _meant(model.strip()) not in models:
            raise InputError(f"{where} has no model {quoted([model])}; models are {quoted(models)}")
        return _meant(model.strip())
    if len(models) > 1:
        seen = f"{where} has {len(models)} models: {quoted(models)}"
        raise InputError(f"{seen}; wanted one (use ", Setting("model", "NAME"), ")")
    return models[0]


@dataclass(frozen=True)
class Facts:
    """What is known of each item. `item_of` has the item of each row, `places` where an item appears first.

    `given` are the ids in the file, None where it has none. `shared` is True when an id is used as a context, because a
    human and a model text have the same id.
    """

    ids: list[str]
    given: list[str] | None
    shared: bool
    sources: list[str]
    texts: list[str | None]
    contexts: list[str | None]
    log_probs: list[float | None]
    lengths: list[int | None]
    places: list[str]
    item_of: list[int]


def facts_of(columns: Columns, sources: Sequence[str]) -> Facts:
    """The items of all rows, in the order in which they appear.

    Rows with one item id and source are one item. Without ids, rows with one text, source and context are, where raters
    are named; where they are not, each row is an item of its own.
    """
    texts = values_of(columns, "text", text_of) if "text" in columns else [None] * len(sources)
    contexts = values_of(columns, "context", context_of) if "context" in columns else [None] * len(sources)
    lengths = values_of(columns, "length", length_of) if "length" in columns else [None] * len(sources)
    named = required(values_of(columns, "item", name_of_cell), columns, "item") if "item" in columns else None
    keys: Sequence[Hashable]
    if named is not None:
        keys = list(zip(named, sources, strict=True))
    elif "rater" in columns:
        keys = list(zip(required(texts, columns, "text"), sources, contexts, strict=True))
    else:
        keys = range(len(sources))
    item_of, first = _grouped(keys)
    given = None if named is None else [named[row] for row in first]
    shared = given is not None and len(set(given)) < len(given)
    ids = _ids(given, [sources[row] for row in first], shared=shared)

    def agreed(values: Sequence[T | None], what: str) -> list[T | None]:
        return _agreed(values, item_of, what, ids=ids, places=columns.places)

    return Facts(
        ids,
        given,
        shared,
        [sources[row] for row in first],
        agreed(texts, "text"),
        agreed(contexts, "context"),
        agreed(log_probs_of(columns), "log_prob"),
        agreed(lengths, "length"),
        [columns.places[row] for row in first],
        item_of,
    )


def _grouped(keys: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """The group of each row, and the first row of each group."""
    groups: dict[Hashable, int] = {}
    item_of = [groups.setdefault(key, len(groups)) for key in keys]
    first = [-1] * len(groups)
    for row, item in enumerate(item_of):
        if first[item] < 0:
            first[item] = row
    return item_of, first


def _ids(given: list[str] | None, sources: list[str], *, shared: bool) -> list[str]:
    if given is None:
        return [str(number) for number in range(1, len(sources) + 1)]
    if not shared:
        return given
    # Not the model's own name: with these two endings no two items can come to one id.
    return [f"{id_}/{'human' if source == HUMAN else 'model'}" for id_, source in zip(given, sources, strict=True)]


def _agreed(
    values: Sequence[T | None], item_of: list[int], what: str, *, ids: list[str], places: list[str]
) -> list[T | None]:
    """The value of each item over its rows; blank cells have none, and two different values are an error."""
    agreed: list[T | None] = [None] * len(ids)
    stated_in = [0] * len(ids)
    for row, (item, value) in enumerate(zip(item_of, values, strict=True)):
        if value is None:
            continue
        known = agreed[item]
        if known is None:
            agreed[item] = value
            stated_in[item] = row
        elif known != value:
            raise InputError(
                f"{places[row]}: {what} {shown(value)} of item {quoted([ids[item]])}; "
                f"{places[stated_in[item]]} has {shown(known)}; wanted one {what} per item"
            )
    return agreed


def shown(value: object) -> str:
    """A value as a message shows it."""
    return quoted([value]) if isinstance(value, str) else shortened(str(value))
