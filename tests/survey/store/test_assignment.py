"""Assignment: items fill evenly, sources are balanced, contexts are new, attention checks are unpredictable."""

import random
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, current, hurried, opened, raters_of
from textassay.survey.model import Rater, SurveyItem
from textassay.survey.store import progress as clock
from textassay.survey.store.assignment import Plan, places_of_checks
from textassay.survey.store.study_store import Store


def all_at_once(store: Store, raters: list[Rater], *, seed: int = 0) -> dict[str, list[str]]:
    """All raters go on in random turns until each is done; the texts that each saw, in order."""
    hurried(store)
    rng, going = random.Random(seed), list(raters)
    seen: dict[str, list[str]] = defaultdict(list)
    shown: dict[Rater, int] = {}
    while going:
        rater = rng.choice(going)
        if rater in shown:
            assert store.answer(rater, shown.pop(rater), rng.randint(1, 6)) == "recorded"
            continue
        task = store.task(rater)
        if task is None:
            going.remove(rater)
        else:
            assert task.done == len(seen[rater.name])
            shown[rater] = task.number
            seen[rater.name].append(task.text)
    return dict(seen)


@pytest.mark.parametrize(
    ("items", "n_raters", "wanted", "each", "most", "apart"),
    # In the last one there are more raters than needed; the worst of 150 such studies had 0.81 in balance and 5 apart.
    [(60, 30, 10, 20, 0.9, 4), (40, 20, 20, 40, 0.9, 4), (24, 37, 8, 7, 0.75, 6)],
)
def test_items_fill_evenly_and_sources_are_in_balance(
    tmp_path: Path, items: int, n_raters: int, wanted: int, each: int, most: float, apart: int
) -> None:
    settings = {"ratings_wanted": wanted, "items_per_rater": each}
    store, links = opened(tmp_path / "s.db", items=items, n_raters=n_raters, **settings)
    with closing(store):
        seen = all_at_once(store, raters_of(store, links.raters))
        summary = store.summary()
        assert max(summary.ratings_per_item) <= wanted
        assert max(summary.ratings_per_item) - min(summary.ratings_per_item) <= 1
        assert sum(summary.ratings_per_item) == summary.ratings
        assert all(len(set(texts)) == len(texts) for texts in seen.values())
        sources: dict[str, Counter[str]] = defaultdict(Counter)
        for rating in store.ratings():
            sources[rating.rater][rating.item.source] += 1
        differences = [abs(counts["human"] - counts["model"]) for counts in sources.values()]
        # Evenness of the items comes first, so that some raters must take what is left.
        assert sum(difference <= 2 for difference in differences) >= most * len(differences)
        assert max(differences) <= apart


def test_sources_come_in_an_order_that_does_not_give_them_away(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=500, n_raters=40, items_per_rater=8, checks_per_rater=0)
    with closing(store):
        seen = all_at_once(store, raters_of(store, links.raters))
        kinds = {item.text: item.source for item in store.items()}
        orders = [[kinds[text] for text in texts] for texts in seen.values()]
        assert all(Counter(order) == {"human": 4, "model": 4} for order in orders)
        changes = Counter(one != other for order in orders for one, other in pairwise(order))
        # A shuffled block of eight changes source in 4 of 7 steps; strict turns would in all.
        assert 0.45 < changes[True] / changes.total() < 0.70
        assert len({tuple(order) for order in orders}) > 20


def test_unequal_sources_have_their_share(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    items = [SurveyItem(f"{k}", "human" if k % 4 == 0 else "model", f"text {k}") for k in range(80)]
    links = Store.create(path, STUDY, items, n_raters=20)
    with closing(Store.open(path)) as store:
        seen = all_at_once(store, raters_of(store, links.raters))
        kinds = {item.text: item.source for item in store.items()}
        shares = [Counter(kinds[text] for text in texts)["human"] for texts in seen.values()]
        assert set(shares) <= {1, 2}  # a quarter of six


def test_a_context_is_seen_once_while_there_are_others(tmp_path: Path) -> None:
    settings = {"items_per_rater": 12, "checks_per_rater": 0, "ratings_wanted": 1}
    store, links = opened(tmp_path / "s.db", items=40, n_raters=2, **settings)
    with closing(store):
        contexts: dict[str, list[str | None]] = defaultdict(list)
        all_at_once(store, raters_of(store, links.raters[:1]))
        for rating in store.ratings():
            contexts[rating.rater].append(rating.item.context)
        assert [len(set(values)) for values in contexts.values()] == [12]


def test_checks_stand_anywhere_and_are_as_many_as_asked_for(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=40, n_raters=60, checks_per_rater=2, ratings_wanted=30)
    with closing(store):
        seen = all_at_once(store, raters_of(store, links.raters))
        places = [tuple(k for k, text in enumerate(texts) if text.startswith("choose")) for texts in seen.values()]
        assert all(len(found) == 2 for found in places)
        assert {place for found in places for place in found} == set(range(8))
        assert len(set(places)) > 15  # of 28 pairs
        assert all(rater.checks_done == 2 for rater in store.summary().raters)
        first = Counter(next(text for text in texts if text.startswith("choose")) for texts in seen.values())
        assert len(first) == 2


def test_places_of_checks_are_uniform() -> None:
    plan = Plan(b"secret", 3, {"human": 3, "model": 3}, (7, 8), 3, 2)
    pairs = Counter(frozenset(places_of_checks(plan, rater)) for rater in range(4000))
    assert len(pairs) == 10
    assert min(pairs.values()) > 300  # 400 each on average, spread 19
    assert max(pairs.values()) < 500


def test_fewer_checks_and_items_than_asked_for(tmp_path: Path) -> None:
    settings = {"items_per_rater": 50, "checks_per_rater": 9, "ratings_wanted": 50}
    store, links = opened(tmp_path / "s.db", items=4, n_raters=8, **settings)
    with closing(store):
        raters = raters_of(store, links.raters)
        task = store.task(raters[0])
        assert task is not None
        assert task.total == 4 + 2
        seen = all_at_once(store, raters)
        assert [len(texts) for texts in seen.values()] == [6] * 8
        assert any(texts[-1].startswith("choose") for texts in seen.values())  # a check can come last
        assert [store.task(rater) for rater in raters] == [None] * 8


def test_done_early_when_all_items_have_enough(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=6, n_raters=4, ratings_wanted=2)
    with closing(store):
        raters = raters_of(store, links.raters)
        for rater in raters[:2]:
            all_at_once(store, [rater])
        assert store.summary().items_complete == 6
        assert store.task(raters[2]) is None  # not even an attention check
        assert not store.stage(raters[2]).left
        assert store.undo(raters[0])
        assert store.undo(raters[0])  # one of the two is no check
        assert store.summary().ratings < 12
        assert store.task(raters[3]) is None  # what is withdrawn is about to be given again


def test_an_abandoned_task_holds_its_item_for_half_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"ratings_wanted": 1, "items_per_rater": 1, "checks_per_rater": 0}
    store, links = opened(tmp_path / "s.db", items=8, n_raters=9, **settings)
    now = clock.steady()
    with closing(store):
        held, *others = raters_of(store, links.raters)
        monkeypatch.setattr(clock, "steady", lambda: now)
        text = current(store, held).text
        monkeypatch.setattr(clock, "steady", lambda: now + 29 * 60)
        assert text not in {current(store, rater).text for rater in others[:2]}
        monkeypatch.setattr(clock, "steady", lambda: now + 31 * 60)
        assert text in {current(store, rater).text for rater in others[2:8]}


