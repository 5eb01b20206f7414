"""Change points: the level over whole series, where a change is placed, and errors that are small by chance."""

import numpy as np
import pytest

from textassay.corpus.sample import stream
from textassay.studies.history.change_points import Step, common_errors, first_step


def found(values: list[float], error: float = 1.0, *, n_tests: int = 1) -> Step | float:
    errors = np.full(len(values), error)
    return first_step(np.array(values), errors, level=0.95, n_tests=n_tests, rng=stream(0, "test"))


def test_a_jump_is_placed_where_it_is() -> None:
    step = found([0.0, 0.1, -0.1, 0.0, 9.0, 9.1, 8.9])
    assert isinstance(step, Step)
    assert (step.at, step.start, step.end) == (4, 3, 4)
    assert step.before == pytest.approx(0.0, abs=0.2)
    assert step.after == pytest.approx(9.0, abs=0.2)


def test_the_first_of_several_changes_is_found() -> None:
    step = found([0.0, 0.0, 0.0, 8.0, 8.0, 30.0, 30.0])
    assert isinstance(step, Step)
    assert (step.start, step.at) == (2, 3)


def test_a_step_below_what_neighbours_show_is_found_over_the_series() -> None:
    values = [0.0] * 15 + [1.8] * 15
    step = found(values)
    assert isinstance(step, Step)
    assert step.at == 15
    # Neither two neighbours alone, nor a single run against all others, would show it.
    assert isinstance(found(values[14:16]), float)
    assert isinstance(found(values[:16]), float)


def test_more_tests_need_a_clearer_change() -> None:
    values = [0.0, 0.0, 0.0, 0.0, 3.6]
    assert isinstance(found(values), Step)
    assert isinstance(found(values, n_tests=20), float)


def test_series_of_noise_keep_the_level() -> None:
    """Of 400 series with different errors at most 5 % have a change; the limit is three standard errors above."""
    rng = np.random.default_rng(3)
    errors = rng.uniform(0.5, 2.0, 10)
    hits = 0
    for number in range(400):
        values = rng.standard_normal(10) * errors
        hits += isinstance(first_step(values, errors, level=0.95, n_tests=1, rng=stream(number, "test")), Step)
    assert 4 <= hits <= 33


def test_intervals_of_runs_contain_a_change() -> None:
    """Where only the sixth run differs, an interval without it is reported in at most 5 % of series."""
    rng = np.random.default_rng(4)
    errors, missed, seen = np.ones(10), 0, 0
    for number in range(200):
        values = rng.standard_normal(10)
        values[5:] += 4.0
        step = first_step(values, errors, level=0.95, n_tests=1, rng=stream(number, "test"))
        seen += isinstance(step, Step)
        missed += isinstance(step, Step) and not step.start < 5 <= step.end
    assert seen > 150
    assert missed <= 19


def test_errors_that_are_small_by_chance_make_no_change() -> None:
    errors = np.array([1.0, 1.0, 0.1, 1.0])
    assert common_errors(errors).min() == pytest.approx(np.sqrt(3.01 / 4))
    assert common_errors(errors)[0] == 1.0
