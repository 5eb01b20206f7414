"""The gate of a comparison: three decisions, their bounds, and rules that make no sense."""

import math
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.laws import corpus
from textassay import Comparison, InputError, Sample, compare
from textassay.inference.intervals import CROSS_FITTED, separable_interval, separable_margins
from textassay.studies.finding import Finding
from textassay.studies.gate.document import line_of
from textassay.studies.gate.margin import Contamination, texts_needed
from textassay.studies.gate.result import Gate, sentence
from textassay.studies.gate.rules import GateRules
from textassay.studies.gate.study import read_contaminant
from textassay.studies.sentences import sentence_of

FAST: dict[str, Any] = {"n_resamples": 99, "tokenizer": "whitespace", "metrics": "distinct,repetition"}
OTHER = [f"v{i}" for i in range(40)]


def mixture(seed: int, size: int, share: float) -> list[str]:
    """Texts of which a share has other words."""
    rng = np.random.default_rng(seed)
    real, other = corpus(seed, size), corpus(seed + 500, size, words=OTHER)
    return [one if rng.random() >= share else another for one, another in zip(real, other, strict=True)]


def gate_of(candidates: Any, n: int = 400, **rules: Any) -> Gate:
    found = compare(corpus(1, n), candidates, gate=GateRules(**rules), **FAST).gate
    assert found is not None
    return found


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    candidates = {"same": corpus(2, 400), "other": mixture(3, 400, 0.5), "collapsed": corpus(4, 4) * 100}
    rules = GateRules(max_separable="20%", contaminant=corpus(9, 400, words=OTHER), fail_on="collapsed,format")
    return compare(corpus(1, 400), candidates, gate=rules, **FAST)


def decisions(gate: Gate, rule: str) -> list[str]:
    return [check.decision for check in gate.checks if check.rule.startswith(rule)]


def test_a_candidate_passes_or_fails_by_its_bounds(comparison: Comparison) -> None:
    gate = comparison.gate
    assert gate is not None
    assert decisions(gate, "max-separable") == ["pass", "fail", "fail"]
    assert decisions(gate, "fail-on collapsed") == ["pass", "pass", "fail"]
    assert (gate.decision, gate.exit_code) == ("fail", 1)
    inside, beyond = gate.of("same")[0].finding, gate.of("other")[0].finding
    assert inside.ends is not None
    assert beyond.ends is not None
    assert 0 == inside.ends[0] <= inside.value <= inside.ends[1] <= 0.2
    assert 0.2 < beyond.ends[0] <= beyond.value <= beyond.ends[1]


def test_the_gate_is_in_the_json_and_in_the_terminal(comparison: Comparison) -> None:
    plain = comparison.to_dict()["gate"]
    assert (plain["decision"], plain["exit_code"]) == ("fail", 1)
    assert "margin 20 %" in plain["checks"][0]["reason"]
    assert Comparison.from_json(comparison.to_json()) == comparison
    shown = str(comparison)
    assert "Gate: failed" in shown
    assert "┃" in shown
    assert "gate" not in compare(corpus(1, 40), corpus(2, 40), **FAST).to_dict()


def test_few_texts_are_undecided_with_the_number_needed() -> None:
    gate = gate_of({"few": corpus(2, 60)}, n=60, max_separable=0.1, contaminant=corpus(9, 400, words=OTHER))
    (check,) = gate.checks
    assert (check.decision, gate.decision, gate.exit_code) == ("undecided", "undecided", 3)
    assert 60 < check.finding.part("needed") < 5000
    assert "texts per sample would decide" in comparison_sentence(gate)
    # Nothing bounds the share of texts that no classifier finds.
    condition = "unlike the reference's, if a classifier recognises them as well as the texts of “contaminant”"
    assert condition in comparison_sentence(gate)
    finding = replace(check.finding, ends=(0.03, 0.2))
    assert "at least 3.0 % of its texts are unlike the reference's, at most 20 % if a classifier" in sentence_of(
        finding
    )


def test_a_contaminant_that_is_not_found_gives_no_number_of_texts() -> None:
    """The words of these texts are independent, so texts with their words in random order are like the others."""
    (check,) = gate_of(corpus(2, 100), n=100, max_separable=0.2).checks
    assert check.decision == "undecided"
    assert math.isnan(check.finding.part("needed"))
    assert "how many would decide is not known: with so few it does not clearly find them; these are" in sentence(check)
    # As many as the width of the bound alone takes, if there are not so many.
    assert "at least" not in sentence(check)
    few = replace(check.finding, n=(50, 50))
    assert "at least 55 texts per sample are needed to pass, and how many would decide is not known" in sentence_of(few)


