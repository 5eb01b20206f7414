"""Raters: Krippendorff's alpha, and how far the raters of a study agree."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import many
from textassay.corpus.sample import stream
from textassay.inference.p_values import p_value

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


@dataclass(frozen=True, eq=False)
class RatingUrn:
    """Each rating as often as it weighs, by item: `start` is where it begins, `first` and `last` bound its item."""

    ratings: I64
    weights: I64
    start: I64
    first: I64
    last: I64

    @classmethod
    def of(cls, first: I64, size: I64, *, weights: I64) -> Self:
        """Of ratings sorted by item: where each one's item begins and how many ratings it has, and whole weights."""
        start = np.concatenate([[0], np.cumsum(weights)])
        ratings = np.repeat(np.arange(len(weights)), weights)
        return cls(ratings, weights, start, start[first], start[first + size])

    def draw(self, own: I64, uniform: F64) -> I64:
        """Someone else's rating of each item that has one of the `own` ratings, one row per row of uniform numbers.

        >>> urn = RatingUrn.of(np.array([0, 0, 0, 3, 3]), np.array([3, 3, 3, 2, 2]), weights=np.array([1, 1, 3, 1, 1]))
        >>> urn.draw(np.array([1, 4]), np.array([[0.2, 0.5], [0.3, 0.5], [0.9, 0.5]])).tolist()
        [[0, 3], [2, 3], [2, 3]]
        """
        drawn = (uniform * (self.last - self.first - self.weights)[own]).astype(np.int64) + self.first[own]
        return self.ratings[drawn + np.where(drawn >= self.start[own], self.weights[own], 0)]


# Raters with fewer ratings are not judged.
FEWEST_RATINGS = 10
# The level at which a typical rater should show agreement, and of "more than four of five answers are the same".
_LEVEL = 0.05
# Whose agreement is this sure is never flagged. Sterner than the level, so that of blind raters 1 % go free, not 5 %.
_SURE = 0.01
# A flag for little agreement needs less than this chance of it in raters who look at this share of the items or more.
_RARE = 0.02
_LOOKED_AT = 0.6
# A rater may give the same answer to this share of the items.
_SAME = 0.8
# Weights of typical raters are whole numbers up to this; nobody has 0, as someone must be drawn even where all others
# are flagged.
_MOST_WEIGHT = 64
# With ratings in units of their range, a smaller product of sums of squares is that of a constant.
_ROUNDING = 1e-18


@dataclass(frozen=True)
class RaterFigures:
    """One rater by place: number and mean of ratings, agreement with the others, and why they look blind, if they do.

    `agreement` and `p_value` are NaN where they do not exist; `reason` is empty for a rater in good order.
    """

    rater: int
    n: int
    mean: float
    agreement: float
    p_value: float
    reason: str


@dataclass(frozen=True, eq=False)
class _Ratings:
    """All ratings in units of their range, sorted by item and rater.

    `centred` are they less their rater's mean, `others` the means of what others gave to the same item; `first` and
    `size` are where the ratings of a rating's item begin and how many there are.
    """

    raters: I64
    given: F64
    centred: F64
    others: F64
    first: I64
    size: I64


@dataclass(frozen=True, eq=False)
class _Rater:
    """A rater's ratings of items that others rated too (indices among all), and how they agree with the others.

    `needed` is the agreement that rules out none at all; NaN, as the others, where nothing can be shuffled.
    """

    own: I64
    agreement: float = math.nan
    p_value: float = math.nan
    needed: float = math.nan


