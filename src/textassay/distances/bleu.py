"""Sentence BLEU-4 as a distance: 1 minus the score."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.hashed_ngrams import Sequences
from textassay.distances.choose import Surroundings
from textassay.distances.text_table import TextCounts, TextTable

ORDERS = 4


@dataclass(frozen=True, eq=False)
class Bleu:
    """BLEU-4 of one text against one reference: uniform weights, smoothing method 1, 0 without a matching word.

    The same as NLTK's `sentence_bleu` for each pair. A text of fewer than four words scores below 1 even against
    itself, because the orders it is too short for are smoothed, but its distance from itself is 0.
    """

    table: TextTable
    counts: TextCounts

    name: ClassVar[str] = "bleu"
    signature: ClassVar[str] = "bleu"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: I64, /) -> F64:
        """BLEU of each text against each other one."""
        lengths = self.counts.lengths[numbers]
        sizes = self.counts.sizes(numbers)[:, :, None]
        return text_bleu(self.counts.matches(numbers), sizes, lengths=lengths[:, None], closest=lengths[None, :])

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]


def make(surroundings: Surroundings) -> Bleu:
    """BLEU among the texts of a run."""
    table = surroundings.table
    return Bleu(table, TextCounts.of(Sequences.from_tokens(table.tokens), ORDERS))


EPSILON = 0.1


def text_bleu(matches: F64, sizes: I64, *, lengths: I64, closest: I64) -> F64:
    """BLEU of each text from its matches and numbers of n-grams (one row per order), with smoothing method 1."""
    precisions = np.where(matches > 0, matches, EPSILON) / np.maximum(sizes, 1)
    shrink = 1 - closest / np.maximum(lengths, 1)
    brevity = np.where(lengths > closest, 1.0, np.exp(np.minimum(shrink, 0.0)))
    scores: F64 = brevity * np.exp(np.log(precisions).mean(axis=0))
    return np.where((matches[0] > 0) & (lengths > 0), scores, 0.0)
