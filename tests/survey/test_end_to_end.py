"""A whole study in a real browser: made by command, answered by three people, watched, exported and scored."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.survey.browser import DESKTOP, PHONE, Browser, opened_browser, overflow, small_targets, tab_to
from tests.survey.live_study import (
    CONTEXTS,
    HUMAN,
    INTRODUCTION,
    MODEL,
    PER_RATER,
    THANKS,
    LiveStudy,
    live_study,
    textassay,
)
from textassay.survey.study import TYPICALITY

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
expect: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

TEXTS = """Object.fromEntries([["page", document.documentElement.outerHTML],
    ...[...document.querySelectorAll("blockquote")].map((quote) => [quote.className, quote.textContent])])"""
# A machine with much else to do takes its time; that is no fault of the page.
PATIENCE = 20_000
LABELS = {choice.label: choice.value for choice in TYPICALITY}
Answer = Callable[[Any, int], None]


@dataclass
class Person:
    """Someone who rates: an opinion about every text, and a sheet of what was answered to which text."""

    name: str
    reads_checks: bool = True
    sheet: dict[str, int] = field(default_factory=dict)

    def rate(self, page: Any, answer: Answer, *, until: int = PER_RATER, scripts: bool = True) -> None:
        """Answer one text after the other, until so many are done."""
        while len(self.sheet) < until:
            done = len(self.sheet)
            text = shown(page, done + 1, scripts=scripts)
            self.sheet[text] = self.opinion(text)
            answer(page, self.sheet[text])
        expect(page.locator("h1")).to_have_text(heading(until + 1), timeout=PATIENCE)

    def opinion(self, text: str) -> int:
        """A rating: high for human texts, and not quite the same for all people; for a check what it asks for."""
        if text in HUMAN + MODEL:
            common = 2 * (text in HUMAN) + crc32(text.encode()) % 4
            return min(6, max(1, common + crc32(f"{self.name} {text}".encode()) % 3))
        asked = re.search("“(.+)”", text)
        assert asked is not None, text
        return LABELS[asked[1]] if self.reads_checks else 1 + LABELS[asked[1]] % 6

    def withdraw(self) -> str:
        """Strike the last answer off the sheet; its text."""
        text, _ = self.sheet.popitem()
        return text


def heading(number: int) -> str:
    """What stands above this text; after the last one there are thanks."""
    return f"Text {number} of {PER_RATER}" if number <= PER_RATER else "Thank you"


def shown(page: Any, number: int, *, scripts: bool = True) -> str:
    """The text that is to be rated, once the page is ready for it."""
    expect(page.locator("h1")).to_have_text(heading(number), timeout=PATIENCE)
    if scripts:
        # Keys are heard once the script has run.
        page.locator("body.keyed").wait_for()
    texts: dict[str, str] = page.evaluate(TEXTS)
    assert texts.pop("context", CONTEXTS[0]) in CONTEXTS
    assert not re.search(r"parrot|human-\d|log.?prob", texts["page"])
    return texts["text"]


def by_keys(page: Any, value: int) -> None:
    """A number and Enter."""
    page.keyboard.press(str(value))
    page.keyboard.press("Enter")


def by_arrows(page: Any, value: int) -> None:
    """Without the page's own keys: Tab to the answers, arrows to the right one, Enter on the button."""
    while page.evaluate("document.activeElement.type") != "radio":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    while page.evaluate("document.activeElement.value") != str(value):
        page.keyboard.press("ArrowDown")
    tab_to(page, "Save and go on")
    page.keyboard.press("Enter")


def by_click(page: Any, value: int) -> None:
    """The words of an answer, and the button."""
    page.locator(f".choice:has([value='{value}']) .label").click()
    page.get_by_role("button", name="Save and go on").click()


def by_tap(page: Any, value: int) -> None:
    """A finger on both, after a look whether everything fits the screen and the finger."""
    assert overflow(page) == 0
    assert small_targets(page) == []
    page.locator(f".choice:has([value='{value}'])").tap()
    page.get_by_role("button", name="Save and go on").tap()


def with_keys_only(study: LiveStudy, browser: Browser) -> Person:
    """Joins by the shared link and never touches the mouse; undoes by key and by button."""
    person, page = Person("keys"), browser.page(**DESKTOP)
    page.goto(study.join)
    tab_to(page, "Join")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your personal link")).to_be_visible()
    assert page.locator(".own").inner_text() == INTRODUCTION
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    person.rate(page, by_keys, until=3)
    page.keyboard.press("u")
    assert shown(page, 3) == person.withdraw()
    expect(page.get_by_role("status")).to_have_text("Your last answer is withdrawn. Please answer again.")
    person.rate(page, by_arrows, until=6)
    tab_to(page, "Undo last answer")
    page.keyboard.press("Enter")
    assert shown(page, 6) == person.withdraw()
    person.rate(page, by_keys)
    page.goto(study.join)
    expect(page.get_by_text("Welcome back")).to_be_visible()
    page.context.close()
    return person


