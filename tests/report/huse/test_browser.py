"""The report of a HUSE study in a real browser: the map and the list, by mouse, finger and keyboard."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser import barriers, barriers_of_shape, broken_words, overflow, overflows, widen
from tests.report.builders import huse_study
from tests.report.visits import ReportFiles, Visits, open_all
from textassay.report.former.charts.decision_map import Drawn, draw_map
from textassay.report.former.huse import render_html
from textassay.report.former.huse_items import clearest_first
from textassay.studies.huse.result import KINDS, HuseItem, HuseResult

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect
STUDIES: dict[str, Callable[[], HuseResult]] = {
    "plain": lambda: huse_study(200),
    "large": lambda: huse_study(4_000),
    "hostile": lambda: huse_study(hostile=True),
    "means": lambda: huse_study(raters=False),
}
SOFT = ("plain", "hostile", "means")
WIDTHS = (320, 360, 768, 1280)
# Ways to sort, what the list then says of itself, the number that counts, and whether the largest comes first.
SORTS: dict[str, tuple[str, Callable[[HuseItem], float], bool]] = {
    "rating-up": ("rating, lowest first", lambda each: each.rating, False),
    "rating-down": ("rating, highest first", lambda each: each.rating, True),
    "log-up": ("log-probability, lowest first", lambda each: each.log_prob, False),
    "votes-down": ("most neighbours from its source first", lambda each: each.votes, True),
}
_IDS = "entries => entries.map(entry => [...entry.querySelectorAll('.id')].map(id => id.textContent.trim()))"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[HuseResult]:
    """The studies, and their reports as files."""
    return ReportFiles(STUDIES, render_html, tmp_path_factory.mktemp("reports"))


def entries(page: Any) -> Any:
    """The entries of the list, from top to bottom."""
    return page.locator("#entries .entry")


def ids(page: Any) -> Any:
    """The ids in the list, from top to bottom."""
    return page.locator("#entries .id")


def status(page: Any) -> Any:
    """What the list says of itself, written when it is drawn."""
    return page.locator("[role=status]")


def lit(page: Any) -> Any:
    """The id of the item that is shown beside the map."""
    return page.locator("#map-item .id")


def spot(page: Any, study: HuseResult, place: int, *, which: str = "wide") -> tuple[float, float]:
    """Where on the screen an item is on the map, which is scrolled into view."""
    drawn = draw_map(study, cell=0.0)
    assert drawn is not None
    chart: Drawn = getattr(drawn, which)
    each = study.items[place]
    page.locator(".map-area").scroll_into_view_if_needed()
    across, down = chart.x(each.log_prob), chart.y(each.rating)
    at = page.evaluate(
        """([key, x, y]) => {
            const svg = document.getElementById(`${key}-title`).closest("svg");
            const point = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
            return [point.x, point.y];
        }""",
        [chart.key, across, down],
    )
    return float(at[0]), float(at[1])


def lonely(study: HuseResult) -> int:
    """The place of an item that stands far from all others on the map."""
    drawn = draw_map(study, cell=0.0)
    assert drawn is not None
    pixels = [(drawn.wide.x(each.log_prob), drawn.wide.y(each.rating)) for each in study.items]

    def room(place: int) -> float:
        x, y = pixels[place]
        return min((a - x) ** 2 + (b - y) ** 2 for at, (a, b) in enumerate(pixels) if at != place)

    return max(range(len(pixels)), key=room)


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_it_asks_for_nothing_raises_no_error_and_never_scrolls_sideways(opened: Visits, name: str) -> None:
    page = opened(name)
    open_all(page)
    page.select_option("#sort", "rating-up")
    expect(status(page)).to_contain_text("rating, lowest first")
    page.locator("#entries .plain-button", has_text="On the map").first.click()
    expect(lit(page)).to_be_visible()
    for width in WIDTHS:
        widen(page, width)
        page.locator(".map-area").focus()
        page.keyboard.press("Escape")
        expect(page.locator("#map-item")).to_contain_text("Point at an item")
        page.keyboard.press("ArrowRight")
        expect(lit(page)).to_be_visible()
        assert overflow(page) <= 0
    page.wait_for_load_state("networkidle")
    assert opened.problems == []


@pytest.mark.parametrize("name", SOFT)
def test_without_scripts_it_never_scrolls_sideways_either(opened: Visits, name: str) -> None:
    page = opened(name, java_script_enabled=False)
    open_all(page)
    assert overflows(page, WIDTHS) == {}


def test_the_clearest_examples_come_first_one_page_at_a_time(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    study = reports.study("plain")
    order = [[study.items[place].item.id for place in places] for places in clearest_first(study)]
    first, second = ([name for entry in order[at : at + 20] for name in entry] for at in (0, 20))
    expect(status(page)).to_contain_text("200 of 200 items in 100 entries; clearest examples first")
    expect(ids(page)).to_have_text(first)
    page.get_by_role("button", name="Next page").click()
    expect(ids(page)).to_have_text(second)
    page.get_by_role("button", name="Previous page").click()
    expect(ids(page)).to_have_text(first)
    expect(page.get_by_role("button", name="Previous page")).to_be_disabled()


def test_an_entry_has_context_texts_and_numbers_side_by_side(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    first = [reports.study("plain").items[place] for place in clearest_first(reports.study("plain"))[0]]
    entry = entries(page).first
    expect(entry.locator(".context")).to_contain_text(str(first[0].item.context))
    for each, shown in zip(first, entry.locator("li").all(), strict=True):
        text = " ".join(shown.inner_text().split())
        for expected in (
            "pointer net" if each.item.is_model else "human",
            each.kind,
            str(each.item.text),
            f"rating {each.rating:.2f} (20)",
            f"log-prob per token {each.log_prob:.2f}",
        ):
            assert expected in text


def test_search_kind_and_source_narrow_the_list(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    study = reports.study("plain")
    page.select_option("#kind", KINDS[1])
    page.select_option("#source", "1")
    fit = {each.item.id for each in study.items if each.kind == KINDS[1] and each.item.is_model}
    expect(status(page)).to_contain_text(f"{len(fit)} of 200 items")
    shown = {text.strip() for text in ids(page).all_inner_texts()}
    marked = {text.strip() for text in page.locator("#entries .matched .id").all_inner_texts()}
    assert marked == shown & fit
    assert len(marked) > 0
    expect(page.locator("#entries .beside")).to_have_count(len(marked))
    page.select_option("#kind", "")
    page.select_option("#source", "")
    item = study.items[57].item
    for query in (str(item.text).upper(), item.id):
        page.fill("#search", query)
        expect(entries(page)).to_have_count(1)
        expect(ids(page).filter(has_text=item.id)).to_have_count(1)
        page.fill("#search", "no such words anywhere")
        expect(page.locator("#entries")).to_have_text("No item matches.")


def test_the_list_sorts(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    for sort, (said, value, falling) in SORTS.items():
        page.select_option("#sort", sort)
        expect(status(page)).to_contain_text(said)
        known = {each.item.id: value(each) for each in reports.study("plain").items}
        best = max if falling else min
        firsts = [best(known[name] for name in entry) for entry in entries(page).evaluate_all(_IDS)]
        assert len(firsts) == 20
        assert firsts == pytest.approx(sorted(firsts, reverse=falling), abs=0.006)
        assert firsts[0] == pytest.approx(best(known.values()), abs=0.006)


def test_the_item_under_the_pointer_is_shown_and_a_click_filters(
    opened: Visits, reports: ReportFiles[HuseResult]
) -> None:
    page = opened("plain")
    study = reports.study("plain")
    place = lonely(study)
    each = study.items[place]
    panel = page.locator("#map-item")
    expect(panel).to_contain_text("Point at an item")
    page.mouse.move(*spot(page, study, place))
    for expected in (each.item.id, each.kind, str(each.item.text), str(each.item.context), f"{each.rating:.2f}"):
        expect(panel).to_contain_text(expected)
    page.mouse.click(*spot(page, study, place))
    expect(panel).to_contain_text("The list shows this item.")
    expect(entries(page)).to_have_count(1)
    expect(ids(page).filter(has_text=each.item.id)).to_have_count(1)
    expect(page.locator(".near")).to_contain_text("Only the item selected on the map")
    page.get_by_role("button", name="Show all items").click()
    expect(page.locator(".near")).to_be_hidden()
    expect(entries(page)).to_have_count(20)


def test_a_click_beside_all_items_lets_go(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    page.mouse.click(*spot(page, reports.study("plain"), lonely(reports.study("plain"))))
    expect(entries(page)).to_have_count(1)
    page.locator("#map-wide-title").locator("xpath=..").click(position={"x": 4, "y": 4})
    expect(entries(page)).to_have_count(20)
    expect(page.locator("#map-item")).to_contain_text("Point at an item")


def test_a_tap_on_a_phone_shows_the_item(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    study = reports.study("plain")
    each = study.items[lonely(study)]
    page.touchscreen.tap(*spot(page, study, lonely(study), which="narrow"))
    expect(lit(page)).to_have_text(each.item.id)
    expect(page.locator(".near")).to_be_visible()
    expect(ids(page).filter(has_text=each.item.id)).to_have_count(1)
    page.locator("#map-item a", has_text="Go to the list").click()
    expect(page).to_have_url(re.compile("#items$"))


def test_the_map_works_by_keyboard(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain")
    by_id = {each.item.id: each for each in reports.study("plain").items}

    def after(key: str) -> HuseItem:
        before = lit(page).inner_text()
        page.keyboard.press(key)
        expect(lit(page)).not_to_have_text(before)
        return by_id[lit(page).inner_text().strip()]

    page.locator(".map-area").focus()
    expect(lit(page)).to_be_visible()
    first = after("ArrowRight")
    second = after("ArrowUp")
    assert second.rating > first.rating
    assert after("ArrowLeft").log_prob < second.log_prob
    last = after("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#items")).to_be_focused()
    expect(page.locator(".near")).to_be_visible()
    expect(ids(page).filter(has_text=last.item.id)).to_have_count(1)
    page.locator(".map-area").focus()
    page.keyboard.press("Escape")
    expect(entries(page)).to_have_count(20)


def test_an_item_of_the_list_is_found_on_the_map(opened: Visits) -> None:
    page = opened("plain", reduced_motion="no-preference")
    wanted = ids(page).nth(5).inner_text()
    page.locator("#entries li").nth(5).get_by_role("button", name="On the map").click()
    expect(lit(page)).to_have_text(wanted)
    expect(page.locator(".wide .here").first).to_be_visible()
    expect(page.locator(".map-area")).to_be_focused()
    expect(page.locator(".map-area")).to_be_in_viewport(ratio=0.9)


def test_thousands_of_items_stay_quick(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("large")
    assert page.evaluate("document.querySelectorAll('*').length") < 6000
    page.mouse.move(*spot(page, reports.study("large"), 0))
    expect(page.locator("#map-item")).to_contain_text("rating")
    page.fill("#search", "human-1990")
    page.select_option("#sort", "rating-down")
    expect(status(page)).to_contain_text("1 of 4,000 items in 1 entry; rating, highest first")


def test_hostile_texts_stay_texts(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("hostile")
    assert page.locator("img, iframe, object, #entries script, .entry style").count() == 0
    assert "<script>alert(1)</script>" in page.locator("#entries .written").all_text_contents()
    page.fill("#search", "longlonglong")
    items = [each.item for each in reports.study("hostile").items]
    fit = sum("longlonglong" in f"{each.id} {each.text} {each.context}" for each in items)
    # Only then is the list the new one: what is measured before is gone a moment later.
    expect(status(page)).to_contain_text(f"{fit} of {len(items)} items")
    item = page.locator("#entries li", has=page.locator(".said", has_text="longlonglong")).first
    folded = item.locator(".said").bounding_box()["height"]
    item.get_by_role("button", name="Show all").click()
    expect(item.get_by_role("button", name="Show less")).to_have_attribute("aria-expanded", "true")
    assert item.locator(".said").bounding_box()["height"] > 2 * folded


def test_without_scripts_everything_can_be_read(opened: Visits, reports: ReportFiles[HuseResult]) -> None:
    page = opened("plain", java_script_enabled=False)
    expect(page.locator("#browse")).to_be_empty()
    expect(page.locator("#static .entry")).to_have_count(24)
    expect(page.locator("#static .entry").first).to_be_visible()
    expect(page.locator("#map-item")).to_be_hidden()
    for chart in ("huse-plane-wide", "map-wide", "k-curves", "stability-items", "stability-ratings"):
        expect(page.locator(f"#{chart}-title").locator("xpath=..")).to_be_visible()
    expect(page.locator(".big").first).to_have_text(f"{reports.study('plain').results[0].estimate:.2f}")


def test_paper_has_the_clearest_examples(opened: Visits) -> None:
    page = opened("plain")
    expect(page.locator("#static")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator("#static")).to_be_visible()
    expect(page.locator("#browse")).to_be_hidden()
    expect(page.locator("#map-item")).to_be_hidden()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_raters_can_be_sorted(opened: Visits) -> None:
    page = opened("plain")
    open_all(page)
    table = page.locator("table.raters").last
    for way in ("ascending", "descending"):
        table.get_by_role("button", name="Agreement").click()
        expect(table.locator(f"th[aria-sort={way}]")).to_contain_text("Agreement")
        shown = table.locator("tbody td:nth-child(4)").all_inner_texts()
        known = [float(text) for text in shown if text != "–"]
        assert shown[0 if way == "ascending" else -1] == "–"
        assert known == sorted(known, reverse=way == "descending")


@pytest.mark.parametrize("name", SOFT)
def test_no_serious_barrier(opened: Visits, name: str) -> None:
    page = opened(name)
    open_all(page)
    page.locator(".map-area").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    for shown in (".near", "#entries .matched", "#entries .beside", "#map-item .picked"):
        expect(page.locator(shown).first).to_be_visible()
    assert barriers(page) == []
    widen(page, 360)
    page.get_by_role("button", name="Show all items").click()
    page.select_option("#kind", KINDS[0])
    expect(page.locator("#entries .matched").nth(1)).to_be_visible()
    assert barriers_of_shape(page) == []


_WIDER = """
[...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)
"""


def test_on_a_phone_all_columns_of_all_tables_are_in_sight(opened: Visits) -> None:
    page = opened("plain")
    open_all(page)
    widen(page, 390)
    assert page.locator(".scroll").count() >= 7
    assert page.evaluate(_WIDER) == []
    assert broken_words(page) == []
