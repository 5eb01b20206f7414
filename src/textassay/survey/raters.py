"""Raters of a study: made by invitation or by the shared link, and known again by their token."""

import math
import sqlite3

from textassay.survey.assigning import Plan
from textassay.survey.study import Rater
from textassay.survey.tokens import digest_of, new_token

# Whoever has the shared link can make raters; a script must not fill the disk with them.
_TIMES_NEEDED = 20
_ALWAYS_ALLOWED = 1000


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


def add(connection: sqlite3.Connection, n: int, *, until: float | None, joined: bool = False) -> list[str]:
    """New raters; their tokens, which are kept nowhere."""
    tokens = [new_token() for _ in range(n)]
    connection.executemany(
        "INSERT INTO raters (token, joined, until) VALUES (?, ?, ?)",
        ((digest_of(token), joined, until) for token in tokens),
    )
    return tokens


def shared_digest(connection: sqlite3.Connection, *, now: float) -> bytes | None:
    """The digest of the shared link's token, None when the link is over."""
    shared, until = connection.execute("SELECT shared, shared_until FROM study").fetchone()
    return None if _is_over(until, now) else bytes(shared)


def is_full(connection: sqlite3.Connection, plan: Plan) -> bool:
    """Whether the shared link has made as many raters as it may: many times what the study needs."""
    (joined,) = connection.execute("SELECT count(*) FROM raters WHERE joined").fetchone()
    needed = math.ceil(plan.items * plan.wanted / plan.ratings_a_rater)
    return bool(joined >= max(_ALWAYS_ALLOWED, _TIMES_NEEDED * needed))


def _is_over(until: float | None, now: float) -> bool:
    return until is not None and now >= until
