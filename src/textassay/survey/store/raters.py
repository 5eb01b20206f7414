"""Raters of a study: created by invitation or through the shared link, and identified by their token."""

import math
import re
import sqlite3
from collections.abc import Sequence
from typing import Literal

from textassay.corpus.printable import shortened
from textassay.errors import InputError
from textassay.survey.model import Rater
from textassay.survey.store.assignment import Plan
from textassay.survey.tokens import digest_of, is_token, new_token

SharedLink = Literal["open", "over"]

# Limits on raters created through the shared link, so that a script cannot fill the disk.
_TIMES_NEEDED = 20
_ALWAYS_ALLOWED = 1000
# At the limit, somebody new takes the place of a rater who has joined, answered nothing, and was away for this long.
_IDLE_SECONDS = 10 * 60.0
_NEVER_ANSWERED = (
    "NOT EXISTS (SELECT 1 FROM tasks t WHERE t.rater = r.number"
    " AND (t.value IS NOT NULL OR EXISTS (SELECT 1 FROM withdrawn w WHERE w.task = t.number)))"
)
_NAME = re.compile(r"r([0-9]{1,9})")


def name_of(number: int) -> str:
    """The name of a rater in exports.

    >>> name_of(7)
    'r007'
    """
    return f"r{number:03d}"


def find(connection: sqlite3.Connection, token: str, *, now: float) -> Rater | None:
    """The rater with this token. The lookup uses its digest, so its timing reveals nothing about other tokens."""
    row = connection.execute("SELECT number, until FROM raters WHERE token = ?", (digest_of(token),)).fetchone()
    if row is None:
        return None
    number, until = row
    return Rater(number, name_of(number), expired=_is_over(until, now))


def add(connection: sqlite3.Connection, n: int, *, until: float | None) -> list[str]:
    """Add invited raters and return their tokens, which are not stored."""
    tokens = [new_token() for _ in range(n)]
    connection.executemany(
        "INSERT INTO raters (token, origin, until) VALUES (?, 'invited', ?)",
        ((digest_of(token), until) for token in tokens),
    )
    return tokens


def join(connection: sqlite3.Connection, plan: Plan, *, until: float | None, now: float) -> str | None:
    """Add a rater through the shared link and return the token; None if the link has reached its limit."""
    token = new_token()
    if not _is_at_limit(connection, plan):
        connection.execute(
            "INSERT INTO raters (token, origin, until, seen) VALUES (?, 'joined', ?, ?)", (digest_of(token), until, now)
        )
        return token
    idle = _idle_rater(connection, now)
    if idle is None:
        return None
    # Ends a reservation, which updates the load of the item.
    connection.execute("UPDATE tasks SET held_until = NULL WHERE rater = ?", (idle,))
    connection.execute("DELETE FROM tasks WHERE rater = ?", (idle,))
    connection.execute(
        "UPDATE raters SET token = ?, until = ?, seen = ? WHERE number = ?", (digest_of(token), until, now, idle)
    )
    return token


def is_waiting(connection: sqlite3.Connection, digest: bytes, *, now: float) -> bool:
    """Whether the rater with this digest of a token joined, was here lately, and has never answered anything."""
    row = connection.execute(
        f"SELECT 1 FROM raters r WHERE r.token = ? AND r.origin = 'joined' AND r.seen >= ? AND {_NEVER_ANSWERED}",  # noqa: S608
        (digest, now - _IDLE_SECONDS),
    ).fetchone()
    return row is not None


def _idle_rater(connection: sqlite3.Connection, now: float) -> int | None:
    """The first rater of the current shared link who has never answered anything and was away for long."""
    row = connection.execute(
        "SELECT r.number FROM raters r WHERE r.origin = 'joined' AND r.number > (SELECT shared_after FROM study)"  # noqa: S608
        f" AND coalesce(r.seen, 0) < ? AND {_NEVER_ANSWERED} ORDER BY r.number LIMIT 1",
        (now - _IDLE_SECONDS,),
    ).fetchone()
    return None if row is None else int(row[0])


def renew(connection: sqlite3.Connection, names: Sequence[str], *, until: float | None) -> list[str]:
    """Replace the tokens of the raters with these names; if a name is unknown, none is replaced."""
    return [_renew(connection, name, until=until) for name in dict.fromkeys(names)]


def _renew(connection: sqlite3.Connection, name: str, *, until: float | None) -> str:
    given = _NAME.fullmatch(name)
    number = int(given[1]) if given else 0
    row = connection.execute("SELECT origin FROM raters WHERE number = ?", (number,)).fetchone()
    if row is None:
        (n,) = connection.execute("SELECT count(*) FROM raters").fetchone()
        wanted = f"one of {name_of(1)} to {name_of(n)}" if n else "--raters N, as the study has no raters yet"
        raise InputError(f"rater '{shortened(name, 60)}': the study has no such rater; wanted {wanted}")
    if row[0] == "imported":
        # The mark in place of a token identifies these raters at the next import.
        raise InputError(f"rater '{name}': has no link, because the ratings were imported; wanted a rater with a link")
    token = new_token()
    connection.execute("UPDATE raters SET token = ?, until = ? WHERE number = ?", (digest_of(token), until, number))
    return token


def shared_link(connection: sqlite3.Connection, token: str, *, now: float) -> SharedLink | None:
    """Whether the shared link is open or expired; None if this is not its token."""
    shared, until = connection.execute("SELECT shared, shared_until FROM study").fetchone()
    if not is_token(token, shared):
        return None
    return "over" if _is_over(until, now) else "open"


def share(connection: sqlite3.Connection, token: str, *, until: float | None) -> None:
    """Replace the shared link. Raters who joined through the old one do not count towards its limit."""
    connection.execute(
        "UPDATE study SET shared = ?, shared_until = ?, shared_after = (SELECT coalesce(max(number), 0) FROM raters)",
        (digest_of(token), until),
    )


def is_full(connection: sqlite3.Connection, plan: Plan, *, now: float) -> bool:
    """Whether nobody can join: the link is at its limit, and all of its raters have answered or were here lately."""
    return _is_at_limit(connection, plan) and _idle_rater(connection, now) is None


def _is_at_limit(connection: sqlite3.Connection, plan: Plan) -> bool:
    """Whether the current shared link has added as many raters as it may: many times what the study needs."""
    (joined,) = connection.execute(
        "SELECT count(*) FROM raters WHERE origin = 'joined' AND number > (SELECT shared_after FROM study)"
    ).fetchone()
    needed = math.ceil(plan.items * plan.wanted / plan.ratings_per_rater)
    return bool(joined >= max(_ALWAYS_ALLOWED, _TIMES_NEEDED * needed))


def _is_over(until: float | None, now: float) -> bool:
    return until is not None and now >= until
