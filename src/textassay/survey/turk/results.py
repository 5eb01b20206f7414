"""The results file of Mechanical Turk, checked completely before any rating is used."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.values import decode_json
from textassay.errors import InputError
from textassay.survey.create.records import Record, Records, read_records
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.importing import Imported, answer_order

WORKER = "WorkerId"
STATUS = "AssignmentStatus"
TIME = "WorkTimeInSeconds"
SUBMITTED = "SubmitTime"
REJECT = "Reject"
# Mechanical Turk has these columns in the header but not in the rows, for the requester to fill in.
_FOR_REQUESTER = ("Approve", REJECT)
# Such as `Tue Nov 17 13:05:44 PST 2026`. The name of the day is ignored.
_SUBMITTED = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([0-9]{1,2}) ([0-9:]{8}) ([A-Z]{3}) ([0-9]{4})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ZONES = {"PST": "-08:00", "PDT": "-07:00", "UTC": "+00:00", "GMT": "+00:00"}
_ITEM = re.compile(r"Input\.item_([0-9]{1,4})")
_TRUE, _FALSE = ("true", "on", "yes", "1"), ("", "false", "off", "no", "0")
_REJECTED = "rejected"
# About three years: a longer working time is an error.
_LONGEST = 1e8


@dataclass(frozen=True)
class Answer:
    """One worker's rating of one item; `seconds` and `submitted` are None if the file has no time."""

    item: SurveyItem
    value: int
    seconds: float | None
    submitted: float | None = None

    @property
    def imported(self) -> Imported:
        """The answer in the form in which a study stores it."""
        return Imported(self.item.id, self.value, self.seconds, self.submitted)


@dataclass(frozen=True)
class Results:
    """The answers of each worker in the order of the file, and counts of what was left out.

    `assignments` have at least one answer, and `untimed` of them no time; `blank` assignments have no answer. `failed`
    are the workers who gave a wrong answer to an attention check. `repeated` counts answers to items that the worker
    had already rated; the one that was submitted first is used. `repeated_checks` counts the same for attention checks;
    a wrong answer is used even if it was submitted later.
    """

    answers: Mapping[str, Sequence[Answer]]
    assignments: int
    rejected: int
    blank: int
    untimed: int
    unanswered: int
    repeated: int
    repeated_checks: int
    failed: tuple[str, ...]


def read_results(
    path: str, study: Study, items: Sequence[SurveyItem], codes: Mapping[str, str], *, encoding: str = "utf-8"
) -> Results:
    """The answers of a results file; anything that does not fit the study is an error.

    `codes` are the codes of the item ids in the batches of the study.
    """
    records = read_records(path, encoding=encoding, optional_end=_FOR_REQUESTER, wanted="one assignment per row")
    records.need(WORKER, STATUS, TIME)
    slots = _slots(records)
    by_code = {codes[item.id]: item for item in items}
    values = [choice.value for choice in study.choices]
    given: dict[str, dict[str, Answer]] = {}
    count: Counter[str] = Counter()
    for record in records.rows:
        if _is_rejected(record):
            count["rejected"] += 1
            continue
        worker = _worker(record)
        found, missing = _answers(record, slots, by_code, values)
        if not found:
            count["blank"] += 1
            continue
        count["unanswered"] += missing
        count["untimed"] += found[0].seconds is None
        for answer in found:
            _keep(given.setdefault(worker, {}), answer, worker, count)
    if count["blank"] and not given:
        seen = many(count["blank"], "assignment")
        raise InputError(f"{records.where}: no answers in {seen}; wanted the columns Answer.rating_1 and so on")
    answers = {worker: tuple(kept.values()) for worker, kept in given.items()}
    return Results(
        answers=answers,
        assignments=len(records.rows) - count["rejected"] - count["blank"],
        rejected=count["rejected"],
        blank=count["blank"],
        untimed=count["untimed"],
        unanswered=count["unanswered"],
        repeated=count["repeated"],
        repeated_checks=count["repeated checks"],
        failed=tuple(worker for worker, kept in answers.items() if any(map(_is_wrong, kept))),
    )


def _keep(kept: dict[str, Answer], answer: Answer, worker: str, count: Counter[str]) -> None:
    """Add an answer to those of its worker; of two answers to an item, the study would keep the same one."""
    earlier = kept.setdefault(answer.item.id, answer)
    if earlier is answer:
        return
    count["repeated" if answer.item.expected is None else "repeated checks"] += 1
    kept[answer.item.id] = min(
        earlier, answer, key=lambda one: answer_order(one.imported, rater=worker, expected=one.item.expected)
    )


def _is_wrong(answer: Answer) -> bool:
    return answer.item.expected is not None and answer.value != answer.item.expected


def _slots(records: Records) -> list[int]:
    slots = sorted(int(found[1]) for name in records.fields if (found := _ITEM.fullmatch(name)))
    if not slots:
        seen = quoted(records.fields)
        raise InputError(f"{records.where}: no column 'Input.item_1'; columns are {seen}")
    return slots


