"""What an agreement study shows: ranks, pairs in the wrong order, and the correlation of metrics."""

import csv
import io
import math
from dataclasses import replace
from functools import cache

import textassay as ta
from tests.report.builders import HOSTILE_NAME, assert_harmless
from tests.studies.agreement.test_agree import ORDER, comparison, texts
from textassay.document.plot import Cells
from textassay.studies.agreement import verdict
from textassay.studies.agreement.document import correlated, document, matrix_plot, tau_plot
from textassay.studies.agreement.result import Agreement, MetricColumn
from textassay.studies.agreement.study import agree
from textassay.studies.sentences import sentence_of


@cache
def found() -> Agreement:
    return agree(comparison(), ORDER)


def with_goodness(values: dict[str, float]) -> MetricColumn:
    """A metric with these values, higher as better."""
    return replace(found()["cnd-2"], goodness=tuple(values.get(system, math.nan) for system in found().systems))


def test_metrics_are_ranked_by_tau_and_equal_ones_share_a_rank() -> None:
    rows = document(found()).summary.rows
    taus = [row.cells[0].value or 0.0 for row in rows]
    assert taus == sorted(taus, reverse=True)
    assert [row.rank for row in rows] == [1 + sum(other > tau for other in taus) for tau in taus]
    assert [row.rank for row in rows[:2]] == [1, 1]


def test_the_decision_follows_from_the_sign_and_the_adjusted_p_value() -> None:
    metric = found()["cnd-2"]
    assert verdict.decision_of(metric, 0.01, 0.95) == "agrees"
    assert verdict.decision_of(metric, 0.08, 0.95) == "not shown"
    reverse = replace(metric, results=(replace(metric.results[0], estimate=-1.0), *metric.results[1:]))
    assert verdict.decision_of(reverse, 0.01, 0.95) == "contradicts"
    missing = replace(metric, results=(replace(metric.results[0], estimate=math.nan), *metric.results[1:]))
    assert verdict.decision_of(missing, math.nan, 0.95) == "untested"
    assert "no metric significantly agrees" in document(found()).summary.sentence.lower()


def test_the_pair_in_the_wrong_order_that_is_furthest_apart_is_named() -> None:
    right = {"w14": 5.0, "w10": 4.0, "w7": 3.0, "w4": 2.0, "w2": 1.0}
    assert verdict.inverted(found(), with_goodness(right)) is None
    wrong = verdict.inverted(found(), with_goodness(right | {"w14": 2.5, "w2": 3.5}))
    assert wrong is not None
    # w14 is below w10, w7 and w2; w2 is above w7, w4 and w14.
    assert (wrong.value, wrong.names) == (5.0, ("w2", "w14"))
    assert sentence_of(wrong) == "5 of 10 pairs in the wrong order, such as w2 above w14"
    unknown = verdict.inverted(found(), with_goodness({"w14": 1.0, "w2": 2.0}))
    assert unknown is not None
    assert unknown.n == (1,)


def test_few_systems_and_missing_numbers_are_caveats() -> None:
    first, *others = found().metrics
    reason = "all systems have one value"
    none = tuple(replace(r, estimate=math.nan, interval=None, p_value=None, undefined=reason) for r in first.results)
    study = replace(found(), metrics=(replace(first, results=none), *others))
    few, missing = document(study).summary.caveats
    assert "With 5 systems" in few
    assert missing == f"No number for {first.name}: {reason}."
    assert document(study).summary.rows[-1].rank is None


def test_the_matrix_has_every_two_metrics() -> None:
    places = correlated(found())
    (cells,) = matrix_plot(found(), places).layers
    assert isinstance(cells, Cells)
    assert len(cells.texts) == len(places) == 5
    assert [cells.texts[place][place] for place in range(5)] == ["1.00"] * 5
    assert tau_plot(found()).y.names[0] in ("cnd-2", "ms_jaccard-2")


def test_csv_has_one_row_per_metric_and_coefficient() -> None:
    rows = list(csv.DictReader(io.StringIO(found().to_csv())))
    names = ["kendall", "spearman", "pearson"]
    assert [(row["metric"], row["coefficient"]) for row in rows[:3]] == [("cnd-2", name) for name in names]


def test_hostile_names_are_harmless_everywhere() -> None:
    systems = {HOSTILE_NAME: texts(40, 1), "b": texts(40, 2), "c": texts(40, 3)}
    results = ta.compare(texts(60, 0), systems, metrics="cr,nrr", n_resamples=0)
    assert_harmless(agree(results, [HOSTILE_NAME, "b", "c"]))
