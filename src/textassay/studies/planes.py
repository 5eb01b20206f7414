"""Planes: a metric of quality and a metric of diversity that are plotted against each other: directions and axes."""

import math
from collections.abc import Iterator, Mapping

from textassay.document.plot import Band, Scale
from textassay.document.results import ends
from textassay.inference.result import Result
from textassay.metrics.effects import EFFECTS
from textassay.metrics.registry import Metric, all_metrics


def metric_of(result: Result) -> Metric | None:
    """The metric of a result as declared for its options; None if this version does not know it."""
    metric = all_metrics().get(result.metric)
    return None if metric is None else metric.under(result.options)


def rise_of(result: Result) -> str:
    """What a rise of the value says about a candidate, as the metric declares it; empty if it is not known."""
    metric = metric_of(result)
    return "" if metric is None else metric.rise


def falls(result: Result) -> bool:
    """Whether the value decreases as quality or diversity increases; a plane then reverses its axis."""
    return EFFECTS.get(rise_of(result), -1 if result.better == "lower" else 1) < 0


def plane_indexes(results: Mapping[int, Result]) -> tuple[int, int] | None:
    """The indexes of a quality and a diversity metric to plot against each other, None if one of them is missing.

    Metrics that belong together come first, and among those the ones that have tests.
    """
    pairs = [
        (x, y)
        for x, quality in results.items()
        for y, diversity in results.items()
        if (metric := metric_of(quality)) is not None and metric.beside == diversity.metric
    ]
    if pairs:
        return min(pairs, key=lambda pair: _order(*(results[index] for index in pair)))
    x, y = (
        next((index for index, result in results.items() if result.aspect == aspect), None)
        for aspect in ("quality", "diversity")
    )
    return None if x is None or y is None else (x, y)


def _order(quality: Result, diversity: Result) -> tuple[bool, bool]:
    """Pairs with tests come first, and then those of one order of n-grams."""
    metric = metric_of(quality)
    return metric is None or metric.test is None, quality.options.get("n") != diversity.options.get("n")


def plane_axis(aspect: str, label: str, real: Result) -> Scale:
    """The axis of an aspect: more of it to the right or upwards, stretched around real text."""
    turned = ", reversed axis" if falls(real) else ""
    centre = real.estimate if math.isfinite(real.estimate) else None
    return Scale(f"more {aspect} → ({label}{turned})", reversed=falls(real), centre=centre)


def plane_bands(quality: Result, diversity: Result) -> Iterator[Band]:
    """The intervals of real text on both axes."""
    if math.isfinite(quality.estimate):
        yield Band("x", *(ends(quality) or (quality.estimate,) * 2), quality.estimate)
    if math.isfinite(diversity.estimate):
        yield Band("y", *(ends(diversity) or (diversity.estimate,) * 2), diversity.estimate)
