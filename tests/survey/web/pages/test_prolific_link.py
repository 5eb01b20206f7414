"""A link of Prolific followed from entry to completion in a real browser, on a page in German."""

import csv
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser import overflow
from tests.survey.store.small_studies import pairs
from tests.survey.web.pages.browser import PHONE, opened_browser, small_targets
from tests.survey.web.server_process import served
from textassay.cli.main import run
from textassay.survey.create.wording import page_wording
from textassay.survey.model import Study
from textassay.survey.store.study_store import Store

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
expect: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

COMPLETION = "https://app.prolific.com/submissions/complete?cc=C1A2B3"
IDS = "PROLIFIC_PID=5e9b9c9ff1f1f1f1f1f1f1f1&STUDY_ID=6f0a&SESSION_ID=7c1b"
SMALL_DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONES = [PHONE, {**PHONE, "viewport": {"width": 390, "height": 664}}]


@pytest.fixture
def study() -> Study:
    """A study in German with consent and a completion link."""
    wording = page_wording(language="de", completion_url=COMPLETION)
    study = Study(**vars(wording), ratings_wanted=2, items_per_rater=4)
    return replace(study, consent="Ich nehme freiwillig teil.")


def in_sight(page: Any, name: str) -> bool:
    """Whether a button is completely on the screen without scrolling."""
    box = page.get_by_role("button", name=name, exact=True).bounding_box()
    size = page.viewport_size
    return bool(box["y"] >= 0 and box["y"] + box["height"] <= size["height"] and page.evaluate("scrollY") == 0)


def test_a_prolific_link_leads_from_entry_to_completion(tmp_path: Path, study: Study) -> None:
    links = Store.create(tmp_path / "s.db", study, pairs(4))
    with served(tmp_path / "s.db") as (_, where), opened_browser(f"http://{where}") as browser:
        page = browser.page(**SMALL_DESKTOP)
        page.context.route("https://app.prolific.com/**", lambda route: route.fulfill(body="<h1>Prolific</h1>"))
        page.goto(f"http://{where}/join/{links.join}?{IDS}")
        page.reload()
        page.get_by_role("button", name="Teilnehmen").click()
        page.get_by_role("button", name="Beginnen").click()
        expect(page.get_by_role("checkbox")).to_be_focused()  # the browser asks for consent first
        page.get_by_label("Ich habe das gelesen und bin einverstanden.").check()
        page.get_by_role("button", name="Beginnen").click()
        for number in range(1, 6):
            expect(page.get_by_role("heading", name=f"Text {number} von 5")).to_be_visible()
            assert in_sight(page, "Antwort speichern")
            assert page.locator("html").get_attribute("lang") == "de"
            page.locator(".choice").first.click()
            page.get_by_role("button", name="Antwort speichern").click()
        expect(page.get_by_role("heading", name="Vielen Dank")).to_be_visible()
        assert browser.troubles == []
        page.get_by_role("link", name="Bestätigen, dass Sie fertig sind").click()
        expect(page.get_by_role("heading", name="Prolific")).to_be_visible()
        assert page.url == COMPLETION
        assert page.evaluate("document.referrer") == ""
    people = tmp_path / "people.csv"
    out = str(tmp_path / "r.csv")
    assert run(["survey", "export", str(tmp_path / "s.db"), "--out", out, "--participants", str(people)]) == 0
    with people.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert [row[name] for name in ("service", "person", "study", "session", "complete")] == [
        "prolific", "5e9b9c9ff1f1f1f1f1f1f1f1", "6f0a", "7c1b", "yes",
    ]  # fmt: skip


@pytest.mark.parametrize("sentences", [1, 12])
def test_the_button_that_saves_is_in_sight_on_desktops_and_phones(tmp_path: Path, study: Study, sentences: int) -> None:
    context = "Der Stadtrat hat am Montag beschlossen, die alte Brücke bis zum Frühjahr zu sperren. " * sentences
    items = [replace(item, context=context) for item in pairs(4)]
    links = Store.create(tmp_path / "s.db", replace(study, consent=""), items, n_raters=3)
    with served(tmp_path / "s.db") as (_, where), opened_browser(f"http://{where}") as browser:
        for size, link in zip([SMALL_DESKTOP, *PHONES], links.raters, strict=True):
            page = browser.page(**size)
            page.goto(f"http://{where}/r/{link}?now=start")
            page.wait_for_load_state()
            assert in_sight(page, "Antwort speichern")
            page.locator(".choice").last.click()  # the last answer is not hidden behind the button
            page.get_by_role("button", name="Antwort speichern").click()
            expect(page.get_by_text("Ihre letzte Antwort ist gespeichert.")).to_be_visible()
            assert in_sight(page, "Antwort speichern")
            assert in_sight(page, "Letzte Antwort zurücknehmen")
            assert overflow(page) == 0
            assert small_targets(page) == [] or size is SMALL_DESKTOP
        assert browser.troubles == []
    with closing(Store.open(tmp_path / "s.db")) as store:
        assert sum(rater.done for rater in store.summary().raters) == 3
