"""The section on meaning: regions, unmatched texts and maps are there, well placed and small, and texts stay texts."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.builders import HOSTILE, Page, comparison, hostile_meaning, meaning, region, with_meaning
from textassay.corpus.printable import printable
from textassay.report.former import compare
from textassay.report.former.charts.svg import SHAPES, stamps
from textassay.report.former.compare import render_html
from textassay.report.former.meaning import (
    NARROW,
    WIDE,
    Canvas,
    MeaningMap,
    MeaningView,
    Numbered,
    fit_map,
    kind_of,
    larger_share,
    meaning_lines,
    meaning_views,
    piled,
    shown_name,
)
from textassay.report.former.templates.page import MOST_BYTES
from textassay.studies.compare.meaning import Meaning, UnmatchedText
from textassay.studies.compare.result import Comparison

NAMES = [f"model-{i}" for i in range(20)]


def section(page: str) -> Page:
    """The section alone, which must nest."""
    found = Page(
        page[page.index('<section aria-labelledby="meaning">') : page.index('aria-labelledby="signatures"') - 9]
    )
    assert found.complaints == []
    return found


def words(page: Page) -> str:
    """What is read, with white space made even."""
    return " ".join(page.text.split())


def views(found: Comparison, **most: int) -> list[MeaningView]:
    """The views with so much of each list."""
    return meaning_views(found, **({"regions": 6, "points": 350, "unmatched": 5, "examples": 2} | most))


def drawn(shown: Meaning, index: int = 0, *, points: int = 350) -> MeaningMap:
    """The map of a meaning with all of its significant regions numbered."""
    kinds = [("more", found) for found in shown.over(0.95)] + [("less", found) for found in shown.under(0.95)]
    numbered = [Numbered(number, kind, found) for number, (kind, found) in enumerate(kinds, start=1)]
    return MeaningMap(index, "small", shown, numbered, level=0.95, points=points)


def test_an_encoder_that_counts_words_is_not_said_to_see_meaning() -> None:
    page = render_html(with_meaning(comparison(["only"]), replace(meaning(), sees="word patterns")))
    assert "Differences in word patterns" in words(section(page))
    assert "regions of similar word patterns" in words(section(page))
    assert '<a href="#meaning">Word patterns</a>' in page
    assert "in meaning" not in page


def test_everything_found_in_meaning_stands_on_the_page() -> None:
    page = render_html(with_meaning(comparison(["only"])))
    text = words(section(page))
    for expected in (
        "Differences in meaning",
        "too many: bathroom, toilet, sink, mirror; too few: frisbee, throwing",
        "1 bathroom, toilet, sink, mirror candidate 20 % reference 5.0 % <0.001",
        "a bathroom with a sink a white toilet",
        "2 frisbee, throwing candidate 1.0 % reference 12 %",
        "real: a bathroom with a sink real: a white toilet",
        "Far from any reference 86 % of the candidate's texts",
        "Not covered by the candidate 34 % of the reference texts",
        "than 95 % of the reference texts are from their nearest neighbour",
        "the expected share is 5 %",
        "is is shown . 1.23",
        "broccoli is on a board",
        "no number is computed from the positions",
        "at most 350 per sample",
        "too many: 20 % v 5.0 %",
        "no significant difference",
    ):
        assert expected in text
    assert '<a href="#meaning">' in page


def test_without_an_encoder_there_is_no_such_section() -> None:
    page = render_html(comparison())
    assert 'id="meaning"' not in page
    assert "#meaning" not in page


def test_a_candidate_with_too_few_texts_is_named() -> None:
    found = with_meaning()
    found = replace(found, candidates=(found.candidates[0], replace(found.candidates[1], meaning=None)))
    text = words(section(render_html(found)))
    assert "Too few texts for regions of meaning: large." in text
    assert "Too few texts for regions" not in render_html(with_meaning())


def test_where_no_region_stands_out_the_page_says_so() -> None:
    even = meaning([region(i, candidate=0.1, reference=0.1, p=1.0) for i in range(5)], unmatched=())
    text = words(section(render_html(with_meaning(comparison(["only"]), even))))
    assert "only no region differs significantly" in text
    assert "No region has significantly too many or too few texts." in text
    assert "Too many texts about" not in text
    assert "The most distant" not in text


def test_lists_are_cut_and_the_rest_is_counted() -> None:
    crowd = [region(i, candidate=0.02 + 0.01 * i, reference=0.01) for i in range(8)]
    (view,) = views(with_meaning(comparison(["only"]), meaning(crowd)))
    assert [row.region for row in view.more.rows] == crowd[:1:-1]
    assert [row.number for row in view.more.rows] == [1, 2, 3, 4, 5, 6]
    assert view.more.hidden == 2
    assert view.less.hidden == 0
    assert "2 more are in the JSON file." in render_html(with_meaning(comparison(["only"]), meaning(crowd)))


def test_bars_compare_within_a_candidate() -> None:
    (view,) = views(with_meaning(comparison(["only"])))
    widths = [
        float(re.findall(r'width="([\d.]+)" height="8" class="fill', bar)[0])
        for row in (*view.more.rows, *view.less.rows)
        for bar in (row.candidate_bar, row.reference_bar)
    ]
    assert widths == pytest.approx([100, 25, 5, 60])
    assert 'class="fill kr"' in view.more.rows[0].reference_bar
    assert (
        "fill"
        not in views(with_meaning(comparison(["x"]), meaning([region(reference=0.0)])))[0].more.rows[0].reference_bar
    )


def test_a_region_without_typical_words_is_named_by_a_text() -> None:
    assert shown_name(region(words=(), examples=(" a motorcycle . ",))) == "“a motorcycle .”"
    assert shown_name(region(words=("dog", "cat"))) == "dog, cat"
    assert shown_name(region(words=(), examples=())) == "“”"
    listed = dict(meaning_lines(meaning([region(words=(), examples=("a motorcycle .",))]), 0.95))
    assert listed["too many texts about"].startswith("“a motorcycle .” (")


@pytest.mark.parametrize(
    ("candidate", "reference", "p", "kind"),
    [(0.2, 0.1, 0.01, "more"), (0.1, 0.2, 0.01, "less"), (0.2, 0.1, 0.0501, "even"), (0.2, 0.2, 0.0, "even")],
)
def test_only_what_is_significant_is_too_much_or_too_little(
    candidate: float, reference: float, p: float, kind: str
) -> None:
    assert kind_of(region(candidate=candidate, reference=reference, p=p), 0.95) == kind


def test_too_much_and_too_little_differ_in_more_than_colour() -> None:
    drawing = drawn(meaning()).draw(WIDE)[0]
    assert 'class="badge more"' in drawing
    assert 'class="badge less"' in drawing
    assert "too many: 20 % v 5.0 %" in drawing
    assert "too few: 1.0 % v 12 %" in drawing
    for kind, larger in (("more", "have"), ("less", "wanted")):
        found = re.search(
            r'r="([\d.]+)" class="have"></circle><circle [^>]*r="([\d.]+)" class="wanted"></circle></g>',
            drawing[drawing.index(f'class="region {kind}"') :],
        )
        assert found is not None
        have, wanted = map(float, found.groups())
        assert (have > wanted) == (larger == "have")


def test_areas_are_shares() -> None:
    fit = fit_map(meaning(), width=760.0, most_height=500.0)
    assert fit.radius(0.4) ** 2 == pytest.approx(4 * fit.radius(0.1) ** 2)
    assert fit.radius(0.0) == 0.0


def test_the_map_announces_itself() -> None:
    drawing = drawn(meaning(), index=3).draw(NARROW)[0]
    assert 'aria-labelledby="map-3-narrow-title map-3-narrow-desc"' in drawing
    assert "Map of small and the reference" in drawing
    assert "too many: bathroom, toilet, sink, mirror (20 % of the candidate, 5.0 % of the reference); " in drawing
    assert "too few: frisbee, throwing (1.0 % of the candidate, 12 % of the reference)" in drawing
    even = meaning([region(p=0.9)])
    assert "No region has significantly too many or too few texts." in drawn(even).draw(WIDE)[0]
    assert (
        "bathroom, toilet, sink, mirror: 20 % of the candidate, 5.0 % of the reference, p 0.90"
        in drawn(even).draw(WIDE)[0]
    )
    assert 'class="aside">bathroom' in drawn(even).draw(WIDE)[0]


places = st.tuples(st.floats(0, 1), st.floats(0, 1))
shares = st.floats(0, 1)


@given(st.lists(st.tuples(places, shares, shares), min_size=1, max_size=30), st.lists(places, max_size=20))
@settings(max_examples=60)
def test_nothing_is_drawn_outside(
    found: list[tuple[tuple[float, float], float, float]], dots: list[tuple[float, float]]
) -> None:
    regions = [replace(region(), place=at, candidate_share=a, reference_share=b) for at, a, b in found]
    shown = replace(meaning(regions), candidate_points=tuple(dots), reference_points=())
    for canvas in (WIDE, NARROW):
        fit = fit_map(shown, width=canvas.width, most_height=canvas.most_height)
        assert fit.height <= canvas.most_height + 1e-6
        for at, r in [(one.place, fit.radius(larger_share(one))) for one in regions] + [(dot, 4.0) for dot in dots]:
            x, y = fit(at)
            assert -0.01 <= x - r <= x + r <= canvas.width + 0.01
            assert -0.01 <= y - r <= y + r <= fit.height + 0.01


@pytest.mark.parametrize("canvas", [WIDE, NARROW])
def test_labels_of_a_crowd_keep_apart(canvas: Canvas) -> None:
    crowd = [
        region(i, words=(f"number{i}", "of", "words"), candidate=0.08, reference=0.01 + 0.1 * (i % 2))
        for i in range(12)
    ]
    chart = drawn(meaning(crowd))
    fit = fit_map(chart.meaning, width=canvas.width, most_height=canvas.most_height)
    boxes = [place.box for *_, place in chart.placed(canvas, fit) if place is not None]
    assert len(boxes) >= 6
    for index, box in enumerate(boxes):
        assert sum(box.overlap(other) for other in boxes[:index]) <= 0.16 * box.area


def test_labels_without_room_are_counted_and_their_numbers_stay() -> None:
    crowd = [replace(region(words=(f"number{i}", "of", "words")), place=(0.5, 0.5)) for i in range(40)]
    drawing, unlabelled = drawn(meaning(crowd)).draw(WIDE)
    assert unlabelled > 0
    assert drawing.count('class="badge more"') == 40


def test_dots_of_a_sample_are_one_path() -> None:
    for index in range(len(SHAPES) + 1):
        drawing = drawn(meaning(), index=index).draw(WIDE)[0]
        assert drawing.count("<path") == 2
        candidate, reference = (
            re.findall(rf'<path d="([^"]*)" class="{name}', drawing) for name in (r"\w+ dots", "reference")
        )
        assert candidate[0].count("M") == reference[0].count("M") == 350
        assert len(drawing) < 50_000
    assert drawn(meaning(), points=60).draw(WIDE)[0].count("h0") == 120
    assert drawn(meaning()).draw(NARROW)[0].count("h0") == 350


@pytest.mark.parametrize("r", [2.4, 12.0])
def test_stamped_marks_have_the_outline_of_the_mark(r: float) -> None:
    for index in range(1, len(SHAPES)):
        path = stamps(index, [(100.0, 50.0)], r)
        numbers = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", path[path.index("M") : path.index("z")])]
        x, y = numbers[:2]
        for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
            x, y = x + dx, y + dy
            assert 0.5 * r < math.hypot(x - 100, y - 50) < 1.65 * r


def test_equal_texts_are_piled_up_side_by_side() -> None:
    spread = piled([(10.0, 10.0)] * 50 + [(90.0, 90.0)])
    assert spread[0] == (10.0, 10.0)
    assert spread[-1] == (90.0, 90.0)
    assert len(set(spread)) == 51
    assert max(math.dist(place, (10, 10)) for place in spread[:50]) < 25
    assert min(math.dist(a, b) for i, a in enumerate(spread) for b in spread[:i]) > 2


def test_hostile_texts_stay_texts_in_map_and_lists() -> None:
    page = render_html(hostile_meaning())
    found = section(page)
    assert not {"script", "style", "img", "iframe"} & {tag for tag, _ in found.elements}
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    assert "style" not in {name for _, attributes in found.elements for name in attributes}
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    for text in HOSTILE:
        assert printable(text[:30]) in found.text
    assert "49" not in found.text


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = Page(render_html(with_meaning(comparison(NAMES))))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(a.get("href") or "#main")[1:] for a in page.tags("a")} <= set(ids)


def test_seven_candidates_with_full_maps_fit_easily() -> None:
    crowd = [region(i, candidate=0.08, reference=0.01 + 0.1 * (i % 2)) for i in range(12)]
    found = with_meaning(comparison(NAMES[:7]), meaning(crowd))
    page = render_html(found)
    assert "at most 350 per sample" in page
    assert len(page.encode()) < 0.6 * MOST_BYTES


@pytest.mark.parametrize(("limit", "points"), [(600_000, 350), (400_000, 150), (300_000, 60), (60_000, 0)])
def test_smaller_pages_draw_fewer_texts_and_at_last_no_map(
    monkeypatch: pytest.MonkeyPatch, limit: int, points: int
) -> None:
    worst = "\u2028" * 200
    crowd = [region(i, words=[worst] * 4, examples=[worst] * 3) for i in range(12)]
    found = with_meaning(comparison(NAMES[:4]), meaning(crowd, unmatched=[UnmatchedText(worst, 1.5, worst)] * 8))
    monkeypatch.setattr(compare, "MOST_BYTES", limit)
    page = render_html(found)
    assert len(page.encode()) <= limit
    drawn_at_most = re.search(r"at most (\d+) per sample", page)
    assert points == (int(drawn_at_most[1]) if drawn_at_most else 0)
    assert (points == 0) == ("Maps and regions are left out, because the report would be too large." in page)


def test_several_candidates_are_folded_and_the_first_is_open() -> None:
    page = section(render_html(with_meaning(comparison(NAMES[:7]))))
    folded = [attributes for attributes in page.tags("details") if "meaning" in (attributes["class"] or "")]
    assert ["open" in attributes for attributes in folded] == [True] + [False] * 6
    few = section(render_html(with_meaning(comparison(NAMES[:3]))))
    assert all("open" in attributes for attributes in few.tags("details"))


def test_the_same_comparison_gives_the_same_page() -> None:
    found = with_meaning()
    assert render_html(found) == render_html(Comparison.from_json(found.to_json()))
