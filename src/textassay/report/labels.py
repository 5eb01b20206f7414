"""Places for the labels of a scatter chart: beside their marks, without overlaps, left out where there is no space."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64
from textassay.report.svg import Box

# Right, left, above, below, then the corners: readers expect the first free place in this order.
_TURNS = (0.0, math.pi, -math.pi / 2, math.pi / 2, -math.pi / 4, math.pi / 4, -3 * math.pi / 4, 3 * math.pi / 4)
_DISTANCES = (9.0, 18.0, 30.0, 44.0)
_PASSES = 4
_ONE_SPOT = 4.0
# A label should be nearer to its own mark than to others by this many pixels, and how much it costs if it is not.
_CLEAR, _COST_OF_DOUBT = 2.0, 40.0
# A label that is covered by more than this share is left out; the legend still names the mark.
_MOST_HIDDEN = 0.15


@dataclass(frozen=True)
class Spot:
    """A mark and the size of the label that goes with it."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Place:
    """A label's box and its distance from the mark."""

    box: Box
    distance: float

    @property
    def leader(self) -> bool:
        """True when it is far enough from its mark to need a line to it."""
        return self.distance > _DISTANCES[0]


def place_labels(
    spots: Sequence[Spot], obstacles: Sequence[Box], frame: Box, *, marks: Sequence[Spot] = ()
) -> list[Place | None]:
    """A place inside the frame for each label, None where every place would cover too much or be misread.

    `marks` are further marks without a label, beside which a label could be misread. Labels are placed one after
    another, then moved again with the places of all others known, a few times.
    """
    options = [_options(spot, frame) for spot in spots]
    covered, others = _corners(obstacles), [*spots, *marks]
    corners = [_corners([place.box for place in places]) for places in options]
    fixed = [_fixed_costs(places, index, others, covered) for index, places in enumerate(options)]
    # The box of a label that has no place yet is empty and covers nothing.
    boxes = np.zeros((len(spots), 4))
    chosen: list[Place | None] = [None] * len(spots)
    for _ in range(_PASSES):
        for index, places in enumerate(options):
            if not places:
                continue
            boxes[index] = 0.0
            costs = fixed[index] + 3 * _overlaps(corners[index], boxes).sum(axis=1)
            # Costs that differ only by rounding are equal, and the first place counts.
            best = int(np.argmin(costs.round(6)))
            chosen[index], boxes[index] = places[best], corners[index][best]
    return _kept(spots, chosen, obstacles, marks)


def _corners(boxes: Sequence[Box]) -> F64:
    """Left, top, right and bottom, one row per box."""
    return np.array([(box.left, box.top, box.right, box.bottom) for box in boxes]).reshape(-1, 4)


def _overlaps(boxes: F64, others: F64) -> F64:
    """The area that each box shares with each other one."""
    width = np.minimum(boxes[:, None, 2], others[:, 2]) - np.maximum(boxes[:, None, 0], others[:, 0])
    height = np.minimum(boxes[:, None, 3], others[:, 3]) - np.maximum(boxes[:, None, 1], others[:, 1])
    shared: F64 = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    return shared


def _fixed_costs(places: Sequence[Place], index: int, others: Sequence[Spot], covered: F64) -> F64:
    """The costs of a label's places that do not depend on the other labels."""
    corners = _corners([place.box for place in places])
    doubtful = _leads(corners, index, others) < _CLEAR
    distances = np.array([place.distance for place in places])
    return _overlaps(corners, covered).sum(axis=1) + distances / 2 + _COST_OF_DOUBT * doubtful


def _options(spot: Spot, frame: Box) -> list[Place]:
    places = []
    for distance in _DISTANCES:
        for turn in _TURNS:
            # The label's centre moves on a stretched ring, so that its edge and not its middle has the distance.
            x = spot.x + math.cos(turn) * (distance + spot.width / 2)
            y = spot.y + math.sin(turn) * (distance + spot.height / 2)
            box = Box(x - spot.width / 2, y - spot.height / 2, x + spot.width / 2, y + spot.height / 2)
            if box.overlap(frame) > 0.999 * box.area:
                places.append(Place(box, distance))
    return places


def _leads(corners: F64, index: int, spots: Sequence[Spot]) -> F64:
    """By how much boxes are nearer to their own mark than to any other; marks at the same spot do not count."""
    points = np.array([(spot.x, spot.y) for spot in spots])
    apart = np.hypot(*(points - points[index]).T) > _ONE_SPOT
    low, high = corners[:, None, :2], corners[:, None, 2:]
    outside = np.maximum(np.maximum(low - points, points - high), 0.0)
    gaps = np.hypot(outside[..., 0], outside[..., 1])
    nearest: F64 = gaps[:, apart].min(axis=1, initial=math.inf) - gaps[:, index]
    return nearest


def _kept(
    spots: Sequence[Spot], chosen: Sequence[Place | None], obstacles: Sequence[Box], marks: Sequence[Spot]
) -> list[Place | None]:
    """Leave out labels that cover a mark or an earlier label, or that could be read as the label of another mark."""
    kept: list[Place | None] = []
    for index, place in enumerate(chosen):
        if place is None:
            kept.append(None)
            continue
        corners = _corners([place.box])
        before = _corners([*obstacles, *(other.box for other in kept if other is not None)])
        clear = float(_leads(corners, index, [*spots, *marks])[0]) >= (_CLEAR if place.leader else 0.0)
        good = clear and float(_overlaps(corners, before).sum()) <= _MOST_HIDDEN * place.box.area
        kept.append(place if good else None)
    return kept
