r"""The asymptotic null distribution of the triangle statistic, from exact moments of the triangle shares.

The covariance of two shares is a sum over pairs of triangles of the probability that a labelling has both, and that
depends only on which texts the two have in common. So the products of indicators are summed by what is shared (an
apex, a text of the base, the apex of one in the base of the other, and what goes together), each sum in the time of
one pass over the triangles, and weighted by :math:`[n]_c [m]_r / [N]_{c+r}` for :math:`c` different candidates and
:math:`r` different references; pairs that would make one text both have none.

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
not 1/3. The statistic is that of Liu and Modarres (2011); the limit is derived here, given the pool.

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

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import perm

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, U8
from textassay.corpus.sample import stream
from textassay.metrics.items.item_pool import ItemPool
from textassay.metrics.items.trm import MOST_TEXTS, UNITS, Direction, Variant, base_pairs, ranks, trm

# Candidates and references in two triangles that share what the name states, both with a candidate as apex.
_ALIKE = {"nothing": (2, 4), "apex": (1, 4), "one": (2, 3), "apex one": (1, 3), "two": (2, 2), "all": (1, 2)}
# The same where the first has a candidate as apex and the second a reference.
_CROSS = {"nothing": (3, 3), "apex in base": (2, 3), "base has apex": (3, 2), "crossed": (2, 2)}


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the six shares, first those with two references: mean, covariance, and the part of it that is of first order.

    The first-order part is the covariance of the best approximation by a sum over candidates.
    """

    mean: F64
    covariance: F64
    projected: F64

    @property
    def linear_share(self) -> float:
        """How much of the variance is of first order, from 0 to 1."""
        return float(np.trace(self.projected) / np.trace(self.covariance))


def moments(pool: ItemPool, *, distance: str, variant: Variant) -> Moments:
    """The moments of the shares of a pool with at least six texts and two on each side."""
    n, m = pool.sizes
    sums = _Sums.of(ranks(pool, distance=distance, variant=variant))
    # Every base counts for both directions.
    unit = 2 * UNITS[variant]
    mean = np.tile(sums.total / (unit * _triangles(n + m)), 2)
    pairs = sums.pairs()
    candidates, references = _second(pairs, _ALIKE, n, m), _second(pairs, _ALIKE, m, n)
    across = _second(pairs, _CROSS, n, m)
    sizes = unit * np.repeat([n * m * (m - 1) / 2, m * n * (n - 1) / 2], 3)
    second = np.block([[candidates, across], [across.T, references]]) / np.outer(sizes, sizes)
    return Moments(mean, second - np.outer(mean, mean), sums.projected(n, m) / unit**2)


def _triangles(n_texts: int) -> float:
    return n_texts * (n_texts - 1) * (n_texts - 2) / 2


def _second(pairs: Mapping[str, F64], counts: Mapping[str, tuple[int, int]], n: int, m: int) -> F64:
    """The expected product of counts: sums over pairs of triangles times the probability to have both."""
    weight = {name: perm(n, c) * perm(m, r) / perm(n + m, c + r) for name, (c, r) in counts.items()}
    return np.sum([weight[name] * pairs[name] for name in counts], axis=0)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the triangles of a pool, in units; the first axis is of ranks, `same` and `turned` have two such.

    `apex_base[:, k, i]` sums over triangles with apex k and i in the base, `base[:, i, j]` over those with this base,
    `same` products of a triangle with itself, `turned` those of a triangle with the two others on the same texts.
    """

    apex_base: F64
    base: F64
    same: F64
    turned: F64

    @classmethod
    def of(cls, found: U8) -> "_Sums":
        n_texts = found.shape[1]
        first, second = base_pairs(n_texts)
        cube = np.zeros((3, n_texts, n_texts, n_texts), dtype=np.uint8)
        cube[:, :, first, second] = found
        cube[:, :, second, first] = found
        same, turned = np.zeros((3, 3)), np.zeros((3, 3))
        for k in range(n_texts):
            # Single precision holds these sums exactly: 144 * 300 * 300 is below 2 ** 24.
            one, other = (part.astype(np.float32) for part in (cube[:, k], cube[:, :, k]))
            same += _product(one, one) / 2
            turned += _product(one, other)
        return cls(cube.sum(axis=3, dtype=np.float64), cube.sum(axis=1, dtype=np.float64), same, turned)

    @property
    def by_apex(self) -> F64:
        sums: F64 = self.apex_base.sum(axis=2) / 2
        return sums

    @property
    def by_base_text(self) -> F64:
        sums: F64 = self.apex_base.sum(axis=1)
        return sums

    @property
    def total(self) -> F64:
        sums: F64 = self.by_apex.sum(axis=1)
        return sums

    def pairs(self) -> dict[str, F64]:
        """Products of two triangles' ranks summed over all pairs that share just this; every pair is in one of them.

        Each sum over pairs that share at least something is taken first, and what shares more is taken off.
        """
        apex_base, base, same, turned = self.apex_base, self.base, self.same, self.turned
        # The texts of one base are the apex and a base text of the other triangle: no labelling has both.
        first_in, second_in = _product(apex_base, base) - turned, _product(base, apex_base) - turned
        found = {
            "all": same,
            "turned": turned,
            "apex one": _product(apex_base, apex_base) - 2 * same,
            "two": _product(base, base) / 2 - same,
            "first in": first_in,
            "second in": second_in,
            "crossed": _product(apex_base, apex_base.transpose(0, 2, 1)) - turned,
        }
        single = found["crossed"] + turned
        by_apex, by_text = self.by_apex, self.by_base_text
        found["apex"] = _product(by_apex, by_apex) - found["apex one"] - same
        twice = 2 * (found["two"] + same)
        found["one"] = _product(by_text, by_text) - twice - found["apex one"] - first_in - second_in - turned
        found["apex in base"] = _product(by_apex, by_text) - first_in - single
        found["base has apex"] = _product(by_text, by_apex) - second_in - single
        found["nothing"] = np.outer(self.total, self.total) - np.sum(list(found.values()), axis=0)
        return found

    def projected(self, n: int, m: int) -> F64:
        """The covariance of the projections on sums over candidates."""
        n_texts = n + m
        mean = self.total[:, None] / _triangles(n_texts)
        apex = self.by_apex / ((n_texts - 1) * (n_texts - 2) / 2) - mean
        base = self.by_base_text / ((n_texts - 1) * (n_texts - 2)) - mean
        # What the triangles without a text lack when those with it have more.
        rest = (apex + 2 * base) / (n_texts - 3)
        effects = np.concatenate((apex / n - (1 - 1 / n) * rest, 2 * base / n - (1 - 2 / n) * rest))
        return n * (n_texts - 1) / (m * n_texts) * effects @ effects.T


def _product(one: NDArray[np.floating], other: NDArray[np.floating]) -> F64:
    """The products of every two ranks, summed over everything else."""
    summed: F64 = (one.reshape(3, -1) @ other.reshape(3, -1).T).astype(np.float64)
    return summed


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
