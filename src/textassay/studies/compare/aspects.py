"""Quality and diversity of a candidate in one number each, beside real text, and its repeated texts.

The metrics are chosen by what they declare: those on sentence vectors if both aspects have one that was measured,
otherwise those on n-grams. Shares are compared in points (hundredths). The values are those that verdicts read: at the
size of the baseline, and at equal lengths where the length of texts moves the metric. A candidate that differs from
the reference in Markdown has values without it, or none.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textassay.document.results import Unit, unit_of
from textassay.inference.result import Result
from textassay.metrics.effects import EFFECTS
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.planes import metric_of, rise_of

POINTS = Unit("points", 100.0)
# What a rise of a metric says, by aspect, the most readable first.
_RISES: Mapping[str, Sequence[str]] = {
    "quality": ("more like the reference", "more known phrases", "more common phrases", "less likely"),
    "diversity": ("more coverage", "more diverse", "less diverse", "reference less likely"),
}


@dataclass(frozen=True)
class Gap:
    """The value of a candidate minus that of real text: above 0 is more quality or diversity.

    `half` is half of the width of its interval, 0 without one. `candidate` and `real` are the two results.
    """

    value: float
    half: float
    candidate: Result
    real: Result

    @property
    def is_clear(self) -> bool:
        """Whether it is larger than its uncertainty."""
        return abs(self.value) > self.half


@dataclass(frozen=True)
class Aspect:
    """The metric that shows quality or diversity, its index among the labels, the unit of differences, and its rise."""

    name: str
    index: int
    label: str
    unit: Unit
    rise: str

    @property
    def title(self) -> str:
        """The head of its column. Coverage has its own name: a candidate can cover less and have more varied words."""
        return "coverage" if self.rise == "more coverage" else self.name

    def gap(self, found: Comparison, column: Column) -> Gap | None:
        """The candidate beside real text; None without a number."""
        pair = _pair(found, column, self.index)
        if pair is None:
            return None
        candidate, real = pair
        sign = EFFECTS.get(rise_of(real), 1)
        half = math.hypot(_half(candidate), _half(real))
        return Gap(sign * (candidate.estimate - real.estimate), half, candidate, real)


def _half(result: Result) -> float:
    """Half of the width of an interval; 0 without one."""
    half = (result.interval.high - result.interval.low) / 2 if result.interval else 0.0
    return half if math.isfinite(half) else 0.0


def _pair(found: Comparison, column: Column, index: int) -> tuple[Result, Result] | None:
    """A result and that of real text as verdicts read them; None where they do not compare."""
    label, equal = found.labels[index], column.equal_lengths
    if label in equal.left_out or (column.markup_differs and label in equal.results):
        return None
    candidate: Result | None
    real: Result | None
    if column.markup_differs:
        candidate, real = (side.axes_without_markup.get(label) for side in (column, found.real))
    else:
        like_real = column.beside_real(label, column.results[index])
        candidate, real = equal.results.get(label, (like_real, found.real.results[index]))
    if candidate is None or real is None:
        return None
    return (candidate, real) if math.isfinite(candidate.estimate) and math.isfinite(real.estimate) else None


def aspects(found: Comparison) -> tuple[Aspect, ...]:
    """The metrics of quality and of diversity; only one where nothing shows the other."""
    pairs = [[_best(found, name, vectors=vectors) for name in _RISES] for vectors in (True, False)]
    # The pair with more aspects, then the one that has numbers for more candidates.
    chosen = max(pairs, key=lambda pair: _known(found, pair))
    return tuple(_aspect(found, name, index) for name, index in zip(_RISES, chosen, strict=True) if index is not None)


def _known(found: Comparison, pair: Sequence[int | None]) -> tuple[int, int]:
    indexes = [index for index in pair if index is not None]
    return len(indexes), sum(_count(found, index) for index in indexes)


def _count(found: Comparison, index: int) -> int:
    return sum(_pair(found, column, index) is not None for column in found.candidates)


def _best(found: Comparison, aspect: str, *, vectors: bool) -> int | None:
    """The index of the metric of an aspect: with numbers for most candidates, a share if possible, by its rise."""
    usable = list(_usable(found, aspect, vectors=vectors))
    orders = {index: (-_count(found, index), *_order(found.real.results[index], aspect)) for index in usable}
    return min(orders, key=orders.__getitem__, default=None)


def _usable(found: Comparison, aspect: str, *, vectors: bool) -> Iterator[int]:
    for index, real in enumerate(found.real.results):
        metric = metric_of(real)
        is_one = metric is not None and metric.reads_vectors is vectors and metric.rise in _RISES[aspect]
        if is_one and _count(found, index):
            yield index


def _order(real: Result, aspect: str) -> tuple[bool, int]:
    return not _is_share(real), _RISES[aspect].index(rise_of(real))


def _is_share(real: Result) -> bool:
    metric = metric_of(real)
    return metric is not None and metric.bounds == (0.0, 1.0)


def _aspect(found: Comparison, name: str, index: int) -> Aspect:
    real = found.real.results[index]
    pairs = [_pair(found, column, index) for column in found.candidates]
    unit = POINTS if _is_share(real) else unit_of(result.estimate for pair in pairs if pair for result in pair)
    return Aspect(name, index, found.labels[index], unit, rise_of(real))


def repeats(found: Comparison, column: Column) -> tuple[float, float] | None:
    """The share of texts that repeat another one, of the candidate and of real text; None if it was not measured."""
    for index, label in enumerate(found.labels):
        result = column.results[index]
        if rise_of(result) == "more repeats":
            like_real = column.beside_real(label, result)
            return like_real.estimate, found.real.results[index].estimate
    return None
