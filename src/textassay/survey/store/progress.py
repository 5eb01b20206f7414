"""Progress of a study: items, ratings and raters, and the time of a study."""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median

from textassay.survey.model import RaterProgress, Rating, Summary, SurveyItem
from textassay.survey.store.assignment import Plan
from textassay.survey.store.raters import name_of

DAY = 86_400.0


def now() -> float:
    """The time now; the one place that asks for it."""
    return time.time()


def stamp(seconds: float) -> str:
    """A time in UTC, as ISO 8601 has it.

    >>> stamp(1_700_000_000.25)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def end_of(days: int | None, *, start: float) -> float | None:
    """When a link made at `start` stops working; None for never."""
    return None if days is None else start + days * DAY


# None where the time is not known (`schema.UNKNOWN`); a clock that was set back must not give negative times.
_SECONDS = "CASE WHEN t.shown < 9e999 THEN max(t.answered - t.shown, 0.0) END"


def numbered_items(connection: sqlite3.Connection) -> Iterator[tuple[int, SurveyItem]]:
    """All items with their numbers, in the order in which they were given."""
    rows = connection.execute(
        "SELECT i.number, i.id, i.source, i.text, c.text, i.log_prob, i.expected FROM items i"
        " LEFT JOIN contexts c ON c.number = i.context ORDER BY i.number"
    )
    for number, *fields in rows:
        yield number, SurveyItem(*fields)


def all_ratings(connection: sqlite3.Connection, *, checks: bool) -> Iterator[Rating]:
    """Ratings by item and rater, one item's at a time in memory."""
    for number, item in numbered_items(connection):
        if item.expected is not None and not checks:
            continue
        rows = connection.execute(
            f"SELECT t.rater, t.value, {_SECONDS}, t.answered FROM tasks t"  # noqa: S608 - a constant
            " WHERE t.item = ? AND t.value IS NOT NULL ORDER BY t.rater",
            (number,),
        )
        for rater, value, seconds, answered in rows:
            yield Rating(item, name_of(rater), value, seconds, stamp(answered))


def summary_of(connection: sqlite3.Connection, plan: Plan) -> Summary:
    """The whole study at a glance."""
    counts = tuple(
        count
        for (count,) in connection.execute(
            "SELECT (SELECT count(t.value) FROM tasks t WHERE t.item = q.item) FROM queue q ORDER BY q.item"
        )
    )
    seconds = _seconds_by_rater(connection)
    every = [value for values in seconds.values() for value in values]
    return Summary(
        ratings=sum(counts),
        wanted=plan.items * plan.wanted,
        items=plan.items,
        items_complete=sum(count >= plan.wanted for count in counts),
        ratings_an_item=counts,
        median_seconds=median(every) if every else None,
        raters=tuple(_progress(connection, plan, seconds)),
    )


def _seconds_by_rater(connection: sqlite3.Connection) -> dict[int, list[float]]:
    """How long each rating took, where that is known; attention checks are not ratings."""
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
        "SELECT r.number, r.seen, count(t.value), coalesce(sum(t.value = i.expected), 0),"
        " count(CASE WHEN t.value IS NOT NULL THEN i.expected END)"
        " FROM raters r LEFT JOIN tasks t ON t.rater = r.number LEFT JOIN items i ON i.number = t.item"
        " GROUP BY r.number ORDER BY r.number"
    )
    for number, seen, done, right, checks in rows:
        took = seconds.get(number)
        yield RaterProgress(
            name=name_of(number),
            done=done,
            total=plan.total,
            checks_right=right,
            checks_done=checks,
            median_seconds=median(took) if took else None,
            last_seen=None if seen is None else stamp(seen),
        )
