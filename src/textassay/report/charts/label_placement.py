"""Where labels of a scatter chart go: beside their marks, apart from each other, left out where there is no room."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from textassay.report.charts.svg import Box

# Right, left, above, below, then the corners: the first free place in this order is the one a reader expects.
_TURNS = (0.0, math.pi, -math.pi / 2, math.pi / 2, -math.pi / 4, math.pi / 4, -3 * math.pi / 4, 3 * math.pi / 4)
_DISTANCES = (9.0, 18.0, 30.0, 44.0)
_PASSES = 4
_ONE_SPOT = 4.0
# More of a label than this under something else and it is left out; the legend still names the mark.
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


def place_labels(spots: Sequence[Spot], obstacles: Sequence[Box], frame: Box) -> list[Place | None]:
    """A place inside the frame for each label, None where every place would hide too much.

    Labels are placed one after another, then moved again with all others in sight, a few times over.
    """
    options = [_options(spot, frame) for spot in spots]
    chosen: list[Place | None] = [None] * len(spots)
    for _ in range(_PASSES):
        for index, places in enumerate(options):
            labels = [other.box for at, other in enumerate(chosen) if other is not None and at != index]
            others = [spot for at, spot in enumerate(spots) if at != index]
            costs = [
                (_cost(place, labels, obstacles) + _doubt(place, spots[index], others), rank)
                for rank, place in enumerate(places)
            ]
            chosen[index] = places[min(costs)[1]] if costs else None
    return _clear(spots, chosen, obstacles)


def _options(spot: Spot, frame: Box) -> list[Place]:
    places = []
    for distance in _DISTANCES:
        for turn in _TURNS:
            # The label's centre moves on a stretched ring, so that its edge and not its middle keeps the distance.
            x = spot.x + math.cos(turn) * (distance + spot.width / 2)
            y = spot.y + math.sin(turn) * (distance + spot.height / 2)
            box = Box(x - spot.width / 2, y - spot.height / 2, x + spot.width / 2, y + spot.height / 2)
            if box.overlap(frame) > 0.999 * box.area:
                places.append(Place(box, distance))
    return places


def _cost(place: Place, labels: Sequence[Box], obstacles: Sequence[Box]) -> float:
    hidden = 3 * sum(place.box.overlap(other) for other in labels)
    return hidden + sum(place.box.overlap(other) for other in obstacles) + place.distance / 2


def _doubt(place: Place, own: Spot, others: Sequence[Spot]) -> float:
    """A price for standing as near to another mark as to its own; marks on one spot cannot be told apart anyway."""
    near = _gap(place.box, own)
    apart = [other for other in others if math.hypot(other.x - own.x, other.y - own.y) > _ONE_SPOT]
    return 40.0 if any(_gap(place.box, other) <= near + 2 for other in apart) else 0.0


def _gap(box: Box, spot: Spot) -> float:
    return math.hypot(max(box.left - spot.x, 0.0, spot.x - box.right), max(box.top - spot.y, 0.0, spot.y - box.bottom))


def _clear(spots: Sequence[Spot], chosen: Sequence[Place | None], obstacles: Sequence[Box]) -> list[Place | None]:
    """Labels that cover a mark or an earlier label go, and so do those that a reader might give to another mark."""
    kept: list[Place | None] = []
    for index, place in enumerate(chosen):
        before = [*obstacles, *(other.box for other in kept if other is not None)]
        others = [spot for at, spot in enumerate(spots) if at != index]
        good = (
            place is not None
            and sum(place.box.overlap(other) for other in before) <= _MOST_HIDDEN * place.box.area
            and not (place.leader and _doubt(place, spots[index], others))
        )
        kept.append(place if good else None)
    return kept
