"""Triangle ranks: which place the edge between two texts takes in its triangle with every third text."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.views.item_pool import F64, ItemPool, Places

Variant = Literal["paper", "exclusive", "split", "squared", "released"]
Ranks = NDArray[np.uint8]
Truth = NDArray[np.bool_]

# What one triangle counts for, so that shares of a triangle are whole numbers too: a tie of three edges is worth
# sixths when it is split, and thirds in the released program.
UNITS: dict[Variant, int] = {"paper": 1, "exclusive": 1, "split": 6, "squared": 1, "released": 3}
# Triangles that are ranked at a time.
_TRIANGLES = 1 << 20


def base_pairs(n_texts: int) -> tuple[Places, Places]:
    """The two texts of every base, the first before the second."""
    first, second = np.triu_indices(n_texts, 1)
    return first, second


def ranks(pool: ItemPool, *, distance: str, variant: Variant) -> Ranks:
    """How much each triangle counts as shorter, between and longer: an axis of ranks, of apexes and of bases.

    Every base counts twice, once in each direction of the edge between its texts. The edges from the apex start there.
    A text is no apex over itself: such triangles count nothing.
    """
    return pool.once(("triangle ranks", distance, variant), lambda: _ranks(pool.distances[distance], variant))


def _ranks(distances: F64, variant: Variant) -> Ranks:
    n = len(distances)
    first, second = base_pairs(n)
    found = np.empty((3, n, len(first)), dtype=np.uint8)
    for start in range(0, n, step := max(1, _TRIANGLES // max(len(first), 1))):
        apex = distances[start : start + step]
        one, other = apex[:, first], apex[:, second]
        low, high = np.minimum(one, other), np.maximum(one, other)
        there = _places(distances[first, second], low, high, variant)
        back = _places(distances[second, first], low, high, variant)
        np.add(there, back, out=found[:, start : start + step])
    apexes = np.arange(n)[:, None]
    found[:, (apexes == first) | (apexes == second)] = 0
    return found


def _places(edge: F64, low: F64, high: F64, variant: Variant) -> Ranks:
    """What the rank of an edge counts beside a shorter and a longer one: shorter, between, longer, in units."""
    at_low, at_high = edge == low, edge == high
    if variant in ("paper", "squared"):
        shorter, longer = edge <= low, edge >= high
        return np.stack((shorter, (edge >= low) & (edge <= high), longer)).astype(np.uint8)
    shorter, longer = edge < low, edge > high
    if variant == "exclusive":
        return np.stack((shorter, ~(shorter | longer), longer)).astype(np.uint8)
    between = (edge > low) & (edge < high)
    if variant == "released":
        # Whatever ties with an edge is decided by a coin that falls on one in three; "longer" is never asked for.
        tied = at_low | at_high
        return np.stack((shorter * 3 + at_low, between * 3 + tied, np.ones_like(tied))).astype(np.uint8)
    return _split(shorter, between, longer, at_low, at_high)


def _split(shorter: Truth, between: Truth, longer: Truth, at_low: Truth, at_high: Truth) -> Ranks:
    """Sixths of a triangle: halves for two tied edges, thirds for three."""
    all_tied = at_low & at_high
    below, above = (at_low & ~all_tied) * 3 + all_tied * 2, (at_high & ~all_tied) * 3 + all_tied * 2
    middle = (at_low ^ at_high) * 3 + all_tied * 2
    return np.stack((shorter * 6 + below, between * 6 + middle, longer * 6 + above)).astype(np.uint8)
