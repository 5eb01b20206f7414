"""Messages of the page when something is over, was not done or failed."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.survey.conftest import ITEMS, STUDY, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, heading, join, status, undo
from textassay.survey.messages.tables import shipped
from textassay.survey.store import progress as clock
from textassay.survey.web.pages import Pages, Problem
from textassay.survey.web.rating_page import STATUS

ONE_EACH = replace(STUDY, ratings_wanted=1, items_per_rater=1, checks_per_rater=0)


@pytest.fixture
def days_later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the study's clock to so many days after the test began."""
    begun = clock.now()

    def later(days: float) -> None:
        monkeypatch.setattr(clock, "now", lambda: begun + days * clock.DAY)

    return later


def warns(page: str) -> bool:
    """Whether the line about what was done last is a warning."""
    return re.findall(r'id="status" class="([^"]*)"', page) == ["status warn"]


def test_an_expired_shared_link_says_so_however_often_it_is_opened(
    make_site: Callable[..., Site], days_later: Callable[[float], None]
) -> None:
    site = make_site(replace(STUDY, days=1))
    address, client, before = f"/join/{site.links.join}", site.visitor(), site.content()
    days_later(2)
    for sent in (*(client.get(address) for _ in range(40)), join(client, address, new="1")):
        assert (sent.status_code, heading(sent.text)) == (410, "This link has expired")
    assert client.get(f"{address}x").status_code == 404
    assert site.content() == before


def test_who_joined_in_time_goes_on_though_the_shared_link_has_expired(
    make_site: Callable[..., Site], days_later: Callable[[float], None]
) -> None:
    site = make_site(replace(STUDY, days=2))
    address, client = f"/join/{site.links.join}", site.visitor()
    days_later(1)
    personal = join(client, address).headers["location"]
    days_later(2.5)
    page = client.get(address).text
    assert "Welcome back" in page
    assert [set(form.fields) for form in forms(page).values()] == [{"key"}]
    assert join(client, address).headers["location"] == personal
    assert client.get(personal).status_code == 200
    assert join(client, address, new="1").status_code == 410
    assert site.visitor().get(address).status_code == 410
    days_later(3.5)
    assert [client.get(path).status_code for path in (address, personal)] == [410, 410]


def test_who_comes_as_the_last_room_is_taken_is_no_guesser(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.store, "join", lambda *_: None)
    codes = [join(client, f"/join/{site.links.join}").status_code for _ in range(31)]
    assert (codes, client.get("/r/guess").status_code) == ([409] * 31, 404)


def test_a_cookie_opens_no_wrong_link(site: Site, client: TestClient) -> None:
    client.cookies.set("textassay_rater", site.links.raters[0])
    assert client.get(f"/join/{site.links.admin}").status_code == 404


