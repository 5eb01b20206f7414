"""Votes of nearest neighbours against a brute force, with ties, copies and many k at once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from textassay.metrics.ratings.votes import Tied, VoteSets, mistaken, share_around, votes_at

F64 = NDArray[np.float64]
TIED: tuple[Tied, ...] = ("released", "exact", "fair")


def brute_share(points: F64, is_model: NDArray[np.bool_], origin: NDArray[np.int64], k: int, tied: Tied) -> list[float]:
    """Point by point, with all distances sorted."""
    shares = []
    for i, place in enumerate(points):
        others = [j for j in range(len(points)) if origin[j] != origin[i]]
        gaps = points[others] - place
        distances = np.abs(gaps[:, 0]) if points.shape[1] == 1 else np.sqrt((gaps * gaps).sum(axis=1))
        edge = np.sort(distances)[min(k, len(others)) - 1]
        slack = 0.0 if tied == "released" else 1e-9
        labels = is_model[others]
        if tied != "fair":
            shares.append(float(labels[distances <= edge + slack].mean()))
            continue
        nearer, level = distances < edge - slack, np.abs(distances - edge) <= slack
        left = Fraction(min(k, len(others)) - int(nearer.sum()), int(level.sum()))
        votes = int(labels[nearer].sum()) + left * int(labels[level].sum())
        shares.append(float(votes / min(k, len(others))))
    return shares


@st.composite
def scenes(draw: st.DrawFn) -> tuple[F64, NDArray[np.bool_], NDArray[np.int64]]:
    """Points on a coarse grid (many ties) or anywhere, with copies."""
    n, dimensions = draw(st.integers(6, 40)), draw(st.sampled_from([1, 2]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    anywhere = rng.normal(size=(n, dimensions))
    points = np.floor(2 * anywhere) / 10 if draw(st.booleans()) else anywhere
    origin = rng.integers(0, n, n) if draw(st.booleans()) else np.arange(n)
    return np.asarray(points, dtype=np.float64), rng.random(n) < 0.5, origin.astype(np.int64)


@given(scenes(), st.sampled_from(TIED))
def test_votes_equal_a_brute_force(scene: tuple[F64, NDArray[np.bool_], NDArray[np.int64]], tied: Tied) -> None:
    points, is_model, origin = scene
    if any((origin == each).all() for each in origin):
        return
    ks = [1, 2, 3, 5, 8]
    found = votes_at(points, is_model, ks=ks, tied=tied, origin=origin)
    for k, shares in zip(ks, found, strict=True):
        np.testing.assert_allclose(shares, brute_share(points, is_model, origin, k, tied), rtol=0, atol=1e-12)


@pytest.mark.parametrize("tied", TIED)
def test_ties_that_fill_a_whole_cell_are_all_looked_at(tied: Tied) -> None:
    """Hundreds of points in few places: the lists must grow until they go beyond the ties."""
    rng = np.random.default_rng(1)
    points = rng.integers(0, 3, (300, 2)).astype(np.float64)
    is_model, origin = rng.random(300) < 0.5, np.arange(300)
    (found,) = votes_at(points, is_model, ks=[16], tied=tied)
    np.testing.assert_allclose(found, brute_share(points, is_model, origin, 16, tied), rtol=0, atol=1e-12)


def test_rounding_breaks_ties_only_in_the_released_variant() -> None:
    """0.1 + 0.2 lies a hair beyond 0.3: a tie in exact arithmetic, not in floating point."""
    points = np.array([[0.0], [0.3], [-(0.1 + 0.2)]])
    is_model = np.array([False, True, False])
    released, exact = (votes_at(points, is_model, ks=[1], tied=tied)[0][0] for tied in ("released", "exact"))
    assert (released, exact) == (1.0, 0.5)


@given(scenes(), st.sampled_from(TIED))
def test_votes_under_other_labels_are_those_of_a_fresh_count(
    scene: tuple[F64, NDArray[np.bool_], NDArray[np.int64]], tied: Tied
) -> None:
    points, is_model, _ = scene
    rng = np.random.default_rng(0)
    labels = np.column_stack([is_model, *(rng.permutation(is_model) for _ in range(3))])
    found = VoteSets.of(points, k=3, tied=tied).shares(labels)
    for column, each in enumerate(labels.T):
        (wanted,) = votes_at(points, each, ks=[3], tied=tied)
        np.testing.assert_allclose(found[:, column], wanted, rtol=0, atol=1e-12)


def test_an_even_vote_names_people_or_is_half_a_mistake() -> None:
    share, is_model = np.array([0.5, 0.5, 0.9, 0.9]), np.array([True, False, True, False])
    assert mistaken(share, is_model, "released").tolist() == [1, 0, 0, 1]
    assert mistaken(share, is_model, "fair").tolist() == [0.5, 0.5, 0, 1]


def test_votes_in_the_plane_count_the_nearest() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    share = share_around(np.array([[0.4, 0.0], [5.0, 4.0]]), points, np.array([False, True, True]), k=2)
    assert share.tolist() == [0.5, 1.0]
