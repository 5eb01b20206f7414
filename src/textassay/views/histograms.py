"""Histograms of two samples over clusters of both: as observed, with texts exchanged, and with groups left out.

The clusters are those of the pooled texts, whoever wrote them, so an exchange of labels changes the histograms only.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.views.clusters import cluster_labels, n_clusters
from textassay.views.frontier import Summary
from textassay.views.material import Resamples
from textassay.views.vectors import Joint, Vectors, joint

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# Numbers of a table of counts that are summarised at a time.
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Quantised:
    """The cluster of each text of candidate and reference, for each seed of the quantisation."""

    sizes: tuple[int, int]
    k: int
    labels: tuple[I64, ...]

    def of_each_seed(self, summary: Summary) -> F64:
        """The summary of the two samples under each seed."""
        one_group = [np.zeros(size, dtype=np.int64) for size in self.sizes]
        return np.concatenate([summary.of_counts(*self._tables(labels, one_group)) for labels in self.labels])

    def exchanged(self, summary: Summary, resamples: Resamples) -> F64:
        """The summary averaged over seeds for each row of the resamples."""
        chosen = resamples.masks[0].astype(np.float32)
        step = max(1, _BLOCK // self.k)
        sums = np.zeros(len(chosen))
        for labels in self.labels:
            # Counts of texts are exact in float32.
            units = _cross(resamples.units, resamples.n_units, labels, self.k).astype(np.float32)
            pooled = units.sum(axis=0, dtype=np.float64)
            for start in range(0, len(chosen), step):
                counts = (chosen[start : start + step] @ units).astype(np.float64)
                sums[start : start + step] += summary.of_counts(counts, pooled - counts)
        return sums / len(self.labels)

    def left_out(self, summary: Summary, groups: Sequence[I64]) -> tuple[F64, ...]:
        """The summary averaged over seeds with each group of the candidate, then of the reference, left out.

        A third array leaves out one seed at a time, where there are several: the seeds are one more source of chance.
        """
        sides: list[list[F64]] = [[], []]
        for labels in self.labels:
            mine, others = self._tables(labels, groups)
            mine_whole, others_whole = (table.sum(axis=0, keepdims=True) for table in (mine, others))
            sides[0].append(summary.of_counts(mine_whole - mine, others_whole))
            sides[1].append(summary.of_counts(mine_whole, others_whole - others))
        averages = tuple(np.mean(side, axis=0) for side in sides)
        if len(self.labels) == 1:
            return averages
        by_seed = self.of_each_seed(summary)
        return (*averages, (by_seed.sum() - by_seed) / (len(by_seed) - 1))

    def _tables(self, labels: I64, groups: Sequence[I64]) -> list[F64]:
        """Counts of groups (rows) in clusters (columns), for candidate and reference."""
        pairs = zip(groups, np.split(labels, [self.sizes[0]]), strict=True)
        return [_cross(group, int(group.max()) + 1, part, self.k).astype(np.float64) for group, part in pairs]


def quantised(candidate: Vectors, reference: Vectors, *, texts_a_cluster: int, seeds: int) -> Quantised:
    """Both samples quantised together, once a seed; at least two clusters where there are two different points."""
    both = joint(candidate, reference)
    k = max(2, round(min(both.sizes) / texts_a_cluster))
    return both.once(("quantised", k, seeds), lambda: _quantise(both, k, seeds))


def _quantise(both: Joint, k: int, seeds: int) -> Quantised:
    # A seed a worker, and matrix products on one thread each: many small ones on several threads wait for each other.
    # What a seed gives depends on the seed only, so the number of workers is no matter.
    with threadpool_limits(1), ThreadPoolExecutor(min(seeds, os.cpu_count() or 1)) as pool:
        found = n_clusters(both, k)
        return Quantised(both.sizes, found, tuple(pool.map(lambda seed: cluster_labels(both, k, seed), range(seeds))))


def _cross(rows: I64, n_rows: int, columns: I64, n_columns: int) -> I64:
    """How many texts are in each row and column."""
    return np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns).reshape(n_rows, n_columns)
