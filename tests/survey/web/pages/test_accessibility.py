"""Every page in a real browser, light and dark, on a desktop and a phone: no accessibility problems."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser import barriers, overflow
from tests.survey.store.small_studies import quick_folder
from tests.survey.web.pages.browser import DESKTOP, PHONE, Browser, opened_browser, small_targets
from tests.survey.web.pages.live_study import PER_RATER, LiveStudy, live_study
from textassay.survey.store.study_store import Store

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")

Look = Callable[[Any], list[str]]
DONE, BEGUN, NEW, EXPIRED, IMPATIENT = range(5)
LATER = f"Text 5 of {PER_RATER}"


def prepare(study: LiveStudy) -> None:
    """The first rater is done and missed the check, the second has begun, the time of the fourth is over."""
    with closing(Store.open(study.folder / "study.db")) as store:
        for index, answers in ((DONE, 100), (BEGUN, 4)):
            rater = store.rater(study.personal[index].rpartition("/")[2])
            assert rater is not None
            for _ in range(answers):
                if (task := store.task(rater)) is not None:
                    store.answer(rater, task.number, 1 + task.number % 5 if "“" not in task.text else wrong(task.text))
    with closing(sqlite3.connect(study.folder / "study.db")) as connection, connection:
        connection.execute("UPDATE raters SET until = 1.0 WHERE number = ?", (EXPIRED + 1,))


def wrong(check: str) -> int:
    """An answer that a check does not ask for."""
    return 1 if "Invalid" not in check else 2


def on_every_page(study: LiveStudy, page: Any, look: Look) -> dict[str, list[str]]:
    """What was found, by the name of the page; pages on which nothing was found are left out."""
    found = {}

    def visit(name: str, address: str, heading: str) -> None:
        page.goto(address)
        assert heading in page.locator("h1").inner_text()
        found[name] = look(page)

    visit("home", study.address, "You need a link")
    visit("join", study.join, "How typical is each headline?")
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/r/*")
    visit("join again", study.join, "How typical is each headline?")
    visit("introduction", study.personal[NEW], "How typical is each headline?")
    page.get_by_role("button", name="Start").click()
    page.locator("body.keyed #answer").wait_for()
    found["first text"] = look(page)
    page.goto(f"{study.personal[BEGUN]}?now=undone")
    page.get_by_role("status").get_by_text("undone").wait_for()
    page.locator(".choice").nth(2).click()
    assert LATER in page.locator("h1").inner_text()
    found["later text, one answer withdrawn and the next one chosen"] = look(page)
    visit("thanks", study.personal[DONE], "Thank you")
    visit("expired", study.personal[EXPIRED], "This link has expired")
    visit("not found", f"{study.address}/r/nobody", "Page not found")
    visit("admin", study.admin, "How typical is each headline?")
    return {name: findings for name, findings in found.items() if findings}


def fit(page: Any) -> list[str]:
    """What does not fit a small screen or a finger."""
    wide = overflow(page)
    return [*([f"{wide} px too wide"] if wide else []), *small_targets(page)]


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[LiveStudy, Any]]:
    """One study and one browser for all tests of this file."""
    with (
        quick_folder() as folder,
        live_study(Path(folder), n_raters=5) as study,
        opened_browser(study.address) as browser,
    ):
        prepare(study)
        yield study, browser.chromium


@pytest.fixture
def browser(place: tuple[LiveStudy, Any]) -> Browser:
    """The browser, with a list of troubles of the test's own."""
    return Browser(place[1], urlsplit(place[0].address).netloc)


def test_no_page_has_a_serious_barrier(place: tuple[LiveStudy, Any], browser: Browser) -> None:
    assert on_every_page(place[0], browser.page(**DESKTOP), barriers) == {}
    assert browser.troubles == []


def test_every_page_fits_a_phone(place: tuple[LiveStudy, Any], browser: Browser) -> None:
    assert on_every_page(place[0], browser.page(**PHONE), fit) == {}
    assert browser.troubles == []


def test_the_audit_finds_what_is_there_to_find(browser: Browser) -> None:
    page = browser.page(**PHONE)
    page.set_content(
        "<meta name=viewport content='width=device-width'><style>@media (prefers-color-scheme: dark) "
        "{ p { color: #000; background: #111 } }</style>"
        "<p style='width: 500px'>pale</p><button>go</button><i style='color: #aaa; background: #bbb'>thin</i>"
    )
    assert [finding.partition(": [")[0] for finding in barriers(page)] == [
        "light: color-contrast", "light: document-title", "light: html-has-lang",
        "dark: color-contrast", "dark: color-contrast",
    ]  # fmt: skip
    assert [re.sub(r"\d+(\.\d+)?", "N", finding) for finding in fit(page)] == ["N px too wide", "go (N px)"]
    page.evaluate("console.error('a'); alert('b')")
    with page.expect_request("**/c"):
        page.set_content("<img src='http://127.0.0.2:9/c'>", wait_until="domcontentloaded")
    assert [trouble.partition(":")[0] for trouble in browser.troubles][:3] == ["console", "dialog", "request"]


def test_a_form_is_sent_once_and_again_when_nothing_came_of_it(place: tuple[LiveStudy, Any], browser: Browser) -> None:
    page = browser.page(**DESKTOP)
    page.clock.install(time=0)
    page.goto(f"{place[0].personal[IMPATIENT]}?now=start")
    page.clock.pause_at(60_000)
    tries: list[str] = []

    def lose(route: Any) -> None:
        tries.append(route.request.url)
        route.abort("aborted")  # as by the Stop button, or in a tunnel

    page.route("**/answer", lose)
    # Of each attempt, whether the page has stopped it.
    page.evaluate("stopped = []; addEventListener('submit', (event) => stopped.push(event.defaultPrevented))")
    page.locator(".choice").nth(2).click()
    save = page.get_by_role("button", name="Save answer")
    with page.expect_event("requestfailed"):
        save.click(no_wait_after=True)
    for _ in range(2):
        save.click(no_wait_after=True)
    assert page.evaluate("stopped") == [False, True, True]
    assert len(tries) == 1
    page.unroute("**/answer")
    page.clock.run_for(5_000)
    save.click()
    page.locator(f"h1:text-is('Text 2 of {PER_RATER}')").wait_for()
