"""TextNgrams: which n-gram stands in which text, and how often."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from textassay.views.hashing import U64, order_of, union
from textassay.views.material import Mask, Material, Pool, Resamples
from textassay.views.sequences import Sequences

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Incidence:
    """Gram `keys[g]` stands in `texts[starts[g]:starts[g + 1]]`, `counts` times in each; keys and texts ascend."""

    keys: U64
    starts: NDArray[np.int64]
    texts: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def from_ngrams(cls, grams: U64, texts: NDArray[np.int32]) -> Self:
        """Count n-grams given in reading order."""
        order = order_of(grams)
        grams, texts = grams[order], texts[order]
        new_gram = np.ones(len(grams), dtype=bool)
        np.not_equal(grams[1:], grams[:-1], out=new_gram[1:])
        first = new_gram.copy()
        first[1:] |= texts[1:] != texts[:-1]
        entries = np.flatnonzero(first)
        counts = np.diff(entries, append=len(grams)).astype(np.int32)
        starts = np.append(np.flatnonzero(new_gram[entries]), len(entries))
        return cls(grams[new_gram], starts, texts[entries], counts)

    def merge(self, other: Self, shift: int) -> Self:
        """Both, the other's texts numbered from `shift`."""
        keys = union(self.keys, other.keys)
        mine, theirs = np.searchsorted(keys, self.keys), np.searchsorted(keys, other.keys)
        my_sizes = np.zeros(len(keys), dtype=np.int64)
        my_sizes[mine] = np.diff(self.starts)
        sizes = my_sizes.copy()
        sizes[theirs] += np.diff(other.starts)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        texts = np.empty(starts[-1], dtype=np.int32)
        counts = np.empty(starts[-1], dtype=np.int32)
        for part, begin, offset in ((self, starts[mine], 0), (other, (starts[:-1] + my_sizes)[theirs], shift)):
            places = np.arange(len(part.texts)) + np.repeat(begin - part.starts[:-1], np.diff(part.starts))
            texts[places] = part.texts + np.int32(offset)
            counts[places] = part.counts
        return type(self)(keys, starts, texts, counts)

    def where(self, mask: Mask) -> Self:
        """Only the texts under the mask, numbered anew; the keys stay, so that parts of one pool need no aligning."""
        kept = mask[self.texts]
        number = (np.cumsum(mask) - 1).astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(kept)))[self.starts]
        return type(self)(self.keys, starts, number[self.texts[kept]], self.counts[kept])

    def totals(self) -> NDArray[np.int64]:
        """How often each gram stands in all texts together."""
        sums = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        return np.diff(sums[self.starts])

    def best(self) -> NDArray[np.int32]:
        """The largest count of each gram in one text; 0 where a gram has no text."""
        return largest(self.counts, self.starts)


def largest(values: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """The largest value of each run; 0 for an empty run."""
    found = np.zeros(len(starts) - 1, dtype=np.int32)
    filled = starts[1:] > starts[:-1]
    if filled.any():
        found[filled] = np.maximum.reduceat(values, starts[:-1][filled])
    return found


@dataclass(frozen=True, eq=False)
class TextNgrams:
    """The n-grams of each text for every order, each order counted on first use."""

    shared: ClassVar[bool] = True

    lengths: NDArray[np.int64]
    _count: Callable[[int], Incidence] = field(repr=False)
    _orders: dict[int, Incidence] = field(default_factory=dict, repr=False)
    _kept: WeakKeyDictionary["TextNgrams", dict[tuple[str, int], Any]] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Count the n-grams of each text of a sample."""
        sequences = material.view(Sequences)
        return cls(sequences.lengths, lambda n: Incidence.from_ngrams(*sequences.ngrams(n)))

    def merge(self, other: Self, /) -> Self:
        """These texts, then the other ones."""
        lengths = np.concatenate((self.lengths, other.lengths))
        return type(self)(lengths, lambda n: self.order(n).merge(other.order(n), len(self)))

    def where(self, mask: Mask) -> Self:
        """Only the texts under the mask."""
        return type(self)(self.lengths[mask], lambda n: self.order(n).where(mask))

    def __len__(self) -> int:
        return len(self.lengths)

    def order(self, n: int) -> Incidence:
        """The n-grams of one order."""
        if n not in self._orders:
            self._orders[n] = self._count(n)
        return self._orders[n]

    def once(self, key: tuple[str, int], other: "TextNgrams", make: Callable[[], T]) -> T:
        """What `make` counts between these texts and others under this key, counted once as long as both live."""
        kept = self._kept.setdefault(other, {})
        if key not in kept:
            kept[key] = make()
        counted: T = kept[key]
        return counted

    def sizes(self, n: int) -> NDArray[np.int64]:
        """How many n-grams each text has."""
        return np.maximum(self.lengths - n + 1, 0)

    @classmethod
    def resample(cls, pool: Pool, resamples: Resamples, /) -> Iterator[tuple[Self, ...]]:
        """One row at a time: the texts under each of the masks."""
        texts = pool.merged(cls)
        for rows in zip(*resamples.masks, strict=True):
            yield tuple(texts.where(row[resamples.units]) for row in rows)
