"""The comparison as Markdown: verdicts, table, what differs, notes. What is not ours is escaped."""

import re

from textassay.corpus.printable import printable, shortened
from textassay.report.cells import ARROWS, MARK, legend, reasons
from textassay.report.meaning_lines import meaning_lines
from textassay.report.rows import Row, rows
from textassay.studies.comparison import Comparison, Phrase

# What could begin a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")
# So many phrases that are too frequent, and as many that are too rare, a candidate; each cut to so many characters.
_MOST_PHRASES, _LONGEST_PHRASE = 8, 80


def render_markdown(comparison: Comparison) -> str:
    """One Markdown document."""
    lines = [f"# {_escape(comparison.reference.name)}: {len(comparison.candidates)} compared", ""]
    lines += [f"Reference: {_escape(comparison.reference.name)}, {comparison.reference.n:,} texts.", ""]
    for column in comparison.candidates:
        for finding in column.findings:
            lines.append(f"- Format, **{_escape(column.name)}**: {_escape(finding.message)} ({_escape(finding.fix)})")
    for column in comparison.candidates:
        if column.verdict is not None:
            lines.append(f"- **{_escape(column.name)}**: {_escape(column.verdict.sentence)}")
    lines += ["", *_table(comparison), "", *(f"{_escape(line)}  " for line in legend(comparison)), ""]
    lines += _differences(comparison)
    notes = [f"- {_escape(note)}" for note in (*comparison.notes, *reasons(comparison))]
    lines += ["## Notes", "", *notes] if notes else []
    lines += ["", "```text", *(r.signature for column in comparison.candidates for r in column.results), "```"]
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison) -> list[str]:
    names = [_escape(column.name) for column in (comparison.real, *comparison.candidates)]
    table = [["metric", *names], ["---", *("---:" for _ in names)]]
    table += [[_label(row), *(str(item).replace(MARK, f"\\{MARK}") for item in row.cells)] for row in rows(comparison)]
    return [f"| {' | '.join(line)} |" for line in table]


def _label(row: Row) -> str:
    return f"{_escape(row.label)} " + (ARROWS[row.better] if row.size is None else f"at n = {row.size:,}")


def _differences(comparison: Comparison) -> list[str]:
    """Phrases with how often the candidate and the reference have them."""
    lines = [
        f"- **{_escape(column.name)}** writes {word} (candidate v reference): {_listed(phrases)}"
        for column in comparison.candidates
        for word, phrases in (("too often", column.over), ("too rarely", column.under))
        if phrases
    ]
    lines += [
        f"- **{_escape(column.name)}** writes {word} (candidate v reference): {_escape(regions)}"
        for column in comparison.candidates
        for word, regions in meaning_lines(column, comparison.level, most=_MOST_PHRASES)
    ]
    return ["## What differs", "", *lines, ""] if lines else []


def _listed(phrases: tuple[Phrase, ...]) -> str:
    return ", ".join(
        f"“{_escape(shortened(phrase.text, _LONGEST_PHRASE))}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
        for phrase in phrases[:_MOST_PHRASES]
    )


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))
