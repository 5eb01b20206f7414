"""The map of one candidate: texts of both samples as dots, regions as circles, those with too much or too little named.

Each region has two circles around one centre: a filled one whose area is the candidate's share of texts there, and a
dashed one for the reference's share. Too much is a disc that has outgrown its dashes, too little a disc lost in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import shortened
from textassay.inference.p_value import is_significant
from textassay.report.map_scale import Fit, fit_map, larger_share, piled
from textassay.report.meaning_lines import region_name
from textassay.report.placing import Place, Spot, place_labels
from textassay.report.svg import Box, dots, drawing, element, fitted, line, stamps, text_width
from textassay.studies.meaning import Meaning, Point, Region
from textassay.studies.wording import p_text, share

_FONT, _LINE = 12.0, 14.0
_BADGE, _PAD = 8.5, 3.0


@dataclass(frozen=True)
class Canvas:
    """A size to draw at: how wide, how high at most, how long a label may be, and which part of the texts is drawn."""

    key: str
    width: float
    most_height: float
    longest_label: float
    every: int
    shares: bool


WIDE = Canvas("wide", 760.0, 500.0, longest_label=190.0, every=1, shares=True)
NARROW = Canvas("narrow", 360.0, 400.0, longest_label=110.0, every=2, shares=False)


@dataclass(frozen=True)
class Numbered:
    """A region that the list beside the map names under the same number; `kind` is more or less."""

    number: int
    kind: str
    region: Region


# What is written beside a region: its lines, its badge, and where they go, None where there is no room.
Placed = tuple[Numbered, list[str], Spot, Place | None]


@dataclass(frozen=True)
class MeaningMap:
    """What is drawn for the candidate at this place of the comparison."""

    index: int
    name: str
    meaning: Meaning
    numbered: Sequence[Numbered]
    level: float
    points: int

    def draw(self, canvas: Canvas) -> tuple[Markup, int]:
        """The map at this size, and how many numbered regions go without their words there for want of room."""
        fit = fit_map(self.meaning, width=canvas.width, most_height=canvas.most_height)
        placed = self.placed(canvas, fit)
        candidate, reference = (
            piled(fit(point) for point in _thinned(points, self.points)[:: canvas.every])
            for points in (self.meaning.candidate_points, self.meaning.reference_points)
        )
        # Large regions first, so that a small one is not buried.
        regions = sorted(self.meaning.regions, key=lambda region: -larger_share(region))
        chart = drawing(
            *(_ground(region, kind_of(region, self.level), fit) for region in regions),
            dots(reference, "reference"),
            stamps(self.index, candidate, 2.4),
            *(_rings(region, kind_of(region, self.level), fit) for region in regions),
            *self._asides(canvas, fit, placed),
            *_labels(placed),
            width=canvas.width,
            height=fit.height,
            key=f"map-{self.index}-{canvas.key}",
            title=f"Map of {self.name} and the reference",
            summary=self._summary(),
        )
        return chart, sum(place is None for *_, place in placed)

    def _asides(self, canvas: Canvas, fit: Fit, placed: Sequence[Placed]) -> Iterator[Markup]:
        """A word or two in regions without a number, where nothing else is written."""
        taken = [_around(spot) for *_, spot, _ in placed] + [place.box for *_, place in placed if place is not None]
        listed = [numbered.region for numbered in self.numbered]
        for region in sorted(self.meaning.regions, key=lambda region: -larger_share(region)):
            if region in listed or not region.words:
                continue
            text, (x, y) = _fitting(region.words[:2], canvas.longest_label / 2), fit(region.place)
            half = text_width(text, _FONT) / 2
            box = Box(x - half, y - _LINE / 2, x + half, y + _LINE / 2)
            if box.overlap(_frame(canvas, fit)) > 0.999 * box.area and not any(box.overlap(other) for other in taken):
                taken.append(box)
                yield element("text", text, x=x, y=y + 4, text_anchor="middle", class_="aside")

    def placed(self, canvas: Canvas, fit: Fit) -> list[Placed]:
        """Where the labels of numbered regions go."""
        texts = [_lines(numbered, canvas) for numbered in self.numbered]
        spots = [
            Spot(*fit(numbered.region.place), max(text_width(text, _FONT) for text in lines) + 2 * _PAD, _height(lines))
            for numbered, lines in zip(self.numbered, texts, strict=True)
        ]
        places = place_labels(spots, [_around(spot) for spot in spots], _frame(canvas, fit))
        return list(zip(self.numbered, texts, spots, places, strict=True))

    def _summary(self) -> str:
        said = [f"{_WORDS[n.kind]}: {shortened(shown_name(n.region), 60)} ({shares(n.region)})" for n in self.numbered]
        return "; ".join(said) or "No region has significantly too much or too little."


_WORDS = {"more": "too much", "less": "too little"}


def kind_of(region: Region, level: float) -> str:
    """More, less or even: what the candidate significantly writes there."""
    if not is_significant(region.p_value, level) or region.surplus == 0:
        return "even"
    return "more" if region.surplus > 0 else "less"


def shown_name(region: Region) -> str:
    """Its typical words, or in quotes its most central text where no word is typical."""
    return region_name(region) if region.words else f"“{region_name(region).strip()}”"


def shares(region: Region) -> str:
    """The shares of candidate and reference in words."""
    return f"{share(region.candidate_share)} v {share(region.reference_share)}"


def _thinned(points: Sequence[Point], most: int) -> list[Point]:
    few = min(len(points), most)
    return [points[place * len(points) // few] for place in range(few)]


def _ground(region: Region, kind: str, fit: Fit) -> Markup:
    x, y = fit(region.place)
    return element("circle", cx=x, cy=y, r=fit.radius(region.candidate_share), class_=f"disc {kind}")


def _rings(region: Region, kind: str, fit: Fit) -> Markup:
    """The outlines of both shares, drawn over the dots, and what a pointer brings up."""
    x, y = fit(region.place)
    name = shortened(shown_name(region), 80)
    return element(
        "g",
        element("title", f"{name}: {shares(region)}, p {p_text(region.p_value)}"),
        element("circle", cx=x, cy=y, r=fit.radius(region.candidate_share), class_="have"),
        element("circle", cx=x, cy=y, r=fit.radius(region.reference_share), class_="wanted"),
        class_=f"region {kind}",
    )


def _labels(placed: Sequence[Placed]) -> Iterator[Markup]:
    """Lines to labels that stand apart, then badges, then words, so that nothing is written over."""
    yield from (_leader(spot, place) for *_, spot, place in placed if place is not None and place.leader)
    yield from (_badge(numbered, spot) for numbered, _, spot, _ in placed)
    yield from (_label(numbered, lines, spot, place) for numbered, lines, spot, place in placed if place is not None)


def _badge(numbered: Numbered, spot: Spot) -> Markup:
    return element(
        "g",
        element("circle", cx=spot.x, cy=spot.y, r=_BADGE),
        element("text", str(numbered.number), x=spot.x, y=spot.y + 3.8, text_anchor="middle"),
        class_=f"badge {numbered.kind}",
    )


def _lines(numbered: Numbered, canvas: Canvas) -> list[str]:
    """As many typical words as there is room for, and on a large canvas how much too much or too little."""
    region = numbered.region
    shown = _fitting(region.words or [shown_name(region)], canvas.longest_label)
    return [shown, f"{_WORDS[numbered.kind]}: {shares(region)}"] if canvas.shares else [shown]


def _fitting(words: Sequence[str], room: float) -> str:
    """As many of the words as there is room for, or what fits of the first."""
    short = [shortened(word, 40) for word in words]
    lists = (", ".join(short[:n]) for n in range(len(short), 1, -1))
    return next((text for text in lists if text_width(text, _FONT) <= room), fitted(short[0], room, _FONT))


def _around(spot: Spot) -> Box:
    """What a badge covers."""
    return Box(spot.x - _BADGE, spot.y - _BADGE, spot.x + _BADGE, spot.y + _BADGE)


def _frame(canvas: Canvas, fit: Fit) -> Box:
    return Box(0.0, 0.0, canvas.width, fit.height)


def _height(lines: Sequence[str]) -> float:
    return _LINE * len(lines) + 1


def _label(numbered: Numbered, lines: Sequence[str], spot: Spot, place: Place) -> Markup:
    # Anchored at the side that faces the badge: the real width of the text is only guessed.
    anchor, x = "middle", (place.box.left + place.box.right) / 2
    if place.box.left > spot.x:
        anchor, x = "start", place.box.left + _PAD
    elif place.box.right < spot.x:
        anchor, x = "end", place.box.right - _PAD
    texts = (
        element("text", text, x=x, y=place.box.top + _LINE * (row + 1) - 3, text_anchor=anchor, class_=class_)
        for row, (text, class_) in enumerate(zip(lines, ("name", "amount"), strict=False))
    )
    return element("g", *texts, class_=numbered.kind)


def _leader(spot: Spot, place: Place) -> Markup:
    x = min(max(spot.x, place.box.left), place.box.right)
    y = min(max(spot.y, place.box.top), place.box.bottom)
    return line(spot.x, spot.y, x, y, "leader")
