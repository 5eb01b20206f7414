"""Raters: how each agrees with all others, and who seems to answer without looking at the items."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.inference.p_value import p_value
from textassay.inference.streams import stream

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# Of raters with fewer ratings nothing is said.
FEWEST_RATINGS = 10
# A flag needs less than this chance of so little agreement (or so many equal answers) in a rater just good enough.
_LEVEL = 0.05
# Just good enough: looks at every second item and answers the others blindly.
_LOOKED_AT = 0.5
# Just varied enough: gives the same answer to four of five items.
_SAME = 0.8
_RARE=.01
_ROUNDING = 1e-18


@dataclass(frozen=True)
class RaterFigures:
    """One rater by place: number and mean of ratings, agreement with the others, and why they look random, if so."""

    rater: int
    n: int
    mean: float
    agreement: float
    p_value: float
    reason: str


@dataclass(frozen=True, eq=False)
class _Ratings:
    """All ratings, sorted by item: rater, rating, rating less the rater's mean, and mean of the item's other ratings.

    `first` and `size` are where the ratings of a rating's item begin and how many there are.
    """

    raters: I64
    given: F64
    centred: F64
    others: F64
    first: I64
    size: I64


@dataclass(frozen=True, eq=False)
class _Rater:
    """The rater's ratings of items that others rated too (places among all), and agreement, also when shuffled."""

    own: I64
    agreement: float
    shuffled: F64
    p_value: float


def rater_facts(
    item_of: I64, rater_of: I64, ratings: F64, n_raters: int, *, seed: int, n_resamples: int = 999
) -> list[RaterFigures]:
    """Each rater's agreement with all others, its p-value, and a reason where the ratings seem to be given blindly.

    Agreement is Pearson's correlation of a rater's ratings with the mean of all others' ratings of the same items. The
    mean rating is what scores are made of, so what counts is whether a rater moves it the right way, in proportion;
    ranks would let the many ties of a short scale decide, and outliers there are none on it. The p-value is that of no
    agreement: how often it would be as high with the rater's own ratings shuffled over the items.

    That no agreement can be ruled out means nothing where there are few ratings or where the items hardly differ. So a
    rater is flagged for little agreement only where all of this holds:

    - no agreement is not ruled out (p above 0.05);
    - a typical rater of the same items would more likely than not have ruled it out;
    - half a typical rater, one who looks at every second item and answers the others blindly, would agree so little in
      less than 5 % of cases.

    The typical rater is made of the others: for each item the answer of one of them by chance, less that rater's mean.
    So number of ratings, spread of the items and noise of the others are as they are for the rater in question.
    Raters who are no good are among the others; they make the typical rater worse, and flags rarer.

    A rater is also flagged for the same answer to nearly all items: significantly more than four of five, and fewer
    exceptions than half of those of the others on the same items, unless the exceptions agree with the others.

    The level holds for each rater, not for any among all: corrected for 100 raters, blind ones with 25 ratings would
    hardly ever be found.
    """
    table = _sorted(item_of, rater_of, ratings, n_raters)
    order = np.argsort(table.raters, kind="stable")
    places = np.split(order, np.searchsorted(table.raters[order], np.arange(1, n_raters)))[:n_raters]
    raters = [_rater(table, own, stream(seed, "rater", place), n_resamples) for place, own in enumerate(places)]
    reasons = _reasons(table, raters, seed)
    return [
        RaterFigures(place, len(own), _mean(table.given[own]), rater.agreement, rater.p_value, reason)
        for place, (own, rater, reason) in enumerate(zip(places, raters, reasons, strict=True))
    ]


def _mean(values: F64) -> float:
    return float(values.mean()) if len(values) else math.nan


def _sorted(item_of: I64, rater_of: I64, ratings: F64, n_raters: int) -> _Ratings:
    order = np.argsort(item_of, kind="stable")
    items, raters, given = item_of[order], rater_of[order], ratings[order].astype(np.float64)
    sizes, counts = np.bincount(items), np.bincount(raters, minlength=n_raters)
    means = np.bincount(raters, given, minlength=n_raters) / np.maximum(counts, 1)
    rest = sizes[items] - 1
    sums = np.bincount(items, given)[items] - given
    others = np.divide(sums, rest, out=np.full(len(given), math.nan), where=rest > 0)
    first = (np.cumsum(sizes) - sizes)[items]
    return _Ratings(raters, given, given - means[raters], others, first, sizes[items])


