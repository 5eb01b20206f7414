"""The Frechet distance against other arithmetic, at the edges, and under resampling."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import sqrtm

from tests.conftest import material
from textassay.inference.measure import measure
from textassay.inference.permutation import exchange_units
from textassay.inference.plan import Plan
from textassay.metrics.items.item_pool import all_masks, random_masks
from textassay.metrics.registry import parse_requests
from textassay.metrics.vectors import gaussians as bures_exchange
from textassay.metrics.vectors import vectors as moments
from textassay.metrics.vectors.frechet import exchange, frechet, leave_out, parts
from textassay.metrics.vectors.gaussians import expanded_exchanges
from textassay.metrics.vectors.vectors import Moments
from textassay.metrics.views import Resamples

Array = NDArray[Any]
DEFAULTS: dict[str, Any] = {"form": "root", "covariance": "unbiased", "variant": "plugin"}


def vectors(seed: int, n: int, d: int = 12, *, scale: float = 1.0, shift: float = 0.0) -> Array:
    """Vectors of falling variance, turned by a fixed rotation."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0]
    return ((rng.standard_normal((n, d)) * scale / np.arange(1, d + 1) + shift) @ turn).astype(np.float32)


def value(one: Array, other: Array, **options: Any) -> float:
    return frechet(Moments.of_values(one), Moments.of_values(other), **options)


