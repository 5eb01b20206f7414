"""One holder of the shared link can neither keep the items from others nor fill the study."""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.survey.store.small_studies import STUDY, current, hurried, opened, pairs, raters_of
from textassay.errors import InputError
from textassay.survey.model import Participant, Rater, Stage
from textassay.survey.store import progress as clock
from textassay.survey.store import raters
from textassay.survey.store.study_store import Store, Visitor


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


def scripted(store: Store, token: str, *, address: str, tasks: int = 1) -> Rater | None:
    """Somebody who joins from this address, answers so many texts and opens the next one; None if nobody may join."""
    joined = store.join(token, Visitor(address))
    if joined is None:
        return None
    (rater,) = raters_of(store, [joined])
    for _ in range(tasks):
        if (task := store.task(rater)) is not None:
            store.answer(rater, task.number, 6)
    store.task(rater)
    return rater


def ratings_of(store: Store, raters: Iterable[Rater | None]) -> int:
    """The number of ratings that these raters have given."""
    names = {rater.name for rater in raters if rater is not None}
    return sum(rating.rater in names for rating in store.ratings())


def all_done(store: Store, rater: Rater) -> int:
    """Rate until nothing is left; how many answers were recorded."""
    done = 0
    while (task := store.task(rater)) is not None:
        done += store.answer(rater, task.number, 3) == "recorded"
    return done


@pytest.mark.parametrize(
    ("joins", "n_addresses"),
    [
        (130, 1),
        (130, 5),
        *(pytest.param(joins, n, marks=pytest.mark.slow) for joins in (1_000, 5_000) for n in (1, 5)),
    ],
)
@pytest.mark.parametrize("tasks", [1, 30])
def test_whoever_joins_by_the_shared_link_invited_raters_find_work(
    tmp_path: Path, joins: int, n_addresses: int, tasks: int
) -> None:
    """40 items with 5 ratings each. The attacker answers some texts per join, and leaves the next one open."""
    store, links = opened(tmp_path / "s.db", items=40, n_raters=5, ratings_wanted=5, items_per_rater=40)
    with closing(hurried(store)):
        ghosts = [scripted(store, links.join, address=f"{n % n_addresses}", tasks=tasks) for n in range(joins)]
        door = store.door()
        assert all(use.load <= door.most == 50 for use in door.addresses)
        assert ratings_of(store, ghosts) <= min(50 * n_addresses, 200)
        # Somebody who is honest and has no personal link finds work as well, if not all places are gone.
        honest = scripted(store, links.join, address="elsewhere")
        if n_addresses == 1:
            assert honest is not None
            assert all_done(store, honest) == 40
        for rater in raters_of(store, links.raters):
            assert all_done(store, rater) == 41
        firm = {f"r{n:03d}" for n in range(1, 6)}
        counts = Counter(rating.item.id for rating in store.ratings() if rating.rater in firm)
        assert set(counts.values()) == {5}
        assert store.summary().share == 100


def test_an_address_has_one_cap_for_answers_and_reservations(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=20, ratings_wanted=4, items_per_rater=2, checks_per_rater=0)
    with closing(store):
        raters = [scripted(store, links.join, address="a", tasks=2) for _ in range(12)]
        assert [rater is None for rater in raters] == [False] * 10 + [True] * 2
        assert store.refusal(Visitor("a")) == "barred"
        assert store.refusal(Visitor("b")) is None
        # An answer that is withdrawn stays a part of the cap, because its text is reserved again.
        assert raters[0] is not None
        assert store.undo(raters[0])
        assert store.refusal(Visitor("a")) == "barred"
        assert all_done(store, raters[0]) == 1
        # A new shared link has new caps; raters with personal links have none.
        assert store.refusal(Visitor("a")) == "barred"
        assert store.join(store.new_join(), Visitor("a")) is not None


