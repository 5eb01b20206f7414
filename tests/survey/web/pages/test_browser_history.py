"""Back, old pages and errors in a real browser: an answer belongs to the text above it, and pages offer a next step.

Also what a screen reader announces, and how the buttons fit a narrow phone.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser import ARGUMENTS, CHROMIUM, barriers, overflow
from tests.survey.conftest import ITEMS, STUDY
from tests.survey.store.small_studies import quick_folder
from tests.survey.web.pages.browser import DESKTOP, Browser, opened_browser, small_targets
from tests.survey.web.server_process import served
from textassay.survey.model import TYPICALITY
from textassay.survey.store.study_store import Store

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")
expect: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

MANY = 20
SAVED = "Your last answer is saved."
KEPT = "You had already answered that text. Your first answer is kept; use Undo to change it."
_LOOKS = "(line) => { const {color, fontWeight} = getComputedStyle(line); return [color, fontWeight]; }"
_LINES = """(buttons) => buttons.map((button) => {
    const words = document.createRange();
    words.selectNodeContents(button.firstChild);
    return words.getClientRects().length;
})"""


@dataclass(frozen=True)
class Served:
    """A study that is served, a browser for it, and links that no test has used yet."""

    path: Path
    browser: Browser
    links: Iterator[str]

    def begun(self, **options: Any) -> Any:
        """The first text of somebody new."""
        page = self.browser.page(**DESKTOP | options)
        page.goto(f"{next(self.links)}?now=start")
        return page

    def answers(self, page: Any) -> dict[str, int]:
        """What the rater of this page has answered to which text."""
        with closing(Store.open(self.path, read_only=True)) as store:
            rater = store.rater(page.url.partition("/r/")[2].partition("?")[0])
            assert rater is not None
            return {given.item.text: given.value for given in store.ratings(checks=True) if given.rater == rater.name}


@pytest.fixture(scope="module")
def study() -> Iterator[Served]:
    """One server and one browser for all tests of this file; everybody gets all texts."""
    with quick_folder() as folder:
        path = Path(folder) / "study.db"
        settings = replace(STUDY, items_per_rater=len(ITEMS) - 1, ratings_wanted=MANY)
        links = Store.create(path, settings, ITEMS, n_raters=MANY)
        with served(path) as (_, where), opened_browser(f"http://{where}") as browser:
            yield Served(path, browser, (f"http://{where}/r/{token}" for token in links.raters))
            assert browser.troubles == []


def at_text(page: Any, number: int) -> None:
    """Wait until the page shows the text of this number."""
    expect(page.locator("h1")).to_have_text(f"Text {number} of {len(ITEMS)}")


def answer(page: Any, number: int, value: int) -> str:
    """Choose this answer to the text of this number and save it; the text."""
    at_text(page, number)
    text = page.locator(".text").text_content()
    page.locator(f".choice:has([value='{value}'])").click()
    page.get_by_role("button", name="Save answer").click()
    return str(text)


@pytest.mark.parametrize("scripts", [True, False])
def test_back_chooses_nothing_for_the_text_that_is_shown(study: Served, scripts: bool) -> None:
    page = study.begun(java_script_enabled=scripts)
    given = {answer(page, 1, 5): 5, answer(page, 2, 2): 2}
    at_text(page, 3)
    page.go_back()
    at_text(page, 3)
    expect(page.locator(":checked")).to_have_count(0)
    given[answer(page, 3, 4)] = 4
    at_text(page, 4)
    assert study.answers(page) == given
    page.context.close()


def test_a_page_out_of_the_memory_of_the_browser_changes_no_other_answer(study: Served) -> None:
    # Playwright turns that memory off unless it is told not to.
    chromium = study.browser.chromium.browser_type.launch(
        executable_path=CHROMIUM, args=list(ARGUMENTS), ignore_default_args=["--disable-back-forward-cache"]
    )
    remembering = replace(study, browser=Browser(chromium, study.browser.host, study.browser.troubles))
    page = remembering.begun()
    given = {answer(page, 1, 5): 5}
    at_text(page, 2)
    page.evaluate("window.mark = 'old'")
    given[answer(page, 2, 2)] = 2
    at_text(page, 3)
    page.evaluate("window.mark = 'new'")
    page.evaluate("history.back()")
    page.wait_for_function("window.mark !== 'new'")
    if page.evaluate("window.mark") != "old":
        pytest.skip("this browser keeps no pages in memory")
    assert answer(page, 2, 6) in given
    at_text(page, 3)
    expect(page.locator("#status")).to_have_text(KEPT)
    expect(page.locator(":checked")).to_have_count(0)
    assert study.answers(page) == given
    chromium.close()


def test_after_an_error_there_is_a_way_on(study: Served) -> None:
    page = study.begun()
    answer(page, 1, 5)
    for way in ("Try again", "the address"):
        at_text(page, 2)
        page.locator("#answer [name='key']").evaluate("(field) => { field.value = 'wrong'; }")
        answer(page, 2, 3)
        expect(page.locator("h1")).to_have_text("This form is no longer valid")
        assert page.url.endswith("/answer")
        assert (barriers(page), overflow(page), small_targets(page)) == ([], 0, [])
        if way == "Try again":
            page.get_by_role("link", name=way, exact=True).click()
        else:
            page.goto(page.url)
    at_text(page, 2)
    assert list(study.answers(page).values()) == [5]
    page.context.close()


def test_a_screen_reader_says_every_choice_once(study: Served) -> None:
    page = study.begun()
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    radios = [node for node in nodes if node.get("role", {}).get("value") == "radio"]
    said = [(node["name"]["value"], node["description"]["value"]) for node in radios]
    assert said == [(choice.label, choice.help) for choice in TYPICALITY]
    # The words beside the button still choose it.
    page.locator(".help").first.click()
    expect(page.get_by_role("radio", name="Very Typical", exact=True)).to_be_checked()
    page.context.close()


def test_what_was_not_saved_does_not_look_like_what_was(study: Served) -> None:
    page = study.begun()
    answer(page, 1, 5)
    at_text(page, 2)
    status, looks = page.locator("#status"), {}
    for word, words in (("saved", SAVED), ("kept", KEPT)):
        page.goto(f"{page.url}?now={word}")
        expect(status).to_have_text(words)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            looks[word, scheme] = status.evaluate(_LOOKS)
            looks["heading", scheme] = page.locator("h1").evaluate(_LOOKS)
    for scheme in ("light", "dark"):
        assert looks["kept", scheme] == [looks["heading", scheme][0], "600"]
        assert looks["saved", scheme] == [looks["saved", scheme][0], "400"]
        assert looks["saved", scheme] != looks["kept", scheme]
    assert barriers(page) == []
    page.context.close()


def test_buttons_stay_in_one_line_on_a_narrow_phone(study: Served) -> None:
    page = study.begun()
    answer(page, 1, 5)
    at_text(page, 2)
    for width in (390, 340, 320, 240):
        page.set_viewport_size({"width": width, "height": 640})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        save, withdraw = page.locator(".actions button").evaluate_all(_LINES)
        # Below the width of any phone a line may break, but never a word.
        assert (save == 1 or width < 320, withdraw) == (True, 1), width
        assert (overflow(page), small_targets(page)) == (0, []), width
    page.context.close()
