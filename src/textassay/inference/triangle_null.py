r"""The asymptotic null of the triangle statistic: its p-value from the normal limit of the triangle shares.

Given the pooled texts, let labels fall at random: :math:`n` candidates and :math:`m` references among :math:`N` texts.
Let :math:`A_i` be the mean of an indicator over the triangles with apex :math:`i`, :math:`B_i` over those with
:math:`i` in the base, and :math:`\mu` over all triangles. A share is a two-sample U-statistic of degrees one and two,
and to first order (its Hajek projection)

.. math:: U(C, R) - \mu \approx \frac1n \sum_{i \in C} (A_i - \mu) + \frac2m \sum_{i \in R} (B_i - \mu)
    = \sum_{i \in C} u_i, \qquad u_i = \frac{A_i - \mu}{n} - \frac{2 (B_i - \mu)}{m},

because both deviations sum to zero over the pool; :math:`U(R, C)` has :math:`v_i = 2 (B_i - \mu) / n - (A_i - \mu) / m`
instead. A sum over a random choice of texts is normal in the limit (Hajek 1960), so the six shares are jointly normal
with mean :math:`\mu`, and to first order with covariance :math:`\frac{nm}{N (N - 1)} \sum_i (u_i, v_i) (u_i, v_i)^T`.

Under a symmetric distance without ties each three texts give each rank to exactly one of their edges, so
:math:`\mu = 1/3` and :math:`A_i + 2 B_i = 1`: the two directions are mirror images, the covariance of each is
:math:`(1/n + 1/m) \operatorname{Cov}(A)` of rank two, and TRM tends to :math:`2 \sum_k |Z_k|`. In general the mean is
not 1/3. The statistic is that of Liu and Modarres (2011); the limit is derived anew here, given the pool.

What is computed differs in one point from that limit: the covariance is the exact one over all labellings
(`triangle_moments`), which tends to the above and includes what the first order leaves out. At 5 candidates and 10
references the first order has only 0.7 of the variance, and its tests at 5 % would reject in 7 to 8 % of cases.

Where it holds, by comparison with the permutation test: at nominal 5 % and 1 %, the share of labellings that it
rejects, for normal points in 2 and 10 dimensions, was 3.9 to 6.4 % and 0.4 to 2.0 % with 5 and 10 texts, 3.7 to 6.8 %
and 0.5 to 1.7 % with 10 and 10, 4.4 to 5.6 % and 0.8 to 1.4 % with 40 and 40, 4.5 to 5.4 % and 0.9 to 1.5 % with 100
and 100. Pooled captions of several images under METEOR and CIDEr-D gave 4.3 to 5.0 % and 0.6 to 1.3 % with 40 and 40.

Two cases are known where it does not. Many ties, or a lopsided distance, move the mean away from 1/3; then the first
orders of both directions partly cancel, what remains is not normal, and the test rejects too rarely (in 1.4 % at
nominal 5 % for points on a coarse grid of distances; `variant="split"` is free of this). And where no text is more
central than another, as with points spread evenly over a circle or a sphere, the first order vanishes (0.2 to 0.4 of
the variance), the limit is not normal, and tests at 1 % reject in 1.3 to 3 %. So there is no p-value for fewer than
`MINIMUM` texts on a side, nor where the first order has less than `LINEAR` of the variance. The permutation test has
none of these weaknesses and is the one to use wherever it can be afforded.
"""

from functools import lru_cache
from itertools import product

import numpy as np

from textassay.inference.streams import stream
from textassay.inference.triangle_moments import moments
from textassay.metrics.trm import Direction, trm
from textassay.views.item_pool import F64, ItemPool
from textassay.views.triangle_ranks import Variant
from textassay.views.triangles import MOST_TEXTS

# Fewest texts on a side, and the least part of the variance that must be of first order.
MINIMUM = 10
LINEAR = 0.5
_DIRECTIONS = 1 << 14
_SIDES: dict[Direction, slice] = {"both": slice(0, 6), "references": slice(0, 3), "candidates": slice(3, 6)}
# Statistics that differ only by rounding are ties; variances that are only rounding are none.
_RELATIVE_TIE = 1e-9
_ROUNDING = 1e-12


