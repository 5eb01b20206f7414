"""Krippendorff's alpha: how far raters agree beyond chance, with missing ratings, and its interval over items."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.inference.rng import stream

Metric = Literal["interval", "ordinal", "nominal"]

# With fewer items that two people rated no interval is given.
FEWEST_ITEMS = 10
# No resample is held to vary less than this share of what the items do: one that drew the same item all the time would
# make the interval endless.
_LEAST_SPREAD = 0.25
_NUMBERS_AT_ONCE = 2**19


@dataclass(frozen=True, eq=False)
class _Table:
    """The items with two ratings or more: how often each got each value, how many ratings each, and the values.

    `times` is a sparse matrix, a row an item, with a column for each of the `values`, which are centred and of range 1.
    """

    times: Any
    sizes: F64
    values: F64


def alpha(item_of: I64, ratings: F64, *, metric: Metric = "interval") -> float:
    r"""Krippendorff's alpha of ratings of items: 1 is full agreement, 0 what chance would give.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \quad
        D_o = \frac1n \sum_u \frac{1}{m_u - 1} \sum_{i \ne j \in u} \delta^2(x_i, x_j), \quad
        D_e = \frac{1}{n (n - 1)} \sum_{i \ne j} \delta^2(x_i, x_j)

    over the n ratings of items u that have at least two, m_u each. The difference of two values is their distance
    (`interval`), 1 where they are not the same (`nominal`), or how many ratings lie between them (`ordinal`), which is
    the distance of their mean ranks among all n. No pair is formed: sums of squares and counts of values do.

    `item_of` has the place of each rating's item, from 0; a rating that is not a number is missing. NaN where no item
    has two ratings, and where all ratings are the same: then chance gives no disagreement either.

    It shows little about raters if items hardly differ: chance then explains almost all agreement, however good.

    Klaus Krippendorff. Content analysis: an introduction to its methodology, chapter 11. Sage, 2004.
    Andrew F. Hayes, Klaus Krippendorff. Answering the call for a standard reliability measure for coding data.
    Communication Methods and Measures 1(1), 2007.

    The worked example of the book, four observers and twelve units, of which the last has one rating only:

    >>> units = ["111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"]
    >>> item_of = np.repeat(np.arange(12), [len(unit) for unit in units])
    >>> ratings = np.array([float(value) for unit in units for value in unit])
    >>> [round(alpha(item_of, ratings, metric=metric), 3) for metric in ("nominal", "ordinal", "interval")]
    [0.743, 0.815, 0.849]
    """
    table = _tabulate(item_of, ratings)
    if table is None:
        return math.nan
    shares, _ = _disagreement(table, np.ones((1, len(table.sizes))), metric)
    return 1 - float(shares[0])


def alpha_interval(
    item_of: I64, ratings: F64, *, level: float, n_resamples: int, seed: int, metric: Metric = "interval"
) -> tuple[float, float] | None:
    r"""An interval for alpha by the bootstrap of Student's t over items, each with all its ratings.

    With d = 1 - alpha and e its standard error from the influence of each item, resamples of the items have
    t = (d* - d) / e*, and the interval runs between d less the quantiles of t times e. With noisy ratings of 12 items
    or more it covers (at 95 %) 94 to 97 %, where percentiles of d* cover 86 to 94 %. Where nearly all agree and a few
    items decide, it covers 88 to 92 %, and percentiles 83 to 89 %.

    None with fewer than `FEWEST_ITEMS` items that have two ratings, without resamples, and where alpha is undefined or
    nobody disagrees: resamples of full agreement cannot show how much disagreement there may be.

    Bradley Efron, Robert J. Tibshirani. An introduction to the bootstrap, section 12.5. Chapman and Hall, 1993.

    >>> item_of, quality = np.repeat(np.arange(40), 5), np.repeat(np.arange(40) % 4, 5)
    >>> ratings = quality + np.arange(200) % 3.0
    >>> low, high = alpha_interval(item_of, ratings, level=0.95, n_resamples=999, seed=0)
    >>> low < alpha(item_of, ratings) < high
    True
    """
    table = _tabulate(item_of, ratings)
    if table is None or len(table.sizes) < FEWEST_ITEMS or n_resamples < 1 or _all_agree(table):
        return None
    share, error = (float(whole[0]) for whole in _disagreement(table, np.ones((1, len(table.sizes))), metric))
    students = []
    for weights in _resamples(table, n_resamples, seed):
        shares, errors = _disagreement(table, weights, metric)
        students.append((shares - share) / np.fmax(errors, _LEAST_SPREAD * error))
    # A resample of items that all have the same ratings has no alpha.
    known = np.concatenate(students)
    known = known[np.isfinite(known)]
    if not len(known):
        return None
    tail = (1 - level) / 2
    lower, upper = np.quantile(known, (tail, 1 - tail), method="weibull")
    high = min(1 - share + max(float(upper), 0.0) * error, 1.0)
    return 1 - share + min(float(lower), 0.0) * error, high


def _tabulate(item_of: I64, ratings: F64) -> _Table | None:
    """None where no two ratings can be compared or all are the same."""
    from scipy.sparse import csr_array

    sizes = np.bincount(item_of, weights=~np.isnan(ratings)).astype(np.float64)
    pairable = (sizes[item_of] > 1) & ~np.isnan(ratings)
    values, columns = np.unique(ratings[pairable], return_inverse=True)
    if len(values) < 2:
        return None
    rows = (np.cumsum(sizes > 1) - 1)[item_of[pairable]]
    sizes = sizes[sizes > 1]
    times = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sizes), len(values)))
    times.sum_duplicates()
    # Centred and in units of the range, so that squares neither lose digits nor vanish.
    centre = values.mean()
    return _Table(times, sizes, (values - centre) / (values[-1] - values[0]))


def _all_agree(table: _Table) -> bool:
    return bool(table.times.nnz == len(table.sizes))


def _resamples(table: _Table, n_resamples: int, seed: int) -> Iterator[F64]:
    """How often each item is drawn, one row per resample, some resamples at a time."""
    rng, n = stream(seed, "alpha", "bootstrap"), len(table.sizes)
    at_once = max(1, _NUMBERS_AT_ONCE // max(table.times.shape))
    for start in range(0, n_resamples, at_once):
        rows = min(at_once, n_resamples - start)
        drawn = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _disagreement(table: _Table, weights: F64, metric: Metric) -> tuple[F64, F64]:
    """1 - alpha of each resample and its standard error; `weights` counts each item, one row per resample.

    With O and E the sums over pairs within items and over all pairs, 1 - alpha is d = O (n - 1) / E, and the influence
    of an item is o (n - 1) / E + d (m / n - 2 e / E): its own pairs, its share of the ratings, and its pairs with all.
    """
    totals = weights @ table.sizes
    if metric == "nominal":
        own, with_all = _pairs_of_names(table, weights)
    else:
        scores = table.values[None, :] if metric == "interval" else _middle_ranks(weights @ table.times)
        own, with_all = _pairs_of_scores(table, weights, scores)
    seen, expected = _weighted(weights, own), _weighted(weights, with_all)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = ((totals - 1) / expected)[:, None]
        shares = seen * unit[:, 0]
        influence = unit * own + shares[:, None] * (table.sizes / totals[:, None] - 2 * with_all / expected[:, None])
        if metric == "ordinal":
            influence += unit * _influence_by_ranks(table, weights, scores, shares)
    return shares, np.sqrt(np.einsum("ij,ij,ij->i", weights, influence, influence))


def _weighted(weights: F64, of_items: F64) -> F64:
    """Sums over items, one row per resample; a single row of figures applies to all resamples."""
    return weights @ of_items[0] if len(of_items) == 1 else np.einsum("ij,ij->i", weights, of_items)


def _pairs_of_names(table: _Table, weights: F64) -> tuple[F64, F64]:
    """Pairs that differ, of each item's own ratings and of its ratings with all."""
    own = (table.sizes**2 - (table.times**2).sum(axis=1)) / (table.sizes - 1)
    same = (table.times @ (weights @ table.times).T).T
    return own[None, :], (weights @ table.sizes)[:, None] * table.sizes - same


