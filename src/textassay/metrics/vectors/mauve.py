"""MAUVE and the frontier integral: divergence frontiers of two samples over clusters of their vectors.

Both metrics are functions of sums over clusters. `Summary` separates the two steps: clusters with the same counts have
the same terms, so one table of terms serves many pairs of histograms.

The clusters are those of the pooled texts, so an exchange of labels changes only the histograms.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.process_settings import single_threaded_products
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import metric
from textassay.metrics.vectors.clusters import cluster_labels, n_clusters
from textassay.metrics.vectors.vectors import Joint, Vectors, joint
from textassay.metrics.views import Resamples

Variant = Literal["plain", "star"]


def fewest_texts(*, texts_a_cluster: int, **_others: object) -> int:
    """Enough texts for two clusters, and at least twenty."""
    return max(20, 2 * texts_a_cluster)


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
    """MAUVE for every exchange of texts: the clusters are fixed, the histograms are sums over units."""
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
    """MAUVE with each group of texts left out of its histogram; the clusters are fixed."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.left_out(area(scaling=scaling, smooth=variant == "star"), labels)


def mauve_item(
    pool: ItemPool, labels: Labels, /, *, variant: Variant, texts_a_cluster: int, seeds: int, scaling: float
) -> F64:
    """MAUVE of each labelling of one item's texts; an item of few texts has two clusters."""
    summary = area(scaling=scaling, smooth=variant == "star")
    return of_labellings(pool, labels, summary, texts_a_cluster=texts_a_cluster, seeds=seeds)


