"""Edit distance: the share of words to insert, delete or replace."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings
from textassay.distances.packed_texts import PackedTexts
from textassay.errors import InputError

# The time grows with the square of the words of an item; with this number it is about half a minute.
_MOST_WORDS = 100_000


@dataclass(frozen=True, eq=False)
class Edit:
    """Levenshtein distance on tokens, divided by the length of the longer text; the score is 1 minus the distance.

    Two empty texts score 1. A moved word counts twice, as a deletion and an insertion.
    """

    table: TextTable

    name: ClassVar[str] = "edit"
    signature: ClassVar[str] = "edit"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: I64, /) -> F64:
        """The unchanged share of each pair of texts."""
        words = int(self.table.sequences.lengths[numbers].sum())
        if words > _MOST_WORDS:
            seen = f"edit distance among {len(numbers)} texts with {words:,} words"
            raise InputError(f"{seen}; wanted at most {_MOST_WORDS:,} words per item, or another distance")
        edits = PackedTexts.of([self.table.ids(number).tolist() for number in numbers.tolist()]).edit_distances()
        lengths = self.table.sequences.lengths[numbers]
        longer = np.maximum(lengths[:, None], lengths)
        return 1.0 - edits / np.maximum(longer, 1)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> Edit:
    """The edit distance among the texts of a run."""
    return Edit(surroundings.table)
