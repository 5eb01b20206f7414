"""The store under load and with faults: threads, shared commits, and processes that are killed."""

import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.survey.store.small_studies import current, opened, raters_of
from textassay.survey.model import Rater
from textassay.survey.store.connections import Writer, connect
from textassay.survey.store.file_identity import FileIdentity
from textassay.survey.store.study_store import Links, Store

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on a real disk: here threads wait for each other's flushes as they do in earnest."""
    return tmp_path_factory.mktemp("faults")


def in_threads(works: list[Callable[[], None]]) -> None:
    """Run all at once; a failure in any of them is the test's."""
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def wait_for(number: int, writer: Writer) -> None:
    """Until so many wait for the writer; a writer that loses one fails the test, and does not hang it."""
    end = time.monotonic() + 300
    while len(writer._waiting) < number:
        assert time.monotonic() < end, f"{len(writer._waiting)} of {number} wait"
        time.sleep(0.005)


def damage(path: Path) -> list[tuple[object, ...]]:
    """Items of which the queue counts otherwise than there are tasks, and all that SQLite finds wrong."""
    with closing(sqlite3.connect(path)) as connection:
        miscounted = connection.execute(
            "SELECT q.item, q.load FROM queue q WHERE q.load != (SELECT count(*) FROM tasks t WHERE t.item = q.item"
            " AND (t.value IS NOT NULL OR t.held_until IS NOT NULL))"
        ).fetchall()
        broken = [row for row in connection.execute("PRAGMA integrity_check") if row != ("ok",)]
        return [*miscounted, *broken, *connection.execute("PRAGMA foreign_key_check")]


def test_many_raters_in_many_threads(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=30, n_raters=24, ratings_wanted=8, items_per_rater=10)
    recorded: list[tuple[str, int]] = []
    over = threading.Event()

    def rate(rater: Rater) -> None:
        while (task := store.task(rater)) is not None:
            assert store.answer(rater, task.number, 1 + task.number % 6) == "recorded"
            assert store.answer(rater, task.number, 1 + task.number % 6) == "already"
            assert store.answer(rater, task.number, 1 + (task.number + 1) % 6) == "kept"
            recorded.append((rater.name, 1 + task.number % 6))

    def look() -> None:
        while not over.is_set():
            summary = store.summary()
            assert sum(summary.ratings_per_item) == summary.ratings
            assert max(summary.ratings_per_item) <= 8
            assert len(list(store.ratings())) >= summary.ratings
            time.sleep(0.01)

    with closing(store):
        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            in_threads([lambda rater=rater: rate(rater) for rater in raters_of(store, links.raters)])  # type: ignore[misc]
        finally:
            over.set()
            watcher.join()
        found = [(rating.rater, rating.value) for rating in store.ratings(checks=True)]
        assert Counter(found) == Counter(recorded)
        counts = store.summary().ratings_per_item
        assert max(counts) - min(counts) <= 1
    assert damage(tmp_path / "s.db") == []


def test_of_the_same_answer_from_many_threads_one_is_recorded(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=8, n_raters=1)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        outcomes: list[str] = []
        seen = set()
        all_have_looked = threading.Barrier(8, timeout=300)

        def click() -> None:
            task = current(store, rater)
            seen.add(task.number)
            all_have_looked.wait()
            outcomes.append(store.answer(rater, task.number, 3))

        in_threads([click] * 8)
        assert len(seen) == 1
        assert Counter(outcomes) == {"recorded": 1, "already": 7}
        assert [rating.value for rating in store.ratings(checks=True)] == [3]
        assert current(store, rater).done == 1


