"""Slices: above a stated size only pairs of texts in the same slice are compared, so that cost is linear.

Texts are dealt at random into slices of equal size, from an order that knows neither labels nor files. Means over pairs
within slices are unbiased for means over all pairs, and exchanging labels stays valid, as for any fixed set of pairs.
Of equal vectors in both samples the candidate's are dealt first; which slice that means is chance all the same.
"""

import numpy as np

from textassay.views.kernels import F64, Places
from textassay.views.vectors import Joint

# Up to this many pooled texts every pair counts.
MOST_TEXTS = 32_768
# Above, a slice has at most this many.
SLICE_TEXTS = 8_192


def count_slices(n_texts: int) -> int:
    """How many slices this many pooled texts are dealt into; 1 where every pair counts.

    >>> [count_slices(n) for n in (30, 32_768, 32_769, 100_000)]
    [1, 1, 5, 13]
    """
    return 1 if n_texts <= MOST_TEXTS else -(-n_texts // SLICE_TEXTS)


def slice_of(joint: Joint) -> Places:
    """The slice of each pooled text."""
    return joint.once("slice of each text", lambda: _deal(joint))


def _deal(joint: Joint) -> Places:
    n = len(joint.values)
    slices = np.zeros(n, dtype=np.int64)
    if count_slices(n) > 1:
        slices[joint.order] = np.random.default_rng(0).permutation(n) % count_slices(n)
    return slices


def members(joint: Joint) -> list[Places]:
    """The texts of each slice."""
    slices = slice_of(joint)
    return [np.flatnonzero(slices == number) for number in range(count_slices(len(slices)))]


def texts_by_slice(joint: Joint, labels: Places, n_labels: int) -> F64:
    """How many texts of each label each slice has: one row a label."""
    n_slices = count_slices(len(joint.values))
    counts = np.bincount(labels * n_slices + slice_of(joint), minlength=n_labels * n_slices)
    return counts.reshape(n_labels, n_slices).astype(np.float64)
