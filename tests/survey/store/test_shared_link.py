"""One holder of the shared link can neither keep the items from others nor fill the study."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.survey.store.small_studies import current, hurried, opened, raters_of
from textassay.survey.model import Stage
from textassay.survey.store import progress as clock
from textassay.survey.store import raters


def test_raters_who_join_and_answer_nothing_starve_nobody(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=40, n_raters=5, ratings_wanted=5, items_per_rater=40)
    with closing(hurried(store)):
        ghosts = [token for _ in range(300) if (token := store.join(links.join)) is not None]
        assert len(ghosts) == 300
        # Everybody still gets a text.
        assert all(store.task(rater) is not None for rater in raters_of(store, ghosts))
        with store._readers.reading() as connection:
            (reserved,) = connection.execute("SELECT count(*) FROM tasks WHERE held_until IS NOT NULL").fetchone()
        assert 0 < reserved <= 40 * 5 / 4
        for rater in raters_of(store, links.raters):
            while (task := store.task(rater)) is not None:
                store.answer(rater, task.number, 3)
            assert store.stage(rater).answered == 41
        assert store.summary().share == 100


def test_the_last_places_are_not_reserved_for_newcomers(tmp_path: Path) -> None:
    settings = {"ratings_wanted": 1, "items_per_rater": 3, "checks_per_rater": 0}
    store, links = opened(tmp_path / "s.db", items=3, n_raters=1, **settings)
    with closing(store):
        newcomer, (invited,) = store.join(links.join), raters_of(store, links.raters)
        assert newcomer is not None
        current(store, raters_of(store, [newcomer])[0])
        for _ in range(3):
            store.answer(invited, current(store, invited).number, 3)
        assert store.stage(invited).is_complete


def test_a_newcomer_who_answers_reserves_like_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, links = opened(tmp_path / "s.db", items=8, ratings_wanted=3)
    with closing(store):
        token = store.join(links.join)
        assert token is not None
        (rater,) = raters_of(store, [token])
        start = clock.steady()

        def loads() -> list[int]:
            with store._readers.reading() as connection:
                return [load for (load,) in connection.execute("SELECT load FROM queue WHERE load > 0")]

        monkeypatch.setattr(clock, "steady", lambda: start)
        store.answer(rater, current(store, rater).number, 3)
        current(store, rater)
        monkeypatch.setattr(clock, "steady", lambda: start + 29 * 60)
        other = store.join(links.join)
        assert other is not None
        current(store, raters_of(store, [other])[0])
        before = sum(loads())
        monkeypatch.setattr(clock, "steady", lambda: start + 31 * 60)
        third = store.join(links.join)
        assert third is not None
        current(store, raters_of(store, [third])[0])
        # The reservation of the first rater is over, that of the second is not.
        assert sum(loads()) <= before


def test_at_the_limit_those_who_never_answered_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raters, "_ALWAYS_ALLOWED", 5)
    start, later = clock.now(), 0.0
    monkeypatch.setattr(clock, "now", lambda: start + later)
    store, links = opened(tmp_path / "s.db", items=4, ratings_wanted=1, items_per_rater=4, checks_per_rater=0)
    with closing(store):
        tokens = [token for _ in range(20) if (token := store.join(links.join)) is not None]
        answering, looking = raters_of(store, tokens[:2])
        store.answer(answering, current(store, answering).number, 3)
        current(store, looking)
        assert store.full()
        later = 9 * 60.0
        assert store.join(links.join) is None
        later = 11 * 60.0
        assert not store.full()
        new = [token for _ in range(19) if (token := store.join(links.join)) is not None]
        assert len(new) == 19
        assert store.full()
        # Who has answered goes on; the others have given their places to the new ones.
        assert store.rater(tokens[0]) is not None
        assert all(store.rater(token) is None for token in tokens[1:])
        assert len(store.summary().raters) == 20
        assert sum(rating.value == 3 for rating in store.ratings()) == 1
        with store._readers.reading() as connection:
            assert connection.execute("SELECT sum(load) FROM queue").fetchone() == (1,)


@pytest.mark.parametrize(
    ("answered", "left", "complete"),
    [(0, True, False), (1, True, False), (1, False, False), (3, False, True), (5, True, False), (6, True, True)],
)
def test_a_rater_is_done_after_enough_answers(answered: int, left: bool, complete: bool) -> None:
    assert Stage(answered, 6, task=None, left=left).is_complete == complete
