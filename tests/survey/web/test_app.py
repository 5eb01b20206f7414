"""The rating page for raters and the admin: join, rate, undo, come back, watch the progress, export."""

import csv
import html
import io
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from tests.survey.conftest import HOME, ITEMS, STUDY, Site
from tests.survey.web.forms import TestClient, answer, begin, forms, join, status, undo
from textassay.survey.model import TYPICALITY, Choice, Study
from textassay.survey.store import progress as clock
from textassay.survey.store.study_store import Store
from textassay.survey.web.admin_page import HEIGHT, WIDTH, CachedView, histogram, view_of
from textassay.survey.web.rating_page import COOKIE, shortcut_keys

TOTAL = STUDY.items_per_rater + STUDY.checks_per_rater


def place(page: str) -> str:
    """Where a rater is, as the page says it."""
    found = re.search(r"<h1[^>]*>Text (\d+ of \d+)</h1>", page)
    return found[1] if found else re.findall(r"<h1[^>]*>([^<]*)</h1>", page)[0]


def finish(client: TestClient, page: str, value: str = "4") -> str:
    """Give the same answer to all texts that are left."""
    for _ in range(TOTAL + 1):
        if "answer" not in forms(page):
            break
        page = answer(client, page, value)
    return page


def test_a_rater_goes_from_the_introduction_to_the_thanks(site: Site, client: TestClient) -> None:
    introduction = client.get(site.rater()).text
    assert f"You will see {TOTAL} texts" in introduction
    assert all(html.escape(choice.help) in introduction for choice in TYPICALITY)
    assert f">{HOME}{site.rater()}</a>" in introduction
    page, seen = begin(client, site.rater()), []
    for number in range(1, TOTAL + 1):
        assert place(page) == f"{number} of {TOTAL}"
        assert f'<progress value="{number - 1}" max="{TOTAL}"' in page
        assert ("Your last answer is saved." in page) == (number > 1)
        seen.append(re.findall(r'class="text" dir="auto">(.*?)</blockquote>', page, re.DOTALL)[0])
        page = answer(client, page, str(number))
    assert place(page) == "Thank you"
    assert len(set(seen)) == TOTAL
    assert {html.unescape(text) for text in seen} <= {item.text for item in ITEMS}
    assert site.values() == [1, 2, 3, 4, 5]


def test_texts_keep_their_shape_and_are_in_quotes_of_any_direction(everything: Site) -> None:
    client = everything.visitor()
    page, shown = begin(client, everything.rater()), {}
    while "answer" in forms(page):
        text = html.unescape(re.findall(r'<blockquote class="text" dir="auto">(.*?)</blockquote>', page, re.DOTALL)[0])
        contexts = re.findall(r'<blockquote class="context" dir="auto">(.*?)</blockquote>', page, re.DOTALL)
        shown[text] = [html.unescape(context) for context in contexts]
        page = answer(client, page, "3")
    assert shown == {item.text: [] if item.context is None else [item.context] for item in ITEMS}


def test_a_text_is_the_same_until_it_is_answered(site: Site, client: TestClient) -> None:
    first = begin(client, site.rater())
    assert begin(site.visitor(), site.rater()) == first
    assert place(answer(client, first, "2")) == f"2 of {TOTAL}"


def test_who_closes_the_browser_comes_back_to_the_same_text(site: Site, client: TestClient) -> None:
    page = answer(client, begin(client, site.rater()), "2")
    back = site.visitor().get(site.rater()).text
    assert forms(back)["answer"] == forms(page)["answer"]
    assert "Your last answer is saved." not in back


def test_an_answer_sent_twice_counts_once_and_the_first_stays(site: Site, client: TestClient) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    kept = "You had already answered that text. Your first answer is kept;"
    # The last one comes from another window, where the first was not seen.
    for value, said in (("6", "Your last answer is saved."), ("6", "Your last answer is saved."), ("1", kept)):
        sent = client.post(form.action, data={**form.fields, "rating": value})
        assert sent.status_code == 303
        page = client.get(sent.headers["location"]).text
        assert (place(page), status(page).startswith(said)) == (f"2 of {TOTAL}", True)
    assert site.values() == [6]


