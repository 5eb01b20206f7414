"""Exchanges of whole groups of texts: the samples then differ in size from row to row."""

from typing import Any

import numpy as np
import pytest

from textassay.metrics.registry import all_metrics, parse_requests
from textassay.metrics.vectors.vectors import Moments, Vectors
from textassay.metrics.views import Resamples

NAMES = sorted(
    metric.name
    for metric in all_metrics().values()
    if metric.family == "embedding" and metric.on_samples and metric.exchange is not None
)


@pytest.mark.parametrize("spec", [*NAMES, "frechet:variant=extrapolated"])
def test_every_row_has_sizes_of_its_own(spec: str) -> None:
    request = parse_requests([f"{spec}:texts_a_cluster=20" if spec in ("mauve", "frontier_integral") else spec])[0]
    kind: Any = {Vectors: Vectors, Moments: Moments.of_values}[request.metric.views[0]]
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(30), rng.integers(1, 8, 30))
    pooled = rng.standard_normal((len(units), 5)).astype(np.float32)
    masks = np.array([np.arange(30) < 14, *(rng.permutation(30) < 14 for _ in range(12))])
    sizes = masks @ np.bincount(units)
    assert len(set(sizes.tolist())) > 3
    first = masks[0][units]
    views = [kind(pooled[rows]) for rows in (first, ~first)]
    assert request.metric.exchange is not None
    order = np.concatenate((units[first], units[~first]))
    found = request.metric.exchange(*views, resamples=Resamples(order, (masks, ~masks)), **request.options)
    if spec in ("mauve", "frontier_integral"):
        # Another size would mean another number of clusters; see the sizes that give the same number.
        sizes = np.minimum(sizes, len(units) - sizes)
        rows = np.flatnonzero(np.round(sizes / 20) == np.round(sizes[0] / 20))
    else:
        rows = np.arange(len(masks))
    plain = []
    for mask in masks[rows][:, units]:
        one, other = kind(pooled[mask]), kind(pooled[~mask])
        plain.append(
            request.value(one, other) if request.metric.compares else request.value(one) - request.value(other)
        )
    assert len(rows) > 4
    assert found[rows] == pytest.approx(plain, rel=1e-6, abs=1e-9)
