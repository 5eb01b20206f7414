"""The charts of a HUSE report: the decision map, the plane, and the curves over neighbours, items and ratings."""

import math
import re
from dataclasses import replace
from html import unescape

import pytest

from tests.report.builders import huse_study
from tests.report.huse.test_html import data
from textassay.report.former.charts.decision_map import draw_map
from textassay.report.former.charts.score_charts import LANDMARKS, draw_plane, k_curves, stability_curves
from textassay.report.former.charts.svg import Axis
from textassay.report.former.huse import render_html
from textassay.studies.huse.result import DecisionMap

# The scores of the plane as text.
SHOWN = {"huse_d": "0.95 [0.80, 1.10]", "huse_q": "0.58 [0.46, 0.70]"}


def test_the_map_has_rating_up_and_log_probability_across() -> None:
    found = huse_study()
    grid = DecisionMap((2.0, 3.0), (-4.0, -3.0, -2.0), ((0.0, 0.0), (0.5, 0.5), (1.0, 0.9)))
    drawn = draw_map(replace(found, decision_map=grid), cell=0.0)
    assert drawn is not None
    x, y = drawn.wide.x, drawn.wide.y
    assert x(-2.0) > x(-4.0)
    assert y(5.0) < y(3.0)
    chart = str(drawn.wide.chart)
    # The human end is one rectangle a row at the left; the even middle is left blank; the upper right is less sure.
    (human,) = re.findall(r'<path d="([^"]+)" class="vote v0">', chart)
    assert human.count("M") == 2
    assert human.startswith(f"M{x.start:.1f} ")
    (sure,) = re.findall(r'<path d="([^"]+)" class="vote v10">', chart)
    (less,) = re.findall(r'<path d="([^"]+)" class="vote v9">', chart)
    assert float(less.split()[1].split("H")[0]) < float(sure.split()[1].split("H")[0])
    assert "vote v5" not in chart
    assert "20 human items as squares, 20 from pointer net as circles" in chart


def test_an_impossible_text_bends_the_axis_and_what_has_no_number_is_counted() -> None:
    found = huse_study(200)
    far = replace(found.items[0], log_prob=-125.0)
    nowhere = replace(found.items[1], rating=math.nan)
    drawn = draw_map(replace(found, items=(far, nowhere, *found.items[2:])), cell=0.0)
    assert drawn is not None
    assert drawn.wide.x.bend > 0
    assert drawn.missing == 1
    assert draw_map(replace(found, items=()), cell=0.0) is None


def test_whole_texts_have_their_own_axis() -> None:
    found = huse_study()
    per_text = replace(found.results[0], options={"k": 16, "per": "text"})
    whole = replace(found, results=(per_text, *found.results[1:]))
    drawn = draw_map(whole, cell=0.0)
    assert drawn is not None
    assert "log-probability of the text" in drawn.wide.chart
    assert drawn.wide.x.low < min(each.log_prob * each.item.length for each in found.items)
    assert data(render_html(whole))["log_prob"] == "log-prob of the text"


def test_maps_of_many_items_stay_small() -> None:
    found = huse_study(10_000)
    fine, coarse = (draw_map(found, cell=cell) for cell in (2.5, 6.0))
    assert fine is not None
    assert coarse is not None
    assert len(coarse.wide.chart) < len(fine.wide.chart) < 200_000
    assert fine.density == "dense"


def test_the_plane_has_the_model_its_cloud_and_the_papers_models() -> None:
    found = huse_study()
    plane = draw_plane(found, SHOWN, most=50)
    assert plane is not None
    assert plane.cloud == 50
    for name, *_ in LANDMARKS:
        assert name in plane.wide
    assert plane.wide.count('class="landmark"') == len(LANDMARKS)
    assert f"HUSE-D {SHOWN['huse_d']}, HUSE-Q {SHOWN['huse_q']}. The paper's models: " in unescape(plane.wide)
    assert {"HUSE 0", "HUSE 1"} <= set(re.findall(r'class="equal-name">([^<]+)<', plane.wide))
    huse = found.results[1].estimate + found.results[2].estimate - 1
    assert huse == pytest.approx(found.results[0].estimate)
    bare = draw_plane(replace(found, cloud=()), SHOWN, most=50)
    assert bare is not None
    assert bare.cloud == 0


def test_lines_of_equal_huse_are_where_the_scores_say() -> None:
    plane = draw_plane(huse_study(), SHOWN, most=0)
    assert plane is not None
    lines = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)" class="equal">', plane.wide)
    assert len(lines) == 6
    slopes = {round((float(y2) - float(y1)) / (float(x2) - float(x1)), 2) for x1, y1, x2, y2 in lines}
    assert len(slopes) == 1
    # The paper's summaries at t = 1.0 have HUSE 0.53: between the lines of 0.4 and 0.6.
    marks = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5" class="landmark">', plane.wide)
    x, y = map(float, marks[0])
    heights = [float(y1) + (x - float(x1)) * next(iter(slopes)) for x1, y1, *_ in lines]
    assert heights[3] - 2 < y < heights[2] + 2


def test_names_in_the_narrow_plane_are_whole_and_apart() -> None:
    plane = draw_plane(huse_study(), SHOWN, most=0)
    assert plane is not None
    names = re.findall(r'<text [^>]*class="landmark-name">([^<]+)<', plane.narrow)
    assert "Summaries 0.7" in names
    assert not [name for name in names if "…" in name]
    (huse_0,) = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end" class="equal-name">HUSE 0<', plane.narrow)
    (next_to_it,) = re.findall(r'<text x="([\d.]+)"[^>]*class="equal-name">0.2<', plane.narrow)
    assert float(huse_0) + 5 < float(next_to_it)


def test_k_is_marked_and_its_table_has_the_doublings() -> None:
    found = huse_study(200)
    curves = k_curves(found, 16)
    assert curves is not None
    assert "k = 16" in curves.chart
    assert [n for n, _ in curves.rows] == ["1", "2", "4", "8", "16", "32", "64"]
    assert f"{found.by_k[0].huse:.2f}" == curves.rows[0][1][0]
    assert k_curves(replace(found, by_k=()), 16) is None


def test_stability_has_a_panel_for_items_and_one_for_ratings_at_one_scale() -> None:
    drawn = dict(stability_curves(huse_study()))
    assert list(drawn) == ["items", "ratings"]
    ticks = [re.findall(r'text-anchor="end" class="tick">([^<]+)<', curves.chart) for curves in drawn.values()]
    assert ticks[0] == ticks[1]
    assert drawn["items"].chart.count("spread-band") == 3
    labelled = replace(huse_study(), labels=("huse k=8", "huse_q", "huse_d"))
    assert dict(stability_curves(labelled))["items"].metrics == ("huse_q", "huse_d")
    assert stability_curves(replace(huse_study(), stability=())) == []


def test_scripts_get_the_axes_of_the_map() -> None:
    found = huse_study()
    drawn = draw_map(found, cell=0.0)
    assert drawn is not None
    low, high, start, end, centre, bend = data(render_html(found))["maps"]["map-wide"][0]
    assert Axis(low, high, start, end, centre, bend)(-3.0) == pytest.approx(drawn.wide.x(-3.0))