def _is_rejected(record: Record) -> bool:
    status = str(record.fields.get(STATUS) or "").strip().casefold()
    if status not in ("", "submitted", "approved", _REJECTED):
        seen = shortened(str(record.fields[STATUS]), 60)
        raise InputError(f"{record.place}: {STATUS} is '{seen}'; wanted Submitted, Approved or Rejected")
    # A text in the column Reject rejects the assignment when the file is uploaded.
    return status == _REJECTED or bool(str(record.fields.get(REJECT) or "").strip())


def _worker(record: Record) -> str:
    worker = str(record.fields.get(WORKER) or "").strip()
    if not worker:
        raise InputError(f"{record.place}: {WORKER} is empty; wanted the worker of the assignment")
    return worker


def _answers(
    record: Record, slots: list[int], by_code: Mapping[str, SurveyItem], values: Sequence[int]
) -> tuple[list[Answer], int]:
    """The answers of one assignment (none if it was submitted blank), and the number of missing answers."""
    chosen = _chosen(record)
    found: list[tuple[SurveyItem, int]] = []
    missing = 0
    for slot in slots:
        code = str(record.fields.get(f"Input.item_{slot}") or "").strip()
        if not code:
            continue
        if code not in by_code:
            raise InputError(f"{record.place}: Input.item_{slot} is '{shortened(code, 60)}', not an item of this study")
        value = _value(chosen.get(f"rating_{slot}", ()), f"{record.place}: Answer.rating_{slot}", values)
        if value is None:
            missing += 1
        else:
            found.append((by_code[code], value))
    if not found and not missing:
        raise InputError(f"{record.place}: Input.item_1 and so on are empty; wanted at least one item")
    if not found:
        return [], missing
    seconds = _seconds(record, len(found))
    submitted = _submitted(str(record.fields.get(SUBMITTED) or ""))
    return [Answer(item, value, seconds, submitted) for item, value in found], missing


def _chosen(record: Record) -> dict[str, tuple[str, ...]]:
    """The chosen options by question, from `Answer.rating_1`, `Answer.rating_1.6`, or one column of JSON."""
    chosen: dict[str, list[str]] = {}
    for name, cell in record.fields.items():
        text = str(cell or "").strip()
        if name == "Answer.taskAnswers" and text:
            for question, value in _task_answers(text, f"{record.place}: {name}"):
                chosen.setdefault(question, []).append(value)
        elif name.startswith("Answer.rating_") and text:
            question, _, option = name.removeprefix("Answer.").removesuffix(".on").partition(".")
            if not option:
                chosen.setdefault(question, []).append(text)
            elif _is_true(text, f"{record.place}: {name}"):
                chosen.setdefault(question, []).append(option)
    return {question: tuple(dict.fromkeys(options)) for question, options in chosen.items()}


def _task_answers(text: str, where: str) -> list[tuple[str, str]]:
    """Pairs of a question and its chosen option, from JSON such as `[{"rating_1": {"6": true}}]`."""
    document = decode_json(text, where)
    parts = document if isinstance(document, list) else [document]
    if not all(isinstance(part, dict) for part in parts):
        raise InputError(f"{where}: '{shortened(text, 60)}'; wanted a list with an object of answers")
    pairs = []
    for part in parts:
        for question, value in part.items():
            if isinstance(value, dict):
                options = [option for option, on in value.items() if on is True or on == {"on": True}]
                pairs += [(question, option) for option in options]
            else:
                pairs.append((question, value if isinstance(value, str) else json.dumps(value)))
    return pairs


def _is_true(text: str, where: str) -> bool:
    plain = text.casefold()
    if plain not in (*_TRUE, *_FALSE):
        raise InputError(f"{where} is '{shortened(text, 60)}'; wanted true or false")
    return plain in _TRUE


def _value(options: Sequence[str], where: str, values: Sequence[int]) -> int | None:
    if not options:
        return None
    if len(options) > 1:
        raise InputError(f"{where}: {len(options)} answers ({quoted(list(options))}); wanted one")
    for value in values:
        if options[0] in (str(value), f"{value}.0"):
            return value
    scale = quoted([str(value) for value in values])
    raise InputError(f"{where} is '{shortened(options[0], 60)}'; wanted one of {scale}")


def _seconds(record: Record, answers: int) -> float | None:
    """The time of the assignment divided by its number of answers; None if the cell is blank."""
    given = record.fields.get(TIME)
    text = "" if given is None else str(given).strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < _LONGEST:
        raise InputError(f"{record.place}: {TIME} is '{shortened(text, 60)}'; wanted a number of seconds")
    return seconds / answers


def _submitted(text: str) -> float | None:
    """When an assignment was submitted, in seconds; None if the cell is blank or has another format.

    >>> _submitted("Tue Nov 17 13:05:44 PST 2026") == _submitted("2026-11-17T21:05:44Z")
    True
    """
    text = text.strip()
    if found := _SUBMITTED.fullmatch(text):
        month, day, clock, zone, year = found.groups()
        number = _MONTHS.index(month) + 1 if month in _MONTHS else 0
        text = f"{year}-{number:02d}-{int(day):02d}T{clock}{_ZONES.get(zone, '')}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # Without a time zone the time is unknown to within a day.
    return None if moment.tzinfo is None else moment.timestamp()
