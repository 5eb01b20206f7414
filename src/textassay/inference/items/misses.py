"""How the candidates of an item miss its references.

Triangles show how they miss. The closeness of a side is how often the edge between two of its texts is the shortest
of a triangle less how often it is the longest, beyond what chance gives. Candidates that are closer than chance while
references are not are too narrow; references that are closer while candidates are not make the candidates too wide;
where both sides are closer, candidates and references form separate groups: the candidates are off target.

One answer to everything comes before all of these: candidates that are one text, while the references are not.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.p_values import is_significant, p_value
from textassay.inference.result import one_nan
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.items.trm import shares


@dataclass(frozen=True)
class Miss:
    """How one item's candidates miss its references.

    The closeness of a side is how often the edge between two of its texts is the shortest of a triangle less how often
    it is the longest, beyond what chance gives. `spread` is the closeness of candidates less that of references: above
    0 is too narrow, below 0 too wide. `place` is the sum of the two: above 0 the two sides form separate groups. Both
    range from about -2 to 2. `p_value` is that of the triangle statistic with ties counted in equal parts, `kind` the
    result in words; `collapsed` (all candidates are one text) does not depend on these numbers. Where that statistic
    was not measured or could not be significant, other metrics of the item decide whether it differs, and `p_value`
    is theirs.
    """

    kind: str
    spread: float
    place: float
    p_value: float

    def __post_init__(self) -> None:
        for name in ("spread", "place", "p_value"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


UNTESTED = Miss("untested", math.nan, math.nan, math.nan)
# Candidates are off target when the closer side is at most three times as close as the other: |spread| <= place / 2.
_OFF_TARGET = 0.5
# What is summed over items in addition to the metrics.
CONTRASTS = ("spread", "candidates", "references")


@dataclass(frozen=True, eq=False)
class Contrasts:
    """One item under each labelling: closeness of candidates and of references, and the triangle statistic.

    Tied triangles count in equal parts for each side. (Counted for every rank, as the paper has it, the ties
    of a text that is repeated make most other labellings look worse than the observed one.)
    """

    candidates: F64
    references: F64
    statistic: F64

    @classmethod
    def of(cls, pool: ItemPool, labels: Labels, *, distance: str) -> "Contrasts":
        """The first labelling is the observed one."""
        found = shares(pool, labels, distance=distance, variant="split")
        closeness = found[:, :, 0] - found[:, :, 2]
        return cls(closeness[:, 1], closeness[:, 0], np.abs(found - 1 / 3).sum(axis=(1, 2)))

    def values(self) -> dict[str, F64]:
        """What is tallied over items, by name; `spread` is the closeness of candidates less that of references."""
        differences = self.candidates - self.references
        return dict(zip(CONTRASTS, (differences, self.candidates, self.references), strict=True))


def miss_of(found: Contrasts, *, exact: bool, level: float) -> Miss:
    """Spread and place beyond chance, and the kind if the item's test is significant.

    If not even the most extreme labelling would be significant, nothing is tested: with 3 and 2 texts there are 10
    labellings, and no p-value is below 0.1.
    """
    statistic = found.statistic
    if not np.isfinite(statistic).all():
        return UNTESTED
    gaps = [float(side[0] - side.mean()) for side in (found.candidates, found.references)]
    spread, place = gaps[0] - gaps[1], gaps[0] + gaps[1]
    p = p_value(float(statistic[0]), statistic if exact else statistic[1:], exact=exact)
    if not is_significant(p_value(float(statistic.max()), statistic, exact=True), level):
        return Miss("untested", spread, place, p)
    return Miss(kind_of(spread, place) if is_significant(p, level) else "same", spread, place, p)


def miss_by_p_values(tests: Sequence[tuple[float, float]], *, level: float) -> Miss:
    """Whether an item differs by other tests than that of triangles, which do not show how.

    Each test is its p-value and the smallest one that it could have. Both are corrected for the number of tests.
    """
    if not tests:
        return UNTESTED
    found, smallest = (min(1.0, len(tests) * min(each)) for each in zip(*tests, strict=True))
    if not is_significant(smallest, level):
        return Miss("untested", math.nan, math.nan, found)
    return Miss("differs" if is_significant(found, level) else "same", math.nan, math.nan, found)


def kind_of(spread: float, place: float) -> str:
    """The kind of difference, for candidates that differ.

    >>> kind_of(1.0, 0.2), kind_of(-1.0, 0.2), kind_of(0.1, 1.2), kind_of(0.1, -1.2)
    ('too narrow', 'too wide', 'elsewhere', 'too close')
    """
    if abs(spread) <= _OFF_TARGET * abs(place):
        return "elsewhere" if place > 0 else "too close"
    return "too narrow" if spread > 0 else "too wide"


# One answer is not named where exchanged texts would give it more often than this.
BY_EXCHANGE = 0.2


def is_one_answer(candidates: Sequence[str], references: Sequence[str]) -> bool:
    """Whether all candidates are one text (white space aside), which the references are not.

    This is no test: it is named however few texts there are. But it is not named where at least one in five labellings
    of the item's texts would have one text as all candidates, such as where nine of ten references are this text.

    >>> is_one_answer(["Rohan"] * 10, ["Emma", "Rohan"]), is_one_answer(["Rohan"] * 10, ["Emma", *["Rohan"] * 9])
    (True, False)
    """
    texts = [" ".join(text.split()) for text in (*candidates, *references)]
    n = len(candidates)
    if n < 2 or len(set(texts[:n])) > 1 or len(set(texts[n:])) < 2:
        return False
    repeated = sum(comb(count, n) for count in Counter(texts).values())
    return repeated / comb(len(texts), n) <= BY_EXCHANGE
