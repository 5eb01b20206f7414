"""Rated items: texts of people and of a model, each with its log-probability under the model and its ratings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# In place of a rater, where a file has only the mean rating of an item.
NOBODY = -1


@dataclass(frozen=True)
class RatedItem:
    """One text that was rated. `log_prob` is the whole text's under the model, `length` its number of tokens."""

    id: str
    is_model: bool
    log_prob: float
    length: int
    text: str | None = None
    context: str | None = None


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Items and their ratings, one entry of `item_of`, `rater_of` and `ratings` a rating.

    `item_of` and `rater_of` are places in `items` and `raters`. A file with one row an item has only mean ratings: one
    entry an item, without raters (`rater_of` is `NOBODY`). `scale` is the lowest and the highest rating there can be,
    `labels` what ratings are called, `model` what the source that is not human is called.
    """

    name: str
    items: tuple[RatedItem, ...]
    raters: tuple[str, ...]
    item_of: I64
    rater_of: I64
    ratings: F64
    scale: tuple[float, float]
    labels: Mapping[float, str] = field(default_factory=dict)
    model: str = "model"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def single(self) -> bool:
        """True when single ratings are known, False when there are only means."""
        return bool(self.raters)

    @cached_property
    def digest(self) -> str:
        """What fixes the content, whatever the order of items and ratings; names of raters are not part of it."""
        given: list[list[str]] = [[] for _ in self.items]
        for item, rating in zip(self.item_of.tolist(), self.ratings.tolist(), strict=True):
            given[item].append(repr(rating))
        lines = sorted(
            repr((item.is_model, item.log_prob, item.length, item.text, item.context, sorted(ratings)))
            for item, ratings in zip(self.items, given, strict=True)
        )
        return hashlib.blake2b("\n".join(lines).encode(errors="surrogatepass"), digest_size=8).hexdigest()
