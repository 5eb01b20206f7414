"""The number of texts that a gate needs: trials, scaling, pilots, groups, and margins that are too small."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.laws import corpus
from tests.studies.gate.test_gate import OTHER, mixture
from textassay import InputError, Sample, SizePlan, plan, read_results
from textassay.studies.gate.margin import Contamination
from textassay.studies.plan.study import _needed, _until_near
from textassay.studies.plan.trials import Trials
from textassay.studies.sentences import sentence_of

FAST: dict[str, Any] = {"tokenizer": "whitespace", "n_runs": 20, "contaminant": corpus(9, 2000, words=OTHER)}


@pytest.fixture(scope="module")
def planned() -> SizePlan:
    return plan(corpus(1, 600), margin="30%", **FAST)


def trials(n: int, found: float, values: list[float], width: float, error: float = 0.0) -> Trials:
    contamination = Contamination(0.1, found, error, 40, n, "news")
    spread = np.full(len(values), width)
    return Trials(n, np.array(values), spread, spread, contamination, 0.95, np.zeros(len(values)))


def test_trials_pass_where_their_upper_bound_is_below_what_is_found() -> None:
    made = trials(100, 0.08, [-0.02, 0.0, 0.02, 0.3], 0.065)
    assert made.decided() == (0.5, 0.25)


def test_more_texts_narrow_the_bounds_and_find_more() -> None:
    made = trials(100, 0.05, [-0.02, 0.02] * 20, 0.08)
    shares = [made.decided(n)[0] for n in (100, 200, 400, 1600)]
    assert shares == sorted(shares)
    needed = made.needed(0.8)
    assert needed is not None
    # 0.02 and 0.08 shrink with the root; 0.05 of 0.1 found by 100 texts is n / (n + 100) of it by n texts.
    narrowest = math.sqrt(100 / needed) * 0.1
    assert narrowest == pytest.approx(0.1 * needed / (needed + 100), rel=0.02)


def test_a_plan_names_a_number_and_what_was_measured(planned: SizePlan) -> None:
    assert planned.needed is not None
    assert 20 < planned.needed < 300
    assert (planned.unit, planned.available) == ("text", 300)
    last = planned.rounds[-1]
    assert last.n_trials == 20
    assert last.failed == 0
    shares = [each.passed for each in planned.curve]
    assert shares[0] < 0.8 < shares[-1]
    assert "texts per sample" in str(planned)


def test_a_plan_is_read_back(planned: SizePlan, tmp_path: Any) -> None:
    path = tmp_path / "plan.json"
    path.write_text(planned.to_json(), encoding="utf-8")
    assert read_results(path) == planned
    assert planned.to_csv().splitlines()[0] == "n,passed,failed"
    assert f"{planned.needed:,}" in planned.to_markdown()


def test_a_pilot_far_from_the_reference_needs_few_texts() -> None:
    found = plan(corpus(1, 120), mixture(2, 120, 0.7), margin=0.1, **FAST)
    assert found.needed is not None
    assert found.needed < 100
    assert found.rounds[-1].failed > 0.8
    # That few gates pass is what a pilot so far away needs no warning of.
    assert not any(finding.kind == "margin below spread" for finding in found.verdict.findings)


def test_a_plan_is_never_below_a_size_at_which_too_few_gates_were_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot of which 300 texts show a clear difference, and 60 show none: scaling alone asks for too few."""

    def decided(made: Trials, n: int | None = None) -> tuple[float, float]:
        # Scaled from a large sample, much smaller ones seem enough.
        if n is not None and made.n > 150:
            return 0.0, float(n >= 30)
        size = made.n if n is None else n
        return 0.0, min(max((size - 50) / 200, 0.0), 1.0)

    monkeypatch.setattr(Trials, "decided", decided)
    made = _until_near(lambda n, count: trials(n, 0.1, [0.3] * count, 0.1), power=0.8, n_runs=100, available=300)
    sizes = [each.n for each in made]
    assert len(sizes) == len(set(sizes)) + (sizes[-1] == sizes[-2])
    needed = _needed(made, 0.8)
    assert needed is not None
    assert 190 <= needed <= 230


def test_prompts_that_repeat_are_groups_as_in_a_gate() -> None:
    prompts = pa.array([f"prompt {index // 2}" for index in range(240)])
    real = Sample.of(corpus(1, 240), name="real", contexts=prompts)
    found = plan(real, margin="40%", **FAST)
    assert (found.unit, found.available) == ("group", 60)
    assert found.notes[0].startswith("grouped by prompt: texts of one prompt are not independent")
    single = Sample.of(corpus(1, 120), name="real", contexts=prompts.take(np.arange(0, 240, 2)))
    assert plan(single, margin="40%", **FAST).unit == "text"


def test_groups_are_counted_where_there_are_groups() -> None:
    texts = corpus(1, 120)
    real = Sample.of(texts, name="real", groups=[str(index // 2) for index in range(120)])
    found = plan(real, margin="40%", **FAST)
    assert (found.unit, found.available) == ("group", 30)
    assert "groups per sample" in str(found)


def test_a_margin_below_chance_is_pointed_out() -> None:
    found = plan(corpus(1, 120), margin="2%", **FAST)
    kinds = {finding.kind for finding in found.verdict.findings}
    assert "margin below spread" in kinds
    assert "may differ by" in str(found)
    assert "% of the trials)" in str(found)


def test_a_contaminant_that_is_not_found_gives_no_number() -> None:
    """The words of these texts are independent, so texts with their words in random order are like the others."""
    found = plan(corpus(1, 400), margin=0.2, tokenizer="whitespace", n_runs=20)
    assert found.needed is None
    assert found.verdict.findings[0].kind == "contaminant not found"
    assert "with 200 texts per sample and 20 % of the contaminant among them" in found.verdict.sentence
    least = replace(found.verdict.findings[0], n=(20,))
    assert "not clearly above 0; at least" in sentence_of(least)
    made = trials(100, 0.02, [-0.02, 0.0] * 20, 0.01, error=0.02)
    assert [made.decided(n)[0] for n in (100, 1_000, 100_000)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 0.2}, "at least 0.5"),
        ({"n_runs": 3}, "wanted 20 to"),
        ({"margin": 0}, "no number of texts"),
    ],
)
def test_plans_without_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(corpus(1, 60), **options)


def test_too_few_texts_to_draw_two_samples_are_refused() -> None:
    with pytest.raises(InputError, match="39 texts; planning draws two samples, wanted at least 40"):
        plan(corpus(1, 39))
    with pytest.raises(InputError, match="1 text; planning draws two samples, wanted at least 40"):
        plan(["one text"])


def test_the_sample_that_is_too_small_is_named() -> None:
    with pytest.raises(InputError, match="pilot: 19 texts; planning draws samples of it, wanted at least 20"):
        plan(corpus(1, 100), corpus(2, 19))
