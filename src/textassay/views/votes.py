"""Votes of the nearest neighbours: what share of those around each point comes from the model, for many k at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.views.vote_order import Nearest, nearest

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

# `released`: all whose distance is no larger than the k-th as a floating-point number; `exact`: nor larger than it by
# rounding; `fair`: of those that tie with the k-th, as much of each as there are places left.
Tied = Literal["released", "exact", "fair"]
# What is recommended, 16 (n / 200)^(2/3), reaches it at about 99,000 items.
MOST_NEIGHBOURS = 1000
# Distances are in standard deviations; less than this is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Reach:
    """How much of each cell of a list is among the neighbours, from 0 to 1, one row a point."""

    listed: Nearest
    part: F64

    @property
    def model(self) -> F64:
        """Neighbours from the model."""
        return np.einsum("ij,ij->i", self.part, self.listed.model)

    @property
    def total(self) -> F64:
        """All neighbours."""
        return self.model + np.einsum("ij,ij->i", self.part, self.listed.human)


def votes_at(points: F64, is_model: Bool, *, ks: Sequence[int], tied: Tied, origin: I64 | None = None) -> list[F64]:
    """The share of the model among each point's neighbours, one array for each k; points do not vote on themselves."""
    origin = np.arange(len(points)) if origin is None else origin
    shares = np.full((len(ks), len(points)), np.nan)
    for listed in nearest(points, is_model, most=max(ks), slack=slack_of(tied), origin=origin):
        for row, k in enumerate(ks):
            found = reach(listed, k, tied)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares[row, listed.points] = found.model / found.total
    return list(shares)


def reach(listed: Nearest, k: int, tied: Tied) -> Reach:
    """The neighbours of each point: the nearest k others and, by the rule for ties, those as far as the k-th."""
    others = listed.human + listed.model
    gathered = np.cumsum(others, axis=1)
    last = np.argmax(gathered >= k, axis=1)
    # Where there are fewer than k others, all of them.
    last[gathered[:, -1] < k] = listed.distances.shape[1] - 1
    edge = np.take_along_axis(listed.distances, last[:, None], axis=1)
    within = listed.distances <= edge + slack_of(tied)
    if tied != "fair":
        return Reach(listed, within.astype(np.float64))
    nearer = listed.distances < edge - slack_of(tied)
    before = np.where(nearer, others, 0.0).sum(axis=1)
    ties = np.where(within & ~nearer, others, 0.0).sum(axis=1)
    left = np.clip((k - before) / np.where(ties > 0, ties, 1.0), 0.0, 1.0)
    return Reach(listed, np.where(nearer, 1.0, np.where(within, left[:, None], 0.0)))


def slack_of(tied: Tied) -> float:
    """By how much distances may differ and still count as tied."""
    return 0.0 if tied == "released" else _ROUNDING


def mistaken(share_model: F64, is_model: Bool, tied: Tied) -> F64:
    """How far each point's vote is wrong: 0 or 1, and for an even vote what the rule says.

    An even vote names people, as in the authors' program; under `fair` it is half a mistake for both sources.
    """
    even = np.abs(share_model - 0.5) <= _ROUNDING
    wrong: F64 = np.where(even, is_model, (share_model > 0.5) != is_model).astype(np.float64)
    return np.where(even, 0.5, wrong) if tied == "fair" else wrong
