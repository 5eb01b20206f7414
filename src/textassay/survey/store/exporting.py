"""A study's ratings as CSV, one row a rating, in the columns that `textassay huse` reads."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from textassay.survey.model import RaterProgress, Rating
from textassay.survey.store.study_store import Store

FIELDS = (
    "item", "context", "text", "source", "log_prob", "rater", "rating", "rating_label", "seconds", "answered",
    "checks_right", "checks_answered",
)  # fmt: skip
CHECK_FIELDS = ("item", "context", "text", "rater", "rating", "rating_label", "expected", "passed", "seconds")
# What a spreadsheet may take for a formula when a cell begins with it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_PIECE = 1 << 16


def ratings_csv(store: Store, *, spreadsheet_safe: bool = False, without_failed: bool = False) -> Iterator[str]:
    """All ratings in pieces of CSV text, the header first; every text reads back exactly as it was rated.

    A text may begin like a formula, and a spreadsheet would run it. `spreadsheet_safe` puts an apostrophe before such
    cells; they are then no longer the texts that were rated. `without_failed` leaves out raters who gave a wrong answer
    to an attention check.
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


def checks_csv(store: Store, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """The answers to attention checks, one row an answer, in pieces of CSV text."""
    labels = {choice.value: choice.label for choice in store.study.choices}
    answers = (rating for rating in store.ratings(checks=True) if rating.item.expected is not None)
    rows = (_check_row(rating, labels) for rating in answers)
    return _pieces(CHECK_FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def _row(rating: Rating, labels: dict[int, str], rater: RaterProgress | None) -> list[str]:
    # Two columns: to a spreadsheet 1/2 is a day in January. A rater who came after the count has none yet.
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
        line = csv_line([_tame(cell) for cell in row] if spreadsheet_safe else row)
        held.append(line)
        size += len(line)
        if size > _PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def csv_line(cells: Sequence[str]) -> str:
    r"""One line of CSV that reads back as it was.

    >>> csv_line(["plain", "a, b", "two\rlines"])
    'plain,"a, b","two\rlines"\n'
    """
    line = io.StringIO()
    # Some releases of Python quote a lone \r only where it is part of the line's end, and a bare one cannot be read.
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return f"{line.getvalue()[:-2]}\n"


def _tame(cell: str) -> str:
    """The cell as text to a spreadsheet too; a number that is less than 0 is no formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
