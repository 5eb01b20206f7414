"""Distinct-n: the share of different n-grams."""

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams


@metric(
    "distinct",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="li2016",
    undefined="no text has n tokens",
)
def distinct(candidate: Ngrams, /, *, n: int = 2) -> Value:
    """Distinct-n: different n-grams over all n-grams of the sample.

    It misleads across sample sizes and text lengths: it falls as a sample grows, so only samples of one size compare
    (the default `--size match`). Noise scores highest: compare with real text's own value.
    """
    table = candidate.table(n)
    return ((table.counts > 0).sum(axis=-1) + table.singles) / table.total
