"""The forms of a frontier report: terminal, Markdown, CSV, notebook and HTML."""

import csv
import io
import re
from functools import cache

import pytest

from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.frontier.test_mixtures import random_texts
from textassay.report.former.charts.curves import Spotted, Trace, curve_chart
from textassay.report.former.frontier import axis_names
from textassay.studies.frontier.result import Frontier
from textassay.studies.frontier.study import frontier


@cache
def toy() -> Frontier:
    return frontier("toy:20")


@cache
def on_texts() -> Frontier:
    return frontier({HOSTILE_NAME: random_texts(80, 0)}, pairs="bs-1,cn-1")


@cache
def oracles() -> Frontier:
    return frontier(["oracle:0.5", "oracle:2"], pairs="bs-1,cn-1", n_starts=2)


def test_the_terminal_shows_gaps_and_verdicts() -> None:
    text = str(toy())
    assert "frontier toy:20 (random distribution with 20 outcomes)" in text
    assert re.search(r"^ll/nrr +0\.0210 +2\.17 % +-2\.79 +-0\.0688$", text, flags=re.MULTILINE)
    assert "≠ ll/nrr incompatible by at least 0.0210 (2.2 % of the range of quality)" in text
    assert "= ll/se  compatible: 1/2 quality + 1/2 diversity measures a divergence" in text


def test_several_sources_are_named_in_the_terminal() -> None:
    assert "≠ oracle:0.5 bs-1 incompatible by at least" in str(oracles())


def test_hostile_names_are_harmless_everywhere() -> None:
    assert_harmless(on_texts())
    assert "\\<script\\>" in on_texts().to_markdown()


def test_csv_has_one_row_per_point() -> None:
    rows = list(csv.DictReader(io.StringIO(toy().to_csv())))
    points = sum(len(curve.points) for each in toy().sources[0].analyses for curve in each.curves)
    assert len(rows) == points + 4
    real = [row for row in rows if row["curve"] == "real"]
    assert [row["verdict"] for row in real] == ["compatible", "compatible", "incompatible", "incompatible"]


def test_markdown_has_the_table_the_theory_and_signatures() -> None:
    text = toy().to_markdown()
    assert "| toy:20 | ll/nrr | 0.0210 | 2.17 % |" in text
    assert "## Theory" in text
    assert "- **cr/nrr**: f increases; g is concave; g' = -2 f + 0" in text
    assert "qdisc|pair:ll/se|toy:20/" in text


def test_the_page_has_the_figures_of_the_paper() -> None:
    page = toy().to_html()
    for pair in toy().labels:
        assert f"Quality and diversity: {pair}" in page
    assert page.count("real distribution</text>") == 4
    assert "Log-probabilities in descending order" in page
    assert "Optimisation on oracle:2" in oracles().to_html()
    assert "noise of 5 words" in on_texts().to_html()


@pytest.mark.parametrize("make", [toy, on_texts, oracles])
def test_charts_have_only_finite_coordinates(make: object) -> None:
    page = make().to_html()  # type: ignore[operator]
    assert not re.search(
        r'"[^"]*\b(nan|inf)\b[^"]*"', "".join(re.findall(r"<(?:path|circle|line|polygon)[^>]*>", page))
    )


def test_a_star_near_the_left_edge_has_its_name_at_the_right() -> None:
    trace = Trace("curve", [(0.0, 1.0), (1.0, 0.0)])
    spots = [Spotted("real distribution", 0.0, 1.0), Spotted("another", 1.0, 0.0)]
    chart = curve_chart([trace], spots=spots, across="x", up="y", key="k", title="t", summary="s")
    anchors = re.findall(r'text-anchor="(start|end)" class="real-name">([^<]+)<', chart)
    assert anchors == [("start", "real distribution"), ("end", "another")]


def test_axis_names_of_pairs() -> None:
    assert axis_names("cn-3") == ("coverage rate-3", "negative repetition rate-3")
