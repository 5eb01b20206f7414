"""The report of a conditional study in a real browser: searching, sorting, a page an item, by keyboard and by all."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.item_builders import HOSTILE, conditional, hostile
from tests.report.many_items import many_items
from textassay.report.items_html import render_items_html
from textassay.report.items_view import worst_first
from textassay.studies.conditioned import Conditional

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect
STUDIES: dict[str, Callable[[], Conditional]] = {
    "plain": lambda: conditional(sensitivity=True),
    "large": many_items,
    "hostile": hostile,
    "single": lambda: many_items(30, systems=("only",), prompts=True),
}
SOFT = ("plain", "hostile", "single")
OPEN_ALL = "for (const item of document.querySelectorAll('details')) item.open = true"


@pytest.fixture(scope="module")
def studies() -> dict[str, Conditional]:
    """The studies themselves."""
    return {name: make() for name, make in STUDIES.items()}


@pytest.fixture(scope="module")
def reports(studies: dict[str, Conditional], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports as files."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in studies}
    for name, path in paths.items():
        path.write_text(render_items_html(studies[name]), encoding="utf-8")
    return paths


@pytest.fixture
def opened(browser: Any, reports: dict[str, Path]) -> Iterator[Callable[..., Any]]:
    """Opens a report in a context of its own, closed behind the test."""
    contexts = []

    def visit(name: str, route: str = "", **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.goto(reports[name].as_uri() + route)
        return page

    yield visit
    for context in contexts:
        context.close()


def ids(page: Any) -> list[str]:
    """The ids in the list, from top to bottom."""
    return [text.strip() for text in page.locator(".items tbody a").all_inner_texts()]


def shown(page: Any) -> str:
    """The title of the item page."""
    return str(page.locator("#item-title").inner_text())


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_it_asks_for_nothing_and_raises_no_error(browser: Any, reports: dict[str, Path], name: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto(reports[name].as_uri())
    for route in ("#item=0", "#item=3", "#item=99999", "#table", ""):
        page.evaluate(f"location.hash = '{route}'")
        page.wait_for_timeout(20)
    page.wait_for_load_state("networkidle")
    context.close()
    assert requests == [reports[name].as_uri()]
    assert errors == []


def test_a_thousand_items_are_listed_a_page_at_a_time(
    opened: Callable[..., Any], studies: dict[str, Conditional]
) -> None:
    page = opened("large")
    systems = [system.items for system in studies["large"].systems]
    # The page knows two decimals; items that miss equally far stand in their own order.
    far = [max((o.miss.kind != "same", round(o.miss.far, 2)) for o in each) for each in zip(*systems, strict=True)]
    order = sorted(range(1000), key=lambda place: (-far[place][0], -far[place][1]))
    worst = [studies["large"].items.items[place].id for place in order]
    assert "1,000 of 1,000 items, by miss, largest first" in page.locator("[role=status]").inner_text()
    assert ids(page) == worst[:100]
    assert page.evaluate("document.querySelectorAll('*').length") < 8000
    page.get_by_role("button", name="Later").click()
    assert ids(page) == worst[100:200]
    page.get_by_role("button", name="Earlier").click()
    assert ids(page) == worst[:100]
    assert page.get_by_role("button", name="Earlier").is_disabled()


def test_search_looks_into_ids_and_texts(opened: Callable[..., Any], studies: dict[str, Conditional]) -> None:
    page = opened("large")
    place = worst_first(studies["large"])[7]
    item = studies["large"].items.items[place]
    for query in (item.references[2].upper(), item.candidates["nucleus 0.9"][4], item.id):
        page.fill("#search", query)
        expect(page.locator(".items tbody a")).to_have_count(1)
        assert ids(page) == [item.id]
    page.fill("#search", "no such words anywhere")
    expect(page.locator(".items tbody a")).to_have_count(0)
    assert page.locator(".items tbody").inner_text() == "No item fits."
    page.fill("#search", "")
    expect(page.locator(".items tbody a")).to_have_count(100)


def test_kinds_and_systems_can_be_picked(opened: Callable[..., Any], studies: dict[str, Conditional]) -> None:
    page = opened("large")
    page.select_option("#system", label="nucleus 0.9")
    page.select_option("#kind", "elsewhere")
    column = studies["large"].systems[1]
    missed = sorted((o for o in column.items if o.miss.kind == "elsewhere"), key=lambda o: -round(o.miss.far, 2))
    assert page.locator("[role=status]").inner_text().startswith(f"{len(missed)} of 1,000 items")
    assert ids(page) == [outcome.id for outcome in missed[:100]]
    assert set(page.locator(".items tbody .badge").all_inner_texts()) == {"elsewhere"}
    assert page.locator(".items thead", has_text="System").count() == 0


def test_columns_sort_both_ways_and_say_so(opened: Callable[..., Any]) -> None:
    page = opened("large")
    page.select_option("#system", "0")

    def column() -> list[float]:
        return [float(text) for text in page.locator(".items tbody td:nth-child(7)").all_inner_texts()]

    def said() -> list[str]:
        return [str(head.get_attribute("aria-sort")) for head in page.locator(".items [aria-sort]").all()]

    button = page.locator(".items thead button", has_text="trm meteor")
    button.click()
    largest = column()
    assert (largest, said()) == (sorted(largest, reverse=True), ["descending"])
    button.click()
    assert (column(), said()) == (sorted(column()), ["ascending"])
    assert largest[0] > column()[0]
    assert page.evaluate("document.activeElement.textContent").startswith("trm meteor")
    page.locator(".items thead button", has_text="Item").click()
    assert ids(page)[:2] == ["img-00000", "img-00001"]


def test_what_has_no_number_stands_last_whichever_way(opened: Callable[..., Any]) -> None:
    page = opened("plain")
    button = page.locator(".items thead button", has_text="mmd")
    for _ in range(2):
        button.click()
        assert ids(page)[-1] == "img-0006"


def test_an_item_has_a_page_with_texts_side_by_side(
    opened: Callable[..., Any], studies: dict[str, Conditional]
) -> None:
    study = studies["large"]
    place = next(at for at in worst_first(study) if at % 5 == 0)
    item = study.items.items[place]
    page = opened("large", f"#item={place}")
    assert shown(page) == item.id
    assert not page.locator(".overview").first.is_visible()
    sides = page.locator("#item .sides > div").all_inner_texts()
    assert len(sides) == 3
    for text in item.references:
        assert text in sides[0]
    assert f"{item.references[0]} × 8 also a reference" in " ".join(sides[1].split())
    central = page.locator("#item .sides > div").first.locator("li", has_text="central")
    assert central.locator(".written").all_inner_texts() == [item.references[study.central[place] or 0]]
    row = " ".join(page.locator(".scores tr", has_text="trm meteor").inner_text().split())
    estimates = [column.items[place].results[2].estimate for column in (study.human, *study.systems)]
    for estimate in estimates:
        assert f"{estimate:.2f}" in row
    assert page.locator(".triangles .card").count() == 4
    assert "references" in page.locator(".triangles").inner_text()
    assert page.title().startswith(item.id)


def test_an_item_without_texts_says_where_they_are(opened: Callable[..., Any], studies: dict[str, Conditional]) -> None:
    page = opened("large", f"#item={worst_first(studies['large'])[-1]}")
    assert "The JSON file has them all" in page.locator("#item").inner_text()
    assert page.locator(".scores tbody tr").count() == 9
    page.evaluate("location.hash = '#item=123456'")
    expect(page.locator("#item-title")).to_have_text("Not on this page")


def test_there_and_back_again_with_focus_where_it_was(opened: Callable[..., Any]) -> None:
    page = opened("large", viewport={"width": 1280, "height": 800})
    page.fill("#search", "horse")
    expect(page.locator("[role=status]")).not_to_contain_text("1,000 of")
    listed = ids(page)
    page.locator(".items tbody a").nth(40).click()
    assert shown(page) == listed[40]
    assert page.evaluate("document.activeElement.id") == "item-title"
    assert page.evaluate("scrollY") == 0
    page.go_back()
    expect(page.locator("#item")).to_be_hidden()
    assert ids(page) == listed
    assert page.evaluate("document.activeElement.textContent") == listed[40]
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    assert 0 <= top <= 800


def test_next_and_previous_follow_the_list(opened: Callable[..., Any]) -> None:
    page = opened("large")
    listed = ids(page)
    page.locator(".items tbody a").first.click()
    assert page.locator("a[rel=prev]").count() == 0
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#item-title")).to_have_text(listed[1])
    page.keyboard.press("ArrowRight")
    expect(page.locator("#item-title")).to_have_text(listed[2])
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#item-title")).to_have_text(listed[1])
    page.keyboard.press("Escape")
    expect(page.locator("#item")).to_be_hidden()
    assert page.evaluate("document.activeElement.textContent") == listed[1]


def test_a_table_keeps_its_arrow_keys(opened: Callable[..., Any]) -> None:
    page = opened("large", "#item=3")
    before = shown(page)
    page.locator("#item .scroll").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(50)
    assert shown(page) == before


def test_links_to_sections_lead_out_of_an_item(opened: Callable[..., Any]) -> None:
    page = opened("plain", "#item=2")
    page.evaluate("location.hash = '#reading'")
    expect(page.locator("#item")).to_be_hidden()
    assert page.locator("#reading").is_visible()
    assert page.evaluate("Math.abs(document.getElementById('reading').getBoundingClientRect().top) < innerHeight")


def test_hostile_texts_stay_texts(opened: Callable[..., Any]) -> None:
    page = opened("hostile")
    assert page.locator(".items tbody tr").count() == len(HOSTILE)
    for place in range(len(HOSTILE)):
        page.evaluate(f"location.hash = '#item={place}'")
        expect(page.locator("#item-title")).to_have_text(re.compile(rf"^{place} "))
        assert page.locator("#item script, #item img, #item style").count() == 0
    texts = page.locator("#item .sides .written").all_text_contents()
    assert "<script>alert(1)</script>" in texts
    page.evaluate("location.hash = '#item=6'")
    expect(page.locator("#item-title")).to_have_text(re.compile("^6 "))
    assert page.locator("#item .sides li").first.get_attribute("dir") == "auto"
    assert page.evaluate("[...document.querySelectorAll('img, iframe, object')].length") == 0


@pytest.mark.parametrize("name", SOFT)
@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("route", ["", "#item=0"])
def test_the_page_never_scrolls_sideways(opened: Callable[..., Any], name: str, width: int, route: str) -> None:
    page = opened(name, route, viewport={"width": width, "height": 800})
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_the_worst_items_are_there(opened: Callable[..., Any], studies: dict[str, Conditional]) -> None:
    page = opened("large", java_script_enabled=False)
    assert page.locator("#browse").inner_text() == ""
    assert page.locator("#static > details").count() == 25
    page.locator("#static summary").first.click()
    worst = studies["large"].items.items[worst_first(studies["large"])[0]]
    assert page.get_by_text(worst.references[0], exact=True).first.is_visible()
    assert page.locator("svg[role=img]").first.is_visible()


def test_paper_has_the_worst_items_or_the_one_that_is_open(
    opened: Callable[..., Any], studies: dict[str, Conditional]
) -> None:
    page = opened("large")
    assert not page.locator("#static").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#static").is_visible()
    assert not page.locator("#browse").is_visible()
    page.evaluate(f"location.hash = '#item={worst_first(studies['large'])[0]}'")
    expect(page.locator("#item")).to_be_visible()
    assert not page.locator("#static").is_visible()
    assert page.locator("#item .sides").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("route", ["", "#item=0"])
@pytest.mark.parametrize("name", SOFT)
def test_no_serious_barrier(opened: Callable[..., Any], name: str, route: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(name, route, color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page.evaluate(OPEN_ALL)
    grave = [
        f"{found['id']}: {node['target']} {node['failureSummary'][:200]}"
        for found in axe.Axe().run(page).response["violations"]
        if found["impact"] in {"serious", "critical"}
        for node in found["nodes"][:3]
    ]
    assert grave == []
