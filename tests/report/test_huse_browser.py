"""The report of a HUSE study in a real browser: the map and the list, by mouse, finger and keyboard."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.huse_builders import judged
from textassay.report.huse_html import render_huse_html
from textassay.report.huse_items import telling_order
from textassay.report.huse_map import Drawn, draw_map
from textassay.studies.judged import KINDS, Judged

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect
STUDIES: dict[str, Callable[[], Judged]] = {
    "plain": lambda: judged(200),
    "large": lambda: judged(4_000),
    "hostile": lambda: judged(hostile=True),
    "means": lambda: judged(raters=False),
}
SOFT = ("plain", "hostile", "means")
OPEN_ALL = "for (const item of document.querySelectorAll('details')) item.open = true"


@pytest.fixture(scope="module")
def studies() -> dict[str, Judged]:
    """The studies themselves."""
    return {name: make() for name, make in STUDIES.items()}


@pytest.fixture(scope="module")
def reports(studies: dict[str, Judged], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports as files."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in studies}
    for name, path in paths.items():
        path.write_text(render_huse_html(studies[name]), encoding="utf-8")
    return paths


@pytest.fixture
def opened(browser: Any, reports: dict[str, Path]) -> Iterator[Callable[..., Any]]:
    """Opens a report in a context of its own, closed behind the test."""
    contexts = []

    def visit(name: str, **options: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options))
        page = contexts[-1].new_page()
        page.goto(reports[name].as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()


def ids(page: Any) -> list[str]:
    """The ids in the list, from top to bottom."""
    return [text.strip() for text in page.locator("#entries .id").all_inner_texts()]


def spot(page: Any, study: Judged, place: int, *, which: str = "wide") -> tuple[float, float]:
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


def lonely(study: Judged) -> int:
    """The place of an item that stands far from all others on the map."""
    drawn = draw_map(study, cell=0.0)
    assert drawn is not None
    pixels = [(drawn.wide.x(each.log_prob), drawn.wide.y(each.rating)) for each in study.items]

    def room(place: int) -> float:
        x, y = pixels[place]
        return min((a - x) ** 2 + (b - y) ** 2 for at, (a, b) in enumerate(pixels) if at != place)

    return max(range(len(pixels)), key=room)


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
    page.select_option("#sort", "rating-up")
    page.locator("#entries .plain-button", has_text="On the map").first.click()
    page.wait_for_load_state("networkidle")
    context.close()
    assert requests == [reports[name].as_uri()]
    assert errors == []


def test_the_most_telling_stand_first_a_page_at_a_time(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain")
    study = studies["plain"]
    order = [[study.items[place].item.id for place in places] for places in telling_order(study)]
    assert "200 of 200 items in 100 entries; most telling first" in page.locator("[role=status]").inner_text()
    assert ids(page) == [name for entry in order[:20] for name in entry]
    page.get_by_role("button", name="Later").click()
    assert ids(page) == [name for entry in order[20:40] for name in entry]
    page.get_by_role("button", name="Earlier").click()
    assert page.get_by_role("button", name="Earlier").is_disabled()


def test_an_entry_has_context_texts_and_numbers_side_by_side(
    opened: Callable[..., Any], studies: dict[str, Judged]
) -> None:
    page = opened("plain")
    first = [studies["plain"].items[place] for place in telling_order(studies["plain"])[0]]
    entry = page.locator("#entries .entry").first
    assert str(first[0].item.context) in entry.locator(".context").inner_text()
    for each, shown in zip(first, entry.locator("li").all(), strict=True):
        text = " ".join(shown.inner_text().split())
        for expected in (
            "pointer net" if each.item.is_model else "human",
            each.kind,
            str(each.item.text),
            f"rating {each.rating:.2f} (20)",
            f"log-prob a token {each.log_prob:.2f}",
        ):
            assert expected in text


def test_search_kind_and_source_narrow_the_list(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain")
    study = studies["plain"]
    page.select_option("#kind", KINDS[1])
    page.select_option("#source", "1")
    fit = {each.item.id for each in study.items if each.kind == KINDS[1] and each.item.is_model}
    expect(page.locator("[role=status]")).to_contain_text(f"{len(fit)} of 200 items")
    marked = {text.strip() for text in page.locator("#entries .matched .id").all_inner_texts()}
    assert marked == {name for name in ids(page) if name in fit}
    assert page.locator("#entries .beside").count() == page.locator("#entries .matched").count()
    page.select_option("#kind", "")
    page.select_option("#source", "")
    item = study.items[57].item
    for query in (str(item.text).upper(), item.id):
        page.fill("#search", query)
        expect(page.locator("#entries .entry")).to_have_count(1)
        assert item.id in ids(page)
    page.fill("#search", "no such words anywhere")
    expect(page.locator("#entries")).to_have_text("No item fits.")


@pytest.mark.parametrize(
    ("sort", "value", "falling"),
    [
        ("rating-up", lambda each: each.rating, False),
        ("rating-down", lambda each: each.rating, True),
        ("log-up", lambda each: each.log_prob, False),
        ("votes-down", lambda each: each.votes, True),
    ],
)
def test_the_list_sorts(
    opened: Callable[..., Any],
    studies: dict[str, Judged],
    sort: str,
    value: Callable[[Any], float],
    falling: bool,
) -> None:
    page = opened("plain")
    page.select_option("#sort", sort)
    known = {each.item.id: value(each) for each in studies["plain"].items}
    best = max if falling else min
    firsts = [
        best(known[text.strip()] for text in entry.locator(".id").all_inner_texts())
        for entry in page.locator("#entries .entry").all()
    ]
    assert firsts == pytest.approx(sorted(firsts, reverse=falling), abs=0.006)
    assert firsts[0] == pytest.approx(best(known.values()), abs=0.006)


def test_the_item_under_the_pointer_is_shown_and_a_click_filters(
    opened: Callable[..., Any], studies: dict[str, Judged]
) -> None:
    page = opened("plain")
    study = studies["plain"]
    place = lonely(study)
    each = study.items[place]
    panel = page.locator("#map-item")
    assert "Point at an item" in panel.inner_text()
    page.mouse.move(*spot(page, study, place))
    for expected in (each.item.id, each.kind, str(each.item.text), str(each.item.context), f"{each.rating:.2f}"):
        expect(panel).to_contain_text(expected)
    page.mouse.click(*spot(page, study, place))
    expect(panel).to_contain_text("The list shows this item.")
    assert each.item.id in ids(page)
    assert page.locator("#entries .entry").count() == 1
    expect(page.locator(".near")).to_contain_text("Only the item picked on the map")
    page.get_by_role("button", name="Show all again").click()
    expect(page.locator(".near")).to_be_hidden()
    expect(page.locator("#entries .entry")).to_have_count(20)


def test_a_click_beside_all_items_lets_go(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain")
    page.mouse.click(*spot(page, studies["plain"], lonely(studies["plain"])))
    expect(page.locator("#entries .entry")).to_have_count(1)
    box = page.locator("#map-wide-title").locator("xpath=..").bounding_box()
    page.mouse.click(box["x"] + 4, box["y"] + 4)
    expect(page.locator("#entries .entry")).to_have_count(20)
    assert "Point at an item" in page.locator("#map-item").inner_text()


def test_a_tap_on_a_phone_shows_the_item(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    study = studies["plain"]
    place = lonely(study)
    page.touchscreen.tap(*spot(page, study, place, which="narrow"))
    expect(page.locator("#map-item")).to_contain_text(study.items[place].item.id)
    assert page.locator("#entries .entry").count() >= 1
    page.locator("#map-item a", has_text="Go to the list").click()
    assert page.evaluate("location.hash") == "#items"


def test_the_map_works_by_keyboard(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain")
    by_id = {each.item.id: each for each in studies["plain"].items}

    def lit() -> Any:
        return by_id[page.locator("#map-item .id").inner_text().strip()]

    page.locator(".map-area").focus()
    page.keyboard.press("ArrowRight")
    first = lit()
    page.keyboard.press("ArrowUp")
    assert lit().rating > first.rating
    before = lit()
    page.keyboard.press("ArrowLeft")
    assert lit().log_prob < before.log_prob
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "items"
    assert lit().item.id in ids(page)
    page.locator(".map-area").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#entries .entry")).to_have_count(20)


def test_an_item_of_the_list_is_found_on_the_map(opened: Callable[..., Any]) -> None:
    page = opened("plain")
    wanted = ids(page)[5]
    page.locator("#entries li").nth(5).get_by_role("button", name="On the map").click()
    expect(page.locator("#map-item .id")).to_have_text(wanted)
    expect(page.locator(".wide .here").first).to_be_visible()
    assert "map-area" in page.evaluate("document.activeElement.className")


def test_thousands_of_items_stay_quick(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("large")
    assert page.evaluate("document.querySelectorAll('*').length") < 6000
    page.mouse.move(*spot(page, studies["large"], 0))
    expect(page.locator("#map-item")).to_contain_text("rating")
    page.fill("#search", "human-1990")
    page.select_option("#sort", "rating-down")
    expect(page.locator("[role=status]")).to_contain_text("1 of 4,000 items")


def test_hostile_texts_stay_texts(opened: Callable[..., Any]) -> None:
    page = opened("hostile")
    assert (
        page.evaluate("[...document.querySelectorAll('img, iframe, object, #entries script, .entry style')].length")
        == 0
    )
    assert "<script>alert(1)</script>" in page.locator("#entries .written").all_text_contents()
    page.fill("#search", "longlonglong")
    item = page.locator("#entries li", has=page.locator(".said", has_text="longlonglong")).first
    folded = item.locator(".said").bounding_box()["height"]
    item.get_by_role("button", name="Show all of it").click()
    assert item.locator(".said").bounding_box()["height"] > 2 * folded
    assert item.get_by_role("button", name="Show less").get_attribute("aria-expanded") == "true"


@pytest.mark.parametrize("name", SOFT)
@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_never_scrolls_sideways(opened: Callable[..., Any], name: str, width: int, scripts: bool) -> None:
    page = opened(name, viewport={"width": width, "height": 800}, java_script_enabled=scripts)
    page.evaluate(OPEN_ALL)
    if scripts:
        page.locator(".map-area").focus()
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_everything_can_be_read(opened: Callable[..., Any], studies: dict[str, Judged]) -> None:
    page = opened("plain", java_script_enabled=False)
    assert page.locator("#browse").inner_text() == ""
    assert page.locator("#static .entry").count() == 24
    assert page.locator("#static .entry").first.is_visible()
    assert not page.locator("#map-item").is_visible()
    for chart in ("huse-plane-wide", "map-wide", "k-curves", "stability-items", "stability-ratings"):
        assert page.locator(f"#{chart}-title").locator("xpath=..").is_visible()
    assert page.locator(".big").first.inner_text() == f"{studies['plain'].results[0].estimate:.2f}"


def test_paper_has_the_most_telling_items(opened: Callable[..., Any]) -> None:
    page = opened("plain")
    assert not page.locator("#static").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#static").is_visible()
    assert not page.locator("#browse").is_visible()
    assert not page.locator("#map-item").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_raters_can_be_sorted(opened: Callable[..., Any]) -> None:
    page = opened("plain")
    page.evaluate(OPEN_ALL)
    table = page.locator("table.raters").last
    table.get_by_role("button", name="Agreement").click()
    shown = table.locator("tbody td:nth-child(4)").all_inner_texts()
    known = [float(text) for text in shown if text != "–"]
    assert shown[0] == "–"
    assert known == sorted(known)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", SOFT)
def test_no_serious_barrier(opened: Callable[..., Any], name: str, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(name, color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate(OPEN_ALL)
    page.locator(".map-area").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.select_option("#kind", KINDS[0])
    grave = [
        f"{found['id']}: {node['target']} {node['failureSummary'][:200]}"
        for found in axe.Axe().run(page).response["violations"]
        if found["impact"] in {"serious", "critical"}
        for node in found["nodes"][:3]
    ]
    assert grave == []
