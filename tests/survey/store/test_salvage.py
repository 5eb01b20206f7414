"""Damaged files of a study: they are never called complete, and what can still be read is exported."""

import csv
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, pairs, quick_folder
from tests.survey.web.server_process import served
from textassay.cli.main import run
from textassay.errors import InputError
from textassay.survey.model import Rating
from textassay.survey.store.export import ratings_csv
from textassay.survey.store.importing import Imported
from textassay.survey.store.salvage import StudyDamaged, check_sound, read_damaged
from textassay.survey.store.study_store import Store

PAGE = 4096
N_RATERS = 5


@pytest.fixture(scope="module")
def sound() -> Iterator[Path]:
    """A study of many pages: 300 items, each rated by five raters, one of whom fails a check."""
    items = pairs(300)
    with quick_folder() as folder:
        path = Path(folder) / "sound.db"
        Store.create(path, STUDY, items)
        with closing(Store.open(path)) as store:
            store.import_ratings(
                {
                    f"worker {rater}": [Imported(item.id, 1 + (rater + len(item.id)) % 6, 2.0, 1e9) for item in items]
                    for rater in range(N_RATERS)
                }
            )
        yield path


def damaged_copy(sound: Path, folder: Path, page: int) -> Path:
    """A copy of the file with one page overwritten."""
    path = folder / f"{page}.db"
    content = bytearray(sound.read_bytes())
    content[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE
    path.write_bytes(content)
    return path


def without_context(rating: Rating) -> Rating:
    """The rating of the same item in a study without contexts."""
    return replace(rating, item=replace(rating.item, context=None))


def test_ratings_are_read_without_the_table_of_contexts(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = damaged_copy(sound, tmp_path, roots(sound)["contexts"])
    assert run(["survey", "export", str(path), "--salvage", "--out", str(tmp_path / "r.csv")]) == 0
    printed = capsys.readouterr().err
    assert f"{300 * N_RATERS:,} ratings of 300 items by 5 raters" in printed
    assert "parts of these tables cannot be read: contexts" in printed
    assert "the contexts of 300 items cannot be read: their ratings have an empty context" in printed
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with closing(Store.open(sound, read_only=True)) as store:
        given = [(rating.item.id, rating.item.text, rating.rater, rating.value) for rating in store.ratings()]
    assert [(row["item"], row["text"], row["rater"], int(row["rating"])) for row in rows] == given
    assert {row["context"] for row in rows} == {""}


def roots(path: Path) -> dict[str, int]:
    """The first page of each table and index."""
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0"))


def test_a_sound_study_is_called_sound_and_salvaged_completely(sound: Path) -> None:
    check_sound(sound)
    found = read_damaged(sound)
    with closing(Store.open(sound, read_only=True)) as store, store.snapshot() as snapshot:
        assert list(found.ratings(checks=True)) == list(snapshot.ratings(checks=True))
        assert "".join(ratings_csv(found)) == "".join(ratings_csv(snapshot))
        assert found.summary().ratings == snapshot.summary().ratings == 300 * N_RATERS
    assert (found.incomplete, found.orphans) == ((), 0)


def test_whichever_page_is_damaged_it_is_reported_and_no_wrong_rating_is_read(sound: Path, tmp_path: Path) -> None:
    every = set(map(without_context, read_damaged(sound).answers))
    n_pages, n_read = sound.stat().st_size // PAGE, []
    assert n_pages > 30
    for page in range(1, n_pages + 1):
        path = damaged_copy(sound, tmp_path, page)
        with pytest.raises(StudyDamaged, match="the file is damaged") as caught:
            check_sound(path)
        assert "\n" not in str(caught.value)
        if "no answer can be read; use a backup" in str(caught.value):
            with pytest.raises(InputError, match=r"use a backup$"):
                read_damaged(path)
            continue
        found = read_damaged(path)
        assert set(map(without_context, found.answers)) <= every
        assert f"{len(found.answers):,} answer" in str(caught.value)
        n_read.append(len(found.answers))
    # Only the three pages of the schema and that of the settings make everything unreadable.
    assert len(n_read) == n_pages - 4
    assert n_read.count(len(every)) > n_pages / 3
    assert sorted(n_read)[n_pages // 4] > 0.8 * len(every)


def test_export_of_a_damaged_study_names_the_option_that_works(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = roots(sound)["items"]
    path = damaged_copy(sound, tmp_path, page)
    assert run(["survey", "export", str(path), "--out", str(tmp_path / "r.csv")]) == 2
    assert "textassay survey export --salvage writes the answers that can still be read" in capsys.readouterr().err
    damaged = damaged_copy(sound, tmp_path, roots(sound)["withdrawn_task"])
    assert run(["survey", "export", str(damaged), "--salvage", "--out", str(tmp_path / "r.csv")]) == 0
    assert f"{300 * N_RATERS:,} ratings of 300 items by 5 raters" in capsys.readouterr().err
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 300 * N_RATERS


@pytest.mark.parametrize("name", ["tasks", "items", "queue_order", "withdrawn_task", "raters", "contexts"])
def test_a_server_does_not_call_a_damaged_file_saved(sound: Path, tmp_path: Path, name: str) -> None:
    pytest.importorskip("uvicorn", reason="needs uvicorn")
    path = tmp_path / "s.db"
    shutil.copyfile(sound, path)
    with served(path) as (process, _):
        with path.open("r+b") as file:
            file.seek((roots(sound)[name] - 1) * PAGE)
            file.write(b"\xff" * PAGE)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert "closed" not in out
    assert process.returncode != 0
    assert "StudyDamaged" in err
