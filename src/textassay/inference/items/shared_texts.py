"""Items that share texts: how they are found, and how their texts are exchanged together.

Items are taken to be independent of each other. A file that has one line per candidate breaks that: the same references
come again and again, and what is odd about them counts as often. Such items are found by their texts and form a
cluster. If candidates and references have one source, so have all texts of a cluster, because its items share texts. A
labelling of a cluster therefore assigns all its texts anew to all its places: a shared text has one place, and the text
that is assigned to this place has it in every item that shares it.

Only texts that are hardly equal by chance count as shared: people answer "yes" to many questions, and a captioner
writes one sentence for many pictures. Nor does a stock reply count: a text that some item has twice on one side, or
that is a reference and a candidate, is written again and again, not shared. (Dealing such texts as one would break the
test: with three stock replies in half of all texts 14 % of null sets were rejected.) Two items are linked if

- they share two or more different references of at least 20 characters, and these are at least half of the
  references that either of them has, or
- they have the same candidates of a system, at least two different ones of 20 characters, or
- they have the same prompt, and the same references or candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import Item
from textassay.corpus.sample import stream


@dataclass(frozen=True, eq=False)
class Clusters:
    """The number of each item's cluster: items that share texts have the same one, all others one of their own."""

    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, count: int, groups: Iterable[Sequence[int]] = ()) -> "Clusters":
        """The clusters of `count` items, from the indices of those that belong together.

        >>> Clusters.of(4, [[1, 3]]).numbers.tolist()
        [0, 1, 2, 1]
        """
        numbers = np.arange(count)
        for group in groups:
            numbers[list(group)] = group[0]
        return cls(numbers)

    def joined(self, other: "Clusters") -> "Clusters":
        """Items that belong together in either."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = len(self.numbers)
        links = np.concatenate((self.numbers, other.numbers))
        graph = coo_array((np.ones(2 * n), (np.tile(np.arange(n), 2), links)), shape=(n, n))
        return Clusters(connected_components(graph, directed=False)[1].astype(np.int64))

    def sums(self, values: F64, known: NDArray[np.bool_]) -> F64:
        """The sum over the known values of each cluster that has any."""
        _, places = np.unique(self.numbers[known], return_inverse=True)
        return np.bincount(places, weights=values[known]).astype(np.float64)


# A shorter text is written twice by chance.
_LONG = 20
# Each item is compared with this many others that share a text, which links chains of any length.
_NEIGHBOURS = 50
# A cluster's labellings are measured on at most this many texts, or twice those of its largest item.
MOST_TEXTS, _LARGEST = 40, 300


@dataclass(frozen=True, eq=False)
class Places:
    """The texts of a cluster, and which of them are each item's candidates and references."""

    texts: tuple[str, ...]
    candidates: tuple[I64, ...]
    references: tuple[I64, ...]

    def dealt(self, draws: int, *, seed: int, key: str) -> I64:
        """One row per labelling: the text that each place has. The first row is observed."""
        n = len(self.texts)
        rows = np.tile(np.arange(n), (draws + 1, 1))
        rows[1:] = stream(seed, "cluster", key).permuted(rows[1:], axis=1)
        return rows


def clusters(items: Sequence[Item], systems: Iterable[str] = ()) -> list[list[int]]:
    """Places of items that are linked to others, one list per cluster, in order.

    >>> long = tuple(f"the same long reference {number}" for number in range(3))
    >>> clusters([Item("a", long, {}), Item("b", ("another",), {}), Item("c", long[1:], {})])
    [[0, 2]]
    """
    parent = list(range(len(items)))
    stock = _stock(items)
    links = [*_by_references(items, stock), *_by_candidates(items, systems, stock), *_by_prompt(items, systems)]
    for one, other in links:
        parent[_root(parent, one)] = _root(parent, other)
    found: dict[int, list[int]] = defaultdict(list)
    for index in range(len(items)):
        found[_root(parent, index)].append(index)
    return sorted(places for places in found.values() if len(places) > 1)


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


