"""What holds of the pages and notebook cells of all outcomes: complete, safe, small, and readable without scripts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

from tests.browser import barriers, broken_words, overflows
from tests.report.builders import HOSTILE_MARKUP, Page
from tests.report.documents import comparison, document_of, documents, hostile_texts, metric_table, unique_words
from tests.report.examples import EXAMPLES
from tests.report.visits import ReportFiles, Visits, open_all
from textassay.corpus.printable import printable
from textassay.document.blocks import (
    Cell,
    Chart,
    Document,
    Head,
    Item,
    Items,
    Quote,
    Row,
    Section,
    Side,
    Summary,
    Table,
    walk,
)
from textassay.report.html import MOST_BYTES, page, say, unbroken
from textassay.report.notebook import fragment
from textassay.report.tones import TONES, tone_of_decision

HOSTILE = document_of(hostile_texts())
UNIQUE = document_of(unique_words())
# Documents that no study makes: every block with hostile texts, each block once, and many candidates.
MADE = {"hostile": HOSTILE, "unique": UNIQUE, "many": comparison(40)}
NAMES = (*EXAMPLES, *MADE)
_BOX_SPACES = "\u2007\u2008\u00a0"


@cache
def document(name: str) -> Document:
    """A document, made once."""
    return MADE[name] if name in MADE else EXAMPLES[name]().document()


@cache
def written(name: str) -> str:
    """The page of a document, made once."""
    return page(document(name))


@cache
def parsed(name: str) -> Page:
    """The parsed page, which no test changes."""
    return Page(written(name))


@cache
def cell_of(name: str) -> Page:
    """The parsed cell of a notebook."""
    return Page(fragment(document(name)))


def words(text: str) -> str:
    """The text with plain spaces, each once."""
    return " ".join(text.translate(dict.fromkeys(map(ord, _BOX_SPACES), " ")).split())


def strings(value: Any) -> Iterator[str]:
    """The unique words of a document that a page shows as text."""
    if isinstance(value, str):
        yield from re.findall(r"w\d{3}x", value)
    elif isinstance(value, tuple):
        for part in value:
            yield from strings(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from strings(getattr(value, name))


def items(n: int, characters: int) -> Items:
    """A list of items with long texts."""
    long = "word " * (characters // 5)
    sides = (Side("candidate", (Quote(long),), 0), Side("references", (Quote(long), Quote("&" * 20))))
    return Items(tuple(Item(f"item {at}", sides, values=(at / 7,)) for at in range(n)), n, ("difference",), "Items")


def with_section(*blocks: Any) -> Document:
    return replace(comparison(3), sections=(Section("large", "Large", blocks),))


@pytest.mark.parametrize("name", NAMES)
class TestEveryDocument:
    def test_a_page_is_one_well_formed_file_that_requests_nothing(self, name: str) -> None:
        found = parsed(name)
        assert found.complaints == []
        assert len(written(name).encode()) < MOST_BYTES
        ids = [attributes["id"] for _, attributes in found.elements if attributes.get("id")]
        assert len(ids) == len(set(ids))
        policy = next(each["content"] or "" for each in found.tags("meta") if "http-equiv" in each)
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        for tag, attributes in found.elements:
            assert not {"src", "style", "action", "data", "srcset"} & set(attributes), tag
            assert (attributes.get("href") or "#").startswith("#")
            assert not any(attribute.startswith("on") for attribute in attributes)
        assert len(found.tags("script")) == len(found.tags("style")) == 1

    def test_links_lead_to_places_on_the_page(self, name: str) -> None:
        found = parsed(name)
        ids = {attributes.get("id") for _, attributes in found.elements}
        assert {(each["href"] or "")[1:] for each in (*found.tags("a"), *found.tags("use"))} <= ids

    def test_nothing_that_is_not_a_number_is_shown(self, name: str) -> None:
        for found in (parsed(name), cell_of(name)):
            assert not re.search(r"\b(nan|None|inf)\b", found.text)

    def test_the_answer_is_the_same_in_the_page_and_the_notebook(self, name: str) -> None:
        summary = document(name).summary
        for found in (parsed(name), cell_of(name)):
            text = words(found.text)
            for said in (summary.question, summary.sentence, *summary.caveats):
                assert words(printable(said)) in text or len(said) > 200
            for row in summary.rows[:20]:
                for cell in row.cells:
                    assert words(printable(f"{cell.text} {cell.spread}")) in text or len(cell.text) > 60

    def test_every_chart_is_drawn_with_its_title_and_summary(self, name: str) -> None:
        shown = document(name)
        found = parsed(name)
        drawn = [each for each in found.tags("svg") if each.get("role") == "img"]
        charts = [block for section in shown.sections for block in walk(section.blocks) if isinstance(block, Chart)]
        assert len(drawn) >= len(charts) + (shown.summary.picture is not None)
        assert all(each.get("aria-labelledby") for each in drawn)

    def test_a_notebook_cell_reaches_nothing_around_it(self, name: str) -> None:
        found = cell_of(name)
        assert found.complaints == []
        assert {"script", "style", "link", "svg"}.isdisjoint(tag for tag, _ in found.elements)
        classes = {attributes.get("class") for _, attributes in found.elements}
        assert classes == {None, "textassay tex2jax_ignore mathjax_ignore"}
        assert "mathjax_ignore" in str(found.elements[0][1]["class"])
        assert all((each["src"] or "").startswith("data:image/svg+xml;base64,") for each in found.tags("img"))


class TestHostileTexts:
    @settings(max_examples=25, deadline=None)
    @given(documents())
    def test_any_text_stays_text(self, shown: Document) -> None:
        for text in (page(shown), fragment(shown)):
            assert Page(text).complaints == []
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)

    @pytest.mark.parametrize("text", HOSTILE_MARKUP)
    def test_a_hostile_text_adds_no_element(self, text: str) -> None:
        def shape(words: str) -> list[str]:
            return [tag for tag, _ in Page(page(document_of(iter(lambda: words, object())))).elements if tag != "bdi"]

        # Scripts from right to left are isolated, and lines are broken where a label is too wide.
        assert set(shape(text)) <= {*shape("plain"), "tspan"}

    def test_parts_from_right_to_left_are_isolated(self) -> None:
        shown = replace(comparison(1), summary=replace(comparison(1).summary, sentence="שלום עולם differs by 41 %"))
        assert "<bdi>שלום עולם</bdi> differs by 41" in page(shown)

    def test_options_are_not_broken(self) -> None:
        assert say("use --group FIELD") == "use <code>--group</code> FIELD"
        assert say(f"a--b --{'c' * 30} -- <b>--d</b>").count("<code>") == 0


@pytest.mark.parametrize("name", ["comparison, differing", "gate", "conditional", "frontier of a toy", "huse"])
def test_the_notebook_states_what_the_summary_of_the_page_states(name: str) -> None:
    summary = document(name).summary
    told = [summary.sentence, *summary.caveats, *summary.ties, *(why for row in summary.rows for why in row.why)]
    shown = Page(fragment(document(name))).text
    assert told
    assert [line for line in told if unbroken(line) not in shown] == []


def test_all_words_of_a_document_are_on_its_page() -> None:
    text = Page(page(UNIQUE)).text
    left_out = {word for word in strings(UNIQUE) if word not in text}
    hints = set(strings(UNIQUE.summary.hints))
    titles = {
        word
        for section in UNIQUE.sections
        for block in section.blocks
        if isinstance(block, Chart)
        for word in strings(block)
    }
    assert left_out <= {*hints, *titles, *strings(UNIQUE.title)}


class TestSize:
    def test_texts_of_the_last_items_are_left_out_and_it_is_said(self) -> None:
        whole = page(with_section(items(1500, 2500)))
        assert len(whole.encode()) < MOST_BYTES
        found = Page(whole)
        said = next(re.finditer(r"the first ([\d,]+) with their texts", found.text))
        n = int(said[1].replace(",", ""))
        assert 100 < n < 1500
        assert found.text.count("not in this page") == 1500 - n
        assert len(whole.encode()) > 0.9 * MOST_BYTES

    def test_items_without_room_are_left_out_and_it_is_said(self) -> None:
        whole = page(with_section(items(20_000, 400)))
        assert len(whole.encode()) < MOST_BYTES
        assert re.search(r"[\d,]+ of 20,000 items; the JSON file has all", Page(whole).text)

    def test_large_tables_are_cut_and_it_is_said(self) -> None:
        table = metric_table(tuple(f"candidate {at}" for at in range(100)))
        rows = tuple(row for _ in range(40) for row in table.rows)
        whole = page(replace(comparison(100), sections=(Section("t", "Table", (replace(table, rows=rows),)),)))
        assert len(whole.encode()) < MOST_BYTES
        assert "because the report would be too large" in Page(whole).text
        assert "more rows are in the JSON file" in Page(whole).text

    def test_a_small_list_is_whole(self) -> None:
        found = Page(page(with_section(items(3, 40))))
        assert "3 items" in found.text
        assert "JSON file" not in found.text


def test_decimal_points_are_below_each_other() -> None:
    shown = comparison(2)
    rows = [replace(row, cells=(Cell(text, 1.0),)) for row, text in zip(shown.summary.rows, ("0.25", "3"), strict=True)]
    summary = replace(shown.summary, columns=("value",), rows=tuple(rows))
    assert '3<span class="pad" aria-hidden="true">\u2008\u2007\u2007</span>' in page(replace(shown, summary=summary))


def test_a_number_without_an_interval_is_below_those_with_one() -> None:
    rows = (Row((Cell("a"), Cell("1.5", 1.5, "±0.1"))), Row((Cell("b"), Cell("2.5", 2.5))), Row((Cell("c"), Cell(""))))
    table = Table((Head("metric"), Head("value", True)), rows)
    whole = page(replace(comparison(1), sections=(Section("t", "T", (table,)),)))
    assert whole.count('<span class="spread"></span>') == 1
    assert '2.5 <span class="spread"></span></td>' in whole


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_verdict_has_a_word_a_colour_and_a_shape(name: str) -> None:
    for row in document(name).summary.rows:
        assert not row.decision or tone_of_decision(row.decision, row.grade) in TONES.values()


# In a browser.


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles[Any]:
    """The pages as files, with a list of items."""
    makers = {name: (lambda name=name: document(name)) for name in NAMES}
    made = makers | {"items": lambda: with_section(items(60, 100))}
    return ReportFiles(made, page, tmp_path_factory.mktemp("reports"))


# Opening a thousand items takes a minute; the same page with fewer of them is looked at.
SEEN = [name for name in (*NAMES, "items") if not name.endswith("many items")]


@pytest.mark.parametrize("name", SEEN)
def test_pages_have_no_barrier_and_fit_every_screen(opened: Visits, name: str) -> None:
    shown = opened(name)
    assert overflows(shown, (320, 390, 768, 1280)) == {}
    open_all(shown)
    assert barriers(shown) == []
    labels = "found => found.map(each => `${each.role} ${each.ariaLabel}`)"
    landmarks = shown.locator("nav, [role=region], [role=search]").evaluate_all(labels)
    # A screen reader lists landmarks by name. A document that no study makes may have a block twice.
    assert len(set(landmarks)) == len(landmarks) or name not in EXAMPLES
    assert overflows(shown, (320, 390, 768, 1280)) == {}
    # A name of 200 characters has to break.
    if not any(each in name for each in ("hostile", "unique", "long names")):
        assert broken_words(shown, "table") == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_screen_has_the_outcome_the_ranking_and_a_picture(opened: Visits, name: str) -> None:
    shown = opened(name)
    for width, height in ((1280, 800), (390, 844)):
        shown.set_viewport_size({"width": width, "height": height})
        for selector in (".sentence", ".summary tbody tr", ".picture"):
            assert shown.locator(selector).first.bounding_box()["y"] < 0.85 * height, (width, selector)


def test_a_page_is_whole_without_scripts_and_on_paper(opened: Visits) -> None:
    bare = opened("items", java_script_enabled=False)
    assert bare.locator(".item").count() == 60
    assert bare.locator(".item").last.is_visible()
    assert bare.locator("input[type=search]").count() == 0
    bare.emulate_media(media="print")
    assert not bare.locator("nav").is_visible()
    assert overflows(bare, (700,)) == {}


def test_tables_sort_and_filter(opened: Visits) -> None:
    shown = opened("many")
    head = shown.locator("table.grid thead th button").nth(2)
    first = shown.locator("table.grid tbody tr th").nth(1)
    before = first.inner_text()
    for _ in range(2):
        head.click()
    assert shown.locator("table.grid thead th").nth(2).get_attribute("aria-sort") == "descending"
    assert before


def test_items_are_searched_sorted_and_turned_over(opened: Visits) -> None:
    shown = opened("items")
    visible = shown.locator(".item:visible")
    assert visible.count() == 25
    shown.get_by_label("Sort").select_option(label="difference, highest first")
    assert visible.first.locator("summary").inner_text().strip() == "item 59"
    shown.get_by_role("button", name="Next").click()
    assert visible.first.locator("summary").inner_text().strip() == "item 34"
    shown.get_by_label("Search").fill("item 7")
    assert visible.count() == 1
    visible.first.locator("summary").click()
    assert shown.locator(".item[open] .texts li").first.is_visible()


def test_numbers_for_scripts_have_no_groups_of_digits() -> None:
    """A script that reads 2,000 as a number takes it for 2, and sorts it before 300."""
    heads = (Head("word"), Head("count", numeric=True))
    rows = tuple(Row((Cell(name), Cell(f"{value:,}", value))) for name, value in (("a", 2000), ("b", 300)))
    made = Document("made", "t", Summary("q", "c", "s"), (Section("a", "A", (Table(heads, rows),), "table"),))
    text = page(made)
    assert re.findall(r'data-v="([^"]*)"', text) == ["2000", "300"]
    assert ">2,000" in text
