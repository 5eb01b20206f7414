"""Caption mixtures: candidates put together from right and wrong captions, with many or few different ones.

Each item has a pool of correct captions (held out of its references) and one of incorrect ones (of other items). A
mixture takes m of its candidates from the first k of the correct pool and the others from the first k of the
incorrect one. Where k is too small for that, captions repeat, each as often as the others to within one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textassay.views.distances import Distance, pooled_scores
from textassay.views.item_pool import ItemPool, Labels
from textassay.views.text_table import Numbers


@dataclass(frozen=True)
class Mixtures:
    """All mixtures of an item: so many references, captions in each pool, and candidates.

    >>> design = Mixtures(references=2, pool=3, candidates=6)
    >>> design.most_different, len(design.labels), design.labels.sizes
    ((1, 2, 3), 21, (6, 2))
    """

    references: int
    pool: int
    candidates: int

    @property
    def most_different(self) -> tuple[int, ...]:
        """Every k: how many captions of a pool are used."""
        return tuple(range(1, self.pool + 1))

    @property
    def correct(self) -> tuple[int, ...]:
        """Every m: how many candidates are correct."""
        return tuple(range(self.candidates + 1))

    @property
    def shape(self) -> tuple[int, int]:
        """Mixtures by k and m."""
        return len(self.most_different), len(self.correct)

    @property
    def _copies(self) -> list[int]:
        """How often each caption of a pool is needed at most: where it is the last that may be used."""
        return [_uses(place, place + 1, self.candidates) for place in range(self.pool)]

    @cached_property
    def labels(self) -> Labels:
        """Which of an item's repeated texts are candidates, one row a mixture: by k, then by m."""
        side = sum(self._copies)
        references = np.arange(2 * side + self.references) >= 2 * side
        candidates = [
            np.concatenate([self._taken(k, m), self._taken(k, self.candidates - m), np.zeros(self.references, bool)])
            for k in self.most_different
            for m in self.correct
        ]
        return Labels(np.array(candidates), np.tile(references, (len(candidates), 1)))

    def _taken(self, k: int, m: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which copies of a pool's captions are among m candidates."""
        uses = [_uses(place, k, m) if place < k else 0 for place in range(self.pool)]
        pairs = zip(uses, self._copies, strict=True)
        return np.concatenate([np.arange(copies) < used for used, copies in pairs])

    def texts(self, references: Numbers, correct: Numbers, incorrect: Numbers) -> Numbers:
        """An item's texts, as often as the labels need them."""
        pools = [np.repeat(pool, self._copies) for pool in (correct, incorrect)]
        return np.concatenate([*pools, references])

    def item(self, distance: Distance, texts: Numbers) -> ItemPool:
        """The matrices of an item, for all mixtures at once."""
        scores, distances = pooled_scores(distance, texts)
        sizes = (len(texts) - self.references, self.references)
        return ItemPool(sizes, {distance.name: scores}, {distance.name: distances})


def _uses(place: int, k: int, m: int) -> int:
    """How often the caption at this place is used when m are dealt out to k in turn."""
    return len(range(place, m, k))
