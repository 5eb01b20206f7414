"""Tasks and answers of raters in the store: assign the next task, record an answer, undo the last one.

Functions that write must be called inside a transaction of the writer.
"""

import sqlite3
from typing import Literal, NamedTuple

from textassay.survey.model import Stage, Task
from textassay.survey.store.assignment import Plan, items_left, next_item

Recorded = Literal["recorded", "already", "kept", "stale", "refused"]
# `since`: another task was answered since; `gone`: already undone; `none`: no answer; `fixed`: undone too often.
Undone = Literal["undone", "since", "gone", "none", "fixed"]

# An open task reserves its item for this long.
HOLD_SECONDS = 30 * 60.0
# The first task of somebody who joined by the shared link reserves its item for a shorter time, and such reservations
# use at most one in this many of the places that are open: anybody can join any number of times, and must not be able
# to keep the items from others.
FIRST_HOLD_SECONDS = 5 * 60.0
ONE_IN = 4
_BY_NEWCOMERS = (
    "held_until IS NOT NULL AND place = 0"
    " AND EXISTS (SELECT 1 FROM raters r WHERE r.number = tasks.rater AND r.origin = 'joined')"
)


class Moment(NamedTuple):
    """A point in time: by the clock of the system, for records, and by steady time, for holds.

    The clock of the system may be corrected by days. Steady time starts with the clock when the study is opened and
    then passes evenly.
    """

    clock: float
    steady: float


# How often an answer can be withdrawn: enough for people, and a limit for a script that would fill the log.
_MOST_WITHDRAWN = 100
_LARGEST = 2**63 - 1


def current(connection: sqlite3.Connection, plan: Plan, rater: int) -> Task | None:
    """The first of a rater's tasks without an answer. Answers come in order, so its place is the number answered."""
    row = connection.execute(
        "SELECT t.number, i.text, c.text, t.place FROM tasks t JOIN items i ON i.number = t.item"
        " LEFT JOIN contexts c ON c.number = i.context"
        " WHERE t.rater = ? AND t.value IS NULL ORDER BY t.place LIMIT 1",
        (rater,),
    ).fetchone()
    if row is None:
        return None
    number, text, context, place = row
    return Task(number, text, context, done=place, total=plan.total)


def n_assigned(connection: sqlite3.Connection, rater: int) -> int:
    """The number of tasks that a rater has been given, which is the place of the next one."""
    (last,) = connection.execute("SELECT max(place) FROM tasks WHERE rater = ?", (rater,)).fetchone()
    return 0 if last is None else int(last) + 1


def stage_of(connection: sqlite3.Connection, plan: Plan, rater: int) -> Stage:
    """The progress of a rater."""
    (answered,) = connection.execute("SELECT count(value) FROM tasks WHERE rater = ?", (rater,)).fetchone()
    task = current(connection, plan, rater)
    left = task is not None or items_left(connection, plan, rater=rater)
    return Stage(answered, plan.total, task=None if task is None else task.number, left=left)


def assign(connection: sqlite3.Connection, plan: Plan, rater: int, *, now: Moment) -> Task | None:
    """The open task of a rater, or a new one; None when nothing is left to rate."""
    found = current(connection, plan, rater)
    if found is not None:
        return found
    _end_holds(connection, now.steady)
    place = n_assigned(connection, rater)
    item = next_item(connection, plan, rater=rater, place=place)
    if item is None and _take_over(connection, rater, place):
        item = next_item(connection, plan, rater=rater, place=place)
    _mark_seen(connection, rater, now.clock)
    if item is None:
        return None
    held_until = _held_until(connection, plan, rater, place=place, steady=now.steady)
    connection.execute(
        "INSERT INTO tasks (rater, place, item, shown, held_until) VALUES (?, ?, ?, ?, ?)",
        (rater, place, item, now.clock, held_until),
    )
    return current(connection, plan, rater)


def _is_newcomer(connection: sqlite3.Connection, rater: int, place: int) -> bool:
    """Whether a rater joined by the shared link and has not answered anything yet."""
    row = connection.execute("SELECT 1 FROM raters WHERE number = ? AND origin = 'joined'", (rater,)).fetchone()
    return place == 0 and row is not None


