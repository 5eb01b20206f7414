"""What a reader of a HUSE study must keep in mind: too little data for a claim, odd features, ties that decide."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from textassay.corpus.counting import many
from textassay.corpus.rated import RatedItem, RatedItems
from textassay.corpus.rating_rows import raters_are_known
from textassay.inference.rated_resamples import Groups
from textassay.inference.request import Request
from textassay.inference.result import Result
from textassay.studies.judged import titled
from textassay.views.ratings import Ratings

# What the paper used: 16 neighbours among 200 items.
PAPER_K, _PAPER_ITEMS = 16, 200
# The paper found about 20 ratings an item necessary for summaries, 5 to 10 where the model is easily told.
_ENOUGH_RATINGS = 10
_FEW_CONTEXTS, _FEW_RATERS = 20, 10
# Contexts that hold less than this share of the items hardly move the interval.
_GOOD_PART = 0.25
# Below this, HUSE of two bell curves one deviation apart is too high by 0.07 (100 items) to 0.15 (32), whatever the k.
_FEW_ITEMS = 100
# Where so many times the recommended neighbours vote, the border blurs: 0.09 on 40 of the paper's items, none on 100.
_TOO_MANY, _TOO_FEW = 2.0, 1.5


def notes_on(
    rated: RatedItems, view: Ratings, requests: Sequence[Request], results: Sequence[Result], *, k: int
) -> Iterator[str]:
    """All that is to be said of a study whose items are judged with `k` neighbours."""
    yield from _on_log_probs(view)
    yield from _on_ratings(rated, view)
    yield from _on_contexts(rated.items, view)
    limits = requests[0].metric.options["k"].limits
    yield from on_size(len(view), k, most=math.inf if limits is None else limits[1])
    yield from _on_rounding(view, requests, results)


def _on_log_probs(view: Ratings) -> Iterator[str]:
    impossible = int(np.isneginf(view.log_prob).sum())
    if impossible == len(view):
        yield "all items are impossible under the model (log-probability minus infinity)"
    elif impossible:
        yield (
            f"items that are impossible under the model (log-probability minus infinity): {impossible:,}, taken as "
            f"{view.log_probs('text').min():,.0f}; they stretch that feature"
        )
    if not view.points()[:, 1].any():
        yield "the log-probabilities a token are all the same: they tell nothing, and HUSE-D is not defined"


def _on_ratings(rated: RatedItems, view: Ratings) -> Iterator[str]:
    if not rated.single:
        yield "only mean ratings are known: intervals are over items alone, and nothing can be said of raters"
        return
    usual = float(np.median(view.counts))
    if usual < _ENOUGH_RATINGS:
        each = f"{usual:g} rating{'s' if usual != 1 else ''} per item"
        yield (
            f"{each}: noise in ratings raises the scores; the paper needed about 20 for summaries and 5 to 10 where "
            "the model is easily told"
        )
    people = len(np.unique(view.raters))
    if raters_are_known(rated) and people < _FEW_RATERS:
        yield f"{many(people, 'rater')}: too few for an interval that knows how other raters would differ"


def _on_contexts(items: Sequence[RatedItem], view: Ratings) -> Iterator[str]:
    sources: dict[str, set[bool]] = {}
    for item in items:
        if item.context is not None:
            sources.setdefault(item.context, set()).add(item.is_model)
    alone = sum(len(seen) == 1 for seen in sources.values())
    if len(set(view.context.tolist())) == 1:
        yield "one context for all items: it is taken for none"
    elif sources and alone == len(sources):
        yield f"none of {alone:,} contexts has texts of both sources: they are not used, items are drawn one by one"
    elif alone:
        yield f"{alone:,} of {len(sources):,} contexts have texts of one source only: those are drawn item by item"
    mixed = Groups.of(view).mixed
    if len(mixed) < _FEW_CONTEXTS and sum(map(len, mixed)) > _GOOD_PART * len(view):
        yield f"{many(len(mixed), 'context')}: too few for an interval that knows how other contexts would differ"


def on_size(n: int, k: int, *, most: float) -> Iterator[str]:
    """Too few items for a claim, and neighbours that are too few or too many for them; `most` is the largest k."""
    if n < _FEW_ITEMS:
        yield f"{n} items: on so few HUSE comes out too high, by about 0.1 in simulations"
    better = round(min(PAPER_K * (n / _PAPER_ITEMS) ** (2 / 3), most))
    if better >= _TOO_FEW * k:
        yield f"with {n:,} items k = {better} has less bias than k = {k} (--k {better})"
    elif k >= _TOO_MANY * better:
        yield f"{k} of {n - 1} others vote on an item: so many can blur what tells it; see also --k {better}"


def _on_rounding(view: Ratings, requests: Sequence[Request], results: Sequence[Result]) -> Iterator[str]:
    """Scores that hang on how ties were rounded."""
    for request, result in zip(requests, results, strict=True):
        if request.options["variant"] == "released":
            exact = replace(request, options={**request.options, "variant": "exact"})(view)
            if abs(exact - result.estimate) >= 0.005:
                moved = f"from {exact:.2f} to {result.estimate:.2f} (variant=exact keeps them)"
                yield f"{titled(request.label)}: ties that rounding breaks move it {moved}"
