"""The HTML report in a real browser: no request, no error, no sideways scrolling, usable without scripts and by all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.builders import comparison, hostile, pairs
from tests.report.meanings import hostile_meaning, with_meaning
from textassay.report.html import render_html
from textassay.studies.comparison import Comparison

PAGES: dict[str, Callable[[], Comparison]] = {
    "plain": lambda: comparison(contests=pairs(("small", "large"), 12), real_n=250),
    "many": lambda: comparison([f"a-long-name-of-a-model-{i}" for i in range(20)]),
    "hostile": hostile,
    "meaning": with_meaning,
    "hostile meaning": hostile_meaning,
    "bare": lambda: comparison(["only"], half=None, p=None),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports as files."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {}
    for name, make in PAGES.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(render_html(make()), encoding="utf-8")
    return paths


@pytest.fixture(params=sorted(PAGES))
def report(request: pytest.FixtureRequest, reports: dict[str, Path]) -> Path:
    """Each report in turn."""
    return reports[request.param]


def opened(browser: Any, report: Path, **options: Any) -> Any:
    """A page in a context of its own."""
    page = browser.new_context(**options).new_page()
    page.goto(report.as_uri())
    return page


def test_it_asks_for_nothing_and_raises_no_error(browser: Any, report: Path) -> None:
    page = browser.new_context().new_page()
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto(report.as_uri())
    page.wait_for_load_state("networkidle")
    page.context.close()
    assert requests == [report.as_uri()]
    assert errors == []


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_the_page_never_scrolls_sideways(browser: Any, report: Path, width: int) -> None:
    page = opened(browser, report, viewport={"width": width, "height": 800})
    page.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.context.close()
    assert wide <= width


def test_the_first_column_stays_in_sight(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["many"], viewport={"width": 375, "height": 800})
    where = "document.querySelector('.metrics tbody th[scope=row]').getBoundingClientRect().left"
    before = page.evaluate(where)
    page.evaluate("document.querySelector('.scroll').scrollLeft = 400")
    scrolled = page.evaluate("document.querySelector('.scroll').scrollLeft")
    after = page.evaluate(where)
    page.context.close()
    assert scrolled == 400
    assert after == pytest.approx(before, abs=1)


def test_it_reads_the_same_without_scripts(browser: Any, reports: dict[str, Path]) -> None:
    with_scripts = opened(browser, reports["plain"])
    without = opened(browser, reports["plain"], java_script_enabled=False)
    texts = [" ".join(page.locator("main").inner_text().split()) for page in (with_scripts, without)]
    without.locator("summary", has_text="Paired differences").click()
    assert without.locator("table.sortable").is_visible()
    assert without.locator("svg[role=img]").first.is_visible()
    for page in (with_scripts, without):
        page.context.close()
    assert texts[0] == texts[1]
    assert "Differs" in texts[1]


def test_a_name_lights_its_candidate_up_everywhere(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["plain"])
    button = page.locator(".legend button").first
    button.click()
    lit = page.locator(".strips [data-c='0']").first.get_attribute("class") or ""
    dimmed = page.locator(".strips [data-c='1']").first.get_attribute("class") or ""
    pressed = button.get_attribute("aria-pressed")
    button.click()
    left = page.locator(".dim").count()
    page.context.close()
    assert (lit, dimmed, pressed, left) == ("", "dim", "true", 0)


def test_the_table_of_contests_can_be_sorted(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["plain"])
    page.locator("summary", has_text="Paired differences").click()
    page.locator("table.sortable thead button", has_text="Difference").click()
    column = [float(text) for text in page.locator("table.sortable td:nth-child(4)").all_inner_texts()]
    page.context.close()
    assert column == sorted(column)
    assert len(column) == 12


def test_paper_shows_what_the_screen_folds_away(browser: Any, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["many"])
    page.emulate_media(media="print")
    shown = page.evaluate("getComputedStyle(document.querySelector('.metrics thead')).display")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    table = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.scroll'))")
    paper = page.pdf(format="A4")
    page.context.close()
    assert shown == "none"  # too many columns for a sheet: rows become lists of named values
    assert wide <= 0
    assert table <= 1
    assert paper.startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_no_serious_barrier(browser: Any, report: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(browser, report, color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")
    violations = axe.Axe().run(page).response["violations"]
    page.context.close()
    grave = [
        f"{found['id']}: {node['target']} {node['failureSummary'][:200]}"
        for found in violations
        if found["impact"] in {"serious", "critical"}
        for node in found["nodes"][:3]
    ]
    assert grave == []
