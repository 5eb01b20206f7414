"""The HTML report of a comparison and its charts: the quality-diversity plane and one strip per metric."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from textassay.corpus.printable import many, printable, shortened
from textassay.inference.result import Result
from textassay.report.charts.plane import NARROW, WIDE, PlaneChart, Point
from textassay.report.charts.strips import Bar, Baseline, Strip, strip_axis, strip_chart
from textassay.report.charts.svg import Axis, drawable
from textassay.report.compare.content import TARGET, format_findings, outcome_sentence, table_lines
from textassay.report.compare.meaning import MeaningView, meaning_views
from textassay.report.page import COMMON_SETTINGS, MOST_BYTES, Page, grouped_strips, setting_rows
from textassay.report.table import (
    better_words,
    figure,
    level_text,
    paired_rows,
    short_names,
    table_content,
)
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.meaning import FAR
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.outcome import falls, plane_places

STRETCHED = "axis stretched around real text"


def beside_real(comparison: Comparison, column: Column, place: int) -> Result:
    """The result of a column that is comparable with real text: of the same size if there is one."""
    return column.beside_real(comparison.labels[place], column.results[place])


def size_remark(comparison: Comparison, place: int) -> str:
    """The size that is drawn if it is not that of the candidates, and a warning if sizes could not be made equal."""
    real = comparison.real.results[place]
    whole = {column.results[place].n for column in comparison.candidates}
    drawn = {beside_real(comparison, column, place).n for column in comparison.candidates}
    if not drawable(real) or not drawn or whole == {real.n}:
        return ""
    if drawn == {real.n}:
        whole_sizes = _sizes_text(whole)
        return f"all drawn at n = {real.n:,}, the largest size of real v real; the table also has n = {whole_sizes}"
    return f"real text has n = {real.n:,}, candidates n = {_sizes_text(drawn)}; the value may depend on the size"


def _sizes_text(sizes: set[int]) -> str:
    return f"{min(sizes):,}" + (f" to {max(sizes):,}" if len(sizes) > 1 else "")


@dataclass(frozen=True)
class Plane:
    """Two drawings of one plane, for wide and for narrow pages, its labels, and remarks."""

    wide: Markup
    narrow: Markup
    quality: str
    diversity: str
    remarks: tuple[str, ...]


def draw_plane(comparison: Comparison) -> Plane | None:
    """The plane, or None when the comparison has no metric of quality or none of diversity."""
    axes = plane_axes(comparison)
    if axes is None:
        return None
    labels = shortened(comparison.labels[axes[0]], 60), shortened(comparison.labels[axes[1]], 60)
    real = _point(-1, comparison.real, comparison, axes)
    shorter = short_names([shortened(column.name, 60) for column in comparison.candidates])
    points = [
        replace(_point(index, column, comparison, axes), label=label)
        for index, (column, label) in enumerate(zip(comparison.candidates, shorter, strict=True))
    ]
    chart = PlaneChart(
        points=tuple(point for point in points if drawable(point.quality) and drawable(point.diversity)),
        real=real,
        quality=_axis_name("quality", labels[0], real.quality),
        diversity=_axis_name("diversity", labels[1], real.diversity),
        reversed=(falls(real.quality), falls(real.diversity)),
    )
    return Plane(
        wide=chart.draw(WIDE),
        narrow=chart.draw(NARROW),
        quality=labels[0],
        diversity=labels[1],
        remarks=tuple(_plane_remarks(comparison, axes, points, chart)),
    )


def plane_axes(comparison: Comparison) -> tuple[int, int] | None:
    """The places of the quality and the diversity metric to draw, None when one of them is missing."""
    results = {
        place: comparison.real.results[place]
        for place in range(len(comparison.labels))
        if any(drawable(column.results[place]) for column in comparison.candidates)
    }
    return plane_places(results)


def _point(index: int, column: Column, comparison: Comparison, axes: tuple[int, int]) -> Point:
    name = shortened(column.name, 60)
    quality, diversity = (beside_real(comparison, column, place) for place in axes)
    values = ", ".join(
        f"{shortened(comparison.labels[place], 60)} {figure(result, level=comparison.level)}"
        for place, result in zip(axes, (quality, diversity), strict=True)
    )
    return Point(index, name, name, f"{name}: {values}", quality, diversity)


def _axis_name(aspect: str, label: str, result: Result) -> str:
    turned = ", reversed axis" if falls(result) else ""
    return f"more {aspect} → ({shortened(label, 30)}{turned})"


def _plane_remarks(comparison: Comparison, axes: tuple[int, int], points: list[Point], chart: PlaneChart) -> list[str]:
    """Candidates and labels that are left out, stretched axes, and differences in size."""
    remarks = []
    missing = [point.name for point in points if not (drawable(point.quality) and drawable(point.diversity))]
    if missing:
        remarks.append(f"Not drawn, because a number is missing on one of the axes: {', '.join(missing)}.")
    unlabelled = chart.unlabelled(WIDE)
    if unlabelled:
        are = "is" if unlabelled == 1 else "are"
        remarks.append(f"{many(unlabelled, 'label')} {are} left out for lack of space; the legend names every mark.")
    labels = [shortened(comparison.labels[place], 60) for place in axes]
    stretched = [label for label, bent in zip(labels, chart.stretched(), strict=True) if bent]
    if stretched:
        remarks.append(f"{' and '.join(stretched)}: {STRETCHED}; distant values are farther away than they appear.")
    sizes = [(label, size_remark(comparison, place)) for label, place in zip(labels, axes, strict=True)]
    return remarks + [f"{label}: {remark}." for label, remark in sizes if remark]


def strip(comparison: Comparison, place: int) -> Strip:
    """The strip of the metric at this place."""
    real = comparison.real.results[place]
    bars = [Bar(column.name, beside_real(comparison, column, place)) for column in comparison.candidates]
    label = shortened(comparison.labels[place], 60)
    scale = strip_axis(real, bars)
    baseline = Baseline("real", "real text", Bar(comparison.real.name, real))
    title = f"{label} of each candidate"
    chart = strip_chart(baseline, bars, scale, key=f"strip-{place}", title=title, level=comparison.level)
    return Strip(label, real.aspect, better_words(real.better, TARGET), chart, _strip_remarks(scale, comparison, place))


def _strip_remarks(scale: Axis, comparison: Comparison, place: int) -> tuple[str, ...]:
    found = (STRETCHED if scale.bend else "", size_remark(comparison, place))
    return tuple(remark[0].upper() + remark[1:] for remark in found if remark)


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; the page states what is left out."""

    phrases: int
    examples: int
    strips: int
    contests: int
    signatures: int
    regions: int
    points: int
    unmatched: int
    notes: int = 30
    findings: int = 12


