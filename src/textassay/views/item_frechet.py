"""Squared Frechet distances on one item: of every labelling at once, from the inner products of its pooled texts."""

import numpy as np

from textassay.views.bures import FEWEST_TO_EXTRAPOLATE
from textassay.views.bures_exchange import distances_between
from textassay.views.item_pool import F64, ItemPool, Labels, Places
from textassay.views.moments import hash_vectors

# A squared distance below this share of the squared lengths is rounding: its root would not be.
_ROUNDING = 1e-13


def item_distances(pool: ItemPool, labels: Labels, /, *, unbiased: bool, extrapolate: bool) -> F64:
    """The squared distance of every labelling; not a number where a side has too few texts."""
    fewest = FEWEST_TO_EXTRAPOLATE if extrapolate else 1 + unbiased
    if min(labels.sizes) < fewest:
        return np.full(len(labels), np.nan)
    order, products = pool.once("hashed products", lambda: _products(pool))
    sides = Labels(labels.candidate[:, order], labels.reference[:, order]).places()
    squared = distances_between(products, sides, unbiased=unbiased, extrapolate=extrapolate)
    # Texts that a labelling uses may be near each other and far from those that it leaves out.
    lengths = sum(np.diag(products)[side].mean(axis=1) for side in sides)
    return np.where(np.abs(squared) > _ROUNDING * lengths, squared, 0.0)


def _products(pool: ItemPool) -> tuple[Places, F64]:
    """An order of the texts that depends on their vectors only, and their inner products in it, less the mean.

    Extrapolating leaves out buckets of texts; which are in a bucket must not depend on how texts came in.
    """
    order = np.argsort(hash_vectors(pool.vectors), kind="stable")
    rows = pool.vectors[order].astype(np.float64)
    # The first vector goes before the mean does: what is left of equal vectors is then 0 and not rounding.
    rows -= rows[0]
    rows -= rows.mean(axis=0)
    return order, rows @ rows.T
