"""Ratings: what people and a model say about each text, the view behind HUSE."""

import hashlib
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.ratings.rated_items import RatedItems
from textassay.metrics.ratings.votes import Tied, VoteSets, mistaken, votes_at

Per = Literal["token", "text"]
# What an impossible text gets in place of minus infinity, as in the authors' program.
IMPOSSIBLE = -1000.0
# Means of equal ratings may differ by their last digits.
_ROUNDING = 1e-12
_TINY = 1e-100


@dataclass(frozen=True, eq=False)
class Ratings:
    """One entry an item, and its ratings one after another in `ratings`, `counts` of them an item, by `raters`.

    Items of one `context` belong together; those without a context have a number of their own. `origin` is the number
    of the item itself: in a resample an item may stand several times, and copies must not vote on each other.
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
        # Sorted within an item too, so that the order of a file does not move a mean by its last digit.
        order = np.lexsort((rated.rater_of, rated.ratings, rated.item_of))
        counts = np.bincount(rated.item_of, minlength=len(rated.items))
        assert counts.all(), "an item without a rating"
        return cls(
            np.array([item.is_model for item in rated.items], dtype=bool),
            np.array([item.log_prob for item in rated.items], dtype=np.float64),
            np.array([item.length for item in rated.items], dtype=np.int64),
            np.array([_number(("context", item.context) if item.context else _who(item)) for item in rated.items]),
            np.array([_number(_who(item)) for item in rated.items]),
            counts.astype(np.int64),
            rated.ratings[order].astype(np.float64),
            rated.rater_of[order].astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.is_model)

    def merge(self, other: Self) -> Self:
        """This and another part, one behind the other."""
        names = ("is_model", "log_prob", "length", "context", "origin", "counts", "ratings", "raters")
        return type(self)(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

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
        """The log-probability of each item, a token or of the whole text; a finite number for impossible ones too."""
        finite = self.log_prob[np.isfinite(self.log_prob)]
        if not len(finite):
            # Divided by lengths, what stands in for minus infinity would tell the lengths.
            return np.full(len(self), IMPOSSIBLE)
        lowest = min(IMPOSSIBLE, float(finite.min(initial=0.0)))
        clipped = np.where(np.isneginf(self.log_prob), lowest, self.log_prob)
        return clipped / self.length if per == "token" else clipped

    def take(self, places: I64) -> Self:
        """The items at these places with their ratings, copies allowed."""
        counts = self.counts[places]
        drawn = _runs(self.starts[places], counts)
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
        """The same items with the ratings at these places, `counts` of them an item."""
        return replace(self, counts=counts, ratings=self.ratings[drawn], raters=self.raters[drawn])

    def own_votes(self, *, quality_only: bool, k: int, tied: Tied, per: Per) -> F64:
        """Of each item's neighbours, the share from the model: by mean rating alone, or by both features.

        Kept, since HUSE-D asks again for what HUSE and HUSE-Q have asked for.
        """
        asked = (quality_only, k, tied, per)
        if asked not in self._known:
            points = self.points(per)[:, :1] if quality_only else self.points(per)
            (found,) = votes_at(points, self.is_model, ks=[k], tied=tied, origin=self.origin)
            self._known[asked] = found
        return self._known[asked]

    def errors_as(self, is_model: Bool, *, quality_only: bool, k: int, tied: Tied, per: Per) -> F64:
        """The share of mistaken votes with the sources named otherwise, one for each column of `is_model`.

        Naming sources otherwise moves no point, so the neighbours stay and only the votes are counted anew.
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
    """Divided by the population standard deviation; zeros where all are the same but for rounding.

    Sums are exact before they are rounded: ties at the 16th neighbour hang on the last digit of the divisor, and that
    must not depend on the order of the items.
    """
    if not len(values) or np.ptp(values) <= _ROUNDING * np.abs(values).max():
        return np.zeros(len(values))
    return values / deviation(values)


def deviation(values: F64) -> float:
    """The population standard deviation, the same whatever the order."""
    gaps = values - math.fsum(values) / len(values)
    # Squares of tiny numbers vanish.
    unit = float(np.abs(gaps).max()) if np.abs(gaps).max() < _TINY else 1.0
    return unit * math.sqrt(math.fsum((gaps / unit) ** 2) / len(values))


def _who(item: object) -> tuple[str, object]:
    return ("item", item)


def _number(what: object) -> int:
    """A number of 63 bits for whatever has a repr; parts of a sample agree on it without knowing of each other."""
    words = hashlib.blake2b(repr(what).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(words, "little") >> 1


def _runs(starts: I64, counts: I64) -> I64:
    """The numbers start, start + 1, ... for each run, one run behind the other."""
    before = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.arange(int(counts.sum())) - np.repeat(before - starts, counts)
