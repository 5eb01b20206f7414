"""What a frontier study shows: pairs in order, their table, theory and plots."""

import csv
import io
import math
from functools import cache

import pytest

from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.frontier.test_mixtures import random_texts
from textassay.document.blocks import Chart, Table
from textassay.document.plot import Line, Marks
from textassay.studies.frontier.document import axis_names, document, theory_lines
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


def charts(found: Frontier) -> list[Chart]:
    return [block for section in document(found).sections for block in section.blocks if isinstance(block, Chart)]


def table(found: Frontier) -> Table:
    (only,) = [b for s in document(found).sections for b in s.blocks if isinstance(b, Table) and s.id == "verdicts"]
    return only


def test_compatible_pairs_come_first_and_share_a_rank() -> None:
    summary = document(toy()).summary
    assert [(row.name, row.rank, row.decision) for row in summary.rows] == [
        ("ll/se", 1, "compatible"),
        ("cr/nrr", 1, "compatible"),
        ("cr/se", 3, "incompatible"),
        ("ll/nrr", 4, "incompatible"),
    ]
    assert summary.sentence == "ll/se and cr/nrr: can (compatible); ll/nrr and cr/se: cannot (incompatible)."
    assert summary.rows[3].why == ("incompatible by at least 0.0210 (2.2 % of the range of quality)",)


def test_columns_without_a_number_are_left_out() -> None:
    assert [head.text for head in table(toy()).heads] == ["pair", "QDisc", "DRate", "quality", "diversity", "verdict"]
    assert [head.text for head in table(oracles()).heads][:2] == ["source", "pair"]
    assert "Self-Ratio" in [head.text for head in table(on_texts()).heads]
    ll_nrr = next(row for row in table(toy()).rows if row.cells[0].text == "ll/nrr")
    assert [cell.text for cell in ll_nrr.cells[1:5]] == ["0.0210", "2.17 %", "-2.79", "-0.0688"]


def test_several_sources_are_named() -> None:
    assert "oracle:0.5 bs-1" in document(oracles()).names


def test_each_pair_of_the_general_form_has_its_theory() -> None:
    lines = dict(theory_lines(toy()))
    assert list(lines) == list(toy().labels)
    assert lines["cr/nrr"] == "f increases; g is concave; g' = -2 f + 0"
    assert dict(theory_lines(on_texts())) == {}


def test_the_figures_of_the_paper_are_drawn() -> None:
    titles = [chart.plot.title for chart in charts(toy())]
    assert titles[:4] == [f"Quality and diversity: {pair}" for pair in toy().labels]
    assert "Log-probabilities in descending order" in titles
    assert "Optimisation on oracle:2" in [chart.plot.title for chart in charts(oracles())]
    names = {layer.name for chart in charts(on_texts()) for layer in chart.plot.layers if isinstance(layer, Line)}
    assert "noise of 5 words" in names


@pytest.mark.parametrize("make", [toy, on_texts, oracles])
def test_the_real_distribution_is_in_every_plane(make: object) -> None:
    planes = [chart.plot for chart in charts(make()) if chart.plot.title.startswith("Quality")]  # type: ignore[operator]
    for plot in planes:
        (star,) = [point for layer in plot.layers if isinstance(layer, Marks) for point in layer.points]
        assert math.isfinite(star.x)
        assert math.isfinite(star.y)
        assert star.tone == "best"


def test_csv_has_one_row_per_point() -> None:
    rows = list(csv.DictReader(io.StringIO(toy().to_csv())))
    points = sum(len(curve.points) for each in toy().sources[0].analyses for curve in each.curves)
    assert len(rows) == points + 4
    real = [row for row in rows if row["curve"] == "real"]
    assert [row["verdict"] for row in real] == ["compatible", "compatible", "incompatible", "incompatible"]


def test_hostile_names_are_harmless_everywhere() -> None:
    assert_harmless(on_texts())


def test_axis_names_of_pairs() -> None:
    assert axis_names("cn-3") == ("coverage rate-3", "negative repetition rate-3")
