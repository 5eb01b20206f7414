"""A study that another program has locked while it is served: one line in the log, and a page to try again."""

import asyncio
import http.client
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.survey.conftest import ITEMS, STUDY, Site
from tests.survey.store.small_studies import current, opened, raters_of
from tests.survey.web.forms import Form, TestClient, answer, begin, forms
from tests.survey.web.server_process import served
from textassay.errors import InputError
from textassay.survey.store import export
from textassay.survey.store.connections import StudyBusy
from textassay.survey.store.study_store import Store
from textassay.survey.web.app import make_app

FORM = {"content-type": "application/x-www-form-urlencoded"}


def said(caplog: pytest.LogCaptureFixture) -> list[tuple[str, bool]]:
    """What the log of the page has, and whether with a traceback."""
    return [(r.getMessage(), r.exc_info is not None) for r in caplog.records if r.name == "textassay.survey"]


@pytest.mark.parametrize(
    ("fault", "status", "retry"),
    [
        (StudyBusy("s.db: the study cannot be read or written (database is locked)"), 503, "5"),
        (InputError("s.db: the study cannot be read or written (database or disk is full)"), 500, None),
    ],
)
def test_trouble_with_the_file_is_one_line_in_the_log(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    fault: Exception, status: int, retry: str | None,
) -> None:  # fmt: skip
    def broken(*_: object) -> None:
        raise fault

    form = forms(begin(client, site.rater()))["answer"]
    monkeypatch.setattr(site.store, "answer", broken)
    sent = client.post(form.action, data={**form.fields, "rating": "3"})
    assert (sent.status_code, sent.headers.get("retry-after")) == (status, retry)
    assert "s.db" not in sent.text
    assert "takes you back to where you stopped" in sent.text
    assert said(caplog) == [(f"a request failed: {fault}", False)]


def posted(where: str, form: Form, *, sent: Callable[[], object] = lambda: None) -> tuple[int, str | None]:
    """What a server says to a form: the status, and when to come again. `sent` is told when the form has gone out."""
    with closing(http.client.HTTPConnection(where, timeout=300)) as connection:
        connection.request("POST", form.action, urlencode({**form.fields, "rating": "3"}), FORM)
        sent()
        response = connection.getresponse()
        response.read()
        return response.status, response.getheader("retry-after")


@pytest.fixture
def one_rater(tmp_path: Path) -> tuple[Path, str]:
    """A study, and the address of its rater's first text."""
    links = Store.create(tmp_path / "s.db", STUDY, ITEMS, n_raters=1)
    return tmp_path / "s.db", f"/r/{links.raters[0]}?now=start"


def first_form(line: http.client.HTTPConnection, address: str) -> Form:
    """The form of the text at this address."""
    line.request("GET", address)
    return forms(line.getresponse().read().decode())["answer"]