def _pairs_of_scores(table: _Table, weights: F64, scores: F64) -> tuple[F64, F64]:
    """Half the squared distances of pairs of each item's own ratings, and of its ratings with all."""
    sums, squares = (table.times @ scores.T).T, (table.times @ (scores**2).T).T
    own = (table.sizes * squares - sums**2) / (table.sizes - 1)
    n, all_sums, all_squares = (_weighted(weights, each)[:, None] for each in (table.sizes[None, :], sums, squares))
    return own, (n * squares + table.sizes * all_squares) / 2 - sums * all_sums


def _middle_ranks(by_value: F64) -> F64:
    """The mean rank of each value, as a share of all ratings, around 0."""
    return (np.cumsum(by_value, axis=1) - by_value / 2) / by_value.sum(axis=1, keepdims=True) - 0.5


def _influence_by_ranks(table: _Table, weights: F64, scores: F64, shares: F64) -> F64:
    """What an item does to 1 - alpha by moving the ranks of all, in units of (n - 1) / E.

    Ranks are centred, so that the sum of all is 0 and only their squares are left in the slope of E.
    """
    totals, others = (weights @ table.sizes)[:, None], table.sizes - 1
    sums = (table.times @ scores.T).T
    slope = scores * ((weights * table.sizes / others) @ table.times) - (weights * sums / others) @ table.times
    slope -= shares[:, None] * totals / (totals - 1) * (weights @ table.times) * scores
    # A rating lifts the ranks of all values above its own by 1, and of its own by a half.
    lifted = np.cumsum(slope[:, ::-1], axis=1)[:, ::-1] - slope / 2
    return 2 * (table.times @ lifted.T).T / totals
