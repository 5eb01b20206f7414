"""Means over items: bootstrap intervals, and differences of paired values.

Items are what is drawn at random; the texts of an item stay together. Items without a value (NaN) are left out.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.inference.items.shared_texts import Clusters
from textassay.inference.measure import Difference
from textassay.inference.p_values import known_values, p_value

Values = Sequence[float] | F64
# With fewer items no interval is given: at 10 skewed ones it covers about 91 to 95 % (of 95), below that less.
FEWEST_ITEMS = 10
# Up to this many items that differ, every way to flip their signs is looked at.
MOST_FLIPPED = 14
# Of more items this many random signs are drawn: comparisons come by the dozen, and each is corrected for all.
FLIPS = 9_999
# Values that differ by less than this share of themselves differ by rounding only.
_ROUNDING = 1e-12
# No resample is held to vary less than this share of what the items do: one that hit the same value all the time would
# make the interval endless.
_LEAST_SPREAD = 0.25
_NUMBERS_AT_ONCE = 2**20


def bootstrap_interval(
    values: Values, *, level: float, n_resamples: int, seed: int, clusters: Clusters | None = None
) -> tuple[float, float] | None:
    r"""An interval for the mean over items, by the bootstrap of Student's t over items.

    With mean m and standard error s, resamples (items drawn with replacement) have t = (m* - m) / s*, and the interval
    runs from m less the upper quantile of t times s to m less the lower one. It follows skewed values, which scores of
    items are: with 20 of them it covers (at 95 %) 94 % for exponential and 91 % for lognormal values, where percentiles
    of m* cover 90 and 84 %, and BCa intervals 90 and 86 %. What the items do not show it cannot know: where a rare
    value decides the mean and was not drawn, it covers too little, as any method does.

    Of items in `clusters`, clusters are drawn, each with the sum of its items' deviations from the mean.

    None with fewer than `FEWEST_ITEMS` items or clusters, where they are all the same, and without resamples.

    Bradley Efron, Robert J. Tibshirani. An introduction to the bootstrap, section 12.5. Chapman and Hall, 1993.

    >>> low, high = bootstrap_interval([1, 2, 2, 3, 3, 3, 4, 4, 5, 13], level=0.95, n_resamples=999, seed=0)
    >>> low < 4 < high, high - 4 > 4 - low
    (True, True)
    """
    known = _of_clusters(np.asarray(values, dtype=np.float64), clusters)
    if len(known) < FEWEST_ITEMS or n_resamples < 1 or not np.isfinite(known).all() or _are_same(known):
        return None
    # In units of the largest value, so that squares of very small ones do not vanish.
    unit = float(np.abs(known).max())
    scaled = known / unit
    mean, spread = float(scaled.mean()), float(scaled.std(ddof=1))
    students = _students((scaled - mean) / spread, n_resamples, seed)
    tail = (1 - level) / 2
    lower, upper = np.quantile(students, (tail, 1 - tail), method="weibull")
    error = spread / math.sqrt(len(known))
    low, high = mean - max(float(upper), 0.0) * error, mean - min(float(lower), 0.0) * error
    # The mean in its own units must lie within, whatever the change of units rounded.
    return min(low * unit, float(known.mean())), max(high * unit, float(known.mean()))


def _of_clusters(values: F64, clusters: Clusters | None) -> F64:
    """One value per cluster, with the mean over items and the variance that this mean has."""
    known = known_values(values)
    if clusters is None or not len(known) or not np.isfinite(known).all():
        return known
    mean = float(known.mean())
    sums = clusters.sums(values - mean, ~np.isnan(values))
    return known if len(sums) == len(known) else mean + sums * len(sums) / len(known)


def paired(
    first: Values,
    second: Values,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    n_flips: int = FLIPS,
    clusters: Clusters | None = None,
) -> Difference:
    """How much higher the first system's mean is over the items that both have, its interval and p-value.

    The p-value asks how often the mean difference would be as large either way if each item's difference had its sign
    by chance: exactly for up to `MOST_FLIPPED` items that differ, else by random signs. The interval is that of
    `bootstrap_interval`. They are different methods (the p-value takes differences to be symmetric when there is none
    on average), so near the level one may call significant what the other does not.

    Items in `clusters` have their signs flipped together.

    Systems that are the same everywhere have an interval from 0 to 0 and a p-value of 1. With fewer than
    `FEWEST_ITEMS` items there is no interval, with fewer than two no p-value.

    >>> paired([0.5, 0.25, 1.0], [0.25, 0.0, 0.5], level=0.95, n_resamples=999, seed=0).p_value
    0.25
    """
    every = _differences(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
    differences = known_values(every)
    if not len(differences) or not np.isfinite(differences).all():
        return Difference(math.nan, math.nan, math.nan, math.nan)
    estimate = float(differences.mean())
    found = bootstrap_interval(every, level=level, n_resamples=n_resamples, seed=seed, clusters=clusters)
    low, high = found or (math.nan, math.nan)
    if len(differences) >= FEWEST_ITEMS and _are_same(differences):
        low = high = estimate
    sums = differences if clusters is None else clusters.sums(every, ~np.isnan(every))
    return Difference(estimate, low, high, _flip_signs(sums, n_flips, seed))


def _differences(first: F64, second: F64) -> F64:
    """Item by item, NaN where one has no value; what is only rounding is no difference."""
    assert first.shape == second.shape, "not the same items"
    with np.errstate(invalid="ignore"):
        return np.where(np.isclose(first, second, rtol=_ROUNDING, atol=0), 0.0, first - second)


def _are_same(values: F64) -> bool:
    return bool(np.ptp(values) <= _ROUNDING * np.abs(values).max())


def _students(scores: F64, n_resamples: int, seed: int) -> F64:
    """Student's t of resamples of standardised values."""
    n, rng = len(scores), stream(seed, "items", "bootstrap")
    students = []
    for rows in _blocks(n_resamples, n):
        drawn = scores[rng.integers(n, size=(rows, n), dtype=np.int32)]
        means = drawn.mean(axis=1)
        variances = (np.einsum("ij,ij->i", drawn, drawn) - n * means**2) / (n - 1)
        students.append(means * math.sqrt(n) / np.sqrt(np.maximum(variances, _LEAST_SPREAD**2)))
    return np.concatenate(students)


def _flip_signs(differences: F64, n_flips: int, seed: int) -> float:
    """The two-sided p-value; items without a difference have no sign to flip."""
    if len(differences) < 2:
        return math.nan
    sizes = np.abs(differences[differences != 0])
    if not len(sizes):
        return 1.0
    exact = len(sizes) <= MOST_FLIPPED
    if not exact and n_flips < 1:
        return math.nan
    chosen = _every_choice(len(sizes)) if exact else _random_choices(len(sizes), n_flips, seed)
    # The sum of signed values is twice that of the positive ones less that of all.
    null = np.abs(2 * np.concatenate([rows @ sizes for rows in chosen]) - sizes.sum())
    return p_value(abs(float(differences.sum())), null, exact=exact)


def _every_choice(n: int) -> Iterator[F64]:
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _random_choices(n: int, n_flips: int, seed: int) -> Iterator[F64]:
    rng = stream(seed, "items", "signs")
    for rows in _blocks(n_flips, n):
        yield rng.integers(2, size=(rows, n), dtype=np.int8).astype(np.float64)


def _blocks(n_resamples: int, width: int) -> Iterator[int]:
    """How many resamples of this width to hold at once."""
    at_once = max(1, _NUMBERS_AT_ONCE // width)
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


METHOD = "bootstrap:items"
