"""Item pools: texts of items turned into the matrices and vectors that metrics read."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.items import Item, ItemSet
from textassay.corpus.tokenizers import Tokenizer
from textassay.views.distances import Distance, pooled_scores, pooled_shares
from textassay.views.encoders.base import F32
from textassay.views.item_pool import ItemPool
from textassay.views.text_table import TextTable


def table_of(items: ItemSet, tokenizer: Tokenizer) -> TextTable:
    """Every text of the items, numbered."""
    return TextTable.of(
        [item.references for item in items.items],
        others=(text for item in items.items for texts in item.candidates.values() for text in texts),
        tokenizer=tokenizer,
    )


@dataclass(frozen=True, eq=False)
class Pools:
    """What pools are made from: the texts, the distances, and the vectors of all texts where there is an encoder.

    `shares` adds precision and recall where a distance has them.
    """

    table: TextTable
    distances: Mapping[str, Distance]
    values: F32 | None = None
    shares: bool = False

    def system(self, item: Item, system: str) -> ItemPool:
        """A system's candidates and the item's references."""
        return self.pool(item.candidates.get(system, ()), item.references)

    def references(self, item: Item) -> ItemPool:
        """The item's references alone, in an order of their own, none of them a candidate yet."""
        return self.all_references([item.references[place] for place in scattered(item.references)])

    def all_references(self, texts: Sequence[str]) -> ItemPool:
        """These texts in this order, none of them a candidate."""
        return self._of(texts, 0)

    def pool(self, candidates: Sequence[str], references: Sequence[str]) -> ItemPool:
        """These texts, each side in an order of its own: a sample of labellings must not depend on that in a file."""
        sides = [[texts[place] for place in scattered(texts)] for texts in (candidates, references)]
        return self._of([*sides[0], *sides[1]], len(candidates))

    def _of(self, texts: Sequence[str], candidates: int) -> ItemPool:
        numbers = np.array([self.table.number_of[text] for text in texts], dtype=np.int64)
        found = {name: pooled_scores(distance, numbers) for name, distance in self.distances.items()}
        more = [
            pair for distance in self.distances.values() if self.shares for pair in pooled_shares(distance, numbers)
        ]
        return ItemPool(
            (candidates, len(texts) - candidates),
            {name: scores for name, (scores, _) in found.items()} | dict(more),
            {name: distances for name, (_, distances) in found.items()},
            None if self.values is None else self.values[numbers],
        )


def central(references: Sequence[str], pool: ItemPool) -> int | None:
    """The place of the reference with the least mean distance from all others, by the first distance there is.

    `pool` has the same references, scattered.
    """
    if len(references) < 2 or not pool.distances:
        return None
    # Others as hypotheses, this one as reference: how far everyone is from it.
    sums = next(iter(pool.distances.values())).sum(axis=0)
    if not np.isfinite(sums).all():
        return None
    return scattered(references)[int(sums.argmin())]


def scattered(texts: Sequence[str]) -> list[int]:
    """Places of the texts in an order that has to do neither with the file nor with what they say.

    In the order of the alphabet, texts of one place in a sample of labellings would have something in common from item
    to item, and the items' p-values with it.
    """
    return sorted(range(len(texts)), key=lambda place: hashlib.blake2b(texts[place].encode(), digest_size=8).digest())


def all_texts(items: Iterable[Item], system: str | None = None) -> list[str]:
    """All references, or all candidates of a system, in order."""
    if system is None:
        return [text for item in items for text in item.references]
    return [text for item in items for text in item.candidates.get(system, ())]
