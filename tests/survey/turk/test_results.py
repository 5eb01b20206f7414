"""Results files of Mechanical Turk: short rows, blank assignments, workers with several HITs."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, pairs
from textassay.cli.main import run
from textassay.errors import InputError
from textassay.survey.create.items import items_from_one_file, items_from_two_files
from textassay.survey.create.records import read_records
from textassay.survey.store.export import checks_csv, ratings_csv
from textassay.survey.store.study_store import Store
from textassay.survey.turk.batch import make_batch
from textassay.survey.turk.results import Results, read_results

# What comes before the texts and answers in a results file, in its order.
ABOUT = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
CHECK = "check-0"
RIGHT, WRONG = 1, 2
Row = dict[str, str]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A study of eight items and one check, which is in each of its four HITs."""
    Store.create(tmp_path / "study.db", STUDY, pairs(8, checks=1))
    with closing(Store.open(tmp_path / "study.db")) as opened:
        yield opened


def assignments(store: Store, worker: str, checks: Sequence[int]) -> list[Row]:
    """What a worker did: a HIT for each of these answers to its check, all else rated 4."""
    batch = make_batch(store.study, store.items(), store.codes(), items_per_hit=2)
    rows = []
    for hit, inputs, check in zip(batch.hits, batch.rows(), checks, strict=False):
        row = dict.fromkeys(ABOUT, "") | {"WorkerId": worker, "AssignmentStatus": "Submitted", "WorkTimeInSeconds": "6"}
        row |= {f"Input.{name}": cell for name, cell in zip(batch.header(), inputs, strict=True)}
        row |= {f"Answer.rating_{n}": str(check if item.id == CHECK else 4) for n, item in enumerate(hit, 1)}
        rows.append(row)
    return rows


def blank(row: Row) -> Row:
    """The assignment as if it had been submitted without an answer."""
    return {name: "" if name.startswith("Answer.") else cell for name, cell in row.items()}


