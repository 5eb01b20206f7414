"""NRR: negative repetition rate, the diversity half of the CR/NRR pair."""

from typing import Literal

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams


@metric(
    "nrr",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(-1.0, 0.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text has n tokens (the unbiased variant needs two that have)",
)
def nrr(candidate: Ngrams, /, *, n: int = 2, variant: Literal["plugin", "unbiased"] = "plugin") -> Value:
    r"""Negative repetition rate: minus the chance that two n-grams drawn from the sample are the same one.

    .. math:: \mathrm{NRR}_n = -\sum_g Q_g^2

    It misleads when higher is taken for better: noise has the highest value of all, so compare with real text's own.
    The plug-in value counts each n-gram against itself and is biased down by about 1/total; `variant="unbiased"`
    uses only pairs of different texts.
    """
    table = candidate.table(n)
    squares = (table.counts * table.counts).sum(axis=-1) + table.singles
    if variant == "plugin":
        return -squares / table.total**2
    return -(squares - table.own_squares) / (table.total**2 - table.size_squares)
