"""Uncertainty of scores on ratings: resamples of contexts and of the ratings within them, and sources exchanged."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.views.ratings import Ratings

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Items that are drawn together, in strata that are drawn from each by itself.

    A context with equally many texts of both sources is a group; all such contexts are one stratum. Items of other
    contexts are groups of one, a stratum for each source, so that every resample has as many of both as there were.
    """

    paired: tuple[I64, ...]
    human: I64
    model: I64

    @classmethod
    def of(cls, ratings: Ratings) -> "Groups":
        """The groups of a view whose sources are equally many."""
        order = np.argsort(ratings.context, kind="stable")
        cuts = np.flatnonzero(np.diff(ratings.context[order])) + 1
        paired: list[I64] = []
        alone: list[I64] = []
        for group in np.split(order, cuts) if len(order) else []:
            balanced = 2 * ratings.is_model[group].sum() == len(group)
            (paired if balanced else alone).append(group)
        rest = np.concatenate(alone) if alone else np.zeros(0, dtype=np.int64)
        return cls(tuple(paired), rest[~ratings.is_model[rest]], rest[ratings.is_model[rest]])

    @cached_property
    def _flat(self) -> tuple[I64, I64, I64]:
        sizes = np.array([len(group) for group in self.paired], dtype=np.int64)
        flat = np.concatenate(self.paired) if self.paired else np.zeros(0, dtype=np.int64)
        return flat, np.cumsum(sizes) - sizes, sizes

    def draw(self, rng: np.random.Generator) -> I64:
        """Places of a resample: groups with replacement."""
        flat, starts, sizes = self._flat
        chosen = rng.integers(len(sizes), size=len(sizes)) if len(sizes) else np.zeros(0, dtype=np.int64)
        drawn = sizes[chosen]
        before = np.cumsum(drawn) - drawn
        places = flat[np.arange(int(drawn.sum())) - np.repeat(before - starts[chosen], drawn)]
        alone = [side[rng.integers(len(side), size=len(side))] for side in (self.human, self.model) if len(side)]
        return np.concatenate([places, *alone])

    def part(self, n: int, rng: np.random.Generator) -> I64:
        """Places of a part of about n items: groups without replacement, each stratum by its share."""
        share = n / max(sum(map(len, self.paired)) + len(self.human) + len(self.model), 1)
        kept = rng.permutation(len(self.paired))[: round(share * len(self.paired))]
        # As many of both sources, also where the share of a stratum is not a whole number.
        few = round(share * min(len(self.human), len(self.model)))
        alone = [rng.permutation(side)[:few] for side in (self.human, self.model)]
        return np.concatenate([*(self.paired[group] for group in kept), *alone]).astype(np.int64)

    def exchanged(self, is_model: NDArray[np.bool_], n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Sources exchanged at random within each group and among the items without one: one column an exchange."""
        labels = np.repeat(is_model[:, None], n, axis=1)
        rest = np.concatenate([self.human, self.model])
        for group in (*self._by_size(), *([rest[None, :]] if len(rest) else [])):
            size = group.shape[1]
            ranks = np.argsort(rng.random((len(group), size, n)), axis=1)
            labels[group.reshape(-1)] = np.take_along_axis(
                np.repeat(is_model[group][:, :, None], n, axis=2), ranks, axis=1
            ).reshape(len(group) * size, n)
        return labels

    def _by_size(self) -> list[I64]:
        """The paired groups, those of one size together: one row a group."""
        sizes = sorted({len(group) for group in self.paired})
        return [np.array([group for group in self.paired if len(group) == size]) for size in sizes]


def resampled(ratings: Ratings, groups: Groups, rng: np.random.Generator) -> Ratings:
    """A nested resample: groups with replacement, then for each copy of an item its ratings with replacement.

    Copies draw their ratings each for itself. Items known by their mean alone keep it.
    """
    return with_other_ratings(ratings.take(groups.draw(rng)), rng)


def with_other_ratings(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """The same items, each with as many ratings drawn with replacement from its own."""
    counts = ratings.counts
    if (counts == 1).all():
        return ratings
    repeated = np.repeat(counts, counts)
    drawn = np.repeat(ratings.starts, counts) + (rng.random(len(repeated)) * repeated).astype(np.int64)
    return ratings.take(np.arange(len(ratings)), ratings.ratings[drawn], counts)


def with_fewer_ratings(ratings: Ratings, n: int, rng: np.random.Generator) -> Ratings:
    """The same items, each with at most n of its ratings, drawn without replacement."""
    item_of = np.repeat(np.arange(len(ratings)), ratings.counts)
    shuffled = np.lexsort((rng.random(len(item_of)), item_of))
    rank = np.arange(len(item_of)) - np.repeat(ratings.starts, ratings.counts)
    kept = np.sort(shuffled[rank < n])
    return ratings.take(np.arange(len(ratings)), ratings.ratings[kept], np.minimum(ratings.counts, n))


def interval_around(estimate: float, values: F64, *, level: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The quantiles of resampled values about their own mean, moved to the estimate.

    Noise in the ratings raises the score, and a resample has that noise twice; so the values lie higher than the
    estimate as a whole, which says nothing about how far the estimate is off. Their spread does: in simulations with
    200 items and 20 ratings each it is 3 to 10 % wider than that of repeated studies.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, (tail, 1 - tail)) - values.mean()
    return max(bounds[0], estimate + min(float(low), 0.0)), min(bounds[1], estimate + max(float(high), 0.0))
