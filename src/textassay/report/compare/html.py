"""The HTML report of a comparison."""

from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import shortened
from textassay.report.charts.strips import Strip
from textassay.report.compare.charts import draw_plane, strip
from textassay.report.compare.meaning import MeaningView, meaning_views
from textassay.report.page import MOST_BYTES, WORDS, asset, environment, policy, setting_text, summary, telling
from textassay.report.table import TITLES, clarity, entries, grid, level_text, short_names
from textassay.studies.compare.meaning import FAR
from textassay.studies.compare.result import Comparison
from textassay.studies.outcome import Contest
from textassay.version import __version__


def facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Terms and values for the head of a report."""
    found = [
        ("Tokenizer", setting_text(comparison, "tokenizer")),
        ("Encoder", setting_text(comparison, "encoder")),
        ("Texts", _design(comparison)),
        ("Interval level", level_text(comparison.level)),
        ("Resamples", setting_text(comparison, "resamples")),
        ("Seed", setting_text(comparison, "seed")),
        ("Version", setting_text(comparison, "version")),
    ]
    return [(term, value) for term, value in found if value]


_DESIGNS = {
    "grouped": "in groups, exchanged as a whole",
    "paired": "in groups, exchanged within them",
    "paired+grouped": "in groups, exchanged within shared ones, others as a whole",
}


def _design(comparison: Comparison) -> str:
    """How labels were exchanged, where texts are not taken for independent."""
    kinds = {column.overall.design for column in comparison.candidates if column.overall is not None}
    return "; ".join(_DESIGNS[kind] for kind in sorted(kinds & set(_DESIGNS)))


@dataclass(frozen=True)
class Limits:
    """How much of each list is shown; what is left out is said."""

    phrases: int
    examples: int
    strips: int
    contests: int
    signatures: int
    regions: int
    points: int
    strays: int
    notes: int = 30
    findings: int = 12


# The first that keeps the page under its limit is used; only comparisons of dozens of candidates need the later ones.
_LADDER = (
    Limits(phrases=10, examples=2, strips=60, contests=60, signatures=500, regions=6, points=350, strays=5),
    Limits(phrases=6, examples=1, strips=24, contests=60, signatures=200, regions=6, points=150, strays=3),
    Limits(phrases=3, examples=1, strips=6, contests=20, signatures=20, regions=3, points=60, strays=1),
    Limits(phrases=0, examples=0, strips=0, contests=0, signatures=0, regions=0, points=0, strays=0),
)


def render_html(comparison: Comparison) -> str:
    """The report of a comparison as one self-contained HTML page.

    It stays under 1.5 MB by leaving out examples, charts and signatures, in that order, and says so; verdicts and the
    table are always whole, so only a table of many thousands of cells can go beyond.
    """
    page = ""
    for limits in _LADDER:
        page = environment().get_template("report.html.j2").render(_content(comparison, limits))
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def _content(comparison: Comparison, limits: Limits) -> dict[str, Any]:
    style, script = asset("report.css"), asset("report.js")
    everyone = (comparison.real, *comparison.candidates)
    signatures = [
        (column, result.signature)
        for column in everyone
        for result in (*column.results, *column.at_baseline_size.values())
    ]
    return {
        "c": comparison,
        "columns": list(enumerate(comparison.candidates)),
        "short_names": short_names([shortened(column.name, 60) for column in comparison.candidates]),
        "limits": limits,
        "version": __version__,
        "style": style,
        "script": script,
        "policy": policy(style=style, script=script),
        "words": WORDS,
        "summary": summary(comparison),
        "facts": facts(comparison),
        "plane": draw_plane(comparison),
        "grid": grid(comparison),
        "strips": _strips(comparison, limits.strips),
        "contests": _most_notable(comparison.contests)[: limits.contests],
        "signatures": signatures[: limits.signatures],
        "signature_count": len(signatures),
        "format_differs": any(telling(column) for column in comparison.candidates),
        "with_meaning": [column for column in comparison.candidates if column.meaning is not None],
        "meanings": _meanings(comparison, limits),
        "unmapped": [column for column in comparison.candidates if column.meaning is None],
        "far": FAR,
        "guide": entries(comparison.real.results),
    }


def _meanings(comparison: Comparison, limits: Limits) -> list[MeaningView]:
    if not limits.regions:
        return []
    return meaning_views(
        comparison, regions=limits.regions, points=limits.points, strays=limits.strays, examples=limits.examples
    )


def _strips(comparison: Comparison, most: int) -> list[tuple[str, list[Strip]]]:
    """The strips under the titles of their aspects."""
    places = range(min(len(comparison.labels), most))
    drawn = [strip(comparison, place) for place in places]
    groups = [(title, [chart for chart in drawn if chart.aspect == aspect]) for aspect, title in TITLES.items()]
    return [(title, charts) for title, charts in groups if charts]


def _most_notable(contests: tuple[Contest, ...]) -> list[Contest]:
    """Differences that are large beside their own uncertainty come first; those without a number come last."""
    return sorted(contests, key=clarity, reverse=True)
