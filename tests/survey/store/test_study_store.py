"""The store of a study: tasks, answers, undo, access and progress."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, current, opened, pairs, raters_of
from textassay.errors import InputError
from textassay.survey.model import Choice, Rater, Stage, Study, SurveyItem
from textassay.survey.store import progress as clock
from textassay.survey.store.importing import Imported
from textassay.survey.store.study_store import Links, Store

HOSTILE = (
    "'; DROP TABLE tasks; --",
    '" OR 1=1 --',
    "<script>alert(1)</script>",
    "nul \x00 in the middle",
    "\u202eoverride\u2028",
    "Ünï — 𝒞ode 🦆",
    "%s {0} ${x} \\ ' \" ` \r\n\t",
    "?1 :name @name $name",
    "",
)


@pytest.fixture
def study(tmp_path: Path) -> tuple[Store, Links]:
    return opened(tmp_path / "study.db", n_raters=3)


def test_a_task_stays_until_it_is_answered_and_answers_count(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        one, two, _ = raters_of(store, links.raters)
        assert [rater.name for rater in (one, two)] == ["r001", "r002"]
        first = current(store, one)
        assert (first.done, first.total) == (0, 7)
        assert current(store, one) == first
        assert store.answer(one, first.number, 7) == "refused"
        assert store.answer(one, first.number, 0) == "refused"
        assert store.answer(two, first.number, 3) == "stale"
        assert store.answer(one, first.number, 3) == "recorded"
        assert store.answer(one, first.number, 3) == "already"
        assert store.answer(one, first.number, 4) == "kept"
        second = current(store, one)
        assert second.done == 1
        assert second.text != first.text
        answers = [rating.value for rating in store.ratings(checks=True)]
        assert answers == [3]


@pytest.mark.parametrize("task", [0, -1, 10**6, 2**63 - 1, 2**63, -(2**63) - 1, 10**40])
def test_numbers_of_no_task_are_stale(study: tuple[Store, Links], task: int) -> None:
    store, links = study
    with closing(store):
        (rater,) = raters_of(store, links.raters[:1])
        current(store, rater)
        assert store.answer(rater, task, 3) == "stale"
        assert store.answer(rater, task, 10**40) == "refused"


def test_a_scale_with_gaps(tmp_path: Path) -> None:
    scale = (Choice(-1, "Worse", ""), Choice(1, "Better", ""))
    links = Store.create(tmp_path / "s.db", replace(STUDY, choices=scale), pairs(4, checks=0), n_raters=1)
    with closing(Store.open(tmp_path / "s.db")) as store:
        (rater,) = raters_of(store, links.raters)
        task = current(store, rater)
        assert store.answer(rater, task.number, 0) == "refused"
        assert store.answer(rater, task.number, -1) == "recorded"


def test_undo_goes_back_one_at_a_time_and_keeps_a_log(study: tuple[Store, Links], tmp_path: Path) -> None:
    store, links = study
    with closing(store):
        rater, other, _ = raters_of(store, links.raters)
        assert not store.undo(rater)
        tasks = []
        for value in (1, 2, 3):
            tasks.append(current(store, rater))
            assert store.answer(rater, tasks[-1].number, value) == "recorded"
        tasks.append(current(store, rater))
        assert not store.undo(other)
        assert store.undo(rater)
        assert current(store, rater) == tasks[2]
        assert store.undo(rater)
        assert current(store, rater) == tasks[1]
        assert store.answer(rater, tasks[2].number, 6) == "stale"
        assert store.answer(rater, tasks[1].number, 5) == "recorded"
        assert current(store, rater) == tasks[2]
        assert store.answer(rater, tasks[2].number, 4) == "recorded"
        assert current(store, rater) == tasks[3]
        assert sorted(rating.value for rating in store.ratings(checks=True)) == [1, 4, 5]
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        log = connection.execute("SELECT task, value FROM withdrawn ORDER BY number").fetchall()
    assert log == [(tasks[2].number, 3), (tasks[1].number, 2)]


def test_undo_after_the_end_and_of_a_check(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=2, n_raters=1, items_per_rater=2)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        texts = []
        while (task := store.task(rater)) is not None:
            texts.append(task.text)
            store.answer(rater, task.number, 6)
        assert store.summary().raters[0].checks_done == 1
        for text in reversed(texts):
            assert store.undo(rater)
            assert current(store, rater).text == text
        assert not store.undo(rater)
        progress = store.summary().raters[0]
        assert (progress.done, progress.checks_done, store.summary().ratings) == (0, 0, 0)


def test_a_script_cannot_fill_the_log_of_withdrawn_answers(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        (rater,) = raters_of(store, links.raters[:1])
        task = current(store, rater)
        for _ in range(100):
            assert store.answer(rater, task.number, 2) == "recorded"
            assert store.undo(rater)
        assert store.answer(rater, task.number, 2) == "recorded"
        assert not store.undo(rater)


def test_tokens_open_only_what_they_are_for(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        assert store.is_admin(links.admin)
        assert store.is_join(links.join)
        personal = links.raters[0]
        for wrong in (links.join, personal, "", "\ud800", links.admin[:-1], links.admin + "A", *HOSTILE):
            assert not store.is_admin(wrong)
        for wrong in (links.admin, personal, "", "x" * 100_000, *HOSTILE):
            assert not store.is_join(wrong)
            assert store.join(wrong) is None
        for wrong in (links.admin, links.join, personal[:-1], personal.swapcase(), *HOSTILE):
            assert store.rater(wrong) is None
        assert len(store.summary().raters) == 3


def test_new_links_replace_the_old_ones(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        admin, join = store.new_admin(), store.new_join()
        assert store.is_admin(admin)
        assert not store.is_admin(links.admin)
        assert store.join(links.join) is None
        token = store.join(join)
        assert token is not None
        invited = store.invite(2)
        assert [rater.name for rater in raters_of(store, [token, *invited])] == ["r004", "r005", "r006"]
        with pytest.raises(InputError, match=r"^-1 new raters; wanted"):
            store.invite(-1)


def test_a_lost_personal_link_is_replaced_and_its_rater_goes_on(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        one, two, _ = raters_of(store, links.raters)
        store.answer(two, current(store, two).number, 3)
        task = current(store, two)
        (token,) = store.renew(["r002"])
        assert store.rater(links.raters[1]) is None
        assert raters_of(store, [token]) == [two]
        assert current(store, two) == task
        assert raters_of(store, links.raters[:1]) == [one]
        assert raters_of(store, store.renew(["r003", "r001", "r003"])) == [replace(one, number=3, name="r003"), one]


@pytest.mark.parametrize("name", ["r004", "r000", "r-1", "3", "", "r", "R001", "r٣", "r9999999999", *HOSTILE])
def test_a_wrong_name_replaces_no_link(study: tuple[Store, Links], name: str) -> None:
    store, links = study
    with closing(store):
        with pytest.raises(InputError, match=r"the study has no such rater; wanted one of r001 to r003$") as caught:
            store.renew(["r001", name])
        assert "\n" not in str(caught.value)
        assert len(raters_of(store, links.raters)) == 3


def test_who_was_imported_has_no_link_to_replace(study: tuple[Store, Links]) -> None:
    store, _ = study
    with closing(store):
        given = {"A1": [Imported("item-0", 3, 1.0)]}
        assert store.import_ratings(given) == (1, 0)
        with pytest.raises(InputError, match=r"^rater 'r004': has no link, because the ratings were imported; wanted"):
            store.renew(["r004"])
        assert store.import_ratings(given) == (0, 0)
        assert len(store.summary().raters) == 4


def test_a_study_without_raters_has_no_link_to_replace(tmp_path: Path) -> None:
    store, _ = opened(tmp_path / "s.db")
    with (
        closing(store),
        pytest.raises(InputError, match=r"no such rater; wanted --raters N, as the study has no raters yet$"),
    ):
        store.renew(["r001"])


def test_links_end_after_their_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    store, links = opened(tmp_path / "s.db", n_raters=1, days=2)
    with closing(store):
        monkeypatch.setattr(clock, "now", lambda: now + 1.99 * clock.DAY)
        late = store.join(links.join)
        assert late is not None
        assert not raters_of(store, links.raters)[0].expired
        monkeypatch.setattr(clock, "now", lambda: now + 2 * clock.DAY)
        assert raters_of(store, links.raters)[0].expired
        assert not raters_of(store, [late])[0].expired
        assert not store.is_join(links.join)
        assert store.join(links.join) is None
        assert store.is_admin(links.admin)  # whoever runs the study is not locked out
        assert store.join(store.new_join()) is not None
        assert not raters_of(store, store.invite(1))[0].expired
        assert not raters_of(store, store.renew(["r001"]))[0].expired


def test_the_shared_link_makes_only_so_many_raters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textassay.survey.store.raters._ALWAYS_ALLOWED", 5)
    store, links = opened(tmp_path / "s.db", items=4, ratings_wanted=1, items_per_rater=4)
    with closing(store):  # one rater is needed, 20 are let in
        assert all(store.join(links.join) for _ in range(20))
        assert store.refusal() == "full"
        assert store.join(links.join) is None
        assert len(store.invite(3)) == 3
        assert len(store.summary().raters) == 23
        again = store.new_join()  # and as many once more, by another link
        assert store.refusal() is None
        assert all(store.join(again) for _ in range(20))
        assert store.refusal() == "full"


def test_how_far_a_rater_is_can_be_seen_without_giving_a_task(study: tuple[Store, Links]) -> None:
    store, links = study
    with closing(store):
        one, two, _ = raters_of(store, links.raters)
        assert store.stage(one) == Stage(0, 7, task=None, left=True)
        assert store.summary().raters[0].last_seen is None
        task = current(store, one)
        assert store.stage(one) == Stage(0, 7, task=task.number, left=True)
        store.answer(one, task.number, 3)
        assert store.stage(one) == Stage(1, 7, task=None, left=True)
        while (following := store.task(one)) is not None:
            store.answer(one, following.number, 3)
        assert store.stage(one) == Stage(7, 7, task=None, left=False)
        assert store.stage(two).answered == 0


def test_form_keys_are_bound_to_rater_and_study(tmp_path: Path) -> None:
    keys = set()
    for name in ("a.db", "b.db"):
        store, links = opened(tmp_path / name, n_raters=2)
        with closing(store):
            keys |= {store.form_key(rater) for rater in raters_of(store, links.raters)}
        with closing(Store.open(tmp_path / name)) as again:
            assert {again.form_key(rater) for rater in raters_of(again, links.raters)} < keys | {"x"}
    assert len(keys) == 4
    assert all(len(key) == 64 for key in keys)


def test_summary_and_ratings_tell_what_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 1_700_000_000.0)
    store, links = opened(tmp_path / "s.db", items=4, n_raters=2, ratings_wanted=1, items_per_rater=4)
    with closing(store):
        empty = store.summary()
        assert (empty.ratings, empty.wanted, empty.items, empty.items_complete) == (0, 4, 4, 0)
        assert (empty.ratings_per_item, empty.median_seconds) == ((0,) * 4, None)
        assert empty.raters[0].last_seen is None
        (rater, _) = raters_of(store, links.raters)
        by_text = {item.text: item for item in store.items()}
        time = 1_700_000_000.0
        for seconds in (2.0, 4.0, 6.0, 8.0, 10.0):
            task = current(store, rater)
            time += seconds
            monkeypatch.setattr(clock, "now", lambda time=time: time)
            item = by_text[task.text]
            assert store.answer(rater, task.number, item.expected or 5) == "recorded"
        summary = store.summary()
        assert (summary.ratings, summary.items_complete, summary.ratings_per_item) == (4, 4, (1, 1, 1, 1))
        seen, other = summary.raters
        assert (seen.name, seen.done, seen.total, seen.checks_right, seen.checks_done) == ("r001", 5, 5, 1, 1)
        assert seen.last_seen == "2023-11-14T22:13:50Z"
        assert (other.done, other.median_seconds, other.last_seen) == (0, None, None)
        ratings = list(store.ratings())
        assert [rating.item.id for rating in ratings] == [f"item-{k}" for k in range(4)]
        assert seen.median_seconds == summary.median_seconds
        assert sum(rating.seconds or 0.0 for rating in store.ratings(checks=True)) == 30.0
        assert len(list(store.ratings(checks=True))) == 5
        assert {rating.rater for rating in ratings} == {"r001"}
        assert store.items() == pairs(4)


def test_a_wrong_answer_to_a_check_and_a_clock_that_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, links = opened(tmp_path / "s.db", items=2, n_raters=1, checks_per_rater=2, items_per_rater=2)
    with closing(store):
        (rater,) = raters_of(store, links.raters)
        for _ in range(4):
            task, now = current(store, rater), clock.now()
            monkeypatch.setattr(clock, "now", lambda now=now: now - 100)
            store.answer(rater, task.number, 1)
        progress = store.summary().raters[0]
        assert (progress.checks_right, progress.checks_done) == (1, 2)
        assert {rating.seconds for rating in store.ratings()} == {0.0}


def test_hostile_strings_come_back_as_they_went_in(tmp_path: Path) -> None:
    items = [
        SurveyItem(f"{k} {text}", f"source {text}", text, text, float("-inf")) for k, text in enumerate(HOSTILE)
    ] + [SurveyItem("check", text, text, expected=1) for text in HOSTILE[:1]]
    for k, text in enumerate(HOSTILE):
        choices = (Choice(1, text, text), Choice(2, text, text))
        study = Study(text, text, text, text, choices, items_per_rater=len(items), introduction=text, thanks=text)
        path = tmp_path / f"{k} ?#%41 ü.db"
        links = Store.create(path, study, items, n_raters=1)
        with closing(Store.open(path)) as store:
            assert store.study == study
            assert store.items() == items
            (rater,) = raters_of(store, links.raters)
            shown = []
            while (task := store.task(rater)) is not None:
                shown.append((task.text, task.context))
                assert store.answer(rater, task.number, 1) == "recorded"
            assert sorted(shown, key=repr) == sorted([(i.text, i.context) for i in items], key=repr)
            assert [rating.item for rating in store.ratings(checks=True)] == items


def test_ratings_stream_while_others_answer(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=6, n_raters=2)
    with closing(store):
        one, two = raters_of(store, links.raters)
        for _ in range(4):
            store.answer(one, current(store, one).number, 4)
        stream = store.ratings(checks=True)
        first = next(stream)
        while (task := store.task(two)) is not None:
            assert store.answer(two, task.number, 2) == "recorded"
        # One consistent look: what came after it began is not in it.
        assert [rating.value for rating in (first, *stream)] == [4] * 4
        assert len(list(store.ratings(checks=True))) == 11


def test_what_is_closed_says_so(study: tuple[Store, Links]) -> None:
    store, links = study
    (rater,) = raters_of(store, links.raters[:1])
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.summary()
    with pytest.raises(ValueError, match="closed"):
        store.answer(rater, 1, 3)
    store.close()


def test_a_rater_of_nowhere_gets_nothing(study: tuple[Store, Links]) -> None:
    store, _ = study
    with closing(store), pytest.raises(sqlite3.IntegrityError):
        store.task(Rater(99, "r099", expired=False))
