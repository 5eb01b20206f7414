"""Items of a new study, from files of human and model texts, or from one file with both."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from textassay.corpus.item_files import check_unique, id_of
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.ratings.columns import is_blank, log_prob_of
from textassay.corpus.rows import no_field, pick_field
from textassay.corpus.sample import stream
from textassay.corpus.values import is_words
from textassay.errors import InputError
from textassay.survey.create.records import Record, Records, read_records, text_field
from textassay.survey.create.remarks import remarks_on
from textassay.survey.model import SurveyItem

CONTEXT = "context"
LOG_PROB = "log_prob"
_PEEK = 100


@dataclass(frozen=True)
class Columns:
    """Names of columns; None for the default ones, if a file has them."""

    text: str | None = None
    context: str | None = None
    log_prob: str | None = None


@dataclass(frozen=True, slots=True)
class TextRow:
    """One row of a file: its place for messages, its number, its text, its context and its log-probability."""

    place: str
    number: int
    text: str
    context: str | None
    log_prob: float | None


@dataclass(frozen=True, slots=True)
class TextFile:
    """The texts of a file, including blank ones."""

    where: str
    rows: list[TextRow]


def read_text_file(path: str, columns: Columns, *, encoding: str, use_context: bool) -> TextFile:
    """Texts with their contexts and log-probabilities, if the file has such columns."""
    records = read_records(path, encoding=encoding, as_lines=not any((columns.text, columns.context, columns.log_prob)))
    context = _optional_column(records, columns.context, CONTEXT, "--context-field") if use_context else None
    log_prob = _optional_column(records, columns.log_prob, LOG_PROB, "--log-prob-field")
    text = _text_column(records, columns.text, beside=(context, log_prob))
    rows = [
        TextRow(
            record.place,
            record.number,
            text_field(record, text),
            text_field(record, context) if context is not None else None,
            log_prob_in(record, log_prob) if log_prob is not None else None,
        )
        for record in records.rows
    ]
    return TextFile(records.where, rows)


def log_prob_in(record: Record, name: str) -> float | None:
    """A log-probability: at most 0, -inf for a text that the model cannot write; None if the cell is empty."""
    cell = record.fields.get(name)
    return None if is_blank(cell) else log_prob_of(cell, record.place, name)


def _optional_column(records: Records, name: str | None, usual: str, option: str) -> str | None:
    if name is None:
        return usual if usual in records.fields else None
    if name not in records.fields:
        raise no_field(records.fields, records.where, field=name, hint=f" (use {option})")
    return name


def _text_column(records: Records, name: str | None, *, beside: tuple[str | None, ...]) -> str:
    def textual() -> list[str]:
        first = records.rows[:_PEEK]
        free = [field for field in records.fields if field not in (*beside, CONTEXT, LOG_PROB)]
        return [field for field in free if any(is_words(record.fields.get(field)) for record in first)]

    return pick_field(records.fields, records.where, field=name, textual=textual)


HUMAN = "human"


@dataclass(frozen=True)
class StudyItems:
    """The items of a new study, and notes about them."""

    items: tuple[SurveyItem, ...]
    notes: tuple[str, ...]

    @property
    def with_context(self) -> bool:
        """True if raters see a context with the text."""
        return any(item.context is not None for item in self.items)


def study_items(
    *,
    human: str | None,
    model: str | None,
    items: str | None,
    model_name: str = "model",
    columns: Columns | None = None,
    contexts: str | None = None,
    size: int | None = None,
    seed: int = 0,
    encoding: str = "utf-8",
) -> StudyItems:
    """The items of a new study, from two files (`human` and `model`) or from one file (`items`)."""
    if items is None:
        if human is None or model is None:
            missing = "human or model" if human is model else "human" if human is None else "model"
            raise InputError(f"no file with {missing} texts; wanted --human and --model, or --items")
        return items_from_two_files(
            human, model, model_name=model_name, columns=columns, contexts=contexts, size=size, seed=seed,
            encoding=encoding,
        )  # fmt: skip
    if human is not None or model is not None or contexts is not None or columns not in (None, Columns()):
        raise InputError("--items together with other files or columns; wanted all texts in that one file")
    return items_from_one_file(items, size=size, seed=seed, encoding=encoding)


def items_from_two_files(
    human: str,
    model: str,
    *,
    model_name: str = "model",
    columns: Columns | None = None,
    contexts: str | None = None,
    size: int | None = None,
    seed: int = 0,
    encoding: str = "utf-8",
) -> StudyItems:
    """Items from a file of human texts and a file of model texts.

    The id of an item is its source and row, such as `human-001`, so that other data about the rows can be joined later.
    """
    _check_name(model_name)
    columns = columns or Columns()
    if contexts is not None and columns.context is not None:
        raise InputError("both --contexts and --context-field; wanted one of them")
    sides = {
        HUMAN: read_text_file(human, columns, encoding=encoding, use_context=contexts is None),
        model_name: read_text_file(model, columns, encoding=encoding, use_context=contexts is None),
    }
    if contexts is not None:
        sides = _with_contexts(sides, contexts, encoding)
    _check_both_have_contexts(sides)
    notes: Counter[str] = Counter()
    width = max(3, len(str(max(len(given.rows) for given in sides.values()))))
    items = [
        SurveyItem(f"{source}-{row.number:0{width}}", source, row.text, row.context, row.log_prob)
        for source, given in sides.items()
        for row in _without_blank(given, notes)
    ]
    kept = _draw_items(items, size, seed, f"{sides[HUMAN].where} and {sides[model_name].where}")
    return StudyItems(tuple(kept), (*notes, *remarks_on(kept, HUMAN)))


def items_from_one_file(path: str, *, size: int | None = None, seed: int = 0, encoding: str = "utf-8") -> StudyItems:
    """Items from one file with the columns `source` and `text`, and optionally `item`, `context` and `log_prob`."""
    records = read_records(path, encoding=encoding)
    records.need("source", "text")
    full = [record for record in records.rows if text_field(record, "text").strip()]
    blank = len(records.rows) - len(full)
    notes = [f"{records.where}: {many(blank, 'blank text')} left out"] if blank else []
    if not full:
        raise InputError(f"{records.where}: {many(blank, 'row')}, all texts blank; wanted one text per row")
    width = max(3, len(str(len(records.rows))))
    items = [_item(record, width) for record in full]
    check_unique([item.id for item in items], [record.place for record in full])
    _check_sources(items, records.where)
    kept = _draw_items(items, size, seed, records.where)
    return StudyItems(tuple(kept), (*notes, *remarks_on(kept, HUMAN)))


def _item(record: Record, width: int) -> SurveyItem:
    source = text_field(record, "source").strip()
    if not source:
        raise InputError(f"{record.place}: no source; wanted '{HUMAN}' or the name of a model")
    context = text_field(record, "context") if "context" in record.fields else ""
    id_ = id_of(record.fields, record.place, names=("item",)) or f"{source}-{record.number:0{width}}"
    log_prob = log_prob_in(record, "log_prob") if "log_prob" in record.fields else None
    return SurveyItem(id_, source, text_field(record, "text"), context if context.strip() else None, log_prob)


def _check_name(name: str) -> None:
    if not name.strip() or name == HUMAN:
        raise InputError(f"--model-name '{shortened(name, 60)}'; wanted a name other than '{HUMAN}'")


def _check_sources(items: Sequence[SurveyItem], where: str) -> None:
    sources = list(dict.fromkeys(item.source for item in items))
    if len(sources) < 2 or HUMAN not in sources:
        these = "source is" if len(sources) == 1 else "sources are"
        raise InputError(f"{where}: the {these} {quoted(sources)}; wanted '{HUMAN}' and a model")
    bare = sum(item.context is None for item in items)
    if 0 < bare < len(items):
        have = "has" if bare == 1 else "have"
        seen = f"{bare:,} of {len(items):,} texts {have} no context"
        raise InputError(f"{where}: {seen}; wanted contexts for all texts or for none")


def _with_contexts(sides: dict[str, TextFile], path: str, encoding: str) -> dict[str, TextFile]:
    records = read_records(path, encoding=encoding, as_lines=True)
    name = "context" if "context" in records.fields else "text"
    records.need(name)
    found = [text_field(record, name) for record in records.rows]
    for given in sides.values():
        if len(given.rows) != len(found):
            rows = many(len(given.rows), "row")
            raise InputError(
                f"{records.where}: {many(len(found), 'context')}, but {given.where} has {rows}; wanted equal numbers"
            )
    for given in sides.values():
        for row, context, record in zip(given.rows, found, records.rows, strict=True):
            if row.text.strip() and not context.strip():
                raise InputError(f"{record.place}: the context is blank; wanted a context for the text at {row.place}")
    return {
        source: replace(
            given, rows=[replace(row, context=context) for row, context in zip(given.rows, found, strict=True)]
        )
        for source, given in sides.items()
    }


def _check_both_have_contexts(sides: dict[str, TextFile]) -> None:
    has = {given.where: any(row.context is not None for row in given.rows) for given in sides.values()}
    if len(set(has.values())) == 2:
        (bare,) = (where for where, one in has.items() if not one)
        (full,) = (where for where, one in has.items() if one)
        raise InputError(f"{bare}: no contexts, but {full} has contexts; wanted contexts in both or in neither")
    for given in sides.values():
        for row in given.rows:
            if row.context is not None and row.text.strip() and not row.context.strip():
                raise InputError(f"{row.place}: the context is blank; wanted a context for each text")


def _without_blank(given: TextFile, notes: Counter[str]) -> list[TextRow]:
    full = [row for row in given.rows if row.text.strip()]
    blank = len(given.rows) - len(full)
    if not full:
        raise InputError(f"{given.where}: {many(blank, 'row')}, all blank; wanted one text per row")
    if blank:
        notes[f"{given.where}: {many(blank, 'blank text')} left out"] += 1
    return full


def _draw_items(items: Sequence[SurveyItem], size: int | None, seed: int, where: str) -> list[SurveyItem]:
    """Draw `size` items per source, in their order; with the same contexts if the sources share contexts."""
    if size is None:
        return list(items)
    by_source: dict[str, list[SurveyItem]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item)
    shared = _grouped_by_context(*by_source.values())
    pools = [shared] if shared else [[(item,) for item in found] for found in by_source.values()]
    chosen: set[str] = set()
    for pool in pools:
        source = pool[0][0].source
        if len(pool) < size:
            what = f"{many(len(pool), 'context')} with texts of all sources"
            if not shared:
                what = f"{many(len(pool), 'text')} of {quoted([source])}"
            raise InputError(f"{where}: {what}; wanted {size:,} (--size)")
        order = stream(seed, "survey", "contexts" if shared else source).permutation(len(pool))[:size]
        chosen |= {item.id for index in order.tolist() for item in pool[index]}
    return [item for item in items if item.id in chosen]


def _grouped_by_context(first: Sequence[SurveyItem], *others: Sequence[SurveyItem]) -> list[tuple[SurveyItem, ...]]:
    """Groups of one text per source with the same context, in the order of the first source."""
    waiting = [_by_context(items) for items in others]
    groups = []
    for item in first:
        if item.context is not None and all(items.get(item.context) for items in waiting):
            groups.append((item, *(items[item.context].pop(0) for items in waiting)))
    return groups


def _by_context(items: Sequence[SurveyItem]) -> dict[str, list[SurveyItem]]:
    found: dict[str, list[SurveyItem]] = {}
    for item in items:
        if item.context is not None:
            found.setdefault(item.context, []).append(item)
    return found
