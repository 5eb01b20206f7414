"""Frontier integral: how far two quantised samples are from their mixtures, averaged over all mixtures."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics import mauve
from textassay.metrics.declare import metric
from textassay.views.frontier import integral
from textassay.views.histograms import quantised
from textassay.views.material import Resamples
from textassay.views.vectors import Vectors

F64 = NDArray[np.float64]


def parts(
    candidate: Vectors, reference: Vectors, /, *, variant: mauve.Variant, texts_a_cluster: int, seeds: int
) -> Mapping[str, float]:
    """The number of clusters, and the spread over seeds."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return mauve.seed_parts(found, found.of_each_seed(integral(smooth=variant == "star")))


def exchange(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    resamples: Resamples,
    variant: mauve.Variant,
    texts_a_cluster: int,
    seeds: int,
) -> F64:
    """The integral for every exchange of texts: the clusters stay, the histograms are sums over units."""
    found = quantised(candidate, reference, texts_a_cluster=texts_a_cluster, seeds=seeds)
    return found.exchanged(integral(smooth=variant == "star"), resamples)


def leave_out(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    variant: mauve.Variant,
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
    minimum=mauve.fewest_texts,
    in_default=False,
    parts=parts,
    exchange=exchange,
    leave_out=leave_out,
)
def frontier_integral(
    candidate: Vectors,
    reference: Vectors,
    /,
    *,
    variant: mauve.Variant = "plain",
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
