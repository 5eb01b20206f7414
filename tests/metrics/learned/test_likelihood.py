"""Negative log-likelihood: definitions, errors, probabilities of 0."""

import math

import numpy as np
import pytest

from textassay.errors import InputError
from textassay.metrics.learned.likelihood import ZERO, mean_nll
from textassay.models.base import Scores


def test_the_mean_is_per_text_or_per_token() -> None:
    scores = Scores(np.array([-2.0, -4.0, -9.0]), np.array([1, 3, 6]))
    assert mean_nll(scores).estimate == 5.0
    assert mean_nll(scores, per="token").estimate == 1.5


@pytest.mark.parametrize("per", ["text", "token"])
def test_the_error_is_the_spread_over_repeated_samples(per: str) -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        tokens = rng.integers(3, 20, 200)
        scores = Scores(-tokens * rng.gamma(4, 0.5, 200), tokens)
        found.append(mean_nll(scores, per="token" if per == "token" else "text"))
    spread = float(np.std([one.estimate for one in found]))
    assert float(np.mean([one.error for one in found])) == pytest.approx(spread, rel=0.1)


def test_texts_with_probability_0_are_counted() -> None:
    found = mean_nll(Scores(np.array([-2.0, -np.inf, -4.0]), np.array([1, 1, 1])))
    assert math.isnan(found.estimate)
    assert (found.n_zero, found.possible) == (1, 3.0)
    assert found.undefined == ZERO
    nothing = mean_nll(Scores(np.full(2, -np.inf), np.array([1, 1])))
    assert nothing.n_zero == 2
    assert math.isnan(nothing.possible)


def test_one_text_is_too_few() -> None:
    with pytest.raises(InputError, match="log-probabilities of 1 text; wanted 2 or more"):
        mean_nll(Scores(np.array([-1.0]), np.array([1])))
