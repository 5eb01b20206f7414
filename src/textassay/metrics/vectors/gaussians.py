"""Squared Wasserstein-2 distances between Gaussians: as observed, extrapolated, and expanded for exchanged labels.

A covariance is represented by a factor, C = F'F, because Tr (C1 C2)^(1/2) is the sum of the singular values of F1 F2':
a sum of positive numbers, without a matrix root and its imaginary rounding errors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64
from textassay.metrics.vectors.pair_sums import quadratic_forms
from textassay.metrics.vectors.vectors import SLICE, Moments
from textassay.metrics.views import Resamples

# Extrapolation leaves out one of this many buckets at a time, for the value at a slightly smaller size.
BUCKETS = 8
# Two texts must remain when one is left out.
FEWEST_TO_EXTRAPOLATE = 3
_EPS = float(np.finfo(np.float64).eps)

Distance = Callable[[Moments, Moments], float]


def squared_parts(one: Moments, other: Moments, *, unbiased: bool) -> tuple[float, float]:
    """The two parts of the squared distance: between the means, and between the covariances.

    With F1 F2' = U S V', the part between covariances is the squared norm of U'F1 - V'F2. For equal samples its error
    is the square of rounding; with traces it would be rounding itself, which the root would magnify.
    """
    if min(len(one), len(other)) <= unbiased:
        return np.nan, np.nan

    def make() -> tuple[Moments, float, float]:
        mine, others = factor(one, unbiased=unbiased), factor(other, unbiased=unbiased)
        left, _, right = np.linalg.svd(mine @ others.T, full_matrices=True)
        mine, others = left.T @ mine, right @ others
        shared = min(len(mine), len(others))
        alone = (mine[shared:] ** 2).sum() + (others[shared:] ** 2).sum()
        spreads = float(((mine[:shared] - others[:shared]) ** 2).sum() + alone)
        # The other sample is kept with the result, so that no other object can get its id.
        return other, float(((one.mean - other.mean) ** 2).sum()), spreads

    return one.once(("squared", id(other), unbiased), make)[1:]


def squared_distance(one: Moments, other: Moments, *, unbiased: bool) -> float:
    """The squared distance; NaN if a sample is too small for its covariance."""
    return sum(squared_parts(one, other, unbiased=unbiased))


def quick_distance(changed: Moments, fixed: Moments, *, unbiased: bool) -> float:
    """The squared distance by traces: fast for many samples against one fixed sample, exact to about 1e-8."""
    if min(len(changed), len(fixed)) <= unbiased:
        return np.nan
    base = factor(fixed, unbiased=unbiased)
    freedom = len(changed) - unbiased
    if changed.few:
        rows = (changed.rows() - changed.mean) / np.sqrt(freedom)
        trace, root = (rows**2).sum(), np.linalg.svd(rows @ base.T, compute_uv=False).sum()
    else:
        covariance = changed.total.cross / freedom
        trace = np.trace(covariance)
        squares = np.linalg.eigvalsh(base @ covariance @ base.T)[::-1]
        root = np.sqrt(above_noise(squares, len(changed) - 1)).sum()
    means = ((changed.mean - fixed.mean) ** 2).sum()
    return float(means + max(trace + (base**2).sum() - 2 * root, 0.0))


def distances_left_out(
    changed: Moments, fixed: Moments, labels: NDArray[np.int64], *, unbiased: bool
) -> Iterator[float]:
    """`quick_distance` with each group of the changed sample left out.

    The matrix whose eigenvalues are needed is a sum over texts, so the part of the group is subtracted.
    """
    groups = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=groups)
    few = len(changed) - sizes.max() <= changed.dimension or len(fixed) <= unbiased
    if few or not changed.has_vectors:
        yield from (quick_distance(rest, fixed, unbiased=unbiased) for rest in changed.left_out(labels))
        return
    base, total = factor(fixed, unbiased=unbiased), changed.total
    whole, trace, own = base @ total.cross @ base.T, np.trace(total.cross), float((base**2).sum())
    for group, part in enumerate(changed.parts(labels)):
        count = len(changed) - sizes[group]
        gaps = part - total.mean
        shift = -gaps.sum(axis=0) / count
        turned, moved = gaps @ base.T, base @ shift
        freedom = count - unbiased
        matrix = (whole - turned.T @ turned - count * np.outer(moved, moved)) / freedom
        root = np.sqrt(above_noise(np.linalg.eigvalsh(matrix)[::-1], count - 1)).sum()
        spread = (trace - (gaps**2).sum() - count * (shift**2).sum()) / freedom
        yield float(((total.mean + shift - fixed.mean) ** 2).sum() + max(spread + own - 2 * root, 0.0))


def factor(moments: Moments, *, unbiased: bool) -> F64:
    """A matrix F with F'F equal to the covariance: the centred vectors if they are few, otherwise from eigenvectors."""
    freedom = len(moments) - unbiased

    def make() -> F64:
        if moments.few:
            return (moments.rows() - moments.mean) / np.sqrt(freedom)
        sizes, directions = np.linalg.eigh(moments.total.cross / freedom)
        kept = above_noise(sizes[::-1], len(moments) - 1)
        return np.sqrt(kept)[:, None] * directions.T[::-1][: len(kept)]

    return moments.once(("factor", unbiased), make)


