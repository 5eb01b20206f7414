"""As many texts of people as of the model: the items that a HUSE study measures, and what was left out for it."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from textassay.corpus.errors import InputError
from textassay.corpus.rated import RatedItem, RatedItems
from textassay.inference.streams import stream
from textassay.studies.huse_order import in_one_order


def balanced(rated: RatedItems, *, seed: int) -> RatedItems:
    """Cut the source with more items to the other's number, at random; items without a counterpart go first.

    What comes back is in one order, whatever the file's, so that everything measured on it has one value.
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
    said = (
        f"{len(more):,} {name} items and {len(fewer):,} of the other source: {excess:,} left out at random, "
        "those without a counterpart first"
    )
    # In one order again: raters are ordered by the ratings that are left.
    cut = in_one_order(only_items(rated, lambda place: place not in left_out))
    return replace(cut, notes=(*rated.notes, said))


def only_items(rated: RatedItems, keep: Callable[[int], bool]) -> RatedItems:
    """The items at the places to keep, with their ratings."""
    kept = np.array([keep(place) for place in range(len(rated.items))], dtype=bool)
    return _cut(rated, kept, kept[rated.item_of])


def without_raters(rated: RatedItems, names: Iterable[str]) -> RatedItems:
    """All ratings but those of some raters; items that have none left are left out."""
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
    """The n places to leave out: first of contexts that have more of this source than of the other."""
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
