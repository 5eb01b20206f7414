"""Frechet (Wasserstein-2) distance between the Gaussians that two samples' moments describe.

A covariance is held as a factor, C = F'F, because Tr (C1 C2)^(1/2) is the sum of the singular values of F1 F2': a sum
of positive numbers, without a matrix root and without an imaginary part.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.views.moments import Moments
from textassay.views.scatter import F64

# Parts of which each is left out in turn, for the value at a slightly smaller size.
BUCKETS = 8
# Leaving out one text must leave a covariance.
FEWEST_TO_EXTRAPOLATE = 3
_EPS = float(np.finfo(np.float64).eps)

Distance = Callable[[Moments, Moments], float]


def squared_parts(one: Moments, other: Moments, *, unbiased: bool) -> tuple[float, float]:
    """The two parts of the squared distance: between the means, and between the covariances.

    With F1 F2' = U S V', the part between covariances is the squared norm of U'F1 - V'F2: of two equal samples it is 0
    up to the square of rounding, where traces would cancel to rounding alone, and its root would show.
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
        # The other sample is kept with its result, so that no new one can take over its id.
        return other, float(((one.mean - other.mean) ** 2).sum()), spreads

    return one.once(("squared", id(other), unbiased), make)[1:]


def squared_distance(one: Moments, other: Moments, *, unbiased: bool) -> float:
    """The squared distance; not a number where a sample is too small for its covariance."""
    return sum(squared_parts(one, other, unbiased=unbiased))


def quick_distance(changed: Moments, fixed: Moments, *, unbiased: bool) -> float:
    """The squared distance to one and the same sample again and again, by traces: exact to about 1e-8."""
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

    The matrix whose eigenvalues are wanted is a sum over texts, so a group takes its own part off the whole.
    """
    groups = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=groups)
    if len(changed) - sizes.max() <= changed.dimension or len(fixed) <= unbiased:
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
    """A matrix F whose F'F is the covariance: the centred vectors where they are few, else from eigenvectors."""
    freedom = len(moments) - unbiased

    def make() -> F64:
        if moments.few:
            return (moments.rows() - moments.mean) / np.sqrt(freedom)
        sizes, directions = np.linalg.eigh(moments.total.cross / freedom)
        kept = above_noise(sizes[::-1], len(moments) - 1)
        return np.sqrt(kept)[:, None] * directions.T[::-1][: len(kept)]

    return moments.once(("factor", unbiased), make)


def above_noise(sizes: NDArray[np.floating[Any]], most: int) -> F64:
    """The eigenvalues that are more than rounding, of those given in falling order; at least one, and none below 0.

    Roots make noise large: 1e-17 in each of hundreds of directions would add up to 1e-6.
    """
    noise = len(sizes) * _EPS * sizes[0]
    kept = min(most, int((sizes > noise).sum()))
    return np.maximum(sizes[: max(kept, 1)], 0.0)


def extrapolated(distance: Distance, one: Moments, other: Moments) -> float:
    """The distance extended to samples without end along its tangent in 1/size, where the bias is nearly linear.

    The second point of the line is the average over leaving out each of a few buckets from both samples: at that size
    the bias is a little larger. Farther points would lie on a curve, and single ones would be noise.
    """
    buckets = min(BUCKETS, len(one), len(other))
    if buckets < FEWEST_TO_EXTRAPOLATE:
        return np.nan
    pairs = list(zip(one.without_buckets(buckets), other.without_buckets(buckets), strict=True))
    value = distance(one, other)
    smaller = float(np.mean([distance(a, b) for a, b in pairs]))
    growth = float(np.mean([(len(one) / len(a) + len(other) / len(b)) / 2 for a, b in pairs]))
    return value - (smaller - value) / (growth - 1)
