"""ROUGE-L as a distance: 1 less the F-score of the longest common subsequence."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.distances.choose import Surroundings
from textassay.distances.packed_texts import PackedTexts
from textassay.distances.text_table import TextTable

# Recall counts for more; the value of the COCO caption evaluation.
BETA = 1.2


@dataclass(frozen=True, eq=False)
class RougeL:
    r"""F-score of the longest common subsequence of tokens, with precision P and recall R.

    .. math:: \frac{(1 + \beta^2) P R}{R + \beta^2 P}, \quad \beta = 1.2

    It is not symmetric: a hypothesis that is part of its reference scores lower than the other way round. Two empty
    texts score 1. The COCO caption tools take the best precision and the best recall over all references before they
    make one F-score of them, which may come from two different references; `score:distance=rouge_l:over=coco` does so.
    """

    table: TextTable

    name: ClassVar[str] = "rouge_l"
    signature: ClassVar[str] = "rouge_l"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: I64, /) -> F64:
        """ROUGE-L of each text against each other one."""
        common, lengths = self._common(numbers), self.table.tokens.lengths[numbers]
        # The formula with both shares multiplied out: one division, so that a perfect match is exactly 1.
        wanted = lengths[:, None] + BETA**2 * lengths
        empty = wanted == 0
        return np.where(empty, 1.0, (1 + BETA**2) * common / np.where(empty, 1.0, wanted))

    def shares(self, numbers: I64, /) -> tuple[F64, F64]:
        """Precision and recall of each text against each other one; 0 where there is no token to divide by."""
        common, lengths = self._common(numbers), np.maximum(self.table.tokens.lengths[numbers], 1)
        return common / lengths[:, None], common / lengths

    def _common(self, numbers: I64) -> F64:
        """Lengths of the longest common subsequences."""
        packed = PackedTexts.of([self.table.ids(number).tolist() for number in numbers.tolist()])
        return np.asarray(packed.common_subsequences(), dtype=np.float64)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens are one."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> RougeL:
    """ROUGE-L among the texts of a run."""
    return RougeL(surroundings.table)
