"""Precision, recall, density and coverage against the package prdc, a plain double loop, and numbers by hand."""

import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.conftest import material
from tests.laws import corpus, run
from textassay.inference.intervals import group_labels
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.registry import all_metrics, parse_requests
from textassay.metrics.vectors import prdc as ball_shares
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Resamples

F32 = NDArray[np.float32]
NAMES = ("precision", "recall", "density", "coverage")


def points(size: int, dimension: int, seed: int, *, shift: float = 0.0) -> F32:
    return (np.random.default_rng(seed).standard_normal((size, dimension)) + shift).astype(np.float32)


def ours(candidate: F32, reference: F32, k: int, variant: str = "paper") -> dict[str, float]:
    views = Vectors(candidate), Vectors(reference)
    return {name: all_metrics()[name].function(*views, k=k, variant=variant) for name in NAMES}


def double_loop(candidate: F32, reference: F32, k: int, variant: str = "paper") -> dict[str, Fraction]:
    """The definitions, pair by pair and in fractions; equal vectors are exactly 0 apart."""

    def gap(one: F32, other: F32) -> float:
        return sum((x - y) ** 2 for x, y in zip(one.tolist(), other.tolist(), strict=True))

    def members(centres: F32, others: F32) -> list[list[Fraction]]:
        """How much of each of the others is in the ball of each centre."""
        table = []
        for i, centre in enumerate(centres):
            own = sorted(gap(centre, other) for j, other in enumerate(centres) if j != i)
            radius = own[k - 1]
            share = Fraction(k - sum(d < radius for d in own), own.count(radius) + 1)
            rim = share if variant == "paper" else Fraction(0)
            gaps = [gap(centre, other) for other in others]
            table.append([Fraction(1) if d < radius else rim if d == radius else Fraction(0) for d in gaps])
        return table

    held, back = members(reference, candidate), members(candidate, reference)
    return {
        "precision": Fraction(sum(any(column) for column in zip(*held, strict=True)), len(candidate)),
        "recall": Fraction(sum(any(column) for column in zip(*back, strict=True)), len(reference)),
        "density": sum((share for row in held for share in row), Fraction(0)) / (k * len(candidate)),
        "coverage": Fraction(sum(any(row) for row in held), len(reference)),
    }


def in_numbers(shares: dict[str, Fraction]) -> dict[str, float]:
    return {name: float(share) for name, share in shares.items()}


@pytest.mark.parametrize("variant", ["released", "paper"])
@settings(max_examples=20, deadline=None)
@given(
    k=st.integers(1, 8),
    more=st.integers(2, 150),
    others=st.integers(2, 150),
    dimension=st.integers(1, 40),
    shift=st.floats(0, 2),
    seed=st.integers(0, 99),
)
def test_equals_prdc(variant: str, k: int, more: int, others: int, dimension: int, shift: float, seed: int) -> None:
    """Without ties both variants are the released code's numbers."""
    prdc = pytest.importorskip("prdc")
    candidate, reference = points(k + more, dimension, seed, shift=shift), points(k + others, dimension, seed + 1000)
    # In single precision prdc rounds its distances to single precision too, and makes ties where there are none.
    theirs = prdc.compute_prdc(reference.astype(np.float64), candidate.astype(np.float64), nearest_k=k)
    assert ours(candidate, reference, k, variant) == pytest.approx(theirs, abs=1e-12)


def test_released_equals_prdc_where_texts_repeat() -> None:
    """Single coordinates, whole numbers: prdc's distances are then exact, and copies are 0 apart."""
    prdc = pytest.importorskip("prdc")
    rng = np.random.default_rng(0)
    for k in (1, 3, 5):
        candidate, reference = (rng.integers(0, 9, (size, 1)).astype(np.float32) for size in (40, 60))
        theirs = prdc.compute_prdc(reference.astype(np.float64), candidate.astype(np.float64), nearest_k=k)
        assert ours(candidate, reference, k, "released") == pytest.approx(theirs, abs=1e-12)


def test_equals_prdc_above_the_size_of_a_block() -> None:
    prdc = pytest.importorskip("prdc")
    candidate, reference = points(1500, 24, 1, shift=0.3), points(2000, 24, 2)
    theirs = prdc.compute_prdc(reference.astype(np.float64), candidate.astype(np.float64), nearest_k=5)
    assert ours(candidate, reference, 5) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("variant", ["released", "paper"])
