"""Energy distance against scipy in one dimension, hyppo's and scipy's tests, and the energy kernel of MMD."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import energy_distance, permutation_test

from tests.conftest import material
from tests.metrics.vectors.test_mmd import RESAMPLES, assert_agree, close_samples, run, vectors
from textassay.metrics.vectors.mmd import energy, energy_approximate, energy_exchange, mmd
from textassay.metrics.vectors.mmd import energy_parts as parts_of
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Resamples


@pytest.mark.parametrize(("n", "m"), [(30, 30), (25, 40), (2, 3)])
def test_is_the_square_of_scipys_in_one_dimension(n: int, m: int) -> None:
    a, b = vectors(0, n, d=1), vectors(1, m, shift=0.5, d=1)
    root = energy_distance(a.values[:, 0].astype(np.float64), b.values[:, 0].astype(np.float64))
    assert energy(a, b) == pytest.approx(root**2, rel=1e-6)


def test_is_the_definition_and_the_energy_kernel_of_mmd() -> None:
    a, b = vectors(0, 30), vectors(1, 20, shift=0.4)
    x, y = a.values.astype(np.float64), b.values.astype(np.float64)
    across, own, other = cdist(x, y), cdist(x, x), cdist(y, y)
    assert energy(a, b) == pytest.approx(2 * across.mean() - own.mean() - other.mean(), rel=1e-9)
    unbiased = 2 * across.mean() - own.sum() / (30 * 29) - other.sum() / (20 * 19)
    assert energy(a, b, variant="u") == pytest.approx(unbiased, rel=1e-9)
    assert energy(a, b, variant="u") == mmd(a, b, kernel="energy", variant="u")
    parts = parts_of(a, b, variant="v")
    assert parts["across"] == pytest.approx(across.mean())
    assert parts["within_reference"] == pytest.approx(other.mean())


def test_moving_and_turning_changes_nothing_and_scaling_scales() -> None:
    a, b = vectors(0, 30), vectors(1, 20, shift=0.4)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    moved = [Vectors((3 * (view.values @ turn) + 100).astype(np.float32)) for view in (a, b)]
    assert energy(moved[0], moved[1]) == pytest.approx(3 * float(energy(a, b)), rel=1e-4)


def test_unbiased_value_averages_to_zero_between_samples_of_one_source() -> None:
    splits = [float(energy(vectors(seed, 20), vectors(1000 + seed, 20), variant="u")) for seed in range(200)]
    assert abs(np.mean(splits)) < 4 * np.std(splits) / math.sqrt(200)


@pytest.mark.parametrize("variant", ["v", "u"])
def test_p_value_agrees_with_scipy(variant: Any) -> None:
    candidate, reference = close_samples()
    pooled = material(candidate + reference).view(Vectors).values.astype(np.float64)
    distances = cdist(pooled, pooled)

    def statistic(x: NDArray[Any], y: NDArray[Any]) -> float:
        x, y = x.astype(np.int64), y.astype(np.int64)
        own, other = (distances[np.ix_(side, side)].mean() for side in (x, y))
        # Of samples of one size, both variants put the exchanges in the same order.
        return float(2 * distances[np.ix_(x, y)].mean() - own - other)

    places = (np.arange(40.0), np.arange(40.0, 80.0))
    theirs = permutation_test(
        places, statistic, n_resamples=RESAMPLES, vectorized=False, alternative="greater", rng=np.random.default_rng(0)
    )
    assert_agree(run(f"energy:variant={variant}", candidate, reference, RESAMPLES).p_value, theirs.pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Energy", "DISCO"])
def test_p_value_agrees_with_hyppo(name: str) -> None:
    candidate, reference = close_samples()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ksample = pytest.importorskip("hyppo.ksample")
        a, b = (material(texts).view(Vectors).values.astype(np.float64) for texts in (candidate, reference))
        theirs = getattr(ksample, name)(bias=True).test(a, b, reps=RESAMPLES, auto=False, random_state=0)
    assert_agree(run("energy", candidate, reference, RESAMPLES).p_value, theirs.pvalue)


def test_every_exchange_of_few_texts_is_the_metric_anew() -> None:
    pooled = np.concatenate((vectors(0, 4).values, vectors(1, 5).values))
    masks = np.array([np.random.default_rng(seed).permutation(9) < 4 for seed in range(40)])
    resamples = Resamples(np.arange(9), (masks, ~masks))
    quick = energy_exchange(Vectors(pooled[:4]), Vectors(pooled[4:]), resamples=resamples, variant="v")
    anew = [float(energy(Vectors(pooled[mask]), Vectors(pooled[~mask]))) for mask in masks]
    np.testing.assert_allclose(quick, anew, rtol=1e-12)


def test_edges_have_honest_values() -> None:
    same = run("energy", ["a b c"] * 30, ["a b c"] * 25)
    assert (same.estimate, same.p_value, same.interval) == (0.0, 1.0, None)
    assert run("energy", [""] * 20, ["a b"] * 20).estimate == pytest.approx(2.0)
    assert run("energy", ["a b"], ["e f", "g h"]).undefined == "1 text in the candidate; needs 2 or more"


def test_signature_has_the_slices() -> None:
    assert [energy_approximate(n) for n in (32_768, 32_769, 100_000)] == [{}, {"slices": 5}, {"slices": 13}]