@pytest.mark.parametrize(
    ("found", "error", "is_found"), [(0.05, 0.02, True), (0.05, 0.04, False), (-0.02, 0.01, False)]
)
def test_a_contaminant_is_found_if_its_mean_is_clearly_above_0(found: float, error: float, *, is_found: bool) -> None:
    contamination = Contamination(0.1, found, error, 20, 200, "")
    assert contamination.is_found == is_found
    assert (texts_needed(0.0, (0.05, 0.05), contamination, level=0.95, n=200) is not None) == is_found


def test_groups_are_counted_where_there_are_groups() -> None:
    """Two texts per group: the numbers of a decision are those of groups."""
    real, few = (
        Sample.of(corpus(seed, 120), groups=[f"{seed}-{index // 2}" for index in range(120)]) for seed in (1, 2)
    )
    rules = GateRules(max_separable=0.1, contaminant=corpus(9, 400, words=OTHER))
    gate = compare(real, {"few": few}, gate=rules, **FAST).gate
    assert gate is not None
    (check,) = gate.checks
    assert check.finding.n == (60, 60)
    assert check.finding.part("needed") > 60
    assert "groups per sample would decide; these are 60 and 60" in sentence(check)
    least = compare(real, {"few": few.take(np.arange(30))}, gate=rules, **FAST).gate
    assert least is not None
    assert "15 and 60 groups are too few for a classifier: it needs at least 20 groups" in sentence(least.checks[0])


def test_a_candidate_that_is_found_more_than_the_contaminant_is_never_promised_a_pass() -> None:
    """A share of 0.15 where a tenth of the contaminant makes 0.05: with more texts it is found more, and fails."""
    contamination = Contamination(0.2, 0.08, 0.001, 20, 200, "")
    needed = texts_needed(0.15, (0.08, 0.08), contamination, level=0.95, n=200)
    assert needed is not None
    grown = 0.15 * contamination.learned(needed) / contamination.learned(200)
    assert grown > 0.2
    assert grown > 0.2 * contamination.learned(needed)


def test_a_lower_bound_that_rounds_to_the_margin_is_stated_as_more() -> None:
    finding = Finding("beyond margin", value=0.2, ends=(0.0504, 0.3), baseline=0.05)
    assert sentence_of(finding).startswith("more than 5.0 % of its texts are unlike the reference's")


@pytest.mark.parametrize(("rule", "words"), [("copied", "are copies of the reference"), ("collapsed", "is a collapse")])
def test_a_rule_in_question_is_a_sentence(rule: str, words: str) -> None:
    assert f"not known whether there {words}" in sentence_of(Finding("rule undecided", names=(rule,)))


def test_a_contaminant_has_the_name_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "news.txt"
    path.write_text("\n".join(corpus(9, 400, words=OTHER)), encoding="utf-8")
    for contaminant, name in ((str(path), "news"), (path, "news"), (corpus(9, 400, words=OTHER), "contaminant")):
        (check,) = gate_of(corpus(2, 60), n=60, max_separable=0.1, contaminant=contaminant).checks
        assert check.finding.text == name


def comparison_sentence(gate: Gate) -> str:
    return str(gate.to_dict()["checks"][0]["reason"])


def test_a_margin_below_what_chance_gives_is_explained() -> None:
    (check,) = gate_of(corpus(2, 100), n=100, max_separable="2%", contaminant=corpus(9, 400, words=OTHER)).checks
    assert check.decision == "undecided"
    assert check.finding.part("spread") > 0.02
    assert "below what two samples of one source of this size may differ by" in sentence(check)
    (wide,) = gate_of(corpus(2, 100), n=100, max_separable="60%", contaminant=corpus(9, 400, words=OTHER)).checks
    assert "spread" not in wide.finding.parts


def test_a_contaminant_like_the_reference_gives_no_upper_bound() -> None:
    """Other texts of the same source: no classifier finds them, so nothing can pass."""
    (check,) = gate_of(corpus(2, 100), n=100, max_separable="20%", contaminant=corpus(9, 400)).checks
    assert check.decision == "undecided"
    assert check.finding.ends == (0.0, 1.0)
    assert "no upper bound" in sentence(check)
    assert "20 % of the texts of “contaminant” among them, a classifier separates" in sentence(check)


def test_what_is_undecided_can_count_as_passed_or_failed() -> None:
    few = {"few": corpus(2, 15)}
    for wanted, code in (("pass", 0), ("fail", 1)):
        gate = gate_of(few, n=15, max_separable=0.1, undecided=wanted)
        assert (gate.checks[0].decision, gate.decision, gate.exit_code) == ("undecided", wanted, code)
    assert "too few for a classifier" in comparison_sentence(gate)


