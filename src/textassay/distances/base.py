"""What all distances share: counts of n-grams by text, the contract of a distance, and the choice by name.

A distance is defined by a score: `scores` rates each text as a hypothesis for each other text, `top` is the score of a
perfect match, and the distance is `top` minus the score. The triangle statistic requires that the distance of a text
from itself is 0; `pooled_scores` ensures it for all distances.
"""

import difflib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import Incidence, Sequences
from textassay.corpus.item_set import TextTable
from textassay.encoders.base import Encoder
from textassay.errors import InputError


@dataclass(frozen=True, eq=False)
class TextCounts:
    """A sparse matrix with one row per text and order, and one column per n-gram for its first, second, ... occurrence.

    A text that contains an n-gram c times has an entry in c columns of it. The number of columns that two texts share
    is therefore the clipped count, the smaller of both counts. One sparse product of rows contains the matches of all
    pairs and all orders; different orders have no common columns. Each sum runs over the n-grams of one text in a fixed
    order, so the result of a pair does not depend on the other texts.
    """

    lengths: NDArray[np.int64]
    orders: int
    keys: U64
    counts: F64
    _ones: Any

    @classmethod
    def of(cls, sequences: Sequences, orders: int) -> Self:
        """Count the n-grams of orders 1 to `orders`."""
        parts, keys, width = [], [], 0
        incidences = [Incidence.from_ngrams(*sequences.ngrams(n)) for n in range(1, orders + 1)]
        for order, incidence in enumerate(incidences):
            occurrences = incidence.best()
            parts.append(_entries(incidence, order, orders, width))
            keys.append(np.repeat(incidence.keys, occurrences))
            width += int(occurrences.sum())
        rows, columns, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        counted = csr_array((counts.astype(np.float64), (rows, columns)), shape=(len(sequences) * orders, width))
        ones = csr_array((np.ones_like(counted.data), counted.indices, counted.indptr), shape=counted.shape)
        return cls(sequences.lengths, orders, np.concatenate(keys), counted.data, ones)

    def sizes(self, numbers: I64) -> NDArray[np.int64]:
        """The number of n-grams of each of these texts, one row per order."""
        return np.maximum(self.lengths[numbers] - np.arange(self.orders)[:, None], 0)

    def matches(self, numbers: I64) -> F64:
        """Clipped matches of these texts, by order, text and text."""
        return self._between(numbers, self._ones)

    def occurrences(self, numbers: I64) -> tuple[F64, ...]:
        """For each order a table with one row per text and one column per occurrence of an n-gram in these texts."""
        return tuple(self._columns(numbers * self.orders + order) for order in range(self.orders))

    def _columns(self, rows: I64) -> F64:
        chosen = self._ones[rows]
        used, places = np.unique(chosen.indices, return_inverse=True)
        table: F64 = csr_array((chosen.data, places, chosen.indptr), shape=(len(rows), len(used))).toarray()
        return table

    def weighted(self, weights: F64) -> "WeightedCounts":
        """The same counts with one weight per column, in the order of `keys`."""
        return WeightedCounts(self, self._with(self.counts * weights[self._ones.indices]))

    def _with(self, values: F64) -> Any:
        return csr_array((values, self._ones.indices, self._ones.indptr), shape=self._ones.shape)

    def _between(self, numbers: I64, others: Any) -> F64:
        """Products of the rows of these texts with the rows of other values, by order, text and text."""
        rows = (numbers[:, None] * self.orders + np.arange(self.orders)).ravel()
        product = self._ones[rows] @ others[rows].T
        first = np.repeat(np.arange(len(rows)), np.diff(product.indptr))
        found = np.zeros((self.orders, len(numbers), len(numbers)))
        found[first % self.orders, first // self.orders, product.indices // self.orders] = product.data
        return found


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Counts of n-grams with weights."""

    counts: TextCounts
    _values: Any

    def overlaps(self, numbers: I64) -> F64:
        """Order, text i, text j: the sum over n-grams of min(count in i, count in j) * count in j * weight."""
        return self.counts._between(numbers, self._values)

    def squares(self) -> F64:
        """Text, order: the sum over n-grams of count squared * weight."""
        rows = np.repeat(np.arange(self._values.shape[0]), np.diff(self._values.indptr))
        sums = np.bincount(rows, weights=self._values.data, minlength=self._values.shape[0])
        return np.asarray(sums, dtype=np.float64).reshape(-1, self.counts.orders)


def _entries(
    incidence: Incidence, order: int, orders: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Rows, columns and counts of one order: an n-gram that occurs c times in a text has c entries."""
    first_column = width + np.concatenate(([0], np.cumsum(incidence.best(), dtype=np.int64)))[:-1]
    counts = incidence.counts
    column = np.repeat(first_column, np.diff(incidence.starts))
    begin = np.cumsum(counts, dtype=np.int64) - counts
    occurrence = np.arange(counts.sum()) - np.repeat(begin, counts)
    rows = incidence.texts.astype(np.int64) * orders + order
    return np.repeat(rows, counts), np.repeat(column, counts) + occurrence, np.repeat(counts, counts)


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

    # A distance may also have `notes`, a sequence of sentences on its reliability in this run, and `undefined`, the
    # reason why none of its scores means anything in this run.

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


# The options of distances, and their values, the default first.
OPTIONS = {"bleu": {"smoothing": ("method1", "none")}}


def with_distance_options(spec: str) -> str:
    """A specification in which options of the distance are a part of its name.

    >>> with_distance_options("score:distance=bleu:smoothing=none:over=joint")
    'score:distance=bleu smoothing=none:over=joint'
    """
    parts = [part.strip() for part in spec.split(":")]
    index = next((at for at, part in enumerate(parts) if part.startswith("distance=") or part in OPTIONS), None)
    if index is None:
        return spec
    known = OPTIONS.get(parts[index].removeprefix("distance="), {})
    given = [part for part in parts if part.partition("=")[0].strip() in known]
    rest = [part for part in parts if part not in given]
    for option, values in ((part.partition("=")[0].strip(), part.partition("=")[2].strip()) for part in given):
        if values not in known[option]:
            raise InputError(f"{option}={values}; wanted {' or '.join(known[option])}")
    chosen = [part for part in given if part.partition("=")[2].strip() != known[part.partition("=")[0].strip()][0]]
    rest[rest.index(parts[index])] = " ".join([parts[index], *chosen])
    return ":".join(rest)


def base_name(name: str) -> str:
    """The name of a distance without its options.

    >>> base_name("bleu smoothing=none")
    'bleu'
    """
    return name.partition(" ")[0] if name.partition(" ")[0] in OPTIONS else name


def check_distance(name: str, own: Sequence[str] = ()) -> None:
    """Raise an error for an unknown distance."""
    names = [*BUILT_IN, *own]
    if name in names or base_name(name) in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
    raise InputError(f"no distance {name!r}; {hint}")


def get_distance(name: str, surroundings: Surroundings) -> Distance:
    """The distance of this name, made for these texts."""
    check_distance(name)
    make: Callable[..., Distance] = importlib.import_module(BUILT_IN[base_name(name)]).make
    return make(surroundings, **dict(option.split("=") for option in name.split()[1:]))


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
