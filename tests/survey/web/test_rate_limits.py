"""Rate limits: raters never reach them, somebody who guesses tokens does at once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.survey.conftest import Clock, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, join
from textassay.survey.store import progress
from textassay.survey.web.http_protocol import IdleConnections
from textassay.survey.web.rate_limits import Buckets, Limits, OpenPlaces, address_key, token_key


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 5), st.sampled_from([0.5, 1.0, 4.0]))
def test_no_more_than_the_burst_and_the_rate_gets_through(gaps: list[float], burst: int, rate: float) -> None:
    clock = Clock()
    begun, buckets, taken = clock.now, Buckets(rate=rate, burst=burst, clock=clock), 0
    for gap in gaps:
        clock.now += gap
        wait = buckets.take("a")
        taken += wait == 0.0
        assert taken <= burst + (clock.now - begun) * rate + 1e-6
        assert wait <= 1 / rate


def test_who_waits_as_told_gets_through() -> None:
    clock = Clock()
    buckets = Buckets(rate=0.2, burst=2, clock=clock)
    assert [buckets.take("a") for _ in range(2)] == [0.0, 0.0]
    wait = buckets.take("a")
    assert wait == pytest.approx(5.0)
    assert buckets.take("b") == 0.0
    clock.now += wait + 1e-9
    assert buckets.take("a") == 0.0


def test_memory_is_bounded() -> None:
    buckets = Buckets(rate=1, burst=1, clock=Clock(), most=10)
    for number in range(1000):
        buckets.take(str(number))
    assert len(buckets) == 10
    assert buckets.take("999") > 0
    assert buckets.take("0") == 0


@given(st.lists(st.tuples(st.sampled_from("+-!"), st.integers(0, 9)), max_size=60))
def test_whoever_has_to_go_is_the_first_of_the_longest_queue(steps: list[tuple[str, int]]) -> None:
    queues, waiting = IdleConnections[int](), list[int]()
    for step, member in steps:
        if step == "+":
            queues.add(member, str(member % 3))
            waiting += [member] * (member not in waiting)
        elif step == "-":
            queues.remove(member, str(member % 3))
            waiting = [other for other in waiting if other != member]
        elif (gone := queues.pop()) is None:
            assert not waiting
        else:
            counts = Counter(other % 3 for other in waiting)
            assert counts[gone % 3] == max(counts.values())
            assert gone == next(other for other in waiting if other % 3 == gone % 3)
            waiting.remove(gone)


def test_clients_are_told_apart_by_what_they_hold() -> None:
    assert address_key(("2001:db8::1", 1)) == address_key(("2001:db8::2", 2))
    assert address_key(("2001:db8::1", 1)) != address_key(("2001:db8:0:1::1", 1))
    assert address_key(("::ffff:192.0.2.1", 1)) == address_key(("192.0.2.1", 1))
    assert address_key(None) == ""
    assert len(address_key(("x" * 5000, 1))) == 64
    assert "secret" not in token_key("secret")


def test_guessing_is_told_to_wait_after_a_few(site: Site, client: TestClient) -> None:
    codes = [client.get(f"/r/guess{number}").status_code for number in range(40)]
    assert codes == [404] * 30 + [429] * 10
    sent = client.get("/admin/guess")
    assert (sent.status_code, int(sent.headers["retry-after"])) == (429, 5)
    assert "guess" not in sent.text
    site.clock.now += 5
    assert [client.get(f"/admin/again{number}").status_code for number in range(2)] == [404, 429]


def test_somebody_who_guesses_locks_out_nobody_behind_the_same_address(site: Site, client: TestClient) -> None:
    for number in range(40):
        client.get(f"/admin/guess{number}")
    assert client.get("/r/guess").status_code == 429
    # None of these links was used before.
    page = answer(client, begin(client, site.rater()), "4")
    assert "Your last answer is saved." in page
    for path in (site.rater(1), f"/join/{site.links.join}", f"/admin/{site.links.admin}"):
        assert client.get(path).status_code == 200
    assert join(client, f"/join/{site.links.join}", new="1").status_code == 303
    # And one's own link helps nobody to guess.
    assert client.get("/r/guess").status_code == 429


def test_one_link_cannot_be_asked_for_without_end(site: Site, client: TestClient) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    # Sixty at once, of which one was the first text and one the introduction before it.
    assert [client.get(site.rater()).status_code for _ in range(70)] == [200] * 58 + [429] * 12
    before = site.content()
    sent = client.post(form.action, data={**form.fields, "rating": "3"})
    assert (sent.status_code, sent.headers["retry-after"]) == (429, "1")
    assert site.content() == before
    assert client.get(site.rater(1)).status_code == 200


def test_a_script_cannot_join_without_end(site: Site, client: TestClient) -> None:
    address = f"/join/{site.links.join}"
    codes = [join(client, address, new="1").status_code for _ in range(310)]
    assert codes == [303] * 250 + [429] * 60
    # Who has joined goes on.
    assert join(client, address).status_code == 303


def test_an_address_has_a_limited_number_of_raters_without_an_answer(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/join/{site.links.join}"
    pages = [join(client, address, new="1").headers["location"] for _ in range(250)]
    refused = join(client, address, new="1")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    # A place is free again after an answer, also if it is withdrawn.
    answer(client, begin(client, pages[0]), "4")
    assert [join(client, address, new="1").status_code for _ in range(2)] == [303, 429]
    # Raters who were away for ten minutes do not count. The limit on joins per address goes on.
    start = progress.now()
    monkeypatch.setattr(progress, "now", lambda: start + 601)
    site.clock.now += 600
    assert join(client, address, new="1").status_code == 303


def test_other_addresses_have_places_of_their_own() -> None:
    places, waiting = OpenPlaces(most=2, most_keys=3), set[bytes]()
    for place in (b"1", b"2"):
        assert places.has_room("a", waiting.__contains__)
        places.add("a", place)
        waiting.add(place)
    assert not places.has_room("a", waiting.__contains__)
    assert places.has_room("b", waiting.__contains__)
    waiting.remove(b"1")
    assert places.has_room("a", waiting.__contains__)
    places.add("a", b"3")
    waiting.add(b"3")
    assert not places.has_room("a", waiting.__contains__)
    for key in "bcd":
        places.add(key, b"4")
    # Memory is bounded: the oldest key is forgotten.
    assert places.has_room("a", waiting.__contains__)


def test_two_hundred_raters_behind_one_address_never_meet_a_limit() -> None:
    clock = Clock()
    limits = Limits.standard(clock)
    assert all(limits.joins.take("school") == 0.0 for _ in range(200))
    for _ in range(120):
        clock.now += 0.5
        for rater in range(200):
            # A post and the page that follows it, twice a second.
            assert limits.addresses.take("school") == limits.addresses.take("school") == 0.0
            assert limits.tokens.take(f"{rater}") == limits.tokens.take(f"{rater}") == 0.0