def _by_references(items: Sequence[Item], stock: Collection[str]) -> Iterator[tuple[int, int]]:
    kept = [_long(item.references) for item in items]
    users: dict[str, list[int]] = defaultdict(list)
    for index, texts in enumerate(kept):
        for text in texts:
            users[text].append(index)
    near = {
        (one, other)
        for places in users.values()
        for at, other in enumerate(places)
        for one in places[max(0, at - _NEIGHBOURS) : at]
    }
    for one, other in sorted(near):
        shared = kept[one] & kept[other]
        fewer = min(len(set(items[one].references)), len(set(items[other].references)))
        if 2 * len(shared) >= fewer and _is_telling(shared, stock):
            yield one, other


def _stock(items: Sequence[Item]) -> set[str]:
    """Texts that are written again and again: twice on one side of an item, or on both sides of any items."""
    sides = [texts for item in items for texts in (item.references, *item.candidates.values())]
    repeated = {text for texts in sides for text, count in Counter(texts).items() if count > 1}
    written = {text for item in items for texts in item.candidates.values() for text in texts}
    return repeated | written.intersection(text for item in items for text in item.references)


def _long(texts: Iterable[str]) -> set[str]:
    return {text for text in texts if len(text) >= _LONG}


def _is_telling(shared: Collection[str], stock: Collection[str]) -> bool:
    """Whether shared texts show that items have one origin: two or more, and not mostly stock replies."""
    replies = sum(text in stock for text in shared)
    return len(shared) >= 2 and 2 * replies <= len(shared)


def _by_candidates(items: Sequence[Item], systems: Iterable[str], stock: Collection[str]) -> Iterator[tuple[int, int]]:
    for system in systems:
        written = [tuple(sorted(item.candidates.get(system, ()))) for item in items]
        yield from _equal({index: texts for index, texts in enumerate(written) if _is_telling(_long(texts), stock)})


def _by_prompt(items: Sequence[Item], systems: Iterable[str]) -> Iterator[tuple[int, int]]:
    asked = {index: item for index, item in enumerate(items) if item.prompt}
    yield from _equal({p: (i.prompt or "", *sorted(i.references)) for p, i in asked.items() if i.references})
    for system in systems:
        yield from _equal(
            {p: (i.prompt or "", *sorted(i.candidates[system])) for p, i in asked.items() if i.candidates.get(system)}
        )


def _equal(texts: Mapping[int, tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    first: dict[tuple[str, ...], int] = {}
    for place, key in texts.items():
        if (earlier := first.setdefault(key, place)) != place:
            yield earlier, place


def places_of(items: Sequence[Item], system: str) -> Places:
    """Where the texts of linked items go: a shared reference has one place, and so have candidates of equal lists."""
    texts: list[str] = []
    seats: dict[tuple[str, int], int] = {}
    blocks: dict[tuple[str, ...], I64] = {}
    references, candidates = [], []
    for item in items:
        mine = []
        for text, copy in _numbered(item.references):
            if (text, copy) not in seats:
                seats[text, copy] = len(texts)
                texts.append(text)
            mine.append(seats[text, copy])
        references.append(np.array(mine, dtype=np.int64))
        written = tuple(sorted(item.candidates.get(system, ())))
        if written not in blocks:
            blocks[written] = np.arange(len(texts), len(texts) + len(written))
            texts += written
        candidates.append(blocks[written])
    return Places(tuple(texts), tuple(candidates), tuple(references))


def _numbered(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Every text with the number of its copies before it."""
    seen: dict[str, int] = defaultdict(int)
    for text in texts:
        yield text, seen[text]
        seen[text] += 1


def cut(items: Sequence[Item], system: str, *, seed: int) -> list[Item]:
    """As many items of a cluster, drawn at random, as have few enough texts together; at least one.

    A cluster of one is a valid unit, so leaving items out costs power and nothing else.
    """
    largest = max(len(item.references) + len(item.candidates.get(system, ())) for item in items)
    most = min(max(MOST_TEXTS, 2 * largest), _LARGEST)
    if len(places_of(items, system).texts) <= most:
        return list(items)
    order = stream(seed, "cut cluster", items[0].id).permutation(len(items))
    kept: list[Item] = []
    for index in order:
        if not kept or len(places_of([*kept, items[index]], system).texts) <= most:
            kept.append(items[index])
        if len(kept) > 2 * most:
            break
    return kept
