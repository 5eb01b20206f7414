"""Sentence BLEU-4 as a distance: 1 less the score."""

from dataclasses import dataclass
from typing import ClassVar

from textassay.views.bleu_counts import text_bleu
from textassay.views.distances import F64, Surroundings
from textassay.views.sequences import Sequences
from textassay.views.text_distances.text_counts import TextCounts
from textassay.views.text_table import Numbers, TextTable

ORDERS = 4


@dataclass(frozen=True, eq=False)
class Bleu:
    """BLEU-4 of one text against one reference: uniform weights, smoothing method 1, 0 without a matching word.

    NLTK's `sentence_bleu` pair by pair. A text of fewer than four words scores below 1 even against itself, because
    the orders it is too short for are smoothed; its distance from itself is 0 all the same.
    """

    table: TextTable
    counts: TextCounts

    name: ClassVar[str] = "bleu"
    signature: ClassVar[str] = "bleu"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: Numbers, /) -> F64:
        """BLEU of each text against each other one."""
        lengths = self.counts.lengths[numbers]
        sizes = self.counts.sizes(numbers)[:, :, None]
        return text_bleu(self.counts.matches(numbers), sizes, lengths=lengths[:, None], closest=lengths[None, :])

    def same(self, numbers: Numbers, /) -> Numbers:
        """Texts with the same tokens are one."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> Bleu:
    """BLEU among the texts of a run."""
    table = surroundings.table
    return Bleu(table, TextCounts.of(Sequences.from_tokens(table.tokens), ORDERS))
