"""Coverage: how many references have a candidate near them."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import exchanging, fewest_texts, leaving_out, shares, without_width
from textassay.views.vectors import Vectors


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
    undefined="every text of the reference repeats more than k times, so that its balls have no width",
    leave_out=leaving_out("coverage"),
    exchange=exchanging("coverage"),
)
def coverage(candidate: Vectors, reference: Vectors, /, *, k: int = 5) -> float:
    r"""Coverage: the share of references whose ball, to their k-th nearest other reference, holds a candidate.

    .. math:: \frac1n \sum_i \Bigl[\min_j \lVert x_i - y_j \rVert < r_i\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    It misleads when samples differ in size: more candidates reach more balls. For samples of one source and one size
    it is near :math:`1 - 2^{-k}`, not 1. References that repeat more than k times have balls of no width and count as
    not covered.
    """
    if without_width(reference, k):
        return float("nan")
    return float(shares(candidate, reference, k=k).coverage[0])
