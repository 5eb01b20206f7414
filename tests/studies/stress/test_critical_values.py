"""Critical values from undamaged draws."""

import math

import numpy as np
import pytest

from textassay.metrics.registry import Request, parse_requests
from textassay.studies.stress.powers import CriticalValues

NULL = [float(value) for value in range(1, 100)]


def _request(name: str) -> Request:
    return parse_requests([name])[0]


def test_a_lower_metric_is_found_above_and_praised_below() -> None:
    test = CriticalValues.of(_request("cnd"), NULL, 0.95)
    assert test.critical == 95.0
    assert [test.is_found(value, 0.5) for value in (95.5, 94.5, -3.0)] == [True, False, False]
    assert [test.is_praised(value, 0.5) for value in (95.5, 4.5, 5.5)] == [False, True, False]


def test_a_higher_metric_is_found_below_and_praised_above() -> None:
    test = CriticalValues.of(_request("bleu"), NULL, 0.95)
    assert [test.is_found(value, 0.5) for value in (4.5, 5.5, 120.0)] == [True, False, False]
    assert test.is_praised(120.0, 0.5)


def test_a_metric_without_direction_is_found_on_both_sides_and_never_praised() -> None:
    test = CriticalValues.of(_request("distinct"), [value - 50 for value in NULL], 0.95)
    assert [test.is_found(value, 0.5) for value in (-60.0, 60.0, 10.0)] == [True, True, False]
    assert not test.is_praised(60.0, 0.5)


def test_the_level_is_exact_with_ties() -> None:
    """Of 100 undamaged draws four have a 1 and the others a 0; each is equally likely to be the tested one."""
    points = (np.arange(2000) + 0.5) / 2000
    chance = 0.0
    for value, ones, share in ((1.0, 3, 0.04), (0.0, 4, 0.96)):
        test = CriticalValues.of(_request("cnd"), [0.0] * (99 - ones) + [1.0] * ones, 0.95)
        chance += share * float(np.mean([test.is_found(value, u) for u in points]))
    assert chance == pytest.approx(0.05, abs=0.001)


def test_an_undefined_value_is_never_found() -> None:
    test = CriticalValues.of(_request("cnd"), [*NULL, math.nan], 0.95)
    assert len(test.null) == 99
    assert not test.is_found(math.nan, 0.0)
    assert not CriticalValues.of(_request("cnd"), [math.nan], 0.95).is_found(1.0, 0.0)
