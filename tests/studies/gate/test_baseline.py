"""No worse than a baseline: texts and saved results, directions and margins, and what does not compare."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.laws import corpus
from tests.studies.gate.test_gate import FAST, mixture
from textassay import Comparison, InputError, Sample, compare
from textassay.inference.intervals import Replicates
from textassay.inference.result import Interval, Result
from textassay.studies.gate import study as gate_study
from textassay.studies.gate.baseline import (
    Combine,
    Measurement,
    Values,
    by_intervals,
    by_jackknife,
    check_values,
    is_results,
    loss_difference,
)
from textassay.studies.gate.result import Check, Gate, sentence
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


def test_a_metric_without_a_value_or_bounds_is_undecided_with_the_reason() -> None:
    short = ["two words", "other words"] * 50
    (check,) = beside(short, corpus(2, 200), {}, metrics="distinct:n=4").checks
    assert check.decision == "undecided"
    assert "no value for the candidate" in str(sentence(check))
    gate = beside(corpus(3, 200), corpus(2, 200), {"distinct": 0.2}, metrics="distinct,copying", train=corpus(5, 200))
    found = by_metric(gate)
    assert (found["distinct"].decision, found["copying"].decision) == ("pass", "undecided")
    assert "no jackknife" in sentence(found["copying"])
    assert gate.exit_code == 3


def test_a_metric_of_saved_results_without_an_interval_is_undecided(saved: Path) -> None:
    found = by_metric(beside(corpus(3, 200), saved, {"cnd": 0.01}, metrics="cnd,entropy"))
    assert {name: check.decision for name, check in found.items()} == {"cnd": "pass", "entropy": "undecided"}
    assert "not among the baseline's results" in sentence(found["entropy"])


def test_a_path_to_saved_results_is_no_path_to_texts(saved: Path) -> None:
    assert is_results(saved)
    assert beside(corpus(3, 200), saved).checks == beside(corpus(3, 200), str(saved)).checks


def test_closer_to_real_text_is_judged_on_as_many_texts(tmp_path: Path) -> None:
    """Distinct-2 of 1,000 texts is far below that of 100 texts of the same source."""
    options = {"metrics": "distinct", "size": "all", "encoder": None}
    reference, old, new = corpus(1, 100), corpus(2, 1000), corpus(3, 1000)
    path = tmp_path / "old.json"
    path.write_text(compare(reference, {"old": old}, **(FAST | options)).to_json(), encoding="utf-8")
    for baseline in (old, path):
        rules = GateRules(no_worse_than=baseline)
        found = compare(reference, {"new": new}, gate=rules, **(FAST | options))
        assert found.gate is not None
        (check,) = found.gate.checks
        assert check.finding.n == (found.real.results[0].n,)
        assert check.finding.part("candidate") == found["new"].at_baseline_size["distinct-2"].estimate
        assert abs(check.finding.part("candidate") - found.real.results[0].estimate) < 0.1


def measurement(value: float, error: float, n: int = 200) -> tuple[Result, Replicates]:
    """A value with a jackknife and an interval of this standard error."""
    folds = np.tile((-1.0, 1.0), 20)
    folds *= error / math.sqrt(39 / 40 * float((folds**2).sum()))
    low, high = value - 1.96 * error, value + 1.96 * error
    interval = Interval(low, high, 0.95, "jackknife")
    result = Result("distinct", {}, value, "closer", "diversity", interval, None, {}, None, "", 0.0, n)
    return result, Replicates((value + folds,))


def with_jackknife(candidate: Measurement, baseline: Measurement, real: Measurement) -> Combine:
    return by_jackknife(Values("distinct-2", candidate, baseline, real))


def with_intervals(*sides: Measurement) -> Combine:
    return by_intervals(*(result for result, _ in sides))


@pytest.mark.parametrize("combined", [with_jackknife, with_intervals])
@pytest.mark.parametrize(
    ("candidate", "baseline", "real_error"), [(3.0, 0.0, 0.5), (3.0, 0.0, 0.0), (4.0, -1.0, 1.0), (-6.0, 3.0, 1.0)]
)
def test_closer_passes_at_the_margin_as_often_as_the_level_allows(
    combined: Callable[..., Combine], candidate: float, baseline: float, real_error: float
) -> None:
    """A candidate that is worse by exactly the margin passes, and one worse by it fails, in at most 5 % of gates."""
    margin, rng, runs = abs(candidate) - abs(baseline), np.random.default_rng(1), 2000
    passed = failed = 0
    for mine, theirs, real in rng.standard_normal((runs, 3)):
        sides = (
            measurement(candidate + mine, 1),
            measurement(baseline + theirs, 1),
            measurement(real * real_error, real_error),
        )
        found = loss_difference("closer", combined(*sides), 0.95)
        passed += found.high <= margin
        failed += found.low > margin
    assert passed / runs <= 0.065
    assert failed / runs <= 0.065


def test_where_signs_are_not_clear_the_noise_of_real_text_cancels() -> None:
    sides = measurement(0.3, 0.01), measurement(0.3, 0.01), measurement(0.3, 0.01)
    found = loss_difference("closer", with_intervals(*sides), 0.95)
    # The error of a difference of two values, not one with twice real text's as well.
    assert found.high == pytest.approx(1.645 * math.sqrt(2) * 0.01, rel=0.01)
    assert found.low == pytest.approx(-found.high)


def test_no_repeats_in_a_few_texts_do_not_show_that_there_are_none() -> None:
    gate = beside(corpus(3, 60), corpus(2, 60), {"repetition": 0.02}, metrics="repetition")
    (check,) = gate.checks
    assert check.decision == "undecided"
    assert check.finding.ends is not None
    assert check.finding.ends[1] > 0.02
    assert "real text 0;" in sentence(check)


def test_a_margin_that_falls_with_the_number_of_texts_gives_no_number() -> None:
    (check,) = beside(corpus(3, 100), corpus(2, 100), {}, metrics="cnd").checks
    assert check.decision == "undecided"
    assert math.isnan(check.finding.part("needed"))
    assert "a tenth of the baseline's value, changes with their number" in sentence(check)
    assert "--margin cnd-2=N" in sentence(check)


def test_values_of_other_numbers_of_texts_do_not_compare() -> None:
    real = measurement(0.4, 0.01, 100)
    values = Values("distinct-2", measurement(0.1, 0.01, 1000), measurement(0.1, 0.01, 1000), real)
    (check,) = check_values("new", [values], {}, level=0.95, n_candidates=1)
    assert check.decision == "undecided"
    assert "values of 100 and 1,000 texts do not compare" in sentence(check)


def test_splits_have_the_groups_of_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with prompts that repeat: grouped in the gate and in the check, or independent in both."""
    real, model = (
        Sample.of(corpus(seed, 240), contexts=pa.array([f"prompt {index // 4}" for index in range(240)]))
        for seed in (1, 2)
    )
    designs: list[str | None] = []

    def gated(found: Comparison, *args: Any, **options: Any) -> Comparison:
        overall = found.candidates[0].overall
        designs.append(None if overall is None else overall.design)
        return gate_study.gated(found, *args, **options)

    monkeypatch.setattr("textassay.studies.compare.study.gated", gated)
    for pair in (None, False):
        gate = compare(real, model, gate=GateRules(fail_on="differs", aa=2), pair=pair, **FAST).gate
        assert gate is not None
        assert gate.aa is not None
        assert gate.aa.n == 120
    assert designs[1:3] == ["grouped", "grouped"]
    assert designs[3:] == ["independent"] * 3


def test_splits_are_told_as_progress() -> None:
    class Told:
        def __init__(self) -> None:
            self.steps: dict[str, int] = {}

        def start(self, what: str, steps: int) -> None:
            self.what = what
            self.steps[f"of {what}"] = steps

        def step(self, steps: int) -> None:
            self.steps[self.what] = self.steps.get(self.what, 0) + steps

    told = Told()
    compare(corpus(1, 80), corpus(2, 80), gate=GateRules(fail_on="copied", aa=3), progress=told, **FAST)
    assert told.steps["A/A check"] == told.steps["of A/A check"] == 3


def test_splits_without_the_vectors_of_the_gate_are_noted() -> None:
    rules = GateRules(fail_on="differs", aa=2)
    gate = compare(corpus(1, 80), corpus(2, 80), gate=rules, encoder="lsa", **FAST).gate
    assert gate is not None
    assert any("without the vectors" in note for note in gate.notes)
