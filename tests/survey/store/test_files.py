"""The file of a study: created once, completely or not at all, private, and never confused with another file."""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.survey.store.small_studies import STUDY, current, opened, pairs, raters_of
from textassay.errors import InputError
from textassay.survey.model import Choice, SurveyItem
from textassay.survey.store import schema
from textassay.survey.store import study_store as store_module
from textassay.survey.store.study_store import Links, Store


def test_only_the_owner_may_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store, _ = opened(tmp_path / "s.db", n_raters=1)
        assert os.listdir(tmp_path) != []
        with closing(store):
            store.invite(1)
            assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)
    assert os.listdir(tmp_path) == ["s.db"]


def test_settings_of_the_connections(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    with closing(store), store._readers.reading() as reader:
        for connection in (store._writer._connection, reader):
            values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "foreign_keys")]
            assert values == ["wal", 1]
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
            assert connection.execute("PRAGMA busy_timeout").fetchone()[0] >= 10_000
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM items")


@pytest.mark.parametrize("kind", ["study", "text", "empty", "folder", "dangling link"])
def test_what_exists_is_never_touched(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "s.db"
    if kind == "study":
        Store.create(path, STUDY, pairs(4))
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling link":
        path.symlink_to(tmp_path / "nowhere")
    else:
        path.write_text("notes" if kind == "text" else "")
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=r"s\.db: exists and is not overwritten; wanted a new file") as caught:
        Store.create(path, STUDY, pairs(4))
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert os.listdir(tmp_path) == ["s.db"]


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_what_is_left_of_another_study_is_not_taken_for_a_part_of_this(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"s.db{ending}").write_bytes(b"x")
    with pytest.raises(InputError, match=rf"s\.db{ending} is left over from another study"):
        Store.create(tmp_path / "s.db", STUDY, pairs(4))
    assert os.listdir(tmp_path) == [f"s.db{ending}"]


@pytest.mark.parametrize("links", [True, False])
def test_of_many_who_create_at_once_one_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _no_links)
    path, start, made, refused = tmp_path / "s.db", Barrier(6), [], []

    def create() -> None:
        start.wait()
        try:
            made.append(Store.create(path, STUDY, pairs(4), n_raters=1))
        except InputError as error:
            refused.append(str(error))

    threads = [Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(refused) == 5
    assert all("is not overwritten" in line for line in refused)
    assert os.listdir(tmp_path) == ["s.db"]
    with closing(Store.open(path)) as store:
        assert store.is_admin(made[0].admin)


def _no_links(*_: Any) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_failure_on_the_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(error: BaseException) -> Callable[..., None]:
        def fail(*_: Any, **__: Any) -> None:
            raise error

        return fail

    full = sqlite3.OperationalError("database or disk is full")
    for error, wanted in ((full, InputError), (KeyboardInterrupt(), KeyboardInterrupt)):
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "put_items", fails(error))
            with pytest.raises(wanted):
                Store.create(tmp_path / "s.db", STUDY, pairs(4))
        assert os.listdir(tmp_path) == []
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", _no_links)
        patch.setattr(os, "replace", fails(OSError(5, "Input/output error")))
        with pytest.raises(InputError, match=r"cannot be created \(Input/output error\)"):
            Store.create(tmp_path / "s.db", STUDY, pairs(4))
    assert os.listdir(tmp_path) == []
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist$"):
        Store.create(tmp_path / "nowhere" / "s.db", STUDY, pairs(4))


