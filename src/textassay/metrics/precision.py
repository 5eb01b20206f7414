"""Precision: how many candidates lie where the reference does."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import exchanging, fewest_texts, leaving_out, shares, without_width
from textassay.views.vectors import Vectors


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
    undefined="every text of the reference repeats more than k times, so that its balls have no width",
    leave_out=leaving_out("precision"),
    exchange=exchanging("precision"),
)
def precision(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Precision: the share of candidates inside the ball of any reference, where balls reach to the k-th neighbour.

    .. math:: \frac1m \sum_j \Bigl[\min_i \bigl(\lVert y_j - x_i \rVert - r_i\bigr) < 0\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads where the reference has outliers: their balls are wide and take in implausible texts (`density` weighs
    against that). A point at exactly the radius is outside, as in `prdc` (the paper's balls hold their rim), so where
    texts repeat more than k times balls have no width and hold nothing, copies included. A generator that writes one
    good text again and again scores 1; read it with `recall`. Values depend on the sample size and on k; 5 is what
    the package `prdc` shows, and the paper takes 3.
    """
    if without_width(reference, k):
        return float("nan")
    return float(shares(candidate, reference, k=k).precision[0])
