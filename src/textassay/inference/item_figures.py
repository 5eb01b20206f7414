"""Figures of one item: a metric's value, its p-value over all labellings, and what chance alone would give."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.inference.labellings import Ways
from textassay.inference.p_value import p_value
from textassay.inference.request import Request
from textassay.views.item_pool import ItemPool, Labels

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """`chance` and `variance` are the mean and variance over labellings; `asymptotic` is how the p-value was made."""

    estimate: float
    p_value: float = math.nan
    chance: float = math.nan
    variance: float = math.nan
    seconds: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    asymptotic: bool = False


def measure_item(request: Request, pool: ItemPool, ways: Ways | None) -> Figures:
    """The observed value of an item, with a test where labellings are given."""
    return measure_ways(request, pool, ways)[0]


def measure_ways(request: Request, pool: ItemPool, ways: Ways | None) -> tuple[Figures, F64]:
    """The same, and the value under every labelling."""
    started = time.perf_counter()
    values = item_values(request, pool, ways.labels if ways else pool.observed)
    p = math.nan if ways is None else row_p(request, values, row=0, exact=ways.exact)
    found = moments(values) if ways else (math.nan, math.nan)
    return Figures(float(values[0]), p, *found, time.perf_counter() - started, _parts(request, pool)), values


def _parts(request: Request, pool: ItemPool) -> Mapping[str, float]:
    """The named numbers behind the value, of metrics that are made for items."""
    metric = request.metric
    return metric.parts(pool, **request.options) if metric.parts and not metric.on_samples else {}


def measure_splits(request: Request, pool: ItemPool, ways: Ways, *, row: int) -> tuple[Figures, F64]:
    """Texts of one source split in two in many ways: the mean over all of them, the p-value of one, and all values."""
    values = item_values(request, pool, ways.labels)
    if not np.isfinite(values).all():
        return Figures(math.nan), values
    return Figures(float(values.mean()), row_p(request, values, row=row, exact=ways.exact), *moments(values)), values


def mean_over(request: Request, pool: ItemPool, labels: Labels) -> float:
    """The mean value over these labellings."""
    return float(item_values(request, pool, labels).mean())


def item_values(request: Request, pool: ItemPool, labels: Labels) -> F64:
    """The metric under each labelling."""
    measure: Any = request.metric.item
    with np.errstate(divide="ignore", invalid="ignore"):
        values: F64 = measure(pool, labels, **request.options)
    return values


def row_p(request: Request, values: F64, *, row: int, exact: bool) -> float:
    """The p-value of one labelling among all, towards worse."""
    extreme = -values if request.metric.better == "higher" else values
    null = extreme if exact else np.delete(extreme, row)
    return p_value(float(extreme[row]), null, exact=exact)


def moments(values: F64) -> tuple[float, float]:
    """Mean and variance over labellings."""
    return float(values.mean()), float(values.var())
