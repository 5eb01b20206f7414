"""Heat maps: numbers that can be read on every colour, the lighter the better, and nothing unescaped."""

import re
import xml.etree.ElementTree as ET

import pytest

from textassay.inference.result import Interval
from textassay.report.former.charts.figures import STEPS, colour, curve_panels, heat_maps, luminance, matrix_squares
from textassay.reproduce.result import Area, Cell, CurveAt, Grid, Line, Matrix, NamedPoint, Panel, Steps

SVG = "{http://www.w3.org/2000/svg}"


def grid(*rows: tuple[float, ...], better: str = "lower", title: str = "TRM", interval: bool = True) -> Grid:
    cells = tuple(
        tuple(Cell(x, Interval(x - 0.02, x + 0.02, 0.95, "bootstrap:items") if interval else None) for x in row)
        for row in rows
    )
    across = Steps("correct", "m", tuple(range(len(rows[0]))))
    return Grid(title, better, across, Steps("different", "k", tuple(range(1, len(rows) + 1))), cells)


def drawn(*grids: Grid, title: str = "a title") -> ET.Element:
    return ET.fromstring(heat_maps(grids, title=title, summary="a summary"))


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def cells(root: ET.Element) -> list[tuple[float, float, int]]:
    """Left, top and step of colour of each cell."""
    found = []
    for element in root.iter(f"{SVG}rect"):
        step = re.fullmatch(r"s(\d+)", element.attrib["class"])
        if step:
            found.append((float(element.attrib["x"]), float(element.attrib["y"]), int(step[1])))
    return found


def rgb(shown: str) -> tuple[int, int, int]:
    red, green, blue = (int(shown[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def contrast(one: str, other: str) -> float:
    low, high = sorted(luminance(rgb(shade)) for shade in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("step", range(STEPS))
def test_every_number_stands_out_on_its_colour(step: int) -> None:
    fill, ink = colour(step / (STEPS - 1))
    assert contrast(fill, ink) >= 4.5


def test_better_is_lighter() -> None:
    lights = [luminance(rgb(colour(step / (STEPS - 1))[0])) for step in range(STEPS)]
    assert lights == sorted(set(lights))
    values = ((1.0, 2.0), (3.0, 2.5))
    steps = {
        better: [step for *_, step in cells(drawn(grid(*values, better=better)))] for better in ("lower", "higher")
    }
    assert steps["lower"][0] == steps["higher"][2] == STEPS - 1
    assert steps["lower"][2] == steps["higher"][0] == 0
    assert 0 < steps["lower"][3] < steps["lower"][1] < STEPS - 1


def test_the_first_row_is_at_the_bottom() -> None:
    below, above = (
        [y for _, y, _ in row]
        for row in (cells(drawn(grid((1.0,), (2.0,))))[:1], cells(drawn(grid((1.0,), (2.0,))))[1:])
    )
    assert below[0] > above[0]


def test_every_value_and_its_interval_is_written() -> None:
    shown = texts(drawn(grid((1.234, 0.0567), (2.5, 1.0)), grid((7.0,), title="METEOR", interval=False)))
    for text in ("TRM", "METEOR", "1.23", "0.0567", "2.50", "1.00", "7.00", "correct (m)", "different (k)"):
        assert text in shown
    assert shown.count("±0.020") == 4


def test_a_grid_that_is_all_the_same_is_drawn() -> None:
    assert {step for *_, step in cells(drawn(grid((0.5, 0.5))))} == {STEPS - 1}


def test_it_is_a_file_of_its_own_that_fetches_nothing() -> None:
    written = heat_maps([grid((1.0, 2.0))], title="a title", summary="a summary")
    root = ET.fromstring(written)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.tag == f"{SVG}svg"
    assert [float(number) for number in root.attrib["viewBox"].split()] == [0, 0, width, height]
    assert all(0 <= x < width and 0 <= y < height for x, y, _ in cells(root))
    assert re.findall(r"url\(|href|@import|https?:(?!//www\.w3\.org/2000/svg)", written) == []
    assert "prefers-color-scheme: dark" in written
    (title,), (summary,) = list(root.iter(f"{SVG}title")), list(root.iter(f"{SVG}desc"))
    assert (title.text, summary.text) == ("a title", "a summary")


def test_hostile_names_stay_text() -> None:
    bad = '</text><script>alert("x")</script>\x1b[31m'
    root = drawn(grid((1.0, 2.0), title=bad), title=bad)
    assert not list(root.iter(f"{SVG}script"))
    assert '</text><script>alert("x")</script>\\x1b[31m' in texts(root)


def test_a_panel_draws_curves_points_and_areas_and_escapes_names() -> None:
    panel = Panel(
        "<b>title</b>",
        "across",
        "up",
        (Line("a & b", (CurveAt(0.0, 1.0), CurveAt(1.0, 2.0))), Line("dots", (CurveAt(0.5, 1.5),), joined=False)),
        points=(NamedPoint("<real>", 0.5, 1.0),),
        areas=(Area("shaded", ((0.0, 1.0), (1.0, 1.0), (1.0, 2.0))),),
        dashed=(((0.0, 1.0), (1.0, 2.0)),),
    )
    root = ET.fromstring(curve_panels([panel], title="a title", summary="a summary"))
    assert {"<b>title</b>", "a & b", "dots", "<real>", "shaded", "across", "up"} <= set(texts(root))
    assert len(list(root.iter(f"{SVG}polyline"))) == 1
    classes = [element.attrib.get("class", "") for element in root.iter()]
    assert sum(name.startswith("area") for name in classes) == 2, "the area and its patch in the legend"
    assert sum(name == "dashed" for name in classes) == 1


def test_panels_with_limits_and_one_quantity_have_one_scale() -> None:
    low, high = (
        Panel("p", "x", "score", (Line("a", (CurveAt(0.0, y, y, y),)),), limits=(0.0, 1.0)) for y in (0.2, 3.0)
    )
    root = ET.fromstring(curve_panels([low, high], title="t", summary="s"))
    assert texts(root).count("3") == 2


def test_a_matrix_writes_each_correlation_and_leaves_unknown_ones_out() -> None:
    matrix = Matrix("m", ("BLEU", "FBD"), ((1.0, None), (None, 1.0)))
    root = ET.fromstring(matrix_squares(matrix, title="t", summary="s"))
    assert texts(root).count("1.00") == 2
    assert texts(root).count("BLEU") == 2
