"""Recall: how much of the reference lies where the candidate does."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import exchanging, fewest_texts, leaving_out, shares, without_width
from textassay.views.vectors import Vectors


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
    undefined="every text of the reference repeats more than k times, so that its balls have no width",
    leave_out=leaving_out("recall"),
    exchange=exchanging("recall"),
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
    if without_width(reference, k):
        return float("nan")
    return float(shares(candidate, reference, k=k).recall[0])