def on_a_phone(study: LiveStudy, browser: Browser) -> Person:
    """Opens a personal link on a small screen; does not read the attention check."""
    person, page = Person("phone", reads_checks=False), browser.page(**PHONE)
    page.goto(study.personal[0])
    assert (overflow(page), small_targets(page)) == (0, [])
    expect(page.locator("#personal")).to_have_text(study.personal[0])
    page.get_by_role("button", name="Start").tap()
    person.rate(page, by_tap)
    assert page.locator(".own").inner_text() == THANKS
    assert (overflow(page), small_targets(page)) == (0, [])
    page.context.close()
    return person


def there_and_back(study: LiveStudy, browser: Browser) -> Person:
    """Closes the browser in the middle, twice; the second time returns with one that runs no scripts."""
    person, link = Person("back"), study.personal[1]
    page = browser.page(**DESKTOP)
    page.goto(link)
    page.get_by_role("button", name="Start").click()
    person.rate(page, by_click, until=7)
    left = shown(page, 8)
    page.context.close()

    page = browser.page(**DESKTOP)
    page.goto(link)
    assert shown(page, 8) == left
    page.get_by_role("button", name="Undo last answer").click()
    assert shown(page, 7) == person.withdraw()
    person.rate(page, by_click, until=9)
    page.context.close()

    page = browser.page(**DESKTOP, java_script_enabled=False)
    page.goto(link)
    person.rate(page, by_click, until=11, scripts=False)
    page.get_by_role("button", name="Undo last answer").click()
    assert shown(page, 11, scripts=False) == person.withdraw()
    person.rate(page, by_click, until=12, scripts=False)
    page.context.close()

    page = browser.page(**DESKTOP)
    page.goto(link)
    person.rate(page, by_click)
    page.context.close()
    return person


def figure(admin: Any, name: str) -> Any:
    """The number on a card of the admin page."""
    return admin.locator(".card", has=admin.get_by_role("heading", name=name, exact=True)).locator(".figure")


def watched(study: LiveStudy, browser: Browser) -> dict[str, Person]:
    """All three rate, and the admin page follows without being loaded again; people by their name in the export."""
    admin = browser.page(**DESKTOP)
    loads: list[str] = []
    admin.goto(study.admin)
    admin.on("framenavigated", lambda frame: loads.append(frame.url))
    expect(figure(admin, "Ratings")).to_have_text("0 of 54")
    expect(figure(admin, "Agreement")).to_have_text("–")
    expect(figure(admin, "Time an item")).to_have_text("–")
    people = {"r003": with_keys_only(study, browser)}
    expect(figure(admin, "Ratings")).to_have_text("18 of 54", timeout=PATIENCE)
    expect(figure(admin, "Time an item")).to_have_text(re.compile(r"^\d+\.\d s$"))
    people["r001"] = on_a_phone(study, browser)
    expect(figure(admin, "Ratings")).to_have_text("36 of 54", timeout=PATIENCE)
    expect(figure(admin, "Agreement")).to_have_text(re.compile(r"^0\.\d\d$"))
    expect(figure(admin, "Items complete")).to_have_text("0 of 18")
    expect(admin.locator(".missed")).to_have_text("0 of 1")
    people["r002"] = there_and_back(study, browser)
    expect(figure(admin, "Ratings")).to_have_text("54 of 54", timeout=PATIENCE)
    expect(figure(admin, "Items complete")).to_have_text("18 of 18")
    expect(admin.get_by_role("row")).to_have_count(4)
    expect(admin.get_by_role("cell", name=f"{PER_RATER} of {PER_RATER}")).to_have_count(3)
    assert loads == []
    return people


def test_three_people_answer_everything_and_it_is_scored(tmp_path: Path) -> None:
    with live_study(tmp_path) as study, opened_browser(study.address) as browser:
        people = watched(study, browser)
        assert browser.troubles == []
        assert study.stop() == (0, "")
    for person in people.values():
        assert set(HUMAN + MODEL) < set(person.sheet)
    status = textassay("survey", "status", "study.db", folder=tmp_path)
    assert "54 of 54 (100 %)" in status
    assert "2 of 3 right; failed by r001 (0/1)" in status
    textassay("survey", "export", "study.db", "--out", "ratings.csv", folder=tmp_path)
    with (tmp_path / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 54
    sheets = {(name, text): value for name, person in people.items() for text, value in person.sheet.items()}
    given = {(row["rater"], row["text"]): int(row["rating"]) for row in rows}
    assert given == {key: value for key, value in sheets.items() if key[1] in HUMAN + MODEL}
    assert {row["text"] for row in rows if row["source"] == "parrot-9"} == set(MODEL)
    scored = textassay("huse", "ratings.csv", "--k", "8", "--resamples", "99", folder=tmp_path)
    for name in ("HUSE", "HUSE-Q", "HUSE-D"):
        assert re.search(rf"^{name} k=8 +\d\.\d\d +\[", scored, re.MULTILINE), scored