# The first that keeps the page under its limit is used; only comparisons of dozens of candidates need the later ones.
_LADDER = (
    Limits(phrases=10, examples=2, strips=60, contests=60, signatures=500, regions=6, points=350, unmatched=5),
    Limits(phrases=6, examples=1, strips=24, contests=60, signatures=200, regions=6, points=150, unmatched=3),
    Limits(phrases=3, examples=1, strips=6, contests=20, signatures=20, regions=3, points=60, unmatched=1),
    Limits(phrases=0, examples=0, strips=0, contests=0, signatures=0, regions=0, points=0, unmatched=0),
)


def render_html(comparison: Comparison) -> str:
    """The report of a comparison as one self-contained HTML page.

    It stays under 1.5 MB by leaving out examples, charts and signatures, in that order, and states what is left out.
    Verdicts and the table are always complete, so only a table of many thousands of cells can exceed the limit.
    """
    shared = _shared(comparison)
    page = Page.of("compare.html.j2", styles=("page.css",), scripts=("page.js",), filters={"highlighted": _highlighted})
    text, _ = page.first_within(MOST_BYTES, (_content(comparison, limits, shared) for limits in _LADDER))
    return text


def _shared(comparison: Comparison) -> dict[str, Any]:
    """What does not depend on the limits and is made once: table, plane, differences, and the charts of metrics."""
    candidates = comparison.candidates
    signatures = [
        (column.name, result.signature)
        for column in (comparison.real, *candidates)
        for result in (*column.results, *column.at_baseline_size.values())
    ]
    facts: dict[str, Any] = {
        "c": comparison,
        "columns": list(enumerate(candidates)),
        "format_differs": any(format_findings(column, harmless=False) for column in candidates),
        "format_varies": any(format_findings(column, harmless=True) for column in candidates),
        "with_phrases": any(column.over or column.under for column in candidates),
        "with_meaning": [column for column in candidates if column.meaning is not None],
        "unmapped": [column for column in candidates if column.meaning is None],
        "far": FAR,
        "signatures": signatures,
        "summary": outcome_sentence(comparison),
        **table_content(comparison, table_lines(comparison), comparison.real.results, target=TARGET),
        "contests": paired_rows(comparison, comparison.contests),
        "separated": [(place, column) for place, column in enumerate(candidates) if column.separation is not None],
        "settings": _settings(comparison),
    }
    strips = [strip(comparison, place) for place in facts["drawn"][: _LADDER[0].strips]]
    return facts | {"strips": strips, "plane": draw_plane(comparison)}


