"""RatedItems: texts by people and by a model with log-probabilities and ratings; their digest, checks and balance."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.printable import many, quoted, shortened
from textassay.corpus.sample import stream
from textassay.corpus.values import is_number, is_whole, kind_of
from textassay.errors import InputError

Mark = bytes


def digest_of(marks: Iterable[Mark]) -> str:
    """What fixes all items together."""
    return hashlib.blake2b(b"".join(sorted(marks)), digest_size=8).hexdigest()


def marks_of(
    contents: Sequence[str], item_of: Sequence[int], rater_of: Sequence[int] | None, ratings: Sequence[float]
) -> list[Mark]:
    """A mark of the content and the ratings of each item, and of its raters unless `rater_of` is None.

    Raters have no names here: a rater is identified by the items that he or she rated and by the ratings, an item by
    its content and its raters. Items with the same content may differ in their raters, who may differ in other items,
    and so on. So marks are computed again from marks until no more items become different.
    """
    given = [repr(rating).encode() for rating in ratings]
    marks = [
        _mark(words.encode(errors="surrogatepass"), own)
        for words, own in zip(contents, _grouped(item_of, given, len(contents)), strict=True)
    ]
    return marks if rater_of is None else _told_apart(marks, item_of, rater_of, given)


def _told_apart(
    items: list[Mark], item_of: Sequence[int], rater_of: Sequence[int], given: Sequence[bytes]
) -> list[Mark]:
    n_raters = max(rater_of, default=-1) + 1
    while True:
        known = len(set(items))
        seen = [items[item] + rating for item, rating in zip(item_of, given, strict=True)]
        raters = [_mark(b"rater", own) for own in _grouped(rater_of, seen, n_raters)]
        by = [raters[rater] + rating for rater, rating in zip(rater_of, given, strict=True)]
        items = [_mark(item, own) for item, own in zip(items, _grouped(item_of, by, len(items)), strict=True)]
        if len(set(items)) == known:
            return items


def _grouped(group_of: Sequence[int], values: Iterable[bytes], n: int) -> list[list[bytes]]:
    groups: list[list[bytes]] = [[] for _ in range(n)]
    for group, value in zip(group_of, values, strict=True):
        groups[group].append(value)
    return groups


def _mark(own: bytes, others: list[bytes]) -> Mark:
    """A short mark of something and of what goes with it, in whatever order."""
    parts = [own, *sorted(others)]
    # With their lengths, so that no two lists of parts look the same.
    whole = b"".join(part for each in parts for part in (len(each).to_bytes(8, "little"), each))
    return hashlib.blake2b(whole, digest_size=16).digest()


# In place of a rater, where a file has only the mean rating of an item.
NOBODY = -1


@dataclass(frozen=True)
class RatedItem:
    """One text that was rated. `log_prob` is the whole text's under the model, `length` its number of tokens.

    A `log_prob` of NaN is not known; then that of no item is, and only HUSE-Q can be measured.
    """

    id: str
    is_model: bool
    log_prob: float
    length: int
    text: str | None = None
    context: str | None = None


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Items and their ratings, one entry of `item_of`, `rater_of` and `ratings` a rating.

    `item_of` and `rater_of` are places in `items` and `raters`. A file with one row per item has only mean ratings: one
    entry per item, without raters (`rater_of` is `NOBODY`). `scale` is the lowest and the highest rating there can be,
    `labels` what ratings are called, `model` what the source that is not human is called. `raters_known` is False where
    single ratings have no names: `raters` are then only numbers. `path` is the file that errors are about.
    """

    name: str
    items: tuple[RatedItem, ...]
    raters: tuple[str, ...]
    item_of: I64
    rater_of: I64
    ratings: F64
    scale: tuple[float, float]
    labels: Mapping[float, str] = field(default_factory=dict)
    model: str = "model"
    notes: tuple[str, ...] = ()
    raters_known: bool = True
    path: str = ""

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        """Equal in everything but the path, which does not survive JSON."""
        return isinstance(other, RatedItems) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    def _content(self) -> tuple[object, ...]:
        arrays = (self.item_of.tolist(), self.rater_of.tolist(), self.ratings.tolist())
        named = (self.name, self.items, self.raters, self.scale, dict(self.labels), self.model)
        return (*named, self.notes, self.raters_known, *arrays)

    @property
    def single(self) -> bool:
        """True when single ratings are known, False when there are only means."""
        return bool(self.raters)

    @property
    def names_raters(self) -> bool:
        """False where a file has single ratings but does not say whose, and where it has only means."""
        return self.single and self.raters_known

    @property
    def knows_log_probs(self) -> bool:
        """Whether items have log-probabilities; all have one or none has."""
        return not any(math.isnan(item.log_prob) for item in self.items)

    @property
    def where(self) -> str:
        """What a message calls it: the file, or the name where there is none."""
        return self.path or self.name

    @property
    def digest(self) -> str:
        """What fixes the content, whatever the order of items, raters and ratings and whatever their names."""
        return digest_of(self.marks)

    @cached_property
    def marks(self) -> list[bytes]:
        """What identifies each item: its content, its ratings, and the raters where they are known."""
        contents = [repr((item.is_model, item.log_prob, item.length, item.text, item.context)) for item in self.items]
        rater_of = self.rater_of.tolist() if self.names_raters else None
        return marks_of(contents, self.item_of.tolist(), rater_of, self.ratings.tolist())


