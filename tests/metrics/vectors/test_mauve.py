"""MAUVE and the frontier integral: mauve-text as oracle, degenerate samples, and the short cuts at blocks of texts."""

import importlib
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.conftest import material
from tests.laws import corpus
from textassay.inference.measure import measure
from textassay.inference.permutation import exchange_units
from textassay.inference.plan import Plan
from textassay.metrics.items.item_pool import random_masks
from textassay.metrics.registry import all_metrics, parse_requests
from textassay.metrics.vectors.clusters import cluster_labels
from textassay.metrics.vectors.mauve import area, frontier_integral, mauve, quantised
from textassay.metrics.vectors.vectors import Vectors, joint
from textassay.metrics.views import Resamples

F32 = NDArray[np.float32]


@pytest.fixture(scope="module")
def peer() -> Any:
    """mauve-text's module; its own dependencies warn when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("mauve")
        return importlib.import_module("mauve.compute_mauve")


@contextmanager
def given_labels(peer: Any, labels: NDArray[np.int64]) -> Iterator[None]:
    """mauve-text with its k-means exchanged for one that knows the labels (which it wants reference first)."""

    class Kmeans:
        def __init__(self, *_sizes: int, **_options: Any) -> None:
            self.index = SimpleNamespace(search=lambda points, _n: (None, labels[:, None]))

        def train(self, points: F32) -> None:
            assert len(points) == len(labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peer, "faiss", SimpleNamespace(Kmeans=Kmeans))
        yield


def mixture(n: int, seed: int, *, dimension: int = 24, tilt: float = 0.0) -> Vectors:
    rng, shared = np.random.default_rng(seed), np.random.default_rng(99)
    middles = shared.standard_normal((15, dimension))
    weights = np.exp(tilt * shared.standard_normal(15))
    chosen = rng.choice(15, size=n, p=weights / weights.sum())
    return Vectors((middles[chosen] + 0.6 * rng.standard_normal((n, dimension))).astype(np.float32))


@pytest.mark.parametrize("sizes", [(200, 200), (157, 260)])
@pytest.mark.parametrize("tilt", [0.0, 0.5, 3.0])
def test_equals_mauve_text_on_the_same_labels(peer: Any, sizes: tuple[int, int], tilt: float) -> None:
    candidate, reference = mixture(sizes[0], 1, tilt=tilt), mixture(sizes[1], 2)
    k = round(min(sizes) / 10)
    labels = cluster_labels(joint(candidate, reference), k, 0)
    with given_labels(peer, np.roll(labels, sizes[1])):
        theirs = peer.compute_mauve(p_features=candidate.values, q_features=reference.values)
    assert theirs.num_buckets == k
    values = [
        mauve(candidate, reference, seeds=1),
        mauve(candidate, reference, seeds=1, variant="star"),
        frontier_integral(candidate, reference, seeds=1),
        frontier_integral(candidate, reference, seeds=1, variant="star"),
    ]
    wanted = [theirs.mauve, theirs.mauve_star, theirs.frontier_integral, theirs.frontier_integral_star]
    assert values == pytest.approx(wanted, rel=1e-6)


def real_vectors(data: Path, model: str, size: int) -> tuple[Vectors, Vectors]:
    """A model's captions and real ones as TF-IDF in few dimensions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    files = [data / "coco_models" / f"{name}.txt" for name in (model, "real_test")]
    texts = [text for file in files for text in file.read_text(encoding="utf-8").split("\n")[:size]]
    vectors = TruncatedSVD(32, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts))
    first, second = np.split(vectors.astype(np.float32), 2)
    return Vectors(first), Vectors(second)


@pytest.mark.parametrize("model", ["real_train", "mle", "textgan"])
def test_average_over_seeds_is_within_the_spread_of_mauve_text(peer: Any, data: Path, model: str) -> None:
    """Where nearly all texts are copies the two place centres differently; there the values are near, not within."""
    candidate, reference = real_vectors(data, model, 500)
    features = {"p_features": candidate.values, "q_features": reference.values}
    with threadpool_limits(1):
        runs = [peer.compute_mauve(**features, seed=seed, kmeans_num_redo=1) for seed in range(10)]
    slack = 0.002 if model == "textgan" else 0.0
    areas, integrals = ([getattr(run, name) for run in runs] for name in ("mauve", "frontier_integral"))
    assert min(areas) - slack <= mauve(candidate, reference) <= max(areas) + slack
    slack *= 10
    assert min(integrals) - slack <= frontier_integral(candidate, reference) <= max(integrals) + slack


@pytest.mark.parametrize("shift", [1.0, 2.0, 3.0])
def test_a_shift_in_64_dimensions_is_within_the_spread_of_mauve_text(peer: Any, shift: float) -> None:
    """Gaussians of one width in every direction; both quantise by themselves, over several seeds."""
    rng = np.random.default_rng(0)
    theirs, mine = [], []
    for _ in range(2):
        first = (rng.standard_normal((600, 64)) + shift / 8).astype(np.float32)
        second = rng.standard_normal((600, 64)).astype(np.float32)
        with threadpool_limits(1):
            runs = [
                peer.compute_mauve(p_features=first, q_features=second, seed=seed, kmeans_num_redo=1)
                for seed in range(8)
            ]
        theirs.append([run.mauve for run in runs])
        found = quantised(Vectors(first), Vectors(second), texts_a_cluster=10, seeds=8)
        mine.append(found.of_each_seed(area(scaling=5.0)))
    # The mean of eight runs varies by the spread of one over the root of eight; both have one.
    spread = np.sqrt(np.var(theirs, axis=1, ddof=1) + np.var(mine, axis=1, ddof=1)) / np.sqrt(8)
    gap = np.mean(mine, axis=1) - np.mean(theirs, axis=1)
    assert (np.abs(gap) < 4 * spread).all(), (gap, spread)


