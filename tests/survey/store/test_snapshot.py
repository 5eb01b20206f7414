"""Counts and rows from one point in time, although answers keep coming in."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.survey.store.small_studies import opened
from textassay.cli.main import run
from textassay.cli.survey import ratings as command
from textassay.survey.store.export import ratings_csv
from textassay.survey.store.importing import Imported


def test_a_snapshot_does_not_change(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    with closing(store), store.snapshot() as found:
        assert found.summary().ratings == 0
        store.import_ratings({"A": [Imported("item-0", 3, 1.0)]})
        assert (found.summary().ratings, list(found.ratings()), store.summary().ratings) == (0, [], 1)
        assert "".join(ratings_csv(found)).count("\n") == 1


def test_export_prints_the_number_of_rows_that_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store, _ = opened(tmp_path / "s.db")
    real = command._export_summary

    def with_more_answers(*arguments: Any, **options: Any) -> list[str]:
        lines = real(*arguments, **options)
        store.import_ratings({"B": [Imported("item-1", 4, 1.0)]})
        return lines

    with closing(store):
        store.import_ratings({"A": [Imported("item-0", 3, 1.0)]})
        monkeypatch.setattr(command, "_export_summary", with_more_answers)
        assert run(["survey", "export", str(tmp_path / "s.db"), "--out", str(tmp_path / "r.csv")]) == 0
        assert store.summary().ratings == 2
    (printed,) = re.findall(r"^(\d+) rating", capsys.readouterr().err, re.MULTILINE)
    assert int(printed) == (tmp_path / "r.csv").read_text(encoding="utf-8").count("\n") - 1 == 1


def test_ratings_beyond_those_wanted_are_no_progress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, _ = opened(tmp_path / "s.db", items=4, ratings_wanted=2)
    with closing(store):
        for worker in range(50):
            store.import_ratings({f"{worker}": [Imported("item-0", 3, 1.0), Imported("check-0", 6, 1.0)]})
        assert (store.summary().ratings, store.summary().wanted, store.summary().share) == (50, 8, 25)
    assert run(["survey", "status", str(tmp_path / "s.db")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "50 of 8 (25 %)" in out
    assert out.endswith("r011 (0/1), r012 (0/1) and 38 more")