def test_an_answer_without_a_reservation_is_refused_beyond_the_cap(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", items=4, ratings_wanted=2, items_per_rater=2, checks_per_rater=0)
    with closing(store):
        tokens = [store.join(links.join, Visitor("a")) for _ in range(4)]
        raters = raters_of(store, [token for token in tokens if token is not None])
        tasks = [current(store, rater) for rater in raters[:3]]
        # Two reservations are the cap of the address; the third text has none.
        outcomes = [store.answer(rater, task.number, 3) for rater, task in zip(raters, tasks, strict=False)]
        assert outcomes.count("recorded") == 2
        assert outcomes.count("barred") == 1
        assert store.stage(raters[outcomes.index("barred")]).barred
        assert store.task(raters[3]) is None


def test_an_address_is_stored_as_a_hash_that_differs_between_links(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db")
    with closing(store):
        assert store.join(links.join, Visitor("192.0.2.77")) is not None
        (first,) = store.door().addresses
        assert store.join(store.new_join(), Visitor("192.0.2.77")) is not None
        (second,) = store.door().addresses
        assert first.code != second.code
    assert b"192.0.2.77" not in (tmp_path / "s.db").read_bytes()


def test_a_closed_link_adds_nobody_until_it_is_open_again(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db")
    with closing(store):
        early = store.join(links.join)
        assert early is not None
        store.close_join()
        assert store.shared_link(links.join) == "closed"
        assert store.join(links.join) is None
        assert store.task(raters_of(store, [early])[0]) is not None
        store.close_join(False)
        assert store.join(links.join) is not None


def test_above_a_number_of_joins_an_id_is_needed_which_nobody_has_used(tmp_path: Path) -> None:
    store, links = opened(tmp_path / "s.db", proof_after=2)
    with closing(store):
        assert store.join(links.join) is not None
        known = Visitor("a", Participant("prolific", "5e9b9c9ff1f1f1f1f1f1f1f1"))
        assert store.join(links.join, known) is not None
        assert store.refusal(known) == "taken"
        assert store.join(links.join, known) is None
        assert store.refusal() == "unproven"
        assert store.join(links.join) is None
        assert store.join(links.join, Visitor("a", Participant("mturk", "A1B2C3"))) is not None
        assert len(store.invite(1)) == 1


def test_others_get_the_places_of_excluded_raters(tmp_path: Path) -> None:
    settings = {"ratings_wanted": 1, "items_per_rater": 8, "checks_per_rater": 0}
    store, links = opened(tmp_path / "s.db", n_raters=2, **settings)
    with closing(store):
        one, two = raters_of(store, links.raters)
        assert all_done(store, one) == 8
        assert store.task(two) is None
        assert store.exclude([one.name]) == 1
        assert store.exclude([one.name]) == 0
        assert list(store.ratings()) == []
        assert store.task(one) is None
        assert all_done(store, two) == 8
        assert {rating.rater for rating in store.ratings()} == {two.name}
        with pytest.raises(InputError, match="no such rater"):
            store.exclude([two.name, "r999"])
        assert store.summary().share == 100
        assert store.exclude([one.name], excluded=False) == 1
        assert store.summary().ratings == 16


def test_who_has_to_agree_gets_no_text_before(tmp_path: Path) -> None:
    items = pairs(4)
    links = Store.create(tmp_path / "s.db", replace(STUDY, consent="I agree."), items, n_raters=1)
    with closing(Store.open(tmp_path / "s.db")) as store:
        (rater,) = raters_of(store, links.raters)
        assert store.stage(rater).asks_consent
        assert store.task(rater) is None
        store.consent(rater)
        assert not store.stage(rater).asks_consent
        assert store.task(rater) is not None


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
        assert store.refusal() == "full"
        later = 9 * 60.0
        assert store.join(links.join) is None
        later = 11 * 60.0
        assert store.refusal() is None
        new = [token for _ in range(19) if (token := store.join(links.join)) is not None]
        assert len(new) == 19
        assert store.refusal() == "full"
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
