"""The ranking of candidates: by separable share, with ties, and what has no rank."""

from dataclasses import replace
from typing import Any

import pytest

from tests.report.builders import comparison
from tests.studies.compare.test_verdict import overall
from textassay.inference.effect_size import Separable
from textassay.studies.compare.ranking import Distance, outcome, ranking
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.finding import Finding, Verdict
from textassay.studies.sentences import sentence_of


def share(estimate: float, *, half: float = 0.04) -> Separable:
    """A separable share whose lower bound is this far below it."""
    return Separable(estimate, max(estimate - half, 0.0), 0.95, "", "clear", 0.1, None, "")


def judged(column: Column, decision: str, found: Separable | None) -> Column:
    """A candidate with this decision and separable share."""
    separable = found if decision in ("differs", "collapsed") else found and found.judged(differs=False)
    size = (
        [Finding("separable share", value=found.estimate or 0.0, ends=(found.low or 0.0, 1.0), grade="clear")]
        if found
        else []
    )
    details = size if decision in ("differs", "collapsed") else []
    verdict = Verdict.of(decision, details=details)
    return replace(column, verdict=verdict, overall=overall(0.001, separable=separable))


def ranked(**found: tuple[str, float | None]) -> Comparison:
    """A comparison of candidates with these decisions and separable shares, by name."""
    plain = comparison(list(found))
    columns = [
        judged(column, decision, None if value is None else share(value))
        for column, (decision, value) in zip(plain.candidates, found.values(), strict=True)
    ]
    return replace(plain, candidates=tuple(columns))


def order_of(found: Comparison) -> list[tuple[str, int | None]]:
    """Names and ranks in order."""
    return [(row.column.name, row.rank) for row in ranking(found).rows]


def said(found: Comparison) -> list[str]:
    """The sentences of the outcome."""
    return list(map(sentence_of, outcome(found, ranking(found))))


def test_the_smallest_separable_share_is_first() -> None:
    found = ranked(far=("differs", 0.6), near=("differs", 0.2), same=("same", 0.01))
    assert order_of(found) == [("same", 1), ("near", 2), ("far", 3)]
    assert ranking(found).closest == ("same",)
    assert found.best == "same"


def test_candidates_whose_shares_hardly_differ_are_tied() -> None:
    found = ranked(a=("differs", 0.20), b=("differs", 0.24), c=("differs", 0.30), d=("differs", 0.60))
    assert ranking(found).ties == ((1, 2), (2, 3))
    assert ranking(found).closest == ("a", "b")
    assert said(found) == ["all 4 candidates differ from the reference", "closest: a and b (tied)"]


def test_a_tie_needs_both_uncertainties() -> None:
    one, other = Distance(0.2, 0.05), Distance(0.28, 0.05)
    assert one.differs(other)
    assert not Distance(0.2, 0.07).differs(other)


def test_a_collapsed_candidate_is_behind_all_others() -> None:
    found = ranked(collapsed=("collapsed", 0.1), far=("differs", 0.9))
    assert order_of(found) == [("far", 1), ("collapsed", 2)]
    assert ranking(found).ties == ()
    assert said(found)[1:] == ["closest: far", "collapsed has collapsed"]


def test_where_all_collapsed_none_is_called_closest() -> None:
    found = ranked(a=("collapsed", 0.5), b=("collapsed", 0.9))
    assert said(found) == ["both candidates differ from the reference", "a and b have collapsed"]


def test_copies_and_untested_candidates_have_no_rank() -> None:
    found = ranked(few=("untested", 0.01), copies=("copied", 0.0), differs=("differs", 0.5))
    assert order_of(found) == [("differs", 1), ("copies", None), ("few", None)]
    assert said(found) == [
        "1 of 3 candidates differs from the reference",
        "closest: differs",
        "copies contains copies of the reference",
        "few was not tested",
    ]


def test_equal_shares_are_in_the_order_of_numbers_in_names() -> None:
    names = ("checkpoint-4500", "checkpoint-500", "checkpoint-50")
    found = ranked(**{name: ("differs", 0.5 + 0.001 * place) for place, name in enumerate(names)})
    assert [name for name, _ in order_of(found)] == ["checkpoint-50", "checkpoint-500", "checkpoint-4500"]


def test_estimates_alone_are_ranked_by_a_metric_of_both_aspects() -> None:
    plain = comparison(("near", "far"), metrics=[("cr", 2), ("cnd", 2)])
    found = replace(plain, candidates=tuple(replace(column, verdict=None) for column in plain.candidates[::-1]))
    order = ranking(found)
    assert order.by == "cnd-2"
    assert [row.column.name for row in order.rows] == ["near", "far"]
    assert said(found)[-1] == "estimates only: no test was run"


def test_without_any_distance_nothing_is_ranked() -> None:
    found = comparison(("b-10", "b-9"), metrics=[("cr", 2)])
    assert order_of(found) == [("b-9", None), ("b-10", None)]
    assert found.best is None


@pytest.mark.parametrize(
    ("decision", "value", "wanted"),
    [
        ("same", 0.01, "no difference between “model” and the reference was found"),
        (
            "differs",
            0.5,
            "“model” differs clearly from the reference: at least 46 % of its texts are unlike the reference's",
        ),
        ("differs", None, "“model” differs from the reference"),
        ("collapsed", 0.5, "“model” has collapsed"),
        ("untested", 0.5, "“model” was not tested against the reference"),
    ],
)
def test_the_outcome_of_one_candidate_names_it(decision: str, value: float | None, wanted: str) -> None:
    (sentence,) = said(ranked(model=(decision, value)))
    assert sentence.startswith(wanted)


@pytest.mark.parametrize(
    ("decisions", "wanted"),
    [
        (["same", "same"], "neither of 2 candidates was found to differ"),
        (["same"] * 3, "none of 3 candidates was found to differ"),
        (["same", "differs", "differs"], "1 of 3 candidates was not found to differ"),
        (["differs", "untested"], "1 of 2 candidates differs from the reference"),
        (["differs", "collapsed"], "both candidates differ from the reference"),
    ],
)
def test_the_outcome_counts_candidates(decisions: list[str], wanted: str) -> None:
    found: Any = {f"c{place}": (decision, 0.1 * place) for place, decision in enumerate(decisions)}
    assert said(ranked(**found))[0] == wanted
