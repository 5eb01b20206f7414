"""The pages before the first text and after the last, and raters who come when nothing is left."""

import html
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.survey.conftest import ITEMS, SCRIPT, STUDY, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, heading, join, status, undo
from textassay.survey.store import progress as clock

ONE_EACH = replace(STUDY, ratings_wanted=1, items_per_rater=1, checks_per_rater=0)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_look_at_a_link_begins_nothing(site: Site, client: TestClient, method: str) -> None:
    joined = join(client, f"/join/{site.links.join}").headers["location"]
    before = site.content()
    for address in (site.rater(), joined):
        assert client.request(method, address).status_code == 200
    assert site.content() == before
    begin(client, site.rater())
    begun = site.content()
    assert len(begun["tasks"]) == 1
    assert client.request(method, site.rater()).status_code == 200
    assert site.content() == begun


def two_texts(make_site: Callable[..., Site], **settings: str) -> Site:
    """A study that two raters fill with one answer each."""
    return make_site(replace(ONE_EACH, **settings), ITEMS[:2])  # type: ignore[arg-type]


def test_who_comes_too_late_is_not_thanked_for_answers(make_site: Callable[..., Site]) -> None:
    site = two_texts(make_site, thanks="Your code: C0FFEE")
    client = site.visitor()
    thanks = [answer(client, begin(client, site.rater(index)), "4") for index in (0, 1)]
    assert ["All your answers are saved" in page for page in thanks] == [True, True]
    (late,) = site.store.invite(1)
    before = site.content()
    page = client.get(f"/r/{late}").text
    assert heading(page) == "Nothing left to rate"
    assert "has all the answers that it needs" in page
    for wrong in ("are saved", "Undo", "C0FFEE", "five minutes"):
        assert wrong not in page
    assert (forms(page), site.content()) == ({}, before)


def test_who_comes_while_others_answer_the_last_texts_is_asked_to_come_back(make_site: Callable[..., Site]) -> None:
    site = two_texts(make_site)
    client = site.visitor()
    for index in (0, 1):
        begin(client, site.rater(index))
    late = join(client, f"/join/{site.links.join}").headers["location"]
    page = begin(client, late)
    assert heading(page) == "Nothing to rate right now"
    assert "again in five minutes" in page
    assert (forms(page), "are saved" in page) == ({}, False)


def test_who_has_answered_what_there_was_may_come_back_for_more(make_site: Callable[..., Site]) -> None:
    site = make_site(replace(ONE_EACH, items_per_rater=2), ITEMS[:2])
    client = site.visitor()
    begin(client, site.rater(1))
    page = answer(client, begin(client, site.rater(0)), "4")
    assert heading(page) == "Thank you"
    assert "All your answers are saved" in page
    assert "again in five minutes" in page
    assert "undo" in forms(page)


def test_own_words_stand_before_and_after_as_they_were_written(make_site: Callable[..., Site]) -> None:
    consent, code = f"Consent:\n  • two lines {SCRIPT}", f"Code C0FFEE\n{SCRIPT} & <b>"
    site = two_texts(make_site, introduction=consent, thanks=code)
    client = site.visitor()
    own = re.compile(r'<p class="own" dir="auto">(.*?)</p>', re.DOTALL)
    introduction, text = client.get(site.rater()).text, begin(client, site.rater())
    assert own.findall(introduction) == [html.escape(consent)]
    assert own.findall(text) == []
    assert own.findall(answer(client, text, "4")) == [html.escape(code)]


def test_without_own_words_there_is_no_empty_place_for_them(make_site: Callable[..., Site]) -> None:
    site = two_texts(make_site, introduction=" \n", thanks=" ")
    client = site.visitor()
    page = client.get(site.rater()).text + answer(client, begin(client, site.rater()), "4")
    assert 'class="own"' not in page


def test_undo_from_the_thanks_works_though_a_text_is_free_again(
    make_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(replace(ONE_EACH, items_per_rater=2), ITEMS[:2])
    client = site.visitor()
    begin(client, site.rater(1))
    thanks = answer(client, begin(client, site.rater(0)), "4")
    assert heading(thanks) == "Thank you"
    later = clock.steady() + clock.DAY
    monkeypatch.setattr(clock, "steady", lambda: later)
    assert status(undo(client, thanks)) == "Your last answer was undone. Please answer again."
    assert site.values() == []


def test_who_answers_after_the_end_is_not_told_that_it_is_saved(
    make_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(replace(STUDY, days=1))
    client = site.visitor()
    form = forms(answer(client, begin(client, site.rater()), "5"))["answer"]
    later = clock.now() + 2 * clock.DAY
    monkeypatch.setattr(clock, "now", lambda: later)
    sent = client.post(form.action, data={**form.fields, "rating": "6"})
    assert (sent.status_code, site.values()) == (410, [5])
    assert "Answers that you gave before are saved; later answers are not." in sent.text


def test_one_answer_gives_no_completion_code(make_site: Callable[..., Site]) -> None:
    site = make_site(replace(ONE_EACH, items_per_rater=3, thanks="Your code: C0FFEE"), ITEMS[:3])
    client = site.visitor()
    first = begin(client, site.rater(0))
    other = answer(client, begin(client, site.rater(1)), "4")
    # One text is rated and one is being rated by each; the second rater has nothing to do now.
    thanks = answer(client, other, "4")
    assert heading(thanks) == "Thank you"
    assert "C0FFEE" not in thanks
    assert "when you have rated all 3 texts, or at least 2 of them" in thanks
    answer(client, first, "4")
    assert "C0FFEE" in client.get(site.rater(1), params={"now": "start"}).text
    assert "C0FFEE" not in client.get(site.rater(0), params={"now": "start"}).text
