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


def add(
    connection: sqlite3.Connection, n: int, *, until: float | None, origin: Literal["invited", "joined"] = "invited"
) -> list[str]:
    """Add raters and return their tokens, which are not stored."""
    tokens = [new_token() for _ in range(n)]
    connection.executemany(
        "INSERT INTO raters (token, origin, until) VALUES (?, ?, ?)",
        ((digest_of(token), origin, until) for token in tokens),
    )
    return tokens


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


def is_full(connection: sqlite3.Connection, plan: Plan) -> bool:
    """Whether the current shared link has reached its limit of raters: many times what the study needs."""
    (joined,) = connection.execute(
        "SELECT count(*) FROM raters WHERE origin = 'joined' AND number > (SELECT shared_after FROM study)"
    ).fetchone()
    needed = math.ceil(plan.items * plan.wanted / plan.ratings_per_rater)
    return bool(joined >= max(_ALWAYS_ALLOWED, _TIMES_NEEDED * needed))


def _is_over(until: float | None, now: float) -> bool:
    return until is not None and now >= until
