"""The best setting and the settings that cannot be distinguished from it."""

import math

import numpy as np
import pytest

from textassay.inference.intervals import Replicates
from textassay.studies.sweep.best import Valued, find_best

FOLDS, SIZE = 20, 10


def mean_with_replicates(values: np.ndarray, shared: np.ndarray | None = None) -> Valued:
    """The mean of folds of values (plus the mean of folds of shared values), and the same without each fold."""
    parts = [values] if shared is None else [values, shared]
    total = sum(float(part.mean()) for part in parts)
    without = [total + (part.mean() - part) / (FOLDS - 1) for part in parts]
    return Valued(total, Replicates(tuple(without)))


def folds(rng: np.random.Generator, mean: float, deviation: float = 1.0) -> np.ndarray:
    return rng.normal(mean, deviation / math.sqrt(SIZE), FOLDS)


def test_clear_differences_leave_the_best_setting_alone() -> None:
    rng = np.random.default_rng(0)
    values = {f"t={at}": mean_with_replicates(folds(rng, float(at))) for at in range(5)}
    assert find_best("m", "lower", values, None, level=0.95).among == ("t=0",)
    assert find_best("m", "higher", values, None, level=0.95).among == ("t=4",)
    best = find_best("m", "closer", values, mean_with_replicates(folds(rng, 2.0)), level=0.95)
    assert (best.setting, best.among) == ("t=2", ("t=2",))
    assert best.target == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("better", ["lower", "closer"])
@pytest.mark.parametrize("means", [(0.0, 0.0, 0.0), (0.1, -0.11, 0.2)])
def test_the_truly_best_setting_is_among_them_as_often_as_stated(better: str, means: tuple[float, ...]) -> None:
    rng = np.random.default_rng(1)
    truth = min(range(len(means)), key=lambda at: abs(means[at]) if better == "closer" else means[at])
    runs, kept = 150, 0
    for _ in range(runs):
        reference = folds(rng, 0.0, 3.0)
        shared = reference if better == "lower" else None
        values = {str(at): mean_with_replicates(folds(rng, mean), shared) for at, mean in enumerate(means)}
        real = mean_with_replicates(folds(rng, 0.0)) if better == "closer" else None
        kept += str(truth) in find_best("m", better, values, real, level=0.95).among
    # A true rate of 95 % gives less than 90 % in one of 200 runs of this test.
    assert kept / runs > 0.9


def test_the_noise_of_the_reference_cancels_out() -> None:
    rng = np.random.default_rng(2)
    reference = folds(rng, 0.0, 100.0)
    values = {str(mean): mean_with_replicates(folds(rng, mean), reference) for mean in (0.0, 0.5)}
    assert find_best("m", "lower", values, None, level=0.95).among == ("0.0",)


def test_the_same_prompts_make_differences_clearer() -> None:
    rng = np.random.default_rng(3)
    prompts = folds(rng, 0.0, 20.0)
    values = {str(mean): mean_with_replicates(prompts + folds(rng, mean)) for mean in (0.0, 0.5)}
    assert find_best("m", "lower", values, None, level=0.95).among == ("0.0", "0.5")
    assert find_best("m", "lower", values, None, level=0.95, paired=True).among == ("0.0",)


def test_settings_without_a_known_uncertainty_are_not_compared() -> None:
    rng = np.random.default_rng(4)
    known = {str(mean): mean_with_replicates(folds(rng, mean)) for mean in (0.0, 5.0)}
    missing = {"undefined": Valued(math.nan, None), "exact": Valued(1.0, None)}
    best = find_best("m", "lower", known | missing, None, level=0.95)
    assert (best.setting, best.among, best.unknown) == ("0.0", ("0.0",), ("exact",))
    best = find_best("m", "lower", {"a": Valued(1.0, None), "b": Valued(2.0, None)}, None, level=0.95)
    assert (best.setting, best.among, best.unknown) == ("a", ("a",), ("b",))
    assert find_best("m", "lower", {"a": Valued(math.nan, None)}, None, level=0.95).setting == ""


def test_equal_values_that_do_not_vary_are_not_distinguished() -> None:
    same = Valued(1.0, Replicates((np.ones(FOLDS),)))
    assert find_best("m", "lower", {"a": same, "b": same}, None, level=0.95).among == ("a", "b")
