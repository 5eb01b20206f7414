"""Kendall's tau of metrics with the order of generators, and values over seeds, as claims need them."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.discrepancy.generators import KINDS, METRICS, SHARES, Experiment, Found, Unit
from textassay.studies.agreement.correlation import tau_b

GROUPS = (*KINDS, "all 10")
_DRAWS = 500
LEVEL = 0.95
# A tau of five generators is 0.8 if one pair of ten is in the wrong order.
ONE_PAIR = 0.2
BY_ERRORS = "intervals from standard errors of the values"
BY_DRAWS = f"intervals from {_DRAWS} draws of the values within their standard errors, of generators and of seeds"


def _values(found: Found, metric: str, group: str, seed: int) -> tuple[F64, F64]:
    """Values and standard errors of a metric for the generators of a group, lower values for better generators."""
    units = _units(group, seed)
    if metric == "dd":
        pairs = [found[unit].dd or (math.nan, math.nan) for unit in units]
    else:
        sign = -1 if METRICS[metric][1] else 1
        pairs = [(sign * found[unit].values[metric][0], found[unit].values[metric][1]) for unit in units]
    return np.array([value for value, _ in pairs]), np.array([error for _, error in pairs])


def _units(group: str, seed: int) -> list[Unit]:
    return [Unit(kind, share, seed) for kind in KINDS if group in (kind, GROUPS[-1]) for share in SHARES]


def _gold(found: Found, experiment: Experiment, group: str, seed: int) -> tuple[F64, F64]:
    """The gold order and its errors: the oracle dd, or where it is not known the share of training texts."""
    if experiment.world == "synthetic":
        return _values(found, "dd", group, seed)
    shares = -np.array([float(unit.share) for unit in _units(group, seed)])
    return shares, np.zeros(len(shares))


class Taus:
    """Kendall's tau-b of metrics with the gold order, and draws of it.

    A draw has each value within its standard error, and generators and seeds with replacement, the same ones for all
    metrics: a few generators in order show little about other generators.
    """

    def __init__(self, found: Found, experiment: Experiment, seed: int) -> None:
        self._found, self._experiment, self._seed = found, experiment, seed
        rng = stream(seed, "draws of seeds")
        self._seeds = rng.integers(0, experiment.seeds, (_DRAWS, experiment.seeds))

    @cache  # noqa: B019
    def estimate(self, metric: str, group: str) -> float:
        """The mean over seeds; a metric with one value for all generators has tau 0."""
        found = [
            tau_b(
                list(_values(self._found, metric, group, seed)[0]),
                list(_gold(self._found, self._experiment, group, seed)[0]),
            )
            for seed in range(self._experiment.seeds)
        ]
        return float(np.mean(np.nan_to_num(found)))

    @cache  # noqa: B019
    def draws(self, metric: str, group: str) -> F64:
        """Means over drawn seeds of taus of drawn generators with drawn values."""
        taus = np.empty((self._experiment.seeds, _DRAWS))
        for seed in range(self._experiment.seeds):
            x, y = (
                value + error * stream(self._seed, "draws", name, group, seed).standard_normal((_DRAWS, len(value)))
                for name, (value, error) in (
                    (metric, _values(self._found, metric, group, seed)),
                    ("gold", _gold(self._found, self._experiment, group, seed)),
                )
            )
            chosen = stream(self._seed, "draws of generators", group, seed).integers(0, x.shape[1], x.shape)
            taus[seed] = _taus_of_rows(*(np.take_along_axis(side, chosen, axis=1) for side in (x, y)))
        return np.asarray(taus[self._seeds, np.arange(_DRAWS)[:, None]].mean(axis=1))

    def measured(self, metric: str, group: str) -> Measured:
        """Tau of a metric."""
        return _around(self.estimate(metric, group), self.draws(metric, group))

    def lead(self, first: str, second: str, group: str) -> Measured:
        """How much larger tau of the first metric is."""
        apart = self.draws(first, group) - self.draws(second, group)
        return _around(self.estimate(first, group) - self.estimate(second, group), apart)


def _around(estimate: float, draws: F64) -> Measured:
    """An estimate and the quantiles of draws around it; draws have errors twice and may all be on one side of it."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Measured.between(estimate, min(float(low), estimate), max(float(high), estimate))


def _taus_of_rows(x: F64, y: F64) -> F64:
    """Tau-b of each row of x with that row of y; 0 where one has ties only."""
    first, second = np.triu_indices(x.shape[1], 1)
    mine, theirs = np.sign(x[:, first] - x[:, second]), np.sign(y[:, first] - y[:, second])
    untied = np.sqrt((mine**2).sum(axis=1) * (theirs**2).sum(axis=1))
    return np.asarray((mine * theirs).sum(axis=1) / np.maximum(untied, 1.0))


def _mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of values over seeds and its standard error."""
    values, errors = np.array(pairs).T
    return float(values.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def over_seeds(found: Found, experiment: Experiment, metric: str, kind: str, share: str) -> tuple[float, float]:
    units = [Unit(kind, share, seed) for seed in range(experiment.seeds)]
    if metric == "dd":
        return _mean([found[unit].dd or (math.nan, math.nan) for unit in units])
    return _mean([found[unit].values[metric] for unit in units])


def difference(first: tuple[float, float], second: tuple[float, float]) -> Measured:
    return Measured.give_or_take(first[0] - second[0], math.hypot(first[1], second[1]))


def check_falls(found: Found, experiment: Experiment, metric: str, kind: str) -> tuple[Check, ...]:
    """The change of a metric from each share of the training texts to the next."""
    means = {share: over_seeds(found, experiment, metric, kind, share) for share in SHARES}
    return tuple(
        Check(f"{kind}, {before} to {after}", difference(means[after], means[before]))
        for before, after in pairwise(SHARES)
    )


def perfect_order(statement: str, taus: Taus, groups: Sequence[str], margin: float) -> Claim:
    basis = f"margin: {'one pair of ten' if margin == ONE_PAIR else 'two pairs of 45'} in another order; {BY_DRAWS}"
    checks = tuple(Check(f"tau of DD, {group}", taus.measured("DD", group), 1.0) for group in groups)
    return Claim(statement, checks, "within", margin, basis)
