"""Recall: how much of the reference lies where the candidate does."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import Variant, exchanging, fewest_texts, leaving_out, shares
from textassay.views.vectors import Vectors


@metric(
    "recall",
    family="embedding",
    aspect="diversity",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson:different-texts",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leaving_out("recall"),
    exchange=exchanging("recall"),
)
def recall(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Recall: the share of references inside the ball of any candidate, where balls reach to the k-th neighbour.

    .. math:: \frac1n \sum_i \Bigl[\min_j \bigl(\lVert x_i - y_j \rVert - s_j\bigr) \le 0\Bigr], \quad
        s_j = \text{distance of } y_j \text{ to its } k\text{-th nearest other candidate}

    A reference at exactly the radius is inside, as in the paper; `variant="released"` leaves it out, as the package
    `prdc` does.

    It misleads where the candidate has outliers: a few bad texts have wide balls that hold much of the reference
    (`coverage` builds the balls around the references instead). A text written more than k times has a ball of no
    width, which holds copies of that text only, so a collapsed generator scores near 0. Values depend on the sample
    size and on k; 5 is what the package `prdc` shows, and the paper takes 3.
    There is no interval for fewer than 20 different texts in a sample (those that repeat count for less): the value of
    a few texts jumps with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).recall[0])