@metric(
    "mauve",
    family="embedding",
    aspect="both",
    better="higher",
    rise="closer",
    bounds=(0.0, 1.0),
    interval="jackknife:fixed-clusters:logit",
    test="permutation",
    paper="pillutla2021",
    minimum=fewest_texts,
    parts=mauve_parts,
    exchange=mauve_exchange,
    leave_out=mauve_leave_out,
    item=mauve_item,
    most_labellings=20_000,
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
    r"""MAUVE: area under the frontier between two errors, implausible texts and kinds of text that are missing.

    The vectors of both samples are scaled to length 1, reduced to the directions that contain 90 % of their variance,
    and quantised together into k = n / `texts_a_cluster` clusters by k-means (n: the smaller sample). With P and Q the
    shares of candidate and reference in the clusters and :math:`R_w = w P + (1 - w) Q`, MAUVE is the area under

    .. math:: \left\{\left(e^{-c\,KL(Q \| R_w)},\; e^{-c\,KL(P \| R_w)}\right) : 0 < w < 1\right\}, \quad c = 5

    It is 1 for equal histograms and near 0 for samples that share no cluster. It is the average over `seeds` runs of
    k-means, because the noise of one run is as large as differences between models; the parts give the spread.
    `variant="star"` adds half a text to each cluster (Krichevsky-Trofimov), which reduces the influence of clusters
    with texts of one sample only. `frontier_integral` is a counterpart without a scaling constant.

    It sees clusters that one sample uses more than the other.

    Misleading when compared across sizes: the value changes with the number of texts, with the number of clusters and
    with the encoder, and two samples of one source score below 1. Compare it with real text's own value at the same
    size. The cost grows with the square of n; `texts_a_cluster=20` halves it, but gives a different number. For an item
    of fewer than 25 texts per side k is 2, so that only a coarse difference can be seen.

    It is always defined for samples of the minimum size. The interval keeps the clusters fixed, treats the seeds as a
    further source of variation, and is asymmetric, because it is computed on the logit scale. There is none below 50
    texts or 20 different texts.
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
    """The integral for every exchange of texts: the clusters are fixed, the histograms are sums over units."""
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
    """The integral with each group of texts left out of its histogram; the clusters are fixed."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.left_out(integral(smooth=variant == "star"), labels)


@metric(
    "frontier_integral",
    family="embedding",
    aspect="both",
    better="lower",
    rise="farther",
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
    r"""Frontier integral: divergence of two samples from their mixtures, averaged over all mixtures.

    With the histograms P and Q of `mauve` and the mixtures :math:`R_w = w P + (1 - w) Q`,

    .. math:: 2 \int_0^1 \left[w\,KL(P \| R_w) + (1 - w)\,KL(Q \| R_w)\right] dw

    It is 0 for equal histograms and 1 for samples that share no cluster. It is averaged over `seeds` runs of k-means;
    `variant="star"` adds half a text to each cluster. Unlike `mauve` it has no scaling constant, and lower is better.

    It sees clusters that one sample uses more than the other.

    Misleading in the same way as `mauve`: the value of two samples of one source is above 0 and changes with the
    numbers of texts and clusters, so compare at one size, with real text's own value.

    It is always defined for samples of the minimum size. Its interval is computed like that of `mauve`.
    """
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return float(found.of_each_seed(integral(smooth=variant == "star")).mean())


# Weights of the candidate in the mixtures at which the frontier is evaluated, as in mauve-text.
MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)


@dataclass(frozen=True)
class Summary:
    """A function of sums over clusters: `terms` maps the shares p and q of clusters to terms, one column per sum.

    A smooth summary adds half a text to every cluster (Krichevsky-Trofimov).
    """

    terms: Callable[[F64, F64], F64]
    value: Callable[[F64], F64]
    smooth: bool = False

    def of_counts(self, candidate: F64, reference: F64) -> F64:
        """The value for each row of two tables of counts, one column per cluster; a table may have one row for all."""
        sizes = np.stack(np.broadcast_arrays(candidate.sum(axis=1), reference.sum(axis=1)), axis=1)
        if (sizes == sizes[0]).all():
            return self._of_one_size(candidate, reference)
        kinds, which = np.unique(sizes, axis=0, return_inverse=True)
        # Exchanging groups of different sizes changes the totals: process rows with the same totals together.
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
        return self.value(times @ self.terms(p, q))


def area(*, scaling: float, smooth: bool = False) -> Summary:
    """Area under the curve of exp(-c KL(q, r)) and exp(-c KL(p, r)) over the mixtures r of p and q: MAUVE."""
    return Summary(_divergences, lambda sums: _area(sums, scaling), smooth)


def integral(*, smooth: bool = False) -> Summary:
    """Twice the divergence to the mixture, averaged over all mixtures: 0 for equal histograms, 1 for disjoint ones."""
    return Summary(_integral_terms, lambda sums: sums[..., 0], smooth)


def _divergences(p: F64, q: F64) -> F64:
    """The terms of the divergence of q from each mixture, then of p."""
    mixtures = np.multiply.outer(p, MIXTURES) + np.multiply.outer(q, 1 - MIXTURES)
    sides = [share[:, None] * np.log(np.where(share > 0, share, 1)[:, None] / _positive(mixtures)) for share in (q, p)]
    return np.concatenate(sides, axis=1)


def _positive(mixtures: F64) -> F64:
    """The mixtures with 1 in place of 0: clusters that neither sample uses have the term 0."""
    return np.where(mixtures > 0, mixtures, 1)


def _area(sums: F64, scaling: float) -> F64:
    """The area under the curve from (0, 1) to (1, 0)."""
    # Rounding may leave a divergence slightly below 0.
    closeness = np.exp(-scaling * np.maximum(sums, 0))
    across, up = np.split(closeness, 2, axis=-1)
    ends = np.ones((*sums.shape[:-1], 1))
    across = np.concatenate((ends, across, 0 * ends), axis=-1)
    up = np.concatenate((0 * ends, up, ends), axis=-1)
    heights = (up[..., 1:] + up[..., :-1]) / 2
    return (heights * (across[..., :-1] - across[..., 1:])).sum(axis=-1)


def _integral_terms(p: F64, q: F64) -> F64:
    """The term of a cluster in the integral.

    With m = (p + q) / 2 and d = |p - q| / (p + q) it is m (1 - (1 - d²) artanh(d) / d): the published closed form
    without its cancellation if p and q are close.
    """
    both = p + q
    d = np.abs(p - q) / np.where(both > 0, both, 1)
    near, far = d < 0.01, d >= 1
    inner = np.where(near | far, 0.5, d)
    bend = 1 - (1 - inner**2) * np.arctanh(inner) / inner
    series = d**2 * (2 / 3 + d**2 * (2 / 15 + d**2 * (2 / 35)))
    return (both / 2 * np.where(far, 1.0, np.where(near, series, bend)))[:, None]


# Numbers in a table of counts that are summarised at a time.
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

        If there are several seeds, a third array leaves out one seed at a time: they are a further source of variation.
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
    """Both samples quantised together, once per seed; at least two clusters if there are two different points."""
    both = joint(candidate, reference)
    k = max(2, round(min(both.sizes) / texts_a_cluster))
    return both.once(("quantised", k, seeds), lambda: _quantise(both, k, seeds))


def _quantise(both: Joint, k: int, seeds: int) -> Quantised:
    # One seed per worker, with single-threaded matrix products: many small products on several threads would wait for
    # each other. The result of a seed does not depend on the number of workers.
    with single_threaded_products(), ThreadPoolExecutor(min(seeds, os.cpu_count() or 1)) as pool:
        found = n_clusters(both, k)
        return Quantised(both.sizes, found, tuple(pool.map(lambda seed: cluster_labels(both, k, seed), range(seeds))))


def _cross(rows: I64, n_rows: int, columns: I64, n_columns: int) -> I64:
    """The number of texts in each row and column."""
    return np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns).reshape(n_rows, n_columns)


def of_labellings(pool: ItemPool, labels: Labels, summary: Summary, *, texts_a_cluster: int, seeds: int) -> F64:
    """The summary averaged over seeds for each labelling, with clusters of the texts that the labelling uses."""
    if 0 in labels.sizes:
        return np.full(len(labels), np.nan)
    k = max(2, round(min(labels.sizes) / texts_a_cluster))
    kinds, which = np.unique(labels.candidate | labels.reference, axis=0, return_inverse=True)
    found = np.zeros(len(labels))
    for kind, used in enumerate(kinds):
        rows = which.ravel() == kind
        texts = Vectors(pool.vectors[used])
        both = Joint(texts, Vectors(texts.values[:0]))
        sides = [side[rows][:, used].astype(np.float64) for side in (labels.candidate, labels.reference)]
        for seed in range(seeds):
            members = np.eye(n_clusters(both, k))[cluster_labels(both, k, seed)]
            found[rows] += summary.of_counts(*(side @ members for side in sides))
    return found / seeds


def seed_parts(found: Quantised, by_seed: F64) -> dict[str, float]:
    """The number of clusters, and how the value varies over the seeds."""
    spread = float(by_seed.std(ddof=1)) if len(by_seed) > 1 else float("nan")
    return {
        "clusters": float(found.k),
        "seed_sd": spread,
        "seed_min": float(by_seed.min()),
        "seed_max": float(by_seed.max()),
    }