def rater_facts(
    item_of: I64, rater_of: I64, ratings: F64, n_raters: int, *, seed: int, n_resamples: int = 999
) -> list[RaterFigures]:
    """Each rater's agreement with all others, its p-value, and a reason where answers seem to be given blindly.

    Agreement is Pearson's correlation of a rater's ratings with the mean of all others' ratings of the same items.
    Scores are made of mean ratings, so what counts is whether a rater moves them the right way, and how far; a short
    scale has no outliers that ranks would guard against, but many ties. The p-value is that of no agreement: how often
    it would be as high with the rater's own ratings shuffled over the items.

    That no agreement can not be ruled out means nothing where ratings are few or the items hardly differ. So a rater
    with at least `FEWEST_RATINGS` is flagged for little agreement only where all of this holds:

    - agreement is not beyond doubt (p above 0.01);
    - a typical rater of the same items would more likely than not have shown it (p up to 0.05);
    - of raters who look at three of five items or more, as closely as a typical one, and answer the rest blindly, fewer
      than 2 % would agree so little.

    The typical rater is made of the others: for each item the answer of someone else, less that person's mean. So the
    number of ratings, the spread of the items and the noise of the others are those that the rater in question met. A
    person is drawn with the weight 1 - p; who is flagged is not, and then the rest are looked at again. Flags are also
    given for the same answer to nearly all items: significantly more than four of five, and with fewer exceptions than
    half of what others have on these items, unless the exceptions agree with the others (p up to 0.01).

    Simulated with noise as in the summarisation ratings of Hashimoto et al. (2019) (median agreement 0.5, 10 ratings
    per item, one rater in five blind), up to 1 % of honest raters are flagged, and of blind ones 40 % with 25 ratings,
    64 % with 50, 93 % with 100 and 99 % with 200. With 3 ratings per item the means of others are mostly noise: 3 %
    with 25 ratings, 26 % with 100. If honest raters differ from each other half as much again, 2.5 % of them are
    flagged. If nobody agrees, nobody is typical, and hardly anyone is flagged. These are chances for each rater:
    corrected for 100 of them, a test would find fewer than 5 % of the blind ones with 25 ratings.

    >>> quality = np.arange(30) % 6.0
    >>> ratings = np.stack([quality, quality // 2, np.roll(quality, 2), np.full(30, 4.0)])
    >>> item_of, rater_of = np.tile(np.arange(30), 4), np.repeat(np.arange(4), 30)
    >>> [rater.reason for rater in rater_facts(item_of, rater_of, ratings.ravel(), 4, seed=0)]
    ['', '', '', 'the same answer to 30 of 30 items']
    """
    table = _sorted(item_of, rater_of, ratings, n_raters)
    order = np.argsort(table.raters, kind="stable")
    indices = np.split(order, np.searchsorted(table.raters[order], np.arange(1, n_raters)))[:n_raters]
    raters = [_rater(table, own, stream(seed, "rater", rater), n_resamples) for rater, own in enumerate(indices)]
    reasons = _reasons(table, raters, seed, n_resamples)
    sums = np.bincount(rater_of, ratings, minlength=n_raters)
    return [
        RaterFigures(
            rater=index,
            n=len(own),
            mean=float(sums[index] / len(own)) if len(own) else math.nan,
            agreement=rater.agreement,
            p_value=rater.p_value,
            reason=reasons.get(index, ""),
        )
        for index, (own, rater) in enumerate(zip(indices, raters, strict=True))
    ]


def _sorted(item_of: I64, rater_of: I64, ratings: F64, n_raters: int) -> _Ratings:
    order = np.lexsort((rater_of, item_of))
    items, raters = item_of[order], rater_of[order]
    given = ratings[order] / (np.ptp(ratings) or 1.0) if len(ratings) else np.empty(0)
    sizes, counts = np.bincount(items), np.bincount(raters, minlength=n_raters)
    means = np.bincount(raters, given, minlength=n_raters) / np.maximum(counts, 1)
    rest = sizes[items] - 1
    sums = np.bincount(items, given)[items] - given
    others = np.divide(sums, rest, out=np.zeros(len(given)), where=rest > 0)
    first = (np.cumsum(sizes) - sizes)[items]
    return _Ratings(raters, given, given - means[raters], others, first, sizes[items])


