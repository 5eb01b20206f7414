"""Ngrams: hashed n-gram tables of a sample, one count a gram."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from textassay.views.hashing import U64, union
from textassay.views.material import Mask, Material, Pool, Resamples
from textassay.views.ngram_pool import NgramPool, PooledOrder
from textassay.views.text_ngrams import Incidence, TextNgrams

# A number, or an array of them with one row a resample.
Numbers = Any


@dataclass(frozen=True, eq=False)
class Table:
    """Counts of the n-grams of one order.

    All but `keys` may have a leading axis, one row a resample; a metric that sums over the last axis serves both.
    `singles` counts grams that are left out of `counts`: each stands once in this sample and nowhere in the other
    one. Resampling puts them aside, because they are most grams and need no column. `own_squares` is the sum of squared
    counts within single texts and `size_squares` that of squared sizes of texts: what an unbiased estimate takes off.
    """

    keys: U64
    counts: Numbers
    total: Numbers
    own_squares: Numbers
    size_squares: Numbers
    singles: Numbers

    def merge(self, other: Self) -> Self:
        """Counts of both samples together."""
        keys = union(self.keys, other.keys)
        counts = spread(self, keys) + spread(other, keys)
        return type(self)(
            keys,
            counts,
            self.total + other.total,
            self.own_squares + other.own_squares,
            self.size_squares + other.size_squares,
            self.singles + other.singles,
        )


def spread(table: Table, keys: U64) -> Numbers:
    """The table's counts at these keys (a superset of its own), 0 where it has none."""
    counts = np.zeros((*table.counts.shape[:-1], len(keys)), dtype=table.counts.dtype)
    counts[..., np.searchsorted(keys, table.keys)] = table.counts
    return counts


def aligned(candidate: Table, reference: Table) -> tuple[Numbers, Numbers]:
    """The counts of two tables over the grams of both."""
    if candidate.keys is reference.keys:
        return candidate.counts, reference.counts
    keys = union(candidate.keys, reference.keys)
    return spread(candidate, keys), spread(reference, keys)


@dataclass(frozen=True, eq=False)
class Ngrams:
    """N-gram tables for every order, each made on first use."""

    n_texts: Numbers
    _make: Callable[[int], Table] = field(repr=False)
    _tables: dict[int, Table] = field(default_factory=dict, repr=False)

    # What is counted: which n-gram is in which text.
    source: ClassVar[type[TextNgrams]] = TextNgrams

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Count the n-grams of a sample."""
        texts = material.view(cls.source)
        return cls(np.int64(len(texts)), lambda n: _table(texts.order(n), texts.sizes(n)))

    def merge(self, other: Self, /) -> Self:
        """Tables of both samples together."""
        return type(self)(self.n_texts + other.n_texts, lambda n: self.table(n).merge(other.table(n)))

    def table(self, n: int) -> Table:
        """The table of one order."""
        if n not in self._tables:
            self._tables[n] = self._make(n)
        return self._tables[n]

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """A block of rows at a time: tables with a leading axis."""
        matrices = NgramPool(pool.merged(cls.source), resamples.units, resamples.n_units)
        for begin in range(0, len(resamples.masks[0]), matrices.block):
            rows = [mask[begin : begin + matrices.block] for mask in resamples.masks]
            first = cls._under(matrices, rows[0])
            # Labels exchanged between two samples leave the other one with the rest: a subtraction, not a product.
            rest = len(rows) == 2 and np.array_equal(rows[0], ~rows[1])
            others = (first._rest_of(matrices),) if rest else (cls._under(matrices, row) for row in rows[1:])
            yield first, *others

    @classmethod
    def _under(cls, pool: NgramPool, mask: Mask) -> Self:
        weights = np.ascontiguousarray(mask.T, dtype=np.float64)
        return cls(pool.unit_sizes @ weights, lambda n: _weighted(pool.order(n), weights))

    def _rest_of(self, pool: NgramPool) -> Self:
        whole = np.ones((len(pool.unit_sizes), 1))
        return type(self)(
            len(pool.texts) - self.n_texts, lambda n: _subtract(_weighted(pool.order(n), whole), self.table(n))
        )


def _weighted(order: PooledOrder, weights: Numbers) -> Table:
    total, own_squares, size_squares, singles = order.sums @ weights
    counts = (order.matrix @ weights).T
    return Table(order.keys, counts, total, own_squares, size_squares, singles)


def _subtract(whole: Table, part: Table) -> Table:
    return Table(
        part.keys,
        whole.counts - part.counts,
        whole.total - part.total,
        whole.own_squares - part.own_squares,
        whole.size_squares - part.size_squares,
        whole.singles - part.singles,
    )


def _table(incidence: Incidence, sizes: NDArray[np.int64]) -> Table:
    counts = incidence.counts.astype(np.int64)
    return Table(
        keys=incidence.keys,
        counts=incidence.totals(),
        total=sizes.sum(),
        own_squares=np.dot(counts, counts),
        size_squares=np.dot(sizes, sizes),
        singles=np.int64(0),
    )
