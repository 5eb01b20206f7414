"""Exported ratings: texts read back exactly, and formulas can be disabled for spreadsheets."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.printable import begins_like_formula
from textassay.corpus.ratings.files import read_ratings
from textassay.corpus.tables import delimited_rows
from textassay.report.tables import csv_text
from textassay.survey.model import Participant, RaterProgress, Study, SurveyItem
from textassay.survey.store.export import (
    CHECK_FIELDS,
    FIELDS,
    _without_formula,
    checks_csv,
    csv_line,
    participants_csv,
    ratings_csv,
    suspects_among,
)
from textassay.survey.store.importing import Imported
from textassay.survey.store.study_store import Store, Visitor

HOSTILE = (
    '=HYPERLINK("http://x","y")',
    "+1+1",
    "-2",
    "@SUM(A1)",
    "\tindented",
    "two\r\nlines",
    "lone\rreturn",
    'a "quoted", text',
    " spaces around ",
    "خمسة 😀 \u202e",
)
ITEMS = [
    SurveyItem(f"{source}-{n}", source, text, f"={n}", -1.5 if n else float("-inf"))
    for source in ("human", "model")
    for n, text in enumerate(HOSTILE)
]
CHECK = SurveyItem("check-1", "check", "Please choose “Rare”.", expected=2)
STUDY = Study("t", "given:", "q?", "n", ratings_wanted=2, items_per_rater=20, checks_per_rater=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A study that two raters have answered; the second fails the check."""
    path = tmp_path / "study.db"
    Store.create(path, STUDY, [*ITEMS, CHECK])
    with closing(Store.open(path)) as opened:
        for number, token in enumerate(opened.invite(2)):
            rater = opened.rater(token)
            assert rater is not None
            while (task := opened.task(rater)) is not None:
                value = (2 if number == 0 else 1) if task.text == CHECK.text else 1 + (task.number + number) % 6
                assert opened.answer(rater, task.number, value) == "recorded"
        yield opened


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_one_row_a_rating(store: Store) -> None:
    text = "".join(ratings_csv(store))
    found = rows(text)
    assert tuple(found[0]) == FIELDS
    assert len(found) == 40
    by_id = {item.id: item for item in ITEMS}
    for row in found:
        item = by_id[row["item"]]
        assert (row["text"], row["context"], row["source"]) == (item.text, item.context, item.source)
        assert float(row["log_prob"]) == item.log_prob
        assert row["rating_label"] == {c.value: c.label for c in STUDY.choices}[int(row["rating"])]
        assert float(row["seconds"]) >= 0
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["answered"])
        # No cell is such as 1/1, which a spreadsheet would take for a day.
        assert (row["checks_right"], row["checks_answered"]) == {"r001": ("1", "1"), "r002": ("0", "1")}[row["rater"]]
    assert "check" not in text.replace("checks_right,checks_answered", "")


def failed(store: Store) -> frozenset[str]:
    """The raters who failed an attention check."""
    return suspects_among(store.summary().raters).failed


def progress(name: str, seconds: float | None, *, n_timed: int = 10, excluded: bool = False) -> RaterProgress:
    """A rater with this median time."""
    return RaterProgress(name, 10, 10, 0, 0, seconds, None, n_timed, excluded)


def test_speeders_are_those_below_a_third_of_the_usual_time() -> None:
    usual = [progress("r001", 9.0), progress("r002", 12.0), progress("r003", 15.0)]

    def found(*more: RaterProgress) -> frozenset[str]:
        return suspects_among([*usual, *more]).speeders

    assert found(progress("r004", 3.1), progress("r005", 2.9), progress("r006", None)) == {"r005"}
    # Four ratings are too few to tell, two raters have no usual time, and who is excluded sets none.
    assert found(progress("r004", 1.0, n_timed=4)) == frozenset()
    assert suspects_among([*usual[:1], progress("r004", 1.0)]).speeders == frozenset()
    assert found(*(progress(f"r1{n}", 100.0, excluded=True) for n in range(20))) == frozenset()


def test_ids_of_other_services_are_in_a_file_of_their_own(store: Store) -> None:
    token = store.new_join()
    who = Participant("prolific", "5e9b9c9ff1f1f1f1f1f1f1f1", "study7", "=session")
    assert store.join(token, Visitor("a", who)) is not None
    with store.snapshot() as found:
        (row,) = rows("".join(participants_csv(found)))
        assert "5e9b9c9f" not in "".join(ratings_csv(found)) + "".join(checks_csv(found))
        (safe,) = rows("".join(participants_csv(found, spreadsheet_safe=True)))
    assert [row[name] for name in ("service", "person", "study", "session")] == [*vars(who).values()]
    assert (row["answers"], row["complete"], row["failed_check"], row["excluded"]) == ("0", "no", "no", "no")
    assert safe["session"] == "'=session"


