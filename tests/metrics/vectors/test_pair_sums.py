"""Kernels, bandwidth, pair sums and unit sums against plain loops, in tiles, in slices and at the edges."""

import tracemalloc
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from textassay.corpus.arrays import F64
from textassay.inference.intervals import group_labels
from textassay.inference.permutation import exchange_units
from textassay.metrics.items.item_pool import random_masks
from textassay.metrics.vectors import kernels
from textassay.metrics.vectors import kernels as kernel_tiles
from textassay.metrics.vectors import kernels as slices
from textassay.metrics.vectors import pair_sums as unit_sums
from textassay.metrics.vectors.kernels import Kernel, bandwidth, count_slices, slice_of
from textassay.metrics.vectors.pair_sums import PairSums, exchanged, observed, without_groups
from textassay.metrics.vectors.vectors import Joint, Vectors, joint, squared_distances
from textassay.metrics.views import Resamples

KERNELS: list[Kernel] = ["rbf", "laplacian", "energy", "polynomial"]


def points(seed: int, n: int, *, d: int = 6, shift: float = 0.0) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).standard_normal((n, d)) + shift
    values[0] = values[1]
    values[2] = 0
    return values.astype(np.float32)


def pair(n: int = 30, m: int = 40, *, d: int = 6) -> Joint:
    return joint(Vectors(points(1, n, d=d)), Vectors(points(2, m, d=d, shift=0.2)))


def formula(kernel: Kernel, sigma: float, d: int) -> Callable[[F64, F64], float]:
    return {
        "rbf": lambda x, y: float(np.exp(-((x - y) ** 2).sum() / (2 * sigma**2))),
        "laplacian": lambda x, y: float(np.exp(-np.sqrt(((x - y) ** 2).sum()) / sigma)),
        "energy": lambda x, y: -float(np.sqrt(((x - y) ** 2).sum())),
        "polynomial": lambda x, y: float((x @ y / d + 1) ** 3),
    }[kernel]


def plain(one: F64, other: F64, k: Callable[[F64, F64], float], *, unbiased: bool) -> float:
    """The definition, a pair at a time."""

    def inside(texts: F64) -> float:
        places = range(len(texts))
        pairs = [(i, j) for i, j in product(places, places) if i != j or not unbiased]
        return float(np.mean([k(texts[i], texts[j]) for i, j in pairs]))

    return inside(one) + inside(other) - 2 * float(np.mean([k(x, y) for x in one for y in other]))


def resamples(sizes: tuple[int, int], rows: int = 30) -> Resamples:
    units, blocks = exchange_units(sizes, 0)
    truth = np.arange(sum(blocks)) < blocks[0]
    masks = np.concatenate((truth[None, :], random_masks(*blocks, rows=rows, seed=0)))
    whole = np.concatenate((masks, np.broadcast_to([True, False], (len(masks), 2))), axis=1)
    return Resamples(units, (whole, ~whole))