@pytest.mark.parametrize("end", ["answer", "undo"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_where_forms_are_sent_a_visitor_is_led_to_their_page(site: Site, method: str, end: str) -> None:
    client, before = site.visitor(), site.content()
    sent = client.request(method, f"{site.rater()}/{end}?now=saved")
    assert (sent.status_code, sent.headers["location"]) == (303, site.rater())
    # A wrong link is as wrong there, and guessing is counted there too.
    codes = [client.request(method, f"/r/guess{number}/{end}").status_code for number in range(31)]
    assert codes == [404] * 30 + [429]
    assert site.content() == before


def test_behind_a_proxy_the_way_back_is_that_of_outside(make_site: Callable[..., Site]) -> None:
    site = make_site(base_url="https://rate.example.org/study")
    sent = site.visitor().get(f"/study{site.rater()}/answer", headers={"host": "rate.example.org"})
    assert (sent.status_code, sent.headers["location"]) == (303, f"/study{site.rater()}")


@pytest.mark.parametrize("code", [400, 403, 404, 405, 409, 410, 413, 414, 415, 429, 431, 500, 503])
def test_only_where_it_may_help_one_can_try_again(code: int) -> None:
    page = bytes(Pages("/study").problem(Problem(code)).body).decode()
    links = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>([^<]*)</a>', page)
    assert links == ([("", "Try again")] if code in {403, 429, 500, 503} else [])
    if code in {403, 500, 503}:
        assert "open the link that you were given: in this browser it takes you back" in page


def test_what_was_not_done_is_a_warning(site: Site, client: TestClient) -> None:
    first = begin(client, site.rater())
    assert (status(first), warns(first)) == ("", False)
    second = answer(client, first, "6")
    assert (status(second), warns(second)) == ("Your last answer is saved.", False)
    kept = answer(client, first, "5")
    assert (status(kept).startswith("You had already answered that text."), warns(kept)) == (True, True)
    form = forms(second)["answer"]
    chosen = client.get(client.post(form.action, data=form.fields).headers["location"]).text
    assert (status(chosen), warns(chosen)) == ("Please choose one of the answers first.", True)
    undone = undo(client, second)
    assert (status(undone).startswith("Your last answer was undone"), warns(undone)) == (True, False)
    old = answer(client, second, "1")
    assert (status(old).startswith("That answer was not saved"), warns(old)) == (True, True)


@pytest.mark.parametrize("word", STATUS)
def test_a_warning_is_one_on_the_last_page_too(make_site: Callable[..., Site], word: str) -> None:
    site = make_site(ONE_EACH, ITEMS[:2])
    client = site.visitor()
    assert heading(answer(client, begin(client, site.rater()), "4")) == "Thank you"
    page = client.get(site.rater(), params={"now": word}).text
    assert (status(page), warns(page)) == (shipped("en")(f"status.{word}"), STATUS[word])


def test_undo_in_a_second_window_says_why_nothing_more_is_withdrawn(site: Site, client: TestClient) -> None:
    second = answer(client, begin(client, site.rater()), "6")
    third = answer(client, second, "5")
    since = undo(client, second)
    assert (status(since), warns(since)) == ("Nothing was undone, because you have answered another text since.", True)
    assert site.values() == [5, 6]
    for said in ("Your last answer was undone. Please answer again.", "That answer was already undone."):
        page = undo(client, third)
        assert (status(page), warns(page)) == (said, False)
    assert site.values() == [6]


def test_undo_around_the_last_page_says_why_nothing_more_is_withdrawn(make_site: Callable[..., Site]) -> None:
    site = make_site(replace(ONE_EACH, items_per_rater=2), ITEMS[:2])
    client = site.visitor()
    last = answer(client, begin(client, site.rater()), "4")
    thanks = answer(client, last, "3")
    assert heading(thanks) == "Thank you"
    assert status(undo(client, last)) == "Nothing was undone, because you have answered another text since."
    assert site.values() == [3, 4]
    undo(client, thanks)
    assert status(undo(client, thanks)) == "That answer was already undone."
    assert site.values() == [4]


def test_a_complete_study_invites_nobody(make_site: Callable[..., Site]) -> None:
    site = make_site(ONE_EACH, ITEMS[:2])
    address, early = f"/join/{site.links.join}", site.visitor()
    personal = join(early, address).headers["location"]
    assert [set(form.fields) for form in forms(early.get(address).text).values()] == [{"key"}, {"key", "new"}]
    for path in (personal, site.rater()):
        answer(early, begin(early, path), "4")
    before = site.content()
    late = site.visitor()
    for sent in (late.get(address), join(late, address), join(early, address, new="1")):
        assert (sent.status_code, heading(sent.text), forms(sent.text)) == (200, "Nothing left to rate", {})
        assert "has all the answers that it needs" in sent.text
        assert "set-cookie" not in sent.headers
    # Who has answered finds the thanks again, and is not asked to be somebody else.
    assert [set(form.fields) for form in forms(early.get(address).text).values()] == [{"key"}]
    assert heading(early.get(join(early, address).headers["location"]).text) == "Thank you"
    assert site.content() == before
