"""Exact p-values of items are uniform up to their steps when the null holds, and their combinations keep the level."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from textassay.inference.items.joint_labellings import Tally, Unit, plan_drawing, summed
from textassay.inference.items.labellings import labellings_of, measure_item
from textassay.inference.p_values import fisher, harmonic_mean, simes
from textassay.metrics.items.item_pool import ItemPool
from textassay.metrics.registry import parse_requests

SETS, ITEMS, SIZES = 300, 20, (4, 5)
WAYS = 126
SPECS = (
    pytest.param("trm:distance=given", marks=pytest.mark.slow),
    pytest.param("trm:distance=given:variant=split", marks=pytest.mark.slow),
    "score:distance=given",
    "mmd",
)


def pool(rng: np.random.Generator) -> ItemPool:
    """Texts of one source: points in a plane, distances rounded so that some tie, and not the same both ways."""
    points = rng.normal(size=(sum(SIZES), 2)).astype(np.float32)
    gaps = np.linalg.norm(points[:, None] - points, axis=2) + 0.2 * np.abs(points[:, :1])
    distances = np.maximum(np.round(gaps.astype(np.float64), 1), 0.1)
    np.fill_diagonal(distances, 0.0)
    return ItemPool(SIZES, {"given": -distances}, {"given": distances}, points)


@cache
def p_values(spec: str) -> NDArray[np.float64]:
    """One row a set of items."""
    (request,) = parse_requests([spec], on="items")
    chosen = labellings_of(*SIZES, most=WAYS, n_resamples=0, seed=0)
    rng = np.random.default_rng(11)
    found = [measure_item(request, pool(rng), chosen)[0].p_value for _ in range(SETS * ITEMS)]
    return np.array(found).reshape(SETS, ITEMS)


@pytest.mark.parametrize("spec", SPECS)
def test_p_values_are_uniform_up_to_their_steps(spec: str) -> None:
    found = p_values(spec).ravel()
    assert np.allclose(found * WAYS, np.round(found * WAYS))
    for level in (3 / WAYS, 12 / WAYS, 0.25, 0.5, 0.75):
        share, error = (found <= level).mean(), np.sqrt(level * (1 - level) / len(found))
        assert share <= level + 4 * error, (level, share)
        # Ties make steps coarser, but leave something of every level.
        assert share >= 0.5 * level, (level, share)


@pytest.mark.parametrize("combine", [harmonic_mean, fisher, simes], ids=lambda f: f.__name__)
@pytest.mark.parametrize("spec", SPECS)
def test_combined_p_values_keep_the_level(spec: str, combine: object) -> None:
    assert callable(combine)
    rejected = np.mean([combine(row) <= 0.05 for row in p_values(spec)])
    assert rejected <= 0.07, rejected


@pytest.mark.parametrize("spec", SPECS)
def test_the_combined_test_rejects_as_often_as_it_should(spec: str) -> None:
    """Unlike combinations of p-values in steps, which reject too rarely, the exchange within items has its level."""
    (request,) = parse_requests([spec], on="items")
    chosen = labellings_of(*SIZES, most=WAYS, n_resamples=0, seed=0)
    rng = np.random.default_rng(12)
    rejected = []
    for seed in range(SETS):
        drawing = plan_drawing([Unit(str(item), WAYS, listed=True) for item in range(6)], draws=499, seed=seed)
        values = [measure_item(request, pool(rng), chosen)[1] for _ in range(6)]
        total = summed([Tally.of(each, drawing.rows(str(item))) for item, each in enumerate(values)])
        assert total is not None
        rejected.append(total.p_value("lower" if spec.startswith("score") else "higher") <= 0.05)
    # Four standard errors below and above 5 %.
    assert 0.01 <= np.mean(rejected) <= 0.1, np.mean(rejected)
