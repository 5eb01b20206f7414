"""The scale of a map: one both ways, as large as leaves every circle inside; a share of texts is an area."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textassay.studies.meaning import Meaning, Point, Region

# All circles of a sample together cover this part of the canvas.
_COVERED = 0.16
# A flat map still gets this part of its width as height: its labels need room.
_LEAST_HEIGHT = 0.45
# Half of a dot, and the width of an outline.
_DOT, _EDGE = 5.0, 2.0
# The angle at which seeds of a sunflower follow each other, and how far they are apart.
_GOLDEN, _APART = math.pi * (3 - math.sqrt(5)), 2.8


@dataclass(frozen=True)
class Fit:
    """From places between 0 and 1 to pixels, and from shares to radii."""

    scale: float
    left: float
    top: float
    height: float
    turned: bool
    area: float

    def __call__(self, point: Point) -> tuple[float, float]:
        """The pixels of a place."""
        x, y = point[self.turned], point[not self.turned]
        return self.left + self.scale * x, self.top + self.scale * y

    def radius(self, part: float) -> float:
        """The radius of a circle whose area is this share of texts."""
        return _radius(part, self.area)


def fit_map(meaning: Meaning, *, width: float, most_height: float) -> Fit:
    """The largest scale at which dots and circles, whose size is fixed, fit on the canvas."""
    points = (*meaning.candidate_points, *meaning.reference_points, *(region.place for region in meaning.regions))
    # A sheet is wider than high: so is the map, whichever way its layout came out.
    (left, _), (right, _) = _ends(points, 0)
    (top, _), (bottom, _) = _ends(points, 1)
    turned = bottom - top > right - left
    area = _COVERED * width * most_height
    discs = [(region.place, _radius(larger_share(region), area) + _EDGE) for region in meaning.regions]
    across, down = ([*_ends(points, axis ^ turned), *((at[axis ^ turned], r) for at, r in discs)] for axis in (0, 1))
    scale = min(_most(across, width), _most(down, most_height))
    left, right = _reach(across, scale)
    top, bottom = _reach(down, scale)
    height = max(bottom - top, _LEAST_HEIGHT * width)
    return Fit(scale, (width - left - right) / 2, (height - top - bottom) / 2, height, turned, area)


def _ends(points: Sequence[Point], axis: int) -> list[tuple[float, float]]:
    """The first and the last dot along an axis, with their radius."""
    along = [point[axis] for point in points]
    return [(min(along), _DOT), (max(along), _DOT)]


def _reach(discs: Sequence[tuple[float, float]], scale: float) -> tuple[float, float]:
    """From where to where discs reach at this scale."""
    return min(x * scale - r for x, r in discs), max(x * scale + r for x, r in discs)


def _most(discs: Sequence[tuple[float, float]], room: float) -> float:
    """The largest scale at which discs of fixed size stay within the room: halving, since the reach only grows."""
    low, high = 0.0, room
    for _ in range(30):
        middle = (low + high) / 2
        first, last = _reach(discs, middle)
        low, high = (middle, high) if last - first <= room else (low, middle)
    return low


def _radius(part: float, area: float) -> float:
    return math.sqrt(max(part, 0.0) * area / math.pi)


def larger_share(region: Region) -> float:
    """The share of the sample that has more of the region."""
    return max(region.candidate_share, region.reference_share)


def piled(places: Iterable[Point]) -> list[Point]:
    """Texts at one place side by side around it, as seeds in a sunflower: a text repeated often is seen to be."""
    at: Counter[Point] = Counter()
    spread = []
    for x, y in places:
        turn, r = _GOLDEN * at[x, y], _APART * math.sqrt(at[x, y])
        at[x, y] += 1
        spread.append((x + r * math.cos(turn), y + r * math.sin(turn)))
    return spread
