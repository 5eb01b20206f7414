"""Ratings that were given elsewhere, such as on Mechanical Turk, added to a study.

Of several answers of one rater to one item, `answer_order` decides which one counts. It depends only on the answers, so
that the result does not depend on how they are divided into files or on the order of the files.

All functions write and belong inside a transaction of the writer.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from textassay.corpus.printable import shortened
from textassay.errors import InputError
from textassay.survey.store.answers import n_assigned
from textassay.survey.store.schema import UNKNOWN
from textassay.survey.tokens import draw, keyed_digest

# What `answer_order` needs to know about answers of earlier imports. A study without imports has no such table, and
# neither have studies of earlier versions.
_TABLE = "CREATE TABLE IF NOT EXISTS imported (task INTEGER PRIMARY KEY REFERENCES tasks, seconds REAL, submitted REAL)"


class Imported(NamedTuple):
    """A rating of an item, the seconds it took, and when it was submitted (each None if unknown)."""

    item: str
    value: int
    seconds: float | None
    submitted: float | None = None


class ImportCounts(NamedTuple):
    """The number of new ratings, and of ratings that replaced one of an earlier import."""

    added: int
    replaced: int


def answer_order(answer: Imported, *, rater: str, expected: int | None) -> tuple[float, ...]:
    """The sort key of an answer: of several answers of one rater to one item, the one with the smallest key counts.

    A wrong answer to an attention check comes before a right one, then the answer that was submitted first. If that is
    unknown, a hash decides, which prefers no rating to another.
    """
    return (
        answer.value == expected,
        *_unknown_last(answer.submitted),
        draw(b"repeated answers", rater, answer.item, answer.value),
        *_unknown_last(answer.seconds),
    )


def _unknown_last(number: float | None) -> tuple[bool, float]:
    return (number is None, 0.0 if number is None else number)


def add_ratings(
    connection: sqlite3.Connection,
    ratings: Mapping[str, Sequence[Imported]],
    *,
    secret: bytes,
    values: Collection[int],
    now: float,
) -> ImportCounts:
    """Add ratings by the key of their rater."""
    connection.execute(_TABLE)
    rows = connection.execute("SELECT id, number, expected FROM items")
    items = {id_: (number, expected) for id_, number, expected in rows}
    added = replaced = 0
    for key, given in ratings.items():
        rater = _imported_rater(connection, keyed_digest(secret, "imported", key), now)
        for answer in given:
            if answer.item not in items or answer.value not in values:
                wanted = "an item of the study and a rating on its scale"
                raise InputError(f"item '{shortened(answer.item, 60)}' rated {answer.value}; wanted {wanted}")
            number, expected = items[answer.item]
            stored = _stored(connection, rater, number, answer.item)
            if stored is None:
                _insert(connection, rater, number, answer, now)
                added += 1
                continue
            task, earlier = stored
            order = [answer_order(one, rater=key, expected=expected) for one in (answer, earlier)]
            if order[0] < order[1]:
                _replace(connection, task, answer, now)
                replaced += earlier.value != answer.value
    return ImportCounts(added, replaced)


def _imported_rater(connection: sqlite3.Connection, mark: bytes, now: float) -> int:
    """The rater with this mark, created if needed. The mark takes the place of a token's digest; no token has it."""
    connection.execute(
        "INSERT INTO raters (token, origin, seen) VALUES (?, 'imported', ?) ON CONFLICT (token) DO NOTHING",
        (mark, now),
    )
    (number,) = connection.execute("SELECT number FROM raters WHERE token = ?", (mark,)).fetchone()
    return int(number)


def _stored(connection: sqlite3.Connection, rater: int, item: int, id_: str) -> tuple[int, Imported] | None:
    """The task and the answer of an earlier import."""
    row = connection.execute(
        "SELECT t.number, t.value, i.seconds, i.submitted FROM tasks t LEFT JOIN imported i ON i.task = t.number"
        " WHERE t.item = ? AND t.rater = ?",
        (item, rater),
    ).fetchone()
    return None if row is None else (row[0], Imported(id_, *row[1:]))


def _insert(connection: sqlite3.Connection, rater: int, item: int, answer: Imported, now: float) -> None:
    shown, answered = _times(answer, now)
    task = connection.execute(
        "INSERT INTO tasks (rater, place, item, shown, value, answered) VALUES (?, ?, ?, ?, ?, ?)",
        (rater, n_assigned(connection, rater), item, shown, answer.value, answered),
    ).lastrowid
    connection.execute("INSERT INTO imported VALUES (?, ?, ?)", (task, answer.seconds, answer.submitted))


def _replace(connection: sqlite3.Connection, task: int, answer: Imported, now: float) -> None:
    """Replace an answer by one that comes before it. The replaced one is kept in the table `withdrawn`."""
    connection.execute(
        "INSERT INTO withdrawn (task, value, answered, withdrawn)"
        " SELECT number, value, answered, ? FROM tasks WHERE number = ?",
        (now, task),
    )
    shown, answered = _times(answer, now)
    connection.execute(
        "UPDATE tasks SET value = ?, shown = ?, answered = ? WHERE number = ?", (answer.value, shown, answered, task)
    )
    connection.execute("INSERT OR REPLACE INTO imported VALUES (?, ?, ?)", (task, answer.seconds, answer.submitted))


def _times(answer: Imported, now: float) -> tuple[float, float]:
    """When the item was shown and answered; the time of the import if the answer has no time."""
    answered = now if answer.submitted is None else answer.submitted
    return UNKNOWN if answer.seconds is None else answered - answer.seconds, answered
