"""Kernel tiles: the kernel of all pairs of some texts, a square of bounded size at a time."""

from collections.abc import Iterator

import numpy as np

from textassay.views.kernels import (
    F64,
    FEW_TEXTS,
    Kernel,
    Places,
    centred,
    kept_squares,
    of_products,
    of_squares,
    squared_distances,
)
from textassay.views.vectors import Joint

# Texts along a side of a tile: what the processor's cache holds.
_TILE = 512
# The distances cost most by far, so kernels that are often wanted together are computed together.
_TOGETHER: tuple[Kernel, ...] = ("rbf", "energy")

Tile = tuple[Places, Places, tuple[F64, ...]]


def company(joint: Joint, kernel: Kernel) -> tuple[Kernel, ...]:
    """The kernels to compute with this one: alone where the distances are kept anyway."""
    return _TOGETHER if kernel in _TOGETHER and len(joint.values) > FEW_TEXTS else (kernel,)


def kernel_tiles(joint: Joint, kernels: tuple[Kernel, ...], texts: Places) -> Iterator[Tile]:
    """Kernel values of all pairs of these texts: rows, columns and one tile a kernel.

    A tile off the diagonal comes once and stands for its mirror image too; on it, rows and columns are one object.
    """
    if kernels == ("polynomial",):
        yield from _product_tiles(joint, texts)
    elif len(joint.values) <= FEW_TEXTS:
        kept = kept_squares(joint)
        # Picking out what is the whole in its own order would cost as much as the kernel itself.
        squares = kept if np.array_equal(texts, np.arange(len(kept))) else kept[np.ix_(texts, texts)]
        yield texts, texts, tuple(of_squares(kernel, squares, joint) for kernel in kernels)
    else:
        for rows, columns in _pairs_of_cuts(texts):
            left = centred(joint, rows)
            squares = squared_distances(left, left if columns is rows else centred(joint, columns))
            yield rows, columns, tuple(of_squares(kernel, squares, joint) for kernel in kernels)


def _product_tiles(joint: Joint, texts: Places) -> Iterator[Tile]:
    values = joint.values
    for rows, columns in _pairs_of_cuts(texts):
        left = values[rows].astype(np.float64)
        right = left if columns is rows else values[columns].astype(np.float64)
        yield rows, columns, (of_products(left @ right.T, values.shape[1]),)


def _pairs_of_cuts(texts: Places) -> Iterator[tuple[Places, Places]]:
    cuts = np.array_split(texts, max(1, -(-len(texts) // _TILE)))
    for first, rows in enumerate(cuts):
        for columns in cuts[first:]:
            yield rows, columns
