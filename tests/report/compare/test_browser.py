"""The HTML report in a real browser: no request, no error, no sideways scrolling, usable without scripts and by all."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.browser import barriers, barriers_of_shape, broken_words, overflows, widen
from tests.report.builders import comparison, hostile_meaning, pairs, with_meaning
from tests.report.visits import ReportFiles, Visits, open_all
from textassay.report.former.compare import render_html
from textassay.studies.compare.result import Comparison

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect


def hostile_ends() -> Comparison:
    """Hostile texts everywhere, with the first and the last candidate only: not ten sections alike."""
    first, *_, last = hostile_meaning().candidates
    return replace(hostile_meaning(), candidates=(first, last))


PAGES: dict[str, Callable[[], Comparison]] = {
    "plain": lambda: comparison(contests=pairs(("small", "large"), 12), real_n=250),
    "many": lambda: comparison([f"a-long-name-of-a-model-{i}" for i in range(12)]),
    "meaning": with_meaning,
    "hostile": hostile_meaning,
    "hostile ends": hostile_ends,
    "bare": lambda: comparison(["only"], half=None, p=None),
}
AUDITED = sorted(PAGES.keys() - {"hostile"})  # nothing in it but more of "hostile ends"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[Comparison]:
    """The reports as files."""
    return ReportFiles(PAGES, render_html, tmp_path_factory.mktemp("reports"))


@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"hostile ends"}))
def test_it_asks_for_nothing_raises_no_error_and_never_scrolls_sideways(opened: Visits, name: str) -> None:
    page = opened(name)
    open_all(page)
    assert overflows(page, (320, 375, 768, 1280)) == {}
    page.wait_for_load_state("networkidle")
    assert opened.problems == []


def test_the_first_column_stays_in_sight(opened: Visits) -> None:
    page = opened("many", viewport={"width": 375, "height": 800})
    where = "document.querySelector('.metrics tbody th[scope=row]').getBoundingClientRect().left"
    before = page.evaluate(where)
    page.evaluate("document.querySelector('.scroll').scrollLeft = 400")
    assert page.evaluate("document.querySelector('.scroll').scrollLeft") == 400
    assert page.evaluate(where) == pytest.approx(before, abs=1)


def test_it_reads_the_same_without_scripts(opened: Visits) -> None:
    with_scripts = opened("plain")
    without = opened("plain", java_script_enabled=False)
    texts = [" ".join(page.locator("main").inner_text().split()) for page in (with_scripts, without)]
    assert texts[0] == texts[1]
    assert "Differs" in texts[1]
    without.locator("summary", has_text="Paired differences").click()
    expect(without.locator("table.sortable")).to_be_visible()
    expect(without.locator("svg[role=img]").first).to_be_visible()


def test_a_name_lights_its_candidate_up_everywhere(opened: Visits) -> None:
    page = opened("plain")
    button = page.locator(".legend button").first
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".strips [data-c='1']").first).to_have_class("dim")
    expect(page.locator(".strips [data-c='0']").first).to_have_class("")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".dim")).to_have_count(0)


def test_the_table_of_contests_can_be_sorted(opened: Visits) -> None:
    page = opened("plain")
    page.locator("summary", has_text="Paired differences").click()
    page.locator("table.sortable thead button", has_text="Difference").click()
    expect(page.locator("table.sortable th[aria-sort=ascending]")).to_contain_text("Difference")
    column = [float(text) for text in page.locator("table.sortable td:nth-child(4)").all_inner_texts()]
    assert column == sorted(column)
    assert len(column) == 12
    # On paper a button would be drawn on the first sheet only, and the header is repeated on every sheet.
    page.emulate_media(media="print")
    expect(page.locator("table.sortable thead button").first).to_have_css("display", "contents")


def test_paper_shows_what_the_screen_folds_away(opened: Visits) -> None:
    page = opened("many")
    page.emulate_media(media="print")
    # Too many columns for a sheet: rows become lists of named values.
    expect(page.locator(".metrics thead")).to_have_css("display", "none")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.scroll'))") <= 1
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", AUDITED)
def test_no_serious_barrier(opened: Visits, name: str) -> None:
    page = opened(name)
    open_all(page)
    assert barriers(page) == []
    widen(page, 375)
    assert barriers_of_shape(page) == []


def test_no_word_breaks_inside_on_a_phone(opened: Visits) -> None:
    page = opened("many")
    open_all(page)
    widen(page, 390)
    assert page.locator("table").count() > 1
    assert broken_words(page) == []
