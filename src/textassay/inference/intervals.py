"""The interval that each metric declares, by the name of its method."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from textassay.inference.jackknife import Replicates, half_width, spread
from textassay.inference.request import Request
from textassay.inference.result import Interval
from textassay.inference.wilson import wilson

# Duplicates come in pairs at least, so a share of repeated texts rests on half as many independent events.
_TEXTS_A_PAIR = 2


def needs_replicates(method: str | None) -> bool:
    """True for methods that rest on the delete-a-group jackknife; what follows a colon says what was held fixed."""
    return method is not None and method.partition(":")[0] in ("jackknife", "jackknife+wilson")


def interval(
    request: Request, estimate: float, *, n: int, level: float, replicates: Mapping[Request, Replicates]
) -> Interval | None:
    """The interval of an estimate, or None where there are too few texts for it or nothing varied.

    `jackknife` is symmetric and cut at the metric's bounds; `wilson` is for shares of independent texts;
    `jackknife+wilson` spans both, for shares of texts that repeat each other: few duplicates, or none, tell a
    jackknife nothing.
    """
    method = request.metric.interval
    if method is None:
        return None
    if method == "wilson":
        return Interval(*wilson(estimate, n, level), level, method)
    half = _half_width(replicates.get(request), level)
    # Where nothing varied, a jackknife has nothing to say; an interval of no width would claim certainty.
    if half is None or (half == 0 and method != "jackknife+wilson"):
        return None
    low, high = request.metric.bounds_for(request.options)
    low, high = max(estimate - half, low), min(estimate + half, high)
    if method == "jackknife+wilson":
        share_low, share_high = wilson(estimate, n / _TEXTS_A_PAIR, level)
        low, high = min(low, share_low), max(high, share_high)
    return Interval(low, high, level, method)


def _half_width(replicates: Replicates | None, level: float) -> float | None:
    if replicates is None or not all(np.isfinite(values).all() for values in replicates.by_sample):
        return None
    return half_width(spread(replicates.sources), level)


def resampling_fields(
    interval: str | None, test: str | None, *, level: float, n_resamples: int, seed: int, design: str, block: int
) -> dict[str, Any]:
    """What a signature reports of the uncertainty; `block` is how many texts or groups a test exchanges together."""
    if not n_resamples:
        return {"resamples": 0}
    fields: dict[str, Any] = {"interval": interval, "level": level}
    if test is not None:
        fields |= {"test": test, "resamples": n_resamples}
        if block > 1:
            fields["block"] = block
    if design != "independent":
        fields["design"] = design
    return fields | {"seed": seed}
