"""One item's texts thrown together, and the ways to tell candidates from references among them."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from textassay.corpus.arrays import F32, F64, I64, Bool

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Labels:
    """Which of an item's pooled texts are candidates and which are references, one row a labelling.

    Every row has equally many of each. A text may be neither: then the row measures a part of the item.
    """

    candidate: Bool
    reference: Bool

    def __len__(self) -> int:
        return len(self.candidate)

    @property
    def sizes(self) -> tuple[int, int]:
        """Candidates and references in every row."""
        return int(self.candidate[0].sum()), int(self.reference[0].sum())

    def places(self) -> tuple[I64, I64]:
        """Places of the candidates and of the references, one row a labelling."""
        return _places(self.candidate), _places(self.reference)

    @classmethod
    def partitions(cls, candidate: Bool) -> "Labels":
        """Everything that is no candidate is a reference."""
        return cls(candidate, ~candidate)


def _places(mask: Bool) -> I64:
    return np.nonzero(mask)[1].reshape(len(mask), -1)


@dataclass(frozen=True, eq=False)
class ItemPool:
    """The pooled texts of one item and one system, candidates first, as metrics see them.

    `scores` and `distances` hold, by the name of a distance, square matrices: row i, column j is text i as hypothesis
    against text j as reference. `values` are the sentence vectors, where an encoder was chosen.
    """

    sizes: tuple[int, int]
    scores: Mapping[str, F64]
    distances: Mapping[str, F64]
    values: F32 | None = None
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

    def once(self, key: Hashable, make: Callable[[], T], /) -> T:
        """What `make` returns, made once and kept under its key."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
