"""Compatibility of a pair with distribution fitting: Theorem 3 of Li et al. (2020)."""

from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.pairs import Pair

# Larger deviations from g' = w0 f + b0 than this share of the range of g' are not rounding.
_EXACT = 1e-8


@dataclass(frozen=True)
class Fit:
    """The best fit of g' = w0 f + b0 on (0, 1), and its largest deviation as a share of the range of g'.

    If the fit is exact, the real distribution is Pareto-optimal whatever it is, and alpha U + (1 - alpha) V measures a
    divergence.
    """

    w0: float
    b0: float
    deviation: float

    @property
    def is_exact(self) -> bool:
        """Whether the pair is compatible with distribution fitting."""
        return self.deviation <= _EXACT and self.w0 <= 0

    @property
    def alpha(self) -> float:
        """The weight of quality in the divergence."""
        return self.w0 / (self.w0 - 1)


def fit_slope(pair: Pair) -> Fit:
    """Fit g' = w0 f + b0 by least squares, up to the limit of g."""
    limit = pair.diversity.limit
    grid = np.concatenate((np.geomspace(1e-6, 0.1, 400) * limit, np.linspace(0.1, 1 - 1e-6, 400) * limit))
    f, slope = pair.quality.f(grid), pair.diversity.slope(grid)
    # Centred and scaled, so that a nearly constant f does not cost digits.
    spread = float(np.ptp(f)) or 1.0
    rows = np.stack(((f - f.mean()) / spread, np.ones_like(f)), axis=-1)
    (tilt, level), *_ = np.linalg.lstsq(rows, slope, rcond=None)
    deviation = float(np.abs(rows @ np.array([tilt, level]) - slope).max()) / (float(np.ptp(slope)) or 1.0)
    w0 = float(tilt) / spread
    return Fit(w0, float(level) - w0 * float(f.mean()), deviation)


def induced_divergence(pair: Pair, fit: Fit, real: Distribution, shares: F64) -> F64:
    """D(P||Q) = Psi(P) - Psi(Q) with Psi = alpha U + (1 - alpha) V, for each row of shares."""

    def psi(rows: F64) -> F64:
        return fit.alpha * pair.quality.of(rows, real) + (1 - fit.alpha) * pair.diversity.of(rows, real)

    return psi(real.values) - psi(shares)
