"""Principal points: pooled vectors of length 1 in the few directions that hold most of their variance, on a grid.

The grid is what makes quantisation repeatable. Coordinates are whole numbers small enough that every product of two
points is exact in float32, in whatever order it is summed: the number of threads, the BLAS and the processor cannot
change which centre is nearest. Its step is a 2,000th of the largest distance from the mean, far below the width of any
cluster; points that differ by less are one point.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.vectors import F32, Joint

F64 = NDArray[np.float64]

# The share of the variance that is kept, as in mauve-text.
_SHARE = 0.9
# The largest length of a point on the grid: below 2**11, so that products of points stay below 2**22.
_RADIUS = 2000
# Vectors of length 1 that are nearer to their mean than this differ by the rounding of their encoder.
_NOISE = 1e-4
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class PrincipalPoints:
    """The distinct points of both samples in canonical order, the texts at each, and the point of each pooled text."""

    values: F32
    texts: F64
    places: NDArray[np.int64]


def principal_points(joint: Joint) -> PrincipalPoints:
    """The points of a pair, made once; neither the order of the texts nor their labels matter."""
    return joint.once("principal points", lambda: _distinct(_on_grid(joint.values, joint.order), joint.order))


def _distinct(grid: F32, order: NDArray[np.int64]) -> PrincipalPoints:
    """Equal rows taken together, in order of their first appearance."""
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, grid.shape[1])
    # A whole-number hash of each row, wrapping around: 64 bits, so that different rows practically never meet.
    keys = np.concatenate([block.astype(np.int64) @ odd for block in _blocks(grid)])
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    ranks = np.argsort(first)
    places = np.empty(len(grid), dtype=np.int64)
    places[order] = np.argsort(ranks)[inverse]
    return PrincipalPoints(grid[first[ranks]], counts[ranks].astype(np.float64), places)


def _on_grid(values: F32, order: NDArray[np.int64]) -> F32:
    """Coordinates along the principal directions, rounded to whole numbers; rows in the given order."""
    ordered = values[order]
    mean = np.sum([block.sum(axis=0) for block in _unit_blocks(ordered)], axis=0) / len(ordered)
    directions, largest = _directions(ordered, mean)
    directions *= _RADIUS / max(largest, _NOISE)
    grid = np.empty((len(ordered), directions.shape[1]), dtype=np.float32)
    done = 0
    for block in _unit_blocks(ordered):
        grid[done : done + len(block)] = np.rint(block @ directions - mean @ directions)
        done += len(block)
    return grid


def _directions(values: F32, mean: F64) -> tuple[F64, float]:
    """The fewest principal directions that hold the share of the variance, one a column, and the largest distance."""
    n, dimension = values.shape
    scatter, largest = np.zeros((dimension, dimension)), 0.0
    if n < dimension:
        # Fewer points than dimensions: the same directions from the smaller matrix of products of points.
        centred = np.concatenate(list(_unit_blocks(values))) - mean
        scatter = centred @ centred.T
        largest = float(np.diagonal(scatter).max())
    else:
        for block in _unit_blocks(values):
            centred = block - mean
            scatter += centred.T @ centred
            largest = max(largest, float(np.einsum("ij,ij->i", centred, centred).max()))
    variances, vectors = np.linalg.eigh(scatter)
    shares = np.cumsum(np.maximum(variances[::-1], 0))
    # A hair less than the share, so that rounding does not decide where equal variances add up to it.
    kept = int(np.searchsorted(shares, (_SHARE - 1e-9) * shares[-1])) + 1
    chosen: F64 = vectors[:, ::-1][:, :kept]
    return chosen if n >= dimension else _unit(centred.T @ chosen), largest**0.5


def _unit(columns: F64) -> F64:
    lengths = np.linalg.norm(columns, axis=0)
    return columns / np.where(lengths > 0, lengths, 1)


def _unit_blocks(values: F32) -> Iterator[F64]:
    """Rows of length 1, some at a time; zero vectors stay."""
    for block in _blocks(values):
        wide = block.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        wide /= np.where(lengths > 0, lengths, 1)[:, None]
        yield wide


def _blocks(values: F32) -> Iterator[F32]:
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(values), step):
        yield values[start : start + step]
