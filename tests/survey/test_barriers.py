"""Every page of a study in a real browser, light and dark, wide and on a phone: nothing bars anybody's way."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.survey.browser import DESKTOP, PHONE, barriers, opened_browser, overflow, small_targets
from tests.survey.live_study import LiveStudy, live_study
from textassay.survey.store import Store

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")

Look = Callable[[Any], list[str]]
DONE, BEGUN, NEW, EXPIRED = range(4)


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
    page.locator("#answer").wait_for()
    found["first text"] = look(page)
    visit("later text", study.personal[BEGUN], "Text 5 of 19")
    page.locator(".choice").nth(2).click()
    found["chosen"] = look(page)
    visit("withdrawn", f"{study.personal[BEGUN]}?now=undone", "Text 5 of 19")
    visit("thanks", study.personal[DONE], "Thank you")
    visit("expired", study.personal[EXPIRED], "This link has expired")
    visit("not found", f"{study.address}/r/nobody", "Nothing here")
    visit("admin", study.admin, "How typical is each headline?")
    return {name: findings for name, findings in found.items() if findings}


def fit(page: Any) -> list[str]:
    """What does not fit a small screen or a finger."""
    wide = overflow(page)
    return [*([f"{wide} px too wide"] if wide else []), *small_targets(page)]


def test_no_page_has_a_serious_barrier_or_is_too_wide_for_a_phone(tmp_path: Path) -> None:
    with live_study(tmp_path, n_raters=4) as study, opened_browser(study.address) as browser:
        prepare(study)
        assert on_every_page(study, browser.page(**DESKTOP), barriers) == {}
        assert on_every_page(study, browser.page(**PHONE), fit) == {}
        assert browser.troubles == []


def test_the_audit_finds_what_is_there_to_find() -> None:
    with opened_browser("http://127.0.0.1") as browser:
        page = browser.page(**PHONE)
        page.set_content(
            "<meta name=viewport content='width=device-width'>"
            "<p style='color: #aaa; background: #bbb; width: 500px'>pale</p><button>go</button>"
        )
        assert {finding.split(": ")[1] for finding in barriers(page)} >= {"color-contrast", "html-has-lang"}
        assert [re.sub(r"\d+(\.\d+)?", "N", finding) for finding in fit(page)] == ["N px too wide", "go (N px)"]
        page.evaluate("console.error('a'); alert('b')")
        page.set_content("<img src='http://127.0.0.2:9/c'>", wait_until="domcontentloaded")
        page.wait_for_timeout(100)
        assert [trouble.partition(":")[0] for trouble in browser.troubles][:3] == ["console", "dialog", "request"]
