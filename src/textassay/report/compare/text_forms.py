"""A comparison as Markdown, CSV, a data frame and in a notebook."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report import markdown
from textassay.report.compare.content import legend, missing_lines, outcome_sentence, table_lines
from textassay.report.compare.meaning import meaning_lines
from textassay.report.csv_writer import csv_text, known
from textassay.report.page import fragment
from textassay.studies.compare.differences import Phrase
from textassay.studies.compare.result import Column, Comparison, Separation
from textassay.studies.outcome import plain_row

# Phrases that are too frequent, and as many that are too rare, per candidate; and characters per phrase.
_MOST_PHRASES, _LONGEST_PHRASE = 8, 80


def render_markdown(comparison: Comparison) -> str:
    """One Markdown document."""
    reference, candidates = comparison.reference, comparison.candidates
    names = [column.name for column in (comparison.real, *candidates)]
    sections = {
        "": markdown.metric_table(table_lines(comparison), names, legend(comparison)),
        "What differs": list(_differences(comparison)),
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


def _differences(comparison: Comparison) -> Iterator[str]:
    """Phrases and regions of meaning, each with the numbers of the candidate and the reference."""
    for column in comparison.candidates:
        found = [("uses too often", column.over), ("uses too rarely", column.under)]
        pairs = [(word, _listed(phrases)) for word, phrases in found if phrases]
        pairs += [
            (f"has {word}", markdown.escaped(regions))
            for word, regions in meaning_lines(column, comparison.level, most=_MOST_PHRASES)
        ]
        if column.separation is not None and column.separation.candidate_cues:
            pairs.append(("is recognised by its texts with", _recognised(column.separation)))
        for word, text in pairs:
            yield f"- **{markdown.escaped(column.name)}** {word} (candidate v reference): {text}"


def _recognised(separation: Separation) -> str:
    return ", ".join(
        f"“{markdown.escaped(shortened(cue.text, _LONGEST_PHRASE))}” {cue.candidate_texts:,} v {cue.reference_texts:,}"
        for cue in separation.candidate_cues[:_MOST_PHRASES]
    )


def _listed(phrases: tuple[Phrase, ...]) -> str:
    return ", ".join(
        f"“{markdown.escaped(shortened(phrase.text, _LONGEST_PHRASE))}”"
        f" {phrase.candidate_count:,} v {phrase.reference_count:,}"
        for phrase in phrases[:_MOST_PHRASES]
    )


CSV_FIELDS = (
    "candidate", "n", "metric", "label", "options", "estimate", "low", "high", "level", "method", "p_value",
    "p_adjusted", "better", "aspect", "undefined", "signature",
)  # fmt: skip


def csv_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row per result, real v real first; after the rows of a candidate those at the size of real v real."""
    found = []
    for column in (comparison.real, *comparison.candidates):
        for label, result, p in zip(comparison.labels, column.results, column.adjusted, strict=True):
            found.append(_row(column, label, result, p))
        for label, result in column.at_baseline_size.items():
            # Only the whole sample is tested.
            found.append(_row(column, label, replace(result, p_value=None), math.nan))
    return found


def _row(column: Column, label: str, result: Result, adjusted: float) -> dict[str, Any]:
    return plain_row(result) | {"candidate": column.name, "label": label, "p_adjusted": known(adjusted)}


def render_csv(comparison: Comparison) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(comparison))


def render_notebook(comparison: Comparison) -> str:
    """An HTML fragment for a notebook's output cell."""
    return fragment(
        "compare/notebook.html.j2",
        heading=outcome_sentence(comparison),
        candidates=comparison.candidates,
        columns=[comparison.real.name, *comparison.names],
        lines=table_lines(comparison),
        facts=[],
        legend=legend(comparison),
        notes=[],
    )
