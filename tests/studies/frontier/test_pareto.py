"""The Pareto frontier against closed forms, brute force and a general optimiser."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import xlogy

from textassay.errors import InputError
from textassay.studies.frontier.compatibility import check_conditions, fit_slope, induced_divergence
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.own_functions import own_pair
from textassay.studies.frontier.pairs import Pair, parse_pair
from textassay.studies.frontier.pareto import (
    bound,
    check_fits,
    discrepancy,
    frontier_curve,
    highest_quality,
    numerical_offset,
    optima,
)

PAIRS = ("ll/se", "cr/nrr", "cr/sdi", "ll/nrr", "cr/se", "bleu1-4/nsbleu1-4")
F64 = NDArray[np.float64]


def toy(n: int = 20, seed: int = 0) -> F64:
    """The toy distribution of Figure 1."""
    values = np.random.default_rng(seed).random(n)
    return np.asarray(values / values.sum())


def without_closed_form(pair: Pair) -> Pair:
    """The same pair, for which every equation is solved numerically."""
    return replace(pair, diversity=replace(pair.diversity, inverse=None, offset=None))


def random_distribution(rng: np.random.Generator, case: int) -> F64:
    """Flat and peaked distributions, some with ties and some with zeros."""
    n = int(rng.integers(2, 60))
    p = rng.dirichlet(np.full(n, rng.choice([0.05, 0.3, 1.0, 5.0])))
    if case % 3 == 0:
        p = np.round(p, 2)
    if case % 4 == 0:
        p[rng.random(n) < 0.3] = 0.0
    return np.asarray(p / p.sum()) if p.sum() > 0 else np.full(n, 1 / n)


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 2.5, 10.0])
def test_the_frontier_of_ll_se_is_the_power_of_the_distribution(beta: float) -> None:
    real, pair = Distribution.of(toy()), parse_pair("ll/se")
    for used in (pair, without_closed_form(pair)):
        found = optima(used, real, np.array([-beta]))
        powers = real.values**beta
        total = float(powers @ real.counts)
        np.testing.assert_allclose(found.shares[0], powers / total, rtol=0, atol=1e-10)
        assert found.b[0] == pytest.approx(math.log(total) - 1, abs=1e-10)


def test_the_printed_b_of_ll_se_gives_no_distribution() -> None:
    real = Distribution.of(toy())
    wrong = np.exp(-1 - (-np.log(real.values) + 1)) @ real.counts  # b = 1 + log Z with Z = 1
    assert wrong == pytest.approx(math.exp(-2))


@pytest.mark.parametrize("w", [-0.5, -2.0, -7.0, -100.0])
def test_the_frontier_of_cr_nrr_is_the_projection_on_the_simplex(w: float) -> None:
    p = toy(8)
    real, pair = Distribution.of(p), parse_pair("cr/nrr")
    found = optima(pair, real, np.array([w])).shares[0]
    target = -w * real.values / 2
    solved = minimize(
        lambda q: ((q - target) ** 2).sum(),
        np.full(8, 1 / 8),
        jac=lambda q: 2 * (q - target),
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(8)},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    np.testing.assert_allclose(found, solved.x, atol=1e-6)


@pytest.mark.parametrize("name", ["ll/se", "cr/nrr", "ll/nrr", "cr/se", "cr/sdi"])
def test_closed_forms_equal_root_finding(name: str) -> None:
    pair, real = parse_pair(name), Distribution.of(toy())
    numerical = without_closed_form(pair)
    w = -np.array([0.0, 0.01, 0.5, 2.0, 30.0])
    closed, solved = optima(pair, real, w), optima(numerical, real, w)
    np.testing.assert_allclose(closed.shares, solved.shares, rtol=0, atol=1e-13)
    heights = w[:, None] * pair.quality.f(real.values)
    np.testing.assert_allclose(closed.b, numerical_offset(numerical, heights, real.counts), atol=1e-12)


def test_the_bound_of_cr_nrr_has_its_closed_form() -> None:
    real = Distribution.of([0.3, 0.3, 0.25, 0.15])
    pair = parse_pair("cr/nrr")
    assert bound(pair, real) == pytest.approx(-(2 / 2) / (0.3 - 0.25))
    at, beyond = (optima(pair, real, np.array([factor * bound(pair, real)])).shares[0] for factor in (1.0, 5.0))
    np.testing.assert_allclose(at, highest_quality(pair, real), atol=1e-15)
    np.testing.assert_allclose(beyond, at, atol=1e-15)
    before = optima(pair, real, np.array([0.99 * bound(pair, real)])).shares[0]
    assert before[1] > 0


def test_ll_se_has_no_bound() -> None:
    assert bound(parse_pair("ll/se"), Distribution.of(toy())) == -math.inf


@pytest.mark.parametrize("name", PAIRS)
def test_quality_falls_and_diversity_rises_strictly_along_w(name: str) -> None:
    pair, real = parse_pair(name), Distribution.of(toy(12, seed=3))
    curve = frontier_curve(pair, real, n_points=41)
    assert (np.diff(curve.w) < 0).all()
    assert (np.diff(curve.quality) > 0).all()
    assert (np.diff(curve.diversity) < 0).all()
    np.testing.assert_allclose(curve.shares @ real.counts, 1.0, atol=1e-12)


@pytest.mark.parametrize(("name", "sign"), [("ll/se", 1), ("ll/nrr", 1), ("cr/nrr", -1), ("cr/se", -1)])
def test_the_offset_rises_with_w_if_f_is_negative_and_falls_if_it_is_positive(name: str, sign: int) -> None:
    w = np.linspace(-3.0, 0.0, 40)
    found = optima(parse_pair(name), Distribution.of(toy()), w)
    assert (sign * np.diff(found.b) > 0).all()


@pytest.mark.parametrize("name", ["ll/se", "cr/nrr", "ll/nrr", "cr/se"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_no_random_distribution_dominates_a_frontier_point(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pair, real = parse_pair(name), Distribution.of(toy(6, seed=seed))
    curve = frontier_curve(pair, real, n_points=21)
    # Random distributions, and small changes of frontier points, which come closest.
    near = curve.shares * np.exp(rng.normal(0, 0.05, curve.shares.shape))
    others = np.concatenate((rng.dirichlet(np.full(6, 0.7), 200), near / near.sum(axis=1, keepdims=True)))
    others = np.maximum(others, 1e-300)
    quality, diversity = pair.quality.of(others, real), pair.diversity.of(others, real)
    better = (quality[:, None] > curve.quality + 1e-13) & (diversity[:, None] > curve.diversity + 1e-13)
    assert not better.any()


def test_cr_nrr_has_no_discrepancy_on_a_thousand_distributions() -> None:
    rng, pair = np.random.default_rng(0), parse_pair("cr/nrr")
    gaps = [discrepancy(pair, Distribution.of(random_distribution(rng, case))).qdisc for case in range(1000)]
    assert max(map(abs, gaps)) < 1e-12


@pytest.mark.parametrize(("name", "least"), [("ll/nrr", 0.01), ("cr/se", 0.0005)])
def test_mismatched_pairs_have_a_gap_on_the_toy_distribution(name: str, least: float) -> None:
    found = discrepancy(parse_pair(name), Distribution.of(toy()))
    assert found.qdisc > least
    assert 0.01 < found.drate < 0.1


@pytest.mark.parametrize("name", ["ll/nrr", "cr/se", "bleu1-4/nsbleu1-4"])
def test_the_discrepancy_is_what_a_general_optimiser_finds(name: str) -> None:
    pair, p = parse_pair(name), np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    real = Distribution.of(p)
    found = discrepancy(pair, real)
    f = pair.quality.f(p)
    solved = minimize(
        lambda q: -(q @ f),
        np.full(5, 0.2),
        bounds=[(1e-9, pair.diversity.limit)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "ineq", "fun": lambda q: pair.diversity.g(q).sum() - pair.diversity.g(p).sum()},
        ],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert -solved.fun == pytest.approx(found.best_quality, abs=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_a_distribution_of_two_probabilities_is_on_the_frontier_of_every_pair(name: str) -> None:
    real = Distribution.of([0.2, 0.2, 0.15, 0.15, 0.15, 0.15])
    assert discrepancy(parse_pair(name), real).qdisc == pytest.approx(0.0, abs=1e-12)


def test_a_uniform_distribution_has_a_frontier_of_one_point() -> None:
    real = Distribution.of([0.25] * 4)
    found = discrepancy(parse_pair("ll/nrr"), real)
    assert found.qdisc == 0.0
    assert math.isnan(found.drate)
    assert len(frontier_curve(parse_pair("ll/nrr"), real).w) == 1


@pytest.mark.parametrize(
    ("name", "w0", "b0", "alpha"),
    [
        ("ll/se", -1.0, -1.0, 1 / 2),
        ("cr/nrr", -2.0, 0.0, 2 / 3),
        ("cr/sdi", -2.0, 1.0, 2 / 3),
        ("bleu1-1/nsbleu1-2", -2.0, 0.0, 2 / 3),
    ],
)
def test_compatible_pairs_fit_theorem_3(name: str, w0: float, b0: float, alpha: float) -> None:
    fit = fit_slope(parse_pair(name))
    assert fit.is_exact
    assert (fit.w0, fit.b0, fit.alpha) == pytest.approx((w0, b0, alpha), abs=1e-10)


@pytest.mark.parametrize("name", ["ll/nrr", "cr/se", "bleu1-2/nsbleu1-2", "bleu1-1/nsbleu1-3", "bleu1-4/nsbleu1-4"])
def test_other_pairs_do_not_fit_theorem_3(name: str) -> None:
    assert not fit_slope(parse_pair(name)).is_exact


def test_the_divergence_of_ll_se_is_half_the_reverse_kl() -> None:
    pair, real = parse_pair("ll/se"), Distribution.of(toy())
    others = np.random.default_rng(1).dirichlet(np.ones(20), 50)
    reverse_kl = (xlogy(others, others) - others * np.log(real.values)).sum(axis=1)
    found = induced_divergence(pair, fit_slope(pair), real, others)
    np.testing.assert_allclose(found, reverse_kl / 2, atol=1e-10)


def test_the_divergence_of_cr_nrr_is_a_third_of_cnd() -> None:
    pair, real = parse_pair("cr/nrr"), Distribution.of(toy())
    others = np.random.default_rng(1).dirichlet(np.ones(20), 50)
    cnd = ((others - real.values) ** 2).sum(axis=1)
    np.testing.assert_allclose(3 * induced_divergence(pair, fit_slope(pair), real, others), cnd, atol=1e-12)


def test_nsbleu_is_concave_below_its_limit_only() -> None:
    pair = parse_pair("bleu1-8/nsbleu1-8")
    found = check_conditions(pair, largest=0.5)  # closer to 1, f is flat to rounding
    assert found.quality is None
    assert found.diversity is not None
    assert found.diversity.low == pytest.approx(2 / 8, rel=0.01)
    assert not found.necessary
    assert pair.diversity.limit == 0.25


def test_theorem_1_may_hold_where_g_is_not_concave_beyond_one_half() -> None:
    found = check_conditions(parse_pair("bleu1-3/nsbleu1-3"))  # concave below 2/3
    assert found.diversity is not None
    assert found.diversity.low == pytest.approx(2 / 3, rel=0.01)
    assert found.necessary


def test_shares_stay_within_the_limit_of_nsbleu() -> None:
    pair, real = parse_pair("bleu1-8/nsbleu1-8"), Distribution.of(toy(10))
    shares = optima(pair, real, -np.geomspace(0.01, 1000, 30)).shares
    assert shares.max() <= 0.25
    np.testing.assert_allclose(shares @ real.counts, 1.0, atol=1e-12)
    assert discrepancy(pair, real).is_bound


def test_a_distribution_with_too_few_outcomes_for_the_limit_is_refused() -> None:
    with pytest.raises(InputError, match="wanted at least 10 outcomes"):
        check_fits(parse_pair("bleu1-20/nsbleu1-20"), Distribution.of(toy(6)))


def test_functions_of_the_user_equal_the_built_in_pair() -> None:
    real, built_in = Distribution.of(toy()), parse_pair("ll/se")
    own = own_pair(np.log, lambda x: -x * np.log(x), name="mine/also mine")
    assert own.name == "mine/also mine"
    w = -np.array([0.2, 1.0, 4.0])
    np.testing.assert_allclose(optima(own, real, w).shares, optima(built_in, real, w).shares, atol=1e-9)
    assert fit_slope(own).is_exact
    assert discrepancy(own, real).qdisc == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("f", "g", "message"),
    [
        (lambda x: -x, lambda x: -x * x, r"f does not increase between 1e-09 and 1;"),
        (lambda x: np.minimum(x, 0.3), lambda x: -x * x, r"f does not increase between 0.303 and 1;"),
        (lambda x: x, lambda x: x * x, r"g is not concave between 1e-09 and 1;"),
        (lambda x: x, lambda x: np.where(x < 0.4, -x * x, x * x - 0.32), r"g is not concave between 0.396 and 1;"),
        (lambda x: 1 / (x - x), lambda x: -x * x, "f is inf at 1e-09; wanted a finite number"),
        (lambda x: x[:3], lambda x: -x * x, "f returns shape"),
        (lambda x: x["a"], lambda x: -x * x, "f fails on an array of probabilities: IndexError"),
    ],
)
def test_functions_that_are_no_quality_or_diversity_are_refused(f: object, g: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        own_pair(f, g)  # type: ignore[arg-type]


def test_functions_that_work_in_place_change_nothing_for_later_pairs() -> None:
    def doubled(x: F64) -> F64:
        x *= 2
        return x

    def square(x: F64) -> F64:
        np.multiply(x, x, out=x)
        np.negative(x, out=x)
        return x

    mine = own_pair(doubled, square, slope=lambda x: np.multiply(x, -2.0, out=x), slope_at_zero=0.0)
    plain = own_pair(lambda x: 2 * x, lambda x: -x * x, slope=lambda x: -2 * x, slope_at_zero=0.0)
    real, w = Distribution.of(toy()), -np.array([0.2, 1.0, 4.0])
    np.testing.assert_array_equal(optima(mine, real, w).shares, optima(plain, real, w).shares)


@pytest.mark.parametrize("slope", ["a", math.nan, True, 1j, [0.0], -5.0])
def test_a_slope_at_zero_that_is_none_is_refused(slope: Any) -> None:
    with pytest.raises(InputError, match=r"slope_at_zero=.*wanted"):
        own_pair(np.sqrt, lambda x: -x * x, slope_at_zero=slope)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.5, 0.6], "the probabilities sum to 1.1; wanted 1"),
        ([0.5, -0.1, 0.6], "probability 2 is -0.1; wanted numbers from 0 to 1"),
        ([0.5, math.nan], "probability 2 is nan"),
        ([1.0], "wanted a list of at least two probabilities"),
        (["a", "b"], "not a list of numbers"),
    ],
)
def test_bad_distributions_are_refused(probabilities: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Distribution.of(probabilities)


@pytest.mark.parametrize("text", ["cr", "cr/", "cr/bleu", "se/ll", "bleu1-0/se", "bleu1-5/nsbleu1-1", ""])
def test_unknown_pairs_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not known; wanted QUALITY/DIVERSITY"):
        parse_pair(text)


def test_outcomes_of_probability_zero_are_no_support_of_ll() -> None:
    real = Distribution.of([0.5, 0.5, 0.0])
    assert parse_pair("ll/se").support(real).n == 2
    assert parse_pair("cr/se").support(real).n == 3
