"""Frechet distance between the Gaussians fitted to two samples' vectors, for samples and for items."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.registry import metric
from textassay.metrics.vectors.gaussians import (
    FEWEST_TO_EXTRAPOLATE,
    Distance,
    distances_between,
    distances_left_out,
    exact_exchanges,
    expanded_exchanges,
    extrapolated,
    quick_distance,
    squared_distance,
    squared_parts,
)
from textassay.metrics.vectors.moments import Moments, hash_vectors
from textassay.metrics.vectors.vectors import SMALL_POOL
from textassay.metrics.views import Resamples

# A squared distance below this share of the squared lengths is rounding: its root would not be.
_ROUNDING = 1e-13


def item_distances(pool: ItemPool, labels: Labels, /, *, unbiased: bool, extrapolate: bool) -> F64:
    """The squared distance of every labelling; not a number where a side has too few texts."""
    fewest = FEWEST_TO_EXTRAPOLATE if extrapolate else 1 + unbiased
    if min(labels.sizes) < fewest:
        return np.full(len(labels), np.nan)
    order, products = pool.once("hashed products", lambda: _ordered_products(pool))
    sides = Labels(labels.candidate[:, order], labels.reference[:, order]).places()
    squared = distances_between(products, sides, unbiased=unbiased, extrapolate=extrapolate)
    # Texts that a labelling uses may be near each other and far from those that it leaves out.
    lengths = sum(np.diag(products)[side].mean(axis=1) for side in sides)
    return np.where(np.abs(squared) > _ROUNDING * lengths, squared, 0.0)


def _ordered_products(pool: ItemPool) -> tuple[I64, F64]:
    """An order of the texts that depends on their vectors only, and their inner products in it, less the mean.

    Extrapolating leaves out buckets of texts; which are in a bucket must not depend on how texts came in.
    """
    order = np.argsort(hash_vectors(pool.vectors), kind="stable")
    rows = pool.vectors[order].astype(np.float64)
    # The first vector goes before the mean does: what is left of equal vectors is then 0 and not rounding.
    rows -= rows[0]
    rows -= rows.mean(axis=0)
    return order, rows @ rows.T


Form = Literal["root", "squared"]
Covariance = Literal["unbiased", "population"]
Variant = Literal["plugin", "extrapolated"]


def parts(
    candidate: Moments, reference: Moments, /, *, form: Form, covariance: Covariance, variant: Variant
) -> dict[str, float]:
    """What the means and what the covariances add to the squared distance (before any extrapolation)."""
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
    """The distance with each group of either sample left out, from the group's own moments."""
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
    """The distance under exchanged labels: exact in small pools, else the plug-in distance to second order.

    Which is no loss for the extrapolated variant: its correction hardly changes when labels are exchanged.
    """
    pooled, unbiased = candidate.merge(reference), covariance == "unbiased"
    if len(pooled) <= SMALL_POOL:
        exact = exact_exchanges(pooled, resamples, unbiased=unbiased, extrapolate=variant == "extrapolated")
        return _in_form(exact, form)
    return _in_form(expanded_exchanges(pooled, resamples, unbiased=unbiased), form)


def item(pool: ItemPool, labels: Labels, /, *, form: Form, covariance: Covariance, variant: Variant) -> F64:
    """The distance of each labelling of one item's texts, never by an expansion."""
    squared = item_distances(pool, labels, unbiased=covariance == "unbiased", extrapolate=variant == "extrapolated")
    return _in_form(squared, form)


def fewest_texts(*, form: Form, covariance: Covariance, variant: Variant) -> int:
    """Two texts have a covariance; to extrapolate, one of them must be spare."""
    del form, covariance
    return FEWEST_TO_EXTRAPOLATE if variant == "extrapolated" else 2


@metric(
    "frechet",
    family="embedding",
    aspect="both",
    better="lower",
    bounds=(0.0, np.inf),
    interval="jackknife",
    test="permutation:second-order",
    paper="montahaei2019",
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

    `form="squared"` leaves out the root, as FID and most programs do. It misleads when sizes differ: the plug-in value
    of two samples from one source is well above 0 and falls with size, so compare at one size, and with real text's
    own value. `variant="extrapolated"` follows the value to samples without end (it is nearly linear in 1/size); it is
    about 0 for one source and may fall below, where the root form gives minus the root of what is missing. It sees
    means and covariances only: what differs in other ways, such as a few odd texts, hides from it.

    The test exchanges labels and looks at the exact distance in pools of up to 150 texts, and in larger ones at its
    expansion to second order around the pooled covariance, in the directions that hold 99 % of the variance (fewer in
    pools of over 100,000 texts).
    """
    distance: Distance = partial(squared_distance, unbiased=covariance == "unbiased")
    squared = (distance if variant == "plugin" else partial(extrapolated, distance))(candidate, reference)
    return float(_in_form(np.array(squared), form))


def _in_form(squared: F64, form: Form) -> F64:
    return squared if form == "squared" else np.sign(squared) * np.sqrt(np.abs(squared))
