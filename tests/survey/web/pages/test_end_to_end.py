"""A whole study in a real browser: created, answered by three people, watched, exported and scored."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.browser import overflow
from tests.survey.web.pages.browser import DESKTOP, PHONE, Browser, opened_browser, small_targets, tab_to
from tests.survey.web.pages.live_study import (
    CONTEXTS,
    HUMAN,
    INTRODUCTION,
    MODEL,
    N_TEXTS,
    PER_RATER,
    THANKS,
    LiveStudy,
    live_study,
)
from textassay.cli.main import run
from textassay.survey.model import TYPICALITY

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
expect: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

TEXTS = """Object.fromEntries([["page", document.documentElement.outerHTML],
    ...[...document.querySelectorAll("blockquote")].map((quote) => [quote.className, quote.textContent])])"""
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
            text = shown(page, len(self.sheet) + 1, scripts=scripts)
            self.sheet[text] = self.opinion(text)
            answer(page, self.sheet[text])
        ready(page, until + 1, scripts=scripts)

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


def ready(page: Any, number: int, *, scripts: bool = True) -> None:
    """Wait for this text, or for the thanks after the last one: for all of the page, and for its script to have run."""
    body, heading = ("body", "Thank you") if number > PER_RATER else ("body.keyed", f"Text {number} of {PER_RATER}")
    page.locator(f"{body if scripts else 'body'} h1:text-is('{heading}')").wait_for()
    page.wait_for_load_state()


def shown(page: Any, number: int, *, scripts: bool = True) -> str:
    """The text that is to be rated, once the page is ready for it."""
    ready(page, number, scripts=scripts)
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
    presses = 0
    while page.evaluate("document.activeElement.type") != "radio":
        page.keyboard.press("Tab")
        assert (presses := presses + 1) < 30
    page.keyboard.press("Space")
    while page.evaluate("document.activeElement.value") != str(value):
        page.keyboard.press("ArrowDown")
        assert (presses := presses + 1) < 30
    tab_to(page, "Save answer")
    page.keyboard.press("Enter")


def by_click(page: Any, value: int) -> None:
    """The words of an answer, and the button."""
    page.locator(f".choice:has([value='{value}']) .label").click()
    page.get_by_role("button", name="Save answer").click()


def by_tap(page: Any, value: int) -> None:
    """A finger on both, after a look whether everything fits the screen and the finger."""
    assert overflow(page) == 0
    assert small_targets(page) == []
    page.locator(f".choice:has([value='{value}'])").tap()
    page.get_by_role("button", name="Save answer").tap()


def with_keys_only(study: LiveStudy, browser: Browser) -> Person:
    """Joins by the shared link and never touches the mouse; undoes by key and by button."""
    person, page = Person("keys"), browser.page(**DESKTOP)
    page.goto(study.join)
    tab_to(page, "Join")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your personal link")).to_be_visible()
    page.wait_for_load_state()  # until then the script may move the focus
    assert page.locator(".own").inner_text() == INTRODUCTION
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    person.rate(page, by_keys, until=3)
    page.keyboard.press("u")
    assert shown(page, 3) == person.withdraw()
    expect(page.get_by_role("status")).to_have_text("Your last answer was undone. Please answer again.")
    person.rate(page, by_arrows, until=5)
    tab_to(page, "Undo last answer")
    page.keyboard.press("Enter")
    assert shown(page, 5) == person.withdraw()
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
    person.rate(page, by_click, until=4)
    left = shown(page, 5)
    page.context.close()

    page = browser.page(**DESKTOP)
    page.goto(link)
    assert shown(page, 5) == left
    page.get_by_role("button", name="Undo last answer").click()
    assert shown(page, 4) == person.withdraw()
    person.rate(page, by_click, until=5)
    page.context.close()

    page = browser.page(**DESKTOP, java_script_enabled=False)
    page.goto(link)
    person.rate(page, by_click, until=7, scripts=False)
    page.get_by_role("button", name="Undo last answer").click()
    assert shown(page, 7, scripts=False) == person.withdraw()
    person.rate(page, by_click, until=8, scripts=False)
    page.context.close()

    page = browser.page(**DESKTOP)
    page.goto(link)
    person.rate(page, by_click)
    page.context.close()
    return person


def figure(admin: Any, name: str) -> Any:
    """The number on a card of the admin page."""
    return admin.locator(".card", has=admin.get_by_role("heading", name=name, exact=True)).locator(".figure")


def look_again(admin: Any, *, ratings: int) -> None:
    """Put the clock of the admin page on, so that it looks again by itself, and wait until it shows so many ratings."""
    admin.clock.run_for(5_000)
    expect(figure(admin, "Ratings")).to_have_text(f"{ratings} of {3 * N_TEXTS}")


def watched(study: LiveStudy, browser: Browser) -> dict[str, Person]:
    """All three rate, and the admin page follows without being loaded again; people by their name in the export."""
    admin = browser.page(**DESKTOP)
    loads: list[str] = []
    admin.clock.install()
    admin.goto(study.admin)
    admin.on("framenavigated", lambda frame: loads.append(frame.url))
    expect(figure(admin, "Ratings")).to_have_text(f"0 of {3 * N_TEXTS}")
    expect(figure(admin, "Agreement")).to_have_text("–")
    expect(figure(admin, "Time per item")).to_have_text("–")
    people = {"r003": with_keys_only(study, browser), "r001": on_a_phone(study, browser)}
    look_again(admin, ratings=2 * N_TEXTS)
    expect(figure(admin, "Agreement")).to_have_text(re.compile(r"^0\.\d\d$"))
    expect(figure(admin, "Time per item")).to_have_text(re.compile(r"^\d+\.\d s$"))
    expect(figure(admin, "Items complete")).to_have_text(f"0 of {N_TEXTS}")
    expect(admin.locator(".missed")).to_have_text("0 of 1")
    people["r002"] = there_and_back(study, browser)
    look_again(admin, ratings=3 * N_TEXTS)
    expect(figure(admin, "Items complete")).to_have_text(f"{N_TEXTS} of {N_TEXTS}")
    expect(admin.get_by_role("region", name="Raters").get_by_role("row")).to_have_count(4)
    expect(admin.get_by_role("region", name="Shared link").get_by_role("row")).to_have_count(2)
    expect(admin.get_by_role("cell", name=f"{PER_RATER} of {PER_RATER}")).to_have_count(3)
    assert loads == []
    return people


def test_three_people_answer_everything_and_it_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with live_study(tmp_path) as study, opened_browser(study.address) as browser:
        people = watched(study, browser)
        assert browser.troubles == []
        assert study.stop() == (0, "")
    for person in people.values():
        assert set(HUMAN + MODEL) < set(person.sheet)
    path, exported = tmp_path / "study.db", tmp_path / "ratings.csv"
    assert run(["survey", "status", str(path)]) == 0
    status = " ".join(capsys.readouterr().out.split())
    assert "30 of 30 (100 %)" in status
    assert "2 of 3 right; failed by r001 (0/1)" in status
    assert run(["survey", "export", str(path), "--out", str(exported)]) == 0
    with exported.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    sheets = {(name, text): value for name, person in people.items() for text, value in person.sheet.items()}
    given = {(row["rater"], row["text"]): int(row["rating"]) for row in rows}
    assert given == {key: value for key, value in sheets.items() if key[1] in HUMAN + MODEL}
    assert {row["text"] for row in rows if row["source"] == "parrot-9"} == set(MODEL)
    assert run(["huse", str(exported), "--k", "5", "--resamples", "99"]) == 0
    scored = capsys.readouterr().out
    for name in ("HUSE", "HUSE-Q", "HUSE-D"):
        assert re.search(rf"^{name} k=5 .* \d\.\d\d \[", scored, re.MULTILINE), scored
