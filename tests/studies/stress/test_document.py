"""What a stress study shows: from which strength a damage is found, the ranking, the matrix and the curves."""

import csv
import io
import math
from dataclasses import replace

from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.stress.small_study import small_study
from textassay.document.blocks import Chart, Table
from textassay.document.plot import Cells, Line
from textassay.studies.sentences import sentence_of
from textassay.studies.stress import verdict
from textassay.studies.stress.document import FARTHEST, document, matrix_plot, points
from textassay.studies.stress.result import Cell, Stress, StressColumn


def with_powers(**powers: tuple[float, ...]) -> Stress:
    """The small study with the overall test and metrics of these powers for every damage, and no praise."""

    def column(name: str, power: tuple[float, ...]) -> StressColumn:
        first = small_study().metrics[0]
        cells = tuple(replace(cell, power=power, praise=(0.0, 0.0)) for cell in first.cells)
        return replace(first, name=name, metric=name, cells=cells, false_alarms=(0.05, 0.05), n_false_alarms=20)

    return replace(small_study(), metrics=tuple(column(name, power) for name, power in powers.items()))


def test_found_from_is_the_smallest_strength_without_a_gap() -> None:
    def cell(*power: float) -> Cell:
        return Cell(20, "cold", power, (0.0,) * 3, (0.0,) * 4, 0.0)

    strengths = (0.1, 0.3, 1.0)
    assert verdict.found_from(cell(0.9, 0.9, 1.0), strengths) == 0.1
    assert verdict.found_from(cell(0.9, 0.7, 1.0), strengths) == 1.0
    assert verdict.found_from(cell(0.9, 0.9, 0.7), strengths) is None
    assert verdict.found_from(cell(math.nan, math.nan, math.nan), strengths) is None


def test_the_overall_test_is_first_and_metrics_are_ranked_by_power() -> None:
    found = with_powers(overall=(0.0, 0.5), weak=(0.0, 0.0), strong=(1.0, 1.0), late=(0.0, 1.0))
    rows = document(found).summary.rows
    assert [(row.name, row.rank, row.decision) for row in rows] == [
        ("overall", None, "finds none"),
        ("strong", 1, "finds all"),
        ("late", 2, "finds all"),
        ("weak", 3, "finds none"),
    ]
    assert rows[0].stands_out.startswith("misses topics lost, ")
    assert rows[1].stands_out == ""


def test_advice_names_the_tests_of_the_smallest_strength_and_what_the_overall_test_does() -> None:
    said = {
        title: sentence_of(finding) for title, finding in verdict.advice(with_powers(o=(0.0, 1.0), a=(1.0, 1.0)), 24)
    }
    assert said["duplicates"] == "a (from strength 0.5); the overall test from 1"
    said = {
        title: sentence_of(finding) for title, finding in verdict.advice(with_powers(o=(0.0, 0.0), a=(1.0, 1.0)), 24)
    }
    assert said["duplicates"] == "a (from strength 0.5); the overall test misses it"
    found = with_powers(o=(0.0, 0.0))
    assert {sentence_of(finding) for _, finding in verdict.advice(found, 24)} == {"no test finds it"}
    assert "no test finds topics lost, " in document(found).summary.sentence


def test_tests_that_reject_undamaged_text_too_often_are_a_caveat() -> None:
    found = with_powers(overall=(1.0, 1.0), steady=(1.0, 1.0))
    assert [caveat for caveat in document(found).summary.caveats if "undamaged" in caveat] == []
    loud = replace(found.metrics[1], false_alarms=(0.05, 0.5))
    (caveat,) = [
        c for c in document(replace(found, metrics=(found.metrics[0], loud))).summary.caveats if "undamaged" in c
    ]
    assert "steady 50 %" in caveat


def test_the_matrix_has_a_cell_per_damage_and_a_heat() -> None:
    found = small_study()
    matrices = [b for s in document(found).sections if s.id == "matrix" for b in s.blocks if isinstance(b, Table)]
    assert [table.title for table in matrices] == ["24 texts per sample", "20 texts per sample"]
    for table in matrices:
        assert len(table.rows) == len(found.metrics)
        assert all(len(row.cells) == len(table.heads) for row in table.rows)
        assert all(0 <= (cell.heat or 0.0) <= 1 for row in table.rows for cell in row.cells)
    (cells,) = matrix_plot(found, 24).layers
    assert isinstance(cells, Cells)
    assert (len(cells.shades), len(cells.shades[0])) == (len(found.metrics), len(found.damages))


def test_curves_begin_at_0_and_stay_within_limits() -> None:
    found = small_study()
    drawn = points(found, found["distinct-2"], "duplicates", 24)
    assert drawn[0] == (0.0, 0.0)
    assert all(abs(y) <= FARTHEST for _, y in drawn)


def test_a_metric_has_the_mark_of_its_row_in_the_curves() -> None:
    found = small_study()
    rows = {row.name: row.candidate for row in document(found).summary.rows}
    charts = [block for section in document(found).sections if section.id == "curves" for block in section.blocks]
    layers = [layer for chart in charts if isinstance(chart, Chart) for layer in chart.plot.layers]
    lines = {layer.name: layer.candidate for layer in layers if isinstance(layer, Line)}
    assert lines
    assert lines.items() <= rows.items()


def test_csv_has_one_row_per_metric_size_damage_and_strength() -> None:
    found = small_study()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == len(found.metrics) * 2 * 6 * 2 == len(found.to_frame())
    topics = [row["changed"] for row in rows if row["damage"] == "topics"]
    assert set(topics) == {"0.25", "0.5"}


def test_hostile_names_are_harmless_everywhere() -> None:
    assert_harmless(replace(small_study(), reference=(HOSTILE_NAME, 130, "0")))