def _rater(table: _Ratings, own: I64, rng: np.random.Generator, n_resamples: int) -> _Rater:
    own = own[table.size[own] > 1]
    given, others = table.given[own], table.others[own]
    if len(own) < 2 or np.ptp(given) == 0 or np.ptp(others) == 0:
        return _Rater(own, math.nan, np.empty(0), math.nan)
    shuffled = rng.permuted(np.tile(given, (n_resamples, 1)), axis=1)
    found = _correlations(np.vstack([given, shuffled]), others[None, :])
    p = p_value(float(found[0]), found[1:], exact=False) if n_resamples else math.nan
    return _Rater(own, float(found[0]), found[1:], p)


def _correlations(first: F64, second: F64) -> F64:
    """Of each row of the one with the same row of the other, or with its only one; 0 where a row is constant."""
    first = first - first.mean(axis=1, keepdims=True)
    second = second - second.mean(axis=1, keepdims=True)
    both = np.einsum("ij,ij->i", first, np.broadcast_to(second, first.shape))
    squares = np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second)
    return np.divide(both, np.sqrt(squares), out=np.zeros(len(first)), where=squares > _ROUNDING)


def _reasons(table: _Ratings, raters: list[_Rater], seed: int) -> list[str]:
    """Why raters are flagged; those who are do not count as typical, until no more are found."""
    doubtful = {
        place: rater
        for place, rater in enumerate(raters)
        if len(rater.own) >= FEWEST_RATINGS and not rater.p_value <= _LEVEL
    }
    reasons = {place: reason for place, rater in doubtful.items() if (reason := _same_answers(table, rater.own))}
    weights = np.array([0.0 if math.isnan(rater.p_value) else (1 - rater.p_value)**POW for rater in raters])
    found = -1
    while found < len(reasons):
        found = len(reasons)
        weights[list(reasons)] = 0.0
        heaped = np.cumsum(np.maximum(weights, 1e-6)[table.raters])
        for place, rater in doubtful.items():
            if place not in reasons and _agrees_too_little(table, heaped, rater, stream(seed, "typical", place)):
                reasons[place] = f"does not agree with the others (r = {rater.agreement:.2f} on {len(rater.own)} items)"
    return [reasons.get(place, "") for place in range(len(raters))]

POW=1.0
def _agrees_too_little(table: _Ratings, heaped: F64, rater: _Rater, rng: np.random.Generator) -> bool:
    if not len(rater.shuffled):
        return False
    typical = _composed(table, heaped, rater.own, len(rater.shuffled), rng)
    agreements = _correlations(table.centred[typical], table.others[typical])
    if not np.median(agreements) > np.quantile(rater.shuffled, 1 - _LEVEL):
        return False
    # Blind answers: those of a typical rater to other items than the one that is asked for.
    unseen = rng.permuted(typical, axis=1)
    looked = rng.random(typical.shape) < rng.uniform(_LOOKED_AT, 1, size=(len(typical), 1))
    half = _correlations(table.centred[np.where(looked, typical, unseen)], table.others[typical])
    return p_value(-rater.agreement, -half, exact=False) < _RARE


def _composed(table: _Ratings, heaped: F64, own: I64, n_resamples: int, rng: np.random.Generator) -> I64:
    """Raters made of others: for each of the rater's items the place of someone else's rating, a row a rater."""
    first, last = table.first[own], table.first[own] + table.size[own] - 1
    below = np.concatenate([[0.0], heaped])
    start, width = below[first], heaped[own] - below[own]
    drawn = start + rng.random((n_resamples, len(own))) * (heaped[last] - start - width)
    drawn += np.where(drawn >= below[own], width, 0.0)
    return np.clip(np.searchsorted(heaped, drawn, side="right"), first, last)


def _same_answers(table: _Ratings, own: I64) -> str:
    """A reason where nearly all answers are the same and those of the others to the same items are not."""
    from scipy.special import betainc

    most = _most(table.given[own])
    if most <= _SAME * len(own):
        return ""
    around = np.repeat(table.first[own] - np.cumsum(table.size[own]) + table.size[own], table.size[own])
    around = np.setdiff1d(around + np.arange(len(around)), own)
    share = max(_SAME, (1 + _most(table.given[around]) / len(around)) / 2)
    # The chance of so many equal answers or more, where each is the same with the probability `share`.
    if betainc(most, len(own) - most + 1, share) >= _LEVEL:
        return ""
    return f"the same answer to {most} of {len(own)} items"


def _most(values: F64) -> int:
    """How often the most common value occurs."""
    return int(np.unique(values, return_counts=True)[1].max())
