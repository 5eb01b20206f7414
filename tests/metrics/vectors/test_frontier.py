"""The frontier on histograms: against numerical integration, mauve-text's grid spelt out, and at the edges."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import entropy

from textassay.metrics.vectors.mauve import MIXTURES, Summary, area, integral

F64 = NDArray[np.float64]


def pairs(rows: int, k: int, seed: int = 0) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2, (2, rows, k)).astype(float)
    counts[..., 0] += 1
    return counts[0], counts[1]


def plain_area(p: F64, q: F64, scaling: float) -> float:
    """A pair at a time, the curve sorted along each axis in turn."""
    points = [(1.0, 0.0), (0.0, 1.0)]
    for w in MIXTURES:
        mixture = w * p + (1 - w) * q
        points.append((np.exp(-scaling * entropy(q, mixture)), np.exp(-scaling * entropy(p, mixture))))
    curve = np.array(sorted(points, key=lambda point: (point[0], -point[1])))
    return float((np.diff(curve[:, 0]) * (curve[1:, 1] + curve[:-1, 1]) / 2).sum())


def shares(counts: F64, *, smooth: bool = False) -> F64:
    counts = counts + 0.5 * smooth
    return counts / counts.sum(axis=-1, keepdims=True)


def each(summary: Summary, candidate: F64, reference: F64) -> F64:
    """A row at a time, since rows have different totals here."""
    rows = zip(candidate, reference, strict=True)
    return np.concatenate([summary.of_counts(a[None, :], b[None, :]) for a, b in rows])


@pytest.mark.parametrize("scaling", [1.0, 5.0])
@pytest.mark.parametrize("smooth", [False, True])
def test_area_is_that_of_the_curve_spelt_out(scaling: float, smooth: bool) -> None:
    candidate, reference = pairs(6, 9)
    p, q = (shares(counts, smooth=smooth) for counts in (candidate, reference))
    expected = [plain_area(a, b, scaling) for a, b in zip(p, q, strict=True)]
    assert np.allclose(each(area(scaling=scaling, smooth=smooth), candidate, reference), expected, rtol=1e-10)


@pytest.mark.parametrize("smooth", [False, True])
def test_integral_is_the_integral(smooth: bool) -> None:
    candidate, reference = pairs(4, 7)

    def integrand(w: float, a: F64, b: F64) -> float:
        mixture = w * a + (1 - w) * b
        return float(2 * (w * entropy(a, mixture) + (1 - w) * entropy(b, mixture)))

    p, q = (shares(counts, smooth=smooth) for counts in (candidate, reference))
    expected = [quad(integrand, 0, 1, args=(a, b))[0] for a, b in zip(p, q, strict=True)]
    assert np.allclose(each(integral(smooth=smooth), candidate, reference), expected, rtol=1e-7)


def test_many_rows_are_each_row() -> None:
    pooled, chosen = np.random.default_rng(0).poisson(6, 30), np.random.default_rng(1)
    candidate = np.array(
        [chosen.multivariate_hypergeometric(pooled, pooled.sum() // 2) for _ in range(20)], dtype=float
    )
    for summary in (area(scaling=5.0), area(scaling=5.0, smooth=True), integral(), integral(smooth=True)):
        together = summary.of_counts(candidate, pooled - candidate)
        assert np.allclose(together, each(summary, candidate, pooled - candidate), rtol=1e-12)


def test_integral_keeps_its_digits_where_histograms_are_close() -> None:
    """Twice the difference gives four times the integral, however small; the series meets the closed form."""
    q = np.full(10, 0.1)
    step = np.tile([1.0, -1.0], 5)
    small = [float(integral().terms(q + size * step, q).sum()) for size in (1e-9, 2e-9)]
    assert small[1] / small[0] == pytest.approx(4, rel=1e-6)
    one, both = np.ones(2), np.array([0.01 - 1e-9, 0.01])
    below, above = integral().terms(one + both, one - both)[:, 0]
    assert below == pytest.approx(above, rel=1e-6)


def test_equal_histograms_are_perfect() -> None:
    counts, _ = pairs(50, 40)
    assert np.allclose(each(area(scaling=5.0), counts, counts), 1, rtol=0, atol=1e-12)
    assert (each(integral(), counts, counts) == 0).all()


def test_disjoint_histograms_are_worst() -> None:
    p, q = np.array([[5.0, 5, 0, 0]]), np.array([[0.0, 0, 10, 30]])
    worst = float(area(scaling=5.0).of_counts(p, q)[0])
    assert 0 < worst < 0.01
    assert (each(area(scaling=5.0), *pairs(100, 4)) > worst).all()
    assert float(integral().of_counts(p, q)[0]) == pytest.approx(1)


def test_unused_clusters_change_nothing_unless_smoothed() -> None:
    a, b = pairs(3, 5)
    wide = [np.concatenate((counts, np.zeros((3, 4))), axis=1) for counts in (a, b)]
    for summary in (area(scaling=5.0), integral()):
        assert np.allclose(each(summary, *wide), each(summary, a, b), rtol=1e-12)
    assert not np.allclose(each(area(scaling=5.0, smooth=True), *wide), each(area(scaling=5.0, smooth=True), a, b))