# Squares of larger numbers and their sums are not to be trusted.
LARGEST = 1e30


def check_reading(model: Any, scale: Any) -> None:
    """Refuse a model that is no name and a scale that is not a lowest and a highest rating."""
    if model is not None and not isinstance(model, str):
        raise InputError(f"model is {kind_of(model)}; wanted its name")
    if scale is None:
        return
    wanted = "wanted a lowest and a highest rating, such as 1 and 6"
    pair = list(scale) if isinstance(scale, tuple | list | np.ndarray) else []
    if len(pair) != 2 or not all(map(is_number, pair)):
        raise InputError(f"scale is {shortened(repr(scale), 40)}; {wanted}")
    low, high = pair
    if not -math.inf < low < high < math.inf:
        raise InputError(f"scale {low:g} to {high:g}; {wanted}")


def checked(rated: RatedItems) -> RatedItems:
    """The same items with plain numbers; an error where something is missing or is no number."""
    if not rated.items:
        raise InputError(f"{rated.where}: no items; wanted those of people and of a model")
    items = tuple(_item(item, rated.where) for item in rated.items)
    twice = [id_ for id_, count in Counter(item.id for item in items).items() if count > 1]
    if twice:
        raise InputError(f"{rated.where}: several items have the id {quoted(twice[:1])}; wanted one")
    item_of, rater_of = (_places(rated, name) for name in ("item_of", "rater_of"))
    ratings = _ratings(rated)
    if not len(item_of) == len(rater_of) == len(ratings):
        raise InputError(
            f"{rated.where}: {many(len(ratings), 'rating')}, {len(item_of)} in item_of and {len(rater_of)} in "
            "rater_of; wanted as many of each"
        )
    _check_items(item_of, items, rated.where)
    _check_raters(rater_of, item_of, rated)
    if 0 < (unknown := sum(math.isnan(item.log_prob) for item in items)) < len(items):
        first = next(item.id for item in items if math.isnan(item.log_prob))
        have = f"{many(unknown, 'item')} of {len(items):,} {'have' if unknown > 1 else 'has'} no log_prob"
        raise InputError(f"{rated.where}: {have}, {quoted([first])} first; wanted one for all or for none")
    return replace(rated, items=items, item_of=item_of, rater_of=rater_of, ratings=ratings)


def _item(item: Any, where: str) -> RatedItem:
    if not isinstance(item, RatedItem):
        raise InputError(f"{where}: an item is {kind_of(item)}; wanted RatedItem")
    where = f"{where}: item {quoted([str(item.id)])}"
    for name, kind, wanted in (("id", str, "a string"), ("is_model", bool | np.bool_, "true or false")):
        if not isinstance(value := getattr(item, name), kind):
            raise InputError(f"{where}: {name} is {kind_of(value)}; wanted {wanted}")
    for name in ("text", "context"):
        if not isinstance(value := getattr(item, name), str | None):
            raise InputError(f"{where}: {name} is {kind_of(value)}; wanted a string or None")
    if not is_number(item.log_prob) or item.log_prob == math.inf:
        raise InputError(f"{where}: log_prob is {_shown(item.log_prob)}; wanted the logarithm of a probability")
    if math.isfinite(item.log_prob) and abs(item.log_prob) > LARGEST:
        raise InputError(f"{where}: log_prob {item.log_prob:g} is too large a number; wanted a smaller one")
    if not is_whole(item.length) or item.length < 1:
        raise InputError(f"{where}: length is {_shown(item.length)}; wanted a whole number of tokens, 1 or more")
    # Adding nothing makes -0.0 the 0.0 it means.
    log_prob = math.nan if math.isnan(item.log_prob) else float(item.log_prob) + 0.0
    return RatedItem(item.id, bool(item.is_model), log_prob, int(item.length), item.text, item.context)


def _places(rated: RatedItems, name: str) -> NDArray[np.int64]:
    given = np.asarray(getattr(rated, name))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(f"{rated.where}: {name} is no list of whole numbers; wanted one for each rating")
    return given.astype(np.int64)


def _ratings(rated: RatedItems) -> NDArray[np.float64]:
    given = np.asarray(rated.ratings)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iuf"):
        raise InputError(f"{rated.where}: ratings are no list of numbers; wanted one")
    ratings = given.astype(np.float64) + 0.0
    bad = np.flatnonzero(~np.isfinite(ratings))
    if len(bad):
        raise InputError(f"{rated.where}: ratings[{bad[0]}] is {ratings[bad[0]]:g}; wanted a finite number")
    largest = np.abs(ratings).max(initial=0.0)
    if largest > LARGEST:
        raise InputError(f"{rated.where}: rating {largest:g} is too large a number; wanted a smaller one")
    return ratings


