"""Coverage: how many references have a candidate near them."""

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
    """Coverage with each group of texts left out; the four metrics on balls share one count."""
    mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k)
    return mine.coverage, theirs.coverage


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int) -> F64:
    """Coverage under each labelling of the pooled texts; the four metrics on balls share one count."""
    return shares_exchanged(candidate, reference, resamples=resamples, k=k).coverage


@metric(
    "coverage",
    family="embedding",
    aspect="diversity",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test="permutation",
    paper="naeem2020",
    minimum=fewest_texts,
    leave_out=leave_out,
    exchange=exchange,
)
def coverage(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Coverage: the share of references whose ball, to their k-th nearest other reference, holds a candidate.

    .. math:: \frac1n \sum_i \Bigl[\min_j \lVert x_i - y_j \rVert < r_i\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads when samples differ in size: more candidates reach more balls. For samples of one source and one size
    it is near :math:`1 - 2^{-k}`, not 1. References that repeat more than k times have balls of no width and count as
    not covered.
    """
    return float(shares(candidate, reference, k=k).coverage[0])
