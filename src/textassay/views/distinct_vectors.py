"""The distinct vectors of a pool: generators that repeat themselves give many points few places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.vectors import F32, Joint

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Distinct:
    """Each vector once. `place` is the row of every pooled point; `points` lists the points row by row."""

    values: F32
    place: Ints
    points: Ints
    starts: Ints
    counts: Ints


def distinct_vectors(pair: Joint) -> Distinct:
    """Points with equal vectors share a row."""
    return pair.once("distinct vectors", lambda: _collapse(pair.values, pair.order))


def _collapse(values: F32, order: Ints) -> Distinct:
    # Equal vectors stand side by side in the canonical order. Where two vectors that differ share everything the order
    # looks at, copies might not; they then stay apart, which costs a little time and changes no result.
    ordered = values[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(fresh) - 1
    return Distinct(ordered[starts], place, order, starts, np.diff(starts, append=len(order)))
