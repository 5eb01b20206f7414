"""Precision: how many candidates lie where the reference does."""

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
    """Precision with each group of texts left out; the four metrics on balls share one count."""
    mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k)
    return mine.precision, theirs.precision


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int) -> F64:
    """Precision under each labelling of the pooled texts; the four metrics on balls share one count."""
    return shares_exchanged(candidate, reference, resamples=resamples, k=k).precision


@metric(
    "precision",
    family="embedding",
    aspect="quality",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leave_out,
    exchange=exchange,
)
def precision(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Precision: the share of candidates inside the ball of any reference, where balls reach to the k-th neighbour.

    .. math:: \frac1m \sum_j \Bigl[\min_i \bigl(\lVert y_j - x_i \rVert - r_i\bigr) < 0\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads where the reference has outliers: their balls are wide and take in implausible texts (`density` weighs
    against that). A generator that writes one good text again and again scores 1; read it with `recall`. Values depend
    on the sample size and on k; 5 is what the package `prdc` shows, and the paper takes 3.
    """
    return float(shares(candidate, reference, k=k).precision[0])