def values(sums: PairSums) -> NDArray[np.float64]:
    return np.array([sums.discrepancy(unbiased=unbiased) for unbiased in (False, True)])


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_value_is_the_plain_double_loop(kernel: Kernel, unbiased: bool) -> None:
    both = pair(12, 15)
    a, b = both.candidate.values.astype(np.float64), both.reference.values.astype(np.float64)
    k = formula(kernel, float(np.median(pdist(np.concatenate((a, b))))) / 2, d=6)
    found = observed(both, kernel).discrepancy(unbiased=unbiased)
    assert found == pytest.approx(plain(a, b, k, unbiased=unbiased), rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_exchanged_labels_and_left_out_groups_are_the_plain_double_loop(kernel: Kernel) -> None:
    both = pair(20, 25)
    pooled = both.values.astype(np.float64)
    k = formula(kernel, bandwidth(both), d=6)
    rows = resamples(both.sizes, rows=5)
    quick = exchanged(both, kernel, rows).discrepancy(unbiased=True)
    for mask, value in zip(rows.masks[0], quick, strict=True):
        chosen = mask[rows.units]
        assert value == pytest.approx(plain(pooled[chosen], pooled[~chosen], k, unbiased=True), rel=1e-10, abs=1e-14)
    labels = tuple(group_labels(size, np.random.default_rng(3)) for size in both.sizes)
    left = [sums.discrepancy(unbiased=True) for sums in without_groups(both, kernel, labels)]
    for group in (0, 7):
        one, other = both.candidate.values.astype(np.float64), both.reference.values.astype(np.float64)
        fewer = plain(one[labels[0] != group], other, k, unbiased=True)
        assert left[0][group] == pytest.approx(fewer, rel=1e-10, abs=1e-14)
        fewer = plain(one, other[labels[1] != group], k, unbiased=True)
        assert left[1][group] == pytest.approx(fewer, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiles_and_blocks_change_nothing(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    n, m = 330, 405
    labels = tuple(group_labels(size, np.random.default_rng(3)) for size in (n, m))
    # Blocks of four texts, some of them cut by the edge of a tile, and three texts left over.
    units = np.random.default_rng(5).permutation(np.minimum(np.arange(n + m) // 4, 183))
    mask = np.random.default_rng(6).random((9, 184)) < 0.4

    def all_of_them() -> list[NDArray[np.float64]]:
        both = pair(n, m)
        found = [values(observed(both, kernel)), values(exchanged(both, kernel, Resamples(units, (mask, ~mask))))]
        return found + [values(sums) for sums in without_groups(both, kernel, labels)]

    whole = all_of_them()
    monkeypatch.setattr(kernel_tiles, "FEW_TEXTS", 10)
    monkeypatch.setattr(kernel_tiles, "_TILE", 100)
    for one, other in zip(whole, all_of_them(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_kernels_computed_together_are_those_computed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_tiles, "FEW_TEXTS", 10)
    rows, others = resamples((30, 40)), resamples((40, 30))
    first = {kernel: exchanged(pair(), kernel, rows).discrepancy(unbiased=False) for kernel in KERNELS}
    both = pair()
    for kernel in ("rbf", "energy", "rbf", "energy"):
        assert np.array_equal(exchanged(both, kernel, rows).discrepancy(unbiased=False), first[kernel])
    # What waits for another kernel serves the same units only.
    exchanged(both, "rbf", rows)
    swapped = Resamples(np.roll(others.units, 3), others.masks)
    anew = exchanged(pair(), "energy", swapped).discrepancy(unbiased=False)
    assert np.array_equal(exchanged(both, "energy", swapped).discrepancy(unbiased=False), anew)


@pytest.mark.parametrize("n", [7, 8, 9])
def test_bandwidth_is_half_the_median_distance(n: int) -> None:
    both = pair(n, 6)
    assert bandwidth(both) == pytest.approx(np.median(pdist(both.values.astype(np.float64))) / 2, rel=1e-12)


def test_bandwidth_of_mostly_equal_texts_is_that_of_the_others() -> None:
    same, lone = np.ones((9, 3), np.float32), np.array([[1, 4, 5]], np.float32)
    assert bandwidth(joint(Vectors(same), Vectors(lone))) == pytest.approx(2.5)
    assert bandwidth(joint(Vectors(same), Vectors(same[:4]))) > 0


def test_bandwidth_of_many_texts_knows_neither_order_nor_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "FEW_TEXTS", 50)
    monkeypatch.setattr(kernels, "BANDWIDTH_TEXTS", 60)
    pooled = points(1, 400)
    shuffled = np.random.default_rng(0).permutation(pooled)
    widths = [bandwidth(joint(Vectors(p[:cut]), Vectors(p[cut:]))) for p, cut in ((pooled, 200), (shuffled, 70))]
    assert widths[0] == pytest.approx(widths[1], rel=1e-12)
    assert widths[0] == pytest.approx(np.median(pdist(pooled)) / 2, rel=0.1)


def test_distances_of_equal_vectors_are_exactly_zero_and_others_exact() -> None:
    rows = points(4, 50, d=384).astype(np.float64) * 0.05 + 3
    rows[7] = rows[8] + 1e-4
    found = np.sqrt(squared_distances(rows, rows.copy()))
    assert found[0, 1] == 0
    assert (np.diag(found) == 0).all()
    np.testing.assert_allclose(found, cdist(rows, rows), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_texts_zero_vectors_and_copies_give_zero(kernel: Kernel) -> None:
    for texts in (np.full((9, 4), 0.3, np.float32), np.zeros((9, 4), np.float32)):
        both = joint(Vectors(texts), Vectors(texts[:5].copy()))
        assert (values(observed(both, kernel)) == 0).all()
        assert (values(exchanged(both, kernel, resamples((9, 5)))) == 0).all()
    copy = joint(Vectors(points(1, 40)), Vectors(points(1, 40)))
    assert observed(copy, kernel).discrepancy(unbiased=False) == 0
    assert observed(copy, kernel).discrepancy(unbiased=True) < 0


def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_TEXTS", 100)
    monkeypatch.setattr(slices, "SLICE_TEXTS", 50)


def test_slices_compare_only_texts_of_one_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    small_slices(monkeypatch)
    both = pair(80, 100)
    deal = slice_of(both)
    assert np.bincount(deal).tolist() == [45] * 4
    distances = -cdist(both.values.astype(np.float64), both.values.astype(np.float64))
    counted = (deal[:, None] == deal) & ~np.eye(180, dtype=bool)
    labels = (np.arange(80) % 20, np.arange(100) % 20)
    units = np.concatenate((labels[0], 20 + labels[1]))
    mine = np.random.default_rng(0).random((5, 40)) < 0.4

    def unbiased(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
        def mean(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
            return float(distances[counted & a[:, None] & b].mean())

        return mean(one, one) + mean(other, other) - 2 * mean(one, other)

    candidate = np.arange(180) < 80
    assert observed(both, "energy").discrepancy(unbiased=True) == pytest.approx(unbiased(candidate, ~candidate))
    quick = exchanged(both, "energy", Resamples(units, (mine, ~mine))).discrepancy(unbiased=True)
    np.testing.assert_allclose(quick, [unbiased(row[units], ~row[units]) for row in mine], rtol=1e-9)
    left = [sums.discrepancy(unbiased=True) for sums in without_groups(both, "energy", labels)]
    expected = [unbiased(candidate & (units != g), ~candidate) for g in range(20)]
    np.testing.assert_allclose(left[0], expected, rtol=1e-9)
    expected = [unbiased(candidate, ~candidate & (units != 20 + g)) for g in range(20)]
    np.testing.assert_allclose(left[1], expected, rtol=1e-9)


def test_slices_know_neither_order_nor_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring exchanged texts anew deals the same slices, so point value and test are one function."""
    small_slices(monkeypatch)
    rng = np.random.default_rng(0)
    one, other = (rng.standard_normal((n, 6)).astype(np.float32) for n in (80, 100))
    both = joint(Vectors(one), Vectors(other))
    masks = np.array([rng.permutation(180) < 80 for _ in range(8)])
    quick = values(exchanged(both, "rbf", Resamples(np.arange(180), (masks, ~masks))))
    anew = []
    for mask in masks:
        one, other = rng.permutation(both.values[mask]), rng.permutation(both.values[~mask])
        anew.append(values(observed(joint(Vectors(one), Vectors(other)), "rbf")))
    np.testing.assert_allclose(quick, np.array(anew).T, rtol=1e-9)


def test_slices_do_not_depend_on_the_order_of_texts_even_with_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    small_slices(monkeypatch)
    both, rng = pair(80, 100), np.random.default_rng(0)
    one, other = (Vectors(rng.permutation(view.values)) for view in (both.candidate, both.reference))
    np.testing.assert_allclose(values(observed(joint(one, other), "rbf")), values(observed(both, "rbf")), rtol=1e-9)


def test_slices_are_unbiased_for_the_full_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = []
    for seed in range(60):
        one, other = points(seed, 60), points(1000 + seed, 60, shift=0.3)
        monkeypatch.setattr(slices, "MOST_TEXTS", 1000)
        full = values(observed(joint(Vectors(one), Vectors(other)), "energy"))
        small_slices(monkeypatch)
        gaps.append(values(observed(joint(Vectors(one), Vectors(other)), "energy")) - full)
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0) / np.sqrt(len(gaps))
    assert (error > 0).all()
    assert (np.abs(mean) < 4 * error).all(), (mean, error)


def test_cost_is_linear_above_the_limit() -> None:
    def pairs(n: int) -> int:
        both = joint(Vectors(np.zeros((n, 1), np.float32)), Vectors(np.zeros((n, 1), np.float32)))
        return int((np.bincount(slice_of(both)) ** 2).sum())

    assert [count_slices(2 * n) for n in (16_384, 16_385, 40_000, 80_000)] == [1, 5, 10, 20]
    assert pairs(80_000) == pytest.approx(2 * pairs(40_000), rel=0.01)
    assert pairs(16_384) == 32_768**2
    assert pairs(16_385) < 32_768 * 8_192


def test_memory_does_not_grow_with_the_square_of_the_sample() -> None:
    both = joint(Vectors(points(1, 4000, d=2)), Vectors(points(2, 4000, d=2)))
    tracemalloc.start()
    observed(both, "energy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All pairs would be 512 MB; the largest thing there is, is the bandwidth's square of 2,048 texts, in four copies.
    assert peak < 160e6


@pytest.mark.parametrize("sizes", [(6, 50), (50, 6)])
def test_a_small_sample_beside_a_large_one_needs_no_matrix(
    sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal((sum(sizes), 5)).astype(np.float32)
    pair = joint(Vectors(values[: sizes[0]]), Vectors(values[sizes[0] :]))
    masks = np.array([rng.permutation(sum(sizes)) < sizes[0] for _ in range(20)])
    resamples = Resamples(np.arange(sum(sizes)), (masks, ~masks))
    whole = unit_sums.exchanged(pair, "rbf", resamples)
    monkeypatch.setattr(unit_sums, "_MOST_UNITS", 10)
    few = unit_sums.exchanged(pair, "rbf", resamples)
    for unbiased in (False, True):
        assert np.allclose(few.discrepancy(unbiased=unbiased), whole.discrepancy(unbiased=unbiased), rtol=1e-9)