@pytest.mark.parametrize("spec", ["mauve", "mauve:variant=star", "frontier_integral", "frontier_integral:variant=star"])
def test_exchanged_blocks_are_measured_anew(spec: str) -> None:
    """Samples of different sizes in blocks of two, with texts left over: every row is the metric of what it chose."""
    request = parse_requests([f"{spec}:texts_a_cluster=50:seeds=2"])[0]
    candidate, reference = mixture(1303, 1, dimension=6, tilt=0.5), mixture(901, 2, dimension=6)
    units, blocks = exchange_units((1303, 901), seed=0)
    masks = random_masks(*blocks, rows=3, seed=0)
    masks[0] = np.arange(sum(blocks)) < blocks[0]
    masks = np.concatenate((masks, np.broadcast_to([True, False], (3, 2))), axis=1)
    assert request.metric.exchange is not None
    quick = request.metric.exchange(
        candidate, reference, resamples=Resamples(units, (masks, ~masks)), **request.options
    )
    pooled = joint(candidate, reference).values
    plain = [request.value(Vectors(pooled[row[units]]), Vectors(pooled[~row[units]])) for row in masks]
    assert quick == pytest.approx(plain, rel=1e-12)
    assert len(set(quick)) == 3


def test_groups_left_out_are_left_out_of_the_histograms() -> None:
    """A whole sample of which all but one group is far away: without that group nothing is shared."""
    leave_out = all_metrics()["mauve"].leave_out
    assert leave_out is not None
    rng = np.random.default_rng(0)
    here, there = (np.eye(8)[at] + 0.01 * rng.standard_normal((60, 8)) for at in (0, 1))
    candidate = Vectors(np.concatenate((here[:20], there[:40])).astype(np.float32))
    reference = Vectors(here.astype(np.float32))
    groups = np.repeat([0, 1, 2], 20)
    options = {"variant": "plain", "texts_a_cluster": 30, "seeds": 4, "scaling": 5.0}
    mine, theirs, by_seed = leave_out(candidate, reference, labels=(groups, groups), **options)
    assert mine[0] < 0.01 < mine[1]
    assert mine[1] == pytest.approx(mine[2])
    assert theirs == pytest.approx(np.full(3, mauve(candidate, reference, texts_a_cluster=30, seeds=4)))
    assert by_seed.shape == (4,)
    assert by_seed.mean() == pytest.approx(mauve(candidate, reference, texts_a_cluster=30, seeds=4))


def test_parts_tell_the_spread_over_seeds() -> None:
    parts = all_metrics()["mauve"].parts
    assert parts is not None
    candidate, reference = mixture(200, 1), mixture(200, 2)
    by_hand = [mauve(candidate, reference, seeds=1)]
    by_hand.append(2 * mauve(candidate, reference, seeds=2) - by_hand[0])
    found = parts(candidate, reference, variant="plain", texts_a_cluster=10, seeds=2, scaling=5.0)
    assert found == pytest.approx(
        {"clusters": 20, "seed_sd": np.std(by_hand, ddof=1), "seed_min": min(by_hand), "seed_max": max(by_hand)}
    )


@pytest.mark.parametrize("name", ["mauve", "frontier_integral"])
def test_degenerate_samples_have_a_value(name: str) -> None:
    request = parse_requests([name])[0]
    best, worst = (1.0, 0.01) if name == "mauve" else (0.0, 1.0)
    same = Vectors(np.full((30, 5), 0.7, dtype=np.float32))
    zero = Vectors(np.zeros((30, 5), dtype=np.float32))
    assert request.value(same, Vectors(same.values.copy())) == best
    assert request.value(zero, Vectors(zero.values.copy())) == best
    assert request.value(zero, same) == pytest.approx(worst, abs=0.01)
    assert abs(request.value(mixture(30, 1, dimension=5), same) - best) > 0.2


def test_too_few_texts_are_undefined() -> None:
    for spec, fewest in (("mauve", 20), ("mauve:texts_a_cluster=15", 30), ("frontier_integral", 20)):
        for size in (fewest - 1, fewest):
            roles = {"candidate": material(corpus(1, size)), "reference": material(corpus(2, 40))}
            result = measure(parse_requests([spec]), roles, plan=Plan(n_resamples=0)).results[0]
            assert math.isnan(result.estimate) == (size < fewest)
            assert ("or more" in (result.undefined or "")) == (size < fewest)


def test_a_worse_candidate_scores_worse_and_is_significant() -> None:
    reference = mixture(200, 2)
    values = [mauve(mixture(200, 1, tilt=tilt), reference) for tilt in (0.0, 1.0, 3.0)]
    assert values == sorted(values, reverse=True)
    integrals = [frontier_integral(mixture(200, 1, tilt=tilt), reference) for tilt in (0.0, 1.0, 3.0)]
    assert integrals == sorted(integrals)
    far = {"candidate": material([f"other{i % 9} thing" for i in range(40)]), "reference": material(corpus(2, 40))}
    results = measure(parse_requests(["mauve", "frontier_integral"]), far, plan=Plan(n_resamples=99)).results
    assert [result.p_value for result in results] == [0.01, 0.01]
