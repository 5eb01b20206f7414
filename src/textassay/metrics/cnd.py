"""CND: the CR-NRR divergence between two n-gram distributions."""

from typing import Any, Literal

import numpy as np

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams, Table, aligned

Weight = Literal["none", "sqrt", "idf"]


@metric(
    "cnd",
    family="ngram",
    aspect="both",
    better="lower",
    bounds=(0.0, 2.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text of one of the samples has n tokens (unbiased: needs two that have, and has no weights)",
    variant_bounds={"unbiased": (-2.0, 2.0), "sqrt": (0.0, float("inf")), "idf": (0.0, float("inf"))},
)
def cnd(
    candidate: Ngrams,
    reference: Ngrams,
    /,
    *,
    n: int = 2,
    variant: Literal["plugin", "unbiased"] = "plugin",
    weight: Weight = "none",
) -> Value:
    r"""CR-NRR divergence: squared distance between two n-gram distributions.

    .. math:: \mathrm{CND}_n = \sum_g w_g (Q_g - P_g)^2, \qquad
        \text{without weights } = 3\,[\Psi(P) - \Psi(Q)], \quad \Psi = \tfrac23 CR + \tfrac13 NRR

    `weight="none"` is the paper's, between 0 and 2. `sqrt` divides by the square root of the n-gram's share R in both
    samples together, and `idf` multiplies by the square of log(1 + 1/R): both see beyond the commonest n-grams. The
    weights do not change when labels are exchanged, so tests are as exact as without them. Without weights, a mixture
    with a share e of another source is e squared times as far away.

    It misleads when read as a share: it is a squared distance, without weights dominated by the most frequent n-grams,
    and small numbers can be real differences. The plug-in value of two samples from one source is above 0 and falls
    with size; `variant="unbiased"` uses only pairs of different texts, has mean 0 there, may be slightly
    negative, and has no weights.
    """
    a, b = candidate.table(n), reference.table(n)
    if variant == "plugin":
        return weighted_distance(a, b, weight=weight)
    return _unbiased(a, b) if weight == "none" else np.full_like(a.total, np.nan, dtype=float)[()]


def weighted_distance(a: Table, b: Table, *, weight: Weight) -> Value:
    """The sum over n-grams of weight times squared difference of shares."""
    counts, real = aligned(a, b)
    both = a.total + b.total
    gap = counts / a.total[..., None] - real / b.total[..., None]
    gap *= gap
    if weight != "none":
        gap *= _weights(counts + real, both[..., None], weight)
    # N-grams put aside occur once in both samples together.
    return gap.sum(axis=-1) + _weights(1.0, both, weight) * (a.singles / a.total**2 + b.singles / b.total**2)


def _weights(pooled: Any, total: Any, weight: Weight) -> Any:
    """The weight of n-grams with these pooled counts."""
    if weight == "none":
        return 1.0
    share = np.maximum(pooled, 1) / total
    return share**-0.5 if weight == "sqrt" else np.log1p(1 / share) ** 2


def _unbiased(a: Table, b: Table) -> Value:
    counts, real = aligned(a, b)
    return _between_texts(a) + _between_texts(b) - 2 * (counts * real).sum(axis=-1) / (a.total * b.total)


def _between_texts(table: Table) -> Value:
    squares = (table.counts * table.counts).sum(axis=-1) + table.singles
    return (squares - table.own_squares) / (table.total**2 - table.size_squares)
