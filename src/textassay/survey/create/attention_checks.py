"""Attention checks: texts that ask for one certain answer, and one's own from a file."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from textassay.corpus.printable import quoted, shortened
from textassay.errors import InputError
from textassay.survey.create.records import Record, read_records, text_field
from textassay.survey.model import Choice, Study, SurveyItem

SOURCE = "check"
MOST = 6

# Each in other words, so that the second one is not answered by its looks.
_REQUESTS = (
    "This is not a text to rate. To show that you are reading, please choose “{label}”.",
    "Please answer this one with “{label}”: it only checks that somebody is reading.",
    "No rating is needed here. Choose “{label}” and go on.",
    "For this question alone, the right answer is “{label}”. Please select it.",
    "Thank you for reading with care. Select “{label}” now, whatever you think of this sentence.",
    "This line asks you for one thing only: pick “{label}”.",
)


def checks_for(
    study: Study,
    taken: Collection[str],
    *,
    contexts: Sequence[str] = (),
    path: str | None = None,
    encoding: str = "utf-8",
) -> list[SurveyItem]:
    """The checks of a study, from a file or built in; an error where a rater is to get more than there are."""
    found = (
        built_in(study.choices, taken, contexts=contexts)
        if path is None
        else checks_of_file(path, study.choices, taken, encoding=encoding)
    )
    if study.checks_per_rater > len(found):
        where = "built in" if path is None else f"in {shortened(path)}"
        raise InputError(f"--checks {study.checks_per_rater}: there are {len(found)} {where}; wanted at most as many")
    return found if study.checks_per_rater else []


def built_in(
    choices: Sequence[Choice], taken: Collection[str] = (), *, contexts: Sequence[str] = ()
) -> list[SurveyItem]:
    """One check for each choice; of more than six choices, six from one end of the scale to the other.

    Where texts have `contexts`, each check has one of them too: without, it would be told by a glance at the page.
    """
    asked = list(choices)
    if len(asked) > MOST:
        asked = [asked[round(place * (len(asked) - 1) / (MOST - 1))] for place in range(MOST)]
    texts = [request.format(label=choice.label) for request, choice in zip(_REQUESTS, asked, strict=False)]
    beside = _spread(contexts, len(texts))
    return [
        SurveyItem(name, SOURCE, text, context, expected=choice.value)
        for name, text, context, choice in zip(_names(taken), texts, beside, asked, strict=False)
    ]


def _spread(contexts: Sequence[str], n: int) -> list[str | None]:
    """So many of the contexts, from all over the study and different ones as far as there are; none of none."""
    distinct = list(dict.fromkeys(contexts))
    return [distinct[(2 * place + 1) * len(distinct) // (2 * n)] if distinct else None for place in range(n)]


def checks_of_file(
    path: str, choices: Sequence[Choice], taken: Collection[str] = (), *, encoding: str = "utf-8"
) -> list[SurveyItem]:
    """One's own checks: `text`, `expected` (a value or a label of the scale) and, if wanted, `context`."""
    records = read_records(path, encoding=encoding)
    records.need("text", "expected")
    return [_own(record, choices, name) for record, name in zip(records.rows, _names(taken), strict=False)]


def _own(record: Record, choices: Sequence[Choice], name: str) -> SurveyItem:
    text = text_field(record, "text")
    if not text.strip():
        raise InputError(f"{record.place}: the text is blank; wanted an attention check")
    context = text_field(record, "context") if "context" in record.fields else ""
    return SurveyItem(name, SOURCE, text, context if context.strip() else None, expected=_expected(record, choices))


def _expected(record: Record, choices: Sequence[Choice]) -> int:
    given = record.fields.get("expected")
    shown = str(given).strip()
    for choice in choices:
        if shown in (str(choice.value), choice.label):
            return choice.value
    values = quoted([str(choice.value) for choice in choices])
    raise InputError(f"{record.place}: expected is '{shortened(shown, 60)}'; wanted one of {values}, or a label")


def _names(taken: Collection[str]) -> Iterator[str]:
    """Ids for as many checks as there may be, none of them an item's."""
    return (name for number in count(1) if (name := f"{SOURCE}-{number}") not in taken)