def test_those_who_wait_share_a_commit_and_fail_alone(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    store.close()
    connection = connect(tmp_path / "s.db")
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    writer = Writer(connection, "s.db", check=FileIdentity(tmp_path / "s.db", "s.db").check)
    numbers: list[int] = []

    def add(number: int) -> None:
        def work(connection: sqlite3.Connection) -> int:
            connection.execute("INSERT INTO contexts (number, text) VALUES (?, 'x')", (number,))
            return number

        numbers.append(writer.run(work))

    def fail() -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO contexts (number, text) VALUES (900, 'x')")
            connection.execute("INSERT INTO contexts (number, text) VALUES (900, 'again')")

        with pytest.raises(sqlite3.IntegrityError):
            writer.run(work)

    writer._lock.acquire()
    works: list[Callable[[], None]] = [lambda number=number: add(number) for number in range(500, 510)]  # type: ignore[misc]
    runner = threading.Thread(target=in_threads, args=([*works[:5], fail, *works[5:]],))
    runner.start()
    wait_for(11, writer)
    assert numbers == []
    writer._lock.release()
    runner.join()
    assert sorted(numbers) == list(range(500, 510))
    assert statements.count("COMMIT") == 1
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        kept = [
            number for (number,) in other.execute("SELECT number FROM contexts WHERE number >= 500 ORDER BY number")
        ]
    assert kept == list(range(500, 510))
    writer.close()


def test_a_commit_that_fails_is_nobodys_success(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    store.close()
    writer = Writer(connect(tmp_path / "s.db"), "s.db", check=FileIdentity(tmp_path / "s.db", "s.db").check)

    def interrupted(_: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    def add(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO contexts (number, text) VALUES (700, 'x')")

    failures: list[str] = []

    def run(work: Callable[[sqlite3.Connection], None]) -> None:
        try:
            writer.run(work)
        except BaseException as error:
            failures.append(str(error))

    writer._lock.acquire()
    threads = [threading.Thread(target=run, args=(work,)) for work in (add, interrupted, add)]
    for thread in threads:
        thread.start()
    wait_for(3, writer)
    writer._lock.release()
    for thread in threads:
        thread.join()
    assert len(failures) == 3
    writer.run(add)  # it goes on, and nothing of the first attempt is there
    writer.close()


def killed_run(path: Path, links: Links, *, after: int, threads: int) -> list[list[str]]:
    """What a process said until it was killed, a while after its `after`-th line."""
    command = [sys.executable, "-m", "tests.survey.store.answering_process", str(path), str(threads), *links.raters]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.split())
            if len(said) == after:
                process.kill()
    return [words for words in said if words and words[0] != "open"]


def answers_in(path: Path) -> dict[tuple[int, int], int]:
    """What is in the file: the value of each rater's answered task."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT rater, number, value FROM tasks WHERE value IS NOT NULL").fetchall()
    return {(rater, number): value for rater, number, value in rows}


def test_kill_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path, rng = tmp_path / "s.db", random.Random(4)
    store, links = opened(path, items=60, n_raters=40, items_per_rater=30, ratings_wanted=30)
    store.close()
    acknowledged = 0
    for _ in range(5):
        values, last = answers_in(path), {}
        for kind, *numbers in killed_run(path, links, after=rng.randint(60, 200), threads=4):
            key = (int(numbers[0]), int(numbers[1]))
            last[key[0]] = (kind, key)
            if kind == "recorded":
                values[key] = int(numbers[2])
                acknowledged += 1
            elif kind == "undone":
                values.pop(key)
        found = answers_in(path)
        # Of what a rater was doing at the end, nothing was said, and either outcome is right.
        doubtful = {key for kind, key in last.values() if kind in ("shown", "undoing")}
        assert {key: value for key, value in values.items() if key not in doubtful} == {
            key: value for key, value in found.items() if key not in doubtful
        }
        assert damage(path) == []
        with closing(Store.open(path)) as store:
            for rater in raters_of(store, links.raters):
                kind, key = last.get(rater.number, ("", (0, 0)))
                if key in found:
                    assert found[key] == 1 + key[1] % 6
                elif kind:  # shown or undone, and not answered: the rater goes on there
                    assert current(store, rater).number == key[1]
            answers = [(rating.rater, rating.item.id) for rating in store.ratings(checks=True)]
            assert len(set(answers)) == len(answers) == len(found)
    assert acknowledged > 100
