"""A server that is killed while raters answer: a short run of the benchmark, which detects faults."""

import importlib
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from tests.survey.store.small_studies import current, opened, raters_of
from textassay.survey.web.server import _listening

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

ROOT = Path(__file__).resolve().parents[3]
BENCHMARKS = ROOT / "benchmarks" / "survey"


@pytest.mark.slow
def test_raters_go_on_where_they_were_when_the_server_is_killed(tmp_path: Path) -> None:
    """The default tests run the same with five raters: `survey` in tests/test_benchmarks.py."""
    options = ["--raters", "20", "--kills", "2", "--seconds", "4"]
    command = [sys.executable, str(BENCHMARKS / "survey.py"), "faults", *options]
    place = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, env=place, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "killed 2 times and stopped once" in done.stdout
    assert "WRONG" not in done.stdout


def test_serving_a_study_needs_no_arrow() -> None:
    """A server that is back at once loses fewer raters, and it holds half the memory."""
    program = "import sys, textassay.survey.web.server, textassay.survey.web.app; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "textassay.survey.store.study_store" in said.split()
    assert not {"pyarrow", "numpy"} & set(said.split())


def test_no_page_waits_for_its_own_first_half_to_be_confirmed() -> None:
    """Linux, macOS and the BSDs hand this option on to connections; the event loop sets it only on some sockets."""
    with closing(_listening("127.0.0.1", 0)) as listener, closing(socket.create_connection(listener.getsockname())):
        taken, _ = listener.accept()
        with closing(taken):
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.fixture
def load_benchmark(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Files of the benchmark as modules."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


Verdict = Callable[[], dict[str, int]]


@pytest.fixture
def answered(tmp_path: Path, load_benchmark: Callable[[str], ModuleType]) -> tuple[Path, Verdict]:
    """A study in which two raters have answered three texts each and a third answer of one is on its way."""
    verdicts, books = load_benchmark("verdicts"), load_benchmark("raters")
    path = tmp_path / "s.db"
    store, links = opened(path, n_raters=2)
    run, people = books.Run(None), []
    with closing(store):
        for rater in raters_of(store, links.raters):
            person = books.Rater(rater.name, "/r/token", run)
            people.append(person)
            for value in (2, 3, 4):
                task = current(store, rater)
                store.answer(rater, task.number, value)
                person.book[task.number] = books.Answer(task.number, task.text, value)
            task = current(store, rater)
            person.sent = books.Answer(task.number, task.text, 5)
        store.answer(rater, task.number, 5)
    return path, lambda: dict(+(verdicts.beside_database(path, people) + verdicts.soundness(path)))


def test_nothing_is_wrong_with_what_was_confirmed_or_is_on_its_way(answered: tuple[Path, Verdict]) -> None:
    assert answered[1]() == {}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE tasks SET value = value % 6 + 1 WHERE number = 2", {"ratings with another value or text": 1}),
        (
            "UPDATE tasks SET value = NULL, answered = NULL, held_until = 9e9 WHERE number = 2",
            {"confirmed ratings lost": 1},
        ),
        ("UPDATE tasks SET value = 1 WHERE value = 5", {"ratings that nobody gave": 1}),
        ("UPDATE queue SET load = load + 1 WHERE item = 1", {"items whose ratings are miscounted": 1}),
        ("UPDATE tasks SET rater = 99 WHERE value IS NULL", {"findings of foreign_key_check": 1}),
    ],
)
def test_each_fault_in_the_file_is_noticed(answered: tuple[Path, Verdict], change: str, found: dict[str, int]) -> None:
    path, verdict = answered
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(change).rowcount == 1
        connection.commit()
    assert verdict() == found


def test_another_text_than_was_shown_is_noticed(answered: tuple[Path, Verdict]) -> None:
    path, verdict = answered
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE items SET text = 'another'")
        connection.commit()
    assert verdict() == {"ratings with another value or text": 6, "ratings that nobody gave": 1}


def test_a_rater_notices_being_moved(load_benchmark: Callable[[str], ModuleType]) -> None:
    books, browser = load_benchmark("raters"), load_benchmark("browser")
    run = books.Run(None)
    rater = books.Rater("r001", "/r/token", run)
    rater.page = shown = browser.Page("key", 7, "a text", 0, (1, 2))
    rater._compare(shown)
    assert run.wrong == {}
    rater._compare(browser.Page("key", 8, "another", 0, (1, 2)))
    assert run.wrong == {"a rater was moved from a text that was not answered": 1}
    rater.book[7] = books.Answer(7, "a text", 1)
    rater._compare(browser.Page("key", 8, "another", 0, (1, 2)))
    rater._compare(browser.Page("key", 7, "a text", 1, (1, 2)))
    assert run.wrong == {
        "a rater was moved from a text that was not answered": 1,
        "a page does not count the answers that were confirmed": 1,
        "a text that was answered is shown again": 1,
    }


def test_half_a_row_of_an_export_is_noticed(load_benchmark: Callable[[str], ModuleType]) -> None:
    exported = load_benchmark("verdicts").exported
    assert exported('rater,text,rating\nr001,"a, b",3\n') == [("r001", "a, b", 3)]
    for half in ('rater,text,rating\nr001,"a', "rater,text,rating\nr001,a", "rater,text,rating\nr001,a,\n"):
        with pytest.raises(Exception, match=r"unexpected end of data|half a row|invalid literal"):
            exported(half)
