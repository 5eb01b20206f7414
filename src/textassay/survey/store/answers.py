"""Tasks and answers of raters in the store: assign the next task, record an answer, undo the last one.

Functions that write must be called inside a transaction of the writer.
"""

import sqlite3
from typing import Literal, NamedTuple

from textassay.survey.model import Stage, Task
from textassay.survey.store.assignment import Closing, Plan, items_left, next_item
from textassay.survey.store.holds import (
    Standing,
    end_holds,
    gets_no_more,
    give_way,
    held_until,
    may_answer,
    standing_of,
)

# `barred`: the study takes no more answers from this rater or from the address.
Recorded = Literal["recorded", "already", "kept", "stale", "refused", "barred"]
# `since`: another task was answered since; `gone`: already undone; `none`: no answer; `fixed`: undone too often.
Undone = Literal["undone", "since", "gone", "none", "fixed"]


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
    """The progress of a rater; number 0 for somebody who has not joined yet."""
    (answered,) = connection.execute("SELECT count(value) FROM tasks WHERE rater = ?", (rater,)).fetchone()
    standing, task = standing_of(connection, plan, rater), open_task(connection, plan, rater)
    if standing is None:
        return Stage(answered, plan.total, task=None, left=False, asks_consent=_asks_consent(connection, plan, rater))
    waiting = task is None and current(connection, plan, rater) is not None
    barred = waiting or (task is None and gets_no_more(connection, plan, rater))
    closing: Closing = "firm" if standing == "firm" else "load"
    left = task is not None or (not barred and items_left(connection, plan, rater=rater, closing=closing))
    return Stage(answered, plan.total, task=None if task is None else task.number, left=left, barred=barred)


def _asks_consent(connection: sqlite3.Connection, plan: Plan, rater: int) -> bool:
    row = connection.execute("SELECT consented, excluded FROM raters WHERE number = ?", (rater,)).fetchone()
    return plan.needs_consent and row == (None, None)


def open_task(connection: sqlite3.Connection, plan: Plan, rater: int) -> Task | None:
    """The open task of a rater, if they may answer it: not an excluded rater, nor one beyond the cap of an address."""
    found = current(connection, plan, rater)
    if found is None or not may_answer(connection, plan, rater, found.number):
        return None
    return found


def assign(connection: sqlite3.Connection, plan: Plan, rater: int, *, now: Moment) -> Task | None:
    """The open task of a rater, or a new one; None when nothing is left to rate."""
    if current(connection, plan, rater) is not None:
        return open_task(connection, plan, rater)
    _mark_seen(connection, rater, now.clock)
    standing = standing_of(connection, plan, rater)
    if standing is None or gets_no_more(connection, plan, rater):
        return None
    end_holds(connection, plan, now.steady)
    place = n_assigned(connection, rater)
    item = _item_for(connection, plan, rater, place=place, standing=standing)
    if item is None:
        return None
    until = held_until(connection, plan, standing, steady=now.steady)
    connection.execute(
        "INSERT INTO tasks (rater, place, item, shown, held_until, provisional) VALUES (?, ?, ?, ?, ?, ?)",
        (rater, place, item, now.clock, until, standing == "provisional"),
    )
    return current(connection, plan, rater)


def _item_for(connection: sqlite3.Connection, plan: Plan, rater: int, *, place: int, standing: Standing) -> int | None:
    """The next item of a rater. If no place is open, others give way, except to raters without a record."""
    item = next_item(connection, plan, rater=rater, place=place)
    if item is None and standing != "provisional" and give_way(connection):
        item = next_item(connection, plan, rater=rater, place=place)
    if item is None and standing == "firm":
        item = next_item(connection, plan, rater=rater, place=place, closing="firm")
    return item


def answer(connection: sqlite3.Connection, plan: Plan, rater: int, task: int, *, value: int, now: float) -> Recorded:
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
    if not may_answer(connection, plan, rater, task):
        return "barred"
    connection.execute(
        "UPDATE tasks SET value = ?, answered = ?, held_until = NULL WHERE number = ?", (value, now, task)
    )
    _mark_seen(connection, rater, now)
    return "recorded"


def undo(connection: sqlite3.Connection, plan: Plan, rater: int, *, now: Moment) -> bool:
    """Withdraw a rater's last answer. It is kept in the table `withdrawn`."""
    if standing_of(connection, plan, rater) is None:
        return False
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
    # First the place is open again, then the rater reserves it like anybody who is given a task now.
    connection.execute("UPDATE tasks SET value = NULL, answered = NULL WHERE number = ?", (task,))
    standing = standing_of(connection, plan, rater) or "provisional"
    connection.execute(
        "UPDATE tasks SET held_until = ?, provisional = ? WHERE number = ?",
        (held_until(connection, plan, standing, steady=now.steady), standing == "provisional", task),
    )
    _mark_seen(connection, rater, now.clock)
    return True


def undo_shown(connection: sqlite3.Connection, plan: Plan, rater: int, *, shown: int | None, now: Moment) -> Undone:
    """Withdraw a rater's last answer if `shown` is still their open task (None: they have none).

    The comparison and the withdrawal belong to one write transaction: no answer can come between them.
    """
    task = open_task(connection, plan, rater)
    number = None if task is None else task.number
    if shown != number:
        # A rater's tasks are numbered in the order in which they are answered.
        return "since" if shown is not None and (number is None or number > shown) else "gone"
    if undo(connection, plan, rater, now=now):
        return "undone"
    (answered,) = connection.execute("SELECT count(value) FROM tasks WHERE rater = ?", (rater,)).fetchone()
    return "fixed" if answered else "none"


def _mark_seen(connection: sqlite3.Connection, rater: int, now: float) -> None:
    connection.execute("UPDATE raters SET seen = ? WHERE number = ?", (now, rater))
