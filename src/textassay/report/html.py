"""The HTML report: one file that needs no network and no script, whatever the texts in it hold."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textassay.corpus.printable import printable, shortened
from textassay.report.assets import asset, policy
from textassay.report.cells import level_text, spread
from textassay.report.clarity import clarity
from textassay.report.facts import facts
from textassay.report.format_notes import hidden, telling
from textassay.report.guide import entries
from textassay.report.highlight import Lit, lit
from textassay.report.html_table import TITLES, grid
from textassay.report.meaning_view import MeaningView, meaning_views
from textassay.report.plane import draw_plane
from textassay.report.short_names import short_names
from textassay.report.standing import WORDS, standing, summary
from textassay.report.strip_chart import Strip
from textassay.report.strips import strip
from textassay.report.svg import element, marker
from textassay.studies.comparison import Comparison, Contest, Phrase
from textassay.studies.strays import FAR
from textassay.studies.wording import number, p_text, share
from textassay.version import __version__

MOST_BYTES = 1_500_000


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


@cache
def environment() -> Environment:
    """Templates that escape everything, and make every plain text printable on its way out."""
    found = Environment(
        loader=PackageLoader("textassay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    found.filters |= {
        "cut": shortened,
        "number": number,
        "level": level_text,
        "p_text": p_text,
        "share": share,
        "spread": _spread,
        "key": key,
        "standing": standing,
        "lit": _lit,
        "telling": telling,
        "hidden": hidden,
    }
    return found


def _safe(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def key(index: int) -> Markup:
    """The mark of a candidate, to stand before its name."""
    return element("svg", marker(index, 8.0, 8.0, 5.0), viewBox="0 0 16 16", class_="key", aria_hidden="true")


def _lit(phrase: Phrase, most: int) -> list[Lit]:
    return [lit(text, phrase.text) for text in phrase.examples[:most]]


def _spread(contest: Contest) -> str:
    return spread(contest.estimate, low=contest.low, high=contest.high)


def _content(comparison: Comparison, limits: Limits) -> dict[str, Any]:
    style, script = asset("report.css"), asset("report.js")
    everyone = (comparison.real, *comparison.candidates)
    signatures = [
        (column, result.signature) for column in everyone for result in (*column.results, *column.at_real_size.values())
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
