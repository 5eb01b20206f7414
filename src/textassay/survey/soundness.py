"""What no study may be: refused before its file is made."""

import math
from collections.abc import Sequence

from textassay.corpus.counting import many
from textassay.corpus.errors import InputError
from textassay.corpus.printable import shortened
from textassay.survey.study import Study, SurveyItem

_LARGEST = 2**31 - 1


def check_study(study: Study) -> None:
    """Settings that make sense, and texts that can be stored and shown."""
    # Brings Arrow along, which a server that only opens a study can do without.
    from textassay.corpus.strings import check_text

    for name in ("title", "introduction", "context_intro", "question", "note", "thanks"):
        check_text(getattr(study, name), f"the study's {name}")
    for choice in study.choices:
        check_text(choice.label + choice.help, f"choice {choice.value}")
        if abs(choice.value) > _LARGEST:
            raise InputError(f"choice {choice.value}: wanted a value from -{_LARGEST} to {_LARGEST}")
    values = [choice.value for choice in study.choices]
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError(f"the choices have the values {shortened(str(values))}; wanted two or more, all different")
    _check_number("ratings wanted an item", study.ratings_wanted, least=1)
    _check_number("items a rater", study.items_per_rater, least=1)
    _check_number("attention checks a rater", study.checks_per_rater, least=0)
    if study.days is not None:
        _check_number("days that links work", study.days, least=0)


def check_items(study: Study, items: Sequence[SurveyItem]) -> None:
    """Something to rate, each item with an id of its own, and answers of checks that can be given."""
    from textassay.corpus.strings import check_text

    if all(item.expected is not None for item in items):
        raise InputError(f"{many(len(items), 'item')}, none of them to rate; wanted at least one")
    values = {choice.value for choice in study.choices}
    seen: set[str] = set()
    for place, item in enumerate(items, 1):
        where = f"item {place} ('{shortened(item.id, 60)}')"
        for text in (item.id, item.source, item.text, item.context or ""):
            check_text(text, where)
        if item.id in seen:
            raise InputError(f"{where}: another item has this id; wanted one of its own")
        seen.add(item.id)
        if item.log_prob is not None and math.isnan(item.log_prob):
            raise InputError(f"{where}: its log-probability is nan; wanted a number or none")
        if item.expected is not None and item.expected not in values:
            raise InputError(f"{where}: expects the answer {item.expected}, which is not on the scale")


def _check_number(what: str, number: int, *, least: int) -> None:
    if not least <= number <= _LARGEST:
        raise InputError(f"{what}: {number}; wanted a number from {least} to {_LARGEST}")
