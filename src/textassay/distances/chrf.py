"""chrF as a distance: 1 minus the F-score of character n-grams."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.hashed_ngrams import Sequences, mix
from textassay.corpus.item_set import TextTable
from textassay.distances.base import Surroundings, TextCounts

ORDERS = 6
# Recall has twice the weight of precision.
BETA = 2


@dataclass(frozen=True, eq=False)
class Chrf:
    """chrF of order 6: precision and recall of character n-grams, averaged over orders, as F-score with beta 2.

    The same as sacrebleu's sentence chrF on a scale from 0 to 1, on the characters of the tokens without white space.
    Only orders that both texts are long enough for count. Word boundaries are ignored: `a way` and `away` are equal. A
    text without characters scores 0.
    """

    alike: I64
    counts: TextCounts

    name: ClassVar[str] = "chrf"
    signature: ClassVar[str] = "chrf"
    top: ClassVar[float] = 1.0

    def scores(self, numbers: I64, /) -> F64:
        """chrF of each text against each other one."""
        matches = self.counts.matches(numbers)
        sizes = self.counts.sizes(numbers)
        usable = (sizes[:, :, None] > 0) & (sizes[:, None, :] > 0)
        orders = np.maximum(usable.sum(axis=0), 1)
        # There are no matches in orders that one of the texts is too short for.
        precision = (matches / np.maximum(sizes, 1)[:, :, None]).sum(axis=0) / orders
        recall = (matches / np.maximum(sizes, 1)[:, None, :]).sum(axis=0) / orders
        wanted = BETA**2 * precision + recall
        return (1 + BETA**2) * precision * recall / np.where(wanted > 0, wanted, 1.0)

    def same(self, numbers: I64, /) -> I64:
        """Texts with the same characters share a number, even if their words differ."""
        return self.alike[numbers]


def make(surroundings: Surroundings) -> Chrf:
    """chrF among the texts of a run."""
    texts = characters(surroundings.table)
    first: dict[str, int] = {}
    alike = np.array([first.setdefault(text, index) for index, text in enumerate(texts)], dtype=np.int64)
    return Chrf(alike, TextCounts.of(_sequences(texts), ORDERS))


def characters(table: TextTable) -> list[str]:
    """The joined tokens of each text, without white space."""
    words = ["".join(word.split()) for word in table.tokens.vocabulary.to_pylist()]
    ids, offsets = table.tokens.ids.tolist(), table.tokens.offsets.tolist()
    return ["".join([words[word] for word in ids[a:b]]) for a, b in pairwise(offsets)]


def _sequences(texts: Sequence[str]) -> Sequences:
    points = np.frombuffer("".join(texts).encode("utf-32-le"), dtype="<u4")
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
    return Sequences(mix(points.astype(np.uint64)), offsets)
