"""The interval that each metric declares, by the name of its method."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from textassay.inference.jackknife import Replicates, half_width, spread
from textassay.inference.request import Request
from textassay.inference.result import Interval
from textassay.inference.wilson import modified_wilson, wilson

# Duplicates come in pairs at least, so a share of repeated texts rests on half as many independent events.
_TEXTS_A_PAIR = 2
# Half-widths with the clusters held are too small by about this over n (measured: 5 to 10 % at 100 texts, 0 at 500).
_CLUSTERS_HELD = 10
# A few outliers with wide balls decide; where a sample happens to have none, the jackknife's error is too small
# (measured at 500 texts: 84 to 95 % covered without this factor, 93 to 99 % with it).
_WIDE_BALLS = 1.2


def needs_replicates(method: str | None) -> bool:
    """True for methods that rest on the delete-a-group jackknife; what follows a colon says what was held fixed."""
    return method is not None and method.partition(":")[0] in ("jackknife", "jackknife+wilson")


def interval(
    request: Request, estimate: float, *, n: int, level: float, replicates: Mapping[Request, Replicates]
) -> Interval | None:
    """The interval of an estimate, or None where there are too few texts for it or nothing varied.

    `jackknife` is symmetric and cut at the metric's bounds; `wilson:modified` is for shares of independent
    texts; `jackknife+wilson` spans both, for shares of texts that repeat each other: few duplicates, or none, tell a
    jackknife nothing.
    """
    method = request.metric.interval
    if method is None:
        return None
    if method == "wilson:modified":
        return Interval(*modified_wilson(estimate, n, level), level, method)
    limits = _limits(method, estimate, replicates.get(request), n=n, level=level)
    spans_wilson = method.startswith("jackknife+wilson")
    # Where nothing varied, a jackknife has nothing to say; an interval of no width would claim certainty.
    if limits is None or (limits[0] == limits[1] and not spans_wilson):
        return None
    low, high = request.metric.bounds_for(request.options)
    low, high = max(limits[0], low), min(limits[1], high)
    if spans_wilson:
        share_low, share_high = wilson(estimate, n / _TEXTS_A_PAIR, level)
        low, high = min(low, share_low), max(high, share_high)
    return Interval(low, high, level, method)


def _limits(
    method: str, estimate: float, replicates: Replicates | None, *, n: int, level: float
) -> tuple[float, float] | None:
    """The jackknife's limits, before they are cut at the metric's bounds.

    `jackknife:fixed-clusters:logit` works on the scale of log(value / (1 - value)), where the spread of values near 0
    and 1 depends less on the value, and is wider in small samples, because other texts make other clusters. Methods
    that end with `wide-balls` are wider by a fifth.
    """
    half = _half_width(replicates, level)
    if replicates is None or half is None:
        return None
    if method.endswith(":wide-balls"):
        half *= _WIDE_BALLS
    inside = all(0 < value < 1 for value in (estimate, *np.concatenate(replicates.by_sample).tolist()))
    if half == 0 or method != "jackknife:fixed-clusters:logit" or not inside:
        return estimate - half, estimate + half
    moved = _half_width(replace(replicates, by_sample=tuple(map(logit, replicates.by_sample))), level)
    assert moved is not None
    centre, moved = float(logit(estimate)), moved * (1 + _CLUSTERS_HELD / n)
    return float(expit(centre - moved)), float(expit(centre + moved))


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
