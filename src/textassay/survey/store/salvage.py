"""A damaged study: whether its file is sound, and the answers that can still be read."""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from textassay.corpus.printable import many, printable, shortened
from textassay.errors import InputError
from textassay.survey.model import RaterProgress, Rating, Study, Summary, SurveyItem
from textassay.survey.store.connections import connect
from textassay.survey.store.file_identity import check_is_file
from textassay.survey.store.progress import iso_time
from textassay.survey.store.raters import name_of
from textassay.survey.store.schema import read_study, version_of

# A row takes at least this many bytes, which bounds the numbers of rows in a file.
_SMALLEST_ROW = 10


class StudyDamaged(InputError):
    """The file of a study is damaged, so that some answers may be lost."""


def check_sound(path: Path) -> None:
    """Raise StudyDamaged if the file is damaged; the message states which answers can still be read, and how."""
    found = _damage(path)
    if not found:
        return
    where = printable(str(path))
    try:
        n = len(read_damaged(path).answers)
        rest = f"{many(n, 'answer')} can still be read: use textassay survey export --salvage, or a backup"
    except InputError:
        rest = "no answer can be read; use a backup"
    raise StudyDamaged(f"{where}: the file is damaged ({shortened(found, 120)}); {rest}")


def _damage(path: Path) -> str:
    """What is wrong with the file; '' if nothing is."""
    try:
        with closing(connect(path, read_only=True)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            read_study(connection, printable(str(path)))
    except (sqlite3.Error, InputError) as error:
        return str(error)
    return "" if found == "ok" else " ".join(str(found).split())


@dataclass(frozen=True)
class Salvaged:
    """What could be read of a study: its settings and its answers, attention checks included.

    `incomplete` are the tables with unreadable parts. `orphans` counts answers to items that cannot be read; they are
    left out. `bare` counts items whose context cannot be read; their answers are kept, without the context.
    """

    study: Study
    n_items: int
    answers: tuple[Rating, ...]
    incomplete: tuple[str, ...]
    orphans: int
    bare: int

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """The ratings ordered by item and rater; answers to attention checks only if `checks` is True."""
        return (answer for answer in self.answers if checks or answer.item.expected is None)

    def summary(self) -> Summary:
        """The progress of the study, as far as it can be read."""
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        counts: dict[str, int] = defaultdict(int)
        raters: dict[str, list[Rating]] = defaultdict(list)
        for answer in self.answers:
            raters[answer.rater].append(answer)
            counts[answer.item.id] += answer.item.expected is None
        per_item = tuple(count for count in counts.values() if count)
        wanted = self.study.ratings_wanted
        return Summary(
            ratings=sum(per_item),
            wanted=self.n_items * wanted,
            items=self.n_items,
            items_complete=sum(count >= wanted for count in per_item),
            ratings_per_item=per_item + (0,) * (self.n_items - len(per_item)),
            median_seconds=_median([answer.seconds for answer in self.ratings()]),
            raters=tuple(_progress(name, raters[name]) for name in sorted(raters)),
        )


def _progress(name: str, answers: list[Rating]) -> RaterProgress:
    checks = [answer for answer in answers if answer.item.expected is not None]
    return RaterProgress(
        name=name,
        done=len(answers),
        total=len(answers),
        checks_right=sum(answer.value == answer.item.expected for answer in checks),
        checks_done=len(checks),
        median_seconds=_median([answer.seconds for answer in answers if answer.item.expected is None]),
        last_seen=max(answer.at for answer in answers),
        n_timed=sum(answer.seconds is not None and answer.item.expected is None for answer in answers),
    )


def _median(seconds: list[float | None]) -> float | None:
    known = [value for value in seconds if value is not None]
    return median(known) if known else None


def read_damaged(path: Path) -> Salvaged:
    """Read all rows that can be read, also from a file with damaged pages.

    If the settings of the study cannot be read, there is nothing to export, and this is an InputError.
    """
    where = printable(str(path))
    check_is_file(path, where)
    try:
        connection = connect(path, read_only=True)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{where}: nothing can be read ({error}); use a backup") from None
    with closing(connection):
        # Damaged text may not be UTF-8.
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            study, _ = read_study(connection, where)
        except (sqlite3.DatabaseError, TypeError) as error:
            raise InputError(f"{where}: the settings of the study cannot be read ({error}); use a backup") from None
        return _salvaged(connection, study)


def _salvaged(connection: sqlite3.Connection, study: Study) -> Salvaged:
    incomplete: list[str] = []
    contexts = dict(_rows(connection, "contexts", "text", incomplete))
    items: dict[int, SurveyItem] = {}
    bare = 0
    for number, *fields in _rows(connection, "items", "id, source, text, context, log_prob, expected", incomplete):
        if (item := _item(fields, contexts)) is not None:
            items[number] = item
            bare += fields[3] is not None and item.context is None
    excluded = _excluded(connection, incomplete)
    values = {choice.value for choice in study.choices}
    found: list[tuple[int, int, Rating]] = []
    orphans = 0
    for _, rater, number, shown, value, answered in _rows(
        connection, "tasks", "rater, item, shown, value, answered", incomplete
    ):
        if value not in values or not isinstance(rater, int) or not isinstance(answered, float) or rater in excluded:
            continue
        if number not in items:
            orphans += 1
            continue
        seconds = max(answered - shown, 0.0) if isinstance(shown, float) and math.isfinite(shown) else None
        found.append((number, rater, Rating(items[number], name_of(rater), value, seconds, _iso(answered))))
    found.sort(key=lambda row: row[:2])
    n_items = sum(item.expected is None for item in items.values())
    answers = tuple(rating for *_, rating in found)
    return Salvaged(study, n_items, answers, tuple(dict.fromkeys(incomplete)), orphans, bare)


def _item(fields: list[Any], contexts: Mapping[int, str]) -> SurveyItem | None:
    """An item, without its context if that cannot be read; None if the row is damaged."""
    id_, source, text, context, log_prob, expected = fields
    if not all(isinstance(value, str) for value in (id_, source, text)):
        return None
    return SurveyItem(id_, source, text, contexts.get(context), log_prob, expected)


def _excluded(connection: sqlite3.Connection, incomplete: list[str]) -> set[int]:
    """The numbers of the excluded raters; version 1 has none."""
    if version_of(connection) == 1:
        return set()
    return {number for number, since in _rows(connection, "raters", "excluded", incomplete) if since is not None}


def _iso(seconds: float) -> str:
    try:
        return iso_time(seconds)
    except (OverflowError, ValueError, OSError):
        return ""


def _rows(connection: sqlite3.Connection, table: str, columns: str, incomplete: list[str]) -> list[tuple[Any, ...]]:
    """The rows of a table. Where a page is damaged, the numbers of the rows are divided until only it is left out."""
    query = f"SELECT number, {columns} FROM {table} NOT INDEXED"  # noqa: S608 - constants
    try:
        return connection.execute(query).fetchall()
    except sqlite3.DatabaseError:
        incomplete.append(table)
    rows: list[tuple[Any, ...]] = []
    waiting = [(1, _last_number(connection, table))]
    while waiting:
        low, high = waiting.pop()
        try:
            rows += connection.execute(f"{query} WHERE number BETWEEN ? AND ?", (low, high)).fetchall()
        except sqlite3.DatabaseError:
            if low < high:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]
    return rows


def _last_number(connection: sqlite3.Connection, table: str) -> int:
    """The highest number of a row, or a bound if it cannot be read: rows are numbered from 1 without gaps."""
    try:
        return int(connection.execute(f"SELECT max(number) FROM {table} NOT INDEXED").fetchone()[0])  # noqa: S608
    except (sqlite3.DatabaseError, TypeError):
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return int(pages) * int(size) // _SMALLEST_ROW
