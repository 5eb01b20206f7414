"""What the section on meaning shows of each candidate: its map, its regions as rows with bars, its strays."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from textassay.report.meaning_map import NARROW, WIDE, MeaningMap, Numbered, shown_name
from textassay.report.svg import COLOURS, element, rectangle
from textassay.studies.comparison import Column, Comparison
from textassay.studies.meaning import Region, Stray
from textassay.studies.strays import FAR

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
class Strays:
    """Texts without counterpart: their share, as a bar, too, and some of them."""

    share: float
    gauge: Markup
    texts: Sequence[Stray]


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
    far: Strays
    missed: Strays


def meaning_views(
    comparison: Comparison, *, regions: int, points: int, strays: int, examples: int
) -> list[MeaningView]:
    """A view of every candidate whose meaning was looked at, with so much of each list."""
    level = comparison.level
    return [
        _view(index, column, level, _Most(regions, points, strays, examples))
        for index, column in enumerate(comparison.candidates)
        if column.meaning is not None and column.meaning.regions
    ]


@dataclass(frozen=True)
class _Most:
    regions: int
    points: int
    strays: int
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
        far=_strays(meaning.far, meaning.far_share, f"k{index % COLOURS}", most.strays),
        missed=_strays(meaning.missed, meaning.missed_share, "kr", most.strays),
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


def _strays(found: Sequence[Stray], share: float, colour: str, most: int) -> Strays:
    at = _BAR * (1 - FAR)
    tick = element("line", x1=at, y1=-2.0, x2=at, y2=_THICK + 2, class_="expected")
    return Strays(share, _bar(share, colour, tick), found[:most])


def _bar(part: float, colour: str, *marks: Markup) -> Markup:
    """A bar of so much of its room; the number stands beside it as text."""
    fill = [rectangle(0.0, 0.0, _BAR * part, _THICK, f"fill {colour}")] if part > 0 else []
    room = element("rect", x=0.0, y=0.0, width=_BAR, height=_THICK, class_="room")
    box = f"0 -2 {_BAR:.0f} {_THICK + 4:.0f}"
    return element(
        "svg", room, *fill, *marks, viewBox=box, preserveAspectRatio="none", class_="share-bar", aria_hidden="true"
    )
