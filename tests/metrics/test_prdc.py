"""Precision, recall, density and coverage against the package prdc, a plain double loop, and numbers by hand."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.conftest import material
from tests.laws import corpus, run
from textassay.inference.jackknife import group_labels
from textassay.inference.measure import Plan, measure
from textassay.inference.request import parse_requests
from textassay.metrics.declare import all_metrics
from textassay.views import ball_shares
from textassay.views.material import Resamples
from textassay.views.vectors import Vectors

F32 = NDArray[np.float32]
NAMES = ("precision", "recall", "density", "coverage")


def points(size: int, dimension: int, seed: int, *, shift: float = 0.0) -> F32:
    return (np.random.default_rng(seed).standard_normal((size, dimension)) + shift).astype(np.float32)


def ours(candidate: F32, reference: F32, k: int) -> dict[str, float]:
    views = Vectors(candidate), Vectors(reference)
    return {name: all_metrics()[name].function(*views, k=k) for name in NAMES}


def double_loop(candidate: F32, reference: F32, k: int) -> dict[str, float]:
    """The definitions, pair by pair; equal vectors are exactly 0 apart."""

    def gap(one: F32, other: F32) -> float:
        return float(((one.astype(np.float64) - other.astype(np.float64)) ** 2).sum())

    def radii(sample: F32) -> list[float]:
        return [sorted(gap(x, y) for j, y in enumerate(sample) if j != i)[k - 1] for i, x in enumerate(sample)]

    real, fake = radii(reference), radii(candidate)
    held = np.array([[gap(x, y) < r for y in candidate] for x, r in zip(reference, real, strict=True)])
    back = np.array([[gap(x, y) < r for y, r in zip(candidate, fake, strict=True)] for x in reference])
    return {
        "precision": float(held.any(axis=0).mean()),
        "recall": float(back.any(axis=1).mean()),
        "density": float(held.sum() / (k * len(candidate))),
        "coverage": float(held.any(axis=1).mean()),
    }


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 8), st.integers(2, 150), st.integers(2, 150), st.integers(1, 40), st.floats(0, 2), st.integers(0, 99)
)
def test_equals_prdc(k: int, more: int, others: int, dimension: int, shift: float, seed: int) -> None:
    prdc = pytest.importorskip("prdc")
    candidate, reference = points(k + more, dimension, seed, shift=shift), points(k + others, dimension, seed + 1000)
    # In single precision prdc rounds its distances to single precision too, and makes ties where there are none.
    theirs = prdc.compute_prdc(reference.astype(np.float64), candidate.astype(np.float64), nearest_k=k)
    assert ours(candidate, reference, k) == pytest.approx(theirs, abs=1e-12)


def test_equals_prdc_above_the_size_of_a_block() -> None:
    prdc = pytest.importorskip("prdc")
    candidate, reference = points(1500, 24, 1, shift=0.3), points(2000, 24, 2)
    theirs = prdc.compute_prdc(reference.astype(np.float64), candidate.astype(np.float64), nearest_k=5)
    assert ours(candidate, reference, 5) == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(2, 25), st.integers(2, 25), st.integers(1, 8), st.integers(0, 99))
def test_copies_and_ties_are_exact(k: int, more: int, others: int, distinct: int, seed: int) -> None:
    """Not against prdc: it puts copies a rounding error apart, and their balls then hold what they should not."""
    rng = np.random.default_rng(seed)
    places = np.round(points(distinct + 4, 3, seed))
    candidate = places[rng.integers(0, distinct, k + more)]
    reference = places[rng.integers(0, distinct + 4, k + others)]
    if np.unique(reference, axis=0, return_counts=True)[1].min() > k:
        assert all(math.isnan(value) for value in ours(candidate, reference, k).values())
    else:
        assert ours(candidate, reference, k) == pytest.approx(double_loop(candidate, reference, k), abs=1e-12)


def test_a_collapsed_generator() -> None:
    """Few distinct texts, each written often: balls of no width, and references whose neighbours are all copies."""
    rng = np.random.default_rng(0)
    candidate, reference = points(40, 16, 1)[rng.integers(0, 40, 1500)], points(1200, 16, 2)
    found = ours(candidate, reference, 5)
    gaps = np.array([((reference.astype(np.float64) - row) ** 2).sum(axis=1) for row in candidate.astype(np.float64)])
    own = np.array([((reference.astype(np.float64) - row) ** 2).sum(axis=1) for row in reference.astype(np.float64)])
    held = gaps < np.sort(own, axis=1)[:, 5]
    assert found["recall"] == 0
    assert found["precision"] == pytest.approx(held.any(axis=1).mean(), abs=1e-12)
    assert found["density"] == pytest.approx(held.sum() / (5 * 1500), abs=1e-12)
    assert found["coverage"] == pytest.approx(held.any(axis=0).mean(), abs=1e-12)


def test_by_hand() -> None:
    """References at 0, 1, 3: radii 1, 1, 2. Candidates at 0.5, 1.5, 9: radii 1, 1, 7.5. A point on the rim is out."""
    candidate, reference = (np.array([row], dtype=np.float32).T for row in ([0.5, 1.5, 9], [0, 1, 3]))
    found = ours(candidate, reference, 1)
    assert found == pytest.approx({"precision": 2 / 3, "recall": 1, "density": 4 / 3, "coverage": 1})
    on_the_rim = np.array([[2], [2]], dtype=np.float32)
    assert ours(on_the_rim, reference[:2], 1) == {"precision": 0, "recall": 0, "density": 0, "coverage": 0}


def test_samples_of_one_source() -> None:
    """Naeem et al. (2020): density has expectation 1, and coverage nearly 1 - 2**-k for samples of one size."""
    found = ours(points(1500, 12, 1), points(1500, 12, 2), 3)
    assert found["density"] == pytest.approx(1, abs=0.08)
    assert found["coverage"] == pytest.approx(1 - 2**-3, abs=0.03)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_texts_alike(value: float) -> None:
    """Balls of a reference that only repeats itself have no width and measure nothing."""
    same = np.full((8, 4), value, dtype=np.float32)
    assert all(math.isnan(number) for number in ours(same, same[:7], 5).values())
    mixed = ours(same, points(9, 4, 1), 5)
    assert mixed == pytest.approx(double_loop(same, points(9, 4, 1), 5), abs=1e-12)


def test_too_few_texts_are_undefined() -> None:
    roles = {"candidate": material(corpus(1, 8)), "reference": material(corpus(2, 30))}
    results = measure(parse_requests([f"{name}:k=8" for name in NAMES]), roles, plan=Plan(n_resamples=0)).results
    assert [result.undefined for result in results] == ["8 texts in the candidate; needs 9 or more"] * 4
    assert all(math.isnan(value) for value in ours(points(5, 3, 1), points(30, 3, 2), 5).values())


def shift_labels(candidate: F32, reference: F32, rows: int) -> Resamples:
    """Random exchanges of blocks of two texts; the first row is what was observed."""
    units = np.concatenate((np.arange(len(candidate)) // 2, 1000 + np.arange(len(reference)) // 2))
    units = np.unique(units, return_inverse=True)[1]
    mine = np.arange(units.max() + 1) < units[len(candidate)]
    rng = np.random.default_rng(0)
    masks = np.array([mine, *(rng.permutation(mine) for _ in range(rows))])
    return Resamples(units, (masks, ~masks))


def test_exchanges_are_measured_anew_and_shared() -> None:
    candidate, reference = points(60, 4, 1, shift=0.4)[:50].repeat(2, axis=0), points(70, 4, 2)
    views = Vectors(candidate), Vectors(reference)
    resamples = shift_labels(candidate, reference, 100)
    pooled = np.concatenate((candidate, reference))
    quick: Any = {name: all_metrics()[name].exchange for name in NAMES}
    found = {name: quick[name](*views, resamples=resamples, k=3) for name in NAMES}
    for row, (mine, theirs) in enumerate(zip(*resamples.masks, strict=True)):
        anew = ours(pooled[mine[resamples.units]], pooled[theirs[resamples.units]], 3)
        assert {name: found[name][row] for name in NAMES} == pytest.approx(anew, abs=1e-12)
    again = ball_shares.shares_exchanged(*views, resamples=resamples, k=3)
    assert again.precision is found["precision"]
    assert again.recall is found["recall"]
    other = shift_labels(candidate, reference, 3)
    assert len(quick["recall"](*views, resamples=other, k=3)) == 4


def test_groups_left_out_are_measured_anew_and_shared() -> None:
    candidate, reference = points(45, 3, 1), points(64, 3, 2)[:32].repeat(2, axis=0)
    views = Vectors(candidate), Vectors(reference)
    rng = np.random.default_rng(0)
    labels = (group_labels(45, rng), group_labels(64, rng))
    for name in NAMES:
        leave_out: Any = all_metrics()[name].leave_out
        mine, theirs = leave_out(*views, labels=labels, k=2)
        for group in range(20):
            assert mine[group] == ours(candidate[labels[0] != group], reference, 2)[name]
            assert theirs[group] == ours(candidate, reference[labels[1] != group], 2)[name]
    assert ball_shares.shares_without_groups(*views, labels=labels, k=2)[1].coverage is theirs


def test_density_is_tested_both_ways() -> None:
    """A generator that repeats a few common texts has too high a density, one that writes noise too low a one."""
    real = corpus(1, 80)
    crowd = ["w0 w1 w2 w3 w0", "w0 w1 w2 w0 w1"] * 40
    noise = corpus(2, 80, words=[f"v{i}" for i in range(40)])
    request = parse_requests(["density"])[0]
    usual = run(request, corpus(3, 80), real).results[0]
    for candidate, above in ((crowd, True), (noise, False)):
        found = run(request, candidate, real).results[0]
        assert (found.estimate > usual.estimate) == above
        assert found.p_value is not None
        assert found.p_value <= 0.02
