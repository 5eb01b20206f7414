"""Meaning: what differs between two samples as sentence vectors see it, frozen, and its JSON form."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from textassay.inference.p_value import is_significant
from textassay.views.encoders.base import MEANING

Point = tuple[float, float]


@dataclass(frozen=True)
class Region:
    """A group of similar texts of both samples: its typical words, its most central texts and its place on the map.

    `p_value` is for "both samples have the same share here", corrected for the number of regions.
    """

    words: tuple[str, ...]
    candidate_count: int
    reference_count: int
    candidate_share: float
    reference_share: float
    p_value: float
    candidate_examples: tuple[str, ...]
    reference_examples: tuple[str, ...]
    place: Point

    @property
    def surplus(self) -> float:
        """How much larger the candidate's share is."""
        return self.candidate_share - self.reference_share


@dataclass(frozen=True)
class Stray:
    """A text far from all texts of the other sample: how far, and the text that comes nearest."""

    text: str
    distance: float
    nearest: str


@dataclass(frozen=True)
class Meaning:
    """Regions, texts without a counterpart, and a map of both samples.

    A text counts as far when it is farther from the other sample than 95 % of the reference texts are from each other:
    `far_share` of the candidate (5 % of real text would be), `missed_share` of the reference. `candidate_points` and
    `reference_points` are places of a part of the texts. `sees` is what the vectors are about: `lsa` sees word
    patterns.
    """

    regions: tuple[Region, ...]
    far: tuple[Stray, ...]
    missed: tuple[Stray, ...]
    far_share: float
    missed_share: float
    candidate_points: tuple[Point, ...]
    reference_points: tuple[Point, ...]
    sees: str = MEANING

    def at_least(self, p_value: float) -> Self:
        """The same with no region's p-value below this one, the p-value of there being any difference at all."""
        regions = tuple(replace(region, p_value=max(region.p_value, p_value)) for region in self.regions)
        return replace(self, regions=regions)

    def over(self, level: float) -> list[Region]:
        """Regions where the candidate writes significantly too much, the largest surplus first."""
        found = [region for region in self.regions if is_significant(region.p_value, level) and region.surplus > 0]
        return sorted(found, key=lambda region: -region.surplus)

    def under(self, level: float) -> list[Region]:
        """Regions where it writes significantly too little, the largest gap first."""
        found = [region for region in self.regions if is_significant(region.p_value, level) and region.surplus < 0]
        return sorted(found, key=lambda region: region.surplus)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        values = dict(plain)
        lists: dict[str, Callable[[Any], Any]] = {
            "regions": _region,
            "far": _stray,
            "missed": _stray,
            "candidate_points": _point,
            "reference_points": _point,
        }
        return cls(**values | {name: tuple(map(read, values[name])) for name, read in lists.items()})


def _region(plain: Mapping[str, Any]) -> Region:
    texts = {name: tuple(plain[name]) for name in ("words", "candidate_examples", "reference_examples")}
    return Region(**{**plain, **texts, "place": _point(plain["place"])})


def _stray(plain: Mapping[str, Any]) -> Stray:
    return Stray(**plain)


def _point(plain: Any) -> Point:
    return float(plain[0]), float(plain[1])
