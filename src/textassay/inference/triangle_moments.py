r"""Triangle moments: mean and covariance of the triangle shares of one pool over all ways to label its texts, exactly.

The covariance of two shares is a sum over pairs of triangles of the probability that a labelling has both, and that
depends only on which texts the two have in common. So the products of indicators are summed by what is shared (an
apex, a text of the base, the apex of one in the base of the other, and what goes together), each sum in the time of
one pass over the triangles, and weighted by :math:`[n]_c [m]_r / [N]_{c+r}` for :math:`c` different candidates and
:math:`r` different references; pairs that would make one text both have none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import perm

import numpy as np
from numpy.typing import NDArray

from textassay.views.item_pool import F64, ItemPool
from textassay.views.triangle_ranks import UNITS, Ranks, Variant, base_pairs, ranks

# Candidates and references in two triangles that share what the name says, both with a candidate as apex.
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
    # Every base stands for both directions.
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
    def of(cls, found: Ranks) -> "_Sums":
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
