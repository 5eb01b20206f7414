"""The forms of a sweep's report: terminal, Markdown, CSV, notebook and HTML."""

import csv
import io
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.laws import corpus
from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.sweep.test_sweep import found, model
from textassay import Sweep, sweep
from textassay.report.former.charts.curves import Rung, Trace, curve_chart
from textassay.report.former.charts.setting_charts import across, lines, metric_chart, plane


@cache
def two_parameters() -> Sweep:
    """Four settings of two parameters, one of them without a number, and a hostile name of the reference."""
    study = sweep(
        model(),
        corpus(7, 60),
        temperature="0.3,1",
        top_k="2,none",
        n=40,
        metrics="cr,nrr,distinct:n=100,cnd",
        n_resamples=19,
    )
    return replace(study, reference=replace(study.reference, name=HOSTILE_NAME))


def test_the_terminal_shows_best_settings_values_and_the_verdict() -> None:
    text = str(found())
    assert re.search(r"^sweep ngram-2:\w+ against reference \(3 settings, 80 texts each\)$", text, flags=re.MULTILINE)
    assert re.search(r"^cr-2 ↑ +t=0\.25 +[\d.]+ ±[\d.]+ +[\d.]+ ±[\d.]+ +none$", text, flags=re.MULTILINE)
    assert re.search(r"^t=0\.25 +[\d.]+• ", text, flags=re.MULTILINE)
    assert re.search(r"^real v real +[\d.]+ ", text, flags=re.MULTILINE)
    assert "closest to the reference: t=1 by cnd-2" in text
    assert max(map(len, text.splitlines())) <= 100


def test_csv_has_one_row_per_setting_and_metric() -> None:
    rows = list(csv.DictReader(io.StringIO(found().to_csv())))
    assert len(rows) == 3 * len(found().labels)
    first = rows[0]
    assert (first["setting"], first["temperature"], first["label"]) == ("t=0.25", "0.25", "cr-2")
    assert (first["is_best"], first["among_best"]) == ("True", "True")
    assert float(first["low"]) < float(first["estimate"]) < float(first["high"])


def test_markdown_has_both_tables() -> None:
    text = found().to_markdown()
    assert "## Best settings" in text
    assert "## All settings" in text
    assert "| cr-2 ↑ | t=0.25 |" in text


def test_hostile_names_are_harmless_everywhere() -> None:
    assert_harmless(two_parameters())


def test_the_page_has_a_curve_and_one_chart_per_metric() -> None:
    page = found().to_html()
    assert page.count("over the settings</title>") == len(found().labels)
    assert 'class="bar curve joined k0"' in page
    assert page.count("spread-band") >= len(found().labels)
    assert page.count(">real text</text>") >= len(found().labels)
    drawn = plane(found())
    assert drawn is not None
    assert all(f'class="name">{label}</text>' in drawn.wide for label in ("0.25", "1", "4"))
    assert drawn.marks == "temperature"


def test_a_second_parameter_makes_lines() -> None:
    study = two_parameters()
    assert [(line.name, [each.name for each in line.settings]) for line in lines(study)] == [
        ("k=2", ["t=0.3,k=2", "t=1,k=2"]),
        ("k=none", ["t=0.3,k=none", "t=1,k=none"]),
    ]
    chart = metric_chart(study, study.labels.index("cnd-2"), among="")
    assert chart.chart.count('class="bar curve') == 2
    assert "<title>k=none</title>" in chart.chart


def test_uneven_grids_have_a_logarithmic_axis_and_names_have_places() -> None:
    assert across(found()).name == "temperature (logarithmic)"
    assert [name for _, name in across(found()).ticks] == ["0.25", "1", "4"]
    study = two_parameters()
    by_k = replace(study, swept=tuple(column for column in study.swept if column.name.startswith("t=1")))
    assert across(by_k).ticks == ((0.0, "2"), (1.0, "none"))


def test_metrics_without_numbers_are_named_and_not_drawn() -> None:
    study = two_parameters()
    place = next(at for at, label in enumerate(study.labels) if label.startswith("distinct"))
    assert study.best[place].setting == ""
    assert "No value at t=0.3,k=2" in metric_chart(study, place, among="").remarks[-1]


@pytest.mark.parametrize("high", [0.2, float("nan")])
def test_a_band_and_a_level_are_inside_the_frame(high: float) -> None:
    chart = curve_chart(
        [Trace("a", [(0.0, 1.0), (1.0, 2.0)], 0, [(0.5, 1.5), (1.5, 2.5)])],
        rung=Rung("real text", 0.1, 0.0, high),
        across="x",
        up="y",
        key="k",
        title="t",
        summary="s",
    )
    heights = [float(y) for y in re.findall(r'<rect [^>]*y="([\d.]+)"', chart)]
    assert all(14.0 <= y <= 274.0 for y in heights)
    assert "real text" in chart
