"""Coverage: how many references have a candidate near them."""

from textassay.metrics.declare import metric
from textassay.views.ball_shares import Variant, exchanging, fewest_texts, leaving_out, shares
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
    leave_out=leaving_out("coverage"),
    exchange=exchanging("coverage"),
)
def coverage(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Coverage: the share of references whose ball, to their k-th nearest other reference, holds a candidate.

    .. math:: \frac1n \sum_i \Bigl[\min_j \lVert x_i - y_j \rVert \le r_i\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    A candidate at exactly the radius counts, so a reference with copies is covered by a candidate of the same text;
    `variant="released"` does not count it, as the package `prdc` does not.

    It misleads when samples differ in size: more candidates reach more balls. For samples of one source and one size
    it is near :math:`1 - 2^{-k}`, not 1.
    """
    return float(shares(candidate, reference, k=k, variant=variant).coverage[0])
