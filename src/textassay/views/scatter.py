"""Scatter: count, mean and summed outer products of vectors, added and taken apart without the vectors."""

from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np
from numpy.typing import NDArray

from textassay.views.vectors import F32

F64 = NDArray[np.float64]

# Vectors turned into float64 at once. Slices of this size are summed one by one wherever the vectors come from, so that
# a sample that was read in pieces gives the same bytes as one held whole.
SLICE = 8192


@dataclass(frozen=True, eq=False)
class Scatter:
    """`cross` sums the outer products of the vectors less their mean: small numbers stay exact beside a large mean."""

    count: int
    mean: F64
    cross: F64

    @classmethod
    def of(cls, values: F32) -> Self:
        """The scatter of the rows."""
        starts = range(0, max(len(values), 1), SLICE)
        return reduce(lambda a, b: a.merge(b), (cls._of_slice(values[start : start + SLICE]) for start in starts))

    @classmethod
    def _of_slice(cls, values: F32) -> Self:
        rows = values.astype(np.float64)
        mean = rows.sum(axis=0) / max(len(rows), 1)
        rows -= mean
        return cls(len(rows), mean, rows.T @ rows)

    def merge(self, other: Self) -> Self:
        """The scatter of both."""
        count = self.count + other.count
        gap = other.mean - self.mean
        share = other.count / max(count, 1)
        return type(self)(
            count, self.mean + share * gap, self.cross + other.cross + np.outer(share * self.count * gap, gap)
        )

    def without(self, part: Self) -> Self:
        """The scatter of what is left when a part of it goes."""
        count = self.count - part.count
        mean = (self.count * self.mean - part.count * part.mean) / max(count, 1)
        gap = part.mean - mean
        weight = count * part.count / max(self.count, 1)
        return type(self)(count, mean, self.cross - part.cross - np.outer(weight * gap, gap))
