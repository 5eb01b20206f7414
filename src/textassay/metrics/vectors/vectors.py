"""Sentence vectors of samples, distances between them, and their means and covariances under resampling."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64, Bool
from textassay.metrics.views import Material, Memo, Resamples

# Up to this many pooled texts, the tests of metrics that need eigenvalues compute the exact value for every exchange of
# labels. In larger pools a few thousand exact values would take minutes, so those tests use an expansion.
SMALL_POOL = 150

_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Vectors(Memo):
    """The sentence vectors of a sample, one row per text."""

    values: F32
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[tuple[str, ...]] = ("encoder",)

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
    def resample(cls, whole: Self, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One row at a time, with copies of the vectors: correct for every metric, but slow."""
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(cls(whole.values[row[resamples.units]]) for row in rows)


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


# Vectors converted to float64 at a time. Sums always run over slices of this size, so that a sample that was read in
# batches gives the same bytes as one in memory.
SLICE = 8192


@dataclass(frozen=True, eq=False)
class Scatter:
    """Number, mean and summed outer products of vectors.

    `cross` sums the outer products after subtracting the mean, so that a large mean does not cost precision.
    """

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
        """The scatter of the vectors that are not in this part."""
        count = self.count - part.count
        mean = (self.count * self.mean - part.count * part.mean) / max(count, 1)
        gap = part.mean - mean
        weight = count * part.count / max(self.count, 1)
        return type(self)(count, mean, self.cross - part.cross - np.outer(weight * gap, gap))


# Samples up to this size are encoded once and kept in memory; larger ones are encoded in batches of this size.
MOST_KEPT = 65_536


@dataclass(frozen=True, eq=False)
class Batch:
    """Some vectors: `read` returns them, from memory or by encoding their texts again."""

    count: int
    read: Callable[[], F32]

    def chosen(self, keep: Bool) -> "Batch":
        """The vectors under the mask, selected when they are read."""
        return Batch(int(keep.sum()), lambda: self.read()[keep])


