"""Facts about rated items: which rows belong to one item, and who wrote it."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.ratings.columns import (
    Columns,
    context_of,
    length_of,
    log_probs_of,
    name_of_cell,
    part_of,
    required,
    source_of_cell,
    text_of,
    values_of,
)
from textassay.errors import InputError, Setting

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


T = TypeVar("T")


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
    """What the rows of each item say; blank cells say nothing, and two different answers are an error."""
    agreed: list[T | None] = [None] * len(ids)
    said = [0] * len(ids)
    for row, (item, value) in enumerate(zip(item_of, values, strict=True)):
        if value is None:
            continue
        known = agreed[item]
        if known is None:
            agreed[item] = value
            said[item] = row
        elif known != value:
            raise InputError(
                f"{places[row]}: {what} {shown(value)} of item {quoted([ids[item]])}; "
                f"{places[said[item]]} has {shown(known)}; wanted one {what} per item"
            )
    return agreed


def shown(value: object) -> str:
    """A value as a message shows it."""
    return quoted([value]) if isinstance(value, str) else shortened(str(value))
