"""Recall: how much of the reference lies where the candidate does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import metric
from textassay.views.ball_shares import fewest_texts, shares, shares_exchanged, shares_without_groups
from textassay.views.material import Resamples
from textassay.views.vectors import Vectors

F64 = NDArray[np.float64]


def leave_out(
    candidate: Vectors, reference: Vectors, /, *, labels: Sequence[NDArray[np.int64]], k: int
) -> tuple[F64, F64]:
    """Recall with each group of texts left out; the four metrics on balls share one count."""
    mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k)
    return mine.recall, theirs.recall


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int) -> F64:
    """Recall under each labelling of the pooled texts; the four metrics on balls share one count."""
    return shares_exchanged(candidate, reference, resamples=resamples, k=k).recall


@metric(
    "recall",
    family="embedding",
    aspect="diversity",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leave_out,
    exchange=exchange,
)
def recall(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Recall: the share of references inside the ball of any candidate, where balls reach to the k-th neighbour.

    .. math:: \frac1n \sum_i \Bigl[\min_j \bigl(\lVert x_i - y_j \rVert - s_j\bigr) < 0\Bigr], \quad
        s_j = \text{distance of } y_j \text{ to its } k\text{-th nearest other candidate}

    It misleads where the candidate has outliers: a few bad texts have wide balls that take in much of the reference
    (`coverage` builds the balls around the references instead). A text written more than k times has a ball of no
    width, so a collapsed generator scores near 0. Values depend on the sample size and on k; 5 is what the package
    `prdc` shows, and the paper takes 3.
    """
    return float(shares(candidate, reference, k=k).recall[0])
