"""Dominance in the plane of quality and diversity, between systems and between sweeps."""

from collections.abc import Sequence

import numpy as np

from textassay.corpus.arrays import F64, Bool


def dominates(points: F64, others: F64) -> Bool:
    """Whether each point (row) dominates each other one (column): at least as good on both axes, better on one."""
    at_least = (points[:, None, :] >= others[None, :, :]).all(axis=-1)
    better = (points[:, None, :] > others[None, :, :]).any(axis=-1)
    return np.asarray(at_least & better)


def dominated_shares(sweeps: Sequence[F64]) -> F64:
    """For each sweep (row) the share of the points of each other sweep (column) that one of its points dominates."""
    return np.array(
        [[float(dominates(one, other).any(axis=0).mean()) for other in sweeps] for one in sweeps], dtype=np.float64
    ).reshape(len(sweeps), len(sweeps))
