"""Pairwise text distances, computed for whole items at once.

A distance is defined by a score: `scores` rates each text as a hypothesis for each other text, `top` is the score of a
perfect match, and the distance is `top` minus the score. The triangle statistic requires that the distance of a text
from itself is 0; `pooled_scores` ensures it for all distances.
"""

import difflib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.distances.text_table import TextTable
from textassay.encoders.base import Encoder
from textassay.errors import InputError


class Distance(Protocol):
    """A distance between the texts of a run."""

    @property
    def name(self) -> str:
        """The name for users, such as `meteor`."""
        ...

    @property
    def signature(self) -> str:
        """The name and everything else that determines the numbers, without spaces and bars, for signatures."""
        ...

    @property
    def top(self) -> float:
        """The score of a perfect match."""
        ...

    def scores(self, numbers: I64, /) -> F64:
        """Scores among different texts of the table: row i, column j is text i as hypothesis against reference j."""
        ...

    def same(self, numbers: I64, /) -> I64:
        """For each text a number that is shared by all texts that this distance cannot tell apart."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """The inputs of distances: the texts and the options of the user."""

    table: TextTable
    encoder: Encoder | None = None
    document_frequencies: str | None = None


# The module of each distance, with `make(surroundings) -> Distance`; it is imported on first use.
BUILT_IN = {
    "meteor": "textassay.distances.meteor",
    "cider": "textassay.distances.cider",
    "bleu": "textassay.distances.bleu",
    "rouge_l": "textassay.distances.rouge_l",
    "chrf": "textassay.distances.chrf",
    "bert": "textassay.distances.cosine",
    "edit": "textassay.distances.edit",
}
# Distances on sentence vectors.
NEEDS_ENCODER = ("bert",)


def check_distance(name: str, own: Sequence[str] = ()) -> None:
    """Raise an error for an unknown distance."""
    names = [*BUILT_IN, *own]
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
    raise InputError(f"no distance {name!r}; {hint}")


def get_distance(name: str, surroundings: Surroundings) -> Distance:
    """The distance of this name, made for these texts."""
    check_distance(name)
    make: Callable[[Surroundings], Distance] = importlib.import_module(BUILT_IN[name]).make
    return make(surroundings)


def pooled_scores(distance: Distance, numbers: I64) -> tuple[F64, F64]:
    """Scores and distances among an item's pooled texts, which may repeat.

    Each different text is measured once, so that equal texts tie exactly. Texts that the distance cannot tell apart
    have distance 0, even if rounding or the rules for short texts give them a lower score.
    """
    different, places = np.unique(numbers, return_inverse=True)
    scores = distance.scores(different)
    same = distance.same(different)
    distances = np.where(same[:, None] == same, 0.0, np.maximum(distance.top - scores, 0.0))
    return scores[np.ix_(places, places)], distances[np.ix_(places, places)]


def pooled_shares(distance: Distance, numbers: I64) -> Iterator[tuple[str, F64]]:
    """Precision and recall among an item's pooled texts by name, for a distance that is computed from them."""
    shares: Callable[[I64], tuple[F64, F64]] | None = getattr(distance, "shares", None)
    if shares is not None:
        for share, values in zip(("precision", "recall"), shares(numbers), strict=True):
            yield f"{distance.name} {share}", values
