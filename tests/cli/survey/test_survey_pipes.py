"""Personal links are in their file though nobody reads what is printed, or in the print where there can be no file."""

import csv
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.study_store import Links, Store

ITEMS = [SurveyItem("a", "human", "one"), SurveyItem("b", "model", "two")]


def unread(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command whose reader has left before the first word."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-m", "textassay", "survey", *arguments],
            cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        os.close(writer)


def names_in(file: Path) -> list[tuple[str, str | None]]:
    """The names in a file of links, and whose links they are by the study beside it."""
    with file.open(encoding="utf-8", newline="") as lines, closing(Store.open(file.with_name("s.db"))) as store:
        found = [(row["rater"], store.rater(row["link"].rpartition("/")[2])) for row in csv.DictReader(lines)]
    return [(name, None if rater is None else rater.name) for name, rater in found]


def test_the_links_of_a_new_study_are_written_first(tmp_path: Path) -> None:
    for source in ("human", "model"):
        (tmp_path / f"{source}.txt").write_text("one\ntwo\n", encoding="utf-8")
    given = ("--human", "human.txt", "--model", "model.txt", "--raters", "2", "--links", "l.csv")
    found = unread(tmp_path, "create", "s.db", *given)
    assert (found.returncode, found.stderr) == (0, "wrote l.csv: 2 personal links, readable only by you\n")
    assert names_in(tmp_path / "l.csv") == [("r001", "r001"), ("r002", "r002")]


def made(folder: Path) -> Links:
    return Store.create(folder / "s.db", Study("Title", "", "How typical?", ""), ITEMS, n_raters=2)


def test_new_links_are_written_before_it_is_said_that_others_ended(tmp_path: Path) -> None:
    links = made(tmp_path)
    given = ("--join", "--admin", "--again", "r002", "--raters", "1", "--links", "l.csv")
    found = unread(tmp_path, "links", "s.db", *given)
    assert (found.returncode, found.stderr) == (0, "wrote l.csv: 2 personal links, readable only by you\n")
    assert names_in(tmp_path / "l.csv") == [("r002", "r002"), ("r003", "r003")]
    with closing(Store.open(tmp_path / "s.db")) as store:
        assert not store.is_admin(links.admin)


def test_links_that_cannot_be_written_are_shown_rather_than_lost(
    tmp_path: Path, run_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    opened = os.open

    def full(path: str, *given: int) -> int:
        if path == "l.csv":
            raise OSError(28, "No space left on device")
        return opened(path, *given)

    monkeypatch.setattr("textassay.survey.links.os.open", full)
    found = run_command("survey", "links", "s.db", "--raters", "1", "--join", "--links", "l.csv")
    assert found.returncode == 2
    assert found.stderr == "textassay: l.csv: the links cannot be written (no space left on device)\n"
    assert "/join/" in found.stdout
    (token,) = (line.rpartition("/")[2] for line in found.stdout.splitlines() if line.startswith("  r003  http"))
    with closing(Store.open(Path("s.db"))) as store:
        rater = store.rater(token)
    assert rater is not None
    assert rater.name == "r003"
