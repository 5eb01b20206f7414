"""Quadratic forms: s' M s of one symmetric matrix for many rows s at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_ROWS_AT_ONCE = 512
# Columns at a time: of the blocks beside the diagonal only those above it are multiplied, which halves the work.
_BLOCK = 256


def quadratic_forms(rows: NDArray[Any], matrix: NDArray[np.floating[Any]]) -> F64:
    """The form of each row, computed in the precision of the matrix and summed in double precision.

    >>> quadratic_forms(np.array([[True, True], [True, False]]), np.array([[1.0, 2.0], [2.0, 5.0]])).tolist()
    [10.0, 1.0]
    """
    found = np.zeros(len(rows))
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        weights = rows[part].astype(matrix.dtype)
        for start in range(0, len(matrix), _BLOCK):
            here = slice(start, start + _BLOCK)
            products = weights[:, here] @ matrix[here, here]
            if start:
                products += 2 * (weights[:, :start] @ matrix[:start, here])
            found[part] += np.einsum("ij,ij->i", products, weights[:, here])
    return found
