"""The ratings of a study as CSV, one row per rating, in the columns that `textassay huse` reads."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from textassay.corpus.printable import begins_like_formula
from textassay.survey.model import RaterProgress, Rating, Study, Summary
from textassay.survey.store.progress import Snapshot

FIELDS = (
    "item", "context", "text", "source", "log_prob", "rater", "rating", "rating_label", "seconds", "answered",
    "checks_right", "checks_answered", "speeder",
)  # fmt: skip
CHECK_FIELDS = ("item", "context", "text", "rater", "rating", "rating_label", "expected", "passed", "seconds")
PARTICIPANT_FIELDS = (
    "rater", "service", "person", "study", "session", "answers", "complete", "failed_check", "speeder", "excluded",
)  # fmt: skip
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


@dataclass(frozen=True)
class Suspects:
    """The names of raters who gave a wrong answer to an attention check, and of raters who were much too fast."""

    failed: frozenset[str]
    speeders: frozenset[str]

    def left_out(self, *, without_failed: bool, without_speeders: bool) -> frozenset[str]:
        """Those whose ratings are left out of an export."""
        nobody: frozenset[str] = frozenset()
        return (self.failed if without_failed else nobody) | (self.speeders if without_speeders else nobody)


# A rater with at least this many timed ratings whose median time is below this share of the median over all such raters
# is a speeder. With fewer raters than this there is no usual time.
_LEAST_TIMED = 5
_TOO_FAST = 1 / 3
_LEAST_RATERS = 3


def suspects_among(raters: Iterable[RaterProgress]) -> Suspects:
    """The raters to look at; excluded raters are not among them, and do not count for the usual time."""
    kept = [rater for rater in raters if not rater.excluded]
    times = {
        rater.name: rater.median_seconds
        for rater in kept
        if rater.median_seconds is not None and rater.n_timed >= _LEAST_TIMED
    }
    usual = median(times.values()) if len(times) >= _LEAST_RATERS else 0.0
    return Suspects(
        failed=frozenset(rater.name for rater in kept if rater.checks_right < rater.checks_done),
        speeders=frozenset(name for name, seconds in times.items() if seconds < _TOO_FAST * usual),
    )


def ratings_csv(
    store: RatedStudy, *, spreadsheet_safe: bool = False, left_out: Collection[str] = frozenset()
) -> Iterator[str]:
    """All ratings in pieces of CSV text, beginning with the header; texts are exactly those that were rated.

    A spreadsheet may run a text that begins like a formula. `spreadsheet_safe` puts an apostrophe before such cells,
    which changes these texts. `left_out` are the names of raters whose ratings are not written.
    """
    labels = {choice.value: choice.label for choice in store.study.choices}
    summary = store.summary()
    raters = {rater.name: rater for rater in summary.raters}
    speeders = suspects_among(summary.raters).speeders
    rows = (
        [*_row(rating, labels, raters.get(rating.rater)), _yes(rating.rater in speeders)]
        for rating in store.ratings()
        if rating.rater not in left_out
    )
    return _pieces(FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def checks_csv(store: RatedStudy, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """The answers to attention checks in pieces of CSV text, one row per answer."""
    labels = {choice.value: choice.label for choice in store.study.choices}
    answers = (rating for rating in store.ratings(checks=True) if rating.item.expected is not None)
    rows = (_check_row(rating, labels) for rating in answers)
    return _pieces(CHECK_FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def participants_csv(found: Snapshot, *, spreadsheet_safe: bool = False) -> Iterator[str]:
    """The raters whose links had ids of another service, in pieces of CSV text: their ids and what they have done.

    `complete` is whether the rater has seen the completion code. Ratings are not in this file, and ids are not in that
    of the ratings, which may be published.
    """
    summary = found.summary()
    suspects, progress = suspects_among(summary.raters), {rater.name: rater for rater in summary.raters}
    rows = (
        [
            name,
            *(who.service, who.person, who.study, who.session),
            str(progress[name].done),
            *map(_yes, (complete, name in suspects.failed, name in suspects.speeders, progress[name].excluded)),
        ]
        for name, who, complete in found.participants()
    )
    return _pieces(PARTICIPANT_FIELDS, rows, spreadsheet_safe=spreadsheet_safe)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


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
    return [
        item.id,
        item.context or "",
        item.text,
        rating.rater,
        str(rating.value),
        labels.get(rating.value, ""),
        str(item.expected),
        _yes(rating.value == item.expected),
        _seconds(rating.seconds),
    ]


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.1f}"


def _pieces(header: Sequence[str], rows: Iterable[Sequence[str]], *, spreadsheet_safe: bool) -> Iterator[str]:
    held, size = [csv_line(header)], 0
    for row in rows:
        line = csv_line([*map(_without_formula, row)] if spreadsheet_safe else row)
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
