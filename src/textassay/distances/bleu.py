"""Sentence BLEU-4 as a distance: 1 minus the score."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings, TextCounts

ORDERS = 4


@dataclass(frozen=True, eq=False)
class Bleu:
    """BLEU-4 of one text against one reference: uniform weights, smoothing method 1, 0 without a matching word.

    With `smoothing="none"` it is 0 if any order has no match, as it was defined. Both are NLTK's `sentence_bleu` for
    each pair. A text of fewer than four words scores below 1 even against itself, because the orders it is too short
    for have no match, but its distance from itself is 0.
    """

    table: TextTable
    counts: TextCounts
    smoothing: str = "method1"

    top: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        """The name, with the smoothing if it is not the default."""
        return "bleu" if self.smoothing == "method1" else f"bleu smoothing={self.smoothing}"

    @property
    def signature(self) -> str:
        """The same without a space."""
        return self.name.replace(" ", "/")

    def scores(self, numbers: I64, /) -> F64:
        """BLEU of each text against each other one."""
        lengths = self.counts.lengths[numbers]
        sizes = self.counts.sizes(numbers)[:, :, None]
        matches = self.counts.matches(numbers)
        own, others = lengths[:, None], lengths[None, :]
        return text_bleu(matches, sizes, lengths=own, closest=others, smoothing=self.smoothing)

    def joint(self, numbers: I64, /) -> "JointCounts":
        """What BLEU against several references together is computed from."""
        return JointCounts(self.counts.occurrences(numbers), self.counts.lengths[numbers], self.smoothing)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same tokens share a number."""
        return self.table.alike[numbers]


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Texts of an item for BLEU against several references together.

    `occurrences` has one table per order: a column for the first, second, ... occurrence of each n-gram. A reference
    that has an n-gram more often than all others has all columns that any reference has, so the clipped count of a text
    is the number of its columns that at least one reference has.
    """

    occurrences: tuple[F64, ...]
    lengths: I64
    smoothing: str = "method1"

    def scores(self, references: Bool) -> F64:
        """BLEU of each text against the references of each row."""
        present = references.astype(np.float64)
        matches = np.stack([((present @ table) > 0).astype(np.float64) @ table.T for table in self.occurrences])
        sizes = np.maximum(self.lengths - np.arange(len(self.occurrences))[:, None], 0)[:, None, :]
        closest = self._closest(references)
        return text_bleu(matches, sizes, lengths=self.lengths, closest=closest, smoothing=self.smoothing)

    def _closest(self, references: Bool) -> I64:
        """The reference length closest to that of each text, the shorter one on ties, one row per row of references."""
        values = np.unique(self.lengths)
        apart = np.abs(self.lengths[:, None] - values)
        has = np.stack([references[:, self.lengths == value].any(axis=1) for value in values], axis=1)
        far = np.where(has[:, None, :], apart, np.iinfo(np.int64).max)
        # Values ascend, so the first of the equally close ones is the shorter one.
        found: I64 = values[far.argmin(axis=2)]
        return found


def make(surroundings: Surroundings, *, smoothing: str = "method1") -> Bleu:
    """BLEU among the texts of a run."""
    table = surroundings.table
    return Bleu(table, TextCounts.of(table.sequences, ORDERS), smoothing)


EPSILON = 0.1


def text_bleu(matches: F64, sizes: I64, *, lengths: I64, closest: I64, smoothing: str = "method1") -> F64:
    """BLEU of each text from its matches and sizes (one row per order), with smoothing method 1 or none."""
    precisions = np.where(matches > 0, matches, EPSILON) / np.maximum(sizes, 1)
    shrink = 1 - closest / np.maximum(lengths, 1)
    brevity = np.where(lengths > closest, 1.0, np.exp(np.minimum(shrink, 0.0)))
    scores: F64 = brevity * np.exp(np.log(precisions).mean(axis=0))
    found = matches > 0
    counted = found[0] if smoothing == "method1" else found.all(axis=0)
    return np.where(counted & (lengths > 0), scores, 0.0)
