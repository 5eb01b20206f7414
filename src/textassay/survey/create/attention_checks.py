"""Attention checks: texts that ask for a given answer, built in or from a file."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from textassay.corpus.printable import quoted, shortened
from textassay.errors import InputError
from textassay.survey.create.records import Record, read_records, text_field
from textassay.survey.messages.tables import Messages, messages_of, shipped
from textassay.survey.model import Choice, Study, SurveyItem

SOURCE = "check"
MAX_BUILT_IN = 6


def checks_for(
    study: Study,
    taken: Collection[str],
    *,
    contexts: Sequence[str] = (),
    path: str | None = None,
    encoding: str = "utf-8",
) -> list[SurveyItem]:
    """The checks of a study, from a file or built in. Too few for the wanted number per rater is an error."""
    found = (
        built_in_checks(study.choices, taken, contexts=contexts, messages=messages_of(study))
        if path is None
        else checks_from_file(path, study.choices, taken, encoding=encoding)
    )
    if study.checks_per_rater > len(found):
        where = "built in" if path is None else f"in {shortened(path)}"
        raise InputError(f"--checks {study.checks_per_rater}; wanted at most {len(found)}, the number {where}")
    return found if study.checks_per_rater else []


def built_in_checks(
    choices: Sequence[Choice],
    taken: Collection[str] = (),
    *,
    contexts: Sequence[str] = (),
    messages: Messages | None = None,
) -> list[SurveyItem]:
    """One check per choice; for more than six choices, six that are spread over the scale.

    If texts have `contexts`, each check has one of them: a check without a context would be recognized at a glance.
    """
    asked = list(choices)
    if len(asked) > MAX_BUILT_IN:
        asked = [asked[round(index * (len(asked) - 1) / (MAX_BUILT_IN - 1))] for index in range(MAX_BUILT_IN)]
    say = messages or shipped("en")
    texts = [say(f"checks.text_{number}", label=choice.label) for number, choice in enumerate(asked, 1)]
    beside = _spread_contexts(contexts, len(texts))
    return [
        SurveyItem(name, SOURCE, text, context, expected=choice.value)
        for name, text, context, choice in zip(_names(taken), texts, beside, asked, strict=False)
    ]


def _spread_contexts(contexts: Sequence[str], n: int) -> list[str | None]:
    """`n` contexts spread over the study, different ones as far as possible; None for each if there are none."""
    distinct = list(dict.fromkeys(contexts))
    return [distinct[(2 * index + 1) * len(distinct) // (2 * n)] if distinct else None for index in range(n)]


def checks_from_file(
    path: str, choices: Sequence[Choice], taken: Collection[str] = (), *, encoding: str = "utf-8"
) -> list[SurveyItem]:
    """Checks from a file with `text`, `expected` (a value or a label of the scale) and optionally `context`."""
    records = read_records(path, encoding=encoding)
    records.need("text", "expected")
    return [_check_from_row(record, choices, name) for record, name in zip(records.rows, _names(taken), strict=False)]


def _check_from_row(record: Record, choices: Sequence[Choice], name: str) -> SurveyItem:
    text = text_field(record, "text")
    if not text.strip():
        raise InputError(f"{record.place}: the text is blank; wanted the text of an attention check")
    context = text_field(record, "context") if "context" in record.fields else ""
    return SurveyItem(name, SOURCE, text, context if context.strip() else None, expected=_expected(record, choices))


def _expected(record: Record, choices: Sequence[Choice]) -> int:
    given = record.fields.get("expected")
    shown = str(given).strip()
    for choice in choices:
        if shown in (str(choice.value), choice.label):
            return choice.value
    values = quoted([str(choice.value) for choice in choices])
    raise InputError(f"{record.place}: 'expected' is '{shortened(shown, 60)}'; wanted one of {values}, or a label")


def _names(taken: Collection[str]) -> Iterator[str]:
    """Ids for checks that no item has."""
    return (name for number in count(1) if (name := f"{SOURCE}-{number}") not in taken)
