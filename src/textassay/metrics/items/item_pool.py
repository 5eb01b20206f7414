"""The pooled texts of one item, and labellings: which of the texts are candidates and which are references."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textassay.corpus.arrays import F32, F64, I64, Bool
from textassay.distances.bleu import JointCounts
from textassay.metrics.vectors.vectors import chosen_places
from textassay.metrics.views import Memo


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


@dataclass(frozen=True, eq=False)
class ItemPool(Memo):
    """The pooled texts of one item and one system, candidates first.

    `scores` and `distances` are square matrices by the name of a distance: row i, column j has text i as hypothesis
    against text j as reference. `values` are the sentence vectors if an encoder was chosen. `joint` is what BLEU
    against several references together is computed from, if it was requested.
    """

    sizes: tuple[int, int]
    scores: Mapping[str, F64]
    distances: Mapping[str, F64]
    values: F32 | None = None
    joint: JointCounts | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def vectors(self) -> F32:
        """The sentence vectors of the pooled texts."""
        assert self.values is not None, "no encoder was chosen"
        return self.values

    @property
    def observed(self) -> Labels:
        """The one labelling that was observed."""
        return Labels.partitions(np.arange(len(self))[None, :] < self.sizes[0])
