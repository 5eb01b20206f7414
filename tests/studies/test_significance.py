"""One rule for what is significant: star, verdict, item label and paired rows agree, also next to the limit."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.report.builders import comparison, conditional, huse_study
from tests.studies.compare.test_verdict import overall
from textassay.document.results import result_cell
from textassay.inference.items.misses import Contrasts, miss_of
from textassay.inference.p_values import is_significant
from textassay.inference.rated_scores import Corrected
from textassay.studies.compare.document import metric_table as compared_table
from textassay.studies.compare.verdict import Setting
from textassay.studies.compare.verdict import judge as judge_candidate
from textassay.studies.conditional.tables import metric_table
from textassay.studies.conditional.verdict import Evidence, judge_system
from textassay.studies.contests import Contest, paired
from textassay.studies.huse.verdict import judge as judge_scores

COMPARED, CONDITIONAL, HUSE = (
    comparison(["a"], metrics=[("cnd", 2)]),
    conditional(["a"], labels=["trm meteor"]),
    huse_study(),
)


@st.composite
def p_and_level(draw: st.DrawFn) -> tuple[float, float, int, int]:
    """A p-value k / n, and a level at which it is the limit, one ulp below it, or one ulp above it."""
    n = draw(st.integers(2, 2000))
    k = draw(st.integers(1, max(1, n // 2 - 1)))
    level = 1 - k / n
    return k / n, draw(st.sampled_from([level, math.nextafter(level, 0), math.nextafter(level, 1)])), k, n


def in_comparison(p: float, level: float) -> set[bool]:
    column = replace(COMPARED.candidates[0], adjusted=(p,), overall=overall(p))
    found = replace(COMPARED, candidates=(column,), level=level)
    verdict = judge_candidate([], column.overall, setting=Setting(level))
    cell = compared_table(found).rows[0].cells[2]
    return {cell.marked, verdict.decision == "differs", column.differs(level)}


def in_conditional(p: float, level: float) -> set[bool]:
    (system,) = CONDITIONAL.systems
    result = replace(system.results[0], p_value=p, parts=dict(system.results[0].parts) | {"adjusted": p})
    contest = Contest("a", "human", "trm meteor", 0.1, 0.05, 0.15, p)
    found = replace(CONDITIONAL, systems=(replace(system, results=(result,)),), contests=(contest,), level=level)
    verdict = judge_system(Evidence({"trm meteor": result}, 0.0, None, []), level=level)
    cell = metric_table(found).rows[0].cells[2]
    (pair,) = paired(found, found.contests)
    return {cell.marked, verdict.decision == "differs", pair.marked}


def item_is_labelled(k: int, n: int, level: float) -> bool:
    """The label of an item of which k of all n labellings are as extreme as the observed one."""
    values = np.zeros(n)
    values[:k] = 1.0
    return miss_of(Contrasts(values, -values, values), exact=True, level=level).kind not in ("same", "untested")


def in_huse(p: float, level: float) -> set[bool]:
    result = replace(HUSE.results[0], metric="huse", p_value=p)
    verdict = judge_scores([result], Corrected.of([result], level), level=level, n_resamples=10**9)
    return {verdict.decision == "differs", result_cell(result, p, level=level).marked}


@settings(max_examples=150, deadline=None)
@given(p_and_level())
@example((0.05, 0.95, 1, 20))
@example((0.05, math.nextafter(0.95, 1), 1, 20))
@example((0.1, 0.9, 1, 10))
def test_every_decision_is_the_same_next_to_the_limit(case: tuple[float, float, int, int]) -> None:
    p, level, k, n = case
    decisions = in_comparison(p, level) | in_conditional(p, level) | in_huse(p, level) | {item_is_labelled(k, n, level)}
    assert decisions == {is_significant(p, level)}


@given(st.floats(0.5, 0.999), st.floats(0, 1))
def test_what_is_clearly_on_one_side_of_the_limit(level: float, p: float) -> None:
    if abs(p - (1 - level)) > 1e-9:
        assert is_significant(p, level) == (p < 1 - level)
        assert in_comparison(p, level) == in_conditional(p, level) == in_huse(p, level) == {p < 1 - level}
