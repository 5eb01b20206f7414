"""NgramPool: the pooled texts of two samples as sparse matrices, so that a resample is a matrix product."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.views.hashing import U64
from textassay.views.text_ngrams import Incidence, TextNgrams

# A block of resamples holds about this many numbers: small enough for the processor's cache on small samples.
_BLOCK_NUMBERS = 16_000_000
_FEWEST_ROWS, _MOST_ROWS = 4, 128


@dataclass(frozen=True, eq=False)
class PooledOrder:
    """One order: a gram-by-unit matrix of the grams that stand more than once in the pool, and sums a unit.

    The rows of `sums` are, for each unit, its number of n-grams, the sum of squared counts within its texts, the sum of
    its texts' squared numbers of n-grams, and how many of its n-grams stand nowhere else in the pool.
    """

    keys: U64
    matrix: Any
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, incidence: Incidence, sizes: NDArray[np.int64], *, units: NDArray[np.int64], n_units: int) -> Self:
        """Put aside the grams that stand once in the pool: no exchange of labels makes them common to both samples."""
        runs = np.diff(incidence.starts)
        common = incidence.totals() > 1
        kept = np.repeat(common, runs)
        starts = np.concatenate(([0], np.cumsum(runs[common])))
        columns = units[incidence.texts].astype(np.int32)
        counts = incidence.counts.astype(np.float64)
        matrix = csr_array((counts[kept], columns[kept], starts), shape=(int(common.sum()), n_units))
        matrix.sum_duplicates()
        sums = np.stack(
            (
                np.bincount(units, weights=sizes, minlength=n_units),
                np.bincount(columns, weights=counts * counts, minlength=n_units),
                np.bincount(units, weights=sizes * sizes, minlength=n_units),
                np.bincount(columns[~kept], minlength=n_units),
            )
        ).astype(np.float64)
        return cls(incidence.keys[common], matrix, sums)


@dataclass(frozen=True, eq=False)
class NgramPool:
    """Pooled texts in units that move together, one matrix an order, made on first use."""

    texts: TextNgrams
    units: NDArray[np.int64]
    n_units: int
    _orders: dict[int, PooledOrder] = field(default_factory=dict, repr=False)

    @cached_property
    def unit_sizes(self) -> NDArray[np.float64]:
        """Texts in each unit."""
        return np.bincount(self.units, minlength=self.n_units).astype(np.float64)

    @property
    def block(self) -> int:
        """How many resamples to take at once; it depends on the texts only, so results do not depend on the machine."""
        words = max(int(self.texts.lengths.sum()), 1)
        return int(np.clip(_BLOCK_NUMBERS // words, _FEWEST_ROWS, _MOST_ROWS))

    def order(self, n: int) -> PooledOrder:
        """The matrix of one order."""
        if n not in self._orders:
            sizes = self.texts.sizes(n)
            self._orders[n] = PooledOrder.of(self.texts.order(n), sizes, units=self.units, n_units=self.n_units)
        return self._orders[n]
