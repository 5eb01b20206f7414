"""Decoding settings and scores: checked values, signature fields, and truncation against a plain computation."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.errors import InputError
from textassay.models.base import Decoding, Scores, check_prompts, decoded_log_probs


def by_definition(logits: list[float], decoding: Decoding) -> list[float]:
    """The probabilities under a decoding setting, one token at a time."""
    weights = [math.exp((logit - max(logits)) / decoding.temperature) for logit in logits]
    order = sorted(range(len(logits)), key=lambda place: (-weights[place], place))[: decoding.top_k]
    total = sum(weights[place] for place in order)
    kept: list[int] = []
    mass = 0.0
    for place in order:
        if kept and decoding.top_p is not None and mass >= decoding.top_p:
            break
        kept.append(place)
        mass += weights[place] / total
    return [weights[place] / sum(weights[k] for k in kept) if place in kept else 0.0 for place in range(len(logits))]


@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=9),
    st.sampled_from([0.3, 0.7, 1.0, 2.0]),
    st.none() | st.integers(1, 10),
    st.none() | st.sampled_from([0.13, 0.5, 0.83, 1.0]),
)
@settings(deadline=None)
def test_truncation_follows_the_definition(
    logits: list[int], temperature: float, top_k: int | None, top_p: float | None
) -> None:
    decoding = Decoding(temperature, top_k, top_p)
    values = [logit + 0.01 * place for place, logit in enumerate(logits)]
    found = np.exp(decoded_log_probs(np.array([values]), decoding))[0]
    assert found.tolist() == pytest.approx(by_definition(values, decoding), abs=1e-12)


def test_ties_are_broken_by_id() -> None:
    logits = np.zeros((1, 5))
    assert np.exp(decoded_log_probs(logits, Decoding(top_k=2)))[0].tolist() == pytest.approx([0.5, 0.5, 0, 0, 0])
    assert np.exp(decoded_log_probs(logits, Decoding(top_k=1)))[0].tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"temperature": 0}, "temperature=0; wanted a finite number above 0; greedy decoding is top_k=1"),
        ({"temperature": -1.0}, "temperature=-1.0; wanted a finite number above 0"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"temperature": math.inf}, "temperature=inf"),
        ({"temperature": "hot"}, "temperature='hot'"),
        ({"top_k": 0}, "top_k=0; wanted a whole number of 1 or more"),
        ({"top_k": 1.5}, "top_k=1.5"),
        ({"top_p": 0.0}, "top_p=0.0; wanted a number above 0, at most 1"),
        ({"top_p": 1.1}, "top_p=1.1"),
        ({"top_p": math.nan}, "top_p=nan"),
    ],
)
def test_bad_settings_are_errors(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as error:
        Decoding(**values)
    assert str(error.value).startswith(problem)


def test_settings_are_options_on_the_command_line() -> None:
    with pytest.raises(InputError) as error:
        Decoding(top_k=0)
    assert error.value.with_options() == "--top-k 0; wanted a whole number of 1 or more"


def test_fields_leave_out_defaults() -> None:
    assert Decoding().fields() == {}
    assert Decoding(1.0, None, 1.0).fields() == {}
    assert not Decoding(0.7, None, 1.0).truncates
    assert str(Decoding(0.7, 40, 0.95)) == "t=0.7,k=40,p=0.95"


def test_scores_count_texts_of_probability_zero() -> None:
    scores = Scores(np.array([-2.0, -np.inf]), np.array([4, 1]))
    assert (len(scores), scores.n_zero) == (2, 1)
    assert scores.per_token.tolist() == [-0.5, -math.inf]


def test_prompts_must_be_one_per_text() -> None:
    assert check_prompts(["a"], 1) == ["a"]
    with pytest.raises(InputError, match="prompts: 1 for 2 texts"):
        check_prompts(["a"], 2)
    with pytest.raises(InputError, match="n=-1; wanted a whole number"):
        check_prompts(None, -1)
