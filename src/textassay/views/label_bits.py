"""Sixty-four labellings at once: bit t of a point's word says whether the point has the label in labelling t."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

WORD = 64
_FEW = 64


def pack(rows: NDArray[np.bool_]) -> Words:
    """One word a column from up to 64 rows of a mask.

    >>> pack(np.array([[True, False], [True, True]]))
    array([3, 2], dtype=uint64)
    """
    bits = np.zeros((WORD, rows.shape[1]), dtype=bool)
    bits[: len(rows)] = rows
    packed = np.packbits(bits, axis=0, bitorder="little")
    return np.ascontiguousarray(packed.T).view("<u8").ravel().astype(np.uint64, copy=False)


def unpack(words: Words) -> NDArray[np.bool_]:
    """The labels behind the words: 64 rows, one column per word.

    >>> unpack(np.array([3, 2], dtype=np.uint64))[:2].tolist()
    [[True, False], [True, True]]
    """
    little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(little, axis=1, bitorder="little").view(bool)
    return np.ascontiguousarray(bits.T)


def bit_counts(words: Words) -> Ints:
    """In how many of the words each of the 64 bits is set.

    Three words become a sum and a carry, which counts double, until few are left to count bit by bit.

    >>> bit_counts(np.array([3, 2, 2], dtype=np.uint64))[:3]
    array([1, 3, 0])
    """
    total = np.zeros(WORD, dtype=np.int64)
    words, weight = words.ravel(), 1
    while words.size:
        carries = []
        while words.size > _FEW:
            third = words.size // 3
            one, two, three = words[: 3 * third].reshape(3, third)
            odd = one ^ two
            carry = one & two
            carry |= odd & three
            odd ^= three
            carries.append(carry)
            words = np.concatenate((odd, words[3 * third :]))
        little = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(-1, 8)
        total += weight * np.unpackbits(little, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        words, weight = np.concatenate(carries) if carries else words[:0], weight * 2
    return total
