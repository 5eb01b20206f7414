"""Precision: how many candidates lie where the reference does."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import Variant, exchanging, fewest_texts, leaving_out, shares
from textassay.views.vectors import Vectors


@metric(
    "precision",
    family="embedding",
    aspect="quality",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson:different-texts",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leaving_out("precision"),
    exchange=exchanging("precision"),
)
def precision(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Precision: the share of candidates inside the ball of any reference, where balls reach to the k-th neighbour.

    .. math:: \frac1m \sum_j \Bigl[\min_i \bigl(\lVert y_j - x_i \rVert - r_i\bigr) \le 0\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    A text at exactly the radius is inside, as in the paper, so a text that repeats is inside the balls of its copies.
    `variant="released"` leaves such texts out, as the package `prdc` does: there a text with k or more copies has a
    ball that holds nothing, and samples of one source in which half of the texts repeat score about 0.5.

    It misleads where the reference has outliers: their balls are wide and hold implausible texts (`density` weighs
    against that). A generator that writes one good text again and again scores 1; read it with `recall`. Values depend
    on the sample size and on k; 5 is what the package `prdc` shows, and the paper takes 3.
    There is no interval for fewer than 20 different texts in a sample (those that repeat count for less): the value of
    a few texts jumps with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).precision[0])
