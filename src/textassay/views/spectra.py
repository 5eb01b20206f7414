"""Spectra: the eigenvalues of a sample's cosine similarities, and the effective number of things they stand for."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.views.scatter import F64, SLICE
from textassay.views.vectors import F32

_EPS = float(np.finfo(np.float64).eps)
# Orders this close to 1 are taken for it: the general formula divides by the distance.
_NEAR_ONE = 1e-3


def directions(values: F32) -> F64:
    """The vectors brought to length 1, with one more column: the direction that all zero vectors share.

    A zero vector has no cosine with anything; so it counts as equal to other zero vectors and like nothing else.
    """
    rows = np.zeros((len(values), values.shape[1] + 1))
    rows[:, :-1] = values
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows[:, -1] = lengths[:, 0] == 0
    return rows / np.where(lengths > 0, lengths, 1.0)


def second_moment(values: F32) -> F64:
    """The summed outer products of the directions: it has the eigenvalues of their similarities, and adds up."""
    total = np.zeros((values.shape[1] + 1, values.shape[1] + 1))
    for rows in _slices(values):
        total += rows.T @ rows
    return total


def _slices(values: F32) -> Iterator[F64]:
    return (directions(values[start : start + SLICE]) for start in range(0, len(values), SLICE))


def similarities(values: F32) -> F64:
    """The cosine of every two vectors, for samples of few."""
    rows = directions(values)
    return rows @ rows.T


def spectrum(matrix: F64) -> F64:
    """Eigenvalues of a matrix of similarities or second moments (or a stack of them), as shares; rounding is set to 0.

    >>> spectrum(np.eye(2)).tolist()
    [0.5, 0.5]
    """
    return _shares(np.linalg.eigvalsh(matrix))


def _shares(sizes: NDArray[np.floating[Any]]) -> F64:
    noise = sizes.shape[-1] * _EPS * sizes.max(axis=-1, keepdims=True)
    kept: F64 = np.where(sizes > noise, sizes, 0.0)
    return kept / kept.sum(axis=-1, keepdims=True)


def effective_number(shares: F64, q: float) -> F64:
    """The number of equal shares that have the same Renyi entropy of order q: 1 at least, all that are not 0 at most.

    >>> effective_number(np.array([0.25, 0.25, 0.25, 0.25, 0.0]), 2.0).tolist()
    4.0
    """
    largest = shares.max(axis=-1)
    if np.isinf(q):
        return np.asarray(1 / largest)
    if abs(q - 1) < _NEAR_ONE:
        logs = np.log(np.where(shares > 0, shares, 1.0))
        # To first order in q - 1, so that nothing jumps where the general formula begins.
        entropy = -(shares * logs).sum(axis=-1)
        spread = (shares * (logs + entropy[..., None]) ** 2).sum(axis=-1)
        return np.asarray(np.maximum(np.exp(entropy - (q - 1) / 2 * spread), 1.0))
    # Divided by the largest first, or high orders would leave nothing.
    powers = np.where(shares > 0, (shares / largest[..., None]) ** q, 0.0).sum(axis=-1)
    return np.asarray(np.maximum(np.exp((q * np.log(largest) + np.log(powers)) / (1 - q)), 1.0))


def slopes(shares: F64, q: float) -> F64:
    """How the effective number changes with a little more of each share (up to a constant, which moves nothing)."""
    largest = shares.max()
    held = shares > 0
    if np.isinf(q):
        relative = -np.where(shares >= largest * (1 - 1e-9), 1 / largest, 0.0)
    elif abs(q - 1) < _NEAR_ONE:
        relative = -np.log(np.where(held, shares, 1.0))
    else:
        powers = np.where(held, shares / largest, 1.0) ** (q - 1)
        relative = q / (1 - q) * powers / (np.where(held, powers * shares, 0.0).sum())
    return np.where(held, relative, 0.0) * effective_number(shares, q)


def influence(values: F32, q: float) -> F64:
    """To first order, how much each of the vectors adds to the effective number when its weight grows."""
    if len(values) <= values.shape[1]:
        sizes, places = np.linalg.eigh(similarities(values))
        shares = _shares(sizes)
        return np.asarray(len(values) * places**2 @ (shares * slopes(shares, q)))
    sizes, axes = np.linalg.eigh(second_moment(values))
    weights = slopes(_shares(sizes), q)
    return np.concatenate([(rows @ axes) ** 2 @ weights for rows in _slices(values)])
