"""ROUGE-L as a distance: 1 minus the F-score of the longest common subsequence."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings
from textassay.distances.packed_texts import PackedTexts

# Recall has more weight; the value of the COCO caption evaluation.
BETA = 1.2


@dataclass(frozen=True, eq=False)
class RougeL:
    r"""F-score of the longest common subsequence of tokens, with precision P and recall R.

    .. math:: \frac{(1 + \beta^2) P R}{R + \beta^2 P}, \quad \beta = 1.2

    It is not symmetric: a hypothesis that is part of its reference scores lower than the other way round. Two empty
    texts score 1. The COCO caption tools compute the F-score from the best precision and the best recall over all
    references, which may come from different references; `score:distance=rouge_l:over=coco` does the same.
    """

    table: TextTable

    name: ClassVar[str] = "rouge_l"
    signature: ClassVar[str] = "rouge_l"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: I64, /) -> F64:
        """ROUGE-L of each text against each other one."""
        common, lengths = self._common(numbers), self.table.sequences.lengths[numbers]
        # The formula with both fractions multiplied out: with one division a perfect match is exactly 1.
        wanted = lengths[:, None] + BETA**2 * lengths
        empty = wanted == 0
        return np.where(empty, 1.0, (1 + BETA**2) * common / np.where(empty, 1.0, wanted))

    def shares(self, numbers: I64, /) -> tuple[F64, F64]:
        """Precision and recall of each text against each other one; 0 for a text without tokens."""
        common, lengths = self._common(numbers), np.maximum(self.table.sequences.lengths[numbers], 1)
        return common / lengths[:, None], common / lengths

    def _common(self, numbers: I64) -> F64:
        """Lengths of the longest common subsequences."""
        packed = PackedTexts.of([self.table.ids(number).tolist() for number in numbers.tolist()])
        return np.asarray(packed.common_subsequences(), dtype=np.float64)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> RougeL:
    """ROUGE-L among the texts of a run."""
    return RougeL(surroundings.table)