def delivered(path: Path, rows: Sequence[Row], *, ends: Sequence[Sequence[str]] = ()) -> str:
    """A results file: its header ends with two columns for the requester, which rows lack or (`ends`) have in part."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([*rows[0], "Approve", "Reject"])
        for number, row in enumerate(rows):
            writer.writerow([*row.values(), *(ends[number] if number < len(ends) else ())])
    return str(path)


def read(store: Store, path: str) -> Results:
    return read_results(path, store.study, store.items(), store.codes())


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a survey command says, in one line."""
    assert run(["survey", *words]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_rows_may_stop_before_the_columns_of_the_requester(store: Store, tmp_path: Path) -> None:
    rows = assignments(store, "A1", [RIGHT] * 4)
    found = read(store, delivered(tmp_path / "r.csv", rows, ends=[(), ("x",), ("", ""), ("", "no effort")]))
    assert (found.assignments, found.rejected, found.unanswered) == (3, 1, 0)
    assert len(found.answers["A1"]) == 7


def test_rows_may_stop_nowhere_else(store: Store, tmp_path: Path) -> None:
    rows = assignments(store, "A1", [RIGHT] * 2)
    width = len(rows[0]) + 2
    short = rows[1].copy()
    short.popitem()
    with pytest.raises(InputError, match=rf"r\.csv:3: {width - 3} fields; wanted {width} as in the header \('HITId'"):
        read(store, delivered(tmp_path / "r.csv", [rows[0], short]))
    with pytest.raises(InputError, match=rf"r\.csv:2: {width + 1} fields; wanted {width} as in the header"):
        read(store, delivered(tmp_path / "r.csv", rows, ends=[("", "", "")]))
    other = tmp_path / "o.csv"
    other.write_text("Approve,Reject,text\n,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"o\.csv:2: 2 fields; wanted 3"):
        read_records(str(other), optional_end=("Approve", "Reject"))
    other.write_text("text,Reject\na\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"o\.csv:2: 1 field; wanted 2"):
        read_records(str(other))


@pytest.mark.parametrize(
    ("given", "failed"),
    [((RIGHT, WRONG, RIGHT), True), ((WRONG, RIGHT, 3), True), ((RIGHT, RIGHT, RIGHT), False)],
)
def test_a_wrong_answer_to_a_check_counts_whichever_came_first(
    store: Store, tmp_path: Path, given: Sequence[int], failed: bool
) -> None:
    rows = [*assignments(store, "A1", given), *assignments(store, "A2", [RIGHT])]
    for place, row in enumerate(rows):
        row["SubmitTime"] = f"Tue Nov 17 13:05:4{place} PST 2026"
    again = {**rows[-1], **{name: "5" for name in rows[0] if name.startswith("Answer.")}}
    again["SubmitTime"] = "Tue Nov 17 13:05:49 PST 2026"
    found = read(store, delivered(tmp_path / "r.csv", [*rows[:-1], again, rows[-1]]))
    # The second worker sent in the first HIT twice: two items and the check, which 5 does not answer.
    assert (found.repeated, found.repeated_checks) == (2, 3)
    assert found.failed == (("A1", "A2") if failed else ("A2",))
    (kept,) = (answer.value for answer in found.answers["A1"] if answer.item.id == CHECK)
    assert kept == (WRONG if failed else RIGHT)
    assert {answer.value for answer in found.answers["A2"] if answer.item.id != CHECK} == {4}


def test_checks_that_were_failed_are_said_and_stored(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = str(tmp_path / "study.db")
    rows = [row for worker in ("A1", "A2") for row in assignments(store, worker, [RIGHT, WRONG])]
    first = said(capsys, "turk-import", study, delivered(tmp_path / "r.csv", rows))
    assert "added 10 answers of 2 workers in 4 assignments note: 2 answers left out, to attention checks that" in first
    assert "note: 2 workers failed an attention check: A1, A2" in first
    assert [(rater.checks_right, rater.checks_done) for rater in store.summary().raters] == [(0, 1)] * 2
    right, wrong = (delivered(tmp_path / f"{check}.csv", assignments(store, "A3", [check])) for check in (RIGHT, WRONG))
    assert "failed" not in said(capsys, "turk-import", study, right)
    later = said(capsys, "turk-import", study, wrong)
    assert "note: 2 answers already in the study note: 1 answer of an earlier import replaced: a wrong answer" in later
    assert "note: 1 worker failed an attention check: A3" in later


def test_a_long_list_of_workers_who_failed_is_cut(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for number in range(100) for row in assignments(store, f"A{number}", [WRONG])]
    text = said(capsys, "turk-import", str(tmp_path / "study.db"), delivered(tmp_path / "r.csv", rows))
    names = ", ".join(f"A{number}" for number in range(12))
    assert text.endswith(f"100 workers failed an attention check: {names} and 88 more")


def test_blank_work_is_left_out_and_said(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = assignments(store, "A1", [RIGHT] * 4)
    nothing = blank(assignments(store, "A2", [RIGHT])[0]) | {"WorkTimeInSeconds": ""}
    path = delivered(tmp_path / "r.csv", [nothing, *rows[:3], blank(rows[3])])
    found = read(store, path)
    assert (found.assignments, found.blank, found.unanswered, list(found.answers)) == (3, 2, 0, ["A1"])
    path = delivered(tmp_path / "r.csv", [*rows[:3], nothing])
    text = said(capsys, "turk-import", str(tmp_path / "study.db"), path)
    assert "added 7 answers of 1 worker in 3 assignments note: 1 assignment without an answer left out note:" in text
    assert len(store.summary().raters) == 1


def test_a_blank_time_is_an_unknown_one(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed, untimed = assignments(store, "A1", [RIGHT] * 2)
    only = assignments(store, "A2", [RIGHT])[0] | {"WorkTimeInSeconds": " "}
    path = delivered(tmp_path / "r.csv", [timed, untimed | {"WorkTimeInSeconds": ""}, only])
    text = said(capsys, "turk-import", str(tmp_path / "study.db"), path)
    assert "note: 2 assignments without a time: the duration of the answers is unknown" in text
    assert sum(rating.seconds is None for rating in store.ratings()) == 4
    exported = list(csv.DictReader("".join(ratings_csv(store)).splitlines()))
    assert Counter(row["seconds"] for row in exported) == {"": 4, "2.0": 2}
    assert {row["seconds"] for row in csv.DictReader("".join(checks_csv(store)).splitlines())} == {"2.0", ""}
    summary = store.summary()
    assert summary.ratings == 6
    assert summary.median_seconds == pytest.approx(2.0)
    assert [rater.median_seconds for rater in summary.raters] == [pytest.approx(2.0), None]
    assert "added 0 answers" in said(capsys, "turk-import", str(tmp_path / "study.db"), path)


def test_a_time_of_nothing_is_a_time(store: Store, tmp_path: Path) -> None:
    rows = [row | {"WorkTimeInSeconds": "0"} for row in assignments(store, "A1", [RIGHT])]
    found = read(store, delivered(tmp_path / "r.csv", rows))
    assert (found.untimed, {answer.seconds for answer in found.answers["A1"]}) == (0, {0.0})


def test_a_file_without_any_answer_is_an_error(store: Store, tmp_path: Path) -> None:
    rows = [blank(row) for row in assignments(store, "A1", [RIGHT] * 2)]
    rejected = assignments(store, "A2", [RIGHT])[0] | {"AssignmentStatus": "Rejected"}
    with pytest.raises(
        InputError, match=r"r\.csv: no answers in 2 assignments; wanted the columns Answer\.rating_1 and so on$"
    ):
        read(store, delivered(tmp_path / "r.csv", [*rows, rejected]))
    assert read(store, delivered(tmp_path / "r.csv", [rejected])).rejected == 1


def test_files_without_rows_are_named_for_what_they_lack(store: Store, tmp_path: Path) -> None:
    empty, bare = tmp_path / "e.csv", tmp_path / "h.csv"
    empty.write_text("\n", encoding="utf-8")
    bare.write_text("\nWorkerId,source,text\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"e\.csv: empty; wanted one assignment per row$"):
        read(store, str(empty))
    with pytest.raises(InputError, match=r"h\.csv:2: a header and no rows; wanted one assignment per row$"):
        read(store, str(bare))
    with pytest.raises(InputError, match=r"h\.csv:2: a header and no rows; wanted one text per row$"):
        items_from_one_file(str(bare))
    with pytest.raises(InputError, match=r"e\.csv: empty; wanted one text per row$"):
        items_from_two_files(str(empty), str(bare))
