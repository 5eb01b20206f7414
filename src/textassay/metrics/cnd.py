"""CND: the CR-NRR divergence between two n-gram distributions."""

from typing import Literal

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams, Table, aligned


@metric(
    "cnd",
    family="ngram",
    aspect="both",
    better="lower",
    bounds=(0.0, 2.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text of one of the samples has n tokens (the unbiased variant needs two that have)",
    variant_bounds={"unbiased": (-2.0, 2.0)},
)
def cnd(
    candidate: Ngrams, reference: Ngrams, /, *, n: int = 2, variant: Literal["plugin", "unbiased"] = "plugin"
) -> Value:
    r"""CR-NRR divergence: squared distance between two n-gram distributions.

    .. math:: \mathrm{CND}_n = \sum_g (Q_g - P_g)^2 = 3\,[\Psi(P) - \Psi(Q)], \quad \Psi = \tfrac23 CR + \tfrac13 NRR

    It misleads when read as a share: it is a squared distance, dominated by the most frequent n-grams, and small
    numbers can be real differences. The plug-in value of two samples from one source is above 0 and falls with size;
    `variant="unbiased"` uses only pairs of different texts, has mean 0 there, and may be slightly negative.
    """
    a, b = candidate.table(n), reference.table(n)
    counts, real = aligned(a, b)
    if variant == "plugin":
        gap = counts / a.total[..., None] - real / b.total[..., None]
        return (gap * gap).sum(axis=-1) + a.singles / a.total**2 + b.singles / b.total**2
    return _between_texts(a) + _between_texts(b) - 2 * (counts * real).sum(axis=-1) / (a.total * b.total)


def _between_texts(table: Table) -> Value:
    squares = (table.counts * table.counts).sum(axis=-1) + table.singles
    return (squares - table.own_squares) / (table.total**2 - table.size_squares)