@dataclass(frozen=True, eq=False)
class Moments(Memo):
    """Mean and scatter of a sample's vectors, with access to the vectors for resampling."""

    dimension: int
    batches: tuple[Batch, ...]
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[tuple[str, ...]] = ("encoder",)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Encode the texts of a sample, in batches if there are many."""
        texts = material.sample.texts
        if len(texts) <= MOST_KEPT or material.has(Vectors):
            return cls.of_values(material.view(Vectors).values)
        encoder = material.settings.required_encoder
        slices = [texts.slice(start, MOST_KEPT) for start in range(0, len(texts), MOST_KEPT)]
        batches = (Batch(len(part), partial(lambda part: encoder.encode(part.to_pylist()), part)) for part in slices)
        moments = cls(encoder.dimension, tuple(batches))
        assert moments.total.count == len(texts)
        return moments

    @classmethod
    def of_values(cls, values: F32) -> Self:
        """The moments of given vectors."""
        return cls(values.shape[1], (Batch(len(values), lambda: values),))

    def merge(self, other: Self, /) -> Self:
        """The moments of both samples."""
        both = type(self)(self.dimension, self.batches + other.batches)
        if "total" in self._made and "total" in other._made:
            both._made["total"] = self.total.merge(other.total)
        return both

    def __len__(self) -> int:
        return sum(batch.count for batch in self.batches)

    @property
    def few(self) -> bool:
        """True if there are no more vectors than dimensions: the vectors are then smaller than their scatter."""
        return len(self) <= self.dimension

    @property
    def has_vectors(self) -> bool:
        """Whether the vectors can be read; digests have their sums only."""
        return True

    @property
    def total(self) -> Scatter:
        """The scatter of all vectors."""
        return self.once("total", lambda: reduce(lambda a, b: a.merge(b), map(Scatter.of, self.vectors())))

    @property
    def mean(self) -> F64:
        """The mean vector."""
        return self.once("mean", lambda: self.rows().mean(axis=0) if self.few else self.total.mean)

    def vectors(self) -> Iterator[F32]:
        """The vectors, one batch at a time."""
        return (batch.read() for batch in self.batches)

    def rows(self) -> F64:
        """All vectors as one array, for small samples."""
        return np.concatenate([values.astype(np.float64) for values in self.vectors()])

    def chosen(self, keep: Bool) -> Self:
        """The moments of the texts under the mask."""
        return type(self)(self.dimension, tuple(b.chosen(own) for b, own in self._beside(keep)))

    def left_out(self, labels: NDArray[np.int64]) -> Iterator[Self]:
        """The moments with each group of texts left out in turn; `labels` has the group of each text."""
        groups = int(labels.max()) + 1
        parts = [] if self.few else self._scatters(labels, groups)
        for group in range(groups):
            rest = self.chosen(labels != group)
            if parts:
                rest._made["total"] = self.total.without(parts[group])
            yield rest

    def parts(self, labels: NDArray[np.int64]) -> Iterator[F64]:
        """The vectors of each group of texts in turn."""
        for group in range(int(labels.max()) + 1):
            chosen = self.chosen(labels == group)
            yield np.concatenate([values.astype(np.float64) for values in chosen.vectors()])

    def without_buckets(self, buckets: int) -> tuple[Self, ...]:
        """The moments with each bucket of texts left out in turn; the buckets depend on the vectors only."""
        return self.once(("buckets", buckets), lambda: tuple(self.left_out(self._bucket_labels(buckets))))

    def _bucket_labels(self, buckets: int) -> NDArray[np.int64]:
        return ranks(np.concatenate([hash_vectors(values) for values in self.vectors()])) % buckets

    def _scatters(self, labels: NDArray[np.int64], groups: int) -> list[Scatter]:
        parts: list[list[Scatter]] = [[] for _ in range(groups)]
        for batch, own in self._beside(labels):
            values = batch.read()
            for group in range(groups):
                parts[group].append(Scatter.of(values[own == group]))
        return [reduce(lambda a, b: a.merge(b), part) for part in parts]

    def _beside(self, by_text: NDArray[Any]) -> Iterator[tuple[Batch, NDArray[Any]]]:
        """Each batch with the entries that belong to its texts."""
        ends = np.cumsum([batch.count for batch in self.batches])
        return zip(self.batches, np.split(by_text, ends[:-1]), strict=True)

    @classmethod
    def resample(cls, whole: Self, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One row at a time."""
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(whole.chosen(row[resamples.units]) for row in rows)


def hash_vectors(values: F32) -> NDArray[np.uint64]:
    """A hash of each vector's bytes: sorting by it gives an order that is unrelated to the position of the vectors."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rng = np.random.default_rng(0)
    sums = np.zeros(len(values), dtype=np.uint64)
    for column in range(bits.shape[1]):
        odd = 2 * int(rng.integers(2**63)) + 1
        sums += (bits[:, column] + np.uint64(1)) * np.uint64(odd)
    # Only the high bits of such sums are well mixed; sorting compares these first.
    return sums


def ranks(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The rank of each key among all keys; equal keys have consecutive ranks, in the order of the array."""
    places = np.empty(len(keys), dtype=np.int64)
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return places


# A squared distance below this share of the squared lengths is rounding: the vectors are equal.
_ROUNDING = 1e-13


def squared_distances(rows: F64, columns: F64) -> F64:
    """Squared Euclidean distances, exactly 0 between equal vectors."""
    lengths = np.einsum("ij,ij->i", rows, rows)
    others = lengths if columns is rows else np.einsum("ij,ij->i", columns, columns)
    squares = rows @ columns.T
    squares *= -2
    together = lengths[:, None] + others
    squares += together
    together *= _ROUNDING
    squares *= squares > together
    return squares
