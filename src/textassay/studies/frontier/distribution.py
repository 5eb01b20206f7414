"""A probability distribution by its different probabilities: all outcomes with one probability count together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from textassay.corpus.arrays import F64
from textassay.errors import InputError

# Sums of probabilities that were printed with a few digits are this far from 1.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Distribution:
    """The different probabilities, largest first, and how many outcomes have each.

    By Lemma 1 of Li et al. (2020) a Pareto-optimum gives outcomes of one probability one probability, so that every
    computation needs one number per different probability only. A table of n-grams has a few hundred of them.

    >>> Distribution.of([0.25, 0.5, 0.25])
    Distribution(n=3, different=2)
    """

    values: F64
    counts: F64

    @classmethod
    def of(cls, probabilities: Iterable[float], *, name: str = "distribution") -> Self:
        """Check probabilities and count equal ones; they are divided by their sum, which must be 1 but for rounding."""
        given = _checked(probabilities, name)
        values, counts = np.unique(given / given.sum(), return_counts=True)
        return cls(values[::-1].copy(), counts[::-1].astype(np.float64))

    @classmethod
    def of_counts(cls, counts: Iterable[int]) -> Self:
        """The empirical distribution of these counts."""
        amounts, outcomes = np.unique(np.fromiter(counts, dtype=np.int64), return_counts=True)
        total = float((amounts * outcomes).sum())
        return cls((amounts / total)[::-1].copy(), outcomes[::-1].astype(np.float64))

    def __repr__(self) -> str:
        return f"Distribution(n={self.n:,}, different={len(self.values):,})"

    @property
    def n(self) -> int:
        """The number of outcomes."""
        return int(self.counts.sum())

    @property
    def is_uniform(self) -> bool:
        """Whether all outcomes have one probability."""
        return len(self.values) == 1

    def without_zeros(self) -> Self:
        """The outcomes with a positive probability."""
        kept = self.values > 0
        return type(self)(self.values[kept], self.counts[kept])

    def expanded(self) -> F64:
        """The probability of every outcome, largest first."""
        return np.repeat(self.values, self.counts.astype(np.int64))


def _checked(probabilities: Iterable[float], name: str) -> F64:
    try:
        given = np.asarray(list(probabilities), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: not a list of numbers; wanted probabilities") from None
    if given.ndim != 1 or len(given) < 2:
        raise InputError(f"{name}: numbers of shape {given.shape}; wanted a list of at least two probabilities")
    bad = np.flatnonzero(~(given >= 0) | ~np.isfinite(given))
    if len(bad):
        raise InputError(f"{name}: probability {bad[0] + 1} is {given[bad[0]]:g}; wanted numbers from 0 to 1")
    total = float(given.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InputError(f"{name}: the probabilities sum to {total:.6g}; wanted 1")
    return given
