"""Places for the labels of a scatter chart: beside their marks, without overlaps, left out where there is no space."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from textassay.report.charts.svg import Box

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
    chosen: list[Place | None] = [None] * len(spots)
    for _ in range(_PASSES):
        for index, places in enumerate(options):
            labels = [other.box for at, other in enumerate(chosen) if other is not None and at != index]
            costs = [
                (_cost(place, labels, obstacles) + _COST_OF_DOUBT * (_lead(place, index, spots, marks) < _CLEAR), rank)
                for rank, place in enumerate(places)
            ]
            chosen[index] = places[min(costs)[1]] if costs else None
    return _kept(spots, chosen, obstacles, marks)


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


def _cost(place: Place, labels: Sequence[Box], obstacles: Sequence[Box]) -> float:
    hidden = 3 * sum(place.box.overlap(other) for other in labels)
    return hidden + sum(place.box.overlap(other) for other in obstacles) + place.distance / 2


def _lead(place: Place, index: int, spots: Sequence[Spot], marks: Sequence[Spot]) -> float:
    """By how much the label is nearer to its own mark than to any other; marks at the same spot do not count."""
    own = spots[index]
    others = [*(spot for at, spot in enumerate(spots) if at != index), *marks]
    gaps = [_gap(place.box, o) for o in others if math.hypot(o.x - own.x, o.y - own.y) > _ONE_SPOT]
    return min(gaps, default=math.inf) - _gap(place.box, own)


def _gap(box: Box, spot: Spot) -> float:
    return math.hypot(max(box.left - spot.x, 0.0, spot.x - box.right), max(box.top - spot.y, 0.0, spot.y - box.bottom))


def _kept(
    spots: Sequence[Spot], chosen: Sequence[Place | None], obstacles: Sequence[Box], marks: Sequence[Spot]
) -> list[Place | None]:
    """Leave out labels that cover a mark or an earlier label, or that could be read as the label of another mark."""
    kept: list[Place | None] = []
    for index, place in enumerate(chosen):
        before = [*obstacles, *(other.box for other in kept if other is not None)]
        good = (
            place is not None
            and sum(place.box.overlap(other) for other in before) <= _MOST_HIDDEN * place.box.area
            and _lead(place, index, spots, marks) >= (_CLEAR if place.leader else 0.0)
        )
        kept.append(place if good else None)
    return kept
