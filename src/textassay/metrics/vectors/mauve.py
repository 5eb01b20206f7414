"""MAUVE and the frontier integral: divergence frontiers of two samples over clusters of their vectors.

Both are functions of sums over clusters. A summary keeps the two steps apart, because clusters with the same counts
add the same: many pairs of histograms then cost one table of what each kind of cluster adds.

The clusters are those of the pooled texts, whoever wrote them, so an exchange of labels changes the histograms only.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.arrays import F64, I64
from textassay.metrics.registry import metric
from textassay.metrics.vectors.clusters import cluster_labels, n_clusters
from textassay.metrics.vectors.vectors import Joint, Vectors, joint
from textassay.metrics.views import Resamples

# Weights of the candidate in the mixtures at which mauve-text evaluates the frontier.
MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)


@dataclass(frozen=True)
class Summary:
    """What shares p and q of a cluster add (one column a sum), and the value as a function of the sums.

    A smooth summary sees shares smoothed by Krichevsky and Trofimov, who count half a text more in every cluster.
    """

    adds: Callable[[F64, F64], F64]
    value: Callable[[F64], F64]
    smooth: bool = False

    def of_counts(self, candidate: F64, reference: F64) -> F64:
        """The value for each row of two tables of counts, one column per cluster; a table of one row serves all."""
        sizes = np.stack(np.broadcast_arrays(candidate.sum(axis=1), reference.sum(axis=1)), axis=1)
        if (sizes == sizes[0]).all():
            return self._of_one_size(candidate, reference)
        kinds, which = np.unique(sizes, axis=0, return_inverse=True)
        # Groups of texts of different sizes may have changed places: the rows of each pair of totals together.
        found = np.empty(len(sizes))
        tables = [np.broadcast_to(counts, (len(sizes), counts.shape[1])) for counts in (candidate, reference)]
        for kind in range(len(kinds)):
            rows = which.ravel() == kind
            found[rows] = self._of_one_size(tables[0][rows], tables[1][rows])
        return found

    def _of_one_size(self, candidate: F64, reference: F64) -> F64:
        k = candidate.shape[1]
        rows = max(len(candidate), len(reference))
        more = 0.5 if self.smooth else 0.0
        totals = [float(counts[0].sum()) + more * k for counts in (candidate, reference)]
        base = int(reference.max()) + 1
        kinds, which = np.unique((candidate * base + reference).astype(np.int64), return_inverse=True)
        p, q = ((counts + more) / total for counts, total in zip(np.divmod(kinds, base), totals, strict=True))
        cells = np.arange(rows).repeat(k) * len(kinds) + which.ravel()
        times = np.bincount(cells, minlength=rows * len(kinds)).reshape(rows, len(kinds))
        return self.value(times @ self.adds(p, q))


def area(*, scaling: float, smooth: bool = False) -> Summary:
    """Area under the curve of exp(-c KL(q, r)) and exp(-c KL(p, r)) over the mixtures r of p and q: MAUVE."""
    return Summary(_divergences, lambda sums: _area(sums, scaling), smooth)


def integral(*, smooth: bool = False) -> Summary:
    """Twice the divergence to the mixture, averaged over all mixtures: 0 for equal histograms, 1 for disjoint ones."""
    return Summary(_bend, lambda sums: sums[..., 0], smooth)


def _divergences(p: F64, q: F64) -> F64:
    """What a cluster adds to the divergence of q from each mixture, then of p."""
    mixtures = np.multiply.outer(p, MIXTURES) + np.multiply.outer(q, 1 - MIXTURES)
    sides = [share[:, None] * np.log(np.where(share > 0, share, 1)[:, None] / _used(mixtures)) for share in (q, p)]
    return np.concatenate(sides, axis=1)


def _used(mixtures: F64) -> F64:
    """Clusters that neither sample uses add nothing."""
    return np.where(mixtures > 0, mixtures, 1)


def _area(sums: F64, scaling: float) -> F64:
    """The curve falls from (0, 1) to (1, 0), so that the area over one axis is the area over the other."""
    # Rounding may leave a divergence a hair below 0.
    closeness = np.exp(-scaling * np.maximum(sums, 0))
    across, up = np.split(closeness, 2, axis=-1)
    ends = np.ones((*sums.shape[:-1], 1))
    across = np.concatenate((ends, across, 0 * ends), axis=-1)
    up = np.concatenate((0 * ends, up, ends), axis=-1)
    heights = (up[..., 1:] + up[..., :-1]) / 2
    return (heights * (across[..., :-1] - across[..., 1:])).sum(axis=-1)


def _bend(p: F64, q: F64) -> F64:
    """What a cluster adds to the integral.

    With m = (p + q) / 2 and d = |p - q| / (p + q) that is m (1 - (1 - d²) artanh(d) / d): the published closed form
    without its cancellation where p and q are close.
    """
    both = p + q
    d = np.abs(p - q) / np.where(both > 0, both, 1)
    near, far = d < 0.01, d >= 1
    inner = np.where(near | far, 0.5, d)
    bend = 1 - (1 - inner**2) * np.arctanh(inner) / inner
    series = d**2 * (2 / 3 + d**2 * (2 / 15 + d**2 * (2 / 35)))
    return (both / 2 * np.where(far, 1.0, np.where(near, series, bend)))[:, None]


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


Variant = Literal["plain", "star"]


def fewest_texts(*, texts_a_cluster: int, **_others: object) -> int:
    """Two clusters' worth of texts, and no fewer than twenty."""
    return max(20, 2 * texts_a_cluster)


