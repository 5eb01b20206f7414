"""MS-Jaccard: overlap of two samples' n-gram multisets."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import Value, metric
from textassay.views.ngrams import Ngrams, aligned


def scores(candidate: Ngrams, reference: Ngrams, /, *, n: int = 4) -> Mapping[str, float]:
    """The score of each order behind the geometric mean."""
    return {f"score_{k}": float(_score(candidate, reference, k)) for k in range(1, n + 1)}


@metric(
    "ms_jaccard",
    family="ngram",
    aspect="both",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="montahaei2019",
    undefined="no text of either sample has n tokens",
    parts=scores,
)
def ms_jaccard(candidate: Ngrams, reference: Ngrams, /, *, n: int = 4) -> Value:
    r"""MS-Jaccard: the geometric mean over orders 1..n of shared n-gram mass over joint n-gram mass.

    .. math:: \mathrm{score}_k = \frac{\sum_g \min(C_k(g), R_k(g))}{\sum_g \max(C_k(g), R_k(g))}

    with counts a text. It is 0 when any order shares nothing. It misleads across sample sizes: more texts share
    more n-grams, so real text against real text is far below 1; compare at equal sizes with the real-v-real row.
    """
    scores = np.stack([_score(candidate, reference, k) for k in range(1, n + 1)])
    return np.asarray(scores.prod(axis=0) ** (1 / n))


def _score(candidate: Ngrams, reference: Ngrams, k: int) -> NDArray[np.float64]:
    a, b = candidate.table(k), reference.table(k)
    counts, real = aligned(a, b)
    texts, real_texts = candidate.n_texts, reference.n_texts
    # Counts a text over one common denominator keep every sum an integer, hence exact and free of order effects.
    if np.array_equal(texts, real_texts):
        shared = np.minimum(counts, real).sum(axis=-1)
        return np.asarray(shared / (a.total + b.total - shared))
    shared = np.minimum(counts * np.asarray(real_texts)[..., None], real * np.asarray(texts)[..., None]).sum(axis=-1)
    return np.asarray(shared / (a.total * real_texts + b.total * texts - shared))
