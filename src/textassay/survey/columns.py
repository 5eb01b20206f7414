"""Which columns of a file hold the texts, their contexts and their log-probabilities."""

from dataclasses import dataclass

from textassay.corpus.fields import no_field, pick_field
from textassay.corpus.rating_cells import log_prob_of
from textassay.corpus.rating_columns import is_blank
from textassay.survey.records import Record, Records, read_records, text_field

CONTEXT = "context"
LOG_PROB = "log_prob"
_PEEK = 100


@dataclass(frozen=True)
class Columns:
    """Names of columns; None for the usual ones, where a file has them."""

    text: str | None = None
    context: str | None = None
    log_prob: str | None = None


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text of a file, the number of its row and what stands beside it."""

    place: str
    number: int
    text: str
    context: str | None
    log_prob: float | None


@dataclass(frozen=True, slots=True)
class Given:
    """The texts of a file, blank ones too."""

    where: str
    rows: list[GivenText]


def read_given(path: str, columns: Columns, *, encoding: str, use_context: bool) -> Given:
    """Texts with their contexts and log-probabilities, where the file has such columns."""
    records = read_records(path, encoding=encoding, as_lines=not any((columns.text, columns.context, columns.log_prob)))
    context = _beside(records, columns.context, CONTEXT, "--context-field") if use_context else None
    log_prob = _beside(records, columns.log_prob, LOG_PROB, "--log-prob-field")
    text = _text_column(records, columns.text, beside=(context, log_prob))
    rows = [
        GivenText(
            record.place,
            record.number,
            text_field(record, text),
            text_field(record, context) if context is not None else None,
            log_prob_in(record, log_prob) if log_prob is not None else None,
        )
        for record in records.rows
    ]
    return Given(records.where, rows)


def log_prob_in(record: Record, name: str) -> float | None:
    """A log-probability: at most 0, -inf for what the model never writes; None where the cell is empty."""
    cell = record.fields.get(name)
    return None if is_blank(cell) else log_prob_of(cell, record.place, name)


def _beside(records: Records, name: str | None, usual: str, option: str) -> str | None:
    if name is None:
        return usual if usual in records.fields else None
    if name not in records.fields:
        raise no_field(records.fields, records.where, field=name, hint=f" (use {option})")
    return name


def _text_column(records: Records, name: str | None, *, beside: tuple[str | None, ...]) -> str:
    def textual() -> list[str]:
        first = records.rows[:_PEEK]
        free = [field for field in records.fields if field not in (*beside, CONTEXT, LOG_PROB)]
        return [field for field in free if any(_is_words(record.fields.get(field)) for record in first)]

    return pick_field(records.fields, records.where, field=name, textual=textual)


def _is_words(value: object) -> bool:
    """Whether a cell shows that its column holds text: it is neither blank nor a number."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return bool(value.strip())
    return False
