"""The progress of a study: ratings, raters, agreement, and points in time."""

import math
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from textassay.survey.model import AddressUse, Door, Participant, RaterProgress, Rating, Study, Summary, SurveyItem
from textassay.survey.store.answers import stage_of
from textassay.survey.store.assignment import Plan
from textassay.survey.store.raters import name_of

DAY = 86_400.0


def now() -> float:
    """The current time in seconds. The store reads the clock of the system only here."""
    return time.time()


def steady() -> float:
    """Seconds that pass evenly, whatever is done to the clock of the system; they have no common start."""
    return time.monotonic()


def iso_time(seconds: float) -> str:
    """A time in UTC in ISO 8601 format.

    >>> iso_time(1_700_000_000.25)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def expiry_time(days: int | None, *, start: float) -> float | None:
    """When a link made at `start` expires; None for never."""
    return None if days is None else start + days * DAY


# NULL if the time is unknown (`schema.UNKNOWN`); never negative, even if the clock was set back.
_SECONDS = "CASE WHEN t.shown < 9e999 THEN max(t.answered - t.shown, 0.0) END"


def numbered_items(connection: sqlite3.Connection) -> Iterator[tuple[int, SurveyItem]]:
    """All items with their numbers, in the order of the study."""
    rows = connection.execute(
        "SELECT i.number, i.id, i.source, i.text, c.text, i.log_prob, i.expected FROM items i"
        " LEFT JOIN contexts c ON c.number = i.context ORDER BY i.number"
    )
    for number, *fields in rows:
        yield number, SurveyItem(*fields)


def all_ratings(connection: sqlite3.Connection, *, checks: bool) -> Iterator[Rating]:
    """Ratings ordered by item and rater, without those of excluded raters; one item is in memory at a time."""
    for number, item in numbered_items(connection):
        if item.expected is not None and not checks:
            continue
        rows = connection.execute(
            f"SELECT t.rater, t.value, {_SECONDS}, t.answered FROM tasks t JOIN raters r ON r.number = t.rater"  # noqa: S608
            " WHERE t.item = ? AND t.value IS NOT NULL AND r.excluded IS NULL ORDER BY t.rater",
            (number,),
        )
        for rater, value, seconds, answered in rows:
            yield Rating(item, name_of(rater), value, seconds, iso_time(answered))


def summary_of(connection: sqlite3.Connection, plan: Plan) -> Summary:
    """The progress of the study."""
    counts = tuple(
        count
        for (count,) in connection.execute(
            "SELECT (SELECT count(t.value) FROM tasks t JOIN raters r ON r.number = t.rater"
            " WHERE t.item = q.item AND r.excluded IS NULL) FROM queue q ORDER BY q.item"
        )
    )
    seconds = _seconds_by_rater(connection)
    progress = tuple(_progress(connection, plan, seconds))
    out = {rater.name for rater in progress if rater.excluded}
    every = [value for number, values in seconds.items() if name_of(number) not in out for value in values]
    return Summary(
        ratings=sum(counts),
        wanted=plan.items * plan.wanted,
        items=plan.items,
        items_complete=sum(count >= plan.wanted for count in counts),
        ratings_per_item=counts,
        median_seconds=median(every) if every else None,
        raters=progress,
    )


def _seconds_by_rater(connection: sqlite3.Connection) -> dict[int, list[float]]:
    """The duration of each rating, if known; attention checks are not ratings."""
    found: dict[int, list[float]] = defaultdict(list)
    rows = connection.execute(
        f"SELECT t.rater, {_SECONDS} FROM tasks t"  # noqa: S608 - a constant
        " WHERE t.value IS NOT NULL AND t.shown < 9e999 AND t.item IN (SELECT item FROM queue)"
    )
    for rater, seconds in rows:
        found[rater].append(seconds)
    return found


def _progress(connection: sqlite3.Connection, plan: Plan, seconds: dict[int, list[float]]) -> Iterator[RaterProgress]:
    rows = connection.execute(
        "SELECT r.number, r.seen, r.excluded IS NOT NULL, count(t.value), coalesce(sum(t.value = i.expected), 0),"
        " count(CASE WHEN t.value IS NOT NULL THEN i.expected END)"
        " FROM raters r LEFT JOIN tasks t ON t.rater = r.number LEFT JOIN items i ON i.number = t.item"
        " GROUP BY r.number ORDER BY r.number"
    )
    for number, seen, excluded, done, right, checks in rows:
        took = seconds.get(number)
        yield RaterProgress(
            name=name_of(number),
            done=done,
            total=plan.total,
            checks_right=right,
            checks_done=checks,
            median_seconds=median(took) if took else None,
            last_seen=None if seen is None else iso_time(seen),
            n_timed=len(took or ()),
            excluded=bool(excluded),
        )


# Hexadecimal digits that stand for an address.
_CODE = 6
_MOST_ADDRESSES = 20


def door_of(connection: sqlite3.Connection, plan: Plan) -> Door:
    """The shared link, and the addresses from which most raters have joined."""
    current = "r.origin = 'joined' AND r.number > (SELECT shared_after FROM study)"
    (closed,) = connection.execute("SELECT shared_closed FROM study").fetchone()
    (joined,) = connection.execute(f"SELECT count(*) FROM raters r WHERE {current}").fetchone()  # noqa: S608
    rows = connection.execute(
        "SELECT hex(a.mark), count(*), sum(coalesce(done.ratings, 0) > 0), coalesce(sum(done.ratings), 0), a.load"  # noqa: S608
        " FROM raters r JOIN addresses a ON a.number = r.address LEFT JOIN (SELECT t.rater, count(t.value) AS ratings"
        " FROM tasks t JOIN queue q ON q.item = t.item GROUP BY t.rater) done ON done.rater = r.number"
        f" WHERE {current} GROUP BY a.number ORDER BY count(*) DESC, a.number LIMIT ?",
        (_MOST_ADDRESSES,),
    )
    addresses = tuple(AddressUse(mark[:_CODE].lower(), *counts) for mark, *counts in rows)
    return Door(bool(closed), joined, plan.most_per_address, addresses)


@dataclass(frozen=True)
class Snapshot:
    """A study at one point in time: everything is read in one transaction, so that counts and rows agree."""

    study: Study
    plan: Plan
    connection: sqlite3.Connection

    def summary(self) -> Summary:
        """The progress of the study."""
        return summary_of(self.connection, self.plan)

    def ratings(self, *, checks: bool = False) -> Iterator[Rating]:
        """All ratings ordered by item and rater; answers to attention checks only if `checks` is True."""
        return all_ratings(self.connection, checks=checks)

    def door(self) -> Door:
        """The shared link, and the addresses that most of its raters came from."""
        return door_of(self.connection, self.plan)

    def participants(self) -> Iterator[tuple[str, Participant, bool]]:
        """Raters with ids of another service: their names, the ids, and whether they have done their part."""
        rows = self.connection.execute(
            "SELECT rater, service, person, study, session FROM participants ORDER BY rater"
        ).fetchall()
        for number, *ids in rows:
            yield name_of(number), Participant(*ids), stage_of(self.connection, self.plan, number).is_complete


def agreement(ratings: Iterable[Rating]) -> float:
    """Krippendorff's alpha of ratings (interval scale); NaN while no item has two ratings."""
    import numpy as np

    from textassay.inference.raters import alpha

    places: dict[str, int] = {}
    pairs = [(places.setdefault(rating.item.id, len(places)), rating.value) for rating in ratings]
    if not pairs:
        return math.nan
    items, values = zip(*pairs, strict=True)
    return alpha(np.array(items, dtype=np.int64), np.array(values, dtype=np.float64))


def duration(seconds: float | None) -> str:
    """A duration in readable units.

    >>> duration(8.24), duration(100.0), duration(7300.0), duration(None)
    ('8.2 s', '1 min 40 s', '2 h 1 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
