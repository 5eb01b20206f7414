"""Results of Mechanical Turk divided into several files: neither the division nor the order changes what is stored."""

import csv
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations, count, pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.survey.store.small_studies import STUDY, hurried, pairs, quick_folder
from textassay.survey.store.importing import Imported
from textassay.survey.store.study_store import Store
from textassay.survey.tokens import keyed_digest
from textassay.survey.turk.batch import make_batch
from textassay.survey.turk.results import read_results

Row = dict[str, str]
Stored = dict[str, dict[str, tuple[int, float | None]]]
RIGHT = {"check-0": "1", "check-1": "2"}
TIMES = ("", "Tue Nov 17 13:05:44 PST 2026", "Tue Nov 17 13:05:45 PST 2026", "2026-11-17T21:05:46Z")


@pytest.fixture(scope="module")
def new_study() -> Iterator[Path]:
    """The file of a study without ratings, to copy."""
    with quick_folder() as folder:
        path = Path(folder) / "new.db"
        Store.create(path, STUDY, pairs(4, checks=2))
        yield path


def assignment(store: Store, *, worker: str, hit: int, check: str, rating: str, submitted: str, seconds: str) -> Row:
    """The row of one HIT; `check` is the answer to its attention checks, `rating` that to its items."""
    batch = make_batch(store.study, store.items(), store.codes(), items_per_hit=3)
    inputs = dict(zip(batch.header(), list(batch.rows())[hit % len(batch.hits)], strict=True))
    row = {"WorkerId": worker, "AssignmentStatus": "Submitted", "SubmitTime": submitted, "WorkTimeInSeconds": seconds}
    row |= {f"Input.{name}": cell for name, cell in inputs.items()}
    for slot, item in enumerate(batch.hits[hit % len(batch.hits)], 1):
        row[f"Answer.rating_{slot}"] = rating if item.expected is None else check
    return row


def stored(new_study: Path, files: Sequence[Sequence[Row]]) -> Stored:
    """The answers and times of all workers after the import of these files, one after another."""
    with quick_folder() as folder:
        path = Path(folder) / "study.db"
        shutil.copyfile(new_study, path)
        with closing(hurried(Store.open(path))) as store:
            for number, rows in enumerate(files):
                results = Path(folder) / f"{number}.csv"
                with results.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, list(rows[0]))
                    writer.writeheader()
                    writer.writerows(rows)
                found = read_results(str(results), store.study, store.items(), store.codes())
                answers = {worker: [one.imported for one in given] for worker, given in found.answers.items()}
                store.import_ratings(answers)
                assert store.import_ratings(answers) == (0, 0)
            return by_worker(store)


def by_worker(store: Store) -> Stored:
    """The answers and times by worker: the numbers of raters follow the order of the files."""
    found: Stored = {}
    with store._readers.reading() as connection:
        raters = dict(connection.execute("SELECT token, number FROM raters"))
    names = {
        f"r{raters[mark]:03d}": w for w in "ABC" if (mark := keyed_digest(store._plan.secret, "imported", w)) in raters
    }
    for rating in store.ratings(checks=True):
        seconds = None if rating.seconds is None else round(rating.seconds, 3)
        found.setdefault(names[rating.rater], {})[rating.item.id] = (rating.value, seconds)
    return found


def all_divisions(rows: Sequence[Row]) -> Iterator[list[list[Row]]]:
    """All orders of the rows, each divided into files in all ways."""
    places = range(1, len(rows))
    for order in permutations(rows):
        for n_cuts in range(len(rows)):
            for cuts in combinations(places, n_cuts):
                ends = [0, *cuts, len(rows)]
                yield [list(order[start:end]) for start, end in pairwise(ends)]


@pytest.mark.parametrize("times", [TIMES[1:], ("", "", ""), ("", TIMES[2], TIMES[1])])
def test_all_divisions_and_orders_of_four_assignments_store_the_same(new_study: Path, times: Sequence[str]) -> None:
    with closing(Store.open(new_study, read_only=True)) as store:
        # The worker passes the check in one assignment and fails it in another, and rates the same items differently.
        rows = [
            assignment(store, worker="A", hit=0, check=check, rating=rating, submitted=time, seconds="12")
            for check, rating, time in zip(("1", "6", "2"), ("3", "4", "5"), times, strict=True)
        ]
        rows.append(assignment(store, worker="B", hit=1, check="1", rating="2", submitted="", seconds=""))
    expected = stored(new_study, [rows])
    failed = {id_: value for id_, (value, _) in expected["A"].items() if id_ in RIGHT}
    assert failed
    assert all(str(value) != RIGHT[id_] for id_, value in failed.items())
    number = count()
    for files in all_divisions(rows):
        assert stored(new_study, files) == expected
        next(number)
    assert next(number) == 24 * 8


rows_drawn = st.lists(
    st.fixed_dictionaries(
        {
            "worker": st.sampled_from("ABC"),
            "hit": st.integers(0, 1),
            "check": st.sampled_from("126"),
            "rating": st.sampled_from("345"),
            "submitted": st.sampled_from(TIMES),
            "seconds": st.sampled_from(["", "6", "9"]),
        }
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(drawn=rows_drawn, data=st.data())
def test_any_division_in_any_order_stores_the_same(
    new_study: Path, drawn: list[dict[str, str]], data: st.DataObject
) -> None:
    with closing(Store.open(new_study, read_only=True)) as store:
        rows = [assignment(store, **one) for one in drawn]  # type: ignore[arg-type]
    order = data.draw(st.permutations(rows))
    files: list[list[Row]] = [[]]
    for row in order:
        files[-1].append(row)
        if data.draw(st.booleans()):
            files.append([])
    assert stored(new_study, [file for file in files if file]) == stored(new_study, [rows])


def test_a_replaced_answer_is_kept_in_the_log(new_study: Path, tmp_path: Path) -> None:
    shutil.copyfile(new_study, tmp_path / "study.db")
    with closing(Store.open(tmp_path / "study.db")) as store:
        assert store.import_ratings({"A": [Imported("check-0", 1, 2.0, 10.0)]}) == (1, 0)
        assert store.import_ratings({"A": [Imported("check-0", 3, 2.0, 20.0)]}) == (0, 1)
        assert [rating.value for rating in store.ratings(checks=True)] == [3]
        with store._readers.reading() as connection:
            assert connection.execute("SELECT value, answered FROM withdrawn").fetchall() == [(1, 10.0)]
