"""MAUVE: the area under the divergence frontier of two quantised samples."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import metric
from textassay.views.frontier import area
from textassay.views.histograms import Quantised, quantised
from textassay.views.material import Resamples
from textassay.views.vectors import Vectors

F64 = NDArray[np.float64]
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


def parts(
    candidate: Vectors, reference: Vectors, /, *, variant: Variant, texts_a_cluster: int, seeds: int, scaling: float
) -> Mapping[str, float]:
    """The number of clusters, and the spread over seeds."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return seed_parts(found, found.of_each_seed(area(scaling=scaling, smooth=variant == "star")))


def exchange(
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


def leave_out(
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
    parts=parts,
    exchange=exchange,
    leave_out=leave_out,
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