def _check_items(item_of: NDArray[np.int64], items: tuple[RatedItem, ...], where: str) -> None:
    _check_range(item_of, len(items), f"{where}: item_of", "items")
    counts = np.bincount(item_of, minlength=len(items))
    bare = np.flatnonzero(counts == 0)
    if len(bare):
        have = "have" if len(bare) > 1 else "has"
        raise InputError(
            f"{where}: {many(len(bare), 'item')} {have} no rating, {quoted([items[bare[0]].id])} first; "
            "wanted one or more for each"
        )


def _check_raters(rater_of: NDArray[np.int64], item_of: NDArray[np.int64], rated: RatedItems) -> None:
    if not rated.raters:
        if (rater_of != NOBODY).any():
            raise InputError(f"{rated.where}: rater_of names raters, but there are none; wanted {NOBODY} for each")
        if len(item_of) > len(rated.items):
            raise InputError(f"{rated.where}: several ratings per item, but no raters; wanted raters or one mean each")
        return
    _check_range(rater_of, len(rated.raters), f"{rated.where}: rater_of", "raters")
    pairs, counts = np.unique(rater_of * len(rated.items) + item_of, return_counts=True)
    if (counts > 1).any():
        first = int(np.argmax(counts > 1))
        rater, item = divmod(int(pairs[first]), len(rated.items))
        names = f"rater {quoted([str(rated.raters[rater])])} has rated item {quoted([rated.items[item].id])}"
        raise InputError(f"{rated.where}: {names} {counts[first]} times; wanted one rating per rater and item")


def _check_range(places: NDArray[np.int64], n: int, what: str, where: str) -> None:
    outside = places[(places < 0) | (places >= n)]
    if len(outside):
        raise InputError(f"{what} has {outside[0]}; wanted places among the {n:,} {where}, 0 to {n - 1:,}")


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else kind_of(value)


def in_one_order(rated: RatedItems) -> RatedItems:
    """The same items, raters and ratings, ordered by their content; names of items and raters do not matter."""
    given = _by_item(rated)
    indices = range(len(rated.items))
    # Items with the same text and the same ratings may still differ in who rated them.
    items = sorted(indices, key=lambda index: (_content(rated.items[index]), given[index], rated.marks[index]))
    new_place = np.argsort(items)
    item_of = new_place[rated.item_of]
    raters, rater_of = _raters(rated, item_of)
    order = np.lexsort((rater_of, rated.ratings, item_of))
    return replace(
        rated,
        items=tuple(rated.items[index] for index in items),
        raters=raters,
        item_of=item_of[order].astype(np.int64),
        rater_of=rater_of[order].astype(np.int64),
        ratings=rated.ratings[order],
    )


def _by_item(rated: RatedItems) -> list[list[float]]:
    given: list[list[float]] = [[] for _ in rated.items]
    for item, rating in zip(rated.item_of.tolist(), rated.ratings.tolist(), strict=True):
        given[item].append(rating)
    return [sorted(ratings) for ratings in given]


def _content(item: RatedItem) -> tuple[bool, str, str, float, int]:
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
    model = [index for index, item in enumerate(rated.items) if item.is_model]
    human = [index for index, item in enumerate(rated.items) if not item.is_model]
    if not model or not human:
        seen, missing = ("human", rated.model) if human else (rated.model, "human")
        raise InputError(f"{rated.name}: all items are {seen} ones; wanted {missing} ones too")
    more, fewer, name = (human, model, "human") if len(human) > len(model) else (model, human, rated.model)
    excess = len(more) - len(fewer)
    if not excess:
        return rated
    left_out = _least_needed(rated.items, more, excess, seed)
    note = (
        f"{many(len(more), f'{name} item')} and {many(len(fewer), 'item')} of the other source: {excess:,} "
        f"{'was' if excess == 1 else 'were'} left out at random, items without a counterpart first"
    )
    # Ordered again, because raters are ordered by the ratings that are left.
    cut = in_one_order(only_items(rated, lambda index: index not in left_out))
    return replace(cut, notes=(*rated.notes, note))


def only_items(rated: RatedItems, keep: Callable[[int], bool]) -> RatedItems:
    """The items at the indices to keep, with their ratings."""
    kept = np.array([keep(index) for index in range(len(rated.items))], dtype=bool)
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
    """The n indices to leave out, first from contexts that have more of this source than of the other."""
    surplus: Counter[str] = Counter()
    sign = 1 if items[places[0]].is_model else -1
    for item in items:
        if item.context is not None:
            surplus[item.context] += sign if item.is_model else -sign
    first, later = [], []
    for index in stream(seed, "balance").permutation(places).tolist():
        context = items[index].context
        if context is None or surplus[context] > 0:
            first.append(index)
            surplus[context or ""] -= context is not None
        else:
            later.append(index)
    return set([*first, *later][:n])
