"""The asymptotic null of the triangle statistic against enumeration, closed forms and the permutation test."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, ncx2, norm

from tests.metrics.items.brute_triangles import item
from textassay.inference.items.triangle_null import LINEAR, MINIMUM, asymptotic_p, moments, tail
from textassay.inference.p_values import p_value
from textassay.metrics.items.item_pool import ItemPool, Labels, all_masks, random_masks
from textassay.metrics.items.trm import Direction, Variant, shares, trm, under_labels

VARIANTS: tuple[Variant, ...] = ("paper", "exclusive", "split", "squared", "released")
F64 = NDArray[np.float64]


def tied(n_texts: int, *, symmetric: bool, seed: int = 0) -> F64:
    """Small whole distances with many ties."""
    drawn = np.random.default_rng(seed).integers(0, 4, (n_texts, n_texts)).astype(np.float64)
    drawn = np.triu(drawn, 1) + np.triu(drawn, 1).T if symmetric else drawn
    return drawn * (1 - np.eye(n_texts))


def apart(points: F64) -> F64:
    return np.asarray(np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)))


def normal_item(n: int, m: int, *, dimensions: int, scale: float = 1.0, seed: int = 0) -> ItemPool:
    """Normal points, those of the candidates wider or narrower by a factor."""
    points = np.random.default_rng(seed).standard_normal((n + m, dimensions))
    points[:n] *= scale
    return item(apart(points), n)


def permuted_p(pool: ItemPool, *, rows: int = 4000, **options: Any) -> float:
    labels = Labels.partitions(random_masks(*pool.sizes, rows=rows, seed=1))
    return p_value(trm(pool, **options), under_labels(pool, labels, **options), exact=False)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("sizes", [(4, 5), (6, 3), (2, 5)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_moments_are_those_of_all_partitions(variant: Variant, sizes: tuple[int, int], symmetric: bool) -> None:
    pool = item(tied(sum(sizes), symmetric=symmetric), sizes[0])
    masks = all_masks(*sizes)
    values = shares(pool, Labels.partitions(masks), distance="own", variant=variant).reshape(-1, 6)
    found = moments(pool, distance="own", variant=variant)
    assert found.mean == pytest.approx(values.mean(axis=0), abs=1e-12)
    assert found.covariance == pytest.approx(np.cov(values.T, bias=True), abs=1e-12)
    # The first order is the best fit by a sum over the candidates.
    fit = masks @ np.linalg.lstsq(masks.astype(float), values, rcond=None)[0]
    assert found.projected == pytest.approx(np.cov(fit.T, bias=True), abs=1e-12)


def test_sides_are_mirror_images_without_ties() -> None:
    found = moments(normal_item(30, 40, dimensions=3), distance="own", variant="paper")
    assert found.mean == pytest.approx(1 / 3, abs=1e-12)
    assert found.projected[:3, 3:] == pytest.approx(-found.projected[:3, :3], abs=1e-15)
    assert np.linalg.matrix_rank(found.projected, tol=1e-12) == 2


def test_tail_has_the_closed_forms() -> None:
    assert tail(np.zeros(1), np.eye(1) * 4, 3.0, squared=False) == pytest.approx(2 * norm.sf(1.5))
    off = norm.sf(1.5 - 0.4) + norm.cdf(-1.5 - 0.4)
    assert tail(np.array([0.4]), np.eye(1), 1.5, squared=False) == pytest.approx(off)
    # A level below what the mean itself has.
    assert tail(np.array([2.0]), np.eye(1), 1.5, squared=False) == pytest.approx(norm.sf(-0.5) + norm.cdf(-3.5))
    # |x| + |y| of two independent ones reaches t outside a square on its corner.
    assert tail(np.zeros(2), np.eye(2), 2.0, squared=False) == pytest.approx(1 - math.erf(1) ** 2, rel=1e-6)
    assert tail(np.array([0.3, -0.5]), np.eye(2), 4.0, squared=True) == pytest.approx(ncx2.sf(4.0, 2, 0.34), rel=1e-6)
    assert tail(np.array([0.3, -2.5]), np.eye(2), 4.0, squared=True) == pytest.approx(ncx2.sf(4.0, 2, 6.34), rel=1e-6)


@pytest.mark.parametrize("squared", [False, True])
def test_tail_in_six_dimensions_is_that_of_a_normal_sample(squared: bool) -> None:
    known = moments(item(tied(60, symmetric=False), 25), distance="own", variant="paper")
    offset = known.mean - 1 / 3
    sample = multivariate_normal(offset, known.covariance, allow_singular=True, seed=0).rvs(200_000)
    values = (sample**2 if squared else np.abs(sample)).sum(axis=1)
    for share in (0.5, 0.05, 0.005):
        level = float(np.quantile(values, 1 - share))
        assert tail(offset, known.covariance, level, squared=squared) == pytest.approx(share, rel=0.08)


@pytest.mark.parametrize("dimensions", [2, 10])
@pytest.mark.parametrize("scale", [1.0, 0.85, 1.2])
def test_agrees_with_the_permutation_test_on_points(dimensions: int, scale: float) -> None:
    pool = normal_item(40, 40, dimensions=dimensions, scale=scale, seed=2)
    options: dict[str, Any] = {"distance": "own", "variant": "paper", "direction": "both"}
    wanted = permuted_p(pool, **options)
    error = 4 * math.sqrt(wanted * (1 - wanted) / 4000)
    assert asymptotic_p(pool, distance="own") == pytest.approx(wanted, abs=0.2 * wanted + error)


@pytest.mark.parametrize("direction", ["both", "references", "candidates"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_agrees_for_every_variant_and_direction(variant: Variant, direction: Direction) -> None:
    pool = normal_item(30, 45, dimensions=5, scale=0.9, seed=3)
    options: dict[str, Any] = {"distance": "own", "variant": variant, "direction": direction}
    assert asymptotic_p(pool, **options) == pytest.approx(permuted_p(pool, rows=2000, **options), abs=0.05)


def test_rejects_about_as_often_as_it_says_on_captions(data: Path) -> None:
    """Captions of many images, thrown together and labelled at random: ties and an asymmetric distance."""
    items = json.loads((data / "captions" / "coco_val_sample.json").read_text())
    words = [set(entry["references"][0].lower().split()) for entry in items[:80]]
    pool = item([[1 - len(one & other) / len(other) for other in words] for one in words], 40)
    known = moments(pool, distance="own", variant="paper")
    assert known.linear_share > 0.8
    labels = Labels.partitions(random_masks(40, 40, rows=2000, seed=1))
    null = under_labels(pool, labels, distance="own", variant="paper", direction="both")
    level = float(np.quantile(null, 0.95))
    assert 0.04 < tail(known.mean - 1 / 3, known.covariance, level, squared=False) < 0.1


def test_has_no_number_where_the_limit_does_not_hold() -> None:
    assert math.isnan(asymptotic_p(normal_item(MINIMUM - 1, 20, dimensions=2), distance="own"))
    assert math.isnan(asymptotic_p(normal_item(20, MINIMUM - 1, dimensions=2), distance="own"))
    assert not math.isnan(asymptotic_p(normal_item(MINIMUM, MINIMUM, dimensions=2), distance="own"))
    assert math.isnan(asymptotic_p(normal_item(200, 101, dimensions=2), distance="own"))


def test_has_no_number_where_no_text_is_more_central_than_another() -> None:
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 60)
    circle = item(apart(np.stack((np.cos(angles), np.sin(angles)), axis=1)), 30)
    assert moments(circle, distance="own", variant="paper").linear_share < LINEAR
    assert math.isnan(asymptotic_p(circle, distance="own"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_texts_that_are_all_the_same_are_never_significant(variant: Variant) -> None:
    assert asymptotic_p(item(np.zeros((24, 24)), 12), distance="own", variant=variant) == 1.0
