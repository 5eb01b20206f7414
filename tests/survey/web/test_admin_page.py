"""The progress of a study is the same number in the terminal, the JSON and the admin page."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.survey.store.small_studies import current, opened, raters_of
from textassay.cli.main import run
from textassay.survey.web.admin_page import view_of


@pytest.mark.parametrize(("n_ratings", "shown"), [(0, 0), (2, 16), (8, 66), (11, 91), (12, 100)])
def test_a_part_is_never_rounded_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], n_ratings: int, shown: int
) -> None:
    store, links = opened(tmp_path / "s.db", items=6, n_raters=2, ratings_wanted=2, checks_per_rater=0)
    with closing(store):
        tasks = [rater for rater in raters_of(store, links.raters) for _ in range(6)]
        for rater in tasks[:n_ratings]:
            store.answer(rater, current(store, rater).number, 3)
        assert view_of(store, datetime.now(UTC)).share == shown
    assert run(["survey", "status", str(tmp_path / "s.db")]) == 0
    assert f"{n_ratings} of 12 ({shown} %)\n" in capsys.readouterr().out
