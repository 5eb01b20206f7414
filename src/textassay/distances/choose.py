"""Pairwise text distances: how far one text is from another, for whole items at once.

A distance is also a score: `scores` gives how good each text is as a hypothesis for each other one, `top` is what a
perfect match scores, and the distance is what is missing to it. The triangle statistic needs one thing of a distance,
that a text has none to itself; `distances` sees to that for every one of them.
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
    """A distance that has seen the texts of a run."""

    @property
    def name(self) -> str:
        """The name users write, such as `meteor`."""
        ...

    @property
    def signature(self) -> str:
        """The name and whatever else fixes its numbers, for signatures: no blanks, no bars."""
        ...

    @property
    def top(self) -> float:
        """The score of a perfect match."""
        ...

    def scores(self, numbers: I64, /) -> F64:
        """Scores among different texts of the table: row i, column j is text i as hypothesis against reference j."""
        ...

    def same(self, numbers: I64, /) -> I64:
        """For each text a number that it shares with those that are one and the same text to this distance."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """What distances are made from: the texts, and what the user chose beside."""

    table: TextTable
    encoder: Encoder | None = None
    document_frequencies: str | None = None


# Where each distance is made: a module with `make(surroundings) -> Distance`, imported when asked for.
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
    """Refuse a name that no distance has."""
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

    Each different text is measured once, so that texts that are the same tie exactly; a text and one that is the same
    to this distance have none between them, whatever a score's rounding or its rules for short texts say.
    """
    different, places = np.unique(numbers, return_inverse=True)
    scores = distance.scores(different)
    same = distance.same(different)
    distances = np.where(same[:, None] == same, 0.0, np.maximum(distance.top - scores, 0.0))
    return scores[np.ix_(places, places)], distances[np.ix_(places, places)]


def pooled_shares(distance: Distance, numbers: I64) -> Iterator[tuple[str, F64]]:
    """Precision and recall among an item's pooled texts by name, of a distance that is made from them."""
    shares: Callable[[I64], tuple[F64, F64]] | None = getattr(distance, "shares", None)
    if shares is not None:
        for share, values in zip(("precision", "recall"), shares(numbers), strict=True):
            yield f"{distance.name} {share}", values