def _content(comparison: Comparison, limits: Limits, shared: dict[str, Any]) -> dict[str, Any]:
    content = shared | {
        "limits": limits,
        "meanings": _meanings(comparison, limits),
        "contests": shared["contests"][: limits.contests],
        "strips": shared["strips"][: limits.strips],
    }
    sections = list(_sections(comparison, content))
    return content | {"sections": sections, "strips": grouped_strips(content["strips"])}


def _sections(comparison: Comparison, content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Ids and titles of the sections that the page has."""
    if any(column.findings for column in comparison.candidates):
        yield "format", "Format"
    yield "verdicts", "Verdicts"
    if content["plane"]:
        yield "plane", "Quality and diversity"
    yield "table", "Table"
    if content["strips"]:
        yield "strips", "Metric by metric"
    yield "differences", "Phrases"
    if content["separated"]:
        yield "classifier", "Classifier"
    if content["with_meaning"]:
        seen = content["meanings"][0].column.meaning.sees if content["meanings"] else "meaning"
        yield "meaning", seen.capitalize()
    yield "reading", "How to read this"


_DESIGNS = {
    "grouped": "in groups, exchanged as a whole",
    "paired": "in groups, exchanged within them",
    "paired+grouped": "in groups, exchanged within shared ones, others as a whole",
}


def _settings(comparison: Comparison) -> list[tuple[str, str]]:
    """Terms and values for the top of the page."""
    kinds = {column.overall.design for column in comparison.candidates if column.overall is not None}
    design = "; ".join(_DESIGNS[kind] for kind in sorted(kinds & set(_DESIGNS)))
    return [
        *setting_rows(comparison, {"tokenizer": "Tokenizer", "encoder": "Encoder"}),
        *([("Texts", design)] if design else []),
        ("Interval level", level_text(comparison.level)),
        *setting_rows(comparison, COMMON_SETTINGS),
    ]


def _meanings(comparison: Comparison, limits: Limits) -> list[MeaningView]:
    if not limits.regions:
        return []
    return meaning_views(
        comparison, regions=limits.regions, points=limits.points, unmatched=limits.unmatched, examples=limits.examples
    )


# The prefixes that subword tokenizers give to a word or its continuation; the text itself does not have them.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")


@dataclass(frozen=True)
class Highlight:
    """What precedes the phrase, the phrase as it is in the text (empty if it was not found), and what follows."""

    before: str
    phrase: str
    after: str


def _highlighted(phrase: Phrase, most: int) -> list[Highlight]:
    return [highlight(text, phrase.text) for text in phrase.examples[:most]]


def highlight(text: str, phrase: str, *, width: int = 160) -> Highlight:
    r"""At most `width` characters of the text around the first occurrence of the phrase, made printable.

    Tokens of the phrase may be joined or apart in the text, and upper or lower case.

    >>> highlight("Two men \x1b don't know.", "don ' t")
    Highlight(before='Two men \\x1b ', phrase="don't", after=' know.')
    """
    start, end = _find(text, phrase)
    end = min(end, start + width)
    # The phrase is in the middle of a long text; what one side does not need, the other side may use.
    left = max(0, min(start - (width - (end - start)) // 2, len(text) - width))
    right = min(len(text), left + width)
    return Highlight(
        ("…" if left else "") + printable(text[left:start]),
        printable(text[start:end]),
        printable(text[end:right]) + ("…" if right < len(text) else ""),
    )


def _find(text: str, phrase: str) -> tuple[int, int]:
    tokens = phrase.split()
    plain = [bare for token in tokens if (bare := _SUBWORD_MARK.sub("", token))]
    for words in (tokens, plain):
        joined = r"\s*".join(map(re.escape, words))
        # As whole words first: the phrase "a" should not be highlighted inside "cat".
        for pattern in (rf"(?<!\w){joined}(?!\w)", joined) if joined else ():
            found = re.search(pattern, text, re.IGNORECASE)
            if found:
                return found.span()
    return 0, 0
