"""An axis: from values to pixels, with ticks at round numbers that the shown digits can tell apart."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from textassay.inference.result import Result
from textassay.report.svg import text_width
from textassay.studies.wording import number

# An outlier may make the axis this many times as long as the typical distance from real text; beyond, it is stretched.
_LOPSIDED = 12.0
_AIR = 0.06


@dataclass(frozen=True)
class Axis:
    """A scale from values (`low` to `high`) to pixels (`start` to `end`; swapped ends turn it round).

    With a `bend` it is stretched around `centre`, asinh((value - centre) / bend): linear nearby, logarithmic far off.
    """

    low: float
    high: float
    start: float
    end: float
    centre: float = 0.0
    bend: float = 0.0
    ticks: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        """The pixel of a value, held inside the axis."""
        at, low, high = (self._unbent(v) for v in (min(max(value, self.low), self.high), self.low, self.high))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def value(self, share: float) -> float:
        """The value at this share of the axis."""
        low, high = self._unbent(self.low), self._unbent(self.high)
        at = low + share * (high - low)
        return self.centre + self.bend * math.sinh(at) if self.bend else at

    def _unbent(self, value: float) -> float:
        return math.asinh((value - self.centre) / self.bend) if self.bend else value


def axis(values: Iterable[float], start: float, end: float, *, centre: float = math.nan, about: int = 4) -> Axis:
    """An axis that holds all finite values with some air and about so many ticks, stretched around `centre` if needed.

    >>> axis([0.81, 0.83, 0.86], 0, 100).ticks
    (0.82, 0.84, 0.86)
    >>> axis([0.001, 0.002, 0.003, 5.0], 0, 100, centre=0.002).ticks
    (0.0, 0.003, 0.02, 0.2, 2.0)
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    finest = _finest(max(abs(low), abs(high)))
    bend = _bend(finite, centre)
    if bend:
        bare = Axis(low, high, start, end, centre, bend)
        wide = Axis(bare.value(-_AIR), bare.value(1 + _AIR), start, end, centre, bend)
    else:
        air = max(_AIR * (high - low), 0.6 * finest)
        wide = Axis(low - air, high + air, start, end)
    ticks = tuple(_bent_ticks(wide, about) if bend else _even_ticks(wide, about, finest))
    return Axis(wide.low, wide.high, start, end, wide.centre, bend, ticks)


def _bend(values: list[float], centre: float) -> float:
    """The distance from the centre up to which the axis is about linear, 0 for a plain axis."""
    distances = [abs(value - centre) for value in values]
    if math.isnan(centre) or len(values) < 3 or max(distances) <= _LOPSIDED * median(distances):
        return 0.0
    return median(distances) or max(distances) / (4 * _LOPSIDED)


def _even_ticks(scale: Axis, about: int, finest: float) -> list[float]:
    step = max(_step((scale.high - scale.low) / about), finest)
    places = range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)
    return [_exact(place * step, step) for place in places]


def _bent_ticks(scale: Axis, about: int) -> list[float]:
    """Places all along the axis, each moved to a round number nearby, and kept where it is clear of the one before."""
    ticks: list[float] = []
    apart = 0.7 * abs(scale.end - scale.start) / about
    for place in range(12 * about + 1):
        share, half = place / (12 * about), 0.25 / about
        step = _step((scale.value(share + half) - scale.value(share - half)) / 2)
        tick = _exact(round(scale.value(share) / step) * step, step)
        if scale.low <= tick <= scale.high and (not ticks or abs(scale(tick) - scale(ticks[-1])) > apart):
            ticks.append(tick)
    return sorted(ticks)


def _finest(largest: float) -> float:
    """The smallest step that three significant digits can show at this size."""
    return float(10.0 ** (math.floor(math.log10(largest)) - 2)) if largest > 0 else 0.01


def _step(rough: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten."""
    power = float(10.0 ** math.floor(math.log10(rough)))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def _exact(value: float, step: float) -> float:
    """Rounded to the step's own digits, so that 3 * 0.1 is 0.3; never minus zero."""
    return round(value, max(0, 1 - math.floor(math.log10(step)))) + 0.0


def legible(scale: Axis, size: float) -> list[float]:
    """The ticks of a level axis whose labels, in a font of this size, stay clear of each other."""
    kept: list[float] = []
    end = -math.inf
    for tick in sorted(scale.ticks, key=scale):
        half = text_width(number(tick), size) / 2
        if scale(tick) - half > end:
            kept.append(tick)
            end = scale(tick) + half + size / 2
    return kept


def reach(result: Result) -> list[float]:
    """The finite values that a drawing of this result must hold: its estimate and the ends of its interval."""
    if not drawable(result):
        return []
    ends = [result.interval.low, result.interval.high] if result.interval else []
    return [value for value in (result.estimate, *ends) if math.isfinite(value)]


def drawable(result: Result) -> bool:
    """True when there is a finite number to draw."""
    return result.undefined is None and math.isfinite(result.estimate)
