"""Squared distances between vectors: exact ones pair by pair, and rough ones in bulk with a proven bound on the error.

Matrix products are fast but round; differences are slow and do not (equal vectors are exactly 0 apart, and a pair gives
the same bits in either order and in any company). So the first find the few pairs that matter, the second decide.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.vectors import F32

F64 = NDArray[np.float64]
Ints = NDArray[np.int64]

# Differences in the making at a time: they stay in the processor's cache.
_CACHED = 1 << 17
# Columns turned to double precision at a time.
_COLUMNS = 4096


@dataclass(frozen=True, eq=False)
class Pairs:
    """Vectors ready for distances, in a unit in which none is farther than 1 from their mean."""

    values: F32
    centre: F64
    scale: float
    single: F32
    lengths: F64

    def __len__(self) -> int:
        return len(self.values)

    def exact(self, first: Ints, second: Ints) -> F64:
        """Squared distance of each pair of rows, by differences in double precision."""
        found = np.empty(len(first))
        step = max(1, _CACHED // self.values.shape[1])
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            gaps = np.subtract(self.values[first[part]], self.values[second[part]], dtype=np.float64)
            np.einsum("ij,ij->i", gaps, gaps, out=found[part])
        found *= self.scale**2
        return found

    def rough(self, rows: slice | Ints, columns: slice | Ints) -> F32:
        """Squared distances of rows to columns, each within `doubt` of the exact one."""
        squares = (self.lengths**2).astype(np.float32)
        found: F32 = np.multiply(self.single[rows], np.float32(-2)) @ self.single[columns].T
        found += squares[rows, None]
        found += squares[columns]
        return found

    def doubt(self, rows: slice | Ints) -> F64:
        """How far the rough distances of each row may be off."""
        return self._doubt(rows, float(np.finfo(np.float32).eps))

    def fine(self, rows: Ints) -> F64:
        """Squared distances of rows to all vectors in double precision, each within `fine_doubt` of the exact one."""
        found = np.empty((len(rows), len(self)))
        mine = self._centred(rows)
        for start in range(0, len(self), _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            theirs = self._centred(columns)
            tile = mine @ theirs.T
            tile *= -2
            tile += np.einsum("ij,ij->i", theirs, theirs)
            found[:, columns] = tile
        found += np.einsum("ij,ij->i", mine, mine)[:, None]
        return found

    def fine_doubt(self, rows: slice | Ints) -> F64:
        """How far the fine distances of each row may be off."""
        return self._doubt(rows, float(np.finfo(np.float64).eps))

    def _centred(self, rows: slice | Ints) -> F64:
        return (self.values[rows] - self.centre) * self.scale

    def _doubt(self, rows: slice | Ints, epsilon: float) -> F64:
        # With unit roundoff u, lengths a and b, and d terms summed in any order, the product is off by d*u*a*b at most
        # (and enters twice); rounding the coordinates, the squares and the two sums adds no more than 8*u*(a + b)^2.
        # As 2ab <= (a + b)^2 / 2, the whole is at most (d/2 + 8)*u*(a + b)^2; one tenth more covers terms of order u^2.
        reach = self.lengths[rows] + self.lengths.max(initial=0.0)
        return 1.1 * (self.values.shape[1] / 2 + 8) * (epsilon / 2) * reach**2


def pairs_of(values: F32) -> Pairs:
    """Centre and scale the vectors: a common offset would cost rough distances their precision."""
    centre = values.mean(axis=0, dtype=np.float64)
    lengths = np.empty(len(values))
    for start in range(0, len(values), _COLUMNS):
        gaps = values[start : start + _COLUMNS] - centre
        lengths[start : start + _COLUMNS] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    # A power of two changes no digit, so exact distances of different pools compare alike.
    scale = math.ldexp(1.0, -math.frexp(float(lengths.max(initial=0.0)))[1])
    single = np.empty(values.shape, dtype=np.float32)
    for start in range(0, len(values), _COLUMNS):
        single[start : start + _COLUMNS] = (values[start : start + _COLUMNS] - centre) * scale
    return Pairs(values, centre, scale, single, lengths * scale)
