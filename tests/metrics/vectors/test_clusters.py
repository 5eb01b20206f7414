"""k-means on the grid: it is Lloyd's, repeatable under any threads and order, and at home with degenerate points."""

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.metrics.vectors import clusters
from textassay.metrics.vectors.clusters import cluster_labels, kmeans, n_clusters, principal_points
from textassay.metrics.vectors.vectors import Joint, Vectors, joint

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]


def mixture(n: int, dimension: int, seed: int) -> F32:
    rng, shared = np.random.default_rng(seed), np.random.default_rng(99)
    middles = shared.standard_normal((12, dimension)) * np.linspace(2, 0.2, dimension)
    return (middles[rng.integers(12, size=n)] + 0.5 * rng.standard_normal((n, dimension))).astype(np.float32)


def pair(n: int, m: int, dimension: int) -> Joint:
    return joint(Vectors(mixture(n, dimension, 1)), Vectors(mixture(m, dimension, 2)))


def lloyd(points: F32, weights: NDArray[np.float64], centres: F32) -> I64:
    """Each round in full and in float64, until no centre moves."""
    wide = points.astype(np.float64)
    middles = centres.astype(np.float64)
    while True:
        labels: I64 = ((wide[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
        fresh = np.rint(
            [np.average(wide[labels == c], axis=0, weights=weights[labels == c]) for c in range(len(centres))]
        )
        if (fresh == middles).all():
            return labels
        middles = fresh


@pytest.mark.parametrize("k", [2, 7, 40])
def test_rounds_with_bounds_end_where_full_rounds_do(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an early end this is Lloyd's algorithm to the letter."""
    monkeypatch.setattr(clusters, "_SETTLED", 0.0)
    points = principal_points(pair(400, 300, 10))
    labels = kmeans(points.values, points.texts, k=k, rng=np.random.default_rng(k))
    share = points.texts / points.texts.sum()
    first = np.random.default_rng(k).choice(len(points.values), k, replace=False, p=share)
    assert (labels == lloyd(points.values, points.texts, points.values[first])).all()


@pytest.mark.parametrize("k", [10, 60])
def test_an_early_end_is_hardly_worse(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points = principal_points(pair(900, 900, 48))

    def loss(seed: int) -> float:
        labels = kmeans(points.values, points.texts, k=k, rng=np.random.default_rng(seed))
        return sum(float(points.values[labels == c].var(axis=0).sum()) * (labels == c).sum() for c in range(k))

    ours = [loss(seed) for seed in range(8)]
    monkeypatch.setattr(clusters, "_SETTLED", 0.0)
    assert np.mean(ours) < 1.01 * np.mean([loss(seed) for seed in range(8)])


def test_weights_are_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_SETTLED", 0.0)
    rng = np.random.default_rng(0)
    points = np.unique(rng.integers(-500, 500, (60, 2)), axis=0).astype(np.float32)
    weights = rng.integers(1, 9, len(points)).astype(np.float64)
    labels = kmeans(points, weights, k=5, rng=np.random.default_rng(1))
    for cluster in range(5):
        rows = labels == cluster
        centre = np.rint(np.repeat(points[rows], weights[rows].astype(int), axis=0).mean(axis=0, dtype=np.float64))
        own = ((points[rows] - centre) ** 2).sum(axis=1)
        for other in range(5):
            mean = np.rint(np.average(points[labels == other], axis=0, weights=weights[labels == other]))
            assert (own <= ((points[rows] - mean) ** 2).sum(axis=1)).all()


def test_points_are_whole_numbers_whose_products_are_exact() -> None:
    points = principal_points(pair(300, 200, 40)).values
    assert (points == np.rint(points)).all()
    wide = points.astype(np.float64)
    assert ((points @ points.T).astype(np.float64) == wide @ wide.T).all()


def test_distances_of_the_grid_are_those_of_the_principal_components() -> None:
    from sklearn.decomposition import PCA

    both = pair(300, 200, 40)
    unit = both.values / np.linalg.norm(both.values, axis=1, keepdims=True)
    reduced = PCA(n_components=0.9, svd_solver="full").fit_transform(unit.astype(np.float64))
    points = principal_points(both)
    rows = points.values[points.places].astype(np.float64)
    assert rows.shape == reduced.shape
    grams = [side @ side.T for side in (rows, reduced)]
    scale = np.trace(grams[0]) / np.trace(grams[1])
    assert np.abs(grams[0] - scale * grams[1]).max() < 2e-3 * np.abs(grams[0]).max()


@pytest.mark.parametrize(("n", "dimension"), [(300, 20), (30, 200)])
def test_order_and_labels_of_texts_do_not_matter(n: int, dimension: int) -> None:
    both = pair(n, n, dimension)
    labels = cluster_labels(both, 6, 3)
    shuffle = np.random.default_rng(5).permutation(2 * n)
    mixed = joint(*(Vectors(part) for part in np.split(both.values[shuffle], 2)))
    assert (cluster_labels(mixed, 6, 3) == labels[shuffle]).all()


def test_threads_do_not_matter_and_seeds_do() -> None:
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(cluster_labels(pair(1500, 1500, 96), 150, 0))
    assert (found[0] == found[1]).all()
    assert (cluster_labels(pair(1500, 1500, 96), 150, 1) != found[0]).any()


def test_length_of_vectors_does_not_matter() -> None:
    """Powers of two, so that the directions are the same to the last bit; the canonical order may differ."""
    both = pair(200, 200, 16)
    lengths = np.float32(2) ** np.random.default_rng(3).integers(-9, 9, (200, 1))
    scaled = joint(Vectors(both.candidate.values * lengths), both.reference)
    rows, others = (points.values[points.places] for points in map(principal_points, (both, scaled)))
    assert (rows @ rows.T == others @ others.T).all()


def test_identical_points_are_one_cluster() -> None:
    same = np.full((30, 8), 0.3, dtype=np.float32)
    both = joint(Vectors(same), Vectors(same.copy()))
    assert n_clusters(both, 3) == 1
    assert (cluster_labels(both, 3, 0) == 0).all()


def test_zero_vectors_and_few_distinct_points() -> None:
    few = np.concatenate((np.zeros((20, 6)), np.eye(6)[:2].repeat(10, axis=0))).astype(np.float32)
    both = joint(Vectors(few), Vectors(few[::-1].copy()))
    assert n_clusters(both, 9) == 3
    labels = cluster_labels(both, 9, 0)
    assert [len(set(labels[:40][part])) for part in (slice(20), slice(20, 30), slice(30, 40))] == [1, 1, 1]
    assert len(set(labels)) == 3


def test_an_outlier_does_not_coarsen_the_grid() -> None:
    """Vectors that nearly agree, and one that is opposite: the others are still told apart."""
    rng = np.random.default_rng(0)
    tight = (1 + 0.1 * rng.standard_normal((4000, 60))).astype(np.float32)
    tight[0] = -tight[0]
    both = joint(Vectors(tight[:2000]), Vectors(tight[2000:]))
    assert len(principal_points(both).values) == 4000


def test_empty_clusters_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a coarse grid two centres may round to one place, and one of them then holds nothing."""
    fill, empty = clusters._fill_empty, []

    def spy(points: F32, held: clusters._Assignment, k: int) -> None:
        empty.append(int((np.bincount(held.labels, minlength=k) == 0).sum()))
        fill(points, held, k)

    monkeypatch.setattr(clusters, "_fill_empty", spy)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        points = np.unique(rng.integers(0, 6, (60, 2)), axis=0).astype(np.float32)
        labels = kmeans(points, np.ones(len(points)), k=12, rng=rng)
        assert len(set(labels)) == 12
    assert sum(empty) > 0


def test_clusters_of_a_line_are_stretches_of_it() -> None:
    points = np.zeros((60, 30), dtype=np.float32)
    points[:, 29] = 30 * np.arange(60)
    for seed in range(5):
        labels = kmeans(points, np.ones(60), k=12, rng=np.random.default_rng(seed))
        assert len(set(labels)) == 12
        assert (np.diff(labels) != 0).sum() == 11