def by_sqrtm(one: Array, other: Array) -> float:
    a, b = one.astype(np.float64), other.astype(np.float64)
    c, d = np.cov(a.T), np.cov(b.T)
    return float(((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(c + d - 2 * sqrtm(c @ d).real))


def resamples(sizes: tuple[int, int], rows: int) -> Resamples:
    units, blocks = exchange_units(sizes, 0)
    drawn = random_masks(*blocks, rows=rows, seed=0)
    truth = np.arange(sum(blocks)) < blocks[0]
    masks = np.concatenate((truth[None], drawn))
    masks = np.concatenate((masks, np.broadcast_to([True, False], (len(masks), 2))), axis=1)
    return Resamples(units, (masks, ~masks))


def anew(pooled: Array, chosen: Resamples, **options: Any) -> Array:
    return np.array([value(pooled[row], pooled[~row], **options) for row in chosen.masks[0][:, chosen.units]])


@pytest.mark.parametrize(("n", "m"), [(200, 150), (40, 300), (30, 31)])
def test_equals_the_matrix_root_of_scipy(n: int, m: int) -> None:
    one, other = vectors(1, n, shift=0.2), vectors(2, m, scale=1.5)
    squared = value(one, other, form="squared")
    assert squared == pytest.approx(by_sqrtm(one, other), rel=1e-6)
    assert value(one, other) == pytest.approx(squared**0.5, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(4, 5), (2, 2), (6, 40), (40, 3), (12, 12), (13, 12)])
def test_equals_fifty_digits_where_vectors_are_too_few(n: int, m: int) -> None:
    mpmath = pytest.importorskip("mpmath")
    one, other = vectors(3, n, shift=0.1), vectors(4, m, scale=0.7)
    with mpmath.workdps(50):

        def fit(values: Array) -> tuple[Any, Any]:
            rows = mpmath.matrix(values.astype(np.float64).tolist())
            mean = [mpmath.fsum(rows[:, j]) / rows.rows for j in range(rows.cols)]
            centred = mpmath.matrix(rows.rows, rows.cols)
            for i in range(rows.rows):
                for j in range(rows.cols):
                    centred[i, j] = rows[i, j] - mean[j]
            return mpmath.matrix(mean), centred.T * centred / (rows.rows - 1)

        (mean, cov), (mean_, cov_) = fit(one), fit(other)
        roots = mpmath.fsum(mpmath.sqrt(abs(e)) for e in mpmath.eig(cov * cov_, left=False, right=False))
        gap = mean - mean_
        expected = float(mpmath.fsum(g * g for g in gap) + sum((cov + cov_)[i, i] for i in range(12)) - 2 * roots)
    assert value(one, other, form="squared") == pytest.approx(expected, rel=1e-9)


def test_collapsed_samples_keep_their_digits() -> None:
    """Many copies of few texts: more texts than dimensions, but hardly any directions."""
    one, other = vectors(5, 4), vectors(6, 5, shift=0.1)
    many = value(np.tile(one, (50, 1)), np.tile(other, (40, 1)), covariance="population")
    assert many == pytest.approx(value(one, other, covariance="population"), rel=1e-9)


def test_in_one_dimension_it_is_the_textbook_formula() -> None:
    one, other = vectors(7, 30, 1), vectors(8, 20, 1, scale=3.0, shift=1.0)
    for covariance, spare in (("population", 0), ("unbiased", 1)):
        gap = one.mean(dtype=float) - other.mean(dtype=float)
        spread = one.std(dtype=float, ddof=spare) - other.std(dtype=float, ddof=spare)
        assert value(one, other, form="squared", covariance=covariance) == pytest.approx(gap**2 + spread**2, rel=1e-9)


@pytest.mark.parametrize("n", [2, 11, 12, 13, 500])
def test_a_shuffled_copy_is_at_distance_zero(n: int) -> None:
    one = vectors(9, n)
    assert 0 <= value(one, one[::-1].copy()) < 1e-13
    assert abs(value(one, one[::-1].copy(), variant="extrapolated", covariance="population")) < 1e-13 or n < 3
    assert value(np.tile(one[:2], (n, 1)), np.tile(one[:2][::-1], (n, 1))) < 1e-13


@pytest.mark.parametrize("n", [2, 30])
def test_identical_texts_and_zero_vectors(n: int) -> None:
    point, zeros = np.tile(vectors(1, 1), (n, 1)), np.zeros((n, 12), np.float32)
    assert value(point, zeros) == pytest.approx(float(np.linalg.norm(point[0].astype(float))), rel=1e-9)
    assert value(zeros, zeros) == 0
    spread = np.trace(np.cov(vectors(2, 40).T.astype(float)))
    means = float((vectors(2, 40).mean(axis=0, dtype=float) ** 2).sum())
    assert value(zeros, vectors(2, 40), form="squared") == pytest.approx(spread + means, rel=1e-9)


def test_too_few_texts_have_no_value() -> None:
    one = vectors(1, 1)
    assert np.isnan(value(one, vectors(2, 9)))
    assert value(one, one, covariance="population") == 0
    assert np.isnan(value(vectors(1, 2), vectors(2, 9), variant="extrapolated"))
    roles = {"candidate": material(["a b", "c d"]), "reference": material(["a b", "c d", "e f"])}
    plain, extended = measure(parse_requests(["frechet", "frechet:variant=extrapolated"]), roles, plan=Plan()).results
    assert plain.undefined is None
    assert extended.undefined == "2 texts in the candidate; needs 3 or more"


def test_the_parts_add_up() -> None:
    one, other = vectors(1, 50), vectors(2, 60, shift=0.3)
    found = parts(Moments.of_values(one), Moments.of_values(other), **DEFAULTS)
    assert found["means"] == pytest.approx(float(((one.mean(0, float) - other.mean(0, float)) ** 2).sum()), rel=1e-9)
    assert sum(found.values()) == pytest.approx(value(one, other) ** 2, rel=1e-12)


@pytest.mark.parametrize(("d", "n"), [(12, 60), (40, 100)])
def test_extrapolating_takes_off_most_of_the_bias(d: int, n: int) -> None:
    """Gaussians of known distance: the same up to a scale and a shift along each axis."""
    truth = 0.25 * float((1 / np.arange(1, d + 1) ** 2).sum()) + d * 0.05**2
    errors: dict[str, list[float]] = {"plugin": [], "extrapolated": []}
    for seed in range(30):
        one, other = vectors(2 * seed, n, d), vectors(2 * seed + 1, n, d, scale=1.5, shift=0.05)
        for variant, found in errors.items():
            found.append(value(one, other, form="squared", variant=variant) - truth)
    bias = {variant: abs(np.mean(found)) for variant, found in errors.items()}
    error = {variant: np.sqrt(np.mean(np.square(found))) for variant, found in errors.items()}
    assert bias["extrapolated"] < 0.25 * bias["plugin"]
    assert error["extrapolated"] < 0.95 * error["plugin"]


@pytest.mark.parametrize("variant", ["plugin", "extrapolated"])
@pytest.mark.parametrize(("n", "m"), [(25, 25), (12, 60), (13, 40), (10, 11), (80, 20)])
def test_leaving_out_groups_is_measuring_anew(n: int, m: int, variant: Any) -> None:
    sides = vectors(1, n), vectors(2, m, shift=0.2)
    labels = [np.arange(size) % 5 for size in (n, m)]
    options = DEFAULTS | {"variant": variant}
    found = leave_out(*map(Moments.of_values, sides), labels=labels, **options)
    for side, values in enumerate(found):
        for group, quick in enumerate(values):
            left = [*sides]
            left[side] = sides[side][labels[side] != group]
            assert quick == pytest.approx(value(*left, **options), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("variant", ["plugin", "extrapolated"])
@pytest.mark.parametrize("covariance", ["unbiased", "population"])
@pytest.mark.parametrize("d", [3, 40])
def test_all_exchanges_of_few_texts_at_once(d: int, covariance: Any, variant: Any) -> None:
    pooled = vectors(1, 11, d)
    pooled[7] = pooled[2]
    masks = all_masks(4, 7)
    options = DEFAULTS | {"covariance": covariance, "variant": variant}
    chosen = Resamples(np.arange(11), (masks, ~masks))
    found = exchange(Moments.of_values(pooled[:4]), Moments.of_values(pooled[4:]), resamples=chosen, **options)
    assert found == pytest.approx(anew(pooled, chosen, **options), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("covariance", ["unbiased", "population"])
@pytest.mark.parametrize(("d", "n", "m"), [(12, 120, 60), (200, 80, 80)])
def test_the_expansion_follows_the_distance(d: int, n: int, m: int, covariance: Any) -> None:
    one, other = vectors(1, n, d), vectors(2, m, d)
    chosen = resamples((n, m), 60)
    options = DEFAULTS | {"covariance": covariance}
    found = exchange(Moments.of_values(one), Moments.of_values(other), resamples=chosen, **options)
    plain = anew(np.concatenate((one, other)), chosen, **options)
    assert np.corrcoef(found, plain)[0, 1] > 0.97
    assert np.std(found) == pytest.approx(np.std(plain), rel=0.25)


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_groups_taken_off_the_whole_are_left_out(shift: float) -> None:
    """Groups of different sizes, more texts than dimensions; a common offset must not cost precision."""
    rng = np.random.default_rng(0)
    one, other = vectors(1, 300, shift=shift), vectors(2, 280, scale=1.3, shift=shift)
    labels = tuple(np.repeat(np.arange(12), rng.multinomial(size - 24, [1 / 12] * 12) + 2) for size in (300, 280))
    mine, theirs = leave_out(Moments.of_values(one), Moments.of_values(other), labels=labels, **DEFAULTS)
    for group in range(12):
        anew = [
            frechet(Moments.of_values(one[labels[0] != group]), Moments.of_values(other)),
            frechet(Moments.of_values(one), Moments.of_values(other[labels[1] != group])),
        ]
        assert [mine[group], theirs[group]] == pytest.approx(anew, rel=1e-8)


@pytest.mark.parametrize("by_pairs", [True, False])
@pytest.mark.parametrize("sizes", [(1301, 1203), (1200, 1200), (700, 90), (300, 300)])
def test_the_expansion_is_its_formula(sizes: tuple[int, int], by_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Second moments in single precision against covariances of the texts, left-over texts of blocks included."""
    monkeypatch.setattr(bures_exchange._Exchanges, "pairs_are_cheaper", lambda *_sizes: by_pairs)
    pooled = np.concatenate((vectors(1, sizes[0]), vectors(2, sizes[1], scale=1.2, shift=0.1)))
    chosen = resamples(sizes, 5)
    if sum(sizes) == 2504:
        assert np.bincount(chosen.units).max() == 2
        assert np.bincount(chosen.units)[-2:].tolist() == [1, 1]
    expansion_is_its_formula(pooled, chosen)


@pytest.mark.parametrize("by_pairs", [True, False])
def test_groups_of_different_sizes_may_be_exchanged(by_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes of the samples then differ from row to row."""
    monkeypatch.setattr(bures_exchange._Exchanges, "pairs_are_cheaper", lambda *_sizes: by_pairs)
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(40), rng.integers(1, 12, 40))
    masks = np.array([rng.permutation(40) < 15 for _ in range(6)])
    assert len({int(row[units].sum()) for row in masks}) > 1
    expansion_is_its_formula(vectors(1, len(units)), Resamples(units, (masks, ~masks)))


def expansion_is_its_formula(pooled: NDArray[np.float32], chosen: Resamples) -> None:
    found = expanded_exchanges(Moments.of_values(pooled), chosen, unbiased=True)
    variances, turn = np.linalg.eigh(np.cov(pooled.T.astype(float), bias=True))
    held = np.cumsum(variances[::-1]) / variances.sum()
    leading = turn[:, ::-1][:, : int((held < 0.99).sum()) + 1]
    scale = variances[::-1][: leading.shape[1]]
    for row, quick in zip(chosen.masks[0][:, chosen.units], found, strict=True):
        gap = pooled[row].mean(0, float) - pooled[~row].mean(0, float)
        between = leading.T @ (np.cov(pooled[row].T.astype(float)) - np.cov(pooled[~row].T.astype(float))) @ leading
        expected = gap @ gap + 0.5 * (between**2 / (scale[:, None] + scale)).sum()
        assert quick == pytest.approx(expected, rel=1e-4)


def test_directions_in_small_steps_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pooled, chosen = Moments.of_values(vectors(1, 200)), resamples((120, 80), 20)
    whole = expanded_exchanges(pooled, chosen, unbiased=True)
    monkeypatch.setattr(bures_exchange, "_NUMBERS_AT_ONCE", 1)
    assert expanded_exchanges(pooled, chosen, unbiased=True) == pytest.approx(whole, rel=1e-4)
    monkeypatch.setattr(bures_exchange, "_MOST_NUMBERS", 400)
    two_directions = expanded_exchanges(pooled, chosen, unbiased=True)
    assert (two_directions < whole).all()


def test_exchanges_of_texts_that_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"w{i % 17} w{i * i % 23} w{i % 5}" for i in range(200)]
    held = [material(side).view(Moments) for side in (texts[:90], texts[90:])]
    monkeypatch.setattr(moments, "MOST_KEPT", 32)
    streamed = [material(side).view(Moments) for side in (texts[:90], texts[90:])]
    assert len(streamed[0].batches) == 3
    chosen = resamples((90, 110), 20)
    one, other = (exchange(*side, resamples=chosen, **DEFAULTS) for side in (held, streamed))
    assert other == pytest.approx(one, rel=1e-4)
    extended = DEFAULTS | {"variant": "extrapolated"}
    assert frechet(*streamed, **extended) == pytest.approx(frechet(*held, **extended), rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(6, 8), (100, 100), (150, 90)])
def test_exchanging_identical_texts_changes_nothing(n: int, m: int) -> None:
    for point in (np.zeros((1, 12), np.float32), vectors(1, 1)):
        sides = [Moments.of_values(np.repeat(point, size, axis=0)) for size in (n, m)]
        found = exchange(*sides, resamples=resamples((n, m), 30), **DEFAULTS)
        assert np.abs(found).max() < 1e-12
