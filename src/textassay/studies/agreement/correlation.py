"""Correlations of two lists of numbers: Kendall's tau-b with its exact p-value, Spearman and Pearson."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau, norm, rankdata

from textassay.corpus.arrays import F64
from textassay.inference.result import Interval

# Beyond these the exact distribution takes too long, and the normal approximation is good.
_MOST_EXACT, _MOST_STATES = 60, 20_000


def tau_b(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's tau-b: concordant minus discordant pairs, corrected for ties; NaN if all of a side ties or one is NaN.

    >>> round(tau_b([1, 2, 3, 4], [1, 3, 2, 4]), 4), tau_b([1, 2, float("nan")], [1, 2, 3])
    (0.6667, nan)
    """
    if np.isnan([*x, *y]).any():
        return math.nan
    pairs = len(x) * (len(x) - 1) / 2
    untied = (pairs - _tied_pairs(x)) * (pairs - _tied_pairs(y))
    return _score(x, y) / math.sqrt(untied) if untied > 0 else math.nan


def _score(x: Sequence[float], y: Sequence[float]) -> int:
    """Concordant minus discordant pairs."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    signs = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second))
    return int(signs.sum()) // 2


def _tied_pairs(values: Sequence[float]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(values).values())


def tau_p_value(x: Sequence[float], y: Sequence[float]) -> tuple[float, str]:
    """The two-sided p-value of tau-b if all orders are equally likely, and its method (`exact` or `normal`).

    The exact distribution counts all orders. Without ties on one side it is a product of q-factorials; with ties on
    both sides, pairs of groups are counted one group after the other.
    """
    observed = abs(_score(x, y))
    first, second = sorted((_group_sizes(x), _group_sizes(y)), key=lambda sizes: math.prod(s + 1 for s in sizes))
    if len(x) > _MOST_EXACT:
        return float(kendalltau(x, y, method="asymptotic").pvalue), "normal"
    if max(first) == 1 or max(second) == 1:
        tied = first if max(second) == 1 else second
        return _share_beyond(_inversion_scores(tied), observed), "exact"
    if math.prod(size + 1 for size in first) > _MOST_STATES:
        return float(kendalltau(x, y, method="asymptotic").pvalue), "normal"
    return _share_beyond(_grouped_scores(first, second), observed), "exact"


def _group_sizes(values: Sequence[float]) -> list[int]:
    """The sizes of groups of equal values, in order."""
    return [count for _, count in sorted(Counter(values).items())]


def _share_beyond(scores: Counter[int], observed: int) -> float:
    total = sum(scores.values())
    return sum(count for score, count in scores.items() if abs(score) >= observed) / total


def _inversion_scores(tied: Sequence[int]) -> Counter[int]:
    """How many orders have each score, if one side has groups of these sizes and the other side has no ties.

    The numbers of inversions have the generating function [n]! / product of [t]!, with q-factorials.
    """
    ways = [1]
    for k in range(2, sum(tied) + 1):
        ways = _times(ways, k)
    for size in tied:
        for k in range(2, size + 1):
            ways = _divided(ways, k)
    pairs = len(ways) - 1
    return Counter({pairs - 2 * inversions: count for inversions, count in enumerate(ways)})


def _times(ways: list[int], k: int) -> list[int]:
    """The polynomial times 1 + q + ... + q^(k - 1)."""
    found, running = [], 0
    for index in range(len(ways) + k - 1):
        running += ways[index] if index < len(ways) else 0
        running -= ways[index - k] if 0 <= index - k < len(ways) else 0
        found.append(running)
    return found


def _divided(ways: list[int], k: int) -> list[int]:
    """The polynomial divided by 1 + q + ... + q^(k - 1), without remainder."""
    found: list[int] = []
    for index in range(len(ways) - k + 1):
        found.append(ways[index] - sum(found[max(index - k + 1, 0) : index]))
    return found


def _grouped_scores(states: Sequence[int], groups: Sequence[int]) -> Counter[int]:
    """How many orders have each score, with ties on both sides.

    The groups of one side are filled one after the other with members of the groups of the other side. A state is the
    number of members used of each.
    """
    reached: dict[tuple[int, ...], Counter[int]] = {(0,) * len(states): Counter({0: 1})}
    for size in groups:
        following: dict[tuple[int, ...], Counter[int]] = {}
        for used, scores in reached.items():
            for chosen, ways in _choices([total - u for total, u in zip(states, used, strict=True)], size):
                gain = sum(_sign(j - i) * used[i] * chosen[j] for i in range(len(used)) for j in range(len(used)))
                after = following.setdefault(tuple(map(sum, zip(used, chosen, strict=True))), Counter())
                for score, count in scores.items():
                    after[score + gain] += count * ways
        reached = following
    return next(iter(reached.values()))


def _choices(left: Sequence[int], size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """The ways to take `size` members from groups with this many left: how many of each, and how many ways."""
    if len(left) == 1:
        if size <= left[0]:
            yield (size,), math.comb(left[0], size)
        return
    for taken in range(min(left[0], size) + 1):
        for rest, ways in _choices(left[1:], size - taken):
            yield (taken, *rest), ways * math.comb(left[0], taken)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation; NaN if one side is constant."""
    first, second = (np.asarray(values, dtype=np.float64) for values in (x, y))
    first, second = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return min(max(float(first @ second) / scale, -1.0), 1.0) if scale > 0 else math.nan


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's correlation: Pearson's of the ranks, with mean ranks for ties."""
    return pearson(rankdata(x).tolist(), rankdata(y).tolist())


# The variance of the z-transform of each coefficient, times (n - its second number), after Fieller et al. (1957).
_VARIANCES = {"kendall": (0.437, 4), "spearman": (1.06, 3), "pearson": (1.0, 3)}


def z_interval(name: str, value: float, n: int, level: float) -> Interval | None:
    """An interval by Fisher's transform; None for a value of 1 or -1, and for too few systems."""
    variance, lost = _VARIANCES[name]
    if n <= lost or not abs(value) < 1:
        return None
    half = float(norm.ppf((1 + level) / 2)) * math.sqrt(variance / (n - lost))
    centre = math.atanh(value)
    return Interval(math.tanh(centre - half), math.tanh(centre + half), level, "fisher-z")


def correlation_matrix(rows: F64) -> F64:
    """Pearson's correlation of every two rows over the columns that both have; NaN with fewer than three."""
    found = np.full((len(rows), len(rows)), np.nan)
    for i, j in [*((k, k) for k in range(len(rows))), *combinations(range(len(rows)), 2)]:
        both = np.isfinite(rows[i]) & np.isfinite(rows[j])
        if both.sum() >= 3:
            found[i, j] = found[j, i] = pearson(rows[i][both].tolist(), rows[j][both].tolist())
    return found