@settings(max_examples=25, deadline=None)
@given(
    k=st.integers(1, 4),
    more=st.integers(2, 25),
    others=st.integers(2, 25),
    distinct=st.integers(1, 8),
    seed=st.integers(0, 99),
)
def test_copies_and_ties_are_exact(variant: str, k: int, more: int, others: int, distinct: int, seed: int) -> None:
    """Not against prdc: it puts copies a rounding error apart, and their balls then hold what they should not."""
    rng = np.random.default_rng(seed)
    places = np.round(points(distinct + 4, 3, seed))
    candidate = places[rng.integers(0, distinct, k + more)]
    reference = places[rng.integers(0, distinct + 4, k + others)]
    plain = in_numbers(double_loop(candidate, reference, k, variant))
    assert ours(candidate, reference, k, variant) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("pooled", [[0, 0, 0, 1, 1, 3, 4, 4], [0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_density_averages_to_one_over_all_labellings(pooled: list[int], k: int) -> None:
    """Whatever ties: over all ways to call four of the texts references, and so for samples of one source."""
    total, ways = Fraction(0), 0
    values = np.array(pooled, dtype=np.float32)[:, None]
    for chosen in combinations(range(len(pooled)), 4):
        is_reference = np.isin(np.arange(len(pooled)), chosen)
        candidate, reference = values[~is_reference], values[is_reference]
        exact = double_loop(candidate, reference, k)["density"]
        assert ours(candidate, reference, k)["density"] == pytest.approx(float(exact), abs=1e-12)
        total, ways = total + exact, ways + 1
    assert total / ways == 1


def with_stock_replies(plain: F32, rng: np.random.Generator) -> F32:
    """Half of the rows are one of three stock replies."""
    stock = points(3, plain.shape[1], 7)
    is_stock = rng.permutation(len(plain)) < len(plain) // 2
    return np.where(is_stock[:, None], stock[rng.integers(0, 3, len(plain))], plain)


@pytest.mark.parametrize("size", [200, 600])
def test_one_source_of_which_half_are_stock_replies(size: int) -> None:
    rng = np.random.default_rng(size)
    candidate, reference = (with_stock_replies(points(size, 4, seed), rng) for seed in (1, 2))
    found = ours(candidate, reference, 5)
    assert min(found["precision"], found["recall"], found["coverage"]) >= 0.95
    assert found["density"] == pytest.approx(1, abs=0.1)
    assert max(ours(candidate, reference, 5, "released").values()) < 0.65
    # The same for exchanged labels and with groups left out.
    views = Vectors(candidate), Vectors(reference)
    resamples = shift_labels(candidate, reference, 70)
    labels = (group_labels(size, rng), group_labels(size, rng))
    for name, metric in ((name, all_metrics()[name]) for name in NAMES):
        assert metric.exchange is not None
        assert metric.leave_out is not None
        exchanged = metric.exchange(*views, resamples=resamples, k=5, variant="paper")
        left = metric.leave_out(*views, labels=labels, k=5, variant="paper")
        for values in (exchanged, *left):
            assert np.mean(values) == pytest.approx(1, abs=0.1) if name == "density" else np.min(values) >= 0.93


def test_real_captions_of_which_half_are_stock_replies(data: Path) -> None:
    """A stock reply is inside the balls of its copies, so the shares are half 1 and half those of the other texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = (data / "coco" / "test.txt").read_text(encoding="utf-8").split("\n")[:2000]
    vectors = TruncatedSVD(32, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts))
    halves = np.split(vectors.astype(np.float32), 2)
    rng = np.random.default_rng(0)
    found = ours(with_stock_replies(halves[0], rng), with_stock_replies(halves[1], rng), 5)
    plain = ours(halves[0][:500], halves[1][:500], 5)
    assert found == pytest.approx({name: (1 + value) / 2 for name, value in plain.items()}, abs=0.03)
    assert min(found[name] for name in ("precision", "recall", "coverage")) >= 0.94


def test_a_collapsed_generator() -> None:
    """Few distinct texts, each written often: candidates' balls of no width, references whose neighbours are copies."""
    rng = np.random.default_rng(0)
    candidate, reference = points(40, 16, 1)[rng.integers(0, 40, 1500)], points(1200, 16, 2)
    gaps = np.array([((reference.astype(np.float64) - row) ** 2).sum(axis=1) for row in candidate.astype(np.float64)])
    own = np.array([((reference.astype(np.float64) - row) ** 2).sum(axis=1) for row in reference.astype(np.float64)])
    held = gaps < np.sort(own, axis=1)[:, 5]
    for variant in ("paper", "released"):
        found = ours(candidate, reference, 5, variant)
        assert found["recall"] == 0
        assert found["precision"] == pytest.approx(held.any(axis=1).mean(), abs=1e-12)
        assert found["density"] == pytest.approx(held.sum() / (5 * 1500), abs=1e-12)
        assert found["coverage"] == pytest.approx(held.any(axis=0).mean(), abs=1e-12)


def test_by_hand() -> None:
    """References at 0, 1, 3: radii 1, 1, 2. Candidates at 0.5, 1.5, 9: radii 1, 1, 7.5. 1.5 is 1.5 away from 3."""
    candidate, reference = (np.array([row], dtype=np.float32).T for row in ([0.5, 1.5, 9], [0, 1, 3]))
    for variant in ("paper", "released"):
        found = ours(candidate, reference, 1, variant)
        assert found == pytest.approx({"precision": 2 / 3, "recall": 1, "density": 4 / 3, "coverage": 1})


def test_on_the_rim_by_hand() -> None:
    """References at 0 and 1 with radius 1, both candidates at 2, on the rim of one: in, and half a member each."""
    candidate, reference = (np.array([row], dtype=np.float32).T for row in ([2, 2], [0, 1]))
    wanted = {"precision": 1, "recall": 0, "density": 2 * 0.5 / 2, "coverage": 1 / 2}
    assert ours(candidate, reference, 1) == pytest.approx(wanted)
    assert set(ours(candidate, reference, 1, "released").values()) == {0}


def test_samples_of_one_source() -> None:
    """Naeem et al. (2020): density has expectation 1, and coverage nearly 1 - 2**-k for samples of one size."""
    found = ours(points(1500, 12, 1), points(1500, 12, 2), 3)
    assert found["density"] == pytest.approx(1, abs=0.08)
    assert found["coverage"] == pytest.approx(1 - 2**-3, abs=0.03)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_texts_alike(value: float) -> None:
    """Each ball holds everything on its rim of radius 0; open balls hold nothing, as prdc reports it."""
    same = np.full((8, 4), value, dtype=np.float32)
    assert set(ours(same, same[:7], 5).values()) == {1.0}
    assert set(ours(same, same[:7], 5, "released").values()) == {0.0}
    mixed = ours(same, points(9, 4, 1), 5)
    assert mixed == pytest.approx(in_numbers(double_loop(same, points(9, 4, 1), 5)), abs=1e-12)


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
    found = {name: quick[name](*views, resamples=resamples, k=3, variant="paper") for name in NAMES}
    for row, (mine, theirs) in enumerate(zip(*resamples.masks, strict=True)):
        anew = ours(pooled[mine[resamples.units]], pooled[theirs[resamples.units]], 3)
        assert {name: found[name][row] for name in NAMES} == pytest.approx(anew, abs=1e-12)
    again = ball_shares.shares_exchanged(*views, resamples=resamples, k=3, variant="paper")
    assert again.precision is found["precision"]
    assert again.recall is found["recall"]
    other = shift_labels(candidate, reference, 3)
    assert len(quick["recall"](*views, resamples=other, k=3, variant="paper")) == 4


def test_groups_left_out_are_measured_anew_and_shared() -> None:
    candidate, reference = points(45, 3, 1), points(64, 3, 2)[:32].repeat(2, axis=0)
    views = Vectors(candidate), Vectors(reference)
    rng = np.random.default_rng(0)
    labels = (group_labels(45, rng), group_labels(64, rng))
    for name in NAMES:
        leave_out: Any = all_metrics()[name].leave_out
        mine, theirs = leave_out(*views, labels=labels, k=2, variant="paper")
        for group in range(20):
            # Density adds fractions, in another order for another labelling.
            anew = [
                ours(candidate[labels[0] != group], reference, 2),
                ours(candidate, reference[labels[1] != group], 2),
            ]
            assert [mine[group], theirs[group]] == pytest.approx([each[name] for each in anew], rel=1e-14)
    assert ball_shares.shares_without_groups(*views, labels=labels, k=2, variant="paper")[1].coverage is theirs


def test_density_is_tested_both_ways() -> None:
    """A generator that repeats a few common texts has too high a density, one that writes noise too low a one."""
    real = corpus(1, 80)
    concentrated = ["w0 w1 w2 w3 w0", "w0 w1 w2 w0 w1"] * 40
    noise = corpus(2, 80, words=[f"v{i}" for i in range(40)])
    request = parse_requests(["density"])[0]
    usual = run(request, corpus(3, 80), real).results[0]
    for candidate, above in ((concentrated, True), (noise, False)):
        found = run(request, candidate, real).results[0]
        assert (found.estimate > usual.estimate) == above
        assert found.p_value is not None
        assert found.p_value <= 0.02
