"""How candidates miss an item's references: too narrow, too wide, or off target.

Triangles tell the three apart. The closeness of a side is how often the edge between two of its texts is the shortest
of a triangle less how often it is the longest, beyond what chance gives. Candidates that are closer than chance while
references are not are too narrow; references that are closer while candidates are not make the candidates too wide;
where both sides are closer, candidates and references form separate groups: the candidates are off target.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.items.stratified import Tally
from textassay.inference.p_values import holm, is_significant, p_value
from textassay.metrics.items.item_pool import ItemPool, Labels
from textassay.metrics.items.trm import shares
from textassay.studies.conditional.result import Miss

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


def kind_of(spread: float, place: float) -> str:
    """The kind of difference, for candidates that differ.

    >>> kind_of(1.0, 0.2), kind_of(-1.0, 0.2), kind_of(0.1, 1.2), kind_of(0.1, -1.2)
    ('too narrow', 'too wide', 'elsewhere', 'too close')
    """
    if abs(spread) <= _OFF_TARGET * abs(place):
        return "elsewhere" if place > 0 else "too close"
    return "too narrow" if spread > 0 else "too wide"


@dataclass(frozen=True)
class Overall:
    """All items together: mean spread and place, and three p-values, adjusted for each other.

    `unequal`: one side varies more than the other. `apart`: both sides are closer than chance. `close`: neither is as
    close as chance.
    """

    spread: float
    place: float
    unequal: float
    apart: float
    close: float


def overall(tallies: Mapping[str, Tally]) -> Overall | None:
    """From the joint labellings of all items; None where no item has triangles of both sides."""
    if any(name not in tallies for name in CONTRASTS):
        return None
    spread, candidates, references = (tallies[name] for name in CONTRASTS)
    # Both sides must be closer, so the larger of the two p-values counts.
    apart = max(candidates.p_value("higher"), references.p_value("higher"))
    close = max(candidates.p_value("lower"), references.p_value("lower"))
    gaps = [(tally.observed - tally.chance) / tally.items for tally in (candidates, references)]
    return Overall(gaps[0] - gaps[1], gaps[0] + gaps[1], *holm([spread.p_value("both"), apart, close]))
