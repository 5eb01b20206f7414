"""Vectors: the sentence vectors of a sample, and of two samples thrown together."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.metrics.views import Material, Pool, Resamples

T = TypeVar("T")

# Up to this many pooled texts a metric by eigenvalues gets its exact value for every exchange of labels; above, a few
# thousand of them would take minutes, and its test looks at an expansion.
SMALL_POOL = 150

_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Vectors:
    """One vector a text, in the order of the texts."""

    values: F32
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[str] = "encoder"

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Encode the texts of a sample."""
        return cls(material.settings.required_encoder.encode(material.sample.texts.to_pylist()))

    def merge(self, other: Self, /) -> Self:
        """The vectors of both samples, one after the other."""
        return type(self)(np.concatenate((self.values, other.values)))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimension(self) -> int:
        """Columns."""
        return self.values.shape[1]

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """A row at a time, each with the vectors themselves: right for every metric, fast for none."""
        pooled = pool.merged(cls).values
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(cls(pooled[row[resamples.units]]) for row in rows)

    def once(self, key: Hashable, make: Callable[[], T], /) -> T:
        """What `make` returns, made once and kept under its key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


@dataclass(frozen=True, eq=False)
class Joint:
    """Two samples thrown together, the candidate first; what several metrics need of both is made once and kept."""

    candidate: Vectors
    reference: Vectors
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """Texts of the candidate and of the reference."""
        return len(self.candidate), len(self.reference)

    @property
    def values(self) -> F32:
        """The vectors of both."""
        return self.once("values", lambda: np.concatenate((self.candidate.values, self.reference.values)))

    @property
    def order(self) -> NDArray[np.int64]:
        """Places of the pooled vectors in an order that depends on the vectors only, not on how they came in.

        What draws points at random draws from this order, so that shuffled files, and exchanged labels, give the same.
        """
        return self.once("order", lambda: canonical_order(self.values))

    def once(self, key: Hashable, make: Callable[[], T], /) -> T:
        """What `make` returns, made once and kept under its key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


def joint(candidate: Vectors, reference: Vectors) -> Joint:
    """The two samples together; the same object each time, kept with the candidate."""
    found = candidate.once(("joint", id(reference)), lambda: Joint(candidate, reference))
    assert found.reference is reference
    return found


def rows_of_one_size(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """The rows of a mask that choose one and the same number of texts, for each such number.

    >>> [rows.tolist() for rows in rows_of_one_size(np.array([[True, False], [True, True], [False, True]]))]
    [[0, 2], [1]]
    """
    sizes = mask.sum(axis=1)
    return (np.flatnonzero(sizes == size) for size in np.unique(sizes))


def canonical_order(values: F32) -> NDArray[np.int64]:
    """Sort by the place along a fixed direction, then by the first coordinates."""
    direction = np.random.default_rng(0).standard_normal(values.shape[1])
    # Row by row, not as one product: how a product adds up depends on where in the array a row stands.
    blocks = [values[begin : begin + _BLOCK].astype(np.float64) for begin in range(0, len(values), _BLOCK)]
    along = np.concatenate([np.zeros(0), *(np.einsum("ij,j->i", block, direction) for block in blocks)])
    return np.lexsort((*values.T[:4], along))
