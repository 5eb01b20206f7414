"""Raters of a study: created by invitation or through the shared link, and identified by their token."""

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textassay.corpus.printable import shortened
from textassay.errors import InputError
from textassay.survey.model import Participant, Rater
from textassay.survey.store.assignment import Plan
from textassay.survey.store.schema import count_again
from textassay.survey.tokens import digest_of, is_token, keyed_digest, new_token

# `over`: expired; `closed`: shut by the admin.
SharedLink = Literal["open", "over", "closed"]
# Why the shared link adds nobody: its limit of raters (`full`), the cap of the address (`barred`), an id of Prolific or
# of Mechanical Turk that is missing (`unproven`) or that somebody has already (`taken`).
Refusal = Literal["full", "barred", "unproven", "taken"]

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


@dataclass(frozen=True)
class Visitor:
    """Somebody who opens the shared link: the network address, and the ids in the link if it has some."""

    address: str = ""
    participant: Participant | None = None


def join(
    connection: sqlite3.Connection, plan: Plan, visitor: Visitor, *, until: float | None, now: float
) -> str | None:
    """Add a rater through the shared link and return the token; None if there is a reason to refuse."""
    if refusal(connection, plan, visitor, now=now) is not None:
        return None
    token = new_token()
    address = _address(connection, plan, visitor.address)
    idle = _idle_rater(connection, now) if _is_at_limit(connection, plan) else None
    if idle is None:
        number = connection.execute(
            "INSERT INTO raters (token, origin, until, seen, address) VALUES (?, 'joined', ?, ?, ?)",
            (digest_of(token), until, now, address),
        ).lastrowid
    else:
        number = _replace(connection, idle, token, until=until, now=now, address=address)
    if (who := visitor.participant) is not None:
        connection.execute(
            "INSERT INTO participants (rater, service, person, study, session) VALUES (?, ?, ?, ?, ?)",
            (number, who.service, who.person, who.study, who.session),
        )
    return token


def _replace(
    connection: sqlite3.Connection, idle: int, token: str, *, until: float | None, now: float, address: int
) -> int:
    """Give the place of a rater who was away to somebody new."""
    # Ends a reservation, which updates the loads of the item and of the address.
    connection.execute("UPDATE tasks SET held_until = NULL WHERE rater = ?", (idle,))
    connection.execute("DELETE FROM tasks WHERE rater = ?", (idle,))
    connection.execute("DELETE FROM participants WHERE rater = ?", (idle,))
    connection.execute(
        "UPDATE raters SET token = ?, until = ?, seen = ?, address = ?, consented = NULL, excluded = NULL"
        " WHERE number = ?",
        (digest_of(token), until, now, address, idle),
    )
    return idle


def refusal(connection: sqlite3.Connection, plan: Plan, visitor: Visitor, *, now: float) -> Refusal | None:
    """Why this visitor cannot join by the open shared link; None if they can."""
    if _is_at_limit(connection, plan) and _idle_rater(connection, now) is None:
        return "full"
    who = visitor.participant
    if who is None and plan.proof_after is not None and _n_joined(connection) >= plan.proof_after:
        return "unproven"
    if who is not None and _is_taken(connection, who):
        return "taken"
    mark = _mark(connection, plan, visitor.address)
    row = connection.execute("SELECT load FROM addresses WHERE mark = ?", (mark,)).fetchone()
    return "barred" if row is not None and row[0] >= plan.most_per_address else None


def _is_taken(connection: sqlite3.Connection, who: Participant) -> bool:
    """Whether somebody has joined with this id."""
    found = connection.execute("SELECT 1 FROM participants WHERE service = ? AND person = ?", (who.service, who.person))
    return found.fetchone() is not None


def participant(connection: sqlite3.Connection, rater: int) -> Participant | None:
    """The ids of another service that the link of a rater had."""
    row = connection.execute("SELECT service, person, study, session FROM participants WHERE rater = ?", (rater,))
    found = row.fetchone()
    return None if found is None else Participant(*found)


def _mark(connection: sqlite3.Connection, plan: Plan, address: str) -> bytes:
    """What is stored in place of an address: a keyed hash, another one for each shared link."""
    (shared,) = connection.execute("SELECT shared FROM study").fetchone()
    return keyed_digest(plan.secret, "address", bytes(shared).hex(), address)


