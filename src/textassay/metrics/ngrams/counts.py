"""N-gram counts: the views that hold them, and the metrics distinct and entropy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import digamma

from textassay.corpus.arrays import U64, Bool
from textassay.corpus.hashed_ngrams import Incidence, Sequences, union
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Material, Resamples

T = TypeVar("T")

# A number, or an array with one row per resample.
Numbers = Any
# Turns the sum over the n-grams of a part into the sum over all n-grams.
Summed = Callable[[Numbers], Numbers]


def whole_sum(sums: Numbers) -> Numbers:
    """The sum itself, where all n-grams are there."""
    return sums


@dataclass(frozen=True, eq=False)
class TextNgrams:
    """The n-grams of each text; each order is counted on first use."""

    shared: ClassVar[bool] = True

    lengths: NDArray[np.int64]
    _count: Callable[[int], Incidence] = field(repr=False)
    _orders: dict[int, Incidence] = field(default_factory=dict, repr=False)
    _kept: WeakKeyDictionary["TextNgrams", dict[tuple[str, int], Any]] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Count the n-grams of each text of a sample."""
        return cls.of_sequences(material.view(Sequences))

    @classmethod
    def of_sequences(cls, sequences: Sequences, /) -> Self:
        """Count the n-grams of each of these texts."""
        return cls(sequences.lengths, lambda n: Incidence.from_ngrams(*sequences.ngrams(n)))

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        lengths = np.concatenate((self.lengths, other.lengths))
        return type(self)(lengths, lambda n: self.order(n).merge(other.order(n), len(self)))

    def where(self, mask: Bool) -> Self:
        """Only the texts under the mask."""
        return type(self)(self.lengths[mask], lambda n: self.order(n).where(mask))

    def __len__(self) -> int:
        return len(self.lengths)

    def order(self, n: int) -> Incidence:
        """The n-grams of one order."""
        if n not in self._orders:
            self._orders[n] = self._count(n)
        return self._orders[n]

    def once(self, key: tuple[str, int], other: "TextNgrams", make: Callable[[], T]) -> T:
        """What `make` returns for these texts and `other`, kept under this key while both views exist."""
        kept = self._kept.setdefault(other, {})
        if key not in kept:
            kept[key] = make()
        counted: T = kept[key]
        return counted

    def sizes(self, n: int) -> NDArray[np.int64]:
        """The number of n-grams of each text."""
        return np.maximum(self.lengths - n + 1, 0)

    def size_squares(self, n: int) -> NDArray[np.int64]:
        """The squared number of n-grams of each text."""
        sizes: NDArray[np.int64] = self.sizes(n)
        return sizes * sizes

    def own_squares(self, n: int) -> NDArray[np.float64]:
        """The sum of squared counts of the n-grams of each text."""
        incidence = self.order(n)
        counts = incidence.counts.astype(np.float64)
        return np.bincount(incidence.texts, counts * counts, len(self)).astype(np.float64)

    @property
    def summed(self) -> Summed:
        """What sums over all n-grams go through; other counts may have the n-grams of a part of the sums only."""
        return whole_sum

    @property
    def words_at_once(self) -> int:
        """How many words are counted here, which decides how many resamples are computed at once."""
        return int(self.lengths.sum())

    @property
    def row_texts(self) -> NDArray[np.int64]:
        """The number of texts of each row: one. The rows of a digest are blocks of texts."""
        return np.ones(len(self), dtype=np.int64)

    def common(self, n: int) -> Bool:
        """Which n-grams occur more than once; only these can be in both of two samples."""
        return self.order(n).totals() > 1

    @classmethod
    def resample(cls, whole: Self, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One row at a time: the texts under each of the masks."""
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(whole.where(row[resamples.units]) for row in rows)


# Numbers in a block of resamples: for small samples a block fits into the processor's cache.
_BLOCK_NUMBERS = 4_000_000
_FEWEST_ROWS, _MOST_ROWS = 8, 128


@dataclass(frozen=True, eq=False)
class PooledOrder:
    """The n-grams of one order in a pool: a matrix of counts (n-grams by units), and sums for each unit.

    The matrix leaves out n-grams that occur once in the pool. The rows of `sums` are the number of n-grams of each
    unit, the sum of squared counts within its texts, the sum of its texts' squared numbers of n-grams, and the number
    of its n-grams that occur nowhere else in the pool.
    """

    keys: U64
    matrix: Any
    sums: NDArray[np.float64]
    summed: Summed = whole_sum

    @classmethod
    def of(cls, texts: TextNgrams, n: int, *, units: NDArray[np.int64], n_units: int) -> Self:
        """Leave out n-grams that occur once in the pool: no exchange of labels makes both samples share them."""
        incidence, common = texts.order(n), texts.common(n)
        runs = np.diff(incidence.starts)
        kept = np.repeat(common, runs)
        starts = np.concatenate(([0], np.cumsum(runs[common])))
        columns = units[incidence.texts].astype(np.int32)
        counts = incidence.counts.astype(np.float64)
        matrix = csr_array((counts[kept], columns[kept], starts), shape=(int(common.sum()), n_units))
        matrix.sum_duplicates()
        sums = np.stack(
            (
                np.bincount(units, weights=texts.sizes(n), minlength=n_units),
                np.bincount(units, weights=texts.own_squares(n), minlength=n_units),
                np.bincount(units, weights=texts.size_squares(n), minlength=n_units),
                np.bincount(columns[~kept], minlength=n_units),
            )
        ).astype(np.float64)
        return cls(incidence.keys[common], matrix, sums, texts.summed)

    @cached_property
    def whole(self) -> "Table":
        """The table of all units together, with one row."""
        return _weighted(self, np.ones((self.matrix.shape[1], 1)))


@dataclass(frozen=True, eq=False)
class NgramPool:
    """Pooled texts in units that move together, with one matrix per order, built on first use."""

    texts: TextNgrams
    units: NDArray[np.int64]
    n_units: int
    _orders: dict[int, PooledOrder] = field(default_factory=dict, repr=False)

    @cached_property
    def unit_sizes(self) -> NDArray[np.float64]:
        """Texts in each unit."""
        return np.bincount(self.units, self.texts.row_texts, self.n_units).astype(np.float64)

    @property
    def block(self) -> int:
        """Resamples per block; it depends on the texts only, so that results do not depend on the machine."""
        words = max(self.texts.words_at_once, 1)
        return int(np.clip(_BLOCK_NUMBERS // words, _FEWEST_ROWS, _MOST_ROWS))

    def order(self, n: int) -> PooledOrder:
        """The matrix of one order."""
        if n not in self._orders:
            self._orders[n] = PooledOrder.of(self.texts, n, units=self.units, n_units=self.n_units)
        return self._orders[n]


@dataclass(frozen=True, eq=False)
class Table:
    """Counts of the n-grams of one order.

    All fields but `keys` may have a leading axis with one row per resample; a metric that sums over the last axis works
    for both forms. `singles` is the number of n-grams left out of `counts`: each occurs once in this sample and not in
    the other one. Resampling leaves them out because they are the majority and need no column. `own_squares` is the sum
    of squared counts within single texts and `size_squares` the sum of squared numbers of n-grams per text: unbiased
    estimates subtract them.

    `counts` and `singles` may be those of a part of the n-grams; all other fields are those of the whole sample. A
    metric that passes its sums over n-grams through `summed` then gets the sums over all parts.
    """

    keys: U64
    counts: Numbers
    total: Numbers
    own_squares: Numbers
    size_squares: Numbers
    singles: Numbers
    summed: Summed = whole_sum

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
    """The table's counts at these keys (a superset of its own), with 0 for keys it lacks."""
    counts = np.zeros((*table.counts.shape[:-1], len(keys)), dtype=table.counts.dtype)
    counts[..., np.searchsorted(keys, table.keys)] = table.counts
    return counts


def aligned(candidate: Table, reference: Table) -> tuple[Numbers, Numbers]:
    """The counts of two tables, both over the n-grams of either table."""
    if candidate.keys is reference.keys:
        return candidate.counts, reference.counts
    keys = union(candidate.keys, reference.keys)
    return spread(candidate, keys), spread(reference, keys)


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Counts of n-grams over the whole sample; the table of each order is built on first use."""

    n_texts: Numbers
    _make: Callable[[int], Table] = field(repr=False)
    _tables: dict[int, Table] = field(default_factory=dict, repr=False)

    # The view that is counted. Other counts, such as `Edges`, name another one.
    source: ClassVar[type[TextNgrams]] = TextNgrams

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Count the n-grams of a sample."""
        return cls.of_texts(material.view(cls.source))

    @classmethod
    def of_texts(cls, texts: TextNgrams, /) -> Self:
        """The sums over texts whose n-grams are counted."""
        return cls(texts.row_texts.sum(), lambda n: _table(texts, n))

    def merge(self, other: Self, /) -> Self:
        """Tables of both samples together."""
        return type(self)(self.n_texts + other.n_texts, lambda n: self.table(n).merge(other.table(n)))

    def table(self, n: int) -> Table:
        """The table of one order."""
        if n not in self._tables:
            self._tables[n] = self._make(n)
        return self._tables[n]

    @classmethod
    def resample(cls, whole: TextNgrams, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One block of rows at a time: tables with a leading axis."""
        matrices = NgramPool(whole, resamples.units, resamples.n_units)
        for begin in range(0, len(resamples.masks[0]), matrices.block):
            rows = [mask[begin : begin + matrices.block] for mask in resamples.masks]
            first = cls._under(matrices, rows[0])
            # Under exchanged labels the second sample has all other texts: subtract instead of multiplying again.
            rest = len(rows) == 2 and np.array_equal(rows[0], ~rows[1])
            others = (first._rest_of(matrices),) if rest else (cls._under(matrices, row) for row in rows[1:])
            yield first, *others

    @classmethod
    def _under(cls, pool: NgramPool, mask: Bool) -> Self:
        weights = np.ascontiguousarray(mask.T, dtype=np.float64)
        return cls(pool.unit_sizes @ weights, lambda n: _weighted(pool.order(n), weights))

    def _rest_of(self, pool: NgramPool) -> Self:
        return type(self)(len(pool.texts) - self.n_texts, lambda n: _subtract(pool.order(n).whole, self.table(n)))


def _weighted(order: PooledOrder, weights: Numbers) -> Table:
    total, own_squares, size_squares, singles = order.sums @ weights
    # Metrics sum over n-grams, whose counts are far apart in the product: with few rows, sums would take seven times as
    # long.
    counts = np.ascontiguousarray((order.matrix @ weights).T)
    return Table(order.keys, counts, total, own_squares, size_squares, singles, order.summed)


def _subtract(whole: Table, part: Table) -> Table:
    return Table(
        part.keys,
        whole.counts - part.counts,
        whole.total - part.total,
        whole.own_squares - part.own_squares,
        whole.size_squares - part.size_squares,
        whole.singles - part.singles,
        part.summed,
    )


def _table(texts: TextNgrams, n: int) -> Table:
    incidence = texts.order(n)
    return Table(
        keys=incidence.keys,
        counts=incidence.totals(),
        total=texts.sizes(n).sum(),
        own_squares=np.int64(texts.own_squares(n).sum()),
        size_squares=texts.size_squares(n).sum(),
        singles=np.int64(0),
        summed=texts.summed,
    )


@metric(
    "distinct",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="li2016",
    undefined="no text has n tokens",
    length_moves=True,
    adds_up=True,
)
def distinct(candidate: Ngrams, /, *, n: int = 2) -> Value:
    r"""Distinct-n: the number of different n-grams divided by the number of all n-grams of the sample.

    .. math:: \frac{|\{g : C_g > 0\}|}{\sum_g C_g}

    Here :math:`C_g` is the count of n-gram g.

    It sees repeated phrases, within a text and between texts.

    Misleading across sample sizes and text lengths: it falls as a sample grows, so only samples of the same size can be
    compared (the default, `--size match`). Noise scores highest, so compare with real text's own value.

    It is undefined if no text has n tokens.
    """
    table = candidate.table(n)
    return table.summed((table.counts > 0).sum(axis=-1) + table.singles) / table.total


# The weights of counts below this are looked up in a table; the few larger counts are computed.
_SMALL = 4096


@metric(
    "entropy",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="shannon1948",
    undefined="no text has n tokens",
    length_moves=True,
    adds_up=True,
)
def entropy(candidate: Ngrams, /, *, n: int = 2, variant: Literal["plugin", "grassberger"] = "plugin") -> Value:
    r"""Shannon entropy of the n-gram distribution, in nats.

    .. math:: H_n = -\sum_g Q_g \ln Q_g

    Here :math:`Q_g` is the share of n-gram g among all n-grams of the sample. `variant="grassberger"` corrects most of
    the bias of this plug-in value (Grassberger 2003).

    It sees how evenly the n-grams are used, with less weight on rare ones than `distinct`.

    Misleading across sample sizes: the plug-in value is too low if many n-grams occur once, and grows with the sample.
    The Grassberger variant is still too low for large n.

    It is undefined if no text has n tokens.
    """
    table = candidate.table(n)
    weight = _log_weight if variant == "plugin" else _grassberger_weight
    small = weight(np.arange(_SMALL))
    indices = np.minimum(table.counts, _SMALL - 1).astype(np.int64)
    weighted = (table.counts * small[indices]).sum(axis=-1) + table.singles * small[1]
    common = table.counts[..., (table.counts >= _SMALL).any(axis=tuple(range(table.counts.ndim - 1)))]
    if common.size:
        surplus = weight(np.maximum(common, _SMALL - 1)) - small[-1]
        weighted = weighted + (common * surplus).sum(axis=-1)
    return np.maximum(np.log(table.total) - table.summed(weighted) / table.total, 0.0)


def _log_weight(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    return np.log(np.maximum(counts, 1))


def _grassberger_weight(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    """G(c) = psi(c) + (-1)^c / 2 [psi((c + 1) / 2) - psi(c / 2)], equation 30 of Grassberger 2003."""
    c = np.maximum(counts, 1).astype(np.float64)
    sign = 1.0 - 2.0 * (c % 2)
    weights: NDArray[np.float64] = digamma(c) + sign / 2 * (digamma((c + 1) / 2) - digamma(c / 2))
    return weights
