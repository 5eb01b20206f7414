"""The document of a sweep: the ranking, the axis of the settings, and what a chart has."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

from tests.laws import corpus
from tests.studies.sweep.test_sweep import found, model
from textassay import Sweep, sweep
from textassay.document.blocks import REAL, Chart, Table
from textassay.document.plot import Band, Line, Marks
from textassay.studies.sweep.document import document
from textassay.studies.sweep.plots import axis_of_settings, metric_plot, plane_chart, series_of
from textassay.studies.sweep.verdict import mean_places


@cache
def two_parameters() -> Sweep:
    """Four settings of two parameters, one metric without a number."""
    metrics = "cr,nrr,distinct:n=100,cnd"
    return sweep(model(), corpus(7, 60), temperature="0.3,1", top_k="2,none", n=40, metrics=metrics, n_resamples=19)


def test_the_settings_are_ranked_by_the_metrics_of_both_aspects() -> None:
    rows = document(found()).summary.rows
    place = found().labels.index("cnd-2")
    values = [found()[row.name].results[place].estimate for row in rows]
    assert values == sorted(values)
    assert [row.rank for row in rows] == [1, 2, 3]
    assert rows[0].stands_out.startswith("closest by cnd-2")
    assert {row.decision for row in rows} <= {"same", "differs"}


def test_a_setting_without_a_value_is_last_by_this_metric_and_without_any_has_no_rank() -> None:
    nothing: dict[str, Any] = {"estimate": math.nan, "interval": None, "undefined": "too few texts"}
    *others, last = found().swept[1].results
    some = replace(found().swept[1], results=(*others, replace(last, **nothing)))
    none = replace(found().swept[0], results=tuple(replace(each, **nothing) for each in found().swept[0].results))
    study = replace(found(), swept=(none, some, found().swept[2]))
    places = mean_places(study.swept, study.best)
    assert set(places) == {"t=1", "t=4"}
    assert places["t=1"] > 1.0
    assert [row.rank for row in document(study).summary.rows] == [1, 1, None], "equal mean places share a rank"


def test_quality_and_diversity_are_differences_from_real_text_with_more_as_better() -> None:
    rows = document(found()).summary.rows
    quality, diversity = ({row.name: row.cells[at].value or 0.0 for row in rows} for at in (2, 3))
    assert quality["t=0.25"] > quality["t=4"]
    assert diversity["t=0.25"] < 0 < diversity["t=4"]


def test_the_tables_have_a_row_per_metric_and_per_setting() -> None:
    tables = {
        section.id: block for section in document(found()).sections for block in section.blocks
        if isinstance(block, Table)
    }  # fmt: skip
    assert len(tables["best"].rows) == len(found().labels)
    assert [row.cells[0].text for row in tables["values"].rows] == [*found().names, "real v real"]
    best = found().best[0].setting
    marked = [row.cells[0].text for row in tables["values"].rows if row.cells[1].text.endswith("•")]
    assert best in marked


def test_a_second_parameter_makes_series() -> None:
    study = two_parameters()
    assert [(each.name, [column.name for column in each.settings]) for each in series_of(study)] == [
        ("k=2", ["t=0.3,k=2", "t=1,k=2"]),
        ("k=none", ["t=0.3,k=none", "t=1,k=none"]),
    ]
    plot = metric_plot(study, study.labels.index("cnd-2"))
    assert [layer.name for layer in plot.layers if isinstance(layer, Line)] == ["k=2", "k=none"]


def test_uneven_grids_have_a_logarithmic_axis_and_values_that_are_no_numbers_have_places() -> None:
    axis, _ = axis_of_settings(found())
    assert (axis.title, axis.log) == ("temperature (logarithmic)", True)
    assert axis.ticks is not None
    assert [name for _, name in axis.ticks] == ["0.25", "1", "4"]
    study = two_parameters()
    by_k = replace(study, swept=tuple(column for column in study.swept if column.name.startswith("t=1")))
    assert axis_of_settings(by_k)[0].ticks == ((0.0, "2"), (1.0, "none"))


def test_a_chart_has_real_text_the_settings_and_the_best_one() -> None:
    plot = metric_plot(found(), found().labels.index("cnd-2"))
    assert [type(layer) for layer in plot.layers] == [Band, Line, Marks, Marks]
    stars = plot.layers[-1]
    assert isinstance(stars, Marks)
    assert [(star.tone, star.detail) for star in stars.points] == [("best", "best: t=1")]
    drawn = plane_chart(found())
    assert drawn is not None
    marks = [layer.points for layer in drawn.plot.layers if isinstance(layer, Marks)]
    assert [point.candidate for point in marks[0]] == [REAL]
    assert [point.label for point in marks[1]] == ["0.25", "1", "4"]


def test_metrics_without_numbers_are_named_and_not_drawn() -> None:
    study = two_parameters()
    place = next(at for at, label in enumerate(study.labels) if label.startswith("distinct"))
    assert study.best[place].setting == ""
    assert metric_plot(study, place).layers == ()
    charts = [b for s in document(study).sections if s.id == "metrics" for b in s.blocks if isinstance(b, Chart)]
    (chart,) = [chart for chart in charts if chart.plot.title.startswith("distinct")]
    assert "No value at t=0.3,k=2" in chart.remarks[-1]
