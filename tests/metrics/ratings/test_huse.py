"""HUSE against the published numbers, a brute force in the manner of the released program, and known truths."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.rating_laws import rated_items
from textassay.corpus.ratings.files import read_ratings
from textassay.metrics.ratings.huse import huse, huse_d, huse_q
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.ratings.votes import Tied

FILES = ("summarization_ratings.csv", "summarization_items.csv")
# Table 1, summarization at temperature 1.0; exact ties and fair ones have no published value, and are held as found.
TABLE: dict[Tied, tuple[float, float, float]] = {
    "released": (0.53, 0.58, 0.95),
    "exact": (0.53, 0.60, 0.93),
    "fair": (0.535, 0.615, 0.92),
}


@pytest.mark.parametrize("variant", TABLE)
@pytest.mark.parametrize("file", FILES)
def test_published_scores(data: Path, file: str, variant: Tied) -> None:
    view = Ratings.of(read_ratings(str(data / "huse" / file)))
    found = huse(view, variant=variant), huse_q(view, variant=variant), huse_d(view, variant=variant)
    assert found == pytest.approx(TABLE[variant], abs=1e-12)


def test_no_neighbours_beyond_the_16th_gives_the_other_known_numbers(data: Path) -> None:
    """Plain k = 16 without ties, first come first served in the order of the file."""
    with open(data / "huse" / "summarization_items.csv", newline="") as file:
        rows = list(csv.reader(file, skipinitialspace=True))[1:]
    features = np.array([[float(row[0]), float(row[1]) / float(row[3])] for row in rows])
    features /= features.std(axis=0)
    is_model = np.array([row[2] == "True" for row in rows])

    def score(points: np.ndarray) -> float:
        distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        np.fill_diagonal(distances, np.inf)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :16]
        return float(2 - 2 * ((is_model[nearest].mean(axis=1) > 0.5) == is_model).mean())

    both, quality = score(features), score(features[:, :1])
    assert (both, quality, 1 + both - quality) == pytest.approx((0.53, 0.56, 0.97), abs=1e-12)


def released(features: np.ndarray, is_model: np.ndarray, k: int) -> float:
    """Leave one out by brute force: cut at the k-th smallest distance, keep all ties, an even vote names people."""
    right = 0
    scaled = features / features.std(axis=0)
    for place in range(len(scaled)):
        others = np.delete(np.arange(len(scaled)), place)
        distances = np.sqrt(((scaled[others] - scaled[place]) ** 2).sum(axis=1))
        near = others[distances <= np.sort(distances)[k - 1]]
        right += (is_model[near].mean() > 0.5) == is_model[place]
    return float(2 - 2 * right / len(scaled))


@pytest.mark.parametrize("k", [1, 4, 16, 25])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_released_way(k: int, seed: int) -> None:
    rated = rated_items(80, seed=seed, ratings=3)
    view = Ratings.of(rated)
    features = np.column_stack([view.means, view.log_probs()])
    assert huse(view, k=k) == pytest.approx(released(features, view.is_model, k), abs=1e-12)
    assert huse_q(view, k=k) == pytest.approx(released(features[:, :1], view.is_model, k), abs=1e-12)


def test_what_cannot_be_told_apart_scores_about_1_and_what_can_0() -> None:
    same = [huse(Ratings.of(rated_items(300, seed=seed, apart=0.0))) for seed in range(8)]
    assert np.mean(same) == pytest.approx(1.0, abs=0.06)
    assert huse(Ratings.of(rated_items(300, seed=0, apart=60.0))) == 0


def test_losses_add_up() -> None:
    view = Ratings.of(rated_items(100, seed=3))
    assert (1 - huse_d(view)) + (1 - huse_q(view)) == pytest.approx(1 - huse(view), abs=1e-12)


def test_whole_texts_or_tokens() -> None:
    view = Ratings.of(rated_items(100, seed=5))
    assert huse(view, per="text") != huse(view, per="token")
    assert huse(view, per="text") == pytest.approx(
        released(np.column_stack([view.means, view.log_prob]), view.is_model, 16), abs=1e-12
    )
