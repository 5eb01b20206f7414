"""A comparison as Markdown, CSV, a data frame and in a notebook."""

import math
from dataclasses import dataclass, replace
from typing import Any

from textassay.corpus.printable import shortened
from textassay.inference.result import Result
from textassay.report.compare.meaning import meaning_lines
from textassay.report.page import WORDS, environment, summary
from textassay.report.table import ARROWS, MARK, NOTHING, Cell, cell, csv_text, grid, legend, markdown_escape, reasons
from textassay.studies.compare.result import Column, Comparison, Phrase
from textassay.studies.outcome import plain_row


@dataclass(frozen=True)
class Row:
    """One metric: the yardstick's cell, then one a candidate; `size` is set where all were measured at that size."""

    label: str
    better: str
    aspect: str
    size: int | None
    cells: tuple[Cell, ...]


def table_rows(comparison: Comparison) -> list[Row]:
    """One row a metric; where the yardstick had fewer texts, a second one with all columns at that size."""
    found = []
    level, columns = comparison.level, comparison.candidates
    for place, (label, real) in enumerate(zip(comparison.labels, comparison.real.results, strict=True)):
        cells = [cell(column.results[place], column.adjusted[place], level=level) for column in columns]
        again = [column.at_baseline_size.get(label) for column in columns]
        yardstick = cell(real, level=level)
        if not any(again):
            found.append(Row(label, real.better, real.aspect, None, (yardstick, *cells)))
            continue
        smaller = [NOTHING if result is None else cell(result, level=level) for result in again]
        found.append(Row(label, real.better, real.aspect, None, (NOTHING, *cells)))
        found.append(Row(label, real.better, real.aspect, real.n, (yardstick, *smaller)))
    return found


# So many phrases that are too frequent, and as many that are too rare, a candidate; each cut to so many characters.
_MOST_PHRASES, _LONGEST_PHRASE = 8, 80


def render_markdown(comparison: Comparison) -> str:
    """One Markdown document."""
    lines = [f"# {markdown_escape(comparison.reference.name)}: {len(comparison.candidates)} compared", ""]
    lines += [f"Reference: {markdown_escape(comparison.reference.name)}, {comparison.reference.n:,} texts.", ""]
    for column in comparison.candidates:
        for finding in column.findings:
            message, fix = markdown_escape(finding.message), markdown_escape(finding.fix)
            lines.append(f"- Format, **{markdown_escape(column.name)}**: {message} ({fix})")
    for column in comparison.candidates:
        if column.verdict is not None:
            lines.append(f"- **{markdown_escape(column.name)}**: {markdown_escape(column.verdict.sentence)}")
    lines += ["", *_table(comparison), "", *(f"{markdown_escape(line)}  " for line in legend(comparison)), ""]
    lines += _differences(comparison)
    notes = [f"- {markdown_escape(note)}" for note in (*comparison.notes, *reasons(comparison))]
    lines += ["## Notes", "", *notes] if notes else []
    lines += ["", "```text", *(r.signature for column in comparison.candidates for r in column.results), "```"]
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison) -> list[str]:
    names = [markdown_escape(column.name) for column in (comparison.real, *comparison.candidates)]
    table = [["metric", *names], ["---", *("---:" for _ in names)]]
    table += [
        [_label(row), *(str(item).replace(MARK, f"\\{MARK}") for item in row.cells)] for row in table_rows(comparison)
    ]
    return [f"| {' | '.join(line)} |" for line in table]


def _label(row: Row) -> str:
    return f"{markdown_escape(row.label)} " + (ARROWS[row.better] if row.size is None else f"at n = {row.size:,}")


def _differences(comparison: Comparison) -> list[str]:
    """Phrases with how often the candidate and the reference have them."""
    lines = [
        f"- **{markdown_escape(column.name)}** writes {word} (candidate v reference): {_listed(phrases)}"
        for column in comparison.candidates
        for word, phrases in (("too often", column.over), ("too rarely", column.under))
        if phrases
    ]
    lines += [
        f"- **{markdown_escape(column.name)}** writes {word} (candidate v reference): {markdown_escape(regions)}"
        for column in comparison.candidates
        for word, regions in meaning_lines(column, comparison.level, most=_MOST_PHRASES)
    ]
    return ["## What differs", "", *lines, ""] if lines else []


def _listed(phrases: tuple[Phrase, ...]) -> str:
    shown = phrases[:_MOST_PHRASES]
    names = [markdown_escape(shortened(phrase.text, _LONGEST_PHRASE)) for phrase in shown]
    return ", ".join(
        f"“{name}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
        for name, phrase in zip(names, shown, strict=True)
    )


CSV_FIELDS = (
    "candidate", "n", "metric", "label", "options", "estimate", "low", "high", "level", "method", "p_value",
    "p_adjusted", "better", "aspect", "undefined", "signature",
)  # fmt: skip


def csv_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One plain row a result, the yardstick first; after a candidate's rows those at the yardstick's own size."""
    found = []
    for column in (comparison.real, *comparison.candidates):
        for label, result, p in zip(comparison.labels, column.results, column.adjusted, strict=True):
            found.append(_row(column, label, result, p))
        for label, result in column.at_baseline_size.items():
            # Only the whole sample is tested.
            found.append(_row(column, label, replace(result, p_value=None), math.nan))
    return found


def _row(column: Column, label: str, result: Result, adjusted: float) -> dict[str, Any]:
    known = None if math.isnan(adjusted) else adjusted
    return plain_row(result) | {"candidate": column.name, "label": label, "p_adjusted": known}


def render_csv(comparison: Comparison) -> str:
    """CSV text with a header."""
    return csv_text(CSV_FIELDS, csv_rows(comparison))


# A sign a verdict beside the word, and never colour alone: notebooks are light or dark without telling.
_SIGNS = {"same": "=", "differs": "≠", "collapsed": "✕", "copied": "≈", "untested": "?"}


def render_notebook(comparison: Comparison) -> str:
    """An HTML fragment for a notebook's output cell."""
    template = environment().get_template("notebook.html.j2")
    return template.render(
        c=comparison,
        summary=summary(comparison),
        words=WORDS,
        signs=_SIGNS,
        grid=grid(comparison),
        legend=legend(comparison),
    )
