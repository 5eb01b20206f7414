"""How many items have how many ratings, as bars of a small chart."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600.0, 100.0
_MOST_BARS = 30
_MOST_LABELS = 12
_GAP = 0.22


@dataclass(frozen=True)
class Bar:
    """Items with `low` to `high` ratings; `full` where that is all that is wanted."""

    low: int
    high: int
    items: int
    full: bool
    x: float
    y: float
    width: float
    height: float

    @property
    def label(self) -> str:
        """The bar in words."""
        ratings = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        things = "1 item has" if self.items == 1 else f"{self.items} items have"
        return f"{things} {ratings} rating{'' if ratings == '1' else 's'}"


@dataclass(frozen=True)
class Histogram:
    """The bars, the number of items that the highest stands for, and which bars have room for a label."""

    bars: tuple[Bar, ...]
    most: int
    every: int


def histogram(counts: Sequence[int], *, wanted: int) -> Histogram:
    """Bars from no rating to as many as are wanted, or as there are; several numbers a bar where there are many.

    >>> [bar.label for bar in histogram([0, 2, 2], wanted=2).bars]
    ['1 item has 0 ratings', '0 items have 1 rating', '2 items have 2 ratings']
    """
    last = max([wanted, *counts])
    step = -(-(last + 1) // _MOST_BARS)
    held = [0] * (last // step + 1)
    for count in counts:
        held[count // step] += 1
    most = max(1, *held)
    lows = range(0, last + 1, step)
    bars = [
        Bar(low, min(low + step - 1, last), items, low >= wanted, *_place(place, items / most, len(held)))
        for place, (low, items) in enumerate(zip(lows, held, strict=True))
    ]
    return Histogram(tuple(bars), max(held), every=-(-len(bars) // _MOST_LABELS))


def _place(place: int, share: float, places: int) -> tuple[float, float, float, float]:
    """Where a bar stands, how wide and how high it is."""
    slot = WIDTH / places
    x, height = slot * (place + _GAP / 2), HEIGHT * share
    return round(x, 2), round(HEIGHT - height, 2), round(slot * (1 - _GAP), 2), round(height, 2)
