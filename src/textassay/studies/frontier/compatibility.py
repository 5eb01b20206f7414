"""Compatibility of a pair with distribution fitting: Theorems 1 and 3 of Li et al. (2020)."""

from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64, Bool
from textassay.studies.frontier.distribution import Distribution
from textassay.studies.frontier.pairs import Pair

# Close to 0, where small probabilities are, and evenly up to 1.
GRID = np.unique(np.concatenate((np.geomspace(1e-9, 0.5, 1200), np.linspace(0.5, 1 - 1e-9, 800))))
GRID.flags.writeable = False  # all pairs of a process share it
# Differences below this share of the values are rounding errors of functions with ten exact digits.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Failure:
    """Where a condition fails: between these two probabilities."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"between {self.low:.3g} and {self.high:.3g}"


@dataclass(frozen=True)
class Conditions:
    """Where f does not increase and where g is not strictly concave; None if the condition holds on (0, 1).

    `necessary` is whether Theorem 1 itself holds: f(x) > f(y) and g'(x) < g'(y) for all x > y > 0 with x + y <= 1. It
    may hold although the sufficient condition, that both hold on the whole interval, does not.
    """

    quality: Failure | None
    diversity: Failure | None
    necessary: bool


def check_conditions(pair: Pair, *, largest: float = 1.0) -> Conditions:
    """Check f and the slope of g on a fine grid; a function that is flat to rounding fails.

    f is checked up to the `largest` probability of the real distribution: it is not used beyond.
    """
    used = largest >= GRID
    with np.errstate(all="ignore"):
        rising, falling = pair.quality.f(GRID), -pair.diversity.slope(GRID)
    necessary = _is_necessary(rising, used) and _is_necessary(falling, np.ones_like(used))
    return Conditions(_failure(rising[used]), _failure(falling), necessary)


def _rises(values: F64) -> Bool:
    """Whether each value is above the previous one by more than rounding."""
    scale = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    return np.asarray(values[1:] - values[:-1] > -_ROUNDING * scale) & (values[1:] != values[:-1])


def _failure(values: F64) -> Failure | None:
    """The first stretch of the grid where values do not rise."""
    bad = np.flatnonzero(~_rises(values))
    if not len(bad):
        return None
    gaps = np.flatnonzero(np.diff(bad) > 1)
    end = bad[gaps[0]] if len(gaps) else bad[-1]
    return Failure(float(GRID[bad[0]]), float(GRID[end + 1]))


def _is_necessary(values: F64, used: Bool) -> bool:
    """Whether values rise up to 1/2 and every later one is above the value at 1 minus its place."""
    half = GRID <= 0.5
    later = ~half & used
    mirrored = np.interp(1 - GRID[later], GRID, values)
    return bool(_rises(values[half & used]).all() and (values[later] > mirrored).all())


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
