"""Distances defined by users: what they may return, and one line for each error."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.distances.pairs import table_of
from textassay import conditional
from textassay.distances.base import BUILT_IN, pooled_scores
from textassay.distances.custom import own_distance
from textassay.errors import InputError

TABLE = table_of([["a", "bbb", "cc"]])
ALL = np.arange(3)


def but_itself(value: Any) -> Any:
    """A distance that returns one value for different texts."""
    return lambda one, other: 0 if one == other else value


def test_distances_are_those_of_the_function() -> None:
    distance = own_distance("lengths", lambda one, other: max(len(one) - len(other), 0), TABLE)
    scores, distances = pooled_scores(distance, np.array([0, 1, 2, 1]))
    assert distances.tolist() == [[0, 0, 0, 0], [2, 0, 1, 0], [1, 0, 0, 0], [2, 0, 1, 0]]
    assert (scores == -distances).all()
    assert not np.signbit(scores[0]).any()
    assert (distance.name, distance.signature, distance.top) == ("lengths", "own:lengths/not-fixed", 0.0)


@pytest.mark.parametrize("value", [2, 2.0, Fraction(2), np.float32(2), np.int8(2)])
def test_any_real_number_is_valid(value: Any) -> None:
    assert own_distance("mine", but_itself(value), TABLE).scores(ALL)[0, 1] == -2.0


@pytest.mark.parametrize("value", [True, np.bool_(True)])
def test_whether_texts_differ_is_a_distance(value: Any) -> None:
    assert own_distance("differ", but_itself(value), TABLE).scores(ALL)[0, 1] == -1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan"), 10**400])
def test_distances_that_are_not_finite_become_nan(value: Any) -> None:
    scores, distances = pooled_scores(own_distance("mine", but_itself(value), TABLE), ALL)
    off = ~np.eye(3, dtype=bool)
    assert np.isnan(scores[off]).all()
    assert np.isnan(distances[off]).all()
    assert not distances[~off].any()


def test_a_text_that_gives_nan_with_itself_has_no_distance_from_itself() -> None:
    scores, distances = pooled_scores(own_distance("mine", lambda one, other: float("nan"), TABLE), ALL)
    assert np.isnan(scores).all()
    assert not np.diag(distances).any()


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, "None"),
        ("0.5", "a str"),
        (1j, "a complex"),
        (np.zeros(1), "a ndarray"),
        (np.array(0.5), "a ndarray"),
        ([1], "a list"),
    ],
)
def test_what_is_no_number_is_one_line(value: Any, seen: str) -> None:
    with pytest.raises(InputError) as caught:
        own_distance("mine", but_itself(value), TABLE).scores(ALL)
    assert str(caught.value) == f"distance 'mine' returns {seen} for 'a' and 'bbb'; wanted a real number"


@pytest.mark.parametrize("value", [-0.5, float("-inf"), -(10**400)])
def test_negative_distances_are_one_line(value: Any) -> None:
    with pytest.raises(InputError, match=r"distance 'mine' returns -.* for 'a' and 'bbb'; wanted 0 or more"):
        own_distance("mine", but_itself(value), TABLE).scores(ALL)


def test_a_distance_from_itself_is_one_line() -> None:
    with pytest.raises(InputError, match=r"distance 'mine' returns 0\.3 between a text and itself; wanted 0"):
        own_distance("mine", lambda one, other: 0.3, TABLE).scores(ALL)


def test_failures_of_the_function_are_one_short_line() -> None:
    hostile = "\x1b[31m" + "long\n" * 100

    def fails(one: str, other: str) -> float:
        raise ZeroDivisionError("two\nlines " + "x" * 1000)

    wanted = r"^distance 'mine' fails on '\\x1b\[31mlong\\n.*: ZeroDivisionError: two\\nlines"
    with pytest.raises(InputError, match=wanted) as caught:
        own_distance("mine", fails, table_of([[hostile]])).scores(np.arange(1))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize("name", ["", "two words", "a|b", "1st", "a-b", 3])
def test_names_are_identifiers(name: Any) -> None:
    with pytest.raises(InputError, match=r"distance name .*; wanted letters, digits and underscores"):
        own_distance(name, but_itself(1), TABLE)


@pytest.mark.parametrize("name", BUILT_IN)
def test_names_that_are_taken(name: str) -> None:
    with pytest.raises(InputError, match=f"distance name '{name}' is taken"):
        own_distance(name, but_itself(1), TABLE)


def test_what_is_no_function() -> None:
    function: Any = "len"
    with pytest.raises(InputError, match="distance 'mine' is a str; wanted a function of two texts"):
        own_distance("mine", function, TABLE)


@pytest.mark.parametrize("distances", [lambda one, other: 0.0, 3, [len], None])
def test_a_function_without_a_name_is_one_line(distances: Any) -> None:
    items = [{"references": ["a", "b"], "candidates": ["c"]}]
    with pytest.raises(InputError, match=r"distances=.*wanted names, or functions by name"):
        conditional(items, distances=distances, n_resamples=0)
