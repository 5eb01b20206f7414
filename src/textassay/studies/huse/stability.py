"""Stability of HUSE: scores on parts of the items and ratings, and the effect of more of either."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import chain

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.rated_scores import Groups, RatedPlan, Scores, with_fewer_items, with_fewer_ratings
from textassay.metrics.ratings.rating_view import Ratings
from textassay.metrics.registry import Request
from textassay.studies.huse.result import Outlook, StabilityPoint

# The number of random parts of each size; fewer for many items, because each takes longer and varies less.
_MOST_PARTS, _FEWEST_PARTS, _ITEMS_AT_ONCE = 100, 20, 100_000
_STEPS = 8
# An interval of this half-width is precise enough that the second decimal of a score means something.
PRECISE = 0.05


def stability(
    view: Ratings, requests: Sequence[Request], plan: RatedPlan, *, most_k: int
) -> tuple[StabilityPoint, ...]:
    """Every score on random parts: fewer items with all ratings, and all items with fewer ratings."""
    groups = Groups.of(view)
    sizes = item_steps(len(view), 2 * most_k)
    fewer = rating_steps(int(view.counts.max()))
    parts = n_parts(len(view))
    plan.progress.start("stability", parts * (len(sizes) + len(fewer)))
    values: dict[tuple[str, int], F64] = {}
    for n in sizes:
        draw = partial(with_fewer_items, view, groups, n)
        values["items", n] = plan.over(draw, requests, n=parts, what=f"items{n}")
    for n in fewer:
        draw = partial(with_fewer_ratings, view, n)
        values["ratings", n] = plan.over(draw, requests, n=parts, what=f"ratings{n}")
    found = (_points(along, n, own, requests, plan.level) for (along, n), own in values.items())
    return tuple(chain.from_iterable(found))


def n_parts(n_items: int) -> int:
    """How many random parts of each size are measured.

    >>> n_parts(200), n_parts(2_000), n_parts(10_000)
    (100, 50, 20)
    """
    return min(max(_ITEMS_AT_ONCE // n_items, _FEWEST_PARTS), _MOST_PARTS)


def item_steps(n: int, fewest: int) -> list[int]:
    """Numbers of items to try: even numbers from the fewest upwards, and all items."""
    steps = np.linspace(fewest, n, _STEPS + 1)
    return sorted({2 * round(step / 2) for step in steps[:-1].tolist() if fewest <= step < n} | {n})


def rating_steps(most: int) -> list[int]:
    """Numbers of ratings to try, closer together where they are few.

    >>> rating_steps(20)
    [1, 2, 4, 6, 8, 13, 20]
    """
    if most < 2:
        return []
    return sorted({round(step) for step in np.geomspace(1, most, _STEPS).tolist()})


def outlook(
    view: Ratings, requests: Sequence[Request], scores: Scores, points: Sequence[StabilityPoint]
) -> tuple[Outlook, ...]:
    """For each score, what twice the items or twice the ratings per item would do to its interval.

    The latter is not known if no item has two ratings.
    """
    spread = scores.spread
    found = []
    for column, (request, result) in enumerate(zip(requests, scores.results, strict=True)):
        if result.interval is None or spread.nested[column] <= 0:
            continue
        part = min(float((spread.ratings[column] + spread.raters[column]) / spread.total[column]), 1.0)
        half = (result.interval.high - result.interval.low) / 2
        # If no item has two ratings, their noise is part of the interval, but the size of that part is not known.
        known = bool((view.counts > 1).any())
        more_items, more_ratings = half / math.sqrt(2), half * math.sqrt(1 - part / 2) if known else math.nan
        worth = _worth(half, more_items, more_ratings, _with_fewer(request.label, points), view)
        found.append(Outlook(request.label, half, more_items, more_ratings, worth))
    return tuple(found)


def _worth(half: float, more_items: float, more_ratings: float, fewer: StabilityPoint | None, view: Ratings) -> str:
    n, ratings = len(view), len(view.ratings)
    if math.isfinite(more_ratings):
        sentences = [
            f"{ratings:,} more ratings would narrow the interval from ±{half:.2f} to ±{more_items:.2f} on new items, "
            f"or to ±{more_ratings:.2f} by other raters on the same items"
        ]
    else:
        sentences = [
            f"{n:,} more items would narrow the interval from ±{half:.2f} to ±{more_items:.2f}; the effect of more "
            "ratings per item is not known"
        ]
    if half > PRECISE:
        needed = math.ceil(n * (half / PRECISE) ** 2 / 2) * 2
        sentences.append(f"an interval of ±{PRECISE:.2f} needs about {needed:,} items in total")
    if fewer is not None:
        most = int(view.counts.max())
        all_of_them = f"the {most}" if view.counts.min() == most else f"up to {most}"
        sentences.append(f"with {fewer.n} of {all_of_them} ratings per item the score is {fewer.mean:.2f} on average")
    return "; ".join(sentences)


def _with_fewer(label: str, points: Sequence[StabilityPoint]) -> StabilityPoint | None:
    """The score with about half of the ratings per item, if that is more than two."""
    own = [point for point in points if point.metric == label and point.along == "ratings"]
    fewer = [point for point in own[:-1] if point.n > 2]
    return min(fewer, key=lambda point: abs(point.n - own[-1].n / 2)) if fewer else None


def _points(along: str, n: int, values: F64, requests: Sequence[Request], level: float) -> list[StabilityPoint]:
    tail = (1 - level) / 2
    found = []
    for column, request in enumerate(requests):
        known = values[:, column][~np.isnan(values[:, column])]
        if not len(known):
            found.append(StabilityPoint(request.label, along, n, math.nan, math.nan, math.nan))
            continue
        mean = float(known.mean())
        low, high = np.quantile(known, (tail, 1 - tail)).tolist()
        # The mean of equal numbers may be off by its last digit.
        found.append(StabilityPoint(request.label, along, n, mean, min(low, mean), max(high, mean)))
    return found
