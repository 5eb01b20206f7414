"""Verdicts of conditional studies: each sentence from its own test, none against another, and no claim from nothing."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.laws import corpus
from textassay import Item, ItemSet, Result, conditional
from textassay.inference.items.combined_tests import MissTests
from textassay.inference.items.misses import Contrasts, miss_of
from textassay.inference.items.summary import Gap
from textassay.inference.p_values import is_significant
from textassay.metrics.registry import Aspect
from textassay.studies.conditional.tables import p_at_most
from textassay.studies.conditional.verdict import Evidence, judge_system
from textassay.studies.finding import NO_TEST, Finding, Verdict


def result(metric: str = "trm", *, p: float | None = 0.5, adjusted: float = math.nan, variant: str = "split") -> Result:
    parts = {"adjusted": adjusted, "draws": 9999.0, "z": 1.0, "chance": 0.6}
    options = {"distance": "meteor"} | ({"variant": variant} if metric == "trm" else {})
    aspect: Aspect = "both" if metric == "trm" else "quality"
    return Result(metric, options, 1.2, "lower", aspect, None, p, parts, None, "", 0.0, 10)


def judged(
    adjusted: float,
    *,
    smallest: float = 1e-4,
    misses: MissTests | None = None,
    people: float = 1.0,
    gap: float = 0.3,
    one_answer: tuple[int, int] = (0, 0),
) -> Verdict:
    results = {"score meteor": result("score", adjusted=1.0), "trm meteor": result(adjusted=adjusted)}
    contests = [(Gap(gap, 0.1, 0.5, people, "s", "human", label), people) for label in results]
    return judge_system(Evidence(results, smallest, misses, contests, one_answer), level=0.95)


def test_nothing_found() -> None:
    assert judged(0.051) == Verdict.of("same", Finding("same over items"))
    assert judged(0.051).reasons == ("no difference from the references found",)


def test_significant_at_the_level_itself() -> None:
    found = judged(0.05)
    assert found.decision == "differs"
    assert found.reasons == (
        "distributed differently from the references (trm meteor 1.20, by chance 0.600, adjusted p = 0.050)",
    )


@pytest.mark.parametrize(("people", "level"), [(0.01, "differs"), (0.0101, "same"), (0.2, "same")])
def test_people_are_a_second_look_at_a_fifth_of_the_error_rate(people: float, level: str) -> None:
    found = judged(0.9, people=people)
    assert found.decision == level
    assert ("no difference" in found.sentence) == (level == "same")
    assert any("than that of people" in reason for reason in found.reasons) == (level == "differs")


def test_beside_a_difference_people_are_judged_at_the_level() -> None:
    assert "score meteor lower than that of people (by 0.300)" in judged(0.01, people=0.05, gap=-0.3).reasons
    assert "people" not in judged(0.01, people=0.051, gap=-0.3).sentence


@pytest.mark.parametrize(
    ("misses", "kinds"),
    [
        (MissTests(1.0, 0.2, 0.05, 1.0, 1.0), ["too narrow"]),
        (MissTests(1.0, 0.2, 0.051, 1.0, 1.0), []),
        (MissTests(-1.0, 0.2, 0.01, 1.0, 1.0), ["too wide"]),
        (MissTests(0.1, 1.0, 0.01, 0.01, 1.0), ["off target"]),
        (MissTests(0.6, 1.0, 0.01, 0.01, 1.0), ["too narrow", "off target"]),
        (MissTests(0.1, -1.0, 1.0, 1.0, 0.01), ["too close"]),
        (None, []),
    ],
)
def test_directions_have_tests_of_their_own(misses: MissTests | None, kinds: list[str]) -> None:
    *directions, difference = judged(0.01, misses=misses).findings
    assert [finding.kind for finding in directions] == kinds
    assert difference.kind == "differs over items"
    # Without a difference there is no direction.
    assert judged(0.9, misses=misses).decision == "same"


@pytest.mark.parametrize(
    ("n", "several", "decision"), [(40, 80, "collapsed"), (39, 80, "same"), (2, 2, "collapsed"), (1, 1, "same")]
)
def test_one_answer_on_half_of_the_items_is_a_collapse(n: int, several: int, decision: str) -> None:
    """A single item may have one answer by chance: exchanged texts of an item have it in up to a fifth of cases."""
    assert judged(0.9, one_answer=(n, several)).decision == decision


def test_a_collapse_is_named_first_and_has_no_direction() -> None:
    off_target = MissTests(0.1, 1.0, 0.01, 0.01, 1.0)
    found = judged(0.01, misses=off_target, one_answer=(79, 80))
    assert [finding.kind for finding in found.findings] == ["one answer", "differs over items"]
    assert found.reasons[0] == "one answer: all candidates are the same text on 79 of 80 items"
    assert judged(0.9, one_answer=(80, 80)).reasons == (
        "one answer: all candidates are the same text on 80 of 80 items",
    )


def test_what_could_not_be_found_is_untested() -> None:
    assert judged(0.9, smallest=0.1).decision == "untested"
    assert judged(0.9, smallest=0.05).decision == "same"
    alone = Evidence({"score meteor": result("score", adjusted=0.9)}, 1e-4, None, [])
    assert judge_system(alone, level=0.95).decision == "untested"
    nothing = Evidence({"trm meteor": result(p=None)}, 1.0, None, [])
    assert judge_system(nothing, level=0.95) == Verdict.of("untested", NO_TEST)


def test_p_values_at_the_floor_are_bounds() -> None:
    assert p_at_most(result(p=1e-4)) == "≤ 0.0001"
    assert p_at_most(result(p=2e-4)) == "<0.001"
    assert p_at_most(result(p=0.03)) == "0.030"
    assert p_at_most(replace(result(p=0.001), parts={})) == "0.001"


@pytest.mark.parametrize(("n", "m", "kind"), [(2, 3, "untested"), (3, 3, "untested"), (4, 4, "same"), (5, 6, "same")])
def test_an_item_that_cannot_be_significant_is_untested(n: int, m: int, kind: str) -> None:
    """With 3 and 3 texts there are 20 labellings, but sides that change places have the same statistic."""
    items = [Item("one", tuple(corpus(3, n + m)[n:]), {"s": tuple(corpus(3, n + m)[:n])})]
    (outcome,) = conditional(items, metrics=["trm:distance=edit"]).systems[0].items
    assert outcome.miss.p_value > 0.05
    assert outcome.miss.kind == kind


def test_a_significant_item_is_never_called_same() -> None:
    values = np.zeros(100)
    values[0] = 1.0
    for candidates, references in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        found = miss_of(Contrasts(candidates * values, references * values, values), exact=True, level=0.95)
        assert is_significant(found.p_value, 0.95)
        assert found.kind not in ("same", "untested")


def test_real_captions_have_one_consistent_verdict(data: Path) -> None:
    """One caption per image of a weak model: the score is far below that of people, and the test says so."""
    found = conditional(data / "captions" / "coco_val_sample.json", metrics=["score:distance=meteor"])
    (system,) = found.systems
    assert system.results[0].p_value == 1e-4
    assert system.results[0].parts["z"] < -15
    assert system.verdict is not None
    assert system.verdict.decision == "differs"
    assert "no difference" not in system.verdict.sentence
    assert any("lower than that of people" in reason for reason in system.verdict.reasons)
    assert system.count("same") == 0


@pytest.mark.slow
def test_null_sets_of_few_texts_are_mostly_called_the_same() -> None:
    """All sentences together are wrong in few sets: the tests of the table, and the second look."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        items = []
        for place in range(12):
            texts = rng.permutation(corpus(100 * seed + place, 9)).tolist()
            items.append(Item(str(place), tuple(texts[:5]), {"s": tuple(texts[5:])}))
        found = conditional(ItemSet.of(items), distances=["edit"], n_resamples=99, seed=seed)
        verdict = found.systems[0].verdict
        assert verdict is not None
        wrong += verdict.decision == "differs"
    # 6 % at most, and three standard errors; over 300 sets it was 7.3 %, and 6 % for the tests of the table alone.
    assert wrong <= 9, wrong
