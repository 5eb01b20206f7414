"""The comparison as Markdown: verdicts, table, notes. Names and phrases are escaped, they are not ours."""

import re

from textassay.corpus.printable import printable
from textassay.report.cells import cell, legend, reasons
from textassay.studies.comparison import Comparison

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$])")


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
    lines += [f"- {_escape(note)}" for note in (*comparison.notes, *reasons(comparison))]
    lines += ["", "```text", *(r.signature for column in comparison.candidates for r in column.results), "```"]
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison) -> list[str]:
    names = [_escape(column.name) for column in (comparison.real, *comparison.candidates)]
    rows = [["metric", *names], ["---", *("---:" for _ in names)]]
    adjusted = comparison.adjusted()
    for place, label in enumerate(comparison.labels):
        real = str(cell(comparison.real.results[place], level=comparison.level))
        cells = [
            str(cell(column.results[place], adjusted[number][place], level=comparison.level))
            for number, column in enumerate(comparison.candidates)
        ]
        rows.append([_escape(label), real, *(text.replace("*", "\\*") for text in cells)])
    return [f"| {' | '.join(row)} |" for row in rows]


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))
