"""The page and the notebook cell of a comparison: marks, footnotes and sizes in its table, charts, and its limit."""

import math
import re
from dataclasses import replace

import pytest

from tests.report.builders import Page, candidate, compare_result, comparison, pairs, phrase
from textassay.document.blocks import Chart, Table, walk
from textassay.document.plot import Marks
from textassay.inference.result import Interval
from textassay.report.html import MOST_BYTES
from textassay.studies.compare.document import document
from textassay.studies.compare.plots import plane_chart, strip_chart
from textassay.studies.compare.result import Comparison
from textassay.studies.contests import Contest

TWENTY = [f"model-{i}" for i in range(20)]
TWENTY_METRICS = [(metric, order) for metric in ("cr", "nrr", "bleu", "self_bleu") for order in range(1, 6)]


def words(found: Comparison) -> str:
    """What is read on the page, with white space made even."""
    page = Page(found.to_html())
    assert page.complaints == []
    return " ".join(page.text.translate({0x2007: " ", 0x2008: " ", 0xA0: " "}).split())


def table_of(found: Comparison) -> Table:
    """The table of all metrics."""
    section = next(each for each in document(found).sections if each.id == "metrics")
    return next(block for block in section.blocks if isinstance(block, Table))


def test_adjusted_p_values_are_shown_and_marked_where_significant() -> None:
    found = comparison(["only"], metrics=[("cr", 2), ("nrr", 2)])
    weak = replace(found.candidates[0].results[1], p_value=0.2)
    found = replace(found, candidates=(candidate("only", (found.candidates[0].results[0], weak)),))
    strong, other = (row.cells[2] for row in table_of(found).rows)
    assert (strong.small, strong.marked) == (("p ≤ 0.001",), True)
    assert (other.small, other.marked) == (("p 0.20",), False)
    text = words(found)
    assert "0.300* significant ±0.020p ≤ 0.001" in text
    assert "-0.200 ±0.020p 0.20" in text


def test_missing_tests_and_numbers_are_footnotes_with_their_reasons() -> None:
    found = comparison(["only"])
    results = (*found.candidates[0].results[:-1], compare_result("cnd", 0.0, undefined="no text has n tokens"))
    text = words(replace(found, candidates=(candidate("only", results),)))
    assert "bleu-4 ↑1" in text
    assert "1 No test: exchanging texts changes what every text is compared with" in text
    assert "No number: no text has n tokens." in text
    assert "0.0100 ±0.020 –" in text


def test_a_lopsided_interval_is_shown_by_its_bounds() -> None:
    found = comparison(["only"], contests=(Contest("a", "b", "cr-2", 0.0, -0.02, 0.1, 0.25, 0.5),))
    lopsided = replace(found.candidates[0].results[0], estimate=0.0, interval=Interval(0.0, 0.0152, 0.95, "wilson"))
    text = words(replace(found, candidates=(candidate("only", (lopsided, *found.candidates[0].results[1:])),)))
    assert "0* significant [0, 0.015]p ≤ 0.001" in text
    assert "[low, high] its bounds where the estimate is not in the middle" in text
    assert "0 [-0.02, 0.10] 0.50" in text


@pytest.mark.parametrize(("level", "shown"), [(0.999, "99.9 %"), (0.975, "97.5 %")])
def test_the_level_is_never_rounded_to_another(level: float, shown: str) -> None:
    text = words(comparison(level=level))
    assert f"Interval level {shown}" in text
    assert f"half the width of the {shown} interval" in text


def test_numbers_without_end_are_shown_and_not_drawn() -> None:
    found = comparison(["only"])
    results = tuple(replace(r, estimate=math.inf, interval=None) for r in found.candidates[0].results)
    found = replace(found, candidates=(candidate("only", results),))
    assert "∞" in words(found)
    assert not re.search(r'"(?:inf|nan)"', found.to_html())


def test_what_is_drawn_beside_real_text_has_its_size() -> None:
    found = comparison(["only"], metrics=[("cr", 2), ("nrr", 2)], real_n=250)
    smaller = {"cr-2": compare_result("cr", 0.777, n=250, p=None)}
    found = replace(found, candidates=(replace(found.candidates[0], at_baseline_size=smaller),))
    chart = strip_chart(found, 0)
    assert chart.remarks == ("All drawn at n = 250, the largest size of real v real; the table also has n = 500.",)
    assert "only 0.777 ±0.020" in chart.plot.summary
    assert words(found).count("cr|n:2|tok:words+lower|candidate:250") == 2


def test_another_size_of_real_text_is_stated_in_chart_and_table() -> None:
    text = words(comparison(real_n=250))
    assert "Real text has n = 250, candidates n = 500; the value may depend on the size." in text
    assert "cr-2 ↑ (real at n = 250)" in text
    assert "eal text has n =" not in words(comparison())


@pytest.mark.parametrize(
    ("metrics", "axes"),
    [
        ([("bleu", 2), ("self_bleu", 2), ("cr", 3), ("nrr", 2), ("nrr", 3)], ("cr-3", "nrr-3")),
        ([("cr", 2), ("self_bleu", 4), ("bleu", 4)], ("bleu-4", "self_bleu-4")),
        ([("cnd", 2), ("bleu", 4), ("nrr", 2)], ("bleu-4", "nrr-2")),
        ([("cnd", 2), ("bleu", 4)], None),
    ],
)
def test_the_plane_takes_the_preferred_pair(metrics: list[tuple[str, int]], axes: tuple[str, str] | None) -> None:
    chart = plane_chart(comparison(metrics=metrics))
    assert (chart is None) == (axes is None)
    if chart is not None and axes is not None:
        assert chart.caption.startswith(f"Horizontal axis: {axes[0]}. Vertical axis: {axes[1]}.")


def test_more_self_bleu_is_drawn_lower() -> None:
    chart = plane_chart(comparison(["near", "far"], metrics=[("bleu", 4), ("self_bleu", 4)]))
    assert chart is not None
    assert chart.plot.y.reversed


def test_a_candidate_without_a_place_on_the_plane_is_named() -> None:
    found = comparison(["there", "nowhere"])
    lost = (compare_result("cr", 0.0, undefined="no n-gram"), *found.candidates[1].results[1:])
    chart = plane_chart(replace(found, candidates=(found.candidates[0], candidate("nowhere", lost))))
    assert chart is not None
    assert chart.remarks == ("Not drawn, because a number is missing on one of the axes: nowhere.",)
    assert [point.candidate for layer in chart.plot.layers if isinstance(layer, Marks) for point in layer.points] == [
        -1,
        0,
    ]


def test_twenty_candidates_by_twenty_metrics_fit_with_the_worst_of_texts() -> None:
    worst = "\u2028" * 5000
    found = comparison(TWENTY, metrics=TWENTY_METRICS, contests=pairs(TWENTY, 3800))
    many = tuple(phrase(f"{i} {worst}", worst, worst, worst) for i in range(50))
    long_names = tuple(replace(c, name=f"{c.name}{worst}", over=many, under=many) for c in found.candidates)
    page = replace(found, candidates=long_names, notes=(worst,) * 1000).to_html()
    assert len(page.encode()) <= MOST_BYTES
    assert "3,740 more rows are in the JSON file" in page
    assert "970 more are in the JSON file." in page


def test_every_metric_has_a_strip_or_is_in_the_table_alone() -> None:
    found = document(comparison([f"model-{i}" for i in range(60)], metrics=TWENTY_METRICS * 2))
    strips = [
        block
        for each in found.sections
        if each.id == "strips"
        for block in walk(each.blocks)
        if isinstance(block, Chart)
    ]
    assert len(strips) == 20
