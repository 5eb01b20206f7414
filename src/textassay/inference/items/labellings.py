"""Labellings of the texts of one item, its values under them, and the item's test.

If the candidates and the references of an item have one source, every labelling of its texts is equally likely.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.inference.p_values import p_value
from textassay.metrics.items.item_pool import ItemPool, Labels, all_masks, item_parts, item_values, random_masks
from textassay.metrics.registry import Request

# Up to this many parts of an item are measured for its value at a smaller size; of more, as many at random.
MOST_PARTS = 200


@dataclass(frozen=True, eq=False)
class Labellings:
    """Labellings of an item, the observed one first. `exact`: these are all labellings, each once."""

    labels: Labels
    exact: bool


@lru_cache(maxsize=64)
def labellings_of(candidates: int, references: int, *, most: int, n_resamples: int, seed: int) -> Labellings:
    """All labellings if there are at most `most`, else the observed and `n_resamples` random ones.

    Items of one size share them, so that what metrics derive from labels is derived once.
    """
    if comb(candidates + references, candidates) <= most:
        # The first labelling in order chooses the first texts: the candidates themselves.
        return Labellings(Labels.partitions(all_masks(candidates, references)), exact=True)
    truth = np.arange(candidates + references)[None, :] < candidates
    masks = random_masks(candidates, references, rows=n_resamples, seed=seed)
    return Labellings(Labels.partitions(np.concatenate((truth, masks))), exact=False)


@lru_cache(maxsize=64)
def sampled_indices(candidates: int, references: int, *, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """The indices of the observed labelling and of the random ones of `labellings_of` in the list of all labellings.

    >>> sampled_indices(2, 2, n_resamples=3, seed=0).tolist()[0]
    0
    """
    sample = labellings_of(candidates, references, most=0, n_resamples=n_resamples, seed=seed).labels.candidate
    n = sample.shape[1]
    indices = np.zeros(len(sample), dtype=np.int64)
    left = np.full(len(sample), candidates)
    for text in range(n):
        # A list in order has all choices with this text before all choices without it.
        ahead = np.array([comb(n - 1 - text, need - 1) if need else 0 for need in range(candidates + 1)])
        indices += np.where(sample[:, text], 0, ahead[left])
        left -= sample[:, text]
    return indices


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


def measure_item(request: Request, pool: ItemPool, labellings: Labellings | None) -> tuple[Figures, F64]:
    """The observed value of an item, with a test if there are labellings, and the value under every labelling."""
    started = time.perf_counter()
    values = item_values(request, pool, labellings.labels if labellings else pool.observed)
    figures = figures_of(request, values, labellings)
    seconds = time.perf_counter() - started
    return replace(figures, parts=item_parts(request, pool), seconds=seconds), values


def figures_of(request: Request, values: F64, labellings: Labellings | None) -> Figures:
    """The figures of an item from its value under every labelling; without labellings there is no test."""
    if labellings is None:
        return Figures(float(values[0]))
    return Figures(float(values[0]), row_p(request, values, row=0, exact=labellings.exact), *moments(values))


def figures_of_splits(request: Request, values: F64, labellings: Labellings, *, row: int) -> Figures:
    """Texts of one source split in two in many labellings: the mean over all of them, and the p-value of one."""
    if not np.isfinite(values).all():
        return Figures(math.nan)
    return Figures(float(values.mean()), row_p(request, values, row=row, exact=labellings.exact), *moments(values))


def mean_over(request: Request, pool: ItemPool, labels: Labels) -> float:
    """The mean value over these labellings."""
    return float(item_values(request, pool, labels).mean())


def row_p(request: Request, values: F64, *, row: int, exact: bool) -> float:
    """The p-value of one labelling among all, towards worse."""
    extreme = _towards_worse(request, values)
    null = extreme if exact else np.delete(extreme, row)
    return p_value(float(extreme[row]), null, exact=exact)


def smallest_row_p(request: Request, values: F64) -> float:
    """The p-value of the most extreme of these labellings: what the test of an item could find at best."""
    extreme = _towards_worse(request, values)
    return p_value(float(extreme.max()), extreme, exact=True)


def _towards_worse(request: Request, values: F64) -> F64:
    return -values if request.metric.better == "higher" else values


def moments(values: F64) -> tuple[float, float]:
    """Mean and variance over labellings."""
    return float(values.mean()), float(values.var())
