"""Frechet distances under exchanged labels: the exact ones of a small pool at once, else to second order."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.bures import BUCKETS, FEWEST_TO_EXTRAPOLATE, factor
from textassay.views.material import Resamples
from textassay.views.moments import Moments, hash_vectors
from textassay.views.scatter import F64, SLICE

# The expansion looks at the leading directions that hold this share of the variance (and fit in memory).
SHARE = 0.99
_MOST_NUMBERS = 2**25
_NUMBERS_AT_ONCE = 2**23
# Squared distances below this share of the variance are rounding; their roots would not be.
_ROUNDING = 1e-13


def exact_exchanges(pooled: Moments, resamples: Resamples, *, unbiased: bool, extrapolate: bool) -> F64:
    """The squared distance of every row, from one pooled matrix of inner products."""
    # In the order of the hashes a side's buckets are the same places in every row.
    order = np.argsort(np.concatenate([hash_vectors(values) for values in pooled.vectors()]), kind="stable")
    centred = (pooled.rows() - pooled.mean)[order]
    mask = resamples.masks[0][:, resamples.units[order]]
    sides = _places(mask), _places(~mask)
    return distances_between(centred @ centred.T, sides, unbiased=unbiased, extrapolate=extrapolate)


def distances_between(
    products: F64, sides: tuple[NDArray[np.int64], NDArray[np.int64]], *, unbiased: bool, extrapolate: bool
) -> F64:
    """The squared distance between the texts at two sides' places, a row each; what is at neither is left out.

    `products` are the inner products of the pooled texts less their mean, in the order of their hashes.
    """
    at_once = max(1, _NUMBERS_AT_ONCE // (sides[0].shape[1] * sides[1].shape[1]))
    slices = [slice(start, start + at_once) for start in range(0, len(sides[0]), at_once)]
    find = _extrapolated if extrapolate else _squared
    return np.concatenate([find(products, sides[0][rows], sides[1][rows], unbiased) for rows in slices])


def _places(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.nonzero(mask)[1].reshape(len(mask), -1)


def _squared(products: F64, one: NDArray[np.int64], other: NDArray[np.int64], unbiased: bool) -> F64:
    """Squared distances between the texts at these places, a row each."""
    sizes = one.shape[1], other.shape[1]
    weights = [_weights(side, len(products)) for side in (one, other)]
    gap = weights[0] - weights[1]
    means = ((gap @ products) * gap).sum(axis=1)
    own = [((weight @ products) * weight).sum(axis=1) for weight in weights]
    spreads = [
        size / (size - unbiased) * (weight @ np.diag(products) - mean)
        for size, weight, mean in zip(sizes, weights, own, strict=True)
    ]
    between = products[one[:, :, None], other[:, None, :]]
    between -= between.mean(axis=1, keepdims=True)
    between -= between.mean(axis=2, keepdims=True)
    roots = np.linalg.svd(between, compute_uv=False).sum(axis=1)
    roots /= np.sqrt((sizes[0] - unbiased) * (sizes[1] - unbiased))
    variance = spreads[0] + spreads[1]
    squared = means + variance - 2 * roots
    return np.where(squared > _ROUNDING * variance, squared, 0.0)


def _weights(places: NDArray[np.int64], width: int) -> F64:
    """Rows whose product with anything is its mean over the texts at these places."""
    weights = np.zeros((len(places), width))
    np.put_along_axis(weights, places, 1 / places.shape[1], axis=1)
    return weights


def _extrapolated(products: F64, one: NDArray[np.int64], other: NDArray[np.int64], unbiased: bool) -> F64:
    """As `_squared`, each extended to samples without end."""
    sizes = one.shape[1], other.shape[1]
    buckets = min(BUCKETS, *sizes)
    value = _squared(products, one, other, unbiased)
    if buckets < FEWEST_TO_EXTRAPOLATE:
        return np.full_like(value, np.nan)
    smaller, growth = np.zeros_like(value), 0.0
    for bucket in range(buckets):
        stay = [np.arange(size) % buckets != bucket for size in sizes]
        smaller += _squared(products, one[:, stay[0]], other[:, stay[1]], unbiased) / buckets
        growth += sum(size / own.sum() for size, own in zip(sizes, stay, strict=True)) / 2 / buckets
    return np.asarray(value - (smaller - value) / (growth - 1))


def expanded_exchanges(pooled: Moments, resamples: Resamples, *, unbiased: bool) -> F64:
    r"""The squared distance of every row to second order in the difference of the covariances.

    Around the pooled covariance, which no exchange changes, with eigenvalues l and D = C1 - C2 in its eigenvectors:

    .. math:: |m_1 - m_2|^2 + \tfrac12 \sum_{ij} D_{ij}^2 / (l_i + l_j)
    """
    n, m = (int(side[0][resamples.units].sum()) for side in resamples.masks)
    # The share that chance gives is taken off each unit first: float32 then holds what differs, not what is common.
    signs = resamples.masks[0] - n / (n + m)
    sums = _unit_sums(pooled, resamples)
    means = ((signs @ sums) ** 2).sum(axis=1) * (1 / n + 1 / m) ** 2
    basis, variances = _leading(pooled)
    if not variances[0] > 0:
        return means
    scale = float(np.sqrt(variances[0]))
    shares = _Shares.of(n, m, unbiased)
    coordinates = _by_unit(pooled, resamples, basis / scale)
    summed = (signs @ (sums @ basis) / scale).astype(np.float32)
    spreads = _between_covariances(signs.astype(np.float32), coordinates, summed, variances / scale**2, shares)
    return _with_ties(means + scale**2 * spreads)


def _with_ties(values: F64) -> F64:
    """Values in steps of a millionth of the largest: single precision tells no more, and equal ones must tie."""
    step = float(values.max()) * 1e-6
    return np.rint(values / step) * step if step > 0 else values


def _slices(pooled: Moments) -> Iterator[tuple[slice, F64]]:
    """The pooled vectors less their mean, some at a time, and their places."""
    begin = 0
    for batch in pooled.vectors():
        for start in range(0, len(batch), SLICE):
            values = batch[start : start + SLICE] - pooled.mean
            yield slice(begin, begin + len(values)), values
            begin += len(values)


def _unit_sums(pooled: Moments, resamples: Resamples) -> F64:
    sums = np.zeros((resamples.n_units, pooled.dimension))
    for places, values in _slices(pooled):
        units = resamples.units[places]
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


def _by_unit(pooled: Moments, resamples: Resamples, basis: F64) -> NDArray[np.float32]:
    """Coordinates of the texts of each unit: units x texts of a unit x directions, filled up with zeros."""
    units = resamples.units
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(resamples.n_units))
    within = np.empty(len(units), dtype=np.int64)
    within[order] = np.arange(len(units)) - starts[units[order]]
    found = np.zeros((resamples.n_units, int(within.max()) + 1, basis.shape[1]), dtype=np.float32)
    for places, values in _slices(pooled):
        found[units[places], within[places]] = values @ basis
    return found


@dataclass(frozen=True)
class _Shares:
    """D = products * summed outer products + shift * pooled covariance - bend * outer product of summed coordinates."""

    products: float
    shift: float
    bend: float

    @classmethod
    def of(cls, n: int, m: int, unbiased: bool) -> "_Shares":
        one, other = n - unbiased, m - unbiased
        return cls(1 / one + 1 / other, n / one - m / other, 1 / (n * one) - 1 / (m * other))


def _between_covariances(
    signs: NDArray[np.float32],
    coordinates: NDArray[np.float32],
    summed: NDArray[np.float32],
    variances: F64,
    shares: _Shares,
) -> F64:
    """Half the sum of D_ij^2 / (l_i + l_j), a few of the directions i at a time and only j that come not before."""
    directions = len(variances)
    total = np.zeros(len(signs))
    step = max(1, _NUMBERS_AT_ONCE // (max(len(coordinates), len(signs)) * directions))
    for start in range(0, directions, step):
        stop = min(start + step, directions)
        products = coordinates[:, :, start:stop].transpose(0, 2, 1) @ coordinates[:, :, start:]
        gap = (signs @ products.reshape(len(products), -1)).reshape(len(signs), stop - start, -1)
        gap *= np.float32(shares.products)
        if shares.bend:
            gap -= np.float32(shares.bend) * summed[:, start:stop, None] * summed[:, None, start:]
        if shares.shift:
            gap += (np.eye(stop - start, directions - start) * shares.shift * variances[start:]).astype(np.float32)
        # Pairs within these directions come twice, all others once but count twice.
        weights = 1 / (variances[start:stop, None] + variances[None, start:])
        weights[:, : stop - start] /= 2
        np.square(gap, out=gap)
        total += gap.reshape(len(signs), -1) @ weights.astype(np.float32).ravel()
    return total
