"""Raters of a study: made by invitation or by the shared link, and known again by their token."""

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

# Whoever has the shared link can make raters; a script must not fill the disk with them.
_TIMES_NEEDED = 20
_ALWAYS_ALLOWED = 1000
_NAME = re.compile(r"r([0-9]{1,9})")


def name_of(number: int) -> str:
    """What a rater is called in exports.

    >>> name_of(7)
    'r007'
    """
    return f"r{number:03d}"


def find(connection: sqlite3.Connection, token: str, *, now: float) -> Rater | None:
    """Whose token this is. Only its digest is looked up, so the search tells nothing about other tokens."""
    row = connection.execute("SELECT number, until FROM raters WHERE token = ?", (digest_of(token),)).fetchone()
    if row is None:
        return None
    number, until = row
    return Rater(number, name_of(number), expired=_is_over(until, now))


def add(
    connection: sqlite3.Connection, n: int, *, until: float | None, origin: Literal["invited", "joined"] = "invited"
) -> list[str]:
    """New raters; their tokens, which are kept nowhere."""
    tokens = [new_token() for _ in range(n)]
    connection.executemany(
        "INSERT INTO raters (token, origin, until) VALUES (?, ?, ?)",
        ((digest_of(token), origin, until) for token in tokens),
    )
    return tokens


def renew(connection: sqlite3.Connection, names: Sequence[str], *, until: float | None) -> list[str]:
    """New tokens for raters of these names, in place of their old ones; all of them, or none where a name is wrong."""
    return [_renew(connection, name, until=until) for name in dict.fromkeys(names)]


def _renew(connection: sqlite3.Connection, name: str, *, until: float | None) -> str:
    given = _NAME.fullmatch(name)
    number = int(given[1]) if given else 0
    row = connection.execute("SELECT origin FROM raters WHERE number = ?", (number,)).fetchone()
    if row is None:
        (n,) = connection.execute("SELECT count(*) FROM raters").fetchone()
        wanted = f"one of {name_of(1)} to {name_of(n)}" if n else "links for new raters first"
        raise InputError(f"rater '{shortened(name, 60)}': the study has no such rater; wanted {wanted}")
    if row[0] == "imported":
        # What stands in place of a token is how these raters are known again.
        raise InputError(f"rater '{name}': has no link, as the ratings were imported; wanted a rater who has one")
    token = new_token()
    connection.execute("UPDATE raters SET token = ?, until = ? WHERE number = ?", (digest_of(token), until, number))
    return token


def shared_link(connection: sqlite3.Connection, token: str, *, now: float) -> SharedLink | None:
    """Whether the shared link still makes raters, or its time is over; None where this is not its token."""
    shared, until = connection.execute("SELECT shared, shared_until FROM study").fetchone()
    if not is_token(token, shared):
        return None
    return "over" if _is_over(until, now) else "open"


def share(connection: sqlite3.Connection, token: str, *, until: float | None) -> None:
    """Put a new shared link in place of the old one. Those who joined by the old one do not count for it."""
    connection.execute(
        "UPDATE study SET shared = ?, shared_until = ?, shared_after = (SELECT coalesce(max(number), 0) FROM raters)",
        (digest_of(token), until),
    )


def is_full(connection: sqlite3.Connection, plan: Plan) -> bool:
    """Whether the shared link as it is now has made as many raters as it may: many times what the study needs."""
    (joined,) = connection.execute(
        "SELECT count(*) FROM raters WHERE origin = 'joined' AND number > (SELECT shared_after FROM study)"
    ).fetchone()
    needed = math.ceil(plan.items * plan.wanted / plan.ratings_a_rater)
    return bool(joined >= max(_ALWAYS_ALLOWED, _TIMES_NEEDED * needed))


def _is_over(until: float | None, now: float) -> bool:
    return until is not None and now >= until
