"""Who goes first: how long an open task reserves its item, whose reservations give way, and the cap per address.

Anybody who has the shared link can join any number of times. So its raters begin without a record: their reservations
are short, use at most a quarter of the places that are open, and give way to everybody else. All ratings and
reservations of raters who came by one shared link from one address share one cap. And raters with a personal link may
rate an item until raters like them have given it the wanted number of ratings: no number of joins and no number of
addresses can take their work away.

Functions that write must be called inside a transaction of the writer.
"""

import sqlite3
from typing import Literal

from textassay.survey.store.assignment import Plan, open_places

# A rater with a personal link or an import; a rater who joined by a shared link and has a record; one who has none yet.
Standing = Literal["firm", "proven", "provisional"]

# An open task reserves its item for this long.
HOLD_SECONDS = 30 * 60.0
# The same for a rater without a record.
PROVISIONAL_SECONDS = 5 * 60.0
# Reservations without a record use at most one in this many of the open places. If there are fewer than this many open
# places per reservation, all reservations become shorter in proportion, down to the shortest one.
ONE_IN = 4
SHORTEST_SECONDS = 3 * 60.0
_PROVISIONAL = "held_until IS NOT NULL AND provisional"


def standing_of(connection: sqlite3.Connection, plan: Plan, rater: int) -> Standing | None:
    """The standing of a rater; None for one who gets no tasks: excluded, or not yet agreed to the study.

    A record is half of the tasks answered and no wrong answer to an attention check.
    """
    row = connection.execute("SELECT origin, excluded, consented FROM raters WHERE number = ?", (rater,)).fetchone()
    if row is None:
        return "provisional"
    origin, excluded, consented = row
    if excluded is not None or (plan.needs_consent and consented is None):
        return None
    if origin != "joined":
        return "firm"
    answered, wrong = connection.execute(
        "SELECT count(t.value), coalesce(sum(t.value != i.expected), 0) FROM tasks t"
        " JOIN items i ON i.number = t.item WHERE t.rater = ?",
        (rater,),
    ).fetchone()
    return "proven" if 2 * answered >= plan.total and not wrong else "provisional"


def is_at_cap(connection: sqlite3.Connection, plan: Plan, rater: int) -> bool:
    """Whether the raters of this rater's shared link and address have used up their cap."""
    row = connection.execute(
        "SELECT a.load FROM raters r JOIN addresses a ON a.number = r.address WHERE r.number = ?", (rater,)
    ).fetchone()
    return row is not None and row[0] >= plan.most_per_address


def may_answer(connection: sqlite3.Connection, plan: Plan, rater: int, task: int) -> bool:
    """Whether the answer to this open task would be recorded.

    An item that is reserved is a part of the cap, and attention checks do not count for it.
    """
    if standing_of(connection, plan, rater) is None:
        return False
    held, is_item = connection.execute(
        "SELECT held_until IS NOT NULL, EXISTS (SELECT 1 FROM queue q WHERE q.item = t.item) FROM tasks t"
        " WHERE t.number = ?",
        (task,),
    ).fetchone()
    return bool(held) or not is_item or not is_at_cap(connection, plan, rater)


def gets_no_more(connection: sqlite3.Connection, plan: Plan, rater: int) -> bool:
    """Whether a rater gets no more items because of the cap; only attention checks may follow the last item."""
    (given,) = connection.execute(
        "SELECT count(*) FROM tasks t CROSS JOIN queue q ON q.item = t.item WHERE t.rater = ?", (rater,)
    ).fetchone()
    return given < plan.ratings_per_rater and is_at_cap(connection, plan, rater)


def held_until(connection: sqlite3.Connection, plan: Plan, standing: Standing, *, steady: float) -> float | None:
    """Until when a new task reserves its item; None if it is given without a reservation."""
    longest = _longest_hold(connection, plan)
    if standing != "provisional":
        return steady + longest
    (reserved,) = connection.execute(f"SELECT count(*) FROM tasks WHERE {_PROVISIONAL}").fetchone()  # noqa: S608
    needed = ONE_IN * (reserved + 1)
    if open_places(connection, plan, most=needed) < needed:
        return None
    return steady + min(longest, PROVISIONAL_SECONDS)


def end_holds(connection: sqlite3.Connection, plan: Plan, steady: float) -> None:
    """End the holds that are over, and shorten those that are longer than a hold can be now.

    The latter were made when more items were left, or before a restart, while the clock of the system was ahead.
    """
    connection.execute("UPDATE tasks SET held_until = NULL WHERE held_until <= ?", (steady,))
    latest = steady + _longest_hold(connection, plan)
    connection.execute("UPDATE tasks SET held_until = ? WHERE held_until > ?", (latest, latest))


def give_way(connection: sqlite3.Connection) -> bool:
    """End the reservations of raters without a record; whether there were any.

    They can still answer the text that they see.
    """
    return connection.execute(f"UPDATE tasks SET held_until = NULL WHERE {_PROVISIONAL}").rowcount > 0  # noqa: S608


def _longest_hold(connection: sqlite3.Connection, plan: Plan) -> float:
    """How long a hold can be: shorter when few places are open for the number of raters at work."""
    (held,) = connection.execute("SELECT count(*) FROM tasks WHERE held_until IS NOT NULL").fetchone()
    plenty = ONE_IN * (held + 1)
    return max(SHORTEST_SECONDS, HOLD_SECONDS * open_places(connection, plan, most=plenty) / plenty)
