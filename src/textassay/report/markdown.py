"""The comparison as Markdown: verdicts, table, what differs, notes. What is not ours is escaped."""

from textassay.corpus.printable import shortened
from textassay.report.cells import ARROWS, MARK, legend, reasons
from textassay.report.markdown_text import escape
from textassay.report.meaning_lines import meaning_lines
from textassay.report.rows import Row, rows
from textassay.studies.comparison import Comparison, Phrase

# So many phrases that are too frequent, and as many that are too rare, a candidate; each cut to so many characters.
_MOST_PHRASES, _LONGEST_PHRASE = 8, 80


def render_markdown(comparison: Comparison) -> str:
    """One Markdown document."""
    lines = [f"# {escape(comparison.reference.name)}: {len(comparison.candidates)} compared", ""]
    lines += [f"Reference: {escape(comparison.reference.name)}, {comparison.reference.n:,} texts.", ""]
    for column in comparison.candidates:
        for finding in column.findings:
            lines.append(f"- Format, **{escape(column.name)}**: {escape(finding.message)} ({escape(finding.fix)})")
    for column in comparison.candidates:
        if column.verdict is not None:
            lines.append(f"- **{escape(column.name)}**: {escape(column.verdict.sentence)}")
    lines += ["", *_table(comparison), "", *(f"{escape(line)}  " for line in legend(comparison)), ""]
    lines += _differences(comparison)
    notes = [f"- {escape(note)}" for note in (*comparison.notes, *reasons(comparison))]
    lines += ["## Notes", "", *notes] if notes else []
    lines += ["", "```text", *(r.signature for column in comparison.candidates for r in column.results), "```"]
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison) -> list[str]:
    names = [escape(column.name) for column in (comparison.real, *comparison.candidates)]
    table = [["metric", *names], ["---", *("---:" for _ in names)]]
    table += [[_label(row), *(str(item).replace(MARK, f"\\{MARK}") for item in row.cells)] for row in rows(comparison)]
    return [f"| {' | '.join(line)} |" for line in table]


def _label(row: Row) -> str:
    return f"{escape(row.label)} " + (ARROWS[row.better] if row.size is None else f"at n = {row.size:,}")


def _differences(comparison: Comparison) -> list[str]:
    """Phrases with how often the candidate and the reference have them."""
    lines = [
        f"- **{escape(column.name)}** writes {word} (candidate v reference): {_listed(phrases)}"
        for column in comparison.candidates
        for word, phrases in (("too often", column.over), ("too rarely", column.under))
        if phrases
    ]
    lines += [
        f"- **{escape(column.name)}** writes {word} (candidate v reference): {escape(regions)}"
        for column in comparison.candidates
        for word, regions in meaning_lines(column, comparison.level, most=_MOST_PHRASES)
    ]
    return ["## What differs", "", *lines, ""] if lines else []


def _listed(phrases: tuple[Phrase, ...]) -> str:
    return ", ".join(
        f"“{escape(shortened(phrase.text, _LONGEST_PHRASE))}” {phrase.candidate_count:,} v {phrase.reference_count:,}"
        for phrase in phrases[:_MOST_PHRASES]
    )
