"""What raters wrote in their books beside what the study holds: nothing lost, doubled or changed, and in balance."""

import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from raters import Answer, Rater

# One rater has had all the items that lack most, so the next one lags by one more: that is all there may be.
MOST_SPREAD = 2
Key = tuple[str, int]


def beside_database(path: Path, raters: Sequence[Rater]) -> Counter[str]:
    """How many answers are lost, changed, doubled, or there without having been given.

    An answer that is on its way may be there or not, but only as it was sent.
    """
    with closing(_reading(path)) as connection:
        rows = connection.execute(
            "SELECT t.rater, t.number, i.text, t.value, t.item FROM tasks t JOIN items i ON i.number = t.item"
            " WHERE t.value IS NOT NULL"
        ).fetchall()
    found = {(f"r{rater:03d}", task): Answer(task, text, value) for rater, task, text, value, _ in rows}
    given = {(rater.name, task): answer for rater in raters for task, answer in rater.book.items()}
    on_the_way = {(rater.name, rater.sent.task): rater.sent for rater in raters if rater.sent is not None}
    twice = Counter((rater, item) for rater, _, _, _, item in rows)
    return _counted(given, found, on_the_way) + Counter(
        {"ratings doubled": sum(number - 1 for number in twice.values())}
    )


def _counted(given: dict[Key, Answer], found: dict[Key, Answer], on_the_way: dict[Key, Answer]) -> Counter[str]:
    changed = [key for key, answer in given.items() if found.get(key, answer) != answer]
    more = [key for key, answer in found.items() if key not in given and on_the_way.get(key) != answer]
    return Counter(
        {
            "confirmed ratings lost": sum(key not in found for key in given),
            "ratings with another value or text": len(changed),
            "ratings that nobody gave": len(more),
        }
    )


def beside_export(text: str, checks: str, raters: Sequence[Rater]) -> Counter[str]:
    """The same for the files that `survey export` wrote, when all is quiet."""
    given = Counter((rater.name, answer.text, answer.value) for rater in raters for answer in rater.book.values())
    found = Counter(exported(text)) + Counter(exported(checks))
    return Counter(
        {
            "confirmed ratings not exported": (given - found).total(),
            "exported ratings that nobody gave": (found - given).total(),
        }
    )


def exported(text: str) -> list[tuple[str, str, int]]:
    """Rater, text and rating of each row; a row that is not whole is an error."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [(row["rater"], row["text"], int(row["rating"])) for row in rows if _is_whole(row)]


def _is_whole(row: dict[str, str]) -> bool:
    if None in row or None in row.values():
        raise ValueError("half a row")
    return True


def ratings_in_status(text: str) -> int:
    """How many answers `survey status` counts, attention checks too."""
    return sum(int(rater["done"]) for rater in json.loads(text)["raters"])


def soundness(path: Path) -> Counter[str]:
    """What SQLite itself finds, and whether the counts that balance items are right."""
    with closing(_reading(path)) as connection:
        broken = [row for row in connection.execute("PRAGMA integrity_check") if row != ("ok",)]
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
        (miscounted,) = connection.execute(
            "SELECT count(*) FROM queue q WHERE q.load != (SELECT count(*) FROM tasks t WHERE t.item = q.item"
            " AND (t.value IS NOT NULL OR t.held_until IS NOT NULL))"
        ).fetchone()
    return Counter(
        {
            "findings of integrity_check": len(broken),
            "findings of foreign_key_check": len(orphans),
            "items whose ratings are miscounted": miscounted,
        }
    )


def balance(path: Path) -> tuple[str, Counter[str]]:
    """How evenly items and sources were given out."""
    with closing(_reading(path)) as connection:
        least, most = connection.execute("SELECT min(load), max(load) FROM queue").fetchone()
        by_source = dict(connection.execute("SELECT source, sum(load) FROM queue GROUP BY source"))
        by_rater = connection.execute(
            "SELECT abs(sum(CASE q.source WHEN 'human' THEN 1 ELSE -1 END)) FROM tasks t JOIN queue q"
            " ON q.item = t.item GROUP BY t.rater"
        ).fetchall()
    sources = ", ".join(f"{count:,} {source}" for source, count in by_source.items())
    said = (
        f"items were given {least} to {most} times; {sources}; "
        f"for one rater sources differ by at most {max(gap for (gap,) in by_rater)}"
    )
    return said, Counter({"items out of balance": 1} if most - least > MOST_SPREAD else {})


def _reading(path: Path) -> sqlite3.Connection:
    """The file as anybody else sees it, beside the server."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
