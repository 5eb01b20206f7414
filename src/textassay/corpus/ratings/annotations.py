"""Ratings in the exports of annotation tools, Label Studio and Argilla: one row per answer to one question."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from textassay.corpus.formats.opened import shown_counts
from textassay.corpus.formats.record import at, items_at, label
from textassay.corpus.printable import many, quoted
from textassay.corpus.ratings.columns import role_of
from textassay.corpus.tables import Table
from textassay.corpus.values import is_number
from textassay.errors import InputError, Setting

_RESPONSES = ".responses"
# The roles of columns that come from the answers, whatever the fields of the texts are called.
_ANSWERED = ("rater", "rating", "rating_label")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater answered to a question about a text."""

    question: str
    rater: str | None
    value: Any


@dataclass(eq=False)
class _Answers:
    """The answers of one tool's records, and what was left out."""

    tool: str
    rows: list[tuple[int, dict[str, Any], Answer]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, number: int, facts: Mapping[str, Any], identity: Any, answers: Iterator[Answer]) -> None:
        """Add the answers about one text."""
        has_own_id = any(role_of(name) == "item" for name in facts)
        kept = {name: value for name, value in facts.items() if role_of(name) not in _ANSWERED}
        text = kept if has_own_id else {"item": identity, **kept}
        found = [(number, text, answer) for answer in answers]
        self.rows += found
        if not found:
            self.left_out["text without an answer|texts without an answer"] += 1


def flat_tables(tables: list[Table], rating: str | None, notes: Counter[str]) -> tuple[list[Table], str | None]:
    """Tables with one row per rating in place of the exports of annotation tools, and the column of the ratings.

    `rating` is the column, or the question of an export, where several have numbers.
    """
    found = [_flat(table, rating, notes) for table in tables]
    is_export = any(one is not None for one in found)
    flat = [table if one is None else one for table, one in zip(tables, found, strict=True)]
    return flat, None if is_export else rating


def _flat(table: Table, rating: str | None, notes: Counter[str]) -> Table | None:
    first: Mapping[str, Any] = next(iter(table.records or ()), {})
    found = _label_studio(table) if _is_label_studio(first) else _argilla(table) if _is_argilla(first) else None
    if found is None:
        return None
    question = _question(found, rating, table.where)
    rows = [(number, text, answer) for number, text, answer in found.rows if answer.question == question]
    records = [{**text, "rater": answer.rater, "rating": answer.value} for _, text, answer in rows]
    note = f"{found.tool}: {many(len(rows), 'rating')} read from the question {quoted([question])}"
    notes[f"{note}; left out: {shown_counts(found.left_out)}" if found.left_out else note] += 1
    names = dict.fromkeys(name for record in records for name in record)
    return replace(table, numbers=[number for number, _, _ in rows], fields=list(names), columns=(), records=records)


def _question(found: _Answers, rating: str | None, where: str) -> str:
    names = dict.fromkeys(answer.question for _, _, answer in found.rows)
    if not names:
        raise InputError(f"{where}: {found.tool} without answers ({shown_counts(found.left_out)}); wanted ratings")
    if rating is not None:
        if rating not in names:
            raise InputError(Setting("rating", rating), f": no such question; questions are {quoted(list(names))}")
        return rating
    numeric = [name for name in names if all(_is_rating(a.value) for _, _, a in found.rows if a.question == name)]
    if len(numeric) != 1:
        seen = f"{where}: {found.tool} with ratings for the questions {quoted(numeric or list(names))}; wanted one, "
        raise InputError(seen, Setting("rating", "NAME"))
    return numeric[0]


def _is_rating(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lstrip("+-").replace(".", "", 1).isdigit()
    return is_number(value)


def _is_label_studio(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("annotations"), list) and isinstance(record.get("data"), Mapping)


def _label_studio(table: Table) -> _Answers:
    found = _Answers("Label Studio tasks")
    for number, task in zip(table.numbers, table.records or (), strict=True):
        data = {name: value for name, value in (task.get("data") or {}).items() if isinstance(value, str | int | float)}
        found.add(number, data, task.get("id"), _of_annotations(task, found.left_out))
    return found


def _of_annotations(task: Mapping[str, Any], left_out: Counter[str]) -> Iterator[Answer]:
    for annotation in items_at(task, "annotations"):
        if at(annotation, "was_cancelled"):
            left_out["cancelled annotation|cancelled annotations"] += 1
            continue
        by = at(annotation, "completed_by")
        rater = label(at(by, "email")) or label(at(by, "id")) or label(by)
        answered: set[str] = set()
        for result in items_at(annotation, "result"):
            question, value = label(at(result, "from_name")), _value(at(result, "value"))
            if question is None or value is None:
                continue
            if question in answered:
                left_out["further answer of one annotation|further answers of one annotation"] += 1
                continue
            answered.add(question)
            yield Answer(question, rater, value)


def _value(value: Any) -> Any:
    """The answer to a question with a rating, a number or a choice; None for any other question."""
    found = next((at(value, kind) for kind in ("rating", "number", "choices") if at(value, kind) is not None), None)
    return at(found, 0) if isinstance(found, list) else found


def _is_argilla(record: Mapping[str, Any]) -> bool:
    is_flat = any(name.endswith(_RESPONSES) and f"{name}.users" in record for name in record)
    return is_flat or (isinstance(record.get("fields"), Mapping) and isinstance(record.get("responses"), Mapping))


def _argilla(table: Table) -> _Answers:
    found = _Answers("Argilla records")
    for number, record in zip(table.numbers, table.records or (), strict=True):
        nested = isinstance(record.get("fields"), Mapping)
        of_text = {**(record.get("fields") or {}), **(record.get("metadata") or {})} if nested else record
        facts = {name: value for name, value in of_text.items() if isinstance(value, str | int | float)}
        facts = {name: value for name, value in facts.items() if "." not in name and name not in ("id", "status")}
        answers = _nested_responses(record) if nested else _flat_responses(record)
        found.add(number, facts, record.get("id"), _submitted(answers, found.left_out))
    return found


def _nested_responses(record: Mapping[str, Any]) -> Iterator[tuple[Answer, Any]]:
    for question, responses in (record.get("responses") or {}).items():
        for response in responses if isinstance(responses, list) else []:
            yield Answer(question, label(at(response, "user_id")), at(response, "value")), at(response, "status")


def _flat_responses(record: Mapping[str, Any]) -> Iterator[tuple[Answer, Any]]:
    for name in record:
        if name.endswith(_RESPONSES):
            users, statuses = items_at(record, f"{name}.users"), items_at(record, f"{name}.status")
            for index, value in enumerate(items_at(record, name)):
                answer = Answer(name.removesuffix(_RESPONSES), label(at(users, index)), value)
                yield answer, at(statuses, index)


def _submitted(answers: Iterator[tuple[Answer, Any]], left_out: Counter[str]) -> Iterator[Answer]:
    for answer, status in answers:
        if status in ("draft", "discarded", "pending"):
            left_out[f"{status} response|{status} responses"] += 1
        elif answer.value is not None:
            yield answer
