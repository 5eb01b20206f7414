"""Meaning in a document: a map of both samples, topics with too many or too few texts, and unmatched texts.

Each region has two circles around one centre: a filled one whose area is the candidate's share of texts there, and a
dashed one for the reference's share. A candidate has too many texts where the filled circle is larger than the dashed
one, and too few where it is smaller.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textassay.corpus.printable import share, shortened
from textassay.document.blocks import REAL, Block, Cell, Chart, Details, Head, Quote, Row, Section, Table, Text
from textassay.document.plot import Disc, Discs, Dots, Names, Plot, Scale
from textassay.document.words import number, p_text
from textassay.inference.p_values import is_significant
from textassay.studies.compare.meaning import FAR, MOST_POINTS, Meaning, Point, Region, UnmatchedText
from textassay.studies.compare.phrase_blocks import share_of
from textassay.studies.compare.ranking import Ranking
from textassay.studies.compare.result import Column, Comparison

_WORDS = {"more": "too many", "less": "too few"}
# Numbered regions per list, texts of a map, unmatched texts and examples, of all candidates together.
_MOST_REGIONS, _ALL_REGIONS, _ALL_POINTS, _ALL_TEXTS = 6, 240, 6_000, 200
_EXAMPLE_WIDTH = 160


def region_name(region: Region, most: int = 60) -> str:
    """Its typical words, or in quotes the beginning of its most central text where no word is typical."""
    if region.words:
        return ", ".join(region.words)
    text = next(iter((*region.candidate_examples, *region.reference_examples)), "")
    return f"“{shortened(text.strip(), most)}”"


def shares(region: Region) -> str:
    """The shares of candidate and reference, for a place where their order is explained."""
    return f"{share(region.candidate_share)} v {share(region.reference_share)}"


def topic_lines(column: Column, level: float, *, most: int = 3) -> Iterator[str]:
    """Regions with too many texts, and those with too few, in words."""
    if column.meaning is None:
        return
    for kind, regions in (("more", column.meaning.over(level)), ("less", column.meaning.under(level))):
        if regions:
            rest = f"; and {len(regions) - most} more" if len(regions) > most else ""
            shown = "; ".join(f"{region_name(each)} ({shares(each)})" for each in regions[:most])
            yield f"{_WORDS[kind]} texts about: {shown}{rest}"


def meaning_section(found: Comparison, order: Ranking) -> Section | None:
    """Differences in meaning of each candidate: the one that differs most first, and open."""
    known = [
        (row.index, row.column) for row in reversed(order.rows) if row.column.meaning and row.column.meaning.regions
    ]
    if not known:
        return None
    first = known[0][1].meaning
    assert first is not None
    missing = [shortened(column.name, 60) for column in found.candidates if column.meaning is None]
    few = (Text((f"Too few texts for regions of {first.sees}: {', '.join(missing)}.",)),) if missing else ()
    details = [_details(found, each, len(known), is_open=not index) for index, each in enumerate(known)]
    title = f"Differences in {first.sees}"
    return Section("meaning", title, (Text((_regions_text(first.sees),)), *details, *few))


def _regions_text(sees: str) -> str:
    return (
        f"The texts of both samples are grouped into regions of similar {sees} by their sentence vectors, without using"
        " which sample they come from. A candidate has too many or too few texts in a region if its share of texts"
        " there differs from the reference's share by more than chance. The p-values are adjusted for the number of"
        " regions."
    )


@dataclass(frozen=True)
class _Numbered:
    """A region that the list below the map names under the same number; `kind` is more or less."""

    number: int
    kind: str
    region: Region


def _details(found: Comparison, each: tuple[int, Column], n: int, *, is_open: bool) -> Details:
    index, column = each
    meaning = column.meaning
    assert meaning is not None
    most = share_of(_MOST_REGIONS, _ALL_REGIONS, 2 * n)
    over, under = meaning.over(found.level), meaning.under(found.level)
    shown = [("more", region) for region in over[:most]] + [("less", region) for region in under[:most]]
    numbered = [_Numbered(number, kind, region) for number, (kind, region) in enumerate(shown, start=1)]
    quiet = "; ".join(
        f"{_WORDS[kind]}: {shortened(region_name(some[0]), 60)}"
        for kind, some in (("more", over), ("less", under))
        if some
    )
    blocks: list[Block] = [Chart(meaning_plot(found, index, numbered, n), _MAP.format(_points_of(n)))]
    n_regions = len(over) + len(under)
    blocks += [_region_table(numbered, n_regions, n, floor=_floor(column)) if numbered else Text((_NONE,))]
    blocks += _unmatched(meaning, n)
    return Details(
        shortened(column.name, 60), tuple(blocks), index, quiet or "no region differs significantly", is_open=is_open
    )


_NONE = "No region has significantly too many or too few texts."
_MAP = (
    "The area of a filled circle is the candidate's share of texts in the region, the area of a dashed circle the"
    " reference's share; labels have the two shares in this order. A region without typical words is named by its most"
    " central text, in quotes. Similar regions are close to each other as far as two dimensions allow; no number is"
    " computed from the positions. Each small mark is a text, at most {} per sample; identical texts are drawn side by"
    " side."
)


def meaning_plot(found: Comparison, index: int, numbered: Sequence[_Numbered], n: int) -> Plot:
    """The map of a candidate and the reference."""
    column = found.candidates[index]
    meaning = column.meaning
    assert meaning is not None
    turn = _is_tall(meaning)
    few = _points_of(n)
    numbers = {id(each.region): each for each in numbered}
    # Large regions first, so that small ones are not covered.
    ordered = sorted(meaning.regions, key=lambda region: -max(region.candidate_share, region.reference_share))
    discs = tuple(
        _disc(region, numbers.get(id(region)), _placed(region.place, turn), found.level) for region in ordered
    )
    others = [region for region in ordered if id(region) not in numbers and region.words]
    asides = tuple((*_placed(region.place, turn), ", ".join(region.words[:2])) for region in others)
    real = tuple(_placed(point, turn) for point in _thinned(meaning.reference_points, few))
    made = tuple(_placed(point, turn) for point in _thinned(meaning.candidate_points, few))
    name = shortened(column.name, 40)
    parts = [
        f"{_WORDS[each.kind]}: {shortened(region_name(each.region), 60)} ({_named_shares(each.region)})"
        for each in numbered
    ]
    return Plot(
        f"Map of {name} and the reference",
        Scale(ticks=()),
        Scale(ticks=()),
        (
            Dots(real, REAL, name="reference", piled=True),
            Dots(made, index, name=name, piled=True),
            Discs(discs, _KEYS),
            Names(asides),
        ),
        summary="; ".join(parts) or _NONE,
        size="large",
        square=True,
    )


def _points_of(n: int) -> int:
    """The texts of a sample that the map of each of `n` candidates has."""
    return share_of(MOST_POINTS, _ALL_POINTS, 2 * n)


_KEYS = (("more", "too many texts"), ("less", "too few texts"), ("even", "no significant difference"))


def _is_tall(meaning: Meaning) -> bool:
    """Whether the map is higher than wide; it is then turned, because a page is wide."""
    places = (*meaning.candidate_points, *meaning.reference_points, *(region.place for region in meaning.regions))
    width, height = (max(values) - min(values) for values in zip(*places, strict=True))
    return bool(height > width)


def _placed(point: Point, turn: bool) -> Point:
    return point[turn], point[not turn]


def _thinned(points: Sequence[Point], most: int) -> list[Point]:
    few = min(len(points), most)
    return [points[index * len(points) // few] for index in range(few)]


def _kind(region: Region, level: float) -> str:
    """more, less or even: whether the candidate has significantly more or fewer texts there."""
    if not is_significant(region.p_value, level) or region.surplus == 0:
        return "even"
    return "more" if region.surplus > 0 else "less"


def _disc(region: Region, shown: _Numbered | None, place: Point, level: float) -> Disc:
    kind = _kind(region, level)
    label = f"{shortened(region_name(region), 60)}\n{_WORDS[kind]}: {shares(region)}" if shown else ""
    detail = f"{shortened(region_name(region), 80)}: {_named_shares(region)}, p {p_text(region.p_value)}"
    return Disc(
        *place,
        part=region.candidate_share,
        wanted=region.reference_share,
        tone=kind,
        number=shown.number if shown else None,
        label=label,
        detail=detail,
    )


def _floor(column: Column) -> float:
    """The p-value of the overall test if it is the smallest that was possible: those of regions are not below it."""
    overall = column.overall
    if overall is None or overall.adjusted is None or overall.p_value is None or overall.p_value > overall.floor:
        return 0.0
    return overall.adjusted


def _named_shares(region: Region) -> str:
    return f"{share(region.candidate_share)} of the candidate, {share(region.reference_share)} of the reference"


def _region_table(numbered: Sequence[_Numbered], total: int, n: int, *, floor: float) -> Table:
    """The numbered regions with texts of the sample that has more of them."""
    heads = (Head("topic"), Head("candidate", True), Head("reference", True), Head("p", True))
    few = share_of(2, _ALL_TEXTS, 4 * n)
    rows = tuple(_region_row(each, few, floor) for each in numbered)
    return Table(heads, rows, total=total if total > len(rows) else None)


def _region_row(each: _Numbered, few: int, floor: float) -> Row:
    region = each.region
    texts = region.candidate_examples if each.kind == "more" else region.reference_examples
    quotes = tuple(Quote(shortened(text, _EXAMPLE_WIDTH)) for text in texts[:few])
    parts = (region.candidate_share, region.reference_share)
    name = Cell(f"{each.number} {shortened(region_name(region), 80)}", float(each.number))
    p = Cell(p_text(region.p_value, floor=floor), region.p_value)
    cells = (*(Cell(share(part), part, heat=part) for part in parts), p)
    return Row((name, *cells), f"{_WORDS[each.kind].capitalize()} texts about", quotes)


def _unmatched(meaning: Meaning, n: int) -> Iterator[Block]:
    """Texts of the candidate that are far from any reference, and references that are far from its texts."""
    near, expected = f"{100 * FAR:.0f} %", f"{100 - 100 * FAR:.0f} %"
    few = share_of(5, _ALL_TEXTS, 2 * n)
    yield Text(
        (
            f"Far from any reference: {share(meaning.far_share)} of the candidate's texts are farther from every"
            f" reference text than {near} of the reference texts are from their nearest neighbour. They may be"
            f" failures of quality. For real text from the same source the expected share is {expected}.",
            f"Not covered by the candidate: {share(meaning.missed_share)} of the reference texts are that far from"
            " every text of the candidate. They may be failures of diversity. For real text from the same source the"
            f" expected share is {expected}.",
        )
    )
    rows = [_text_row(text, "Far from any reference") for text in meaning.far[:few]]
    rows += [_text_row(text, "Not covered by the candidate") for text in meaning.missed[:few]]
    if rows:
        heads = (Head("the most distant texts"), Head("the nearest text of the other sample"), Head("distance", True))
        yield Table(heads, tuple(rows))


def _text_row(text: UnmatchedText, section: str) -> Row:
    quotes = (Cell(shortened(each, 200), quoted=True) for each in (text.text, text.nearest))
    return Row((*quotes, Cell(number(text.distance), text.distance)), section)
