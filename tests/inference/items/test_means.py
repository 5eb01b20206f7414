"""Bootstrap over items and paired tests: known answers, exact enumeration, coverage and the edges."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from textassay.inference.items import means
from textassay.inference.items.means import FEWEST_ITEMS, MOST_FLIPPED, bootstrap_interval, paired
from textassay.inference.measure import Difference

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


def interval(values: object, *, level: float = 0.95, n_resamples: int = 999, seed: int = 0) -> tuple[float, float]:
    found = bootstrap_interval(np.asarray(values), level=level, n_resamples=n_resamples, seed=seed)
    assert found is not None
    return found


def compare(first: object, second: object, *, n_resamples: int = 999, seed: int = 0) -> Difference:
    return paired(np.asarray(first), np.asarray(second), level=0.95, n_resamples=n_resamples, seed=seed)


@given(st.lists(NUMBERS, min_size=FEWEST_ITEMS, max_size=40), st.sampled_from([0.05, 0.5, 0.95, 0.999]))
@example([0.0] * 12 + [3.6e-166], 0.05)  # whose square is no number above 0
@settings(max_examples=100, deadline=None)
def test_interval_is_finite_and_holds_the_mean(values: list[float], level: float) -> None:
    found = bootstrap_interval(values, level=level, n_resamples=99, seed=1)
    if found is None:
        assert np.ptp(values) <= 1e-12 * np.abs(values).max()
        return
    low, high = found
    assert math.isfinite(high - low)
    slack = 1e-12 * float(np.abs(values).max())
    assert low - slack <= np.mean(values) <= high + slack


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_interval_moves_with_place_and_scale(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(size=25)
    low, high = interval(values)
    moved = interval(3 + 2 * values)
    assert moved == pytest.approx((3 + 2 * low, 3 + 2 * high), rel=1e-9)
    turned = interval(-values)
    assert turned == pytest.approx((-high, -low), rel=1e-9)


def test_interval_is_students_where_values_are_normal_and_many() -> None:
    values = np.random.default_rng(0).normal(5, 2, size=400)
    half = 1.966 * values.std(ddof=1) / 20
    low, high = interval(values, n_resamples=4999)
    assert low == pytest.approx(values.mean() - half, abs=0.08 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.08 * half)


def test_interval_leans_the_way_the_values_do() -> None:
    values = np.random.default_rng(0).exponential(size=30)
    low, high = interval(values)
    assert high - values.mean() > 1.2 * (values.mean() - low)


def test_no_interval_where_there_is_nothing_to_go_by() -> None:
    few = np.arange(FEWEST_ITEMS - 1.0)
    assert bootstrap_interval(few, level=0.95, n_resamples=999, seed=0) is None
    assert bootstrap_interval([*few, math.nan], level=0.95, n_resamples=999, seed=0) is None
    assert bootstrap_interval([*few, 1.0], level=0.95, n_resamples=999, seed=0) is not None
    assert bootstrap_interval([*few, math.inf], level=0.95, n_resamples=999, seed=0) is None
    assert bootstrap_interval([*few, 1.0], level=0.95, n_resamples=0, seed=0) is None
    assert bootstrap_interval([0.1 + 0.2] * 20 + [0.3] * 20, level=0.95, n_resamples=999, seed=0) is None
    assert bootstrap_interval([], level=0.95, n_resamples=999, seed=0) is None


def test_gaps_are_left_out_and_seeds_decide() -> None:
    values = np.random.default_rng(0).exponential(size=30)
    gaps = np.insert(values, [3, 3, 17], math.nan)
    assert interval(gaps) == interval(values)
    assert interval(values, seed=1) != interval(values)


def test_one_odd_item_gives_a_wide_interval_and_not_an_endless_one() -> None:
    low, high = interval([0.0] * 19 + [1.0])
    assert low >= -0.1
    assert 0.1 < high < 1.5


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).exponential(size=50)
    whole, flips = interval(values), compare(values, 0.9 * values[::-1])
    monkeypatch.setattr(means, "_NUMBERS_AT_ONCE", 700)
    assert interval(values) == pytest.approx(whole, rel=1e-12)
    assert compare(values, 0.9 * values[::-1]).p_value == flips.p_value


@pytest.mark.parametrize(("n", "least"), [(10, 0.90), (20, 0.90), (50, 0.92)])
def test_interval_covers_the_mean_of_skewed_items(n: int, least: float) -> None:
    """Percentiles of resampled means would cover 87 % at ten items and 90 % at twenty; the standard error is 1 %."""
    covered = []
    for seed in range(600):
        low, high = interval(np.random.default_rng([n, seed]).exponential(size=n), seed=seed, n_resamples=399)
        covered.append(low <= 1 <= high)
    assert least < np.mean(covered) < 0.98


def test_sign_flips_equal_loops_over_all_signs() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 8):
        # Steps, so that there are ties and items without a difference.
        first, second = rng.integers(0, 4, size=(2, n)) / 4
        d = (first - second).tolist()
        sums = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in product((-1, 1), repeat=n)]
        share = sum(total >= abs(sum(d)) - 1e-9 for total in sums) / 2**n
        assert compare(first, second).p_value == share


def test_sign_flips_equal_scipy() -> None:
    rng = np.random.default_rng(3)
    first = rng.exponential(size=12)
    second = first + rng.normal(0.3, 0.5, size=12)
    theirs = permutation_test(
        (first, second), lambda x, y, axis: (x - y).mean(axis), permutation_type="samples", vectorized=True,
        n_resamples=2**12,
    )  # fmt: skip
    assert compare(first, second).p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert 0 < theirs.pvalue < 0.5


def test_random_signs_come_near_all_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, 1, size=MOST_FLIPPED), np.zeros(MOST_FLIPPED)
    exact = compare(first, second).p_value
    monkeypatch.setattr(means, "MOST_FLIPPED", 3)
    drawn = compare(first, second, n_resamples=9999).p_value
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9999))
    few = paired(first + 9, second, level=0.95, n_resamples=99, seed=0, n_flips=99)
    assert few.p_value == 1 / 100


def test_same_systems_do_not_differ() -> None:
    values = np.random.default_rng(0).random(30)
    # The same values added up in another order differ by rounding only.
    found = compare(values, values * (1 + 1e-15))
    assert (found.estimate, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_a_difference_that_is_everywhere_the_same() -> None:
    values = np.random.default_rng(0).random(30)
    found = compare(values + 0.5, values)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.p_value < 0.002


def test_only_items_that_both_have_count() -> None:
    first = [1.0, math.nan, 3.0, 5.0, math.nan]
    second = [0.0, 1.0, math.nan, 2.0, math.nan]
    found = compare(first, second)
    assert found.estimate == 2.0
    assert found.p_value == 0.5
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_too_little_to_compare() -> None:
    one = compare([1.0, math.nan], [0.5, 2.0])
    assert one.estimate == 0.5
    assert math.isnan(one.p_value)
    for nothing in (compare([], []), compare([math.nan], [1.0]), compare([math.inf, 1.0, 2.0], [1.0, 1.0, 1.0])):
        assert math.isnan(nothing.estimate)
        assert math.isnan(nothing.p_value)
    assert compare([math.inf, 1.0, 2.0], [math.inf, 0.0, 0.0]).estimate == 1.0


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=25))
@settings(max_examples=80, deadline=None)
def test_turning_the_systems_around_turns_the_difference(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    one, other = compare(first, second, n_resamples=99), compare(second, first, n_resamples=99)
    assert one.p_value == other.p_value
    assert 0 < one.p_value <= 1
    assert one.estimate == -other.estimate
    assert one.low == pytest.approx(-other.high, rel=1e-9, abs=1e-9, nan_ok=True)


def test_p_value_keeps_its_level_and_mostly_agrees_with_the_interval() -> None:
    significant, outside = [], []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        first = rng.exponential(size=25)
        found = compare(first, first + rng.normal(0.2 * (seed % 2), 0.5, size=25), n_resamples=399, seed=seed)
        significant.append(found.p_value <= 0.05)
        outside.append(not found.low <= 0 <= found.high)
    assert 0.01 < np.mean(significant[::2]) < 0.09
    assert 0.3 < np.mean(significant[1::2]) < 0.7
    assert np.mean(np.array(significant) == np.array(outside)) > 0.93
