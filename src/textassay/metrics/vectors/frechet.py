"""Frechet distance between Gaussians fitted to the vectors of two samples, or of one item's two sides."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import metric
from textassay.metrics.vectors.gaussians import (
    BUCKETS,
    FEWEST_TO_EXTRAPOLATE,
    Distance,
    distances_left_out,
    expanded_exchanges,
    extrapolated,
    quick_distance,
    squared_distance,
    squared_parts,
)
from textassay.metrics.vectors.vectors import SMALL_POOL, Moments, chosen_places, hash_vectors, rows_of_one_size
from textassay.metrics.views import Resamples

Form = Literal["root", "squared"]
Covariance = Literal["unbiased", "population"]
Variant = Literal["plugin", "extrapolated"]


def fewest_texts(*, form: Form, covariance: Covariance, variant: Variant) -> int:
    """A covariance needs two texts; extrapolation leaves out one more."""
    del form, covariance
    return FEWEST_TO_EXTRAPOLATE if variant == "extrapolated" else 2


def parts(
    candidate: Moments, reference: Moments, /, *, form: Form, covariance: Covariance, variant: Variant
) -> dict[str, float]:
    """The contributions of means and of covariances to the squared distance, before any extrapolation."""
    del form, variant
    means, spreads = squared_parts(candidate, reference, unbiased=covariance == "unbiased")
    return {"means": means, "covariances": spreads}


def leave_out(
    candidate: Moments,
    reference: Moments,
    /,
    *,
    labels: Sequence[NDArray[np.int64]],
    form: Form,
    covariance: Covariance,
    variant: Variant,
) -> tuple[F64, F64]:
    """The distance with each group of either sample left out, from the moments of the groups."""
    unbiased = covariance == "unbiased"
    distance = partial(quick_distance, unbiased=unbiased)

    def without(changed: Moments, fixed: Moments, groups: NDArray[np.int64]) -> Iterator[float]:
        if variant == "plugin":
            return distances_left_out(changed, fixed, groups, unbiased=unbiased)
        return (extrapolated(distance, rest, fixed) for rest in changed.left_out(groups))

    mine, others = without(candidate, reference, labels[0]), without(reference, candidate, labels[1])
    return _in_form(np.array(list(mine)), form), _in_form(np.array(list(others)), form)


def exchange(
    candidate: Moments,
    reference: Moments,
    /,
    *,
    resamples: Resamples,
    form: Form,
    covariance: Covariance,
    variant: Variant,
) -> F64:
    """The distance under exchanged labels: exact in small pools, otherwise the plug-in distance to second order.

    The extrapolated variant uses the same expansion, because its correction hardly changes when labels are exchanged.
    """
    pooled, unbiased = candidate.merge(reference), covariance == "unbiased"
    if len(pooled) <= SMALL_POOL:
        exact = exact_exchanges(pooled, resamples, unbiased=unbiased, extrapolate=variant == "extrapolated")
        return _in_form(exact, form)
    return _in_form(expanded_exchanges(pooled, resamples, unbiased=unbiased), form)


def item(pool: ItemPool, labels: Labels, /, *, form: Form, covariance: Covariance, variant: Variant) -> F64:
    """The exact distance of each labelling of one item's texts."""
    squared = item_distances(pool, labels, unbiased=covariance == "unbiased", extrapolate=variant == "extrapolated")
    return _in_form(squared, form)


@metric(
    "frechet",
    family="embedding",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, np.inf),
    interval="jackknife",
    test="permutation:second-order",
    paper="montahaei2019",
    undefined="frechet needs two texts on each side (variant=extrapolated: three)",
    minimum=fewest_texts,
    parts=parts,
    leave_out=leave_out,
    exchange=exchange,
    item=item,
    most_labellings=20_000,
    variant_bounds={"extrapolated": (-np.inf, np.inf)},
)
def frechet(
    candidate: Moments,
    reference: Moments,
    /,
    *,
    form: Form = "root",
    covariance: Covariance = "unbiased",
    variant: Variant = "plugin",
) -> float:
    r"""Frechet distance: how far apart the two samples' sentence vectors are, in their means and covariances.

    .. math:: \sqrt{|m_1 - m_2|^2 + \mathrm{Tr}\,(C_1 + C_2 - 2\,(C_1 C_2)^{1/2})}

    Here m and C are the means and covariances of the two samples' vectors. `form="squared"` omits the root, as FID and
    most programs do. `variant="extrapolated"` extrapolates the value, which is nearly linear in 1/size, to infinite
    samples; it is about 0 for one source and may be negative, where the root form is minus the root of the absolute
    value.

    It sees differences in the means and covariances of the vectors: other topics, and too little or too much spread.

    Misleading when sizes differ: the plug-in value of two samples from one source is well above 0 and falls with size,
    so compare at one size and with real text's own value. It misses differences that change neither mean nor
    covariance, such as a few odd texts.

    The test exchanges labels. It uses the exact distance in pools of up to 150 texts, and in larger pools an expansion
    to second order around the pooled covariance, in the directions that contain 99 % of the variance (fewer in pools of
    over 100,000 texts).

    It is undefined if a sample has fewer than two texts (three for `variant="extrapolated"`).
    """
    distance: Distance = partial(squared_distance, unbiased=covariance == "unbiased")
    squared = (distance if variant == "plugin" else partial(extrapolated, distance))(candidate, reference)
    return float(_in_form(np.array(squared), form))


