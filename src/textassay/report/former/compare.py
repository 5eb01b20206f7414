"""The report of a comparison: its table and summary, charts, page, terminal view, Markdown and CSV."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from textassay.corpus.printable import printable, shortened
from textassay.document.words import number
from textassay.inference.format_check import Finding
from textassay.metrics.registry import all_metrics
from textassay.report.former import markdown
from textassay.report.former.charts.strips import draw_plane, strip
from textassay.report.former.charts.svg import keys
from textassay.report.former.meaning import MeaningView, meaning_lines, meaning_views
from textassay.report.former.table import (
    COMMON_SETTINGS,
    MARK,
    Line,
    better_legend,
    by_aspect,
    figure,
    interval_legend,
    level_of,
    level_text,
    metric_lines,
    paired_rows,
    setting_rows,
    summary,
    table_content,
)
from textassay.report.former.templates.page import MOST_BYTES, Page, fragment
from textassay.report.former.terminal import (
    MOST_NAME,
    dim,
    fitted_names,
    heading,
    joined,
    metric_tables,
    notes,
    verdict_lines,
)
from textassay.report.terminal import render
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.meaning import FAR
from textassay.studies.compare.result import Column, Comparison, Separation
from textassay.studies.gate.document import gate_document

# What "closer is better" refers to.
TARGET = "real text"
_VERBS = {
    "collapsed": ("has collapsed", "have collapsed"),
    "differs": ("differs from the reference", "differ from the reference"),
    "copied": ("contains texts copied from the reference", "contain texts copied from the reference"),
    "same": ("was not found to differ from the reference", "were not found to differ from the reference"),
    "untested": ("was not tested against the reference", "were not tested against the reference"),
}


def outcome_sentence(comparison: Comparison) -> str:
    """The outcome in one sentence."""
    verdicts = {column.name: column.verdict for column in comparison.candidates}
    if [verdict and verdict.decision for verdict in verdicts.values()] == ["same"]:
        return f"No difference between {shortened(comparison.candidates[0].name, 60)} and the reference was found."
    return summary(verdicts, _VERBS, what="candidates")


def table_lines(comparison: Comparison) -> list[Line]:
    """The rows of the metric table, real v real first in each."""
    level = comparison.level
    # The smallest p-value that the tests of the metrics could give.
    floor = 1 / (comparison.n_resamples + 1) if comparison.n_resamples else 0.0
    return metric_lines(
        comparison.labels,
        comparison.real,
        comparison.candidates,
        adjusted=[column.adjusted for column in comparison.candidates],
        cell=lambda _, result, adjusted: figure(result, adjusted, level=level, floor=floor),
        size=lambda real: f"n = {real.n:,}",
        section=lambda real: real.aspect,
    )


def legend_lines(comparison: Comparison) -> list[str]:
    """How to read the table."""
    results = [result for column in comparison.candidates for result in column.results]
    lines = interval_legend(results, comparison.level, of="the expected value at this sample size")
    if any(result.p_value is not None for result in results):
        lines.append(
            f"{MARK} differs from the reference: permutation test with p <= {1 - comparison.level:g}, adjusted for all"
            " metrics and never smaller than the p-value of the overall test"
        )
    return [*lines, *_share_legend(comparison), *better_legend(results, target="the value of real text")]


def _share_legend(comparison: Comparison) -> list[str]:
    """How to read the shares that the verdicts name."""
    candidates = comparison.candidates
    tests = [test for column in candidates for test in (column.overall, column.overall_without_markup) if test]
    lines = []
    if any(test.separable is not None and test.separable.low for test in tests):
        lines.append(
            "at least ... unlike the reference's: lower confidence bound of the separable share, the share of texts"
            " that must be replaced to match the reference; below 10 % slight, from 50 % large"
        )
    if any(column.verdict is not None and column.verdict.decision == "same" for column in candidates):
        lines.append("probably: in about four of five comparisons with such a share")
    return lines


def missing_lines(comparison: Comparison) -> list[str]:
    """Why a number, an interval or a test is missing, one line per metric, or per metric and candidate."""
    lines = []
    metrics = all_metrics()
    for place, label in enumerate(comparison.labels):
        for column in (comparison.real, *comparison.candidates):
            result = column.results[place]
            if result.undefined is not None:
                lines.append(f"{label}, {column.name}: no number: {result.undefined}")
        metric = metrics.get(comparison.candidates[0].results[place].metric)
        if metric is not None and metric.why_no_test:
            lines.append(f"{label}: no test: {metric.why_no_test}")
        if metric is not None and metric.why_no_interval:
            lines.append(f"{label}: no interval: {metric.why_no_interval}")
    return lines


def format_findings(column: Column, *, harmless: bool) -> list[Finding]:
    """Differences in format that change the metrics, or those that the tokenizer removes."""
    return [finding for finding in column.findings if finding.harmless == harmless]


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
    smaller = (_content(comparison, limits, shared) for limits in _LADDER[1:])
    # The first content is gathered before the page is loaded; smaller ones only if it is too large.
    contents = chain([_content(comparison, _LADDER[0], shared)], smaller)
    page = Page.of(
        "compare.html.j2",
        styles=("page.css",),
        scripts=("page.js",),
        filters={"highlighted": _highlighted, "phrase_lists": phrase_lists},
    )
    text, _ = page.first_within(MOST_BYTES, contents)
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
        "verdict_levels": [level_of(column.verdict) for column in candidates],
        **table_content(candidates, table_lines(comparison), comparison.real.results, target=TARGET),
        "contests": paired_rows(comparison, comparison.contests),
        "separated": [(place, column) for place, column in enumerate(candidates) if column.separation is not None],
        "settings": _settings(comparison),
    }
    strips = [strip(comparison, place) for place in facts["drawn"][: _LADDER[0].strips]]
    return facts | {"strips": strips, "plane": draw_plane(comparison), "marks": keys(len(candidates))}


def _content(comparison: Comparison, limits: Limits, shared: dict[str, Any]) -> dict[str, Any]:
    content = shared | {
        "limits": limits,
        "meanings": _meanings(comparison, limits),
        "contests": shared["contests"][: limits.contests],
        "strips": shared["strips"][: limits.strips],
    }
    sections = list(_sections(comparison, content))
    return content | {"sections": sections, "strips": by_aspect(content["strips"])}


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
    if not limits.regions or all(column.meaning is None for column in comparison.candidates):
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


_FEW_PHRASES = 4


def phrase_lists(column: Column) -> Iterator[tuple[str, list[Phrase]]]:
    """The phrases that differ: words too often and too rarely, then markup and punctuation."""
    for kind in (False, True):
        for word, phrases in (("too often", column.over), ("too rarely", column.under)):
            found = [phrase for phrase in phrases if phrase.is_markup is kind]
            if found:
                yield f"{'markup ' if kind else ''}{word}", found


def rates(phrase: Phrase) -> str:
    """How often candidate and reference use a phrase, per 1,000 words."""
    return f"{number(phrase.candidate_rate)} v {number(phrase.reference_rate)}"


def render_terminal(comparison: Comparison, *, width: int, why: bool = False) -> RenderableType:
    """Format findings first, then the table, verdicts, differences and notes; with `why` also missing numbers."""
    lines, explained = table_lines(comparison), legend_lines(comparison)
    missing = missing_lines(comparison) if why else []
    names = fitted_names([printable(column.name) for column in comparison.candidates], MOST_NAME)
    findings, differences = list(_findings(comparison, names)), list(_difference_lines(comparison, names))
    columns = [comparison.real.name, *(column.name for column in comparison.candidates)]
    tables, _ = metric_tables(lines, columns, width)
    texts = f" ({comparison.reference.n:,} texts)"
    title = heading(
        comparison.reference.name, texts, before="" if comparison.reference.name == "reference" else "reference "
    )
    verdicts = [(name, column.verdict, ()) for column, name in zip(comparison.candidates, names, strict=True)]
    return joined(
        [
            findings,
            [title, *tables, *map(dim, explained)],
            list(verdict_lines(verdicts)),
            [render(gate_document(comparison.gate, comparison.names), width=width)] if comparison.gate else [],
            differences,
            notes(comparison.notes),
            [dim(line) for line in missing],
        ]
    )


def _findings(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    """Format differences that change the metrics, one line per remedy; in one line those that the tokenizer removes."""
    harmless: dict[str, None] = {}
    for column, name in zip(comparison.candidates, names, strict=True):
        by_fix: dict[str, list[str]] = {}
        for finding in format_findings(column, harmless=False):
            by_fix.setdefault(finding.fix, []).append(printable(finding.message))
        for fix, messages in by_fix.items():
            line = Text.assemble(("format ", "bold yellow"), (name, "bold"), f": {', '.join(messages)}")
            yield line.append(f"; {printable(fix)}", style="dim")
        kinds = [printable(finding.kind).replace("_", " ") for finding in format_findings(column, harmless=True)]
        harmless |= dict.fromkeys(f"{name}: {kind}" for kind in kinds)
    if harmless:
        yield Text(f"format differences that this tokenizer removes: {'; '.join(harmless)}", style="dim")


def _difference_lines(comparison: Comparison, names: list[str]) -> Iterator[Text]:
    for column, name in zip(comparison.candidates, names, strict=True):
        for word, phrases in phrase_lists(column):
            shown = ", ".join(f"“{printable(phrase.text)}” {rates(phrase)}" for phrase in phrases[:_FEW_PHRASES])
            yield Text.assemble((name, "bold"), (f" {word}, per 1,000 words: ", "dim"), shown)
        for word, regions in meaning_lines(column.meaning, comparison.level) if column.meaning else ():
            yield Text.assemble((name, "bold"), (f" {word}: ", "dim"), printable(regions))


# Phrases that are too frequent, and as many that are too rare, per candidate; and characters per phrase.
_MOST_PHRASES, _LONGEST_PHRASE = 8, 80


def render_markdown(comparison: Comparison) -> str:
    """One Markdown document."""
    reference, candidates = comparison.reference, comparison.candidates
    names = [column.name for column in (comparison.real, *candidates)]
    sections = {
        "": markdown.metric_table(table_lines(comparison), names, legend_lines(comparison)),
        "What differs": list(_difference_bullets(comparison)),
        "Notes": markdown.bullets((*comparison.notes, *missing_lines(comparison))),
    }
    return markdown.document(
        f"{markdown.escaped(reference.name)}: {len(candidates)} compared",
        [f"Reference: {markdown.cut(reference.name)}, {reference.n:,} texts", *_top(candidates)],
        sections,
        (result.signature for column in candidates for result in column.results),
    )


def _top(candidates: Iterable[Column]) -> Iterator[str]:
    """Format differences and verdicts."""
    for column in candidates:
        for finding in column.findings:
            message, fix = markdown.escaped(finding.message), markdown.escaped(finding.fix)
            yield f"Format, **{markdown.escaped(column.name)}**: {message} ({fix})"
    for column in candidates:
        if column.verdict is not None:
            yield f"**{markdown.escaped(column.name)}**: {markdown.escaped(column.verdict.sentence)}"


def _difference_bullets(comparison: Comparison) -> Iterator[str]:
    """Phrases and regions of meaning, each with the numbers of the candidate and the reference."""
    for column in comparison.candidates:
        pairs = [(f"uses {word}, per 1,000 words", _phrases(phrases)) for word, phrases in phrase_lists(column)]
        if column.meaning is not None:
            regions = meaning_lines(column.meaning, comparison.level, most=_MOST_PHRASES)
            pairs += [(f"has {word}", markdown.escaped(listed)) for word, listed in regions]
        if column.separation is not None and column.separation.candidate_cues:
            pairs.append(("is recognised by its texts with", _recognised(column.separation)))
        for word, text in pairs:
            yield f"- **{markdown.escaped(column.name)}** {word} (candidate v reference): {text}"


def _recognised(separation: Separation) -> str:
    return ", ".join(
        f"“{markdown.escaped(shortened(cue.text, _LONGEST_PHRASE))}” {cue.candidate_texts:,} v {cue.reference_texts:,}"
        for cue in separation.candidate_cues[:_MOST_PHRASES]
    )


def _phrases(phrases: Sequence[Phrase]) -> str:
    return ", ".join(
        f"“{markdown.escaped(shortened(phrase.text, _LONGEST_PHRASE))}” {rates(phrase)}"
        for phrase in phrases[:_MOST_PHRASES]
    )


def render_notebook(comparison: Comparison) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "compare/notebook.html.j2",
        heading=outcome_sentence(comparison),
        candidates=comparison.candidates,
        columns=[comparison.real.name, *comparison.names],
        lines=table_lines(comparison),
        facts=[],
        legend=legend_lines(comparison),
        notes=[],
    )
