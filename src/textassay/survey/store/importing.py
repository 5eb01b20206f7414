"""Ratings that were given elsewhere, such as on Mechanical Turk, added to a study.

All functions write and belong inside a transaction of the writer.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from textassay.corpus.printable import shortened
from textassay.errors import InputError
from textassay.survey.store.answers import given_so_far
from textassay.survey.store.schema import UNKNOWN
from textassay.survey.tokens import keyed

# The id of an item, the rating, and how many seconds it took, None where nobody knows.
Imported = tuple[str, int, float | None]


def add_ratings(
    connection: sqlite3.Connection,
    ratings: Mapping[str, Sequence[Imported]],
    *,
    secret: bytes,
    values: Collection[int],
    now: float,
) -> int:
    """Add the ratings of raters who are known by any key; how many were new. Those that are there already stay."""
    numbers = dict(connection.execute("SELECT id, number FROM items"))
    return sum(
        _add(connection, _rater(connection, keyed(secret, "imported", key), now), given, numbers, values, now)
        for key, given in ratings.items()
    )


def _rater(connection: sqlite3.Connection, mark: bytes, now: float) -> int:
    """The rater with this mark, made if need be. It stands where the digest of a token stands, and no token has it."""
    connection.execute(
        "INSERT INTO raters (token, origin, seen) VALUES (?, 'imported', ?) ON CONFLICT (token) DO NOTHING",
        (mark, now),
    )
    (number,) = connection.execute("SELECT number FROM raters WHERE token = ?", (mark,)).fetchone()
    return int(number)


def _add(
    connection: sqlite3.Connection,
    rater: int,
    given: Sequence[Imported],
    numbers: Mapping[str, int],
    values: Collection[int],
    now: float,
) -> int:
    place = given_so_far(connection, rater)
    before = place
    for id_, value, seconds in given:
        if id_ not in numbers or value not in values:
            wanted = "an item of the study and a rating on its scale"
            raise InputError(f"item '{shortened(id_, 60)}' rated {value}; wanted {wanted}")
        done = connection.execute(
            "INSERT INTO tasks (rater, place, item, shown, value, answered) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (item, rater) DO NOTHING",
            (rater, place, numbers[id_], UNKNOWN if seconds is None else now - seconds, value, now),
        )
        place += done.rowcount
    return place - before
