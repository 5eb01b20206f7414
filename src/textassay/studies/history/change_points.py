r"""Change points: where a series of estimates with errors is not constant, valid over the whole series at once.

A contrast compares the mean of the last values before a place with the mean of the first values after it,

.. math:: Z = \frac{\bar x_{after} - \bar x_{before}}{\sqrt{1 / W_{before} + 1 / W_{after}}},

where means are weighted by :math:`1 / \sigma^2` and W are sums of these weights. All places are tried, with numbers of
values on either side from a Fibonacci series, so that both a jump at the last run and a small lasting step are found.

If the values of an interval have one expectation, every contrast inside of it is one of noise only. So the largest
contrast of a whole series of noise, from simulation with the same errors, bounds all of them together: the chance that
any contrast is above its quantile although nothing changes there is at most :math:`\alpha`, whatever happens in other
parts of the series. Every significant contrast is then an interval of runs with at least one change in it
(Fryzlewicz's narrowest significance pursuit). With several metrics, :math:`\alpha` is divided by their number, which
holds however the metrics depend on each other.

The runs share their reference. Its noise moves all values together and cancels in a contrast, but is a part of the
errors, so that tests of metrics that compare two samples are cautious.

Piotr Fryzlewicz. Narrowest significance pursuit: inference for multiple change-points in linear models. Journal of the
American Statistical Association, 2023.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.inference.p_values import is_significant

# Simulated series per test that is corrected for: so many reach the corrected quantile.
_BEYOND = 50
# Simulated series at once.
_CHUNK = 1000


@dataclass(frozen=True)
class Step:
    """A change: `at` is the index of the first value after it, `start` and `end` those of an interval that has one.

    `before` and `after` are the means on both sides, `p` is corrected for all places and tests.
    """

    at: int
    start: int
    end: int
    before: float
    after: float
    p: float


@dataclass(frozen=True, eq=False)
class _Contrasts:
    """All contrasts of a series: the index of the first value after, how many values before and after, and values."""

    at: I64
    before: I64
    after: I64
    z: F64


def smallest_p(level: float) -> float:
    """The smallest corrected p-value that so many simulated series can give."""
    return (1 - level) / _BEYOND


def common_errors(errors: F64) -> F64:
    """The errors of the values, each at least as large as the mean error of the series.

    An error is itself an estimate. One that is too small by chance would make a change of its value.
    """
    return np.maximum(errors, math.sqrt(float((errors**2).mean())))


def first_step(values: F64, errors: F64, *, level: float, n_tests: int, rng: np.random.Generator) -> Step | float:
    """The first change, or the smallest corrected p-value if there is none.

    It is the change that the fewest values show: the significant contrast that ends first, and of those with this end
    the clearest one. Its interval is the shortest significant one there.
    """
    found = _contrasts(values[None], errors)
    p = np.minimum(n_tests * _p_values(found.z[0], errors, level=level, n_tests=n_tests, rng=rng), 1.0)
    clear = np.array([is_significant(float(each), level) for each in p])
    if not clear.any():
        return float(p.min())
    ends = found.at + found.after
    first = clear & (ends == ends[clear].min())
    best = np.flatnonzero(first)[np.argmax(np.abs(found.z[0, first]))]
    here = first & (found.at == found.at[best])
    at, before, after = (int(each[best]) for each in (found.at, found.before, found.after))
    return Step(
        at,
        at - int(found.before[here].min()),
        at + after - 1,
        _mean(values, errors, at - before, at),
        _mean(values, errors, at, at + after),
        float(p[best]),
    )


def _p_values(z: F64, errors: F64, *, level: float, n_tests: int, rng: np.random.Generator) -> F64:
    """For each contrast, how often the largest one of a series without a change is as large."""
    count = math.ceil(_BEYOND * n_tests / (1 - level))
    largest = np.concatenate(
        [
            np.abs(_contrasts(rng.standard_normal((min(_CHUNK, count - done), len(errors))) * errors, errors).z).max(
                axis=1
            )
            for done in range(0, count, _CHUNK)
        ]
    )
    above = count - np.searchsorted(np.sort(largest), np.abs(z) * (1 - 1e-9), side="left")
    return np.asarray((above + 1) / (count + 1))


def _contrasts(values: F64, errors: F64) -> _Contrasts:
    """The contrasts of several series, one per row, with the same errors."""
    n = len(errors)
    weights = errors**-2.0
    total = np.concatenate(([0.0], weights.cumsum()))
    sums = np.concatenate((np.zeros((len(values), 1)), (values * weights).cumsum(axis=1)), axis=1)
    parts = []
    for before in _lengths(n - 1):
        for after in _lengths(n - before):
            at = np.arange(before, n - after + 1)
            weight, other = total[at] - total[at - before], total[at + after] - total[at]
            mean, later = (sums[:, at] - sums[:, at - before]) / weight, (sums[:, at + after] - sums[:, at]) / other
            z = (later - mean) / np.sqrt(1 / weight + 1 / other)
            parts.append((at, np.full(len(at), before), np.full(len(at), after), z))
    at, befores, afters, z = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    return _Contrasts(at, befores, afters, z)


def _lengths(most: int) -> Iterator[int]:
    """Numbers of values on one side: 1, 2, 3, 5, 8 and so on.

    >>> list(_lengths(10))
    [1, 2, 3, 5, 8]
    """
    length, following = 1, 2
    while length <= most:
        yield length
        length, following = following, length + following


def _mean(values: F64, errors: F64, start: int, end: int) -> float:
    return float(np.average(values[start:end], weights=errors[start:end] ** -2.0))
