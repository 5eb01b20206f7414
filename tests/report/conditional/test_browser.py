"""The report of a conditional study in a real browser: searching, sorting, a page an item, by keyboard and by all."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser import barriers, broken_words, overflows, widen
from tests.report.builders import HOSTILE_MARKUP, conditional, hostile_conditional, many_items, one_candidate
from tests.report.visits import ReportFiles, Visits, open_all
from textassay.report.former.conditional import render_html
from textassay.report.former.conditional_items import how_far, worst_first
from textassay.studies.conditional.result import Conditional

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect
STUDIES: dict[str, Callable[[], Conditional]] = {
    "plain": lambda: conditional(sensitivity=True),
    "large": many_items,
    "hostile": hostile_conditional,
    "single": lambda: many_items(30, systems=("only",), prompts=True),
    "unmeasured": one_candidate,
}
SOFT = ("plain", "hostile", "single")
WIDTHS = (320, 390, 1280)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[Conditional]:
    """The studies, and their reports as files."""
    return ReportFiles(STUDIES, render_html, tmp_path_factory.mktemp("reports"))


def links(page: Any) -> Any:
    """The links of the list, from top to bottom; their texts are the ids."""
    return page.locator(".items tbody a")


def status(page: Any) -> Any:
    """What the list says of itself, written when it is drawn."""
    return page.locator("[role=status]")


def title(page: Any) -> Any:
    """The title of the item page."""
    return page.locator("#item-title")


def go(page: Any, route: str) -> None:
    """Change what stands behind the `#`; the page hears of it a little later."""
    page.evaluate("route => { location.hash = route }", route)


def go_to_item(page: Any, study: Conditional, place: int) -> None:
    """Go to the page of this item, whose id may hold more than a browser shows behind its first word."""
    go(page, f"#item={place}")
    first = study.items.items[place].id.split()[0]
    expect(title(page)).to_have_text(re.compile(rf"^{re.escape(first)}(\s|$)"))


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_it_asks_for_nothing_raises_no_error_and_never_scrolls_sideways(
    opened: Visits, reports: ReportFiles[Conditional], name: str
) -> None:
    page = opened(name)
    open_all(page)
    assert overflows(page, WIDTHS) == {}
    go_to_item(page, reports.study(name), 0)
    assert overflows(page, WIDTHS) == {}
    go_to_item(page, reports.study(name), 3)
    go(page, "#item=99999")
    expect(title(page)).to_have_text("Item not found")
    go(page, "#table")
    expect(page.locator("#item")).to_be_hidden()
    go(page, "")
    page.wait_for_load_state("networkidle")
    assert opened.problems == []


def test_a_thousand_items_are_listed_a_page_at_a_time(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large")
    study = reports.study("large")
    systems = [system.items for system in study.systems]
    # The page knows two decimals; items that differ equally keep their order.
    far = [max((o.miss.kind != "same", round(how_far(o.miss), 2)) for o in each) for each in zip(*systems, strict=True)]
    order = sorted(range(1000), key=lambda place: (-far[place][0], -far[place][1]))
    worst = [study.items.items[place].id for place in order]
    expect(status(page)).to_contain_text("1,000 of 1,000 items, sorted by difference, descending")
    expect(links(page)).to_have_text(worst[:100])
    assert page.evaluate("document.querySelectorAll('*').length") < 8000
    page.get_by_role("button", name="Next page").click()
    expect(links(page)).to_have_text(worst[100:200])
    page.get_by_role("button", name="Previous page").click()
    expect(links(page)).to_have_text(worst[:100])
    expect(page.get_by_role("button", name="Previous page")).to_be_disabled()


def test_without_measured_differences_the_list_keeps_the_order_of_the_file(opened: Visits) -> None:
    page = opened("unmeasured")
    expect(status(page)).to_have_text("4 of 4 items, in the order of the file")
    expect(links(page)).to_have_text(["i0", "i1", "i2", "i3"])
    assert page.locator(".items thead button").all_text_contents() == ["Item", "Kind", "score edit\u00a0↑"]
    page.locator(".items thead button", has_text="score edit").click()
    expect(status(page)).to_contain_text("sorted by score edit, descending")


def test_search_looks_into_ids_and_texts(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large")
    item = reports.study("large").items.items[worst_first(reports.study("large"))[7]]
    for query in (item.references[2].upper(), item.candidates["nucleus 0.9"][4], item.id):
        page.fill("#search", query)
        expect(links(page)).to_have_text([item.id])
        page.fill("#search", "no such words anywhere")
        expect(page.locator(".items tbody")).to_have_text("No item matches.")
    page.fill("#search", "")
    expect(links(page)).to_have_count(100)


def test_kinds_and_systems_can_be_selected(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large")
    page.select_option("#system", label="nucleus 0.9")
    page.select_option("#kind", "elsewhere")
    column = reports.study("large").systems[1]
    missed = sorted((o for o in column.items if o.miss.kind == "elsewhere"), key=lambda o: -round(how_far(o.miss), 2))
    expect(status(page)).to_contain_text(re.compile(f"^{len(missed)} of 1,000 items"))
    expect(links(page)).to_have_text([outcome.id for outcome in missed[:100]])
    assert set(page.locator(".items tbody .badge").all_inner_texts()) == {"off target"}
    expect(page.locator(".items thead", has_text="System")).to_have_count(0)


def test_columns_sort_both_ways_and_say_so(opened: Visits) -> None:
    page = opened("large")
    page.select_option("#system", "0")
    button = page.locator(".items thead button", has_text="trm meteor")

    def column(order: str) -> list[float]:
        expect(status(page)).to_contain_text(f"sorted by trm meteor, {order}")
        expect(page.locator(".items [aria-sort]")).to_have_attribute("aria-sort", order)
        return [float(text) for text in page.locator(".items tbody td:nth-child(7)").all_inner_texts()]

    button.click()
    falling = column("descending")
    assert falling == sorted(falling, reverse=True)
    button.click()
    rising = column("ascending")
    assert rising == sorted(rising)
    assert falling[0] > rising[0]
    expect(button).to_be_focused()
    page.locator(".items thead button", has_text="Item").click()
    expect(links(page).nth(0)).to_have_text("img-00000")
    expect(links(page).nth(1)).to_have_text("img-00001")


def test_what_has_no_number_stands_last_whichever_way(opened: Visits) -> None:
    page = opened("plain")
    for order in ("descending", "ascending"):
        page.locator(".items thead button", has_text="mmd").click()
        expect(status(page)).to_contain_text(f"sorted by mmd, {order}")
        expect(links(page).last).to_have_text("img-0006")


def test_an_item_has_a_page_with_texts_side_by_side(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    study = reports.study("large")
    place = next(at for at in worst_first(study) if at % 5 == 0)
    item = study.items.items[place]
    page = opened("large", f"#item={place}")
    expect(title(page)).to_have_text(item.id)
    expect(page.locator(".overview").first).to_be_hidden()
    sides = page.locator("#item .sides > div").all_inner_texts()
    assert len(sides) == 3
    for text in item.references:
        assert text in sides[0]
    assert f"{item.references[0]} × 8 also a reference" in " ".join(sides[1].split())
    central = page.locator("#item .sides > div").first.locator("li", has_text="central")
    expect(central.locator(".written")).to_have_text([item.references[study.central[place] or 0]])
    row = page.locator(".scores tr", has_text="trm meteor")
    for column in (study.human, *study.systems):
        expect(row).to_contain_text(f"{column.items[place].results[2].estimate:.2f}")
    expect(page.locator(".triangles .card")).to_have_count(4)
    expect(page.locator(".triangles")).to_contain_text("references")
    expect(page).to_have_title(re.compile(f"^{item.id}"))


def test_an_item_without_texts_says_where_they_are(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large", f"#item={worst_first(reports.study('large'))[-1]}")
    expect(page.locator("#item")).to_contain_text("the JSON file contains all texts")
    expect(page.locator(".scores tbody tr")).to_have_count(9)


def test_there_and_back_again_with_focus_where_it_was(opened: Visits) -> None:
    page = opened("large", viewport={"width": 1280, "height": 800})
    page.fill("#search", "horse")
    expect(status(page)).not_to_contain_text("1,000 of")
    listed = links(page).all_inner_texts()
    links(page).nth(40).click()
    expect(title(page)).to_have_text(listed[40])
    expect(title(page)).to_be_focused()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    expect(page.locator("#item")).to_be_hidden()
    expect(links(page)).to_have_text(listed)
    expect(links(page).nth(40)).to_be_focused()
    expect(links(page).nth(40)).to_be_in_viewport()


def test_next_and_previous_follow_the_list(opened: Visits) -> None:
    page = opened("large")
    listed = links(page).all_inner_texts()
    links(page).first.click()
    expect(title(page)).to_have_text(listed[0])
    expect(page.locator("a[rel=prev]")).to_have_count(0)
    page.get_by_role("link", name="Next").click()
    expect(title(page)).to_have_text(listed[1])
    for key, place in (("ArrowRight", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(title(page)).to_have_text(listed[place])
    # A table that scrolls sideways keeps the key; a step would be behind the `#` at once.
    page.locator("#item .scroll").focus()
    before = page.evaluate("location.hash")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == before
    title(page).focus()
    page.keyboard.press("Escape")
    expect(page.locator("#item")).to_be_hidden()
    expect(links(page).nth(1)).to_be_focused()


def test_links_to_sections_lead_out_of_an_item(opened: Visits) -> None:
    page = opened("plain", "#item=2")
    expect(title(page)).to_be_visible()
    go(page, "#reading")
    expect(page.locator("#item")).to_be_hidden()
    expect(page.locator("#reading")).to_be_in_viewport()


def test_hostile_texts_stay_texts(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("hostile")
    expect(page.locator(".items tbody tr")).to_have_count(len(HOSTILE_MARKUP))
    for place in range(len(HOSTILE_MARKUP)):
        go_to_item(page, reports.study("hostile"), place)
        assert page.locator("#item script, #item img, #item style").count() == 0
    texts = page.locator("#item .sides .written").all_text_contents()
    assert "<script>alert(1)</script>" in texts
    go_to_item(page, reports.study("hostile"), 6)
    expect(page.locator("#item .sides li").first).to_have_attribute("dir", "auto")
    assert page.locator("img, iframe, object").count() == 0


def test_without_scripts_the_first_items_are_there(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large", java_script_enabled=False)
    expect(page.locator("#browse")).to_be_empty()
    expect(page.locator("#static > details")).to_have_count(25)
    page.locator("#static summary").first.click()
    worst = reports.study("large").items.items[worst_first(reports.study("large"))[0]]
    expect(page.get_by_text(worst.references[0], exact=True).first).to_be_visible()
    expect(page.locator("svg[role=img]").first).to_be_visible()


def test_paper_has_the_first_items_or_the_open_one(opened: Visits, reports: ReportFiles[Conditional]) -> None:
    page = opened("large")
    expect(page.locator("#static")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator("#static")).to_be_visible()
    expect(page.locator("#browse")).to_be_hidden()
    go_to_item(page, reports.study("large"), worst_first(reports.study("large"))[0])
    expect(page.locator("#static")).to_be_hidden()
    expect(page.locator("#item .sides")).to_be_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", SOFT)
def test_no_serious_barrier(opened: Visits, reports: ReportFiles[Conditional], name: str) -> None:
    page = opened(name)
    open_all(page)
    assert barriers(page) == []
    go_to_item(page, reports.study(name), 0)
    assert barriers(page) == []


def test_no_word_breaks_inside_on_a_phone(opened: Visits) -> None:
    page = opened("plain")
    open_all(page)
    widen(page, 390)
    assert page.locator("table").count() > 1
    assert broken_words(page) == []
