"""Triangles: how often the edge inside one side is the shorter, the middle or the longer one, for many labellings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from textassay.views.item_pool import F64, ItemPool, Labels
from textassay.views.triangle_ranks import UNITS, Ranks, Variant, base_pairs, ranks

F32 = NDArray[np.float32]

# Above this many pooled texts the ranks of all triangles do not fit into a small memory.
MOST_TEXTS = 300
# Numbers worked on at a time, of the bases of some labellings and of the ranks over some apexes; but never so few
# labellings that making ready for them takes longer than counting.
_BASES = 1 << 18
_RANKS = 1 << 22
_FEWEST_ROWS = 128
# Up to this many numbers the bases of labellings are kept: most items of a run share their labellings.
_KEPT = 1 << 20
_NOT_WORTH_KEEPING = 1 << 10


@dataclass(frozen=True, eq=False)
class Block:
    """Some labellings, one column each: which texts are apexes and which bases are whole, by side, as 0 and 1."""

    rows: slice
    sides: tuple[tuple[F32, F32], tuple[F32, F32]]


def shares(pool: ItemPool, labels: Labels, *, distance: str, variant: Variant) -> F64:
    """Shares of triangles whose base edge is shorter, between and longer: an axis of labellings, of sides, of ranks.

    The first side has two references as base and a candidate as apex, the second two candidates and a reference. NaN
    where a side has no triangle, above `MOST_TEXTS` pooled texts, and where a distance is not a number.
    `variant="released"` never counts "longer"; its third share is the 1/3 of the coin that is tossed instead.
    """
    # Several questions are asked of the same labellings; one that was answered is not counted again.
    return pool.once(("shares", labels, distance, variant), lambda: _shares(pool, labels, distance, variant))


def _shares(pool: ItemPool, labels: Labels, distance: str, variant: Variant) -> F64:
    n_triangles = _triangles(labels) if len(pool) <= MOST_TEXTS else np.zeros(2)
    if not n_triangles.any() or np.isnan(pool.distances[distance]).any():
        return np.full((len(labels), 2, 3), np.nan)
    found = ranks(pool, distance=distance, variant=variant)
    counts = np.empty((len(labels), 2, 3))
    for block in _blocks(labels):
        for side, (apexes, bases) in enumerate(block.sides):
            counts[block.rows, side] = _counts(found, apexes, bases).T
    with np.errstate(invalid="ignore"):
        return counts / (n_triangles * UNITS[variant])[:, None]


def _triangles(labels: Labels) -> F64:
    """Triangles of each side, every base in both directions."""
    n, m = labels.sizes
    return np.array([n * m * (m - 1), m * n * (n - 1)], dtype=np.float64)


def _counts(found: Ranks, apexes: F32, bases: F32) -> F64:
    """How much each rank counts under each labelling: a product of ranks and bases, then a sum over apexes.

    Single precision holds every number exactly: over one apex they stay below 6 * 300 * 299, and the sum over apexes
    is taken in double precision.
    """
    _, n_texts, n_bases = found.shape
    counts = np.zeros((3, apexes.shape[1]))
    for start in range(0, n_texts, step := max(1, _RANKS // (3 * n_bases))):
        some = found[:, start : start + step].reshape(-1, n_bases)
        by_apex = (some.astype(np.float32) @ bases).reshape(3, -1, apexes.shape[1])
        by_apex *= apexes[start : start + step]
        counts += by_apex.sum(axis=1, dtype=np.float64)
    return counts


def _blocks(labels: Labels) -> Iterable[Block]:
    n_texts = labels.candidate.shape[1]
    numbers = len(labels) * n_texts * (n_texts - 1) // 2
    return _kept_blocks(labels) if _NOT_WORTH_KEEPING < numbers <= _KEPT else _made_blocks(labels)


@lru_cache(maxsize=16)
def _kept_blocks(labels: Labels) -> tuple[Block, ...]:
    return tuple(_made_blocks(labels))


def _made_blocks(labels: Labels) -> Iterator[Block]:
    first, second = base_pairs(labels.candidate.shape[1])
    for start in range(0, len(labels), step := max(_FEWEST_ROWS, _BASES // len(first))):
        rows = slice(start, start + step)
        # A row a text: taking rows of a matrix that lies the other way is ten times slower.
        candidate, reference = (m[rows].T.astype(np.float32, order="C") for m in (labels.candidate, labels.reference))
        candidates, references = candidate[first] * candidate[second], reference[first] * reference[second]
        yield Block(rows, ((candidate, references), (reference, candidates)))
