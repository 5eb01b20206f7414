"""Nearest neighbours in blocks are the nearest neighbours, whatever the data do to single precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from textassay.metrics.vectors import neighbours
from textassay.metrics.vectors.neighbours import Pairs, pairs_of

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


def cloud(kind: str, size: int, dimension: int, seed: int) -> F32:
    """Points without ties, on a grid (many ties), in two far clusters (hopeless in single precision), far off, tiny."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((size, dimension))
    if kind == "grid":
        values = np.round(values)
    elif kind == "clusters":
        values = 1e-3 * values + 1000 * rng.integers(0, 2, size)[:, None]
    elif kind == "far":
        values += 300
    elif kind == "tiny":
        values *= 1e-25
    elif kind == "huge":
        values *= 1e25
    elif kind == "copies":
        values = values[rng.integers(0, max(1, size // 9), size)]
    return values.astype(np.float32)


KINDS = ["plain", "grid", "clusters", "far", "tiny", "huge", "copies"]


def by_differences(values: F32) -> F64:
    wide = values.astype(np.float64)
    return np.array([((wide - row) ** 2).sum(axis=1) for row in wide])


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 32 rows, so that small clouds take the path of large ones."""
    for name, value in {"_FEW": 20, "_BLOCK": 32, "_SAMPLED": 4, "_WHOLE": 1000}.items():
        monkeypatch.setattr(neighbours, name, value)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "length"), [(150, 12), (97, 5), (150, 150), (21, 30)])
def test_lists_are_the_nearest_by_differences(kind: str, size: int, length: int) -> None:
    values = cloud(kind, size, 7, seed=size)
    pairs = pairs_of(values)
    found = neighbours.nearest(pairs, length)
    squared = by_differences(values)
    at = np.take_along_axis(squared, found.ids, axis=1)
    assert found.ids.shape == (size, min(length, size))
    assert np.allclose(at, np.sort(squared, axis=1)[:, :length], rtol=1e-12, atol=0)
    assert all(len(set(row)) == len(row) for row in found.ids.tolist())
    exact = np.array([pairs.exact(np.full(len(row), i), row) for i, row in enumerate(found.ids)])
    assert (np.diff(found.keys, axis=1) >= 0).all()
    assert ((np.diff(found.keys, axis=1) == 0) == (np.diff(exact, axis=1) == 0)).all()


@pytest.mark.usefixtures("small_blocks")
def test_blocks_settle_ordinary_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path for large clouds is not a detour to the path for small ones."""
    whole: list[int] = []
    search = neighbours._search_whole

    def spy(pairs: Pairs, rows: NDArray[np.int64], answer: neighbours.Nearest) -> None:
        whole.append(len(rows))
        search(pairs, rows, answer)

    monkeypatch.setattr(neighbours, "_search_whole", spy)
    neighbours.nearest(pairs_of(cloud("plain", 600, 7, seed=1)), 12)
    assert sum(whole) < 60


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(1, 400), st.integers(0, 99))
def test_rough_and_fine_distances_keep_their_promise(kind: str, size: int, dimension: int, seed: int) -> None:
    values = cloud(kind, size, dimension, seed)
    pairs = pairs_of(values)
    exact = by_differences(values) * pairs.scale**2
    everything = np.arange(size)
    assert exact.max() <= 4
    assert (np.abs(pairs.rough(slice(None), slice(None)) - exact) <= pairs.doubt(everything)[:, None]).all()
    assert (np.abs(pairs.fine(everything) - exact) <= pairs.fine_doubt(everything)[:, None]).all()
    first, second = np.divmod(np.arange(size * size), size)
    assert np.allclose(pairs.exact(first, second), exact.ravel(), rtol=1e-13, atol=0)
    assert (pairs.exact(first, second) == pairs.exact(second, first)).all()


def test_equal_vectors_are_exactly_nothing_apart() -> None:
    values = np.repeat(cloud("far", 1, 384, seed=3), 5, axis=0)
    pairs = pairs_of(values)
    assert (pairs.exact(np.arange(5), np.arange(5)[::-1]) == 0).all()
    assert (pairs_of(np.zeros((4, 3), dtype=np.float32)).fine(np.arange(4)) == 0).all()


@given(st.integers(1, 30), st.integers(0, 99))
def test_doubtful_distances_never_lose_a_neighbour(length: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    exact = rng.random(30)
    fine = exact + rng.uniform(-0.1, 0.1, 30)
    kept = next(neighbours.nearest_in(fine[None, :], length, [0.1]))
    assert set(np.argsort(exact)[:length]) <= set(kept)
