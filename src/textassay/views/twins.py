"""Twins: which texts of a sample are the same or nearly the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.views.hashing import U64, order_of, starts_of_runs
from textassay.views.material import Mask, Material, Pool, Resamples
from textassay.views.sequences import Sequences
from textassay.views.sketches import Pairs, ranges, similar_pairs, text_keys

_ROWS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Twins:
    """Texts in classes of equal word sequences, numbered by their hash.

    `sizes` counts the texts of each class. A resampled view keeps the classes of its pool and counts anew which of
    their texts are `present`, with one row a resample; `n_texts` has as many rows.
    """

    sequences: Sequences
    keys: U64
    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    n_texts: Any
    _count: Callable[[NDArray[np.int64]], NDArray[Any]] | None = field(default=None, repr=False)
    _pairs: dict[tuple[int, float], Pairs] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Group the texts of a sample."""
        return cls.from_sequences(material.view(Sequences))

    @classmethod
    def from_sequences(cls, sequences: Sequences) -> Self:
        """Group texts by the hash of their words; `sequences` then holds each class once."""
        keys = text_keys(sequences)
        order = order_of(keys)
        runs = starts_of_runs(keys[order])
        class_of = np.empty(len(keys), dtype=np.int64)
        class_of[order] = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
        return cls(_chosen(sequences, order[runs[:-1]]), keys, class_of, np.diff(runs), len(keys))

    def merge(self, other: Self, /) -> Self:
        """Group the texts of both samples."""
        mine, theirs = (_chosen(twins.sequences, twins.class_of) for twins in (self, other))
        return self.from_sequences(mine.merge(theirs))

    def present(self, classes: NDArray[np.int64]) -> NDArray[Any]:
        """How many texts of each of these classes there are, one row a resample."""
        return self.sizes[classes] if self._count is None else self._count(classes)

    def neighbours(self, shingle: int, similarity: float) -> Pairs:
        """Pairs of classes that are nearly the same."""
        if (shingle, similarity) not in self._pairs:
            keys = np.empty(len(self.sequences), dtype=np.uint64)
            keys[self.class_of] = self.keys
            self._pairs[shingle, similarity] = similar_pairs(self.sequences, keys, n=shingle, similarity=similarity)
        return self._pairs[shingle, similarity]

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """A block of rows at a time: classes and neighbours of the pool, counting only the texts under the mask."""
        whole = pool.merged(cls)
        shape = (len(whole.sequences), resamples.n_units)
        counts = csr_array((np.ones(len(whole.class_of)), (whole.class_of, resamples.units)), shape=shape)
        for begin in range(0, len(resamples.masks[0]), _ROWS_AT_ONCE):
            yield tuple(whole._under(counts, mask[begin : begin + _ROWS_AT_ONCE]) for mask in resamples.masks)

    def _under(self, counts: Any, mask: Mask) -> Self:
        weights = np.ascontiguousarray(mask.T, dtype=np.float64)
        n_texts = counts.sum(axis=0) @ weights
        return replace(self, n_texts=n_texts, _count=lambda classes: (counts[classes] @ weights).T)


def _chosen(sequences: Sequences, texts: NDArray[np.int64]) -> Sequences:
    """The sequences of these texts, in this order."""
    sizes = sequences.lengths[texts]
    words = sequences.words[ranges(sequences.offsets[texts], sizes)]
    return Sequences(words, np.concatenate(([0], np.cumsum(sizes))))
