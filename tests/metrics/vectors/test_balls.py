"""Balls counted for many labellings at once are the balls counted one labelling at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.metrics.vectors.test_neighbours import KINDS, by_differences, cloud
from textassay.metrics.vectors import neighbours as neighbour_lists
from textassay.metrics.vectors.balls import Counts, add_wide_balls, count_balls
from textassay.metrics.vectors.repeated_vectors import WORD, bit_counts, pack
from textassay.metrics.vectors.vectors import Vectors, joint

Mask = NDArray[np.bool_]


@given(st.integers(0, 500), st.integers(0, 99))
def test_bits_are_counted_one_by_one(size: int, seed: int) -> None:
    bits = np.random.default_rng(seed).random((WORD, size)) < 0.3
    assert (bit_counts(pack(bits)) == bits.sum(axis=1)).all()


def one_by_one(
    squared: NDArray[np.float64], candidate: Mask, reference: Mask, k: int, *, closed: bool
) -> tuple[float, float, float, float]:
    """Precision, recall, memberships and balls hit of one labelling, from whole matrices."""

    def members(centres: Mask, others: Mask) -> NDArray[np.float64]:
        own = squared[np.ix_(centres, centres)]
        np.fill_diagonal(own, np.inf)
        radii = np.sort(own, axis=1)[:, k - 1][:, None]
        gaps = squared[np.ix_(centres, others)]
        share = (k - (own < radii).sum(axis=1)) / ((own == radii).sum(axis=1) + 1)
        return np.where(gaps < radii, 1.0, np.where(gaps == radii, share[:, None] if closed else 0.0, 0.0))

    held, back = members(reference, candidate), members(candidate, reference)
    inside, covered, hit = held.any(axis=0).sum(), back.any(axis=0).sum(), held.any(axis=1).sum()
    return float(inside), float(covered), float(held.sum()), float(hit)


def labellings(rng: np.random.Generator, size: int, k: int) -> tuple[Mask, Mask]:
    """Random labels, some points without any, the two sides apart in the first labelling."""
    labels = rng.choice([0, 0, 1, 1, 1, 2], (70, size))
    labels[0] = np.arange(size) < size // 3
    labels[:, : k + 1], labels[:, -k - 1 :] = 0, 1
    return labels == 0, labels == 1


def counted(values: NDArray[np.float32], candidate: Mask, reference: Mask, k: int, *, closed: bool) -> Counts:
    split = len(values) // 3
    pair = joint(Vectors(values[:split]), Vectors(values[split:]))
    words = [np.stack([pack(mask[:WORD]), pack(mask[WORD:])]) for mask in (candidate, reference)]
    return count_balls(neighbour_lists.lists_for(pair, k), words[0], words[1], k, closed=closed)


def repeated_points(size: int, seed: int) -> NDArray[np.float32]:
    """Half of the points at three places on a grid, so that a place has more points than a ball can tell apart."""
    rng = np.random.default_rng(seed)
    values = np.round(2 * rng.standard_normal((size, 3)))
    return np.where(rng.random((size, 1)) < 0.5, values[rng.integers(0, 3, size)], values).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*KINDS, "repeated_points"]),
    st.integers(20, 80),
    st.integers(1, 4),
    st.sampled_from([0, 1, 5, 99]),
    st.booleans(),
    st.integers(0, 999),
)
def test_many_labellings_are_each_by_itself(kind: str, size: int, k: int, more: int, closed: bool, seed: int) -> None:
    """With lists of any length: what they are too short for is searched for among all points."""
    values = repeated_points(size, seed) if kind == "repeated_points" else cloud(kind, size, 3, seed)
    candidate, reference = labellings(np.random.default_rng(seed), size, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbour_lists, "list_length", lambda sizes, k: min(k + 1 + more, sum(sizes)))
        found = counted(values, candidate, reference, k, closed=closed)
    squared = by_differences(values)
    masks = zip(candidate, reference, strict=True)
    plain = np.array([one_by_one(squared, *sides, k, closed=closed) for sides in masks])
    parts = (found.candidates_inside, found.references_inside, found.memberships, found.balls_hit)
    assert np.abs(np.stack([part.ravel()[: len(plain)] for part in parts], axis=1) - plain).max() < 1e-9


def test_random_labels_seldom_need_more_than_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def spy(*args: object, open_words: NDArray[np.uint64], **kwargs: object) -> NDArray[np.float64]:
        seen.append(int((open_words != 0).sum()))
        return add_wide_balls(*args, open_words=open_words, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("textassay.metrics.vectors.balls.add_wide_balls", spy)
    rng = np.random.default_rng(0)
    masks = rng.random((70, 3000)) < 1 / 3
    counted(cloud("plain", 3000, 8, seed=1), masks, ~masks, 5, closed=True)
    assert seen == [0]


@pytest.mark.parametrize(
    ("sizes", "least", "most"), [((5000, 5000), 30, 60), ((5000, 500), 200, 400), ((20_000, 50), 6, 30)]
)
def test_lists_are_as_long_as_the_smaller_sample_needs(sizes: tuple[int, int], least: int, most: int) -> None:
    assert least <= neighbour_lists.list_length(sizes, 5) <= most
    assert neighbour_lists.list_length((6, 6), 5) == 12
