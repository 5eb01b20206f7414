"""Pair means: scores of candidates against references, averaged or the best taken, for many labellings of an item."""

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
    candidates, references = labels.places()
    step = max(1, _PAIRS // (n * m))
    blocks = (slice(start, start + step) for start in range(0, len(labels), step))
    best = [scores[candidates[rows, :, None], references[rows, None, :]].max(axis=2).mean(axis=1) for rows in blocks]
    return np.concatenate(best)