def test_many_clicks_at_once_count_once(site: Site, client: TestClient) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    codes: list[int] = []

    def click() -> None:
        codes.append(site.visitor().post(form.action, data={**form.fields, "rating": "5"}).status_code)

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [303] * 8
    assert site.values() == [5]


def test_undo_takes_the_last_answer_back_and_only_that(site: Site, client: TestClient) -> None:
    first = begin(client, site.rater())
    assert "undo" not in forms(first)
    second = answer(client, first, "6")
    third = answer(client, second, "5")
    back = undo(client, third)
    assert place(back) == f"2 of {TOTAL}"
    assert "Your last answer was undone." in back
    assert forms(back)["answer"] == forms(second)["answer"]
    assert site.values() == [6]
    answer(client, back, "1")
    assert site.values() == [1, 6]


def test_a_second_click_on_undo_withdraws_nothing_more(site: Site, client: TestClient) -> None:
    page = answer(client, answer(client, begin(client, site.rater()), "6"), "5")
    form = forms(page)["undo"]
    assert [client.post(form.action, data=form.fields).status_code for _ in range(3)] == [303] * 3
    assert site.values() == [6]


def test_the_last_answer_can_be_undone_from_the_thanks(site: Site, client: TestClient) -> None:
    page = undo(client, finish(client, begin(client, site.rater())))
    assert place(page) == f"{TOTAL} of {TOTAL}"
    assert len(site.values()) == TOTAL - 1