def _in_form(squared: F64, form: Form) -> F64:
    return squared if form == "squared" else np.sign(squared) * np.sqrt(np.abs(squared))


# A squared distance below this share of the variance or of the squared lengths is rounding; the root would magnify it.
_ROUNDING = 1e-13
_NUMBERS_AT_ONCE = 2**23


def exact_exchanges(pooled: Moments, resamples: Resamples, *, unbiased: bool, extrapolate: bool) -> F64:
    """The squared distance of every row, from one pooled matrix of inner products."""
    # In the order of the hashes, the buckets of a side are at the same places in every row.
    order = np.argsort(np.concatenate([hash_vectors(values) for values in pooled.vectors()]), kind="stable")
    centred = (pooled.rows() - pooled.mean)[order]
    mask = resamples.masks[0][:, resamples.units[order]]
    products, found = centred @ centred.T, np.empty(len(mask))
    for rows in rows_of_one_size(mask):
        sides = chosen_places(mask[rows]), chosen_places(~mask[rows])
        found[rows] = distances_between(products, sides, unbiased=unbiased, extrapolate=extrapolate)
    return found


def distances_between(
    products: F64, sides: tuple[NDArray[np.int64], NDArray[np.int64]], *, unbiased: bool, extrapolate: bool
) -> F64:
    """The squared distance between the texts at the places of two sides, one per row.

    `products` are the inner products of the centred pooled vectors, in the order of their hashes.
    """
    at_once = max(1, _NUMBERS_AT_ONCE // (sides[0].shape[1] * sides[1].shape[1]))
    slices = [slice(start, start + at_once) for start in range(0, len(sides[0]), at_once)]
    find = _extrapolated if extrapolate else _squared
    return np.concatenate([find(products, sides[0][rows], sides[1][rows], unbiased) for rows in slices])


def _squared(products: F64, one: NDArray[np.int64], other: NDArray[np.int64], unbiased: bool) -> F64:
    """Squared distances between the texts at these places, one per row."""
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
    """Rows of weights that average over the texts at these places."""
    weights = np.zeros((len(places), width))
    np.put_along_axis(weights, places, 1 / places.shape[1], axis=1)
    return weights


def _extrapolated(products: F64, one: NDArray[np.int64], other: NDArray[np.int64], unbiased: bool) -> F64:
    """As `_squared`, extrapolated to infinite samples."""
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


def item_distances(pool: ItemPool, labels: Labels, /, *, unbiased: bool, extrapolate: bool) -> F64:
    """The squared distance of every labelling; NaN if a side has too few texts."""
    fewest = FEWEST_TO_EXTRAPOLATE if extrapolate else 1 + unbiased
    if min(labels.sizes) < fewest:
        return np.full(len(labels), np.nan)
    order, products = pool.once("hashed products", lambda: _ordered_products(pool))
    sides = chosen_places(labels.candidate[:, order]), chosen_places(labels.reference[:, order])
    squared = distances_between(products, sides, unbiased=unbiased, extrapolate=extrapolate)
    # Relative to the texts that a labelling uses, which may be close together and far from those it leaves out.
    lengths = sum(np.diag(products)[side].mean(axis=1) for side in sides)
    return np.where(np.abs(squared) > _ROUNDING * lengths, squared, 0.0)


def _ordered_products(pool: ItemPool) -> tuple[I64, F64]:
    """An order of the texts that depends on their vectors only, and the inner products of the centred vectors in it.

    Extrapolation leaves out buckets of texts, which must not depend on the order of the texts in the file.
    """
    order = np.argsort(hash_vectors(pool.vectors), kind="stable")
    rows = pool.vectors[order].astype(np.float64)
    # Subtract the first vector before the mean, so that equal vectors become exactly 0.
    rows -= rows[0]
    rows -= rows.mean(axis=0)
    return order, rows @ rows.T
