"""The section on meaning: a map of both samples, regions, and unmatched texts.

Each region has two circles around one centre: a filled one whose area is the candidate's share of texts there, and a
dashed one for the reference's share. A candidate has too many texts where the filled circle is larger than the dashed
one, and too few where it is smaller.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.corpus.printable import share, shortened
from textassay.document.words import p_text
from textassay.inference.p_values import is_significant
from textassay.report.former.charts.label_placement import Place, Spot, place_labels
from textassay.report.former.charts.svg import (
    COLOURS,
    Box,
    dots,
    drawing,
    element,
    fitted,
    line,
    rectangle,
    stamps,
    text_width,
)
from textassay.studies.compare.meaning import FAR, Meaning, Point, Region, UnmatchedText
from textassay.studies.compare.result import Column, Comparison

_MOST = 3


def meaning_lines(meaning: Meaning, level: float, *, most: int = _MOST) -> Iterator[tuple[str, str]]:
    """Pairs of a heading and its list: regions with too many texts, and regions with too few."""
    if regions := meaning.over(level):
        yield "too many texts about", _listed(regions, most)
    if regions := meaning.under(level):
        yield "too few texts about", _listed(regions, most)


def region_name(region: Region) -> str:
    """The typical words, or the most central text where no word is typical."""
    if region.words:
        return ", ".join(region.words)
    return next(iter((*region.candidate_examples, *region.reference_examples)), "")


def _listed(regions: Sequence[Region], most: int) -> str:
    shown = [
        f"{shown_name(region)} ({share(region.candidate_share)} v {share(region.reference_share)})"
        for region in regions[:most]
    ]
    more = f"; and {len(regions) - most} more" if len(regions) > most else ""
    return "; ".join(shown) + more


# All circles of a sample together cover this part of the canvas.
_COVERED = 0.16
# A flat map still gets this part of its width as height, because its labels need space.
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
    # The map is wider than high, like a sheet, so a tall layout is turned.
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
    """The largest scale at which discs of fixed size fit: bisection, because their extent grows with the scale."""
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
    """Texts at one place side by side around it, like sunflower seeds, so that repeated texts remain visible."""
    at: Counter[Point] = Counter()
    spread = []
    for x, y in places:
        turn, r = _GOLDEN * at[x, y], _APART * math.sqrt(at[x, y])
        at[x, y] += 1
        spread.append((x + r * math.cos(turn), y + r * math.sin(turn)))
    return spread


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


# A numbered region, the lines of its label, its badge, and the place of the label, None where there is no space.
Placed = tuple[Numbered, list[str], Spot, Place | None]


@dataclass(frozen=True)
class MeaningMap:
    """The map of one candidate and the reference."""

    index: int
    name: str
    meaning: Meaning
    numbered: Sequence[Numbered]
    level: float
    points: int

    def draw(self, canvas: Canvas) -> tuple[Markup, int]:
        """The map at this size, and how many numbered regions have no label there for lack of space."""
        fit = fit_map(self.meaning, width=canvas.width, most_height=canvas.most_height)
        placed = self.placed(canvas, fit)
        candidate, reference = (
            piled(fit(point) for point in _thinned(points, self.points)[:: canvas.every])
            for points in (self.meaning.candidate_points, self.meaning.reference_points)
        )
        # Large regions first, so that small ones are not covered.
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
        """A word or two in regions without a number, where there is space."""
        taken = [_around(spot) for *_, spot, _ in placed] + [place.box for *_, place in placed if place is not None]
        listed = [numbered.region for numbered in self.numbered]
        for region in sorted(self.meaning.regions, key=lambda region: -larger_share(region)):
            if region in listed or not region.words:
                continue
            text, (x, y) = _fitting(region.words[:2], 0.7 * canvas.longest_label), fit(region.place)
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
        regions = [
            f"{_WORDS[n.kind]}: {shortened(shown_name(n.region), 60)} ({named_shares(n.region)})" for n in self.numbered
        ]
        return "; ".join(regions) or "No region has significantly too many or too few texts."


_WORDS = {"more": "too many", "less": "too few"}


def kind_of(region: Region, level: float) -> str:
    """more, less or even: whether the candidate has significantly more or fewer texts there."""
    if not is_significant(region.p_value, level) or region.surplus == 0:
        return "even"
    return "more" if region.surplus > 0 else "less"


def shown_name(region: Region) -> str:
    """Its typical words, or in quotes its most central text where no word is typical."""
    return region_name(region) if region.words else f"“{region_name(region).strip()}”"


def shares(region: Region) -> str:
    """The shares of candidate and reference, for a place where their order is explained."""
    return f"{share(region.candidate_share)} v {share(region.reference_share)}"


def named_shares(region: Region) -> str:
    """The shares of candidate and reference in words."""
    return f"{share(region.candidate_share)} of the candidate, {share(region.reference_share)} of the reference"


def _thinned(points: Sequence[Point], most: int) -> list[Point]:
    few = min(len(points), most)
    return [points[place * len(points) // few] for place in range(few)]


def _ground(region: Region, kind: str, fit: Fit) -> Markup:
    x, y = fit(region.place)
    return element("circle", cx=x, cy=y, r=fit.radius(region.candidate_share), class_=f"disc {kind}")


def _rings(region: Region, kind: str, fit: Fit) -> Markup:
    """The outlines of both shares, drawn over the dots, and a tooltip."""
    x, y = fit(region.place)
    name = shortened(shown_name(region), 80)
    return element(
        "g",
        element("title", f"{name}: {named_shares(region)}, p {p_text(region.p_value)}"),
        element("circle", cx=x, cy=y, r=fit.radius(region.candidate_share), class_="have"),
        element("circle", cx=x, cy=y, r=fit.radius(region.reference_share), class_="wanted"),
        class_=f"region {kind}",
    )


def _labels(placed: Sequence[Placed]) -> Iterator[Markup]:
    """Lines to distant labels, then badges, then words, so that no word is covered."""
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
    """As many typical words as fit, and on a large canvas both shares."""
    region = numbered.region
    shown = _fitting(region.words or [shown_name(region)], canvas.longest_label)
    return [shown, f"{_WORDS[numbered.kind]}: {shares(region)}"] if canvas.shares else [shown]


def _fitting(words: Sequence[str], room: float) -> str:
    """As many of the words as fit, or what fits of the first."""
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
    # Anchored at the side that faces the badge: the width of the text is only estimated.
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


_BAR, _THICK = 100.0, 8.0


@dataclass(frozen=True)
class RegionRow:
    """A region with its number on the map, its bars, and the central texts of the sample that has more of it."""

    number: int
    name: str
    region: Region
    candidate_bar: Markup
    reference_bar: Markup
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """What is shown of a list, and how much of it is not."""

    rows: Sequence[RegionRow]
    hidden: int


@dataclass(frozen=True)
class Unmatched:
    """Texts without a counterpart: their share, also as a bar, and the most distant of them."""

    share: float
    gauge: Markup
    texts: Sequence[UnmatchedText]


@dataclass(frozen=True)
class MeaningView:
    """The section of one candidate."""

    index: int
    column: Column
    wide: Markup
    narrow: Markup
    unlabelled: int
    more: Side
    less: Side
    far: Unmatched
    missed: Unmatched


def meaning_views(
    comparison: Comparison, *, regions: int, points: int, unmatched: int, examples: int
) -> list[MeaningView]:
    """A view of every candidate with regions, with at most this much of each list."""
    level = comparison.level
    return [
        _view(index, column, level, _Most(regions, points, unmatched, examples))
        for index, column in enumerate(comparison.candidates)
        if column.meaning is not None and column.meaning.regions
    ]


@dataclass(frozen=True)
class _Most:
    regions: int
    points: int
    unmatched: int
    examples: int


def _view(index: int, column: Column, level: float, most: _Most) -> MeaningView:
    meaning = column.meaning
    assert meaning is not None
    over, under = meaning.over(level), meaning.under(level)
    shown = [("more", region) for region in over[: most.regions]] + [("less", r) for r in under[: most.regions]]
    numbered = [Numbered(number, kind, region) for number, (kind, region) in enumerate(shown, start=1)]
    chart = MeaningMap(index, column.name, meaning, numbered, level=level, points=most.points)
    wide, unlabelled = chart.draw(WIDE)
    longest = max((max(region.candidate_share, region.reference_share) for _, region in shown), default=1.0)
    rows = {
        kind: [_row(n, index, longest, most.examples) for n in numbered if n.kind == kind] for kind in ("more", "less")
    }
    return MeaningView(
        index=index,
        column=column,
        wide=wide,
        narrow=chart.draw(NARROW)[0],
        unlabelled=unlabelled,
        more=Side(rows["more"], len(over) - len(rows["more"])),
        less=Side(rows["less"], len(under) - len(rows["less"])),
        far=_unmatched(meaning.far, meaning.far_share, f"k{index % COLOURS}", most.unmatched),
        missed=_unmatched(meaning.missed, meaning.missed_share, "kr", most.unmatched),
    )


def _row(numbered: Numbered, index: int, longest: float, examples: int) -> RegionRow:
    region = numbered.region
    texts = region.candidate_examples if numbered.kind == "more" else region.reference_examples
    return RegionRow(
        number=numbered.number,
        name=shown_name(region),
        region=region,
        candidate_bar=_bar(region.candidate_share / longest, f"k{index % COLOURS}"),
        reference_bar=_bar(region.reference_share / longest, "kr"),
        examples=texts[:examples],
    )


def _unmatched(found: Sequence[UnmatchedText], share: float, colour: str, most: int) -> Unmatched:
    at = _BAR * (1 - FAR)
    tick = element("line", x1=at, y1=-2.0, x2=at, y2=_THICK + 2, class_="expected")
    return Unmatched(share, _bar(share, colour, tick), found[:most])


def _bar(part: float, colour: str, *marks: Markup) -> Markup:
    """A bar that fills this part of its length; the number is given beside it as text."""
    fill = [rectangle(0.0, 0.0, _BAR * part, _THICK, f"fill {colour}")] if part > 0 else []
    room = element("rect", x=0.0, y=0.0, width=_BAR, height=_THICK, class_="room")
    box = f"0 -2 {_BAR:.0f} {_THICK + 4:.0f}"
    return element(
        "svg", room, *fill, *marks, viewBox=box, preserveAspectRatio="none", class_="share-bar", aria_hidden="true"
    )