def _address(connection: sqlite3.Connection, plan: Plan, address: str) -> int:
    """The number of an address, stored if it is new."""
    mark = _mark(connection, plan, address)
    connection.execute("INSERT INTO addresses (mark) VALUES (?) ON CONFLICT (mark) DO NOTHING", (mark,))
    (number,) = connection.execute("SELECT number FROM addresses WHERE mark = ?", (mark,)).fetchone()
    return int(number)


def consent(connection: sqlite3.Connection, rater: int, *, now: float) -> None:
    """Record that a rater has agreed to the study; the first time counts."""
    connection.execute("UPDATE raters SET consented = coalesce(consented, ?) WHERE number = ?", (now, rater))


def exclude(connection: sqlite3.Connection, names: Sequence[str], *, now: float | None) -> int:
    """Exclude raters, so that others get their places, or include them again (`now` is None); how many changed.

    If a name is unknown, none is changed.
    """
    numbers = [_number(connection, name) for name in dict.fromkeys(names)]
    changed = 0
    for number in numbers:
        cursor = connection.execute(
            "UPDATE raters SET excluded = ? WHERE number = ? AND (excluded IS NULL) != (? IS NULL)", (now, number, now)
        )
        changed += cursor.rowcount
        if now is not None:
            connection.execute(
                "UPDATE tasks SET held_until = NULL WHERE rater = ? AND held_until IS NOT NULL", (number,)
            )
    count_again(connection)
    return changed


def shut(connection: sqlite3.Connection, closed: bool) -> None:
    """Close the shared link, or open it again. Raters who have joined continue."""
    connection.execute("UPDATE study SET shared_closed = ?", (closed,))


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


def _number(connection: sqlite3.Connection, name: str) -> int:
    """The number of the rater with this name; an unknown name is an error."""
    given = _NAME.fullmatch(name)
    number = int(given[1]) if given else 0
    if connection.execute("SELECT 1 FROM raters WHERE number = ?", (number,)).fetchone() is None:
        (n,) = connection.execute("SELECT count(*) FROM raters").fetchone()
        wanted = f"one of {name_of(1)} to {name_of(n)}" if n else "--raters N, as the study has no raters yet"
        raise InputError(f"rater '{shortened(name, 60)}': the study has no such rater; wanted {wanted}")
    return number


def _renew(connection: sqlite3.Connection, name: str, *, until: float | None) -> str:
    number = _number(connection, name)
    (origin,) = connection.execute("SELECT origin FROM raters WHERE number = ?", (number,)).fetchone()
    if origin == "imported":
        # The mark in place of a token identifies these raters at the next import.
        raise InputError(f"rater '{name}': has no link, because the ratings were imported; wanted a rater with a link")
    token = new_token()
    connection.execute("UPDATE raters SET token = ?, until = ? WHERE number = ?", (digest_of(token), until, number))
    return token


def shared_link(connection: sqlite3.Connection, token: str, *, now: float) -> SharedLink | None:
    """Whether the shared link is open, expired or closed; None if this is not its token."""
    shared, until, closed = connection.execute("SELECT shared, shared_until, shared_closed FROM study").fetchone()
    if not is_token(token, shared):
        return None
    if closed:
        return "closed"
    return "over" if _is_over(until, now) else "open"


def share(connection: sqlite3.Connection, token: str, *, until: float | None) -> None:
    """Replace the shared link by an open one. Raters who joined by the old one do not count towards its limits."""
    connection.execute(
        "UPDATE study SET shared = ?, shared_until = ?, shared_closed = 0,"
        " shared_after = (SELECT coalesce(max(number), 0) FROM raters)",
        (digest_of(token), until),
    )


def _n_joined(connection: sqlite3.Connection) -> int:
    """The number of raters whom the current shared link has added."""
    (joined,) = connection.execute(
        "SELECT count(*) FROM raters WHERE origin = 'joined' AND number > (SELECT shared_after FROM study)"
    ).fetchone()
    return int(joined)


def _is_at_limit(connection: sqlite3.Connection, plan: Plan) -> bool:
    """Whether the current shared link has added as many raters as it may: many times what the study needs."""
    needed = math.ceil(plan.items * plan.wanted / plan.ratings_per_rater)
    return _n_joined(connection) >= max(_ALWAYS_ALLOWED, _TIMES_NEEDED * needed)


def _is_over(until: float | None, now: float) -> bool:
    return until is not None and now >= until
