"""Krippendorff's alpha: the published example, pair by pair, another implementation, its interval and the edges."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from textassay.inference.raters import FEWEST_ITEMS, Metric, alpha, alpha_interval

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

METRICS: tuple[Metric, ...] = ("interval", "ordinal", "nominal")
# Krippendorff's example: four observers, twelve units.
UNITS = ("111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3")
SCALE = st.one_of(st.integers(1, 6).map(float), st.sampled_from([-1.5, 0.1, 0.25, 3.0]))


def flat(units: list[list[float]]) -> tuple[I64, F64]:
    item_of = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    return item_of, np.array([value for unit in units for value in unit], dtype=np.float64)


def simulated(rng: np.random.Generator, n_items: int, n_raters: int) -> tuple[I64, F64]:
    quality = rng.choice([-0.6, 0.6], size=n_items) + rng.normal(0, 0.5, size=n_items)
    ratings = np.clip(np.round(3.8 + quality[:, None] + rng.normal(0, 1.3, size=(n_items, n_raters))), 1, 6)
    given = rng.random(ratings.shape) < 0.8
    return np.nonzero(given)[0], ratings[given]


def by_pairs(units: list[list[float]], metric: Metric) -> float:
    """The definition, one pair at a time."""
    kept = [unit for unit in units if len(unit) > 1]
    values = [value for unit in kept for value in unit]

    def apart(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        between = sum(min(a, b) <= value <= max(a, b) for value in values)
        return (between - (values.count(a) + values.count(b)) / 2) ** 2 if a != b else 0.0

    seen = sum(sum(apart(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in kept)
    expected = sum(apart(a, b) for a, b in permutations(values, 2)) / (len(values) - 1) if values else 0.0
    return 1 - seen / expected if expected else math.nan


@pytest.mark.parametrize(("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_published_example(metric: Metric, published: float) -> None:
    item_of, ratings = flat([[float(value) for value in unit] for unit in UNITS])
    assert alpha(item_of, ratings, metric=metric) == pytest.approx(published, abs=0.0005)


@given(st.lists(st.lists(SCALE, max_size=5), max_size=12), st.sampled_from(METRICS))
@settings(max_examples=200)
def test_as_pair_by_pair(units: list[list[float]], metric: Metric) -> None:
    assert alpha(*flat(units), metric=metric) == pytest.approx(by_pairs(units, metric), abs=1e-10, nan_ok=True)


@given(st.integers(0, 10**6), st.sampled_from(METRICS), st.integers(2, 40), st.integers(2, 8), st.floats(0.2, 1))
@settings(max_examples=150)
def test_as_the_krippendorff_package(seed: int, metric: Metric, n_items: int, n_raters: int, share: float) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(seed)
    ratings = np.round(rng.normal(rng.normal(4, 1, size=(n_items, 1)), 1.5, size=(n_items, n_raters)))
    ratings[rng.random(ratings.shape) > share] = np.nan
    items = np.repeat(np.arange(n_items), n_raters)
    found = alpha(items, ratings.ravel(), metric=metric)
    pairable = ratings[np.sum(~np.isnan(ratings), axis=1) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert math.isnan(found)
        return
    theirs = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=metric)
    assert found == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("metric", METRICS)
def test_order_and_places_do_not_matter(metric: Metric) -> None:
    rng = np.random.default_rng(0)
    item_of, ratings = simulated(rng, 30, 4)
    order, places = rng.permutation(len(ratings)), rng.permutation(60)
    moved = alpha(places[item_of][order], ratings[order], metric=metric)
    assert moved == pytest.approx(alpha(item_of, ratings, metric=metric), abs=1e-12)


def test_what_each_metric_sees() -> None:
    item_of, ratings = simulated(np.random.default_rng(1), 40, 5)
    bent = np.exp(ratings)
    assert alpha(item_of, 1e-9 * ratings - 7) == pytest.approx(alpha(item_of, ratings), abs=1e-6)
    assert alpha(item_of, 1e150 * ratings) == pytest.approx(alpha(item_of, ratings), abs=1e-12)
    assert alpha(item_of, bent, metric="ordinal") == pytest.approx(alpha(item_of, ratings, metric="ordinal"), abs=1e-12)
    assert abs(alpha(item_of, bent) - alpha(item_of, ratings)) > 0.01
    named = np.array([0.0, 3, 1, 6, 2, 5, 4])[ratings.astype(int)]
    assert alpha(item_of, named, metric="nominal") == pytest.approx(
        alpha(item_of, ratings, metric="nominal"), abs=1e-12
    )
    assert abs(alpha(item_of, named, metric="ordinal") - alpha(item_of, ratings, metric="ordinal")) > 0.01


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("units", [[], [[1.0]], [[1.0], [2.0], [3.0]], [[4.0, 4.0], [4.0, 4.0, 4.0], [1.0]]])
def test_undefined(units: list[list[float]], metric: Metric) -> None:
    assert math.isnan(alpha(*flat(units), metric=metric))
    assert alpha_interval(*flat(units * 20), level=0.95, n_resamples=99, seed=0, metric=metric) is None


@pytest.mark.parametrize("metric", METRICS)
def test_full_agreement_and_what_is_missing(metric: Metric) -> None:
    item_of, ratings = flat([[0.1], [0.1, 0.1, 0.1], [0.7, 0.7], [0.3, 0.3]] * 5)
    assert alpha(item_of, ratings, metric=metric) == pytest.approx(1.0, abs=1e-12)
    assert alpha_interval(item_of, ratings, level=0.95, n_resamples=99, seed=0, metric=metric) is None
    some = simulated(np.random.default_rng(2), 25, 3)
    with_gaps = np.append(some[0], [0, 3, 40]), np.append(some[1], [math.nan] * 3)
    assert alpha(*with_gaps, metric=metric) == alpha(*some, metric=metric)


@given(st.lists(st.lists(SCALE, max_size=5), max_size=40), st.sampled_from(METRICS), st.sampled_from([0.1, 0.95]))
@settings(max_examples=150)
def test_interval_holds_the_estimate(units: list[list[float]], metric: Metric, level: float) -> None:
    item_of, ratings = flat(units)
    estimate = alpha(item_of, ratings, metric=metric)
    found = alpha_interval(item_of, ratings, level=level, n_resamples=49, seed=0, metric=metric)
    if found is None:
        few = sum(len(unit) > 1 for unit in units) < FEWEST_ITEMS
        assert few or math.isnan(estimate) or estimate == pytest.approx(1.0, abs=1e-12)
        return
    assert found[0] <= estimate <= found[1] <= 1
    assert math.isfinite(found[0])


def test_interval_needs_ten_items_that_two_rated() -> None:
    item_of, ratings = flat([[1.0, 2.0], [2.0, 4.0, 3.0]] * 5 + [[2.0]] * 30)
    enough = alpha_interval(item_of, ratings, level=0.95, n_resamples=99, seed=0)
    assert enough is not None
    assert alpha_interval(item_of[2:], ratings[2:], level=0.95, n_resamples=99, seed=0) is None
    assert alpha_interval(item_of, ratings, level=0.95, n_resamples=0, seed=0) is None
    assert alpha_interval(item_of, ratings, level=0.95, n_resamples=99, seed=0) == enough
    assert alpha_interval(item_of, ratings, level=0.95, n_resamples=99, seed=1) != enough


def covered(metric: Metric, n_items: int, n_raters: int, runs: int) -> float:
    rng = np.random.default_rng(9)
    truth = alpha(*simulated(rng, 50_000, n_raters), metric=metric)
    found = []
    for seed in range(runs):
        ratings = simulated(rng, n_items, n_raters)
        interval = alpha_interval(*ratings, level=0.95, n_resamples=299, seed=seed, metric=metric)
        found.append(interval is not None and interval[0] <= truth <= interval[1])
    return float(np.mean(found))


@pytest.mark.parametrize("metric", METRICS)
def test_interval_covers(metric: Metric) -> None:
    # Of 150 runs at 95 %, fewer than 89 % would be seen once in a thousand times.
    assert covered(metric, 40, 5, 150) >= 0.89


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n_items", "n_raters"), [(15, 4), (20, 20), (200, 5)])
def test_interval_covers_as_it_says(metric: Metric, n_items: int, n_raters: int) -> None:
    assert 0.925 <= covered(metric, n_items, n_raters, 800) <= 0.985