def asymptotic_p(
    pool: ItemPool, *, distance: str = "meteor", variant: Variant = "paper", direction: Direction = "both"
) -> float:
    """The p-value of the observed triangle statistic under its normal limit; NaN where the limit is not to be trusted.

    Whether it is depends on the pooled texts and the sizes only, never on which texts are the candidates, so leaving
    those items out does not favour either side.
    """
    if min(pool.sizes) < MINIMUM or len(pool) > MOST_TEXTS:
        return float("nan")
    known = moments(pool, distance=distance, variant=variant)
    if np.trace(known.covariance) < _ROUNDING:
        return 1.0
    if known.linear_share < LINEAR:
        return float("nan")
    side = _SIDES[direction]
    observed = trm(pool, distance=distance, variant=variant, direction=direction) * (1 - _RELATIVE_TIE)
    offset, covariance = known.mean[side] - 1 / 3, known.covariance[side, side]
    return tail(offset, covariance, observed, squared=variant == "squared")


def tail(offset: F64, covariance: F64, level: float, *, squared: bool) -> float:
    r"""The probability that the sum of sizes (or squares) of normal variables reaches a level.

    In polar coordinates: along a line through the mean the sum is convex, so it is below the level on one interval, and
    the distance from the mean along it follows the chi distribution. The mean over lines is over evenly spaced ones
    in two dimensions, else over a fixed random choice. With mean zero and rank two this is
    :math:`\frac{1}{2\pi} \int e^{-t^2 / 2 f(\theta)^2} d\theta`.

    >>> round(tail(np.zeros(1), np.eye(1), 1.959964, squared=False), 6)
    0.05
    """
    from scipy.special import gammaincc

    values, vectors = np.linalg.eigh(covariance)
    kept = values > _ROUNDING * values.max()
    lines = _lines(int(kept.sum())) @ (vectors[:, kept] * np.sqrt(values[kept])).T
    low, high = (_below_squares if squared else _below_sizes)(offset, lines, level)
    beyond = {name: gammaincc(kept.sum() / 2, end**2 / 2) for name, end in (("low", low), ("high", high))}
    # The chance to be past the upper end, and before the lower one, of the half of the line that points there.
    past = np.where(high >= 0, beyond["high"], 2 - beyond["high"])
    before = np.where(low <= 0, beyond["low"], 2 - beyond["low"])
    return float(np.where(low < high, (past + before) / 2, 1.0).mean())


@lru_cache(maxsize=8)
def _lines(dimension: int) -> F64:
    """Directions of lines through the origin, spread evenly over the sphere."""
    if dimension == 1:
        return np.ones((1, 1))
    if dimension == 2:
        angles = (np.arange(_DIRECTIONS) + 0.5) * np.pi / _DIRECTIONS
        return np.stack((np.cos(angles), np.sin(angles)), axis=1)
    drawn = stream(0, "directions", dimension).standard_normal((_DIRECTIONS, dimension))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def _below_sizes(offset: F64, lines: F64, level: float) -> tuple[F64, F64]:
    """The ends of the interval of each line where the sizes sum to less than the level.

    The sum of sizes is the largest of the sums with all choices of signs, each of which is linear along a line.
    """
    signs = np.array(list(product((-1.0, 1.0), repeat=len(offset))))
    slopes = lines @ signs.T
    flat = np.abs(slopes) <= _ROUNDING * np.abs(lines).max()
    reach = (level - signs @ offset) / np.where(flat, 1.0, slopes)
    high = np.where(~flat & (slopes > 0), reach, np.inf).min(axis=1)
    low = np.where(~flat & (slopes < 0), reach, -np.inf).max(axis=1)
    return low, high


def _below_squares(offset: F64, lines: F64, level: float) -> tuple[F64, F64]:
    """The same for squares: the roots of a quadratic, or an empty interval."""
    square, mixed = (lines * lines).sum(axis=1), lines @ offset
    inside = mixed**2 - square * (offset @ offset - level)
    root = np.sqrt(np.maximum(inside, 0.0))
    return (-mixed - root) / square, np.where(inside > 0, (-mixed + root) / square, -np.inf)
