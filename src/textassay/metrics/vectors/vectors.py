"""Sentence vectors of one sample, and of two samples together."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.metrics.views import Material, Memo, Pool, Resamples

# Up to this many pooled texts, the tests of metrics that need eigenvalues compute the exact value for every exchange of
# labels. In larger pools a few thousand exact values would take minutes, so those tests use an expansion.
SMALL_POOL = 150

_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Vectors(Memo):
    """The sentence vectors of a sample, one row per text."""

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
        """The number of columns."""
        return self.values.shape[1]

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One row at a time, with copies of the vectors: correct for every metric, but slow."""
        pooled = pool.merged(cls).values
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(cls(pooled[row[resamples.units]]) for row in rows)


@dataclass(frozen=True, eq=False)
class Joint(Memo):
    """The vectors of two samples, the candidate first; keeps what several metrics compute from both."""

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
        """Places of the pooled vectors in an order that depends on the vectors only, not on the order of the texts.

        Random draws of texts start from this order, so that shuffled files and exchanged labels give the same draws.
        """
        return self.once("order", lambda: canonical_order(self.values))


def joint(candidate: Vectors, reference: Vectors) -> Joint:
    """The two samples together: the same object for each call, kept with the candidate."""
    found = candidate.once(("joint", id(reference)), lambda: Joint(candidate, reference))
    assert found.reference is reference
    return found


def chosen_places(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The columns that each row of a mask chooses; every row must choose the same number of columns.

    >>> chosen_places(np.array([[True, False, True], [False, True, True]])).tolist()
    [[0, 2], [1, 2]]
    """
    return np.nonzero(mask)[1].reshape(len(mask), -1)


def rows_of_one_size(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """The rows of a mask in groups that choose the same number of texts.

    >>> [rows.tolist() for rows in rows_of_one_size(np.array([[True, False], [True, True], [False, True]]))]
    [[0, 2], [1]]
    """
    sizes = mask.sum(axis=1)
    return (np.flatnonzero(sizes == size) for size in np.unique(sizes))


def canonical_order(values: F32) -> NDArray[np.int64]:
    """The order of the vectors along a fixed direction; ties are broken by the first coordinates."""
    direction = np.random.default_rng(0).standard_normal(values.shape[1])
    # Row by row, not as one matrix product: the rounding of a product depends on the position of a row in the array.
    blocks = [values[begin : begin + _BLOCK].astype(np.float64) for begin in range(0, len(values), _BLOCK)]
    along = np.concatenate([np.zeros(0), *(np.einsum("ij,j->i", block, direction) for block in blocks)])
    return np.lexsort((*values.T[:4], along))
