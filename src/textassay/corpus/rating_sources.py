"""Who wrote an item: people or the model, and which model where there are several."""

from collections import Counter

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted
from textassay.corpus.rating_cells import required, source_of_cell, values_of
from textassay.corpus.rating_columns import Columns, part_of

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
            f"{columns.where}: only {quoted(models)} in {column}; wanted 'human' too, for what people wrote"
        )
    if not models:
        raise InputError(f"{columns.where}: only people's items in {column}; wanted those of a model too")
    chosen = _chosen(models, model, f"{columns.where}: {column}")
    others = [source for source in models if source != chosen]
    if not others:
        return columns, sources, chosen
    rows = [row for row, source in enumerate(sources) if source in (HUMAN, chosen)]
    left = len(sources) - len(rows)
    notes.append(f"{many(left, 'row')} of {quoted(others)} left out, as the model is {quoted([chosen])}")
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
        raise InputError(f"{where} has {len(models)} models: {quoted(models)}; wanted one (use --model NAME)")
    return models[0]
