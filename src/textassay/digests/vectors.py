"""What a digest counts of sentence vectors: sums, products and random features, in whole numbers, by block."""

from collections.abc import Mapping

import numpy as np

from textassay.corpus.arrays import F32, F64, I64
from textassay.digests.block_table import BlockTable
from textassay.errors import InputError
from textassay.metrics.vectors.features import GROUPS, N_BANDWIDTHS, UNIT, features, whole_numbers, width

# Features are stored in units of 2 to minus this power.
_FEATURE_UNIT = 20
# Products of larger numbers would not be exact.
_LARGEST = 16
# With more blocks, products are summed for all of them together: each block would take 0.6 MB for 384 numbers.
_MOST_WITH_PRODUCTS = 64
_AT_ONCE = 1024
# Products take the square of it.
LARGEST_DIMENSION = 8192


def tables_of_vectors(values: F32, blocks: I64, n_blocks: int, *, by_block: bool) -> Mapping[str, BlockTable]:
    """The statistics of some vectors by name; `blocks` has the block of each of them.

    With `by_block`, products of the numbers of a vector are summed for each block, and otherwise for all together.
    """
    if len(values) and not float(np.abs(values).max()) <= _LARGEST:
        raise InputError(
            f"the encoder returns numbers beyond {_LARGEST}; wanted vectors of length 1 or so for a digest"
        )
    if values.shape[1] > LARGEST_DIMENSION:
        raise InputError(
            f"the encoder returns vectors of {values.shape[1]:,} numbers; wanted at most {LARGEST_DIMENSION:,} for a"
            " digest"
        )
    numbers, dimension = whole_numbers(values), values.shape[1]
    n_rows = rows_of_products(n_blocks, by_block=by_block)
    by_block = n_rows > 1
    products = np.zeros((n_rows, dimension * (dimension + 1) // 2), dtype=np.int64)
    narrow = np.zeros((n_blocks, N_BANDWIDTHS * 2 * width(dimension)), dtype=np.int64)
    wide = np.zeros((N_BANDWIDTHS, GROUPS * 2 * width(dimension)), dtype=np.int64)
    upper = np.triu_indices(dimension)
    for block in range(n_blocks):
        mine = np.flatnonzero(blocks == block)
        for begin in range(0, len(mine), _AT_ONCE):
            rows = numbers[mine[begin : begin + _AT_ONCE]]
            # Whole numbers below 2^53 are exact in double precision, whatever the order of the sums.
            products[block if by_block else 0] += (rows.T.astype(np.float64) @ rows)[upper].astype(np.int64)
            for group in range(GROUPS):
                sums = _feature_sums(rows, group)
                wide[:, group * sums.shape[1] : (group + 1) * sums.shape[1]] += sums
                if group == 0:
                    narrow[block] += sums.ravel()
    return {
        "vector sums": BlockTable.of_texts(numbers, blocks, n_blocks),
        "vector products" if by_block else "vector products whole": BlockTable.of_rows(products),
        "vector features": BlockTable.of_rows(narrow),
        "vector features whole": BlockTable.of_rows(wide.reshape(1, -1)),
    }


def rows_of_products(n_blocks: int, *, by_block: bool) -> int:
    """The number of blocks with products of their own; 1 where they are summed for all blocks together."""
    return n_blocks if by_block and n_blocks <= _MOST_WITH_PRODUCTS else 1


def vector_widths(n_blocks: int, dimension: int, *, by_block: bool) -> dict[str, int]:
    """The number of keys of each statistic of vectors."""
    is_whole = rows_of_products(n_blocks, by_block=by_block) == 1
    products = "vector products whole" if is_whole else "vector products"
    narrow = N_BANDWIDTHS * 2 * width(dimension)
    return {
        "vector sums": dimension,
        products: dimension * (dimension + 1) // 2,
        "vector features": narrow,
        "vector features whole": GROUPS * narrow,
    }


def _feature_sums(numbers: I64, group: int) -> I64:
    """The sums of the features of a group: one row per bandwidth."""
    sums = []
    for each in features(numbers, group):
        # Sums of whole numbers below 2^53 are exact in any order.
        sums.append(np.rint(each * 2.0**_FEATURE_UNIT).sum(axis=0).astype(np.int64))
    return np.stack(sums)


def vectors_of_block(table: BlockTable, n_blocks: int, dimension: int) -> F64:
    """The sum of the vectors of each block."""
    return np.ldexp(table.rows(n_blocks, dimension).astype(np.float64), -UNIT)


def products_of_block(table: BlockTable, n_rows: int, dimension: int) -> F64:
    """The sums of outer products of the vectors of each block, or of all of them in one row."""
    packed = table.rows(n_rows, dimension * (dimension + 1) // 2)
    found = np.zeros((n_rows, dimension, dimension))
    rows, columns = np.triu_indices(dimension)
    found[:, rows, columns] = found[:, columns, rows] = np.ldexp(packed.astype(np.float64), -2 * UNIT)
    return found


def features_of_block(table: BlockTable, n_rows: int, n_groups: int, dimension: int) -> F64:
    """The sums of features: rows, bandwidths, features."""
    n_features = n_groups * 2 * width(dimension)
    rows = table.rows(n_rows, N_BANDWIDTHS * n_features).reshape(n_rows, N_BANDWIDTHS, n_features)
    return np.ldexp(rows.astype(np.float64), -_FEATURE_UNIT)
