"""Correlations against hand computation, brute force, scipy and published tables."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from textassay.studies.agreement.correlation import (
    correlation_matrix,
    pearson,
    spearman,
    tau_b,
    tau_p_value,
    z_interval,
)

# Tables 2 and 6 of paper 001: the discrepancy of ten generators, and their FED.
DD = {
    "LSTM 0.2": 0.994, "GPT-2 0.2": 0.991, "LSTM 0.4": 0.986, "LSTM 0.6": 0.980, "LSTM 0.8": 0.976,
    "GPT-2 0.4": 0.973, "LSTM 1.0": 0.972, "GPT-2 0.6": 0.959, "GPT-2 0.8": 0.948, "GPT-2 1.0": 0.935,
}  # fmt: skip
FED = {
    "GPT-2 1.0": 0.01, "GPT-2 0.8": 0.011, "GPT-2 0.6": 0.011, "GPT-2 0.4": 0.011, "LSTM 1.0": 0.012,
    "LSTM 0.8": 0.012, "LSTM 0.6": 0.012, "LSTM 0.4": 0.014, "GPT-2 0.2": 0.014, "LSTM 0.2": 0.016,
}  # fmt: skip


def test_tau_b_of_ten_systems_by_hand() -> None:
    x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    y = [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]
    # 45 pairs, five of them in the opposite order.
    assert tau_b(x, y) == pytest.approx((40 - 5) / 45)
    # Orders of ten with at most five inversions: 1, 9, 44, 155, 440, 1068 (Mahonian numbers); both sides count.
    p, method = tau_p_value(x, y)
    assert method == "exact"
    assert p == pytest.approx(2 * (1 + 9 + 44 + 155 + 440 + 1068) / math.factorial(10))


def test_tau_b_with_ties_by_hand() -> None:
    # Pairs of x: one tie; of y: one tie; five concordant, none discordant, of six.
    x, y = [1, 2, 2, 3], [1, 2, 3, 3]
    assert tau_b(x, y) == pytest.approx(4 / math.sqrt(5 * 5))


@pytest.mark.parametrize(("family", "published"), [("LSTM", 0.84), ("GPT-2", 0.84), ("", 0.87)])
def test_tau_of_the_printed_tables_of_paper_001(family: str, published: float) -> None:
    names = [name for name in DD if name.startswith(family)]
    assert tau_b([DD[name] for name in names], [FED[name] for name in names]) == pytest.approx(published, abs=0.005)


def brute_p(x: list[float], y: list[float]) -> float:
    def score(other: tuple[float, ...]) -> float:
        pairs = [(i, j) for i in range(len(x)) for j in range(i)]
        return abs(sum(np.sign(x[i] - x[j]) * np.sign(other[i] - other[j]) for i, j in pairs))

    observed = score(tuple(y))
    scores = [score(order) for order in permutations(y)]
    return sum(each >= observed for each in scores) / len(scores)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
def test_the_exact_p_counts_all_orders(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    p, method = tau_p_value(x, y)
    assert method == "exact"
    assert p == pytest.approx(brute_p(x, y))


@settings(max_examples=30)
@given(st.integers(5, 25), st.integers(0, 1000))
def test_without_ties_it_is_that_of_scipy(n: int, seed: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, n)).tolist()
    expected = kendalltau(x, y, method="exact")
    assert tau_b(x, y) == pytest.approx(expected.statistic)
    assert tau_p_value(x, y)[0] == pytest.approx(expected.pvalue)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_coefficients_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(tau_b(x, y))
        assert math.isnan(pearson(x, y))
        return
    assert tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic, abs=1e-9)


def test_many_systems_use_the_normal_approximation() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 80)).tolist()
    p, method = tau_p_value(x, y)
    assert method == "normal"
    assert p == pytest.approx(kendalltau(x, y, method="asymptotic").pvalue)


def test_the_interval_of_pearson_is_fishers() -> None:
    found = z_interval("pearson", 0.6, 20, 0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.2145, 0.8243), abs=2e-3)
    expected = pearsonr(*_pair_with(0.6)).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def _pair_with(r: float, n: int = 20) -> tuple[list[float], list[float]]:
    """Two lists with exactly this correlation."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    x = (x - x.mean()) / x.std()
    noise = rng.normal(size=n)
    noise -= noise.mean() + (noise @ x) / n * x
    noise /= noise.std()
    return x.tolist(), (r * x + math.sqrt(1 - r * r) * noise).tolist()


def test_there_is_no_interval_for_a_perfect_order_or_few_systems() -> None:
    assert z_interval("kendall", 1.0, 10, 0.95) is None
    assert z_interval("kendall", 0.3, 4, 0.95) is None
    assert z_interval("kendall", math.nan, 10, 0.95) is None


def test_the_interval_of_tau_covers_the_truth_about_as_often_as_it_should() -> None:
    rng, truth = np.random.default_rng(0), 2 / math.pi * math.asin(0.7)
    hits = 0
    for _ in range(400):
        x = rng.normal(size=12)
        y = 0.7 * x + math.sqrt(1 - 0.49) * rng.normal(size=12)
        found = z_interval("kendall", tau_b(x.tolist(), y.tolist()), 12, 0.95)
        hits += found is None or truth in found
    assert 0.92 <= hits / 400 <= 0.99


def test_the_matrix_uses_systems_that_both_metrics_have() -> None:
    rows = np.array([[1.0, 2.0, 3.0, math.nan], [2.0, 4.0, 6.5, 9.0], [math.nan, 1.0, math.nan, 2.0]])
    found = correlation_matrix(rows)
    assert found[0, 1] == found[1, 0] == pytest.approx(pearson([1, 2, 3], [2, 4, 6.5]))
    assert np.isnan(found[2]).all()
    assert found[0, 0] == 1.0