def test_when_items_run_out_an_abandoned_task_holds_its_item_for_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"ratings_wanted": 1, "items_per_rater": 1, "checks_per_rater": 0}
    store, links = opened(tmp_path / "s.db", items=1, n_raters=3, **settings)
    now = clock.steady()
    with closing(store):
        one, two, three = raters_of(store, links.raters)
        monkeypatch.setattr(clock, "steady", lambda: now)
        open_task = store.task(one)
        assert open_task is not None
        monkeypatch.setattr(clock, "steady", lambda: now + 2 * 60)
        assert store.task(two) is None
        assert store.stage(two).left
        monkeypatch.setattr(clock, "steady", lambda: now + 6 * 60)
        late = store.task(two)
        assert late is not None
        assert late.text == open_task.text
        assert store.task(one) == open_task  # still there for the one who comes back
        assert store.answer(one, open_task.number, 5) == "recorded"
        assert store.answer(two, late.number, 4) == "recorded"
        assert store.task(three) is None
        assert not store.stage(three).left
        assert store.summary().ratings_per_item == (2,)


@pytest.mark.parametrize("reopened", [False, True])
def test_a_clock_that_was_days_ahead_holds_no_item_for_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reopened: bool
) -> None:
    settings = {"ratings_wanted": 1, "items_per_rater": 1, "checks_per_rater": 0}
    wrong, elapsed = clock.now() + 3 * clock.DAY, 0.0
    monkeypatch.setattr(clock, "now", lambda: wrong + elapsed)
    monkeypatch.setattr(clock, "steady", lambda: elapsed)
    store, links = opened(tmp_path / "s.db", items=1, n_raters=2, **settings)
    one, two = raters_of(store, links.raters)
    assert store.task(one) is not None
    # Somebody corrects the clock.
    wrong -= 3 * clock.DAY
    if reopened:
        store.close()
        store = Store.open(tmp_path / "s.db")
    with closing(store):
        assert store.task(two) is None
        elapsed += 2 * 60.0
        assert store.task(two) is None
        elapsed += 2 * 60.0
        assert store.task(two) is not None


@pytest.mark.parametrize("jump", [3 * clock.DAY, -3 * clock.DAY])
def test_a_clock_that_jumps_ends_no_hold_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    store, links = opened(
        tmp_path / "s.db", items=1, n_raters=2, ratings_wanted=1, items_per_rater=1, checks_per_rater=0
    )
    with closing(store):
        one, two = raters_of(store, links.raters)
        assert store.task(one) is not None
        now = clock.now()
        monkeypatch.setattr(clock, "now", lambda: now + jump)
        assert store.task(two) is None


def test_the_order_is_each_raters_own_and_each_studys_own(tmp_path: Path) -> None:
    orders = []
    for name in ("a.db", "b.db"):
        store, links = opened(tmp_path / name, items=40, n_raters=5, ratings_wanted=50)
        with closing(store):
            orders += [tuple(all_at_once(store, [r])[r.name]) for r in raters_of(store, links.raters)]
    assert len(set(orders)) == 10


def test_choosing_looks_at_few_rows_however_large_the_study(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, which do not depend on how busy the computer is."""

    def steps(items: int) -> float:
        store, links = opened(tmp_path / f"{items}.db", items=items, n_raters=30, ratings_wanted=9, checks_per_rater=0)
        with closing(store):
            raters = raters_of(store, links.raters)
            all_at_once(store, raters[:20])
            count = 0

            def tick() -> None:
                nonlocal count
                count += 1

            connection: sqlite3.Connection = store._writer._connection
            connection.set_progress_handler(tick, 10)
            given = all_at_once(store, raters[20:])
            connection.set_progress_handler(None, 0)
            return count / sum(map(len, given.values()))

    assert steps(4000) < 2 * steps(250)