def test_a_copy_of_the_reference_is_within_any_margin_it_can_show_but_copied() -> None:
    gate = gate_of(
        {"copy": corpus(1, 400)}, max_separable=0.2, contaminant=corpus(9, 400, words=OTHER), fail_on="copied"
    )
    assert [check.decision for check in gate.checks] == ["pass", "fail"]


def test_the_margins_of_a_share_surround_it_and_the_lower_one_is_that_of_the_interval() -> None:
    parts = {"candidate_rate": 0.3, "reference_rate": 0.1, "correlation": 0.0, "n_units": 200.0}
    parts |= {"candidate_effective": 200.0, "reference_effective": 200.0}
    down, up = separable_margins(parts, 0.95)
    assert separable_interval(parts, 0.95).low == pytest.approx(0.2 - down)
    error = CROSS_FITTED * math.sqrt(0.3 * 0.7 / 200 + 0.1 * 0.9 / 200)
    assert down == pytest.approx(1.65 * error, rel=0.1)
    assert up == pytest.approx(1.65 * error, rel=0.1)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"max_separable": 0}, "no number of texts shows that nothing differs"),
        ({"max_separable": "100%"}, "every candidate is within 100%"),
        ({"max_separable": "10"}, "such as 10%"),
        ({"max_separable": "a tenth"}, "such as 10%"),
        ({"fail_on": "worse"}, "differs, collapsed, copied, format"),
        ({"max_separable": 0.1, "undecided": "maybe"}, "wanted pass or fail"),
        ({"contaminant": ["a"]}, "given without a margin"),
        ({"margins": {"bleu-4": 0.1}}, "given without a baseline"),
        ({"fail_on": "differs", "aa": 1}, "wanted 2 to 1,000 splits"),
        ({"aa": 20}, "given without a rule"),
        ({"max_separable": 0.1, "contaminant": corpus(1, 40)}, "of its texts are in the reference"),
        ({"max_separable": 0.5, "contaminant": ["other words"] * 3}, "3 texts; this margin replaces"),
    ],
)
def test_rules_without_sense_are_refused(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(corpus(1, 40), corpus(2, 40), gate=GateRules(**rules), **FAST)


def test_a_gate_needs_tests() -> None:
    with pytest.raises(InputError, match="a gate decides by intervals and tests"):
        compare(corpus(1, 40), corpus(2, 40), gate=GateRules(fail_on="differs"), n_resamples=0)


def test_what_was_not_looked_for_does_not_pass() -> None:
    """Repeats need their metric and the baseline, formats the baseline: without them a collapse would pass."""
    same = ["the same text every time."] * 120
    rules = GateRules(fail_on="collapsed,format")
    cases: tuple[dict[str, Any], ...] = ({"explain": False}, {"metrics": "bleu"}, {})
    found = [compare(corpus(1, 120), same, gate=rules, **(FAST | options)).gate for options in cases]
    shown = [[check.decision for check in gate.checks] for gate in found if gate is not None]
    assert shown == [["undecided", "undecided"], ["undecided", "fail"], ["fail", "fail"]]
    assert found[1] is not None
    assert sentence(found[1].checks[0]) == "not known whether there is a collapse: wanted repetition among the metrics"


def test_many_repeats_without_a_test_do_not_pass() -> None:
    """Five texts of which four repeat: too few for any test."""
    (check,) = gate_of(["a b c", "a b c", "d e f", "d e f", "g h"], n=8, fail_on="collapsed").checks
    assert check.decision in ("undecided", "fail")


def test_long_texts_in_a_contaminant_take_no_memory_for_the_others() -> None:
    """As arrays of fixed width, all texts would have the length of the longest one."""
    real = Sample.of([*corpus(1, 20_000), "word " * 20_000])
    tracemalloc.start()
    assert read_contaminant(["word " * 20_000, *corpus(2, 200)], real, None) is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_what_is_drawn_follows_from_the_finding_and_not_from_the_words_of_the_rule(comparison: Comparison) -> None:
    assert comparison.gate is not None
    check = comparison.gate.of("same")[0]
    assert line_of(replace(check, rule="another name")) == line_of(check) != ""
    assert line_of(comparison.gate.of("same")[1]) == ""


@pytest.mark.parametrize(("low", "stated"), [(0.0004, "0.04 %"), (0.00003, "0 %"), (0.0999, "9.9 %")])
def test_a_small_lower_bound_is_stated_as_one(low: float, stated: str) -> None:
    finding = Finding("beyond margin", value=0.2, ends=(low, 0.3), baseline=0.0)
    assert sentence_of(finding).startswith(f"at least {stated} of its texts are unlike the reference's")
