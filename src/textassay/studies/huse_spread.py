"""Where the uncertainty of a score on ratings comes from: items, noise of ratings, and what raters have in common."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.inference.rated_resamples import with_other_raters, with_other_ratings
from textassay.inference.request import Request
from textassay.inference.wilson import wilson
from textassay.studies.huse_plan import RatedPlan
from textassay.views.ratings import Ratings

F64 = NDArray[np.float64]

# Variances are known well enough from so many resamples.
_MOST = 200


@dataclass(frozen=True, eq=False)
class Spread:
    """Variances of each score, one entry a score: of nested resamples, of the noise of ratings within it, of raters.

    `raters` is what drawing raters anew adds to drawing ratings anew: habits and tastes that go through all ratings of
    a person. It is not in `nested`, where every item draws its ratings for itself.
    """

    nested: F64
    ratings: F64
    raters: F64

    @property
    def total(self) -> F64:
        """All of it."""
        return self.nested + self.raters

    @property
    def widening(self) -> F64:
        """By how much nested resamples must be spread so that raters are in them."""
        return np.sqrt(np.divide(self.total, self.nested, out=np.ones_like(self.nested), where=self.nested > 0))


def what_varies(view: Ratings, *, raters_known: bool) -> tuple[str, ...]:
    """What drawing anew can change beside the items: ratings where one has several, raters who gave several."""
    if not (view.counts > 1).any():
        return ()
    people = len(np.unique(view.raters))
    return ("ratings", "raters") if raters_known and 1 < people < len(view.ratings) else ("ratings",)


def spread_of(
    view: Ratings, requests: Sequence[Request], resampled: F64, plan: RatedPlan, *, raters_known: bool
) -> Spread:
    """The variances, from resamples of ratings and of raters on the same items."""
    nothing = np.zeros(len(requests))
    varied = what_varies(view, raters_known=raters_known)
    if not len(resampled) or not varied:
        return Spread(_variance(resampled, nothing), nothing, nothing)
    n = min(plan.n_resamples, _MOST)
    people = len(np.unique(view.raters))
    crossed = "raters" in varied
    plan.progress.start("ratings and raters drawn anew", n * (1 + crossed))

    def of_other_ratings(rng: np.random.Generator) -> list[float]:
        part = with_other_ratings(view, rng)
        return [request(part) for request in requests]

    def of_other_raters(rng: np.random.Generator) -> list[float]:
        part = with_other_raters(view, rng)
        return [request(part) for request in requests]

    noise = _variance(plan.over(of_other_ratings, n=n, what="ratings-only"), nothing)
    if not crossed:
        return Spread(_variance(resampled, nothing), noise, nothing)
    # A bootstrap of few has too little variance, by one in so many.
    drawn = _variance(plan.over(of_other_raters, n=n, what="raters-only"), nothing) * people / (people - 1)
    return Spread(_variance(resampled, nothing), noise, np.maximum(drawn - noise, 0.0))


def _variance(values: F64, nothing: F64) -> F64:
    """Of each column, over what is defined in it."""
    if not len(values):
        return nothing
    found = [np.var(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0 for column in values.T]
    return np.array(found, dtype=np.float64)


def at_least(
    estimate: float, ends: tuple[float, float], parts: Mapping[str, float], n: int, level: float
) -> tuple[float, float]:
    """An interval no narrower than what the number of items allows.

    Where no vote is wrong, no resample has a wrong one either; yet of 40 items that are all told rightly, one in ten of
    others may not be. The error behind a score is a share of items, and Wilson's interval knows that.
    """
    named = [name for name in ("accuracy", "accuracy_by_rating") if name in parts]
    if not named:
        return ends
    down, up = [], []
    for name in named:
        error = 1 - parts[name]
        low, high = wilson(error, n, level)
        # The second error is taken away from the first, so its ends change places.
        ways = (error - low, high - error) if name == "accuracy" else (high - error, error - low)
        down.append(2 * ways[0])
        up.append(2 * ways[1])
    return min(ends[0], estimate - math.hypot(*down)), max(ends[1], estimate + math.hypot(*up))