def seed_parts(found: Quantised, by_seed: F64) -> dict[str, float]:
    """The number of clusters, and how the value varies over the seeds behind the average."""
    spread = float(by_seed.std(ddof=1)) if len(by_seed) > 1 else float("nan")
    return {
        "clusters": float(found.k),
        "seed_sd": spread,
        "seed_min": float(by_seed.min()),
        "seed_max": float(by_seed.max()),
    }


def mauve_parts(
    candidate: Vectors, reference: Vectors, /, *, variant: Variant, texts_a_cluster: int, seeds: int, scaling: float
) -> Mapping[str, float]:
    """The number of clusters, and the spread over seeds."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return seed_parts(found, found.of_each_seed(area(scaling=scaling, smooth=variant == "star")))


def mauve_exchange(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    resamples: Resamples,
    variant: Variant,
    texts_a_cluster: int,
    seeds: int,
    scaling: float,
) -> F64:
    """MAUVE for every exchange of texts: the clusters stay, the histograms are sums over units."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.exchanged(area(scaling=scaling, smooth=variant == "star"), resamples)


def mauve_leave_out(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    variant: Variant,
    texts_a_cluster: int,
    seeds: int,
    scaling: float,
) -> tuple[F64, ...]:
    """MAUVE with each group of texts left out of its histogram, the clusters held."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.left_out(area(scaling=scaling, smooth=variant == "star"), labels)


@metric(
    "mauve",
    family="embedding",
    aspect="both",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife:fixed-clusters:logit",
    test="permutation",
    paper="pillutla2021",
    minimum=fewest_texts,
    parts=mauve_parts,
    exchange=mauve_exchange,
    leave_out=mauve_leave_out,
    limits={"scaling": (0.01, 100.0)},
)
def mauve(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    variant: Variant = "plain",
    texts_a_cluster: int = 10,
    seeds: int = 5,
    scaling: float = 5.0,
) -> float:
    r"""MAUVE: area under the frontier between two kinds of error, text no one writes and text that is never written.

    Vectors of length 1 of both samples are reduced to the directions that hold 90 % of their variance and quantised
    together into k = n / `texts_a_cluster` clusters by k-means (n: the smaller sample). With P and Q the shares of
    candidate and reference in the clusters and :math:`R_w = w P + (1 - w) Q`, MAUVE is the area under

    .. math:: \left\{\left(e^{-c\,KL(Q \| R_w)},\; e^{-c\,KL(P \| R_w)}\right) : 0 < w < 1\right\}, \quad c = 5

    1 for equal histograms, near 0 for samples that share no cluster. It is the average over `seeds` runs of k-means,
    because one run's noise is as large as differences between models; `parts` gives the spread. `variant="star"` counts
    half a text more in each cluster (Krichevsky-Trofimov), which tempers clusters that only one sample reached.

    It misleads when compared across sizes: the value moves with the number of texts, with k and with the encoder, and
    two samples of one source score below 1. Read it beside real text's own value at the same size. The cost of
    quantisation grows with the square of n; `texts_a_cluster=20` halves it, and is another number. The interval holds
    the clusters as they are, counts the seeds as one more source of chance, and is uneven, because it is made on the
    logit scale. There is none for fewer than 50 texts, or 20 different ones. For the area's counterpart that needs no
    scaling constant see `frontier_integral`.
    """
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return float(found.of_each_seed(area(scaling=scaling, smooth=variant == "star")).mean())


def integral_parts(
    candidate: Vectors, reference: Vectors, /, *, variant: Variant, texts_a_cluster: int, seeds: int
) -> Mapping[str, float]:
    """The number of clusters, and the spread over seeds."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return seed_parts(found, found.of_each_seed(integral(smooth=variant == "star")))


def integral_exchange(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    resamples: Resamples,
    variant: Variant,
    texts_a_cluster: int,
    seeds: int,
) -> F64:
    """The integral for every exchange of texts: the clusters stay, the histograms are sums over units."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.exchanged(integral(smooth=variant == "star"), resamples)


def integral_leave_out(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    variant: Variant,
    texts_a_cluster: int,
    seeds: int,
) -> tuple[F64, ...]:
    """The integral with each group of texts left out of its histogram, the clusters held."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.left_out(integral(smooth=variant == "star"), labels)


@metric(
    "frontier_integral",
    family="embedding",
    aspect="both",
    better="lower",
    bounds=(0.0, 1.0),
    interval="jackknife:fixed-clusters:logit",
    test="permutation",
    paper="liu2021",
    minimum=fewest_texts,
    in_default=False,
    parts=integral_parts,
    exchange=integral_exchange,
    leave_out=integral_leave_out,
)
def frontier_integral(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    variant: Variant = "plain",
    texts_a_cluster: int = 10,
    seeds: int = 5,
) -> float:
    r"""Frontier integral: divergence of two samples from their mixtures, over all mixtures; MAUVE without a constant.

    With the histograms P and Q of `mauve` and the mixtures :math:`R_w = w P + (1 - w) Q`,

    .. math:: 2 \int_0^1 \left[w\,KL(P \| R_w) + (1 - w)\,KL(Q \| R_w)\right] dw

    0 for equal histograms, 1 for samples that share no cluster. It is a metric of its own beside `mauve` because less
    is better here. It is averaged over `seeds` runs of k-means; `variant="star"` counts half a text more in each
    cluster.

    It misleads as `mauve` does: the value of two samples of one source is above 0 and moves with the number of texts
    and of clusters, so compare at one size, beside real text's own value. Its interval is made like that of `mauve`.
    """
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return float(found.of_each_seed(integral(smooth=variant == "star")).mean())
