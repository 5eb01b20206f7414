"""The ratings of a study as CSV, one row per rating, in the columns that `textassay huse` reads."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from textassay.corpus.printable import begins_like_formula
from textassay.survey.model import RaterProgress, Rating, Study, Summary

FIELDS = (
    "item", "context", "text", "source", "log_prob", "rater", "rating", "rating_label", "seconds", "answered",
    "checks_right", "checks_answered",
)  # fmt: skip
CHECK_FIELDS = ("item", "context", "text", "rater", "rating", "rating_label", "expected", "passed", "seconds")
_PIECE = 1 << 16


class RatedStudy(Protocol):
    """What an export reads. In a `Snapshot`, counts and rows agree also while the page is served."""

    @property
    def study(self) -> Study:
        """The settings."""

    def summary(self) -> Summary:
        """The progress."""

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """The ratings, and the answers to attention checks if `checks` is True."""


def ratings_csv(store: RatedStudy, *, spreadsheet_safe: bool = False, without_failed: bool = False) -> Iterator[str]:
    """All ratings in pieces of CSV text, beginning with the header; texts are exactly those that were rated.

    A spreadsheet may run a text that begins like a formula. `spreadsheet_safe` puts an apostrophe before such cells,
    which changes these texts. `without_failed` leaves out raters who gave a wrong answer to an attention check.
    """
    labels = {choice.value: choice.label for choice in store.study.choices}
    raters = {rater.name: rater for rater in store.summary().raters}
    left_out = {name for name, rater in raters.items() if without_failed and has_failed(rater)}
    rows = (
        _row(rating, labels, raters.get(rating.rater)) for rating in store.ratings() if rating.rater not in left_out
    )
    return _pieces(FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def has_failed(rater: RaterProgress) -> bool:
    """Whether a rater gave a wrong answer to an attention check."""
    return rater.checks_right < rater.checks_done


def checks_csv(store: RatedStudy, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """The answers to attention checks in pieces of CSV text, one row per answer."""
    labels = {choice.value: choice.label for choice in store.study.choices}
    answers = (rating for rating in store.ratings(checks=True) if rating.item.expected is not None)
    rows = (_check_row(rating, labels) for rating in answers)
    return _pieces(CHECK_FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def _row(rating: Rating, labels: dict[int, str], rater: RaterProgress | None) -> list[str]:
    # Two columns, because a spreadsheet reads 1/2 as a date. A rater who joined after the count has no numbers yet.
    checks = ("", "") if rater is None else (str(rater.checks_right), str(rater.checks_done))
    item = rating.item
    return [
        item.id,
        item.context or "",
        item.text,
        item.source,
        "" if item.log_prob is None else repr(item.log_prob),
        rating.rater,
        str(rating.value),
        labels.get(rating.value, ""),
        _seconds(rating.seconds),
        rating.at,
        *checks,
    ]


def _check_row(rating: Rating, labels: dict[int, str]) -> list[str]:
    item = rating.item
    passed = "yes" if rating.value == item.expected else "no"
    return [
        item.id,
        item.context or "",
        item.text,
        rating.rater,
        str(rating.value),
        labels.get(rating.value, ""),
        str(item.expected),
        passed,
        _seconds(rating.seconds),
    ]


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}"


def _pieces(header: Sequence[str], rows: Iterable[Sequence[str]], *, spreadsheet_safe: bool) -> Iterator[str]:
    held, size = [csv_line(header)], 0
    for row in rows:
        line = csv_line(
            [f"'{cell}" if begins_like_formula(cell, numbers=True) else cell for cell in row]
            if spreadsheet_safe
            else row
        )
        held.append(line)
        size += len(line)
        if size > _PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def csv_line(cells: Sequence[str]) -> str:
    r"""One line of CSV, from which a reader gets back exactly these cells.

    >>> csv_line(["plain", "a, b", "two\rlines"])
    'plain,"a, b","two\rlines"\n'
    """
    line = io.StringIO()
    # Some releases of Python quote \r only if it is part of the line terminator, and cannot read an unquoted one.
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return f"{line.getvalue()[:-2]}\n"


def _without_formula(cell: str) -> str:
    return f"'{cell}" if begins_like_formula(cell, numbers=True) else cell
