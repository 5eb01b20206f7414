"""The combination of the bank's tests: exact under the null hypothesis, and not deafened by counts with many ties."""

import numpy as np
import pytest

from textassay.inference.overall.bank import BANK
from textassay.inference.overall.test import combine, smooth_p
from textassay.inference.p_values import at_least

ROWS = 200


def counts(rng: np.random.Generator) -> np.ndarray:
    """How far a rare count is from its mean: nearly all values are close together, a few are far out."""
    drawn = rng.choice([0.0, 0.004, -0.004, 0.008], ROWS, p=[0.9, 0.045, 0.045, 0.01])
    return np.abs(drawn - 1e-6)


def p_of(words: np.ndarray, repeats: np.ndarray) -> float:
    return float(at_least(combine(np.stack([words, repeats]), members=BANK[:2]))[0] / ROWS)


@pytest.mark.parametrize("seed", range(30))
def test_a_clear_difference_is_found_beside_a_count_of_rare_repeats(seed: int) -> None:
    """One far-out count of an exchange made all labellings equal before: p was 1."""
    rng = np.random.default_rng(seed)
    words = rng.standard_normal(ROWS)
    words[0] += 8
    assert p_of(words, counts(rng)) <= 0.02


def test_the_level_is_kept() -> None:
    rng = np.random.default_rng(0)
    found = [p_of(rng.standard_normal(ROWS), counts(rng)) for _ in range(2000)]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 2000))


def test_equal_values_have_at_least_half_their_share() -> None:
    values = np.array([0.0] * 380 + [1e-6] * 17 + [5.0] * 3)
    assert smooth_p(values)[-1] == pytest.approx(2 / 800)
    values[-1] = 1e9
    assert smooth_p(values)[-1] < 1e-12
