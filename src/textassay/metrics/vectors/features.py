"""Random features: sums over texts that give the means of a Gaussian kernel at any bandwidth, without the vectors.

The features of a vector are cosines and sines of its products with random directions. Their inner products estimate the
kernel (Rahimi and Recht 2007). The directions of a group are orthogonal to each other, which makes the estimate several
times more precise (Choromanski et al. 2017): products of Hadamard matrices and random signs, whose lengths are those of
Gaussian directions. All products are whole numbers before the cosine, so that sums are the same on every machine.

Features are summed at a few bandwidths. A kernel in between is interpolated from the kernels at these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import sqrt

import numpy as np
from scipy.linalg import hadamard
from scipy.stats import chi2

from textassay.corpus.arrays import F32, F64, I64
from textassay.metrics.vectors.vectors import Vectors

# Numbers of a vector are in units of 2 to minus this power, and lengths of directions too.
UNIT = 14
# Each bandwidth is the one before divided by the square root of 2: half of usual distances between vectors of length 1.
_LARGEST, N_BANDWIDTHS = 0.9, 4
BANDWIDTHS = tuple(_LARGEST * 2 ** (-k / 2) for k in range(N_BANDWIDTHS))
# Groups of orthogonal directions that are summed for a whole corpus; by block of texts there is one.
GROUPS = 16
# Products with a Hadamard matrix per direction. Three are usual; with four, estimates had half of the error.
_ROUNDS = 4
_SEED = 2007


def whole_numbers(values: F32) -> I64:
    """Vectors in units of 2 to the power of minus `UNIT`."""
    return np.rint(np.ldexp(values.astype(np.float64), UNIT)).astype(np.int64)


def width(dimension: int) -> int:
    """The number of directions of a group: the next power of 2."""
    return 1 << max(dimension - 1, 1).bit_length()


@cache
def _signs(size: int, group: int) -> F64:
    signs = np.random.default_rng([_SEED, group, size]).integers(0, 2, (_ROUNDS, size)) * 2.0 - 1
    return np.asarray(signs, dtype=np.float64)


@cache
def _lengths(size: int, group: int) -> F64:
    """The lengths of the directions: quantiles of those of Gaussian directions, in units of 2 to minus `UNIT`."""
    places = np.random.default_rng([_SEED, GROUPS + group, size]).permutation(size)
    shares = (places * GROUPS + group + 0.5) / (size * GROUPS)
    return np.asarray(np.rint(np.ldexp(np.sqrt(chi2.ppf(shares, size)), UNIT)), dtype=np.float64)


def _hadamard(rows: F64) -> F64:
    """The product of each row with the Hadamard matrix, which is the Kronecker product of two small ones."""
    n, size = rows.shape
    few = 1 << ((size.bit_length() - 1) // 2)
    by_right = (rows.reshape(-1, size // few) @ hadamard(size // few)).reshape(n, few, size // few)
    by_left = by_right.transpose(0, 2, 1).reshape(-1, few) @ hadamard(few)
    return np.asarray(by_left.reshape(n, size // few, few).transpose(0, 2, 1).reshape(n, size), dtype=np.float64)


def _angles(numbers: I64, group: int) -> F64:
    """The products of vectors with the directions of a group, at bandwidth 1."""
    size = width(numbers.shape[1])
    rows = np.zeros((len(numbers), size))
    rows[:, : numbers.shape[1]] = numbers
    for signs in _signs(size, group):
        rows = _hadamard(rows * signs)
    # Each product with the matrix is longer by the root of its size.
    return rows * (_lengths(size, group) / (float(size) ** (_ROUNDS / 2) * 2.0 ** (2 * UNIT)))


def features(numbers: I64, group: int) -> Iterator[F64]:
    """For each bandwidth the cosines, then the sines, of the directions of a group: one row per vector."""
    angles = _angles(numbers, group)
    found: dict[int, tuple[F64, F64]] = {}
    for k in range(N_BANDWIDTHS):
        if k < 2:
            scaled = angles / BANDWIDTHS[k]
            found[k] = np.cos(scaled), np.sin(scaled)
        else:
            # Half of the bandwidth is twice the angle.
            cosines, sines = found.pop(k - 2)
            found[k] = 2 * cosines**2 - 1, 2 * sines * cosines
        yield np.concatenate(found[k], axis=1)


@dataclass(frozen=True, eq=False)
class FeatureSums(Vectors):
    """Sums of random features by block of texts, in place of the vectors.

    `blocks` has one row per block, then bandwidths and features; `whole` has those of more directions of all texts.
    `squares` is the sum of the squared lengths of the vectors, and `sums` that of the vectors.
    """

    texts: F64 = field(kw_only=True)
    blocks: F64 = field(kw_only=True)
    whole: F64 = field(kw_only=True)
    squares: float = field(kw_only=True)
    sums: F64 = field(kw_only=True)

    def __len__(self) -> int:
        return int(self.texts.sum())


def feature_bandwidth(one: FeatureSums, other: FeatureSums) -> float:
    """Half of the root of the mean squared distance between pooled texts, which is close to half the median distance.

    Where vectors have many dimensions, most distances are about the same.
    """
    n = len(one) + len(other)
    mean = (one.sums + other.sums) / n
    spread = (one.squares + other.squares) / n - float(mean @ mean)
    return sqrt(max(2 * spread * n / max(n - 1, 1), 0.0)) / 2


def kernel_weights(bandwidth: float) -> F64:
    """The weights of the kernels at `BANDWIDTHS` whose sum is close to the kernel at this bandwidth (Lagrange's).

    >>> np.abs(kernel_weights(BANDWIDTHS[2]).round(3)).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    at = -2 * np.log2(max(bandwidth, 1e-9) / _LARGEST)
    points = np.arange(N_BANDWIDTHS)
    return np.array([np.prod((at - points[points != k]) / (k - points[points != k])) for k in points])


def kernel_sums(one: F64, other: F64, weights: F64) -> F64:
    """Sums of the kernel over all pairs of texts of two groups of rows, from their sums of features."""
    n_directions = one.shape[-1] / 2
    return np.asarray(np.einsum("g,agf,bgf->ab", weights, one, other, optimize=True) / n_directions)
