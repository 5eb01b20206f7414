"""The forms of a stress report."""

import csv
import io
import math
from dataclasses import replace

from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.stress.small_study import small_study
from textassay.report.former.stress import FARTHEST, found_from, points
from textassay.studies.stress.result import Cell


def test_the_terminal_has_the_matrix_and_what_to_use() -> None:
    text = str(small_study())
    assert "24 texts" in text
    assert "copied" in text
    assert "Use for" in text


def test_csv_has_one_row_per_metric_size_damage_and_strength() -> None:
    found = small_study()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == len(found.metrics) * 2 * 6 * 2 == len(found.to_frame())
    topics = [row["changed"] for row in rows if row["damage"] == "topics"]
    assert set(topics) == {"0.25", "0.5"}


def test_markdown_has_the_matrices() -> None:
    text = small_study().to_markdown()
    assert "## Matrix at 24 texts" in text
    assert "## Power at 20 texts and strengths 0.5, 1" in text
    assert "| overall test |" in text


def test_the_page_has_a_heat_map_with_numbers_and_one_chart_per_damage() -> None:
    page = small_study().to_html()
    assert page.count('<table class="heat">') == 2
    assert 'class="figure h5"' in page
    assert page.count("Values by strength:") >= 6
    assert "style=" not in page


def test_hostile_names_are_harmless_everywhere() -> None:
    found = replace(small_study(), reference=(HOSTILE_NAME, 130, "0"))
    assert_harmless(found)
    assert "<script>alert" not in found.to_markdown()


def test_found_from_is_the_smallest_strength_without_a_gap() -> None:
    def cell(*power: float) -> Cell:
        return Cell(20, "cold", power, (0.0,) * 3, (0.0,) * 4, 0.0)

    strengths = (0.1, 0.3, 1.0)
    assert found_from(cell(0.9, 0.9, 1.0), strengths) == 0.1
    assert found_from(cell(0.9, 0.7, 1.0), strengths) == 1.0
    assert found_from(cell(0.9, 0.9, 0.7), strengths) is None
    assert found_from(cell(math.nan, math.nan, math.nan), strengths) is None


def test_curves_begin_at_0_and_stay_within_limits() -> None:
    found = small_study()
    drawn = points(found, found["distinct-2"], "duplicates", 24)
    assert drawn[0] == (0.0, 0.0)
    assert all(abs(y) <= FARTHEST for _, y in drawn)
