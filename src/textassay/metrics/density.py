"""Density: how many reference balls a candidate lies in."""

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
    """Density with each group of texts left out; the four metrics on balls share one count."""
    mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k)
    return mine.density, theirs.density


def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int) -> F64:
    """Density under each labelling of the pooled texts; the four metrics on balls share one count."""
    return shares_exchanged(candidate, reference, resamples=resamples, k=k).density


@metric(
    "density",
    family="embedding",
    aspect="quality",
    better="closer",
    bounds=(0.0, np.inf),
    interval="jackknife",
    test="permutation",
    paper="naeem2020",
    minimum=fewest_texts,
    leave_out=leave_out,
    exchange=exchange,
)
def density(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Density: how many balls of references a candidate lies in, over k; about 1 for samples of one source.

    .. math:: \frac{1}{k m} \sum_j \sum_i \bigl[\lVert y_j - x_i \rVert < r_i\bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads when more is taken for better, as in the paper: a collapsed generator that repeats a few common texts
    has the highest density of all. Below real text's own value texts lie where no real ones are, above it they crowd
    where real ones are dense, so closer to that value is better here, and the test looks both ways. One outlier among
    the references counts little, unlike in `precision`.
    """
    return float(shares(candidate, reference, k=k).density[0])
