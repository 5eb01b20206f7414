"""A study's file that is deleted, moved or replaced while it is open: no answer is confirmed and then lost."""

import http.client
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.survey.conftest import Site
from tests.survey.store.small_studies import current, opened, raters_of
from tests.survey.web.forms import TestClient, answer, begin, forms, heading
from textassay.survey.model import Rater
from textassay.survey.store import connections
from textassay.survey.store.connections import StudyGone
from textassay.survey.store.study_store import Store

AWAY = "was deleted or moved away while it was open, so nothing can be saved until it is moved back"
OTHER = "was replaced by another file while it was open, so nothing can be saved until it is moved back"


def deleted(path: Path) -> None:
    path.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def folder_moved(path: Path) -> None:
    path.parent.rename(path.parent.with_name("other"))


def replaced(path: Path) -> None:
    """By a study like it, as one does who puts a backup in its place."""
    path.with_name("backup.db").replace(path)


def made_anew(path: Path) -> None:
    path.unlink()
    path.touch()


def without_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def without_index(path: Path) -> None:
    Path(f"{path}-shm").unlink()


GONE: dict[Callable[[Path], None], str] = {
    deleted: AWAY,
    moved: AWAY,
    folder_moved: AWAY,
    replaced: OTHER,
    made_anew: OTHER,
    without_log: "s.db-wal, which belongs to it, was deleted or replaced while it was open, so nothing can be saved;",
    without_index: "s.db-shm, which belongs to it, was deleted or replaced while it was open, so nothing can be saved;",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a study can be, in a folder of its own."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / "s.db"


@pytest.fixture
def rated(place: Path) -> Iterator[tuple[Store, Rater]]:
    """A study with one answer in it and a backup beside it, and its rater."""
    store, links = opened(place, n_raters=1)
    (rater,) = raters_of(store, links.raters)
    store.answer(rater, current(store, rater).number, 4)
    store.backup(place.with_name("backup.db"))
    yield store, rater
    store.close()


def values(path: Path) -> list[int]:
    """What is in a file, by itself."""
    with closing(Store.open(path)) as store:
        return [rating.value for rating in store.ratings(checks=True)]


@pytest.mark.parametrize("go", GONE, ids=lambda go: go.__name__)
def test_nothing_is_taken_once_the_file_is_gone(
    place: Path, rated: tuple[Store, Rater], go: Callable[[Path], None]
) -> None:
    store, rater = rated
    task = current(store, rater)
    go(place)
    for work in (
        lambda: store.answer(rater, task.number, 5),
        lambda: store.undo(rater),
        lambda: store.invite(1),
        lambda: store.task(rater),
        store.summary,
        lambda: list(store.ratings()),
    ):
        with pytest.raises(StudyGone) as caught:
            work()
        assert str(caught.value).startswith(f"{place}: {GONE[go]}")
        assert "\n" not in str(caught.value)
        assert caught.value.time == 1


@pytest.mark.parametrize("go", [moved, folder_moved, without_log, without_index], ids=lambda go: go.__name__)
def test_what_was_taken_before_is_in_the_file_wherever_it_is(
    place: Path, rated: tuple[Store, Rater], go: Callable[[Path], None]
) -> None:
    store, rater = rated
    task = current(store, rater)
    go(place)
    with pytest.raises(StudyGone):
        store.answer(rater, task.number, 5)
    store.close()
    (file,) = (
        f for f in (place, place.with_name("elsewhere.db"), place.parent.with_name("other") / "s.db") if f.exists()
    )
    # By itself, as whoever finds it has it.
    shutil.copy(file, file.with_name("copy.db"))
    assert values(file.with_name("copy.db")) == [4]


@pytest.mark.parametrize("go", GONE, ids=lambda go: go.__name__)
def test_an_answer_is_not_taken_if_the_file_goes_while_it_is_written(
    place: Path, rated: tuple[Store, Rater], go: Callable[[Path], None]
) -> None:
    store, rater = rated
    task = current(store, rater)

    def on_commit(statement: str) -> None:
        if statement == "COMMIT":
            go(place)

    store._writer._connection.set_trace_callback(on_commit)
    with pytest.raises(StudyGone):
        store.answer(rater, task.number, 5)


def test_all_who_share_a_commit_hear_of_it(place: Path, rated: tuple[Store, Rater]) -> None:
    store, rater = rated
    task, other = current(store, rater), Future[None]()
    store._writer._waiting.append((lambda _: deleted(place), other))
    with pytest.raises(StudyGone) as caught:
        store.answer(rater, task.number, 5)
    heard = other.exception(timeout=0)
    assert isinstance(heard, StudyGone)
    assert heard is not caught.value
    assert (str(heard), heard.time) == (str(caught.value), 1)


def test_a_file_that_is_back_is_written_again(place: Path, rated: tuple[Store, Rater]) -> None:
    store, rater = rated
    task = current(store, rater)
    for time in (1, 2):
        moved(place)
        for _ in range(2):
            with pytest.raises(StudyGone) as caught:
                store.answer(rater, task.number, 5)
            assert caught.value.time == time
        place.with_name("elsewhere.db").rename(place)
        assert store.task(rater) == task
    assert store.answer(rater, task.number, 5) == "recorded"
    store.close()
    store.check_identity()
    assert sorted(values(place)) == [4, 5]


def test_the_name_of_a_link_is_watched_and_what_is_beside_its_file(place: Path) -> None:
    link = place.parent.with_name("link.db")
    store, links = opened(place, n_raters=1)
    store.close()
    link.symlink_to(place)
    for go, name in ((without_log, place), (deleted, link)):
        with closing(Store.open(link)) as store:
            (rater,) = raters_of(store, links.raters)
            task = current(store, rater)
            go(name)
            with pytest.raises(StudyGone):
                store.answer(rater, task.number, 5)


def test_a_reader_is_never_given_another_file(
    place: Path, rated: tuple[Store, Rater], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new connection has the file that has the name when it is opened, which is after the first look."""
    store, _ = rated
    connect = connections.connect

    def late(path: Path, **given: Any) -> sqlite3.Connection:
        replaced(place)
        return connect(path, **given)

    monkeypatch.setattr(connections, "connect", late)
    store._readers._idle.pop().close()
    with pytest.raises(StudyGone, match="replaced by another file"):
        store.summary()
    assert not store._readers._idle


def test_the_page_says_so_and_the_log_says_it_once(
    site: Site, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    page = begin(client, site.rater())
    form, aside = forms(page)["answer"], site.path.with_name("aside")
    for times in (1, 2):
        site.path.rename(aside)
        for _ in range(3):
            sent = client.post(form.action, data={**form.fields, "rating": "3"})
            shown = client.get(site.rater())
            for response in (sent, shown, client.get(f"/admin/{site.links.admin}")):
                assert response.status_code == 503
                assert heading(response.text) == "This study is not available"
                assert "nothing can be saved" in response.text
                # Which may not be so.
                assert "are safe" not in response.text
                assert site.path.name not in response.text
        assert client.get("/health").status_code == 200
        aside.rename(site.path)
        assert client.get(site.rater()).status_code == 200
        said = [record.getMessage() for record in caplog.records if record.name == "textassay.survey"]
        assert said == [f"answers cannot be saved: {site.path}: {AWAY}"] * times
    assert site.values() == []
    answer(client, page, "3")
    assert site.values() == [3]


@contextmanager
def served(path: Path) -> Iterator[tuple["subprocess.Popen[str]", http.client.HTTPConnection]]:
    """The command that serves a study, and a connection to it."""
    command = [sys.executable, "-m", "textassay", "survey", "serve", path.name, "--port", "0"]
    with subprocess.Popen(
        command, cwd=path.parent, env={**os.environ, "COLUMNS": "1000"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(4)]
            address = re.search(r"^at +http://(127\.0\.0\.1:\d+)$", "".join(said), re.MULTILINE)
            assert address is not None, said
            with closing(http.client.HTTPConnection(address[1], timeout=300)) as line:
                yield process, line
        finally:
            if process.poll() is None:
                process.kill()


def asked(line: http.client.HTTPConnection, method: str, address: str, body: str | None = None) -> tuple[int, str]:
    """The status and the page."""
    line.request(method, address, body, {"content-type": "application/x-www-form-urlencoded"} if body else {})
    response = line.getresponse()
    return response.status, response.read().decode()


def test_who_serves_is_not_told_that_all_is_in_a_file_that_is_gone(place: Path) -> None:
    store, links = opened(place, n_raters=1)
    store.close()
    address = f"/r/{links.raters[0]}?now=start"
    with served(place) as (process, line):

        def post() -> int:
            return asked(line, "POST", form.action, urlencode({**form.fields, "rating": "4"}))[0]

        form = forms(asked(line, "GET", address)[1])["answer"]
        assert post() == 303
        moved(place)
        # The second is already there, and not even that is said of a file that cannot be found.
        assert [post() for _ in range(3)] == [503] * 3
        process.send_signal(signal.SIGINT)
        out, complaints = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, "")
    assert complaints.splitlines() == [
        f"answers cannot be saved: s.db: {AWAY}",
        "textassay: s.db: was deleted, moved or replaced while it was open. Answers given before that are in the "
        "original file (lost if it was deleted); later answers were not accepted",
    ]
    assert values(place.with_name("elsewhere.db")) == [4]
