"""Charts: axes that hold their values, labels that keep apart, every layer drawn, and nothing that is not a number."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.document.blocks import REAL
from textassay.document.plot import (
    Area,
    Band,
    Bars,
    Cells,
    Disc,
    Discs,
    Dots,
    Layer,
    Line,
    Marks,
    Names,
    Plot,
    Point,
    Rule,
    Scale,
)
from textassay.report.axes import alike, axis_of
from textassay.report.canvas import NARROW, SMALL_FORM, WIDE, Form
from textassay.report.charts import draw
from textassay.report.labels import Spot, place_labels
from textassay.report.legend import legend
from textassay.report.names import short_names
from textassay.report.picture import picture
from textassay.report.svg import COLOURS, SHAPES, Box, element, fitted, mark, text_width

SVG = "{http://www.w3.org/2000/svg}"
NAN = math.nan
FRAME = Box(0.0, 0.0, 400.0, 300.0)
values = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))
spots = st.builds(Spot, st.floats(0, 400), st.floats(0, 300), width=st.floats(10, 120), height=st.just(15.0))
any_number = st.floats() | values
rows = Scale(names=("a", "b", "c"))


def parsed(plot: Plot, form: Form = SMALL_FORM) -> ET.Element:
    return ET.fromstring(draw(plot, form, id_="c1"))


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter() if text.tag.endswith("text")]


def classes(root: ET.Element) -> list[str]:
    return [each for found in root.iter() for each in found.attrib.get("class", "").split()]


def plot(*layers: Layer, x: Scale | None = None, y: Scale | None = None) -> Plot:
    return Plot("a title", x or Scale("across"), y or Scale("up"), layers, "a summary")


@given(st.lists(values, min_size=1, max_size=12), st.none() | values)
def test_an_axis_holds_every_value_in_order(numbers: list[float], centre: float | None) -> None:
    axis = axis_of(Scale(centre=centre), numbers, 10, 210)
    pixels = [axis(value) for value in sorted(numbers)]
    assert pixels == sorted(pixels)
    assert all(10 < pixel < 210 for pixel in pixels)
    assert all(axis.low <= tick.value <= axis.high for tick in axis.ticks)


@given(st.lists(values, min_size=1, max_size=12), st.booleans(), st.booleans())
def test_ticks_that_are_shown_differ_and_do_not_touch(numbers: list[float], percent: bool, log: bool) -> None:
    axis = axis_of(Scale(centre=None if log else numbers[0], percent=percent, log=log), numbers, 10, 210)
    shown = axis.legible(11.0)
    assert len({tick.text for tick in shown}) == len(shown)
    for left, right in pairwise(shown):
        room = (text_width(left.text, 11.0) + text_width(right.text, 11.0)) / 2
        assert axis(right.value) - axis(left.value) > room


def test_one_value_far_off_does_not_squeeze_the_others() -> None:
    near = [0.0016, 0.0017, 0.0019]
    plain, bent = axis_of(Scale(), [*near, 0.5], 0, 300), axis_of(Scale(centre=0.0016), [*near, 0.5], 0, 300)
    assert plain(near[2]) - plain(near[0]) < 1
    assert bent(near[2]) - bent(near[0]) > 30


def test_limits_are_the_ends_and_a_reversed_axis_has_its_highest_value_first() -> None:
    axis = axis_of(Scale(limits=(0.0, 1.0), reversed=True), [0.2], 0, 100)
    assert (axis(0.0), axis(1.0)) == (100, 0)


def test_square_axes_have_the_same_scale() -> None:
    x, y = alike(axis_of(Scale(), [0, 1], 0, 300), axis_of(Scale(), [0, 10], 200, 0))
    assert (x(1) - x(0)) == pytest.approx(y(0) - y(1))


@given(st.lists(spots, max_size=12))
def test_labels_stay_in_the_frame_and_off_each_other(given_spots: list[Spot]) -> None:
    boxes = [place.box for place in place_labels(given_spots, [], FRAME) if place is not None]
    for index, box in enumerate(boxes):
        assert box.overlap(FRAME) > 0.99 * box.area
        assert sum(box.overlap(other) for other in boxes[:index]) <= 0.16 * box.area


def test_a_lone_label_is_to_the_right_of_its_mark() -> None:
    (place,) = place_labels([Spot(100, 100, 50, 15)], [], FRAME)
    assert place is not None
    assert place.box.left > 100
    assert not place.leader


def test_a_crowd_of_marks_loses_labels_rather_than_legibility() -> None:
    places = place_labels([Spot(200, 150, 100, 15)] * 40, [], FRAME)
    assert sum(place is not None for place in places) < 20


def test_every_candidate_of_fifty_six_has_its_own_mark() -> None:
    assert len({mark(index, 0.0, 0.0) for index in range(COLOURS * len(SHAPES))}) == COLOURS * len(SHAPES)
    assert "ring" in mark(REAL, 0.0, 0.0)


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


def test_short_names_stay_apart_and_whole_where_nothing_is_shared() -> None:
    assert short_names(["mle", "seqgan", "rankgan"]) == ["mle", "seqgan", "rankgan"]
    assert short_names(["model-a", "model-b"]) == ["model-a", "model-b"]
    assert short_names(["model-", "model-b", "model-c"]) == ["model-", "model-b", "model-c"]
    assert short_names([]) == []


LAYERS: dict[str, tuple[Plot, set[str], set[str]]] = {
    "band": (plot(Band("y", 0.1, 0.3, 0.2, "real text")), {"band", "real-line"}, {"real text"}),
    "rule": (plot(Rule((0.0, None), (0.0, None), "zero"), Marks((Point(1, 1),))), {"rule"}, {"zero"}),
    "marks": (plot(Marks((Point(1, 1, (0, 2), (0, 2), 0, "one"),), "all")), {"bar", "mark"}, {"one"}),
    "rows": (plot(Marks((Point(1, 1, (0, 2), None, 0, "1.00"),)), y=rows), {"bar"}, {"a", "b", "c", "1.00"}),
    "dots": (plot(Dots(((0, 0), (1, 1)), 1)), {"stamps"}, set()),
    "discs": (plot(Discs((Disc(0, 0, 0.1, 0.2, "more", 1, "topic"),))), {"have", "wanted"}, {"1", "topic"}),
    "line": (plot(Line(((0, 1), (1, 2)), ((0, 2), (1, 3)), 0, "a")), {"curve", "spread-band", "mark"}, set()),
    "area": (plot(Area(((0, 0), (1, 0), (1, 1)), name="region")), {"area"}, set()),
    "bars": (plot(Bars(((1,), (-2,), (3,)), texts=("x", "y", "z")), y=rows), {"fill"}, {"x", "y", "z"}),
    "upright bars": (plot(Bars(((1, 2), (2, 1), (0, 1)), ("same", "large"), ("p", "q")), x=rows), {"fill"}, {"a"}),
    "cells": (
        plot(Cells(((0.5, -0.5, None),) * 3, (("1", "2\n±1", ""),) * 3), x=rows, y=rows), {"heat", "cool"}, {"1"}
    ),
    "fields": (plot(Cells(((0.5, 0.5), (-1, None)), x_edges=(0, 1, 2), y_edges=(0, 1, 2))), {"heat", "cool"}, set()),
    "names": (plot(Names(((0.5, 0.5, "here"),)), Marks((Point(0, 0), Point(1, 1)))), {"aside"}, {"here"}),
}  # fmt: skip


@pytest.mark.parametrize("form", [SMALL_FORM, WIDE, NARROW], ids=lambda form: form.name)
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_is_drawn_inside_its_chart(name: str, form: Form) -> None:
    shown, wanted, said = LAYERS[name]
    root = parsed(shown, form)
    assert wanted <= set(classes(root))
    assert said <= set(texts(root))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for found in root.iter():
        for attribute, end in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            assert -1 <= float(found.attrib.get(attribute, 0)) <= end + 1, (found.tag, found.attrib)


def test_a_legend_has_the_layers_with_a_name_once() -> None:
    shown = plot(Line(((0, 1),), name="a"), Line(((0, 1),), name="a"), Area(((0, 0),), name="b"), Line(((0, 1),)))
    assert [name for _, name in legend(shown)] == ["a", "b"]
    stacked = plot(Bars(((1, 2),), ("same", "large"), ("kept", "lost")), y=Scale(names=("x",)))
    assert [name for _, name in legend(stacked)] == ["kept", "lost"]


@given(st.lists(st.tuples(any_number, any_number, any_number), max_size=6))
def test_what_is_not_finite_is_never_written(points: list[tuple[float, float, float]]) -> None:
    drawn = draw(
        plot(
            Marks(tuple(Point(x, y, (z, x), (y, z), 0, "l") for x, y, z in points)),
            Line(tuple((x, y) for x, y, _ in points), tuple((y, z) for _, y, z in points)),
            Dots(tuple((x, y) for x, y, _ in points)),
            Area(tuple((x, y) for x, y, _ in points)),
            *(Band("x", x, y, z, "band") for x, y, z in points),
            *(Rule((x, None), (y, z)) for x, y, z in points),
        ),
        SMALL_FORM,
        id_="c1",
    )
    numbers = re.findall(r'(?:\b(?:[xyrd]|c[xy]|[xy][12]|points|width|height|transform))="([^"]*)"', drawn)
    assert not any(re.search("nan|inf", each, re.IGNORECASE) for each in numbers)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=8), st.booleans())
def test_values_of_any_size_are_drawn(points: list[tuple[float, float]], log: bool) -> None:
    marks = Marks(tuple(Point(x, y, candidate=at) for at, (x, y) in enumerate(points)))
    assert parsed(plot(marks, x=Scale(log=log)))


def test_a_cell_without_space_has_its_text_as_a_tooltip() -> None:
    many = Scale(names=tuple(f"column {at}" for at in range(30)))
    root = parsed(plot(Cells(((0.5,) * 30,), (("0.123",) * 30,)), x=many, y=Scale(names=("row",))))
    assert "0.123" not in texts(root)
    assert [title.text for title in root.iter() if title.tag.endswith("title")].count("0.123") == 30


def test_a_picture_is_a_file_of_its_own_that_fetches_nothing() -> None:
    bad = '</text><script>alert("x")</script>\x1b[31m'
    plots = [plot(Line(((0, 1), (1, 2)), name=bad), x=Scale(bad)), LAYERS["cells"][0], LAYERS["bars"][0]]
    written = picture(plots, title=bad, summary=bad).svg
    root = ET.fromstring(written)
    assert root.tag == f"{SVG}svg"
    assert [float(number) for number in root.attrib["viewBox"].split()[2:]] == [
        float(root.attrib["width"]),
        float(root.attrib["height"]),
    ]
    assert re.findall(r"url\(|href|@import|https?:(?!//www\.w3\.org/2000/svg)", written) == []
    assert "prefers-color-scheme: dark" in written
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in written
    ids = re.findall(r'\bid="([^"]*)"', written)
    assert len(ids) == len(set(ids))


def test_a_picture_is_shown_by_a_notebook_and_saved(tmp_path: object) -> None:
    found = picture([LAYERS["line"][0]], title='a "title"')
    shown = found._repr_html_()
    assert shown.startswith("<img ")
    assert "&#34;title&#34;" in shown