def above_noise(sizes: NDArray[np.floating[Any]], most: int) -> F64:
    """The eigenvalues above rounding error, from values in decreasing order; at least one, and none below 0.

    Roots magnify rounding: 1e-17 in each of hundreds of directions would add up to 1e-6.
    """
    noise = len(sizes) * _EPS * sizes[0]
    kept = min(most, int((sizes > noise).sum()))
    return np.maximum(sizes[: max(kept, 1)], 0.0)


def extrapolated(distance: Distance, one: Moments, other: Moments) -> float:
    """The distance extrapolated to infinite samples along a line in 1/size, where the bias is nearly linear.

    The second point of the line is the average over leaving out each bucket from both samples, where the bias is a
    little larger. Much smaller samples would leave the linear range, and a single one would be noisy.
    """
    buckets = min(BUCKETS, len(one), len(other))
    if buckets < FEWEST_TO_EXTRAPOLATE:
        return np.nan
    pairs = list(zip(one.without_buckets(buckets), other.without_buckets(buckets), strict=True))
    value = distance(one, other)
    smaller = float(np.mean([distance(a, b) for a, b in pairs]))
    growth = float(np.mean([(len(one) / len(a) + len(other) / len(b)) / 2 for a, b in pairs]))
    return value - (smaller - value) / (growth - 1)


# The expansion uses the leading directions that contain this share of the variance (and fit in memory).
SHARE = 0.99
_MOST_NUMBERS = 2**25
_NUMBERS_AT_ONCE = 2**23
# Sums over pairs of texts need a matrix of all pairs.
_MOST_IN_PAIRS = 8192
_PAIRS_AT_ONCE = 512
_ROWS_AT_ONCE = 256
# Components of the weights below this are left out; the largest weight is 1/2.
_LEFT_OUT = 1e-6


def expanded_exchanges(pooled: Moments, resamples: Resamples, *, unbiased: bool) -> F64:
    r"""The squared distance of every row to second order in the difference of the covariances.

    Around the pooled covariance, which no exchange changes, with eigenvalues l and D = C1 - C2 in its eigenvectors:

    .. math:: |m_1 - m_2|^2 + \tfrac12 \sum_{ij} D_{ij}^2 / (l_i + l_j)
    """
    sizes = np.bincount(resamples.units, minlength=resamples.n_units)
    n, m = (np.asarray(side @ sizes)[:, None] for side in resamples.masks)
    # Subtract the expected share of each unit first, so that float32 keeps the digits of the differences.
    signs: F64 = resamples.masks[0] - n / (n + m)
    sums = (signs.astype(np.float32) @ _unit_sums(pooled, resamples).astype(np.float32)).astype(np.float64)
    means = (sums**2).sum(axis=1) * ((1 / n + 1 / m) ** 2)[:, 0]
    basis, variances = _leading(pooled)
    if not variances[0] > 0:
        return means
    scale = float(np.sqrt(variances[0]))
    exchanges = _Exchanges(
        signs=signs.astype(np.float32),
        summed=(sums @ basis / scale).astype(np.float32),
        shares=_Shares.of(n, m, unbiased),
        variances=variances / scale**2,
    )
    rank = _Weights.of(exchanges.variances)
    if exchanges.pairs_are_cheaper(len(pooled), len(rank.sizes)):
        spreads = _by_pairs(exchanges, _coordinates(pooled, basis / scale), resamples.units, rank)
    else:
        spreads = _by_directions(exchanges, _by_unit(pooled, resamples, basis / scale))
    return _with_ties(means + scale**2 * spreads)


