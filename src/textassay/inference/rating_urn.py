"""An urn of ratings: for items that one person rated, draws what others gave to them, by weight."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RatingUrn:
    """Each rating as often as it weighs, by item: `start` is where it begins, `first` and `last` bound its item."""

    ratings: I64
    weights: I64
    start: I64
    first: I64
    last: I64

    @classmethod
    def of(cls, first: I64, size: I64, *, weights: I64) -> Self:
        """Of ratings sorted by item: where each one's item begins and how many ratings it has, and whole weights."""
        start = np.concatenate([[0], np.cumsum(weights)])
        ratings = np.repeat(np.arange(len(weights)), weights)
        return cls(ratings, weights, start, start[first], start[first + size])

    def draw(self, own: I64, uniform: F64) -> I64:
        """Someone else's rating of each item that has one of the `own` ratings, a row for each row of uniform numbers.

        >>> urn = RatingUrn.of(np.array([0, 0, 0, 3, 3]), np.array([3, 3, 3, 2, 2]), weights=np.array([1, 1, 3, 1, 1]))
        >>> urn.draw(np.array([1, 4]), np.array([[0.2, 0.5], [0.3, 0.5], [0.9, 0.5]])).tolist()
        [[0, 3], [2, 3], [2, 3]]
        """
        drawn = (uniform * (self.last - self.first - self.weights)[own]).astype(np.int64) + self.first[own]
        return self.ratings[drawn + np.where(drawn >= self.start[own], self.weights[own], 0)]
