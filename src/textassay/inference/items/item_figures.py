"""Figures of one item: a metric's value, its p-value over labellings, and its mean by chance."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.inference.design import all_masks, random_masks
from textassay.inference.p_values import p_value
from textassay.inference.rng import stream
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import Request

# Up to this many parts of an item are measured for its value at a smaller size; of more, as many at random.
MOST_PARTS = 200


@dataclass(frozen=True, eq=False)
class Ways:
    """Labellings of an item; the first row is what was observed. `exact`: every way is there once."""

    labels: Labels
    exact: bool


@lru_cache(maxsize=64)
def ways(candidates: int, references: int, *, most: int, n_resamples: int, seed: int) -> Ways:
    """All ways to choose the candidates if there are at most `most`, else the observed and `n_resamples` random ones.

    Items of one size share them, so that what metrics derive from labels is derived once.
    """
    if comb(candidates + references, candidates) <= most:
        # The first way in order chooses the first texts: the candidates themselves.
        return Ways(Labels.partitions(all_masks(candidates, references)), exact=True)
    truth = np.arange(candidates + references)[None, :] < candidates
    masks = random_masks(candidates, references, rows=n_resamples, seed=seed)
    return Ways(Labels.partitions(np.concatenate((truth, masks))), exact=False)


@lru_cache(maxsize=64)
def sampled_places(candidates: int, references: int, *, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Where the observed labelling and the random ones of `ways` are in the list of all of them.

    >>> sampled_places(2, 2, n_resamples=3, seed=0).tolist()[0]
    0
    """
    sample = ways(candidates, references, most=0, n_resamples=n_resamples, seed=seed).labels.candidate
    n = sample.shape[1]
    places = np.zeros(len(sample), dtype=np.int64)
    left = np.full(len(sample), candidates)
    for text in range(n):
        # A list in order has all choices with this text before all choices without it.
        ahead = np.array([comb(n - 1 - text, need - 1) if need else 0 for need in range(candidates + 1)])
        places += np.where(sample[:, text], 0, ahead[left])
        left -= sample[:, text]
    return places


@lru_cache(maxsize=256)
def parts(sizes: tuple[int, int], smaller: tuple[int, int], *, seed: int) -> Labels:
    """Choices of fewer candidates and references: all where there are at most `MOST_PARTS`, else as many at random.

    >>> parts((3, 2), (2, 2), seed=0).candidate.astype(int).tolist()
    [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 1, 0, 0]]
    """
    counts = [comb(size, part) for size, part in zip(sizes, smaller, strict=True)]
    if counts[0] * counts[1] <= MOST_PARTS:
        chosen = [all_masks(part, size - part) for size, part in zip(sizes, smaller, strict=True)]
        both = np.repeat(chosen[0], counts[1], axis=0), np.tile(chosen[1], (counts[0], 1))
    else:
        rng = stream(seed, "parts", *sizes, *smaller)
        both = _random_choices(sizes[0], smaller[0], rng), _random_choices(sizes[1], smaller[1], rng)
    nothing = [np.zeros((len(side), other), dtype=bool) for side, other in zip(both, sizes[::-1], strict=True)]
    return Labels(np.concatenate((both[0], nothing[0]), axis=1), np.concatenate((nothing[1], both[1]), axis=1))


def _random_choices(size: int, part: int, rng: np.random.Generator) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    ranks = rng.permuted(np.tile(np.arange(size), (MOST_PARTS, 1)), axis=1)
    return ranks < part


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
