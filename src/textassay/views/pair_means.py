"""Pair means: scores of candidates against references, averaged or the best taken, for many labellings of an item."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from textassay.views.item_pool import F64, Labels

Over = Literal["mean", "max"]

# Pairs of a candidate and a reference that are looked at together.
_PAIRS = 1 << 17


def pair_means(scores: F64, labels: Labels, *, over: Over) -> F64:
    """The mean over candidates of their mean or best score against the references, one value a labelling.

    >>> scores = np.array([[1.0, 0.2, 0.6], [0.2, 1.0, 0.4], [0.6, 0.4, 1.0]])
    >>> pair_means(scores, Labels.partitions(np.array([[True, False, False]])), over="max").tolist()
    [0.6]
    """
    n, m = labels.sizes
    if n == 0 or m == 0:
        return np.full(len(labels), np.nan)
    if over == "mean":
        sums: F64 = ((labels.candidate @ scores) * labels.reference).sum(axis=1)
        return sums / (n * m)
    return np.concatenate([best.mean(axis=1) for best in _best(scores, labels)])


def best_shares(precision: F64, recall: F64, labels: Labels, *, beta: float) -> F64:
    """The mean over candidates of an F-score of their best precision and their best recall over the references.

    The two may come from different references: that is how the COCO caption tools have ROUGE-L.
    """
    if 0 in labels.sizes:
        return np.full(len(labels), np.nan)
    found = []
    for p, r in zip(_best(precision, labels), _best(recall, labels), strict=True):
        below = r + beta**2 * p
        found.append(((1 + beta**2) * p * r / np.where(below == 0, 1.0, below)).mean(axis=1))
    return np.concatenate(found)


def _best(values: F64, labels: Labels) -> Iterator[F64]:
    """The largest value of each candidate over the references: some labellings at a time, one row per labelling."""
    candidates, references = labels.places()
    step = max(1, _PAIRS // (candidates.shape[1] * references.shape[1]))
    for start in range(0, len(labels), step):
        rows = slice(start, start + step)
        yield values[candidates[rows, :, None], references[rows, None, :]].max(axis=2)
