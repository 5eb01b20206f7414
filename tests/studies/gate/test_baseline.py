"""No worse than a baseline: texts and saved results, directions and margins, and what does not compare."""

from pathlib import Path
from typing import Any

import pytest

from tests.laws import corpus
from tests.studies.gate.test_gate import FAST, mixture
from textassay import Comparison, InputError, compare
from textassay.studies.gate.result import Check, Gate
from textassay.studies.gate.rules import GateRules

OPTIONS = FAST | {"metrics": "cnd,cr,distinct,repetition"}
WIDE = {"cnd": 0.01, "cr": 0.005, "distinct": 0.2, "repetition": 0.2}


def beside(candidate: list[str], baseline: Any, margins: dict[str, float] | None = None, **options: Any) -> Gate:
    rules = GateRules(no_worse_than=baseline, margins=WIDE if margins is None else margins)
    found = compare(corpus(1, 200), {"new": candidate}, gate=rules, **(OPTIONS | options)).gate
    assert found is not None
    return found


def by_metric(gate: Gate) -> dict[str, Check]:
    return {check.rule.removeprefix("no-worse-than ").partition("-")[0]: check for check in gate.checks}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "old.json"
    path.write_text(compare(corpus(1, 200), {"old": corpus(2, 200)}, **OPTIONS).to_json(), encoding="utf-8")
    return path


def test_a_second_sample_of_the_baseline_is_no_worse() -> None:
    gate = beside(corpus(3, 200), corpus(2, 200))
    assert gate.decision == "pass"
    assert set(by_metric(gate)) == {"cnd", "cr", "distinct", "repetition"}
    for check in gate.checks:
        ends = check.finding.ends
        assert ends is not None
        assert ends[0] <= check.finding.value <= ends[1] <= check.finding.baseline


def test_other_words_are_worse_in_each_metric_by_its_own_direction() -> None:
    gate = beside(mixture(3, 200, 0.7), corpus(2, 200), {"cnd": 0.0005, "cr": 0.0005, "distinct": 0.01})
    found = by_metric(gate)
    # cnd is lower for better texts, cr higher; the difference is above 0 in both if the candidate is worse.
    assert {name: found[name].decision for name in ("cnd", "cr")} == {"cnd": "fail", "cr": "fail"}
    assert found["cnd"].finding.value > 0 < found["cr"].finding.value
    assert gate.exit_code == 1


def test_a_better_candidate_is_no_worse_although_it_differs() -> None:
    gate = beside(corpus(3, 200), mixture(2, 200, 0.7), {})
    assert by_metric(gate)["cnd"].decision == "pass"
    assert by_metric(gate)["cnd"].finding.value < 0


def test_few_texts_leave_it_open_and_name_a_number() -> None:
    gate = beside(corpus(3, 40), corpus(2, 40), {"cnd": 0.0025}, metrics="cnd")
    (check,) = gate.checks
    assert check.decision == "undecided"
    assert check.finding.part("needed") > 40
    assert "would decide" in str(gate.to_dict()["checks"][0]["reason"])


def test_values_beside_a_smaller_sample_are_of_as_many_texts() -> None:
    """CND falls with the number of texts, so a value of 200 beside one of 60 would look better than it is."""
    gate = beside(corpus(3, 200), corpus(2, 60), size="all")
    finding = by_metric(gate)["cnd"].finding
    assert finding.part("candidate") - finding.part("baseline") == pytest.approx(finding.value)
    assert finding.n == (60,)


def test_the_same_texts_are_never_worse() -> None:
    gate = beside(corpus(2, 60), corpus(2, 60), {"cnd": 1e-9}, metrics="cnd")
    assert [check.decision for check in gate.checks] == ["pass"]


def test_saved_results_are_a_baseline(saved: Path) -> None:
    gate = beside(corpus(3, 200), str(saved))
    assert gate.decision == "pass"
    assert set(by_metric(gate)) == {"cnd", "cr", "distinct", "repetition"}
    worse = beside(mixture(3, 200, 0.7), str(saved), {"cnd": 0.0005, "cr": 0.0005})
    assert by_metric(worse)["cnd"].decision == "fail"
    # Without the folds of the baseline the noise of the reference does not cancel: bounds are wider.
    paired = by_metric(beside(corpus(3, 200), corpus(2, 200)))["cnd"].finding.ends
    apart = by_metric(gate)["cnd"].finding.ends
    assert paired is not None
    assert apart is not None
    assert apart[1] - apart[0] > paired[1] - paired[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference": corpus(8, 200)}, "wanted the same reference"),
        ({"tokenizer": "words"}, "tokenizer whitespace, here words"),
        ({"metrics": "self_bleu"}, "no metric with an interval in both"),
    ],
)
def test_results_that_do_not_compare_are_refused(changes: dict[str, Any], message: str, saved: Path) -> None:
    options = OPTIONS | changes
    reference = options.pop("reference", corpus(1, 200))
    with pytest.raises(InputError, match=message):
        compare(reference, corpus(3, 200), gate=GateRules(no_worse_than=str(saved)), **options)


def test_results_of_another_version_or_without_intervals_are_refused(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    version = Comparison.from_json(saved.read_text(encoding="utf-8")).settings["version"]
    other.write_text(saved.read_text(encoding="utf-8").replace(f'"{version}"', '"0.4.0"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"made by textassay 0\.4\.0, this is"):
        beside(corpus(3, 200), str(other))
    bare = compare(corpus(1, 200), {"old": corpus(2, 200)}, **(OPTIONS | {"n_resamples": 0}))
    other.write_text(bare.to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="measured with intervals"):
        beside(corpus(3, 200), str(other))


def test_a_margin_for_a_metric_that_is_not_measured_is_refused() -> None:
    with pytest.raises(InputError, match="a margin for 'mauve'"):
        beside(corpus(3, 60), corpus(2, 60), {"mauve": 0.1}, metrics="cnd")


def test_the_rules_are_counted_on_splits_of_the_reference() -> None:
    rules = GateRules(max_separable="60%", fail_on="differs", aa=4)
    gate = compare(corpus(1, 200), {"far": mixture(3, 80, 0.9)}, gate=rules, **FAST).gate
    assert gate is not None
    assert gate.decision == "fail"
    assert gate.aa is not None
    assert (gate.aa.n, gate.aa.total) == (80, 4)
    assert gate.aa.failed <= 1
    assert "A/A check: of 4 splits" in gate.aa.sentence
