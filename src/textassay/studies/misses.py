"""How candidates miss an item's references: too narrow, too wide, or elsewhere.

Triangles tell the three apart. `Closeness` of a side is how often the edge between two of its texts is the shortest of
a triangle less how often it is the longest, beyond what chance gives. Candidates that are closer than chance while
references are not are too narrow; references that are closer while candidates are not make the candidates too wide;
where both sides keep to themselves, the candidates are elsewhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.inference.labellings import Ways
from textassay.inference.p_value import p_value
from textassay.studies.conditioned import Miss
from textassay.views.item_pool import ItemPool
from textassay.views.triangles import shares

UNTESTED = Miss("untested", math.nan, math.nan, math.nan)
# Candidates are elsewhere when the closer side is at most three times as close as the other: |spread| <= place / 2.
_ELSEWHERE = 0.5
# A closeness that varies less than this over labellings is always the same: there is nothing to standardise by.
_NO_VARIANCE = 1e-24


@dataclass(frozen=True)
class Gap:
    """An observed value less its mean over labellings, and its variance over them."""

    value: float
    variance: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Gap":
        """The first labelling is the observed one."""
        return cls(float(values[0] - values.mean()), float(values.var()))


@dataclass(frozen=True)
class Contrasts:
    """Closeness of candidates and of references beyond chance, their difference, and the triangles' p-value."""

    candidates: Gap
    references: Gap
    spread: Gap
    p_value: float

    @property
    def place(self) -> float:
        """How close both sides are together."""
        return self.candidates.value + self.references.value


def contrasts(pool: ItemPool, ways: Ways, *, distance: str) -> Contrasts:
    """The closeness of each side of an item, and the p-value of its triangles.

    Tied triangles count in equal parts: they speak for no side. (Counted for every rank, as the paper has it, the ties
    of a text that is repeated make most other labellings look worse than the observed one.)
    """
    found = shares(pool, ways.labels, distance=distance, variant="split")
    closeness = found[:, :, 0] - found[:, :, 2]
    references, candidates = closeness[:, 0], closeness[:, 1]
    statistic = np.abs(found - 1 / 3).sum(axis=(1, 2))
    p = p_value(float(statistic[0]), statistic if ways.exact else statistic[1:], exact=ways.exact)
    return Contrasts(Gap.of(candidates), Gap.of(references), Gap.of(candidates - references), p)


def miss_of(found: Contrasts, *, level: float) -> Miss:
    """Spread and place, and in words where the item's own test is significant."""
    if math.isnan(found.p_value):
        return UNTESTED
    kind = "same" if found.p_value > 1 - level + 1e-12 else kind_of(found.spread.value, found.place)
    return Miss(kind, found.spread.value, found.place, found.p_value)


def kind_of(spread: float, place: float) -> str:
    """The way to miss.

    Closer to the references than another sample would be, as copies are, is no way to miss them.

    >>> kind_of(1.0, 0.2), kind_of(-1.0, 0.2), kind_of(0.1, 1.2), kind_of(0.1, -1.2)
    ('too narrow', 'too wide', 'elsewhere', 'same')
    """
    if abs(spread) <= _ELSEWHERE * abs(place):
        return "elsewhere" if place > 0 else "same"
    return "too narrow" if spread > 0 else "too wide"


@dataclass(frozen=True)
class Overall:
    """All items together: mean spread and place, and standard scores of spread and of each side's closeness."""

    spread: float
    place: float
    z_spread: float
    z_candidates: float
    z_references: float


def overall(found: Sequence[Contrasts]) -> Overall | None:
    """Sums over items; under chance their standard scores are about normal, whatever the items are."""
    if not found:
        return None
    return Overall(
        math.fsum(each.spread.value for each in found) / len(found),
        math.fsum(each.place for each in found) / len(found),
        _standard([each.spread for each in found]),
        _standard([each.candidates for each in found]),
        _standard([each.references for each in found]),
    )


def _standard(gaps: Sequence[Gap]) -> float:
    variance = math.fsum(gap.variance for gap in gaps)
    return math.fsum(gap.value for gap in gaps) / math.sqrt(variance) if variance > _NO_VARIANCE else 0.0
