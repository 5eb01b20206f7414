"""One order for the same ratings, however a file has them: no number may hang on the order of its rows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textassay.corpus.rated import NOBODY, RatedItem, RatedItems
from textassay.studies.judged import JudgedItem


def in_one_order(rated: RatedItems) -> RatedItems:
    """The same items, raters and ratings, ordered by what they say; names of items and raters do not matter."""
    given = _by_item(rated)
    places = range(len(rated.items))
    # Items that say the same and were rated alike may still differ in who rated them.
    items = sorted(places, key=lambda place: (_said(rated.items[place]), given[place], rated.marks[place]))
    new_place = np.argsort(items)
    item_of = new_place[rated.item_of]
    raters, rater_of = _raters(rated, item_of)
    order = np.lexsort((rater_of, rated.ratings, item_of))
    return replace(
        rated,
        items=tuple(rated.items[place] for place in items),
        raters=raters,
        item_of=item_of[order].astype(np.int64),
        rater_of=rater_of[order].astype(np.int64),
        ratings=rated.ratings[order],
    )


def in_order_of(items: Sequence[RatedItem], judged: Sequence[JudgedItem]) -> tuple[JudgedItem, ...]:
    """Judged items as a reader knows them: in the order of the file, after everything was measured in its own."""
    places = {item: place for place, item in enumerate(items)}
    return tuple(sorted(judged, key=lambda each: places[each.item]))


def _by_item(rated: RatedItems) -> list[list[float]]:
    given: list[list[float]] = [[] for _ in rated.items]
    for item, rating in zip(rated.item_of.tolist(), rated.ratings.tolist(), strict=True):
        given[item].append(rating)
    return [sorted(ratings) for ratings in given]


def _said(item: RatedItem) -> tuple[bool, str, str, float, int]:
    return item.is_model, item.context or "", item.text or "", item.log_prob, item.length


def _raters(rated: RatedItems, item_of: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Raters by what they rated and how."""
    given: list[list[tuple[int, float]]] = [[] for _ in rated.raters]
    for item, rater, rating in zip(item_of.tolist(), rated.rater_of.tolist(), rated.ratings.tolist(), strict=True):
        if rater != NOBODY:
            given[rater].append((item, rating))
    order = sorted(range(len(rated.raters)), key=lambda rater: sorted(given[rater]))
    new_place = np.argsort(order) if order else np.zeros(0, dtype=np.int64)
    moved = np.array([NOBODY if rater == NOBODY else new_place[rater] for rater in rated.rater_of.tolist()])
    return tuple(rated.raters[rater] for rater in order), moved
