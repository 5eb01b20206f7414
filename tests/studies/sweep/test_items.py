"""Sweeps over items with prompts: numbers of the conditional study, best settings by paired tests, and bad input."""

from typing import Any

import numpy as np
import pytest

from textassay import InputError, Item, conditional, sweep, train_model
from textassay.models.base import Generator
from textassay.studies.sweep.result import Sweep

NAMES, VERBS = ("cat", "dog", "cow", "owl", "hen", "pig"), ("sat", "ran", "ate", "slept", "fell", "hid", "sang")
METRICS = "trm:distance=edit:variant=split,score:distance=edit"


@pytest.fixture(scope="module")
def model() -> Generator:
    rng = np.random.default_rng(0)
    parts = NAMES, VERBS, ("here", "there", "again", "at home", "all day"), ("in may", "in june", "today", "alone")
    return train_model("ngram:order=3", [f"the {' '.join(map(rng.choice, parts))}" for _ in range(2000)])


@pytest.fixture(scope="module")
def items(model: Generator) -> list[dict[str, Any]]:
    """Several texts of the model at temperature 1 as the references of each prompt."""
    rng = np.random.default_rng(1)
    return [
        {
            "id": f"{name} {turn}",
            "prompt": f"the {name}",
            "references": model.sample(5, prompts=[f"the {name}"] * 5, rng=rng),
        }
        for name in NAMES
        for turn in range(5)
    ]


@pytest.fixture(scope="module")
def found(model: Generator, items: list[dict[str, Any]]) -> Sweep:
    return sweep(model, items=items, candidates=5, temperature="0.05,1", metrics=METRICS, n_resamples=99)


def test_values_are_those_of_the_conditional_study(found: Sweep, items: list[dict[str, Any]]) -> None:
    made = [
        Item(
            item["id"],
            tuple(item["references"]),
            {name: tuple(found.samples[name].texts.to_pylist()[5 * at : 5 * at + 5]) for name in found.names},
            item["prompt"],
        )
        for at, item in enumerate(items)
    ]
    alone = conditional(made, metrics=METRICS, n_resamples=99)
    for setting, system in zip(found.swept, alone.systems, strict=True):
        for ours, own in zip(setting.results, system.results, strict=True):
            assert (ours.estimate, ours.interval, ours.p_value) == (own.estimate, own.interval, own.p_value)


def test_the_temperature_of_the_references_is_best_by_trm_and_greedy_text_by_the_mean_score(found: Sweep) -> None:
    """At a low temperature every text of a prompt is the same: safe for the score, too narrow for the triangles."""
    triangles, score = found.best
    assert (triangles.setting, triangles.among) == ("t=1", ("t=1",))
    assert score.setting == "t=0.05"
    assert found.verdict.decision == "same"
    assert "no difference from the references at t=1" in found.verdict.sentence


def test_all_forms_are_written_and_read_back(found: Sweep) -> None:
    assert Sweep.from_json(found.to_json()) == found
    for text in (found.to_html(), found.to_markdown(), found.to_csv(), str(found)):
        assert "t=0.05" in text
    assert all(result.undefined for result in found.real.results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": [{"id": "a", "references": ["x y"]}]}, "1 of 1 item without prompt, 'a' first; wanted a prompt"),
        ({"items": [], "reference": ["a b"] * 50}, "reference=... and items=...; wanted one of the two"),
        ({}, "no real texts given; wanted reference=... or items=..."),
        (
            {"items": [{"prompt": "the cat", "references": ["x"]}], "candidates": 0},
            "candidates=0; wanted a whole number",
        ),
    ],
)
def test_bad_input_is_one_line(model: Generator, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        sweep(model, **options)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
