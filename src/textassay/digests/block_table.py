"""Block tables: sums of whole numbers by key and block of texts, which add up in any order to the same bytes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, I64, U64, Bool
from textassay.corpus.hashed_ngrams import Incidence, order_of, starts_of_runs

U16 = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class BlockTable:
    """Entry i is `values[i]`, the sum of key `keys[i]` over the texts of block `blocks[i]`.

    Entries are sorted by key, then by block; none is listed twice, and none is 0.
    """

    keys: U64
    blocks: U16
    values: I64

    @classmethod
    def of(cls, keys: U64, blocks: NDArray[np.integer], values: NDArray[np.integer] | None = None) -> Self:
        """The sums of these entries, given in any order; each counts as 1 without values."""
        by_block = np.argsort(blocks.astype(np.uint16), kind="stable")
        order = by_block[order_of(keys[by_block])]
        keys, blocks = keys[order], blocks[order].astype(np.uint16)
        is_new = np.ones(len(keys), dtype=bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (blocks[1:] != blocks[:-1])
        starts = np.flatnonzero(is_new)
        if values is None:
            sums = np.diff(starts, append=len(keys))
        else:
            sums = np.add.reduceat(values[order].astype(np.int64), starts) if len(starts) else np.zeros(0, np.int64)
        kept = sums != 0
        return cls(keys[starts[kept]], blocks[starts[kept]], sums[kept])

    @classmethod
    def of_incidence(
        cls, incidence: Incidence, blocks: NDArray[np.integer], values: NDArray[np.integer] | None = None
    ) -> Self:
        """The sums over the texts of each block of the counts of n-grams, or of other values of the same entries."""
        values = incidence.counts if values is None else values
        # A sparse matrix is summed row by row, without sorting all entries.
        columns = blocks[incidence.texts].astype(np.int32)
        shape = len(incidence.keys), int(blocks.max(initial=0)) + 1
        sums = csr_array((values.astype(np.int64), columns, incidence.starts.copy()), shape=shape)
        sums.sum_duplicates()
        keys = np.repeat(incidence.keys, np.diff(sums.indptr))
        return cls(keys, sums.indices.astype(np.uint16), sums.data).where(sums.data != 0)

    @classmethod
    def of_texts(cls, numbers: NDArray[Any], blocks: NDArray[np.integer], n_blocks: int) -> Self:
        """The sums of some numbers per text, one column for each of them."""
        order = np.argsort(blocks.astype(np.uint16), kind="stable")
        starts = starts_of_runs(blocks[order])[:-1]
        rows = np.zeros((n_blocks, numbers.shape[1]), dtype=np.int64)
        if len(starts):
            rows[blocks[order[starts]]] = np.add.reduceat(numbers[order].astype(np.int64, copy=False), starts, axis=0)
        return cls.of_rows(rows)

    @classmethod
    def of_rows(cls, rows: NDArray[np.integer]) -> Self:
        """The table of an array with one row per block and one column per key, numbered from 0."""
        blocks, keys = np.nonzero(rows)
        return cls.of(keys.astype(np.uint64), blocks, rows[blocks, keys])

    def merge(self, other: Self, /) -> Self:
        """The sums of both."""
        return self.merged((self, other))

    @classmethod
    def merged(cls, tables: "tuple[Self, ...] | list[Self]") -> Self:
        """The sums of all tables; the order of the tables does not matter."""
        parts = [np.concatenate([getattr(table, name) for table in tables]) for name in ("keys", "blocks", "values")]
        return cls.of(*parts)

    @classmethod
    def joined(cls, parts: "list[Self]") -> Self:
        """The tables of ranges of keys, one after the other."""
        keys, blocks, values = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "blocks", "values")
        )
        return cls(keys, blocks, values)

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, mask: Bool) -> Self:
        """Only the entries under the mask."""
        return type(self)(self.keys[mask], self.blocks[mask], self.values[mask])

    def grouped(self, group_of_block: I64) -> Self:
        """The same sums with blocks joined: block b is a part of block `group_of_block[b]`, or left out below 0."""
        chosen = group_of_block[self.blocks]
        kept = chosen >= 0
        return type(self).of(self.keys[kept], chosen[kept], self.values[kept])

    def part(self, number: int, of: int) -> Self:
        """The entries with keys in one of `of` (a power of 2) equal ranges of 64-bit numbers."""
        if of == 1:
            return self
        width = 2**64 // of
        begin = np.searchsorted(self.keys, np.uint64(number * width))
        end = len(self) if number == of - 1 else np.searchsorted(self.keys, np.uint64((number + 1) * width))
        return type(self)(self.keys[begin:end], self.blocks[begin:end], self.values[begin:end])

    def rows(self, n_blocks: int, n_keys: int) -> I64:
        """One row per block and one column per key, for keys that are numbered from 0."""
        found = np.zeros((n_blocks, n_keys), dtype=np.int64)
        found[self.blocks, self.keys.astype(np.int64)] = self.values
        return found

    def incidence(self) -> Incidence:
        """The same as n-grams by text, where the blocks are the texts."""
        starts = starts_of_runs(self.keys)
        return Incidence(self.keys[starts[:-1]], starts, self.blocks.astype(np.int32), self.values)  # type: ignore[arg-type]

    def by_key(self, n_blocks: int) -> csr_array:
        """A sparse matrix with one row per different key and one column per block."""
        starts = starts_of_runs(self.keys)
        return csr_array(
            (self.values.astype(np.float64), self.blocks.astype(np.int64), starts), shape=(len(starts) - 1, n_blocks)
        )

    def totals(self) -> F64:
        """The sum of each different key over all blocks."""
        starts = starts_of_runs(self.keys)
        return np.add.reduceat(self.values, starts[:-1]).astype(np.float64) if len(self.keys) else np.zeros(0)


def sketched(table: BlockTable, width: int) -> BlockTable:
    """The signed count-sketch of a table: keys share `width` counters, with a sign that depends on the key.

    Products of two sketches are unbiased estimates of the products of the tables, because the signs of different keys
    are unrelated. The low bits of a key choose its counter, and its highest bit chooses its sign.
    """
    signs = 1 - 2 * (table.keys >> np.uint64(63)).astype(np.int64)
    return BlockTable.of(table.keys % np.uint64(width), table.blocks, table.values * signs)
