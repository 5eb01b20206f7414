"""Distances of two models: brute-force sums over small spaces, equal models, probabilities of 0."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from textassay.corpus.arrays import F64
from textassay.errors import InputError
from textassay.metrics.learned.model_distances import (
    Distance,
    TwoLogProbs,
    bhattacharyya_distance,
    oracle_discrepancy,
    squared_hellinger,
    symmetric_kl,
)

Function = Callable[[TwoLogProbs, TwoLogProbs], Distance]
# Each distance as a sum over all texts.
EXACT: list[tuple[Function, Callable[[F64, F64], float]]] = [
    (bhattacharyya_distance, lambda p, q: -math.log(np.sqrt(p * q).sum())),
    (squared_hellinger, lambda p, q: 1 - np.sqrt(p * q).sum()),
    (symmetric_kl, lambda p, q: ((p - q) * np.log(p / q)).sum()),
    (oracle_discrepancy, lambda p, q: np.abs(p - q).sum() / 2),
]


def two_distributions(seed: int, size: int = 40) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(size))
    q = p * np.exp(0.7 * rng.standard_normal(size))
    return p, q / q.sum()


def drawn(p: F64, q: F64, n: int, seed: int) -> tuple[TwoLogProbs, TwoLogProbs]:
    """The log-probabilities of `n` texts of each distribution."""
    rng = np.random.default_rng(seed)
    with np.errstate(divide="ignore"):
        logs = np.log(p), np.log(q)
    mine, theirs = rng.choice(len(p), n, p=p), rng.choice(len(p), n, p=q)
    return TwoLogProbs(logs[0][mine], logs[1][mine]), TwoLogProbs(logs[0][theirs], logs[1][theirs])


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_distances_equal_the_sum_over_all_texts(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, q = two_distributions(1)
    found = function(*drawn(p, q, 40_000, seed=2))
    assert found.undefined is None
    assert 0 < found.error < 0.02 * max(1.0, exact(p, q))
    assert found.estimate == pytest.approx(exact(p, q), abs=4 * found.error)
    assert found.warning is None


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_the_error_is_the_spread_over_repeated_samples(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, q = two_distributions(3)
    found = [function(*drawn(p, q, 400, seed)) for seed in range(300)]
    spread = float(np.std([one.estimate for one in found]))
    assert float(np.mean([one.error for one in found])) == pytest.approx(spread, rel=0.15)
    assert float(np.mean([one.estimate for one in found])) == pytest.approx(exact(p, q), abs=0.3 * spread)


@pytest.mark.parametrize(("function", "exact"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_has_no_distance_from_itself(function: Function, exact: Callable[[F64, F64], float]) -> None:
    p, _ = two_distributions(5)
    found = function(*drawn(p, p, 50, seed=0))
    assert (found.estimate, found.error, found.n_zero) == (0.0, 0.0, 0)
    assert exact(p, p) == pytest.approx(0, abs=1e-12)


def test_ratios_of_many_tokens_do_not_overflow() -> None:
    """Long texts have log-probabilities of thousands, and only their differences count."""
    far = (
        TwoLogProbs(np.array([-9e3, -9e3]), np.array([-2e4, -2e4])),
        TwoLogProbs(np.array([-2e4] * 2), np.array([-9e3] * 2)),
    )
    found = bhattacharyya_distance(*far)
    assert found.estimate == pytest.approx(5500)
    assert squared_hellinger(*far).estimate == 1.0
    assert symmetric_kl(*far).estimate == 22_000


def test_a_few_dominant_texts_are_reported() -> None:
    rng = np.random.default_rng(0)
    logs = -100 + 10 * rng.standard_normal((2, 500))
    found = bhattacharyya_distance(TwoLogProbs(*logs), TwoLogProbs(*logs[::-1]))
    assert found.effective < 10
    assert found.largest_share > 0.2
    assert found.warning is not None
    assert "a few texts dominate" in found.warning
    assert f"is {found.largest_share:.0%}," in found.warning


def zeros(p: list[float], q: list[float]) -> TwoLogProbs:
    with np.errstate(divide="ignore"):
        return TwoLogProbs(np.log(p), np.log(q))


@pytest.mark.parametrize(
    ("function", "wanted"),
    [(bhattacharyya_distance, math.log(2)), (squared_hellinger, 0.5), (oracle_discrepancy, 0.5)],
)
def test_a_text_that_the_other_model_cannot_write_counts(function: Function, wanted: float) -> None:
    """Exact for P = (1/2, 1/2, 0) and Q = (0, 1/2, 1/2), with one text of each kind."""
    found = function(zeros([0.5, 0.5], [0.0, 0.5]), zeros([0.5, 0.0], [0.5, 0.5]))
    assert found.estimate == pytest.approx(wanted)
    assert found.n_zero == 2


def test_infinite_distances_are_undefined_with_a_reason() -> None:
    reference, candidate = zeros([0.5, 0.5], [0.0, 0.5]), zeros([0.5, 0.5], [0.5, 0.5])
    found = symmetric_kl(reference, candidate)
    assert math.isnan(found.estimate)
    assert found.undefined == "a text of one model has probability 0 under the other: the divergence is infinite"
    apart = bhattacharyya_distance(zeros([0.5, 0.5], [0.0, 0.0]), candidate)
    assert apart.undefined == "no text of one model is possible under the other: the distance is infinite"
    assert (apart.n_zero, apart.warning) == (2, None)


@pytest.mark.parametrize("function", [bhattacharyya_distance, squared_hellinger, symmetric_kl])
def test_a_text_that_its_own_model_cannot_write_is_no_sample(function: Function) -> None:
    found = function(zeros([0.0, 0.5], [0.0, 0.5]), zeros([0.5, 0.5], [0.5, 0.5]))
    assert found.undefined == "a text has probability 0 under the model that it should be a sample of"
    assert found.n_zero == 1


def test_bad_log_probabilities_are_refused() -> None:
    with pytest.raises(InputError, match=r"shapes \(2,\) and \(3,\); wanted one number per text"):
        TwoLogProbs(np.zeros(2), np.zeros(3))
    with pytest.raises(InputError, match="log_q: a log-probability that is not a number"):
        TwoLogProbs(np.zeros(2), np.array([0.0, np.nan]))
    one = TwoLogProbs(np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="log-probabilities of 1 text of the reference; wanted 2 or more"):
        oracle_discrepancy(one, one)
