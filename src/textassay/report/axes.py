"""Axes of charts: from values to pixels, and round ticks. The one place where ticks are chosen."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

from textassay.document.plot import Scale
from textassay.report.svg import text_width

# An outlier may make the axis this many times as long as the typical distance from real text; beyond that, the axis is
# stretched.
_LOPSIDED = 12.0
_AIR = 0.06
# Beyond these sizes floating-point numbers leave no room for air and ticks.
_LARGEST = 1e250


@dataclass(frozen=True)
class Tick:
    """A place on an axis and the text beside it."""

    value: float
    text: str


@dataclass(frozen=True)
class Axis:
    """A scale from values (`low` to `high`) to pixels (`start` to `end`; swapped ends reverse it).

    With a `bend` it is stretched around `centre`, asinh((value - centre) / bend): linear near it, logarithmic far away.
    """

    low: float
    high: float
    start: float
    end: float
    centre: float = 0.0
    bend: float = 0.0
    is_log: bool = False
    ticks: tuple[Tick, ...] = ()

    def __call__(self, value: float) -> float:
        """The pixel of a value, limited to the axis."""
        shown, low, high = (self._unbent(v) for v in (min(max(value, self.low), self.high), self.low, self.high))
        return self.start + (shown - low) / (high - low) * (self.end - self.start)

    def value(self, share: float) -> float:
        """The value at this share of the axis."""
        low, high = self._unbent(self.low), self._unbent(self.high)
        place = low + share * (high - low)
        if self.is_log:
            return float(10.0**place)
        return self.centre + self.bend * math.sinh(place) if self.bend else place

    def _unbent(self, value: float) -> float:
        if self.is_log:
            return math.log10(value)
        return math.asinh((value - self.centre) / self.bend) if self.bend else value

    @property
    def zero(self) -> float:
        """The pixel of zero, or of the end that is nearest to it."""
        return self(0.0) if not self.is_log else self.start

    def legible(self, size: float) -> list[Tick]:
        """The ticks of a level axis whose labels, in a font of this size, do not touch each other."""
        kept: list[Tick] = []
        end = -math.inf
        for tick in sorted(self.ticks, key=lambda tick: self(tick.value)):
            half = text_width(tick.text, size) / 2
            if self(tick.value) - half > end:
                kept.append(tick)
                end = self(tick.value) + half + size / 2
        return kept


def axis_of(scale: Scale, values: Iterable[float], start: float, end: float, *, about: int = 5) -> Axis:
    """The axis of this scale over pixels, which covers all finite values and has about this many ticks.

    >>> [tick.text for tick in axis_of(Scale(), [0.81, 0.83, 0.86], 0, 100).ticks]
    ['0.82', '0.84', '0.86']
    >>> [tick.text for tick in axis_of(Scale(centre=0.002), [0.001, 0.002, 0.003, 5.0], 0, 100, about=4).ticks]
    ['0', '0.003', '0.02', '0.2', '2']
    >>> [tick.text for tick in axis_of(Scale(), [0.6, 1.4], 0, 100, about=1).ticks]
    ['0.6', '0.8', '1.0', '1.2', '1.4']
    """
    if scale.names:
        ticks = tuple(Tick(float(index), name) for index, name in enumerate(scale.names))
        return Axis(-0.5, len(scale.names) - 0.5, start, end, ticks=ticks)
    start, end = (end, start) if scale.reversed else (start, end)
    limits = [value for value in scale.limits or () if math.isfinite(value)]
    known = (value for value in (*values, *limits) if abs(value) < _LARGEST and (value > 0 or not scale.log))
    finite = [value if abs(value) > 1 / _LARGEST else 0.0 for value in known]
    bare = _covering(
        scale, [value for value in finite if value or not scale.log] or [1.0 if scale.log else 0.0], limits, start, end
    )
    return replace(bare, ticks=_ticks(scale, bare, about))


def _covering(scale: Scale, values: list[float], limits: list[float], start: float, end: float) -> Axis:
    """The axis without ticks, with some air beyond the values, but not beyond the limits."""
    low, high = min(values), max(values)
    bend = 0.0 if scale.log or scale.centre is None else _bend(values, scale.centre)
    if not bend and not scale.log:
        air = max(_AIR * (high - low), 0.6 * _finest(max(abs(low), abs(high))))
        ends = (low if low in limits else low - air, high if high in limits else high + air)
        return Axis(*(ends if ends[0] < ends[1] else (low - air, high + air)), start, end)
    low, high = (low / 2, high * 2) if low == high and scale.log else (low, high)
    centre = scale.centre if bend and scale.centre is not None else 0.0
    bare = Axis(low, high, start, end, centre, bend, scale.log)
    return replace(bare, low=bare.value(-_AIR), high=bare.value(1 + _AIR))


def _bend(values: list[float], centre: float) -> float:
    """The distance from the centre up to which the axis is about linear, 0 for a plain axis."""
    distances = [abs(value - centre) for value in values]
    if math.isnan(centre) or len(values) < 3 or max(distances) <= _LOPSIDED * median(distances):
        return 0.0
    return median(distances) or max(distances) / (4 * _LOPSIDED)


def _ticks(scale: Scale, axis: Axis, about: int) -> tuple[Tick, ...]:
    if scale.ticks is not None:
        known = (Tick(value, text) for value, text in scale.ticks if axis.low <= value <= axis.high)
        return tuple(known)
    if scale.log or axis.bend:
        return tuple(Tick(value, _tick_text(value, None, percent=scale.percent)) for value in _bent(axis, about))
    finest = _finest(max(abs(axis.low), abs(axis.high)))
    step = max(_step((axis.high - axis.low) / about), finest)
    # A single tick shows no scale.
    while len(_multiples(axis, step)) < 2 and step > finest:
        step = max(_step(step / 2.5), finest)
    places = _multiples(axis, step)
    values = (_exact(place * step, step) for place in places)
    return tuple(Tick(value, _tick_text(value, step, percent=scale.percent)) for value in values)


def _multiples(axis: Axis, step: float) -> range:
    """The multiples of a step that are on the axis."""
    return range(math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9) + 1)


def _tick_text(value: float, step: float | None, *, percent: bool) -> str:
    """A round number with as many decimals as its step needs, or as it needs itself.

    >>> _tick_text(0.2, 0.2, percent=False), _tick_text(2000, 500, percent=False), _tick_text(0.25, 0.05, percent=True)
    ('0.2', '2,000', '25 %')
    """
    value, step = (100 * value, None if step is None else 100 * step) if percent else (value, step)
    unit = " %" if percent else ""
    if value == 0:
        return f"0{unit}"
    size = abs(value) if step is None else step
    if step is None and 1e-4 <= size < 1e6:
        return f"{value:,.6g}{unit}"
    if not 1e-4 <= size < 1e7:
        return f"{value:.4g}{unit}"
    decimals = max(0, -math.floor(math.log10(size) + 1e-9))
    return f"{value:,.{decimals}f}{unit}"


def _bent(axis: Axis, about: int) -> list[float]:
    """Places along the axis, each moved to a round number nearby, and kept if it does not touch the previous one."""
    ticks: list[float] = []
    apart = 0.7 * abs(axis.end - axis.start) / about
    for place in range(12 * about + 1):
        share, half = place / (12 * about), 0.25 / about
        step = _step((axis.value(share + half) - axis.value(share - half)) / 2)
        tick = _exact(round(axis.value(share) / step) * step, step)
        known = axis.low <= tick <= axis.high and not (axis.is_log and tick <= 0)
        if known and (not ticks or abs(axis(tick) - axis(ticks[-1])) > apart):
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


def alike(x: Axis, y: Axis) -> tuple[Axis, Axis]:
    """Both axes with the same number of pixels per unit: the one with more pixels covers more values."""
    per_x, per_y = (abs(axis.end - axis.start) / (axis.high - axis.low) for axis in (x, y))
    return (_widened(x, per_x / per_y), y) if per_x > per_y else (x, _widened(y, per_y / per_x))


def _widened(axis: Axis, factor: float) -> Axis:
    middle, half = (axis.low + axis.high) / 2, factor * (axis.high - axis.low) / 2
    return replace(axis, low=middle - half, high=middle + half)