def test_a_page_lives_on_while_another_program_holds_the_file(one_rater: tuple[Path, str]) -> None:
    """More answers come at once than there are threads to save them in."""
    (path, address), n_posts = one_rater, 50
    results: list[tuple[int, str | None]] = []
    all_sent = threading.Barrier(n_posts + 1, timeout=300)
    with (
        served(path, timeouts={"store": 50.0}) as (process, where),
        closing(http.client.HTTPConnection(where, timeout=300)) as line,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        form = first_form(line, address)
        other.execute("BEGIN IMMEDIATE")
        threads = [
            threading.Thread(target=lambda: results.append(posted(where, form, sent=all_sent.wait)))
            for _ in range(n_posts)
        ]
        for thread in threads:
            thread.start()
        all_sent.wait()
        # Again and again: the first of these may still come before some of the answers are taken up.
        for path_of_file in ("/health", "/static/survey.css", "/") * 10:
            line.request("GET", path_of_file)
            response = line.getresponse()
            assert (response.status, bool(response.read())) == (200, True)
        assert results == []
        other.execute("ROLLBACK")
        for thread in threads:
            thread.join()
        assert results == [(303, None)] * n_posts
        process.terminate()
        assert process.communicate(timeout=300) == ("closed\n", "")
    with closing(Store.open(path)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [3]


def test_who_waits_in_vain_is_told_to_come_again(one_rater: tuple[Path, str]) -> None:
    (path, address), n_posts, timeout = one_rater, 60, 1.0
    results: list[tuple[int, str | None]] = []
    with (
        served(path, timeouts={"store": timeout}) as (process, where),
        closing(http.client.HTTPConnection(where, timeout=300)) as line,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        form = first_form(line, address)
        other.execute("BEGIN IMMEDIATE")
        threads = [threading.Thread(target=lambda: results.append(posted(where, form))) for _ in range(n_posts)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Not one timeout after another, which would take a minute.
        assert time.monotonic() - began < n_posts * timeout / 2
        assert results == [(503, "5")] * n_posts
        other.execute("ROLLBACK")
        assert posted(where, form) == (303, None)
        process.terminate()
        out, complaints = process.communicate(timeout=300)
    assert out == "closed\n"
    assert set(complaints.splitlines()) == {
        f"a request failed: {path}: the study cannot be read or written (database is locked)"
    }
    with closing(Store.open(path)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [3]


def test_after_waiting_in_vain_nobody_waits_as_long(tmp_path: Path) -> None:
    Store.create(tmp_path / "s.db", STUDY, ITEMS)
    with (
        closing(Store.open(tmp_path / "s.db", timeout=0.4)) as store,
        closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other,
    ):

        def timeout() -> float:
            """For how many seconds the next one would wait, as SQLite knows it."""
            (milliseconds,) = store._writer._connection.execute("PRAGMA busy_timeout").fetchone()
            return float(milliseconds / 1000)

        for _ in range(2):
            other.execute("BEGIN IMMEDIATE")
            waits, began = [timeout()], time.monotonic()
            for _ in range(3):
                with pytest.raises(StudyBusy, match=r"\(database is locked\)$"):
                    store.invite(1)
                waits.append(timeout())
            assert time.monotonic() - began > 0.4
            other.execute("ROLLBACK")
            # Once the file is free, the next wait has the full timeout again.
            assert len(store.invite(1)) == 1
            assert waits == [0.4, 0.1, 0.1, 0.1]


def test_the_ratings_are_sent_while_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_PIECE", 1)
    # Without attention checks: their answers are no ratings, and a rater meets them at a place left to chance.
    store, links = opened(tmp_path / "s.db", n_raters=2, checks_per_rater=0)
    with closing(store):
        for rater in raters_of(store, links.raters):
            for value in (2, 3, 4):
                store.answer(rater, current(store, rater).number, value)
        pieces = asyncio.run(_sent(store, f"/admin/{links.admin}/ratings.csv"))
        # A piece for every rating, the first with the header; then what was left over and the end, both empty.
        assert [piece.count(b"\n") for piece in pieces] == [2, 1, 1, 1, 1, 1, 0, 0]
        assert b"".join(pieces).decode() == "".join(export.ratings_csv(store))


async def _sent(store: Store, path: str, *, leave_after: int | None = None) -> list[bytes]:
    """The parts of an answer as the application hands them over; the visitor may leave after some of them."""
    pieces: list[bytes] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        raise AssertionError("nothing else comes")

    async def send(message: Any) -> None:
        if leave_after is not None and len(pieces) >= leave_after:
            raise OSError("gone")
        if message["type"] == "http.response.body":
            pieces.append(message["body"])

    scope = {
        "type": "http", "asgi": {"spec_version": "2.4"}, "method": "GET", "path": path, "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")], "client": None,
    }  # fmt: skip
    await make_app(store)(scope, receive, send)
    return pieces


def test_who_leaves_in_the_middle_of_a_download_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(export, "_PIECE", 1)
    store, links = opened(tmp_path / "s.db", n_raters=1)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        for value in (2, 3, 4):
            store.answer(rater, current(store, rater).number, value)
        asyncio.run(_sent(store, f"/admin/{links.admin}/ratings.csv", leave_after=1))
        assert said(caplog) == []
        # What was being read is given back, and the study can be written.
        assert store.undo(rater)


def test_a_download_that_breaks_does_not_look_whole(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> Iterator[str]:
        yield "item,rating\n"
        raise InputError("s.db: the study cannot be read or written (disk I/O error)")

    monkeypatch.setattr(export, "ratings_csv", broken)
    # A whole answer ends with an empty part; without it the browser knows that something is missing.
    assert asyncio.run(_sent(site.store, f"/admin/{site.links.admin}/ratings.csv")) == [b"item,rating\n"]
    assert said(caplog) == [("a request failed: s.db: the study cannot be read or written (disk I/O error)", False)]


def test_the_admin_can_take_ratings_that_no_spreadsheet_runs(make_site: Callable[..., Site]) -> None:
    evil = tuple(replace(item, text=f"=1+1 {item.text}") for item in ITEMS)
    site = make_site(items=evil)
    client = site.visitor()
    page = begin(client, site.rater())
    for _ in range(3):
        page = answer(client, page, "2")
    address = f"/admin/{site.links.admin}/ratings.csv"
    plain, safe = client.get(address), client.get(address, params={"for": "spreadsheet"})
    assert ",=1+1" in plain.text or ',"=1+1' in plain.text
    assert ",=1+1" not in safe.text
    assert ',"=1+1' not in safe.text
    assert f'href="{address}?for=spreadsheet"' in client.get(f"/admin/{site.links.admin}").text
    assert safe.headers["content-disposition"] == 'attachment; filename="ratings-spreadsheet.csv"'
