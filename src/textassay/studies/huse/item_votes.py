"""The items of a HUSE study: how their neighbours vote, their kinds, and the map of all votes."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64
from textassay.corpus.ratings.rated_items import RatedItem, RatedItems
from textassay.corpus.sample import stream
from textassay.inference.rated_scores import Groups, RatedPlan
from textassay.metrics.ratings.rating_view import Per, Ratings, in_deviations
from textassay.metrics.ratings.votes import Tied, VoteSets, mistaken, share_around, votes_at
from textassay.studies.huse.result import KINDS, AtK, DecisionMap, HuseItem

# An item's source is clear if three of four neighbours share it. By chance 12 of 16 neighbours do in 4 of 100 items.
CLEAR = 0.75
_GRID = 48
_MOST_EXCHANGES, _LABELS_AT_ONCE = 200, 2**22
_MOST_K = 64


def judged_items(rated: RatedItems, view: Ratings, *, k: int, tied: Tied, per: Per) -> tuple[HuseItem, ...]:
    """Every item with its features, its votes and its kind."""
    share = view.own_votes(quality_only=False, k=k, tied=tied, per=per)
    by_rating = view.own_votes(quality_only=True, k=k, tied=tied, per=per)
    by_log_prob = np.full(len(view), np.nan)
    if view.knows_log_probs:
        (by_log_prob,) = votes_at(view.points(per)[:, 1:], view.is_model, ks=[k], tied=tied, origin=view.origin)
    own = np.column_stack([np.where(view.is_model, votes, 1 - votes) for votes in (share, by_rating, by_log_prob)])
    told, told_by_rating = (mistaken(votes, view.is_model, tied) < 0.5 for votes in (share, by_rating))
    means, log_probs = view.means, view.log_probs() if view.knows_log_probs else by_log_prob
    return tuple(
        HuseItem(
            item=item,
            rating=float(means[index]),
            n_ratings=int(view.counts[index]),
            log_prob=float(log_probs[index]),
            votes=votes,
            votes_by_rating=alone,
            votes_by_log_prob=other,
            share_model=float(share[index]),
            told=bool(told[index]),
            told_by_rating=bool(told_by_rating[index]),
            kind=kind_of(votes, alone),
        )
        for index, (item, (votes, alone, other)) in enumerate(zip(rated.items, own.tolist(), strict=True))
    )


def in_order_of(items: Sequence[RatedItem], judged: Sequence[HuseItem]) -> tuple[HuseItem, ...]:
    """Judged items in the order of the file; everything was measured in another order."""
    places = {item: index for index, item in enumerate(items)}
    return tuple(sorted(judged, key=lambda each: places[each.item]))


def kind_of(votes: float, by_rating: float) -> str:
    """The kind of an item: its source is clear from the rating alone, only with the probability, or not at all.

    >>> kind_of(0.5, 0.8), kind_of(0.8, 0.7), kind_of(0.7, 0.7)
    ('quality failure', 'diversity failure', 'indistinguishable')
    """
    quality, diversity = (bool(found) for found in _failures(np.array(votes), np.array(by_rating)))
    return KINDS[0] if quality else KINDS[1] if diversity else KINDS[2]


def _failures(votes: F64, by_rating: F64) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which items are failures of quality, and which of diversity."""
    quality = by_rating >= CLEAR
    return quality, (votes >= CLEAR) & ~quality


def kinds_by_chance(view: Ratings, plan: RatedPlan, *, k: int, tied: Tied, per: Per) -> tuple[float, ...]:
    """The mean number of items of each kind if sources are exchanged at random."""
    n = min(plan.n_resamples, _MOST_EXCHANGES, max(_LABELS_AT_ONCE // len(view), 1))
    if not n:
        return ()
    labels = Groups.of(view).exchanged(view.is_model, n, stream(plan.seed, "ratings", "kinds"))
    points = view.points(per)
    shares = [VoteSets.of(part, k=k, tied=tied).shares(labels) for part in (points, points[:, :1])]
    failures = _failures(*(np.where(labels, each, 1 - each) for each in shares))
    quality, diversity = (float(found.sum()) / n for found in failures)
    return quality, diversity, len(view) - quality - diversity


def scores_by_k(view: Ratings, *, chosen: int, tied: Tied, per: Per) -> tuple[AtK, ...]:
    """The three scores for every number of neighbours up to a quarter of the items, from one order of neighbours."""
    ks = range(1, max(chosen, min(_MOST_K, len(view) // 4)) + 1)
    points = view.points(per)
    both, quality = (_scores(part, view, ks, tied) for part in (points, points[:, :1]))
    # If all probabilities are the same, HUSE-D is not defined; if there are none, HUSE is not either.
    added = 1.0 if points[:, 1].any() else math.nan
    both = both if view.knows_log_probs else [math.nan] * len(quality)
    return tuple(AtK(k, h, q, added + h - q) for k, h, q in zip(ks, both, quality, strict=True))


def _scores(points: F64, view: Ratings, ks: Sequence[int], tied: Tied) -> list[float]:
    """Twice the share of wrong votes for every k; NaN if all items are the same point."""
    if not points.any():
        return [math.nan] * len(ks)
    votes = votes_at(points, view.is_model, ks=ks, tied=tied, origin=view.origin)
    return [2 * float(mistaken(each, view.is_model, tied).mean()) for each in votes]


def decision_map(view: Ratings, *, k: int, per: Per) -> DecisionMap:
    """The vote on a grid over the plane of both features, within the range of the items."""
    means, log_probs = view.means, view.log_probs(per)
    across, up = _axis(means), _axis(log_probs)
    spread = [_unit(values) for values in (means, log_probs)]
    grid = np.array([(rating / spread[0], log_prob / spread[1]) for log_prob in up for rating in across])
    shares = share_around(grid, view.points(per), view.is_model, k=k).reshape(len(up), len(across))
    return DecisionMap(tuple(across), tuple(up), tuple(tuple(map(float, row)) for row in shares))


def _axis(values: F64) -> list[float]:
    margin = 0.04 * (float(np.ptp(values)) or 1.0)
    return [float(x) for x in np.linspace(values.min() - margin, values.max() + margin, _GRID)]


def _unit(values: F64) -> float:
    """The divisor of a feature before distances are computed."""
    scaled = in_deviations(values)
    index = int(np.argmax(np.abs(scaled)))
    return float(values[index] / scaled[index]) if scaled[index] else 1.0
