"""Density: how many reference balls a candidate lies in."""

import numpy as np

from textassay.metrics.declare import metric
from textassay.views.ball_shares import exchanging, fewest_texts, leaving_out, shares, without_width
from textassay.views.vectors import Vectors


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
    undefined="every text of the reference repeats more than k times, so that its balls have no width",
    leave_out=leaving_out("density"),
    exchange=exchanging("density"),
)
def density(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Density: how many balls of references a candidate lies in, over k; about 1 for samples of one source.

    .. math:: \frac{1}{k m} \sum_j \sum_i \bigl[\lVert y_j - x_i \rVert < r_i\bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads when more is taken for better, as in the paper: a collapsed generator that repeats a few common texts
    has the highest density of all. Below real text's own value texts lie where no real ones are, above it they crowd
    where real ones are dense, so closer to that value is better here, and the test looks both ways. One outlier among
    the references counts little, unlike in `precision`; balls of texts that repeat more than k times have no width and
    hold nothing.
    """
    if without_width(reference, k):
        return float("nan")
    return float(shares(candidate, reference, k=k).density[0])