def _other_application(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE study (settings TEXT)")


def _version(number: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        Store.create(path, STUDY, pairs(4))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {number}")

    return make


def _damaged(path: Path) -> None:
    Store.create(path, STUDY, pairs(400))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def _settings(text: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        Store.create(path, STUDY, pairs(4))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE study SET settings = ?", (text,))

    return make


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda path: None, r"s\.db: no such file; make a study with textassay survey create$"),
        (lambda path: path.mkdir(), r"s\.db: is a folder; wanted"),
        (os.mkfifo, r"s\.db: is not a regular file; wanted"),
        (lambda path: path.write_text("item,rating\n" * 200), r"s\.db: not an SQLite file; wanted"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\0" * 200), r"s\.db: not an SQLite file; wanted"),
        (lambda path: path.write_text(""), r"s\.db: not a rating study; wanted"),
        (_other_application, r"s\.db: not a rating study; wanted"),
        (_version(schema.VERSION + 1), r"s\.db: a study of version 3; this textassay reads versions 1 to 2$"),
        (_damaged, r"s\.db: the study cannot be read or written \(database disk image is malformed\); textassay"),
        (_settings("{"), r"s\.db: the study's settings are damaged \(JSONDecodeError\)$"),
        (_settings('{"choices": [], "x": 1}'), r"s\.db: the study's settings are damaged \(TypeError\)$"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, make: Callable[[Path], None], line: str) -> None:
    path = tmp_path / "s.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match=line) as caught:
        Store.open(path)
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert set(os.listdir(tmp_path)) <= {"s.db"}


def test_a_name_that_would_steer_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Store.open(tmp_path / "a\nb\x1b[31m.db")
    assert "\\x1b" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("study", "items", "line"),
    [
        (STUDY, [], "0 items, but none to rate"),
        (STUDY, pairs(0), "2 items, but none to rate"),
        (STUDY, [*pairs(2), pairs(2)[0]], r"item 5 \('item-0'\): another item has this id"),
        (STUDY, [SurveyItem("a", "human", "\ud800")], r"item 1 \('a'\): the text holds half a surrogate pair"),
        (STUDY, [SurveyItem("a", "human", "x", log_prob=float("nan"))], "the log-probability is nan"),
        (
            STUDY,
            [*pairs(2), SurveyItem("a", "check", "x", expected=9)],
            "expects the answer 9, which is not on",
        ),
        (replace(STUDY, title="\udfff"), pairs(2), "the study's title: the text holds half"),
        (replace(STUDY, introduction="\udfff"), pairs(2), "the study's introduction: the text holds half"),
        (replace(STUDY, thanks="\udfff"), pairs(2), "the study's thanks: the text holds half"),
        (replace(STUDY, choices=STUDY.choices[:1]), pairs(2), "wanted two or more, all different"),
        (
            replace(STUDY, choices=(Choice(1, "a", ""), Choice(1, "b", ""))),
            pairs(2),
            "wanted two or more, all different",
        ),
        (replace(STUDY, choices=(Choice(1, "a", ""), Choice(2**40, "b", ""))), pairs(2), "wanted a value from"),
        (replace(STUDY, ratings_wanted=0), pairs(2), "ratings per item: 0; wanted a number from 1"),
        (replace(STUDY, items_per_rater=0), pairs(2), "items per rater: 0; wanted"),
        (replace(STUDY, checks_per_rater=-1), pairs(2), "attention checks per rater: -1; wanted"),
        (replace(STUDY, days=-1), pairs(2), "days for which links work: -1; wanted"),
        (replace(STUDY, ratings_wanted=10**30), pairs(2), "ratings per item: 10+; wanted"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path: Path, study: Any, items: list[SurveyItem], line: str) -> None:
    with pytest.raises(InputError, match=line) as caught:
        Store.create(tmp_path / "s.db", study, items)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_tokens_are_nowhere_in_clear(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", n_raters=3)
    tokens: list[str] = [*_all(links), *store.invite(2), store.new_admin(), store.new_join()]
    joined = store.join(tokens[-1])
    assert joined is not None
    for rater in raters_of(store, [joined, *links.raters]):
        store.answer(rater, current(store, rater).number, 2)
    files = list(tmp_path.iterdir())
    assert {file.name for file in files} == {"s.db", "s.db-wal", "s.db-shm"}
    content = b"".join(file.read_bytes() for file in files)
    assert b"text 0" in content  # texts are there as they are, so the search would find a token too
    for token in (*tokens, joined):
        assert token.encode() not in content
    store.close()
    left = (tmp_path / "s.db").read_bytes()
    assert not [token for token in (*tokens, joined) if token.encode() in left]


def _all(links: Links) -> list[str]:
    return [links.admin, links.join, *links.raters]


def test_no_more_room_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=300, n_raters=40, items_per_rater=100, ratings_wanted=50)
    pages = store._writer._connection.execute("PRAGMA page_count").fetchone()[0]
    store._writer._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    raters, recorded = raters_of(store, links.raters), 0

    def answer_for_ever() -> None:
        nonlocal recorded
        for rater in cycle(raters):
            assert store.answer(rater, current(store, rater).number, 2) == "recorded"
            recorded += 1

    with pytest.raises(InputError, match="database or disk is full"):
        answer_for_ever()
    assert recorded > 0
    store.close()
    with closing(Store.open(tmp_path / "s.db")) as again:
        assert len(list(again.ratings(checks=True))) == recorded
        assert again.answer(raters[0], current(again, raters[0]).number, 3) == "recorded"


def test_another_process_that_holds_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.survey.store.connections._TIMEOUT_SECONDS", 0.05)
    store, links = opened(tmp_path / "s.db", n_raters=1)
    with closing(store), closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        (rater,) = raters_of(store, links.raters)
        task = current(store, rater)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match=r"s\.db: the study cannot be read or written \(database is locked\)$"):
            store.answer(rater, task.number, 3)
        assert store.summary().ratings == 0  # readers do not wait
        assert store.task(rater) == task
        other.execute("ROLLBACK")
        assert store.answer(rater, task.number, 3) == "recorded"
        with suppress(sqlite3.OperationalError):
            other.execute("ROLLBACK")


def whole(path: Path) -> list[tuple[str, int]]:
    """The ratings in a file by itself, whatever stands beside the study that it was copied from."""
    with closing(Store.open(path)) as store:
        return sorted((rating.rater, rating.value) for rating in store.ratings(checks=True))


def test_a_backup_while_the_study_is_in_use_is_whole(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=40, n_raters=4, items_per_rater=40, ratings_wanted=9)
    copies = [tmp_path / f"copy{n}.db" for n in range(3)]
    with closing(store):
        raters, acknowledged = raters_of(store, links.raters), []
        for number, copy in enumerate(copies, 1):
            for rater in raters:
                assert store.answer(rater, current(store, rater).number, number) == "recorded"
                acknowledged.append((rater.name, number))
            with closing(Store.open(tmp_path / "s.db", read_only=True)) as other:
                other.backup(copy)
            assert copy.stat().st_mode & 0o777 == 0o600
            assert whole(copy) == sorted(acknowledged)
    with closing(Store.open(copies[0])) as again:
        assert again.is_admin(links.admin)
        assert again.codes() == store_codes(tmp_path / "s.db")
        rater = raters_of(again, links.raters)[0]
        assert again.answer(rater, current(again, rater).number, 5) == "recorded"
    assert sorted(os.listdir(tmp_path)) == ["copy0.db", "copy1.db", "copy2.db", "s.db"]


def store_codes(path: Path) -> dict[str, str]:
    with closing(Store.open(path)) as store:
        return store.codes()


def test_a_backup_touches_nothing_that_exists_and_copies_no_damage(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    (tmp_path / "old.db").write_text("precious")
    with closing(store):
        with pytest.raises(InputError, match=r"old\.db: exists and is not overwritten"):
            store.backup(tmp_path / "old.db")
        with pytest.raises(InputError, match=r"s\.db: exists and is not overwritten"):
            store.backup(tmp_path / "s.db")
        with pytest.raises(InputError, match=r"the folder .*nowhere does not exist$"):
            store.backup(tmp_path / "nowhere" / "copy.db")
    _damage_a_rare_page(tmp_path / "s.db")
    with (
        closing(Store.open(tmp_path / "s.db")) as damaged,
        pytest.raises(InputError, match=r"copy\.db: not created, because the study is damaged") as caught,
    ):
        damaged.backup(tmp_path / "copy.db")
    assert "\n" not in str(caught.value)
    assert (tmp_path / "old.db").read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["old.db", "s.db"]


def _damage_a_rare_page(path: Path) -> None:
    """One that is not read while a study is opened."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'withdrawn_task'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_soon_after_an_answer_the_file_by_itself_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.survey.store.connections._CHECKPOINT_SECONDS", 0.01)
    store, links = opened(tmp_path / "s.db", n_raters=1)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        store.answer(rater, current(store, rater).number, 4)
        deadline = time.monotonic() + 300
        found: list[tuple[str, int]] = []
        while not found and time.monotonic() < deadline:
            time.sleep(0.01)
            # Not while it is being written, or the copy is half old and half new.
            with store._writer._lock:
                shutil.copy(tmp_path / "s.db", tmp_path / "copy.db")
            found = whole(tmp_path / "copy.db")
        assert found == [("r001", 4)]


def test_once_closed_the_file_by_itself_holds_all_though_others_have_it_open(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", n_raters=1)
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        assert other.execute("SELECT count(*) FROM raters").fetchone() == (1,)
        (rater,) = raters_of(store, links.raters)
        store.answer(rater, current(store, rater).number, 4)
        store.close()
        assert (tmp_path / "s.db-wal").stat().st_size == 0
        shutil.copy(tmp_path / "s.db", tmp_path / "copy.db")
        assert whole(tmp_path / "copy.db") == [("r001", 4)]


@pytest.fixture
def sealed() -> Iterator[Callable[[Callable[[Path], None]], Path]]:
    """Makes a study in a folder in which nothing can be written from then on: for root by being somebody else."""
    with tempfile.TemporaryDirectory() as name:
        folder, me = Path(name), os.geteuid()

        def seal(make: Callable[[Path], None]) -> Path:
            make(folder / "s.db")
            for file in folder.iterdir():
                file.chmod(0o444)
            folder.chmod(0o555)
            if me == 0:
                os.seteuid(65_534)
            return folder / "s.db"

        try:
            yield seal
        finally:
            if me == 0:
                os.seteuid(0)
            folder.chmod(0o755)


def _answered(path: Path) -> None:
    store, links = opened(path, n_raters=1)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        store.answer(rater, current(store, rater).number, 4)


def test_where_nothing_can_be_written_a_study_can_be_read(sealed: Callable[[Callable[[Path], None]], Path]) -> None:
    path, refused = sealed(_answered), r"s\.db: .* \(attempt to write a readonly database\)$"
    with closing(Store.open(path, read_only=True)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [4]
        assert store.summary().raters[0].done == 1
        with pytest.raises(InputError, match=refused):
            store.invite(1)
    with pytest.raises(InputError, match=refused):
        Store.open(path)
    assert os.listdir(path.parent) == ["s.db"]


def _with_log(path: Path) -> None:
    """As a server leaves it that was killed."""
    store, _ = opened(path.with_name("other.db"))
    with closing(store):
        store.invite(1)
        shutil.copy(path.with_name("other.db"), path)
        shutil.copy(path.with_name("other.db-wal"), f"{path}-wal")


def test_a_log_that_cannot_be_read_is_not_passed_over(sealed: Callable[[Callable[[Path], None]], Path]) -> None:
    path = sealed(_with_log)
    with pytest.raises(
        InputError, match=r"s\.db: its folder is not writable, and .*s\.db-wal contains a part of the study"
    ):
        Store.open(path, read_only=True)


def test_who_only_looks_cannot_write(tmp_path: Path) -> None:
    Store.create(tmp_path / "s.db", STUDY, pairs(4))
    with closing(Store.open(tmp_path / "s.db", read_only=True)) as store:
        with pytest.raises(InputError, match="attempt to write a readonly database"):
            store.invite(1)
        assert store.summary().raters == ()


# The links of the study in `version_1.sql`: it was made by version 0.5.0 and has two raters with two answers each.
EARLIER = Links(
    "5ypcfg7tfyfhuhseoo4y3l5ccihv53ysn3mespa",
    "ef53weh3sknat3oatyj6secjdabeabi3xyplr7y",
    ("iplhmc4wk4wujo5bos3wj7fwizbz5udqtfjy7oq",),
)
EARLIER_JOINED = "bzhsxfduzei5jha2ocpkvd6ovdciumou3fkm2qy"


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A study of version 1 of the schema."""
    path = tmp_path / "earlier.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("version_1.sql").read_text("utf-8"))
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def test_a_study_of_an_earlier_version_is_read_without_a_change(earlier: Path, tmp_path: Path) -> None:
    before = earlier.read_bytes()
    with closing(Store.open(earlier, read_only=True)) as store:
        assert [rating.value for rating in store.ratings(checks=True)] == [4] * 4
        assert [(rater.done, rater.excluded) for rater in store.summary().raters] == [(2, False), (2, False)]
        store.backup(tmp_path / "copy.db")
    assert earlier.read_bytes() == before
    with closing(Store.open(tmp_path / "copy.db")) as copy:
        assert len(list(copy.ratings(checks=True))) == 4


def test_a_study_of_an_earlier_version_continues(earlier: Path) -> None:
    for _ in range(2):
        with closing(Store.open(earlier)) as store:
            assert [rating.value for rating in store.ratings(checks=True)][:4].count(4) == 4
            invited, joined = raters_of(store, [EARLIER.raters[0], EARLIER_JOINED])
            for rater in (joined, invited):
                while (task := store.task(rater)) is not None:
                    assert store.answer(rater, task.number, 4) == "recorded"
            assert store.is_join(EARLIER.join)
            assert store.is_admin(EARLIER.admin)
            assert store.summary().share == 100
            with store._readers.reading() as connection:
                loads = connection.execute("SELECT load, firm FROM queue").fetchall()
            assert loads == [(2, 1)] * 4


def test_a_failure_while_a_study_gets_the_current_schema_changes_nothing(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "count_again", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Store.open(earlier)
    with closing(sqlite3.connect(earlier)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert "firm" not in str(connection.execute("SELECT sql FROM sqlite_master").fetchall())
    with closing(Store.open(earlier)) as store:
        assert len(list(store.ratings(checks=True))) == 4
