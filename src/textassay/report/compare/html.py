"""The HTML report of a comparison."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from textassay.corpus.printable import printable, shortened
from textassay.report.compare.charts import draw_plane, strip
from textassay.report.compare.content import TARGET, format_findings, outcome_sentence, table_lines
from textassay.report.compare.meaning import MeaningView, meaning_views
from textassay.report.page import COMMON_SETTINGS, MOST_BYTES, Page, grouped_strips, setting_rows
from textassay.report.table import ARROWS, better_words, grid, guide, level_text, paired_rows, short_names
from textassay.studies.compare.meaning import FAR
from textassay.studies.compare.result import Comparison, Phrase


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
    page = Page.of(
        "compare/page.html.j2", styles=("page.css",), scripts=("page.js",), filters={"highlighted": _highlighted}
    )
    text, _ = page.first_within(MOST_BYTES, (_content(comparison, limits) for limits in _LADDER))
    return text


def _content(comparison: Comparison, limits: Limits) -> dict[str, Any]:
    candidates = comparison.candidates
    signatures = [
        (column.name, result.signature)
        for column in (comparison.real, *candidates)
        for result in (*column.results, *column.at_baseline_size.values())
    ]
    strips = [strip(comparison, place) for place in range(min(len(comparison.labels), limits.strips))]
    content = {
        "c": comparison,
        "columns": list(enumerate(candidates)),
        "short_names": short_names([shortened(column.name, 60) for column in candidates]),
        "limits": limits,
        "summary": outcome_sentence(comparison),
        "settings": _settings(comparison),
        "plane": draw_plane(comparison),
        "grid": grid(table_lines(comparison)),
        "better": {better: better_words(better, TARGET) for better in ARROWS},
        "strips": grouped_strips(strips),
        "contests": paired_rows(comparison, comparison.contests)[: limits.contests],
        "signatures": signatures,
        "format_differs": any(format_findings(column, harmless=False) for column in candidates),
        "with_meaning": [column for column in candidates if column.meaning is not None],
        "meanings": _meanings(comparison, limits),
        "unmapped": [column for column in candidates if column.meaning is None],
        "far": FAR,
        "guide": guide(comparison.real.results, target=TARGET),
    }
    return content | {"sections": list(_sections(comparison, content))}


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
