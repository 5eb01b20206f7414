"""Rated items in one order, and as many of both sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from textassay.corpus.rated_items import NOBODY, RatedItem, RatedItems
from textassay.corpus.sampling import stream
from textassay.errors import InputError
from textassay.studies.huse.result import HuseItem


def in_one_order(rated: RatedItems) -> RatedItems:
    """The same items, raters and ratings, ordered by their content; names of items and raters do not matter."""
    given = _by_item(rated)
    places = range(len(rated.items))
    # Items with the same text and the same ratings may still differ in who rated them.
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


def in_order_of(items: Sequence[RatedItem], judged: Sequence[HuseItem]) -> tuple[HuseItem, ...]:
    """Judged items in the order of the file; everything was measured in another order."""
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
    """Raters, ordered by what they rated and how."""
    given: list[list[tuple[int, float]]] = [[] for _ in rated.raters]
    for item, rater, rating in zip(item_of.tolist(), rated.rater_of.tolist(), rated.ratings.tolist(), strict=True):
        if rater != NOBODY:
            given[rater].append((item, rating))
    order = sorted(range(len(rated.raters)), key=lambda rater: sorted(given[rater]))
    new_place = np.argsort(order) if order else np.zeros(0, dtype=np.int64)
    moved = np.array([NOBODY if rater == NOBODY else new_place[rater] for rater in rated.rater_of.tolist()])
    return tuple(rated.raters[rater] for rater in order), moved


def balanced(rated: RatedItems, *, seed: int) -> RatedItems:
    """Leave out items of the larger source at random until both have as many; items without a counterpart go first.

    The items returned are in one order, whatever the order of the file, so that all numbers are the same.
    """
    rated = in_one_order(rated)
    model = [place for place, item in enumerate(rated.items) if item.is_model]
    human = [place for place, item in enumerate(rated.items) if not item.is_model]
    if not model or not human:
        seen, missing = ("human", rated.model) if human else (rated.model, "human")
        raise InputError(f"{rated.name}: all items are {seen} ones; wanted {missing} ones too")
    more, fewer, name = (human, model, "human") if len(human) > len(model) else (model, human, rated.model)
    excess = len(more) - len(fewer)
    if not excess:
        return rated
    left_out = _least_needed(rated.items, more, excess, seed)
    note = (
        f"{len(more):,} {name} items and {len(fewer):,} items of the other source: {excess:,} were left out at random, "
        "items without a counterpart first"
    )
    # Ordered again, because raters are ordered by the ratings that are left.
    cut = in_one_order(only_items(rated, lambda place: place not in left_out))
    return replace(cut, notes=(*rated.notes, note))


def only_items(rated: RatedItems, keep: Callable[[int], bool]) -> RatedItems:
    """The items at the places to keep, with their ratings."""
    kept = np.array([keep(place) for place in range(len(rated.items))], dtype=bool)
    return _cut(rated, kept, kept[rated.item_of])


def without_raters(rated: RatedItems, names: Iterable[str]) -> RatedItems:
    """All ratings but those of some raters; items without any other rating are left out."""
    gone = {rated.raters.index(name) for name in names}
    chosen = np.array([rater not in gone for rater in rated.rater_of.tolist()], dtype=bool)
    kept = np.bincount(rated.item_of[chosen], minlength=len(rated.items)) > 0
    return _cut(rated, kept, chosen)


def _cut(rated: RatedItems, kept: np.ndarray, chosen: np.ndarray) -> RatedItems:
    place = np.cumsum(kept) - 1
    return replace(
        rated,
        items=tuple(item for item, keep in zip(rated.items, kept, strict=True) if keep),
        item_of=place[rated.item_of[chosen]].astype(np.int64),
        rater_of=rated.rater_of[chosen],
        ratings=rated.ratings[chosen],
    )


def _least_needed(items: tuple[RatedItem, ...], places: list[int], n: int, seed: int) -> set[int]:
    """The n places to leave out, first from contexts that have more of this source than of the other."""
    surplus: Counter[str] = Counter()
    sign = 1 if items[places[0]].is_model else -1
    for item in items:
        if item.context is not None:
            surplus[item.context] += sign if item.is_model else -sign
    first, later = [], []
    for place in stream(seed, "balance").permutation(places).tolist():
        context = items[place].context
        if context is None or surplus[context] > 0:
            first.append(place)
            surplus[context or ""] -= context is not None
        else:
            later.append(place)
    return set([*first, *later][:n])
