"""The forms of an agreement report."""

import csv
import io
import re
from functools import cache

import textassay as ta
from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.agreement.test_agree import ORDER, comparison, texts
from textassay.report.former.charts.figures import diverging
from textassay.studies.agreement.result import Agreement
from textassay.studies.agreement.study import agree


@cache
def found() -> Agreement:
    return agree(comparison(), ORDER)


@cache
def hostile() -> Agreement:
    systems = {HOSTILE_NAME: texts(40, 1), "b": texts(40, 2), "c": texts(40, 3)}
    return agree(ta.compare(texts(60, 0), systems, metrics="cr,nrr", n_resamples=0), [HOSTILE_NAME, "b", "c"])


def test_the_terminal_shows_coefficients_and_the_best_metrics() -> None:
    text = str(found())
    assert "5 metrics on 5 systems against gold order" in text
    assert re.search(r"^cnd-2 +1\.00 +0\.083 +1\.00 +0\.\d\d +5$", text, flags=re.MULTILINE)
    assert "Closest to the gold standard: " in text
    assert "in the plane of bleu-2 and self_bleu-2, no other system dominates" in text


def test_csv_has_one_row_per_metric_and_coefficient() -> None:
    rows = list(csv.DictReader(io.StringIO(found().to_csv())))
    assert [(row["metric"], row["coefficient"]) for row in rows[:3]] == [
        ("cnd-2", "kendall"),
        ("cnd-2", "spearman"),
        ("cnd-2", "pearson"),
    ]


def test_markdown_has_the_matrix() -> None:
    text = found().to_markdown()
    assert "## Metric by metric (Pearson)" in text
    assert "| cnd-2 | 1.00 |" in text


def test_the_page_has_the_matrix_and_the_plane() -> None:
    page = found().to_html()
    assert "Correlation of metrics</title>" in page
    assert "Quality and diversity of the systems</title>" in page
    assert page.count('class="on-dark"') + page.count('class="on-light"') == 25


def test_hostile_names_are_harmless_everywhere() -> None:
    assert_harmless(hostile())


def test_colours_of_correlations_are_legible() -> None:
    assert diverging(1.0)[1] == "#ffffff"
    assert diverging(0.0)[1] == "#000000"
    assert diverging(-1.0)[0] != diverging(1.0)[0]
