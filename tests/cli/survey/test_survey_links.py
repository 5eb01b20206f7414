"""`textassay survey links --again`: a lost personal link is replaced, and nothing else is."""

import csv
import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.refusal import assert_refused
from textassay.survey.model import Study, SurveyItem
from textassay.survey.store.study_store import Links, Store

LINK = re.compile(r"^  (r\d+)  http://127\.0\.0\.1:8000/r/([a-z2-7]{39})$", re.MULTILINE)


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Links:
    """The links of a study of three raters, which is in this folder."""
    monkeypatch.chdir(tmp_path)
    items = [SurveyItem("a", "human", "one"), SurveyItem("b", "model", "two")]
    return Store.create(Path("s.db"), Study("Title", "", "How typical?", ""), items, n_raters=3)


def names_of(tokens: list[str]) -> list[str | None]:
    """Whose tokens these are."""
    with closing(Store.open(Path("s.db"))) as store:
        found = [store.rater(token) for token in tokens]
    return [None if rater is None else rater.name for rater in found]


def test_a_lost_link_is_replaced(run_command: Command, links: Links) -> None:
    found = run_command("survey", "links", "s.db", "--again", "r002", "--raters", "1")
    assert found.returncode == 0
    given = LINK.findall(found.stdout)
    assert [name for name, _ in given] == ["r002", "r004"]
    assert names_of([token for _, token in given]) == ["r002", "r004"]
    assert names_of(list(links.raters)) == ["r001", None, "r003"]
    assert "The old link of r002 no longer works.\n" in found.stdout


def test_several_lost_links_go_to_a_file(run_command: Command, links: Links) -> None:
    found = run_command("survey", "links", "s.db", "--again", "r003,r001", "--links", "l.csv")
    assert (found.returncode, "/r/" in found.stdout) == (0, False)
    assert found.stderr == "wrote l.csv: 2 personal links, readable only by you\n"
    rows = list(csv.DictReader(Path("l.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["rater"] for row in rows] == ["r003", "r001"]
    assert names_of([row["link"].rpartition("/")[2] for row in rows]) == ["r003", "r001"]
    assert names_of(list(links.raters)) == [None, "r002", None]


def test_a_wrong_name_changes_nothing(run_command: Command, links: Links) -> None:
    found = run_command("survey", "links", "s.db", "--again", "r001", "--again", "x\x1b[31m", "--join", "--raters", "1")
    assert_refused(found, "rater 'x\\x1b[31m': the study has no such rater; wanted one of r001 to r003")
    assert found.stdout == ""
    assert names_of(list(links.raters)) == ["r001", "r002", "r003"]
    with closing(Store.open(Path("s.db"))) as store:
        assert store.is_join(links.join)
        assert len(store.summary().raters) == 3
