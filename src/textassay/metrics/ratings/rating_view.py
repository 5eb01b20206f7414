"""The view behind HUSE: ratings and log-probabilities of each text."""

import hashlib
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.hashed_ngrams import ranges
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.metrics.ratings.votes import Tied, VoteSets, mistaken, votes_at

Per = Literal["token", "text"]
# Replaces the log-probability minus infinity, as in the authors' program.
IMPOSSIBLE = -1000.0
# Means of equal ratings may differ in the last digits.
_ROUNDING = 1e-12
_TINY = 1e-100


@dataclass(frozen=True, eq=False)
class Ratings:
    """Rated items: one entry per item, except `ratings` and `raters`, which have one entry per rating.

    The ratings of an item are adjacent, and `counts` is their number. Items of one prompt have the same `context`; an
    item without a prompt has its own. `origin` identifies an item: a resample may contain an item several times, and
    its copies must not vote on each other.
    """

    is_model: Bool
    log_prob: F64
    length: I64
    context: I64
    origin: I64
    counts: I64
    ratings: F64
    raters: I64
    _known: dict[object, F64] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, rated: RatedItems) -> Self:
        """The view of rated items; each item needs a rating."""
        # Sorted within an item too, so that the order of a file does not change the last digit of a mean.
        order = np.lexsort((rated.rater_of, rated.ratings, rated.item_of))
        counts = np.bincount(rated.item_of, minlength=len(rated.items))
        assert counts.all(), "an item without a rating"
        return cls(
            np.array([item.is_model for item in rated.items], dtype=bool),
            np.array([item.log_prob for item in rated.items], dtype=np.float64),
            np.array([item.length for item in rated.items], dtype=np.int64),
            np.array([_hashed(("context", item.context) if item.context else ("item", item)) for item in rated.items]),
            np.array([_hashed(("item", item)) for item in rated.items]),
            counts.astype(np.int64),
            rated.ratings[order].astype(np.float64),
            rated.rater_of[order].astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.is_model)

    def merge(self, other: Self) -> Self:
        """These items followed by the other items."""
        names = ("is_model", "log_prob", "length", "context", "origin", "counts", "ratings", "raters")
        return type(self)(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    @cached_property
    def knows_log_probs(self) -> bool:
        """Whether items have log-probabilities; all have one or none has."""
        return not np.isnan(self.log_prob).any()

    @cached_property
    def starts(self) -> I64:
        """Where the ratings of each item begin."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    @cached_property
    def means(self) -> F64:
        """The mean rating of each item."""
        sums: F64 = np.add.reduceat(self.ratings, self.starts) if len(self) else np.zeros(0)
        return sums / self.counts

    def log_probs(self, per: Per = "token") -> F64:
        """The log-probability of each item, per token or of the whole text; finite for impossible texts too.

        Zeros where log-probabilities are not known: then they tell nothing.
        """
        if not self.knows_log_probs:
            return np.zeros(len(self))
        finite = self.log_prob[np.isfinite(self.log_prob)]
        if not len(finite):
            # Dividing the replacement for minus infinity by the lengths would reveal the lengths.
            return np.full(len(self), IMPOSSIBLE)
        lowest = min(IMPOSSIBLE, float(finite.min(initial=0.0)))
        clipped = np.where(np.isneginf(self.log_prob), lowest, self.log_prob)
        return clipped / self.length if per == "token" else clipped

    def take(self, places: I64) -> Self:
        """The items at these places with their ratings, copies allowed."""
        counts = self.counts[places]
        drawn = ranges(self.starts[places], counts)
        return type(self)(
            self.is_model[places],
            self.log_prob[places],
            self.length[places],
            self.context[places],
            self.origin[places],
            counts,
            self.ratings[drawn],
            self.raters[drawn],
        )

    def rated_by(self, drawn: I64, counts: I64) -> Self:
        """The same items with the ratings at these places, `counts` per item."""
        return replace(self, counts=counts, ratings=self.ratings[drawn], raters=self.raters[drawn])

    def own_votes(self, *, quality_only: bool, k: int, tied: Tied, per: Per) -> F64:
        """The share of model texts among each item's neighbours, by mean rating alone or by both features.

        Kept, because HUSE-D needs the votes of HUSE and HUSE-Q.
        """
        asked = (quality_only, k, tied, per)
        if asked not in self._known:
            points = self.points(per)[:, :1] if quality_only else self.points(per)
            (found,) = votes_at(points, self.is_model, ks=[k], tied=tied, origin=self.origin)
            self._known[asked] = found
        return self._known[asked]

    def errors_as(self, is_model: Bool, *, quality_only: bool, k: int, tied: Tied, per: Per) -> F64:
        """The share of wrong votes under exchanged sources, one for each column of `is_model`.

        Exchanging sources moves no point, so the neighbours stay the same and only the votes are counted again.
        """
        points = self.points(per)[:, :1] if quality_only else self.points(per)
        shares = VoteSets.of(points, k=k, tied=tied).shares(is_model)
        errors: F64 = mistaken(shares, is_model, tied).mean(axis=0)
        return errors

    def points(self, per: Per = "token") -> F64:
        """Mean rating and log-probability, each divided by its standard deviation over all items."""
        if per not in self._known:
            self._known[per] = np.column_stack([in_deviations(self.means), in_deviations(self.log_probs(per))])
        return self._known[per]


def in_deviations(values: F64) -> F64:
    """The values divided by their population standard deviation; zeros if all are the same up to rounding.

    Sums are rounded only once: ties at the k-th neighbour depend on the last digit of the divisor, which must not
    depend on the order of the items.
    """
    if not len(values) or np.ptp(values) <= _ROUNDING * np.abs(values).max():
        return np.zeros(len(values))
    return values / deviation(values)


def deviation(values: F64) -> float:
    """The population standard deviation, independent of the order of the values."""
    gaps = values - math.fsum(values) / len(values)
    # Squares of tiny numbers would underflow.
    unit = float(np.abs(gaps).max()) if np.abs(gaps).max() < _TINY else 1.0
    return unit * math.sqrt(math.fsum((gaps / unit) ** 2) / len(values))


def _hashed(what: object) -> int:
    """A hash of 63 bits of the object's repr, the same in every part of a sample."""
    words = hashlib.blake2b(repr(what).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(words, "little") >> 1
