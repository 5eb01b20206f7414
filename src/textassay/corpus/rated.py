"""Rated items: texts of people and of a model, each with its log-probability under the model and its ratings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.rating_digest import digest_of, marks_of

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
    `labels` what ratings are called, `model` what the source that is not human is called. `raters_known` is False where
    single ratings have no names: `raters` are then only numbers. `path` is the file that errors are about.
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
    raters_known: bool = True
    path: str = ""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def single(self) -> bool:
        """True when single ratings are known, False when there are only means."""
        return bool(self.raters)

    @property
    def where(self) -> str:
        """What a message calls it: the file, or the name where there is none."""
        return self.path or self.name

    @property
    def digest(self) -> str:
        """What fixes the content, whatever the order of items, raters and ratings and whatever their names."""
        return digest_of(self.marks)

    @cached_property
    def marks(self) -> list[bytes]:
        """What fixes each item: what it says, its ratings, and who gave them where that is known."""
        said = [repr((item.is_model, item.log_prob, item.length, item.text, item.context)) for item in self.items]
        rater_of = self.rater_of.tolist() if self.single and self.raters_known else None
        return marks_of(said, self.item_of.tolist(), rater_of, self.ratings.tolist())