def _take_over(connection: sqlite3.Connection, rater: int, place: int) -> bool:
    """End the reservations of newcomers for a rater who is none; whether there were any.

    Invited raters, and those who have answered, go first. A newcomer can still answer the text that they see.
    """
    if _is_newcomer(connection, rater, place):
        return False
    return connection.execute(f"UPDATE tasks SET held_until = NULL WHERE {_BY_NEWCOMERS}").rowcount > 0  # noqa: S608


def _held_until(connection: sqlite3.Connection, plan: Plan, rater: int, *, place: int, steady: float) -> float | None:
    """Until when a new task reserves its item; None if it is given without a reservation."""
    if not _is_newcomer(connection, rater, place):
        return steady + HOLD_SECONDS
    (reserved,) = connection.execute(f"SELECT count(*) FROM tasks WHERE {_BY_NEWCOMERS}").fetchone()  # noqa: S608
    needed = ONE_IN * (reserved + 1)
    # Each of these items has at least one open place, so that no more than `needed` items are read.
    rows = connection.execute(
        "SELECT ? - load FROM queue WHERE load < ? ORDER BY load LIMIT ?", (plan.wanted, plan.wanted, needed)
    )
    return steady + FIRST_HOLD_SECONDS if sum(places for (places,) in rows) >= needed else None


def _end_holds(connection: sqlite3.Connection, steady: float) -> None:
    """End the holds that are over, and shorten those that are longer than a hold can be.

    The latter were made before a restart, while the clock of the system was ahead.
    """
    latest = steady + HOLD_SECONDS
    connection.execute("UPDATE tasks SET held_until = NULL WHERE held_until <= ?", (steady,))
    connection.execute("UPDATE tasks SET held_until = ? WHERE held_until > ?", (latest, latest))


def answer(connection: sqlite3.Connection, rater: int, task: int, *, value: int, now: float) -> Recorded:
    """Record the answer to a rater's current task; answers to other tasks are not recorded."""
    if not 0 < task <= _LARGEST:
        return "stale"
    row = connection.execute("SELECT place, value FROM tasks WHERE number = ? AND rater = ?", (task, rater)).fetchone()
    if row is None:
        return "stale"
    place, earlier = row
    if earlier is not None:
        return "already" if earlier == value else "kept"
    (first,) = connection.execute("SELECT min(place) FROM tasks WHERE rater = ? AND value IS NULL", (rater,)).fetchone()
    if place != first:
        return "stale"
    connection.execute(
        "UPDATE tasks SET value = ?, answered = ?, held_until = NULL WHERE number = ?", (value, now, task)
    )
    _mark_seen(connection, rater, now)
    return "recorded"


def undo(connection: sqlite3.Connection, rater: int, *, now: Moment) -> bool:
    """Withdraw a rater's last answer. It is kept in the table `withdrawn`."""
    row = connection.execute(
        "SELECT number, value, answered FROM tasks WHERE rater = ? AND value IS NOT NULL ORDER BY place DESC LIMIT 1",
        (rater,),
    ).fetchone()
    if row is None:
        return False
    task, value, answered = row
    (times,) = connection.execute("SELECT count(*) FROM withdrawn WHERE task = ?", (task,)).fetchone()
    if times >= _MOST_WITHDRAWN:
        return False
    connection.execute(
        "INSERT INTO withdrawn (task, value, answered, withdrawn) VALUES (?, ?, ?, ?)",
        (task, value, answered, now.clock),
    )
    connection.execute(
        "UPDATE tasks SET value = NULL, answered = NULL, held_until = ? WHERE number = ?",
        (now.steady + HOLD_SECONDS, task),
    )
    _mark_seen(connection, rater, now.clock)
    return True


def undo_shown(connection: sqlite3.Connection, plan: Plan, rater: int, *, shown: int | None, now: Moment) -> Undone:
    """Withdraw a rater's last answer if `shown` is still their open task (None: they have none).

    The comparison and the withdrawal belong to one write transaction: no answer can come between them.
    """
    task = current(connection, plan, rater)
    number = None if task is None else task.number
    if shown != number:
        # A rater's tasks are numbered in the order in which they are answered.
        return "since" if shown is not None and (number is None or number > shown) else "gone"
    if undo(connection, rater, now=now):
        return "undone"
    answered = n_assigned(connection, rater) if task is None else task.done
    return "fixed" if answered else "none"


def _mark_seen(connection: sqlite3.Connection, rater: int, now: float) -> None:
    connection.execute("UPDATE raters SET seen = ? WHERE number = ?", (now, rater))
