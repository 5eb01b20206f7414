"""CR: coverage rate, the quality half of the CR/NRR pair."""

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams, aligned


@metric(
    "cr",
    family="ngram",
    aspect="quality",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text of one of the samples has n tokens",
)
def cr(candidate: Ngrams, reference: Ngrams, /, *, n: int = 2) -> Value:
    r"""Coverage rate: the chance that an n-gram drawn from each sample is the same one.

    .. math:: \mathrm{CR}_n = \sum_g Q_g P_g

    It misleads alone: repeating the reference's most frequent n-gram beats real text. Read it with `nrr`, or
    read `cnd`, which joins both. It is already unbiased: it only counts pairs of texts from different samples.
    """
    a, b = candidate.table(n), reference.table(n)
    counts, real = aligned(a, b)
    return (counts * real).sum(axis=-1) / (a.total * b.total)
