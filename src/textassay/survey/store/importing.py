"""Ratings that were given elsewhere, such as on Mechanical Turk, added to a study.

All functions write and belong inside a transaction of the writer.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from textassay.corpus.printable import shortened
from textassay.errors import InputError
from textassay.survey.store.answers import n_assigned
from textassay.survey.store.schema import UNKNOWN
from textassay.survey.tokens import keyed_digest

# The id of an item, the rating, and the seconds it took (None if unknown).
Imported = tuple[str, int, float | None]


def add_ratings(
    connection: sqlite3.Connection,
    ratings: Mapping[str, Sequence[Imported]],
    *,
    secret: bytes,
    values: Collection[int],
    now: float,
) -> int:
    """Add ratings by the key of their rater; the number of new ratings. Ratings that are already stored are kept."""
    numbers = dict(connection.execute("SELECT id, number FROM items"))
    added = 0
    for key, given in ratings.items():
        rater = _imported_rater(connection, keyed_digest(secret, "imported", key), now)
        added += _add(connection, rater, given, numbers, values, now)
    return added


def _imported_rater(connection: sqlite3.Connection, mark: bytes, now: float) -> int:
    """The rater with this mark, created if needed. The mark takes the place of a token's digest; no token has it."""
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
    place = n_assigned(connection, rater)
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
