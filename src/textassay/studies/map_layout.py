"""A map of sentence vectors: regions laid out so that similar ones are neighbours, texts placed between them.

Two main directions of hundreds show little of such vectors. Here the centres of the regions are placed in the plane so
that their distances come out as well as a plane allows (stress minimised from a fixed start), and every text between
the centres it is nearest to. Positions are for the eye; no number is made from them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.studies.meaning import Point
from textassay.views.vectors import F32, canonical_order

Floats = NDArray[np.float64]

_STEPS = 200
_NEIGHBOURS = 3
MOST_POINTS = 350


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of the regions and of some texts of candidate and reference, all between 0 and 1."""

    regions: tuple[Point, ...]
    candidate: tuple[Point, ...]
    reference: tuple[Point, ...]


def lay_out(centres: Floats, candidate: F32, reference: F32) -> Layout:
    """The map of two samples around the centres of their regions."""
    flat = plane(centres)
    sides = [_thinned(values) for values in (candidate, reference)]
    points = between(np.concatenate(sides), centres, flat)
    everything = np.concatenate((flat, points))
    low, high = everything.min(axis=0), everything.max(axis=0)
    everything = (everything - low) / max(float((high - low).max()), 1e-12)
    k, first = len(flat), len(flat) + len(sides[0])
    return Layout(*(tuple(map(_point, part)) for part in (everything[:k], everything[k:first], everything[first:])))


def plane(centres: Floats) -> Floats:
    """Points in the plane whose distances resemble those of the centres: stress majorised, begun at the main axes."""
    k = len(centres)
    wanted = np.sqrt(np.maximum(((centres[:, None] - centres[None]) ** 2).sum(axis=-1), 0.0))
    axes, scale, _ = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)
    start = np.zeros((k, 2))
    start[:, : min(2, len(scale))] = axes[:, :2] * scale[:2]
    # The sign of an axis is arbitrary; fixed, so that the same texts give the same map.
    flat = start * np.where(start[np.abs(start).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    for _ in range(_STEPS):
        away = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=-1))
        ratio = np.divide(wanted, away, out=np.zeros_like(away), where=away > 1e-12)
        flat = (ratio.sum(axis=1)[:, None] * flat - ratio @ flat) / k
    return flat


def between(texts: F32, centres: Floats, flat: Floats) -> Floats:
    """Each text among the places of its nearest centres, the nearer the stronger, spread a little along two axes."""
    exact = texts.astype(np.float64)
    squares = np.maximum(((exact**2).sum(axis=1)[:, None] - 2 * exact @ centres.T) + (centres**2).sum(axis=1), 0.0)
    few = min(_NEIGHBOURS, len(centres))
    near = np.argsort(squares, axis=1, kind="stable")[:, :few]
    chosen = np.take_along_axis(squares, near, axis=1)
    gaps = chosen - chosen[:, :1]
    # In units of the usual gap, so that most texts stand by their own region whatever distances the encoder makes.
    weights = np.exp(-gaps / max(0.5 * float(np.median(gaps[:, min(1, few - 1)])), 1e-12))
    weights /= weights.sum(axis=1, keepdims=True)
    residual = exact - centres[near[:, 0]]
    axes = np.linalg.svd(residual, full_matrices=False)[2][:2]
    axes *= np.where(axes.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    spread = np.zeros((len(texts), 2))
    spread[:, : len(axes)] = residual @ axes.T
    return (weights[:, :, None] * flat[near]).sum(axis=1) + 0.5 * spread


def _thinned(values: F32) -> F32:
    """Evenly spaced texts in an order that does not depend on how they came in."""
    few = min(len(values), MOST_POINTS)
    return values[canonical_order(values)[np.arange(few) * len(values) // few]]


def _point(place: Floats) -> Point:
    return round(float(place[0]), 4), round(float(place[1]), 4)
