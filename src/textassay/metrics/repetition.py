"""Repetition: how many texts are copies, or nearly copies, of another text of the sample."""

from collections.abc import Mapping

import numpy as np

from textassay.metrics.declare import Value, metric
from textassay.views.twins import Twins


def shares(candidate: Twins, /, *, similarity: float = 0.8, shingle: int = 2) -> Mapping[str, float]:
    """Exact copies, near copies and different texts behind the value."""
    exact = float(candidate.sizes[candidate.sizes > 1].sum() / candidate.n_texts)
    either = float(repetition(candidate, similarity=similarity, shingle=shingle))
    return {"exact": exact, "near": either - exact, "unique_texts": float(len(candidate.sizes))}


@metric(
    "repetition",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test=None,
    why_no_test="real text has so few repeats that a test of them is mostly ties; the intervals decide",
    paper="broder1997",
    parts=shares,
    limits={"similarity": (0.5, 1.0)},
)
def repetition(candidate: Twins, /, *, similarity: float = 0.8, shingle: int = 2) -> Value:
    """Share of texts that are exact or near duplicates of another text of the sample.

    Exact: the same words in the same order. Near: sets of n-grams (of `shingle` words) with a Jaccard similarity of at
    least `similarity`, found by MinHash (a pair at 0.8 is missed about 3 times in 1,000) and then checked exactly, so
    the share is a lower bound. It misleads across sample sizes: more texts hold more duplicates; short texts repeat in
    real life too, so compare with real text's own value.
    """
    pairs = candidate.neighbours(shingle, similarity)
    # A class of one text without a neighbour is repeated in no resample, and most classes are such.
    classes = np.union1d(np.flatnonzero(candidate.sizes > 1), pairs)
    present = candidate.present(classes)
    beside = np.zeros_like(present)
    for here, there in np.searchsorted(classes, pairs).T, np.searchsorted(classes, pairs[:, ::-1]).T:
        np.add.at(beside.T, here, present.T[there])
    repeated = (present > 1) | (beside > 0)
    return (repeated * present).sum(axis=-1) / candidate.n_texts