def test_who_failed_a_check_can_be_left_out(store: Store) -> None:
    every = rows("".join(ratings_csv(store)))
    kept = rows("".join(ratings_csv(store, left_out=failed(store))))
    assert kept == [row for row in every if row["rater"] == "r001"]
    assert len(kept) == 20
    # Who has not met a check yet has not failed it.
    store.import_ratings({"elsewhere": [Imported(ITEMS[0].id, 5, 1.0)]})
    assert len(rows("".join(ratings_csv(store, left_out=failed(store))))) == 21


@pytest.mark.parametrize(("without_failed", "raters"), [(False, ("r001", "r002")), (True, ("r001",))])
def test_the_file_is_what_huse_reads(
    store: Store, tmp_path: Path, without_failed: bool, raters: tuple[str, ...]
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "".join(ratings_csv(store, left_out=failed(store) if without_failed else ())), encoding="utf-8", newline=""
    )
    read = read_ratings(str(path))
    assert {(item.id, item.text, item.context) for item in read.items} == {(i.id, i.text, i.context) for i in ITEMS}
    assert len(read.ratings) == 20 * len(raters)
    assert read.raters == raters
    assert read.model == "model"
    given = {(item.id, item.log_prob) for item in read.items}
    assert given == {(item.id, item.log_prob) for item in ITEMS}


def test_a_spreadsheet_runs_nothing_where_asked(store: Store) -> None:
    found = rows("".join(ratings_csv(store, spreadsheet_safe=True)))
    texts = {row["text"] for row in found}
    for text in HOSTILE:
        tamed = f"'{text}" if text[0] in "=+@\t" else text
        assert tamed in texts
    assert {row["log_prob"] for row in found} == {"-1.5", "-inf"}
    assert all(row["context"].startswith("'=") for row in found)
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in found for cell in row.values())


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
@pytest.mark.parametrize("start", ["", " ", "\n", "\r\n", "\t", "\xa0", "\u2003", "\u200b", "\ufeff", "\x00", " \n\t "])
def test_white_space_before_a_formula_protects_nobody(start: str, sign: str) -> None:
    text = f"{start}{sign}HYPERLINK(1)"
    assert begins_like_formula(text)
    assert _without_formula(text) == f"'{text}"
    assert csv_text(["text"], [{"text": text}]).splitlines()[1].lstrip('" ')[0] in "'\\"


@pytest.mark.parametrize("text", ["-1.5", "-inf", " plain", "a = b", "", "1 - 2", "(=)", "\n"])
def test_other_cells_are_not_changed(text: str) -> None:
    assert _without_formula(text) == text


def test_answers_to_checks_have_a_file_of_their_own(store: Store) -> None:
    found = rows("".join(checks_csv(store)))
    assert tuple(found[0]) == CHECK_FIELDS
    assert [(row["rater"], row["rating"], row["expected"], row["passed"]) for row in found] == [
        ("r001", "2", "2", "yes"),
        ("r002", "1", "2", "no"),
    ]


def test_a_study_without_ratings_is_a_header(tmp_path: Path) -> None:
    Store.create(tmp_path / "new.db", STUDY, [*ITEMS, CHECK])
    with closing(Store.open(tmp_path / "new.db")) as opened:
        assert "".join(ratings_csv(opened)) == ",".join(FIELDS) + "\n"
        assert "".join(checks_csv(opened)) == ",".join(CHECK_FIELDS) + "\n"


def test_long_texts_come_in_pieces(tmp_path: Path) -> None:
    items = [SurveyItem(f"i{n}", "human" if n % 2 else "model", "x" * 40_000) for n in range(6)]
    Store.create(tmp_path / "long.db", STUDY, items)
    with closing(Store.open(tmp_path / "long.db")) as opened:
        rater = opened.rater(opened.invite(1)[0])
        assert rater is not None
        while (task := opened.task(rater)) is not None:
            opened.answer(rater, task.number, 3)
        pieces = list(ratings_csv(opened))
    assert len(pieces) > 2
    assert len(rows("".join(pieces))) == 6


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=5))
def test_any_cells_read_back(cells: list[str]) -> None:
    ((_, read),) = delimited_rows([csv_line(cells)], "x.csv", ",")
    assert read == cells
