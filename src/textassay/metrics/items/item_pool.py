"""The pooled texts of one item, its labellings (which texts are candidates, which references), and metrics on them."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from textassay.corpus.arrays import F32, F64, I64, Bool
from textassay.corpus.item_set import TextTable
from textassay.corpus.sample import stream
from textassay.distances.base import Distance, pooled_scores, pooled_shares
from textassay.distances.bleu import Bleu, JointCounts
from textassay.metrics.vectors.vectors import chosen_places
from textassay.metrics.views import Memo

if TYPE_CHECKING:
    from textassay.metrics.registry import Request


@dataclass(frozen=True, eq=False)
class Labels:
    """Which of an item's pooled texts are candidates and which are references, one row per labelling.

    Every row has the same number of candidates and the same number of references. A text may be neither: then the row
    measures a part of the item.
    """

    candidate: Bool
    reference: Bool

    def __len__(self) -> int:
        return len(self.candidate)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of candidates and of references in every row."""
        return int(self.candidate[0].sum()), int(self.reference[0].sum())

    def places(self) -> tuple[I64, I64]:
        """Places of the candidates and of the references, one row per labelling."""
        return chosen_places(self.candidate), chosen_places(self.reference)

    @classmethod
    def partitions(cls, candidate: Bool) -> "Labels":
        """Labellings in which every text that is not a candidate is a reference."""
        return cls(candidate, ~candidate)


def all_masks(mine: int, others: int) -> Bool:
    """Every way to choose the candidate's texts from the pool."""
    chosen = np.array(list(combinations(range(mine + others), mine)), dtype=np.int64)
    masks = np.zeros((len(chosen), mine + others), dtype=bool)
    np.put_along_axis(masks, chosen, True, axis=1)
    return masks


def random_masks(mine: int, others: int, *, rows: int, seed: int) -> Bool:
    """Random choices of the candidate's texts, one row each."""
    masks = np.zeros((rows, mine + others), dtype=bool)
    rng = stream(seed, "exchange")
    for row in masks:
        row[rng.choice(mine + others, mine, replace=False, shuffle=False)] = True
    return masks


def _no_vectors() -> F32:
    return np.empty((0, 0), np.float32)


@dataclass(frozen=True, eq=False)
class ItemPool(Memo):
    """The pooled texts of one item and one system, candidates first.

    `scores` and `distances` are square matrices by the name of a distance: row i, column j has text i as hypothesis
    against text j as reference. `vectors` are the sentence vectors of the texts, or nothing without an encoder. `joint`
    is what BLEU against several references together is computed from, by name, if it was requested. `undefined` has
    the reasons why distances mean nothing here, by name; their scores and distances are NaN.
    """

    sizes: tuple[int, int]
    scores: Mapping[str, F64]
    distances: Mapping[str, F64]
    vectors: F32 = field(default_factory=_no_vectors)
    joint: Mapping[str, JointCounts] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def observed(self) -> Labels:
        """The one labelling that was observed."""
        return Labels.partitions(np.arange(len(self))[None, :] < self.sizes[0])


@dataclass(frozen=True, eq=False)
class Pools:
    """What pools are made from: the texts, the distances, and the vectors of all texts where there is an encoder.

    `shares` adds precision and recall where a distance has them.
    """

    table: TextTable
    distances: Mapping[str, Distance]
    values: F32 | None = None
    shares: bool = False
    joint: bool = False

    def all_references(self, texts: Sequence[str]) -> ItemPool:
        """These texts in this order, none of them a candidate."""
        return self._of(texts, 0)

    def pool(self, candidates: Sequence[str], references: Sequence[str]) -> ItemPool:
        """These texts, each side in an order of its own: a sample of labellings must not depend on that in a file.

        Without candidates it is a pool of references alone, none of them a candidate yet.
        """
        sides = [[texts[index] for index in scattered(texts)] for texts in (candidates, references)]
        return self._of([*sides[0], *sides[1]], len(candidates))

    def _of(self, texts: Sequence[str], candidates: int) -> ItemPool:
        numbers = np.array([self.table.number_of[text] for text in texts], dtype=np.int64)
        reasons = {name: getattr(distance, "undefined", "") for name, distance in self.distances.items()}
        nothing = np.full((len(numbers), len(numbers)), np.nan)
        found = {
            name: (nothing, nothing) if reasons[name] else pooled_scores(distance, numbers)
            for name, distance in self.distances.items()
        }
        more = [
            pair for distance in self.distances.values() if self.shares for pair in pooled_shares(distance, numbers)
        ]
        return ItemPool(
            (candidates, len(texts) - candidates),
            {name: scores for name, (scores, _) in found.items()} | dict(more),
            {name: distances for name, (_, distances) in found.items()},
            _no_vectors() if self.values is None else self.values[numbers],
            {n: d.joint(numbers) for n, d in self.distances.items() if self.joint and isinstance(d, Bleu)},
            {name: reason for name, reason in reasons.items() if reason},
        )


def scattered(texts: Sequence[str]) -> list[int]:
    """Places of the texts in an order that depends neither on the file nor on the alphabet.

    In the order of the alphabet, texts of one place in a sample of labellings would have something in common from item
    to item, and the items' p-values with it.
    """
    return sorted(range(len(texts)), key=lambda index: hashlib.blake2b(texts[index].encode(), digest_size=8).digest())


def item_values(request: "Request", pool: ItemPool, labels: Labels) -> F64:
    """The metric under each labelling."""
    measure: Any = request.metric.item
    if request.metric.reads_vectors:
        assert len(pool.vectors) == len(pool), "no encoder was chosen"
    with np.errstate(divide="ignore", invalid="ignore"):
        values: F64 = measure(pool, labels, **request.options)
    return values


def item_parts(request: "Request", pool: ItemPool) -> Mapping[str, float]:
    """The named numbers behind the observed value, of metrics that are made for items."""
    metric = request.metric
    return metric.parts(pool, **request.options) if metric.parts and not metric.on_samples else {}