def _rater(table: _Ratings, own: I64, rng: np.random.Generator, n_resamples: int) -> _Rater:
    own = own[table.size[own] > 1]
    given, others = table.given[own], table.others[own]
    if len(own) < 2 or not np.ptp(given) or not _correlations(others[None, :], others[None, :]).item():
        return _Rater(own)
    agreement = _correlations(given[None, :], others[None, :]).item()
    if not n_resamples:
        return _Rater(own, agreement)
    # Mean and spread stay as they are when ratings are shuffled.
    standard = (others - others.mean()) / (len(own) * given.std() * others.std())
    null = rng.permuted(np.tile(given, (n_resamples, 1)), axis=1) @ standard
    return _Rater(own, agreement, p_value(agreement, null, exact=False), float(np.quantile(null, 1 - _LEVEL)))


def _correlations(first: F64, second: F64) -> F64:
    """Of each row of the one with the same row of the other, or with its only one; 0 where a row is constant."""
    first = first - first.mean(axis=1, keepdims=True)
    second = second - second.mean(axis=1, keepdims=True)
    both = np.einsum("ij,ij->i", first, np.broadcast_to(second, first.shape))
    squares = np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second)
    return np.divide(both, np.sqrt(squares), out=np.zeros(len(first)), where=squares > _ROUNDING)


def _reasons(table: _Ratings, raters: list[_Rater], seed: int, n_resamples: int) -> Mapping[int, str]:
    """Why raters are flagged; those who are do not count as typical, until no more are found."""
    doubtful = {
        index: rater
        for index, rater in enumerate(raters)
        if len(rater.own) >= FEWEST_RATINGS and not rater.p_value <= _SURE
    }
    reasons = {index: reason for index, rater in doubtful.items() if (reason := _same_answers(table, rater.own))}
    weights = np.array([np.nan_to_num(1 - rater.p_value) for rater in raters])
    found = -1
    while found < len(reasons):
        found = len(reasons)
        weights[list(reasons)] = 0.0
        whole = 1 + np.rint((_MOST_WEIGHT - 1) * weights).astype(np.int64)
        urn = RatingUrn.of(table.first, table.size, weights=whole[table.raters])
        for index in [index for index, rater in doubtful.items() if index not in reasons and rater.needed <= 1]:
            rater, rng = raters[index], stream(seed, "typical rater", index)
            if _agrees_too_little(table, urn, rater, rng, n_resamples):
                seen = f"r = {rater.agreement:.2f} on {many(len(rater.own), 'item')}"
                reasons[index] = f"does not agree with the others ({seen})"
    return reasons


def _agrees_too_little(
    table: _Ratings, urn: RatingUrn, rater: _Rater, rng: np.random.Generator, n_resamples: int
) -> bool:
    # A fifth of the draws shows of most raters that they agree well enough.
    for n, level in ((n_resamples // 5, 5 * _RARE), (n_resamples, _RARE)):
        typical = urn.draw(rater.own, rng.random((n, len(rater.own))))
        answers, others = table.centred[typical], table.others[typical]
        # Blind answers are those that typical raters give to other items.
        looked = rng.random(answers.shape) < rng.uniform(_LOOKED_AT, 1, size=(n, 1))
        null = _correlations(np.where(looked, answers, rng.permuted(answers, axis=1)), others)
        if p_value(-rater.agreement, -null, exact=False) >= level:
            return False
    return bool(np.median(_correlations(answers, others)) > rater.needed)


def _same_answers(table: _Ratings, own: I64) -> str:
    """A reason where nearly all answers are the same and those of the others to the same items are not."""
    from scipy.special import betainc

    most = _most(table.given[own])
    if most <= _SAME * len(own):
        return ""
    size = table.size[own]
    around = np.repeat(table.first[own] - np.cumsum(size) + size, size) + np.arange(size.sum())
    around = np.setdiff1d(around, own)
    share = max(_SAME, (1 + _most(table.given[around]) / len(around)) / 2)
    # The probability of this many equal answers or more, where each is the same with the probability `share`.
    if betainc(most, len(own) - most + 1, share) >= _LEVEL:
        return ""
    return f"the same answer to {most} of {many(len(own), 'item')}"


def _most(values: F64) -> int:
    """How often the most common value occurs."""
    return int(np.unique(values, return_counts=True)[1].max())
