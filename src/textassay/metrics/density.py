"""Density: how many reference balls a candidate lies in."""

import numpy as np

from textassay.metrics.declare import metric
from textassay.views.ball_shares import Variant, exchanging, fewest_texts, leaving_out, shares
from textassay.views.vectors import Vectors


@metric(
    "density",
    family="embedding",
    aspect="quality",
    better="closer",
    bounds=(0.0, np.inf),
    interval="jackknife:different-texts",
    test="permutation",
    paper="naeem2020",
    minimum=fewest_texts,
    leave_out=leaving_out("density"),
    exchange=exchanging("density"),
)
def density(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Density: how many balls of references a candidate lies in, over k; 1 on average for samples of one source.

    .. math:: \frac{1}{k m} \sum_j \sum_i w_{ij}, \quad w_{ij} = 1 \text{ if } \lVert y_j - x_i \rVert < r_i, \quad
        \frac{k - a_i}{t_i + 1} \text{ if } \lVert y_j - x_i \rVert = r_i, \quad 0 \text{ else},

    where :math:`r_i` is the distance of reference :math:`x_i` to its k-th nearest other reference, :math:`a_i` other
    references are nearer than that and :math:`t_i` are exactly as far. The share on the rim is the chance that the
    candidate comes before the k-th reference when texts at one distance come in random order. With it the average over
    all exchanges of labels is exactly 1 whatever ties there are, and also where every text is the same: under one
    source a candidate is as likely as each of the n - 1 other references to be among the k nearest of n. Without ties
    it is the paper's formula. `variant="released"` gives the rim 0, as the package `prdc` does.

    It misleads when more is taken for better, as in the paper: a collapsed generator that repeats a few common texts
    has the highest density of all. Below real text's own value texts lie where no real ones are, above it they crowd
    where real ones are dense, so closer to that value is better here, and the test looks both ways. One outlier among
    the references counts little, unlike in `precision`.
    There is no interval for fewer than 20 different texts in a sample (those that repeat count for less): the value of
    a few texts jumps with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).density[0])