def test_an_answer_that_can_be_withdrawn_no_more_is_not_said_to_be_none(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textassay.survey.store.answers._MOST_WITHDRAWN", 1)
    page = answer(client, undo(client, answer(client, begin(client, site.rater()), "6")), "5")
    assert status(undo(client, page)) == "You have undone that answer too many times. It can no longer be changed."
    assert site.values() == [5]


def test_undo_of_the_only_answer_leads_to_the_text_not_to_the_introduction(site: Site, client: TestClient) -> None:
    page = undo(client, answer(client, begin(client, site.rater()), "6"))
    assert place(page) == f"1 of {TOTAL}"
    assert site.values() == []


def test_nothing_chosen_asks_again(site: Site, client: TestClient) -> None:
    form = forms(begin(client, site.rater()))["answer"]
    sent = client.post(form.action, data=form.fields)
    assert "Please choose one of the answers first." in client.get(sent.headers["location"]).text
    assert site.values() == []


def test_an_old_window_is_led_to_the_current_text(site: Site, client: TestClient) -> None:
    first = begin(client, site.rater())
    second = answer(client, first, "6")
    back = undo(client, second)
    third = answer(client, answer(client, back, "4"), "3")
    old = forms(second)["answer"]
    sent = client.post(old.action, data={**old.fields, "rating": "1"})
    assert sent.status_code == 303
    assert place(client.get(sent.headers["location"]).text) == place(third)
    assert site.values() == [3, 4]


def test_an_answer_to_a_text_that_is_not_its_turn_is_not_said_to_be_saved(site: Site, client: TestClient) -> None:
    second = answer(client, begin(client, site.rater()), "6")
    undo(client, second)
    old = forms(second)["answer"]
    sent = client.post(old.action, data={**old.fields, "rating": "1"})
    page = client.get(sent.headers["location"]).text
    assert (place(page), site.values()) == (f"1 of {TOTAL}", [])
    assert status(page).startswith("That answer was not saved, because")


def test_choices_are_labelled_radio_buttons_of_one_group(site: Site, client: TestClient) -> None:
    page = begin(client, site.rater())
    assert page.count('type="radio" name="rating"') == len(TYPICALITY)
    assert page.count("<label") == len(TYPICALITY)
    assert re.search(r"<fieldset>\s*<legend[^>]*>How typical is this exact title\?</legend>", page)
    assert "undoes the last answer" not in page
    assert "undoes the last answer" in answer(client, page, "3")
    assert re.findall(r'data-key="(\d)"', page) == re.findall(r'<kbd aria-hidden="true">(\d)</kbd>', page)


def test_keys_are_values_where_these_are_digits() -> None:
    assert shortcut_keys(TYPICALITY) == ("6", "5", "4", "3", "2", "1")
    assert shortcut_keys(tuple(Choice(value, "", "") for value in range(0, 110, 10))) == (*"123456789", "", "")


def test_join_makes_a_rater_with_a_link_to_keep(site: Site, client: TestClient) -> None:
    address = f"/join/{site.links.join}"
    before = site.content()
    page = client.get(address)
    assert site.content() == before
    assert "personal link" in page.text
    form = forms(page.text)["form 0"]
    sent = client.post(form.action, data=form.fields)
    assert sent.status_code == 303
    personal = sent.headers["location"]
    assert re.fullmatch(r"/r/[a-z2-7]{39}", personal)
    assert f">{HOME}{personal}</a>" in client.get(personal).text
    cookie = sent.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", f"Path={address}"} <= set(cookie.split("; "))
    assert "Secure" not in cookie


def test_joining_twice_in_one_browser_goes_on(site: Site, client: TestClient) -> None:
    address = f"/join/{site.links.join}"
    first = join(client, address).headers["location"]
    answer(client, begin(client, first), "5")
    assert "Welcome back" in client.get(address).text
    assert join(client, address).headers["location"] == first
    others = {
        join(client, address, new="1").headers["location"],
        join(site.visitor(), address).headers["location"],
    }
    assert len(others - {first}) == 2


@pytest.mark.parametrize("kept", ["", "nonsense", "x" * 500, "' OR 1=1 --", "<script>"])
def test_a_cookie_that_opens_nothing_is_ignored(site: Site, client: TestClient, kept: str) -> None:
    client.cookies.set(COOKIE, kept)
    page = client.get(f"/join/{site.links.join}")
    assert page.status_code == 200
    assert "Welcome back" not in page.text


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
def test_behind_a_proxy_links_and_cookies_are_those_of_outside(make_site: Callable[..., Site], scheme: str) -> None:
    site = make_site(base_url=f"{scheme}://rate.example.org/study/")
    client = site.visitor()
    for shown in ("", "/study"):
        page = client.get(f"{shown}/join/{site.links.join}", headers={"host": "rate.example.org"})
        assert page.status_code == 200
        assert 'href="/study/static/survey.css?' in page.text
    # The client does not send a secure cookie over http, as the proxy would.
    form, visit = forms(page.text)["form 0"], {"cookie": page.headers["set-cookie"].partition(";")[0]}
    sent = client.post(form.action, data=form.fields, headers=visit | {"origin": "https://rate.example.org"})
    assert sent.headers["location"].startswith("/study/r/")
    assert {"Secure", f"Path=/study/join/{site.links.join}"} <= set(sent.headers["set-cookie"].split("; "))
    assert f"{scheme}://rate.example.org{sent.headers['location']}" in client.get(sent.headers["location"]).text


def test_the_admin_sees_how_far_the_study_is(site: Site, client: TestClient) -> None:
    for index, value in enumerate(("2", "5")):
        finish(site.visitor(), begin(site.visitor(), site.rater(index)), value)
    page = client.get(f"/admin/{site.links.admin}")
    assert page.status_code == 200
    view = view_of(site.store, datetime.now(UTC))
    assert (view.summary.ratings, view.summary.wanted, view.finished) == (8, 18, 2)
    assert "8 <small>of 18</small>" in page.text
    assert 'class="missed">0 of 1</td>' in page.text
    assert "1 of 1</td>" in page.text
    assert f'href="/admin/{site.links.admin}/ratings.csv"' in page.text
    assert view.agreement.startswith("−") or float(view.agreement) <= 0
    data = client.get(f"/admin/{site.links.admin}/data").text
    assert "<html" not in data
    assert "8 <small>of 18</small>" in data


def test_the_admin_page_of_an_empty_study_has_no_numbers_to_invent(site: Site) -> None:
    view = view_of(site.store, datetime.now(UTC))
    assert (view.agreement, view.seconds, view.share, view.started) == ("–", "–", 0, 0)
    assert {rater.last_seen for rater in view.raters} == {"never"}


def test_last_seen_fits_the_column_of_a_phone(site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    monkeypatch.setattr(clock, "now", now.timestamp)
    answer(client, begin(client, site.rater()), "3")
    seen = [view_of(site.store, now + timedelta(minutes=minutes)).raters[0].last_seen for minutes in (0, 5, 200)]
    assert seen == ["now", "5 min ago", "3 h ago"]


def test_a_watch_looks_again_when_it_can_afford_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, looks = CachedView(site.store), list[datetime]()
    # The first look takes long for reasons of its own; the second takes one second, which is one in twenty of 20.
    ticks = iter([0.0, 9.0, 9.0, 10.0, 14.0, 28.9, 29.0, 29.1])
    # Only there: whatever else runs asks the clock too.
    monkeypatch.setattr("textassay.survey.web.admin_page.time", SimpleNamespace(monotonic=lambda: next(ticks)))

    def look(store: Store, now: datetime) -> object:
        looks.append(now)
        return object()

    monkeypatch.setattr("textassay.survey.web.admin_page.view_of", look)
    first, second = watch.current(), watch.current()
    assert first is not second
    assert watch.current() is second
    assert watch.current() is second
    assert len(looks) == 2
    assert watch.current() is not second


def test_the_admin_takes_the_ratings_away(site: Site, client: TestClient) -> None:
    finish(client, begin(client, site.rater()), "3")
    sent = client.get(f"/admin/{site.links.admin}/ratings.csv")
    assert sent.headers["content-type"] == "text/csv; charset=utf-8"
    assert sent.headers["content-disposition"] == 'attachment; filename="ratings.csv"'
    rows = list(csv.DictReader(io.StringIO(sent.text, newline="")))
    assert len(rows) == STUDY.items_per_rater
    assert {row["rating"] for row in rows} == {"3"}
    assert {row["text"] for row in rows} <= {item.text for item in ITEMS}


def test_the_chart_holds_every_item_within_its_frame() -> None:
    for wanted, counts in ((3, [0, 0, 3, 5]), (200, [0, 199, 200, 250]), (1, [0])):
        bars = histogram(counts, wanted=wanted).bars
        assert sum(bar.items for bar in bars) == len(counts)
        assert sum(bar.items for bar in bars if bar.full) <= sum(count >= wanted for count in counts)
        assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH and 0 <= bar.y <= HEIGHT for bar in bars)
        assert [bar.low for bar in bars[1:]] == [bar.high + 1 for bar in bars[:-1]]
        assert len(bars) <= 30


def test_what_else_there_is(site: Site, client: TestClient) -> None:
    assert "To take part, please open the link" in client.get("/").text
    assert client.get("/health").text == "ok\n"
    page = client.get("/").text
    for name, kind in (("survey.css", "text/css"), ("survey.js", "text/javascript")):
        (address,) = re.findall(rf'"(/static/{re.escape(name)}\?v=[0-9a-f]+)"', page)
        sent = client.get(address)
        assert sent.headers["content-type"].startswith(kind)
        assert "immutable" in sent.headers["cache-control"]


def test_a_study_without_contexts_notes_or_help_has_no_empty_places(make_site: Callable[..., Site]) -> None:
    plain = Study(
        "Plain", "", "Good?", "", (Choice(1, "Yes", ""), Choice(0, "No", "")), items_per_rater=1, checks_per_rater=0
    )
    site = make_site(plain, ITEMS[:1])
    client = site.visitor()
    page = begin(client, site.rater())
    assert not re.search(r"<p[^>]*class=\"(intro|note)\"|class=\"(context|help)\"", page)
    assert place(answer(client, page, "0")) == "Thank you"


def test_a_full_study_takes_nobody_new_but_lets_others_go_on(
    site: Site, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/join/{site.links.join}"
    personal = join(client, address).headers["location"]
    monkeypatch.setattr(site.store, "refusal", lambda _: "full")
    before = site.content()
    for sent in (
        site.visitor().get(address),
        join(site.visitor(), address),
        join(client, address, new="1"),
    ):
        assert (sent.status_code, "This study is full" in sent.text) == (409, True)
    assert site.content() == before
    assert "Welcome back" in client.get(address).text
    assert join(client, address).headers["location"] == personal


def test_of_many_raters_those_who_began_are_shown_first(site: Site, client: TestClient) -> None:
    (late,) = site.store.invite(600)[-1:]
    answer(client, begin(client, f"/r/{late}"), "3")
    view = view_of(site.store, datetime.now(UTC))
    assert (view.raters[0].done, len(view.raters), view.left_out) == (1, 500, 102)
