"""Westfall and Young's adjustment against a brute force, against Holm's, at its level and at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textassay.corpus.arrays import F64
from textassay.inference.p_values import holm, step_down

# Few different values, so that ties are the rule.
TABLES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 12)), elements=st.integers(-3, 3).map(float)
)


def single(statistics: F64) -> list[float]:
    """The p-value of each row by itself."""
    return [float((row >= row[0]).mean()) for row in statistics]


def brute(statistics: F64) -> list[float]:
    """The definition, with loops only."""
    tests, columns = statistics.shape
    p = [
        [sum(statistics[j, c] >= statistics[j, b] for c in range(columns)) for b in range(columns)]
        for j in range(tests)
    ]
    order = sorted(range(tests), key=lambda j: p[j][0])
    found = [0.0] * tests
    floor = 0.0
    for k, j in enumerate(order):
        count = sum(min(p[later][b] for later in order[k:]) <= p[j][0] for b in range(columns))
        floor = max(floor, count / columns)
        found[j] = floor
    return found


@given(TABLES)
def test_equals_the_definition_also_with_ties(statistics: F64) -> None:
    assert step_down(statistics).tolist() == brute(statistics)


@given(TABLES)
def test_is_never_above_holm_nor_below_the_single_p_value(statistics: F64) -> None:
    found, alone = step_down(statistics), single(statistics)
    assert (found <= np.array(holm(alone)) + 1e-12).all()
    assert (found >= np.array(alone) - 1e-12).all()


@given(TABLES, st.randoms(use_true_random=False))
def test_order_of_tests_and_of_draws_does_not_matter(statistics: F64, random: object) -> None:
    rng = np.random.default_rng(random.randrange(2**32))  # type: ignore[attr-defined]
    rows = rng.permutation(len(statistics))
    columns = np.concatenate(([0], 1 + rng.permutation(statistics.shape[1] - 1)))
    assert step_down(statistics[rows][:, columns]).tolist() == step_down(statistics)[rows].tolist()


def test_one_test_keeps_its_p_value() -> None:
    assert step_down(np.array([[4.0, 1.0, 5.0, 4.0, 0.0]])).tolist() == [3 / 5]


def test_values_that_differ_by_rounding_are_ties() -> None:
    assert step_down(np.array([[0.3, 0.1 + 0.2, 0.1 * 3, 0.0]])).tolist() == [3 / 4]


def test_rows_that_are_not_numbers_have_no_influence() -> None:
    rng = np.random.default_rng(0)
    statistics = rng.normal(size=(3, 20))
    holed = np.insert(statistics, 1, np.nan, axis=0)
    found = step_down(np.vstack((holed, [np.inf, *np.zeros(19)])))
    assert np.isnan(found[[1, 4]]).all()
    assert found[[0, 2, 3]].tolist() == step_down(statistics).tolist()


def test_without_tests_there_is_nothing_to_adjust() -> None:
    assert step_down(np.empty((0, 5))).shape == (0,)
    assert np.isnan(step_down(np.full((2, 5), np.nan))).all()


def test_copies_of_one_test_cost_nothing() -> None:
    row = np.random.default_rng(1).normal(size=200)
    row[0] = 1.8
    found = step_down(np.tile(row, (12, 1)))
    assert found.tolist() == [pytest.approx(single(row[None])[0])] * 12
    assert holm(single(np.tile(row, (12, 1))))[0] > 5 * found[0]


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_any_false_alarm_is_as_rare_as_stated(correlation: float) -> None:
    rng = np.random.default_rng(2)
    alarms = np.mean([(step_down(correlated(rng, 8, 800, correlation)) <= 0.05).any() for _ in range(1_000)])
    # Four standard errors about the level.
    assert abs(alarms - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1_000)


def test_finds_more_than_holm_where_tests_move_together() -> None:
    rng = np.random.default_rng(3)
    mine, holms = [], []
    for _ in range(300):
        statistics = correlated(rng, 8, 200, 0.9)
        statistics[:, 0] += 2.2
        mine.append((step_down(statistics) <= 0.05).any())
        holms.append((np.array(holm(single(statistics))) <= 0.05).any())
    assert np.mean(mine) > np.mean(holms) + 0.15


def correlated(rng: np.random.Generator, tests: int, columns: int, correlation: float) -> F64:
    shared = rng.normal(size=columns)
    own = rng.normal(size=(tests, columns))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
