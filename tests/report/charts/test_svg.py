"""The parts of a drawing: axes that hold their values, labels that keep apart, texts with a phrase lit up."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.printable import printable
from textassay.document.words import number
from textassay.report.former.charts.label_placement import Spot, place_labels
from textassay.report.former.charts.svg import COLOURS, SHAPES, Box, axis, element, fitted, legible, marker, text_width
from textassay.report.former.compare import highlight
from textassay.report.former.table import short_names

FRAME = Box(0.0, 0.0, 400.0, 300.0)
values = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))
places = st.builds(
    Spot, st.floats(0, 400), st.floats(0, 300), width=st.floats(10, 120), height=st.just(15.0)
)  # fmt: skip


@given(st.lists(values, min_size=1, max_size=12), st.none() | values)
def test_an_axis_holds_every_value_in_order(numbers: list[float], centre: float | None) -> None:
    scale = axis(numbers, 10, 210, centre=math.nan if centre is None else centre)
    pixels = [scale(value) for value in sorted(numbers)]
    assert pixels == sorted(pixels)
    assert all(10 < pixel < 210 for pixel in pixels)
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(st.lists(values, min_size=1, max_size=12))
def test_ticks_that_are_shown_differ_and_do_not_touch(numbers: list[float]) -> None:
    scale = axis(numbers, 10, 210, centre=numbers[0])
    shown = sorted(legible(scale, 11.0), key=scale)
    assert len({number(tick) for tick in shown}) == len(shown)
    for left, right in pairwise(shown):
        room = (text_width(number(left), 11.0) + text_width(number(right), 11.0)) / 2
        assert scale(right) - scale(left) > room


def test_one_value_far_off_does_not_squeeze_the_others() -> None:
    near = [0.0016, 0.0017, 0.0019]
    plain, bent = axis([*near, 0.5], 0, 300), axis([*near, 0.5], 0, 300, centre=0.0016)
    assert plain(near[2]) - plain(near[0]) < 1
    assert bent(near[2]) - bent(near[0]) > 30
    assert bent.bend > 0


@given(st.lists(places, max_size=12))
def test_labels_stay_in_the_frame_and_off_each_other(spots: list[Spot]) -> None:
    boxes = [place.box for place in place_labels(spots, [], FRAME) if place is not None]
    for index, box in enumerate(boxes):
        assert box.overlap(FRAME) > 0.99 * box.area
        assert sum(box.overlap(other) for other in boxes[:index]) <= 0.16 * box.area


def test_a_lone_label_stands_to_the_right_of_its_mark() -> None:
    (place,) = place_labels([Spot(100, 100, 50, 15)], [], FRAME)
    assert place is not None
    assert place.box.left > 100
    assert not place.leader


def test_a_crowd_of_marks_loses_labels_rather_than_legibility() -> None:
    places = place_labels([Spot(200, 150, 100, 15)] * 40, [], FRAME)
    assert sum(place is not None for place in places) < 20


def test_every_candidate_of_fifty_six_has_its_own_mark() -> None:
    assert len({marker(index, 0.0, 0.0) for index in range(COLOURS * len(SHAPES))}) == COLOURS * len(SHAPES)


def test_elements_escape_text_and_attributes() -> None:
    drawn = element("text", "<b>&\x00", data_c='"><script>')
    assert drawn == '<text data-c="&#34;&gt;&lt;script&gt;">&lt;b&gt;&amp;\\x00</text>'


def test_names_that_fit_are_not_cut() -> None:
    assert fitted("held-out wrong", 92.0, 11.5) == "held-out wrong"
    assert fitted("illicit filling", 92.0, 11.5) == "illicit filling"
    assert fitted("MMMMMMMMMM", 92.0, 11.5) != "MMMMMMMMMM"


@given(st.text(max_size=80), st.floats(20, 300))
def test_a_fitted_text_fits(text: str, room: float) -> None:
    assert text_width(fitted(text, room, 12.0), 12.0) <= max(room, 12.0 * 2.2)


@given(st.text(max_size=600), st.text(max_size=12))
def test_a_lit_text_is_a_printable_part_of_the_text(text: str, phrase: str) -> None:
    found = highlight(text, phrase)
    pieces = found.before + found.phrase + found.after
    assert pieces == printable(pieces)
    assert pieces.removeprefix("…").removesuffix("…") in printable(text) or "…" in text


def test_a_phrase_is_found_in_the_middle_of_a_long_text() -> None:
    found = highlight("x " * 500 + "The CAT sat" + " y" * 500, "cat sat", width=40)
    assert found.phrase == "CAT sat"
    assert found.before.startswith("…")
    assert found.after.endswith("…")
    assert len(found.before + found.phrase + found.after) <= 42


def test_a_phrase_is_lit_as_a_word_before_a_part_of_one() -> None:
    assert highlight("cat or a dog", "a") == highlight("cat or a dog", "A")
    assert highlight("cat or a dog", "a").before == "cat or "
    assert highlight("category", "cat").phrase == "cat"
    assert highlight("they say hello", "Ġsay ▁hello").phrase == "say hello"


def test_short_names_stay_apart_and_whole_where_nothing_is_shared() -> None:
    assert short_names(["mle", "seqgan", "rankgan"]) == ["mle", "seqgan", "rankgan"]
    assert short_names(["model-a", "model-b"]) == ["model-a", "model-b"]
    assert short_names(["model-", "model-b", "model-c"]) == ["model-", "model-b", "model-c"]
    assert short_names([]) == []
