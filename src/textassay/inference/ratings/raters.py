"""Raters: how far each agrees with the others, and who seems to answer at random."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import many
from textassay.inference.p_values import p_value
from textassay.inference.rng import stream


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
    """A rater's ratings of items that others rated too (places among all), and how they agree with the others.

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
    places = np.split(order, np.searchsorted(table.raters[order], np.arange(1, n_raters)))[:n_raters]
    raters = [_rater(table, own, stream(seed, "rater", rater), n_resamples) for rater, own in enumerate(places)]
    reasons = _reasons(table, raters, seed, n_resamples)
    sums = np.bincount(rater_of, ratings, minlength=n_raters)
    return [
        RaterFigures(
            rater=place,
            n=len(own),
            mean=float(sums[place] / len(own)) if len(own) else math.nan,
            agreement=rater.agreement,
            p_value=rater.p_value,
            reason=reasons.get(place, ""),
        )
        for place, (own, rater) in enumerate(zip(places, raters, strict=True))
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
        place: rater
        for place, rater in enumerate(raters)
        if len(rater.own) >= FEWEST_RATINGS and not rater.p_value <= _SURE
    }
    reasons = {place: reason for place, rater in doubtful.items() if (reason := _same_answers(table, rater.own))}
    weights = np.array([np.nan_to_num(1 - rater.p_value) for rater in raters])
    found = -1
    while found < len(reasons):
        found = len(reasons)
        weights[list(reasons)] = 0.0
        whole = 1 + np.rint((_MOST_WEIGHT - 1) * weights).astype(np.int64)
        urn = RatingUrn.of(table.first, table.size, weights=whole[table.raters])
        for place in [place for place, rater in doubtful.items() if place not in reasons and rater.needed <= 1]:
            rater, rng = raters[place], stream(seed, "typical rater", place)
            if _agrees_too_little(table, urn, rater, rng, n_resamples):
                seen = f"r = {rater.agreement:.2f} on {many(len(rater.own), 'item')}"
                reasons[place] = f"does not agree with the others ({seen})"
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