def _with_ties(values: F64) -> F64:
    """Values rounded to a millionth of the largest: single precision has no more digits, and equal values must tie."""
    step = float(values.max()) * 1e-6
    return np.rint(values / step) * step if step > 0 else values


def _slices(pooled: Moments) -> Iterator[tuple[slice, F64]]:
    """The centred pooled vectors, some at a time, and their indices."""
    begin = 0
    for batch in pooled.vectors():
        for start in range(0, len(batch), SLICE):
            values = batch[start : start + SLICE] - pooled.mean
            yield slice(begin, begin + len(values)), values
            begin += len(values)


def _unit_sums(pooled: Moments, resamples: Resamples) -> F64:
    sums = np.zeros((resamples.n_units, pooled.dimension))
    for indices, values in _slices(pooled):
        units = resamples.units[indices]
        order = np.argsort(units, kind="stable")
        found, starts = np.unique(units[order], return_index=True)
        sums[found] += np.add.reduceat(values[order], starts, axis=0)
    return sums


def _leading(pooled: Moments) -> tuple[F64, F64]:
    """Leading eigenvectors (columns) of the pooled covariance, and their eigenvalues."""
    rows = factor(pooled, unbiased=False)
    if pooled.few:
        _, roots, directions = np.linalg.svd(rows, full_matrices=False)
    else:
        roots = np.linalg.norm(rows, axis=1)
        directions = np.divide(rows, roots[:, None], out=np.zeros_like(rows), where=roots[:, None] > 0)
    held = np.cumsum(roots**2)
    kept = min(int((held < SHARE * held[-1]).sum()) + 1, max(1, _MOST_NUMBERS // len(pooled)))
    return directions[:kept].T, roots[:kept] ** 2


def _by_unit(pooled: Moments, resamples: Resamples, basis: F64) -> F32:
    """Coordinates of the texts of each unit: units x texts of a unit x directions, padded with zeros."""
    units = resamples.units
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(resamples.n_units))
    within = np.empty(len(units), dtype=np.int64)
    within[order] = np.arange(len(units)) - starts[units[order]]
    found = np.zeros((resamples.n_units, int(within.max()) + 1, basis.shape[1]), dtype=np.float32)
    for indices, values in _slices(pooled):
        found[units[indices], within[indices]] = values @ basis
    return found


def _coordinates(pooled: Moments, basis: F64) -> F32:
    """Coordinates of all texts."""
    return np.concatenate([values @ basis for _, values in _slices(pooled)]).astype(np.float32)


@dataclass(frozen=True)
class _Shares:
    """D = products * summed outer products + shift * pooled covariance - bend * outer product of summed coordinates.

    Each field is a column with one number per row.
    """

    products: F64
    shift: F64
    bend: F64

    @classmethod
    def of(cls, n: NDArray[np.int64], m: NDArray[np.int64], unbiased: bool) -> "_Shares":
        one, other = n - unbiased, m - unbiased
        return cls(1 / one + 1 / other, n / one - m / other, 1 / (n * one) - 1 / (m * other))

    @property
    def even(self) -> bool:
        """True if the samples have the same size in every row, so that only the products remain."""
        return not (self.shift.any() or self.bend.any())


@dataclass(frozen=True, eq=False)
class _Exchanges:
    """Signs by row and unit, the coordinates summed with them, and the weights of rows and directions."""

    signs: F32
    summed: F32
    shares: _Shares
    variances: F64

    def pairs_are_cheaper(self, texts: int, rank: int) -> bool:
        """Whether sums over pairs of texts need fewer multiplications than sums over pairs of directions."""
        rows, units = self.signs.shape
        directions = len(self.variances)
        by_pairs = texts**2 * (rank * directions + rows) / 2 + (
            0 if self.shares.even else rank * rows * texts * directions
        )
        return texts <= _MOST_IN_PAIRS and by_pairs < rows * units * directions**2 / 2


@dataclass(frozen=True, eq=False)
class _Weights:
    """1 / (l_i + l_j) as a sum of few products: (l_i l_j)^(-1/2) times the sum over q of sizes_q axes_iq axes_jq.

    The components left out are below a millionth; the largest weight, without the first factor, is 1/2.
    """

    sizes: F64
    axes: F64

    @classmethod
    def of(cls, variances: F64) -> "_Weights":
        sizes, axes = np.linalg.eigh(np.sqrt(np.outer(variances, variances)) / np.add.outer(variances, variances))
        kept = sizes > _LEFT_OUT
        return cls(sizes[kept], axes[:, kept])


def _by_pairs(exchanges: _Exchanges, coordinates: F32, units: NDArray[np.int64], weights: _Weights) -> F64:
    """Half the sum of D_ij^2 / (l_i + l_j), as a quadratic form of the signs.

    The summed outer products are a sum over texts, so their weighted square is one over pairs of texts, of
    sum_ij x_i x_j y_i y_j / (l_i + l_j): with the weights as sums of products, squares of inner products of x and y.
    """
    signs = exchanges.signs[:, units]
    shares, variances = exchanges.shares, exchanges.variances
    roots = variances**-0.25
    points, summed = ((each * roots).astype(np.float32) for each in (coordinates, exchanges.summed))
    between = np.zeros((len(points), len(points)), dtype=np.float32)
    for size, axis in zip(weights.sizes, weights.axes.T, strict=True):
        _add_squares(between, points, (axis * size**0.5).astype(np.float32))
    _centre(between)
    total = (shares.products**2)[:, 0] * quadratic_forms(signs, between) / 2
    if shares.even:
        return total
    lengths = signs @ (coordinates.astype(np.float64) ** 2).sum(axis=1)
    squares = exchanges.summed.astype(np.float64) ** 2
    bends = np.einsum("ij,ij->i", squares @ (1 / np.add.outer(variances, variances)), squares) / 2
    across = np.zeros(len(signs))
    for size, axis in zip(weights.sizes, weights.axes.T, strict=True):
        for begin in range(0, len(signs), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            inner = (summed[rows] * axis.astype(np.float32)) @ points.T
            across[rows] += size / 2 * np.einsum("ij,ij,ij->i", inner, inner, signs[rows])
    products, shift, bend = (each[:, 0] for each in (shares.products, shares.shift, shares.bend))
    total += shift**2 * variances.sum() / 4 + bend**2 * bends
    return np.asarray(
        total + products * shift * lengths / 2 - 2 * products * bend * across - shift * bend * squares.sum(axis=1) / 2
    )


def _add_squares(total: F32, points: F32, axis: F32) -> None:
    """Add the squared inner products of the points along an axis, in the blocks on and above the diagonal."""
    for start in range(0, len(points), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        inner = (points[rows] * axis) @ points[start:].T
        np.square(inner, out=inner)
        total[rows, start:] += inner


def _centre(matrix: F32) -> None:
    """Fill in the lower half, and subtract the means of rows and columns.

    Signs sum to 0 over texts, so this changes no quadratic form, but float32 then keeps the digits of the differences.
    """
    for start in range(0, len(matrix), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        matrix[start + _PAIRS_AT_ONCE :, rows] = matrix[rows, start + _PAIRS_AT_ONCE :].T
    means = matrix.mean(axis=0, dtype=np.float64)
    matrix -= means.astype(np.float32)
    matrix -= (means - means.mean()).astype(np.float32)[:, None]


def _by_directions(exchanges: _Exchanges, coordinates: F32) -> F64:
    """The same sum by directions: some i at a time, and only j from i on."""
    signs, summed, shares = exchanges.signs, exchanges.summed, exchanges.shares
    variances = exchanges.variances
    directions = len(variances)
    total = np.zeros(len(signs))
    step = max(1, _NUMBERS_AT_ONCE // (max(len(coordinates), len(signs)) * directions))
    times, shift, bend = (each.astype(np.float32)[:, :, None] for each in (shares.products, shares.shift, shares.bend))
    for start in range(0, directions, step):
        stop = min(start + step, directions)
        products = coordinates[:, :, start:stop].transpose(0, 2, 1) @ coordinates[:, :, start:]
        gap = (signs @ products.reshape(len(products), -1)).reshape(len(signs), stop - start, -1)
        gap *= times
        if not shares.even:
            gap -= bend * summed[:, start:stop, None] * summed[:, None, start:]
            gap += shift * (np.eye(stop - start, directions - start) * variances[start:]).astype(np.float32)
        # Pairs within these directions are computed twice; all other pairs once, but count twice.
        weights = 1 / (variances[start:stop, None] + variances[None, start:])
        weights[:, : stop - start] /= 2
        np.square(gap, out=gap)
        total += gap.reshape(len(signs), -1) @ weights.astype(np.float32).ravel()
    return total
