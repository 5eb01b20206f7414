"""Integer weights: a matrix as signed bytes and one scale a column, such that no processor overflows on them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.views.encoders.base import F32


class IntegerWeights(NamedTuple):
    """`values * scales` is the matrix, up to rounding."""

    values: NDArray[np.int8]
    scales: F32


def integer_weights(weights: F32) -> IntegerWeights:
    """Round a matrix, an even number of inputs by outputs, to signed bytes.

    Processors with AVX2 but without VNNI multiply unsigned by signed bytes two inputs at a time and add the two
    products in 16 bits, where they silently stop at 32,767. Bytes of 7 bits would be safe whatever the inputs are, and
    cost accuracy. What is needed is less: the two weights that one output has for inputs 2k and 2k + 1 may add up to
    128 where they have the same sign, since 255 times 128 fits. So the scale of an output is set by its largest such
    sum, most weights keep nearly 8 bits, and all processors find the same whole numbers.

    >>> integer_weights(np.array([[3.0, 1.0], [1.0, -4.0]], np.float32)).values.tolist()
    [[95, 32], [32, -127]]
    """
    pairs = weights.reshape(len(weights) // 2, 2, -1)
    largest = np.maximum(np.clip(pairs, 0, None).sum(axis=1), -np.clip(pairs, None, 0).sum(axis=1)).max(axis=0)
    scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return IntegerWeights(np.rint(weights / scales).astype(np.int8), scales)
