"""The comparison as Markdown: verdicts, table, notes. Names and phrases are escaped, they are not ours."""

import re

from textassay.corpus.printable import printable
from textassay.report.cells import NOTHING, Cell, cell, legend, reasons
from textassay.studies.comparison import Comparison

# What could begin a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


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
    adjusted, level = comparison.adjusted(), comparison.level
    for place, (label, real) in enumerate(zip(comparison.labels, comparison.real.results, strict=True)):
        cells = [
            cell(column.results[place], p[place], level=level)
            for column, p in zip(comparison.candidates, adjusted, strict=True)
        ]
        again = [column.at_real_size[label] for column in comparison.candidates if label in column.at_real_size]
        yardstick = cell(real, level=level)
        rows.append([_escape(label), *_shown([NOTHING if again else yardstick, *cells])])
        if again:
            smaller = [cell(result, level=level) for result in again]
            rows.append([f"{_escape(label)} at n = {real.n:,}", *_shown([yardstick, *smaller])])
    return [f"| {' | '.join(row)} |" for row in rows]


def _shown(cells: list[Cell]) -> list[str]:
    return [str(item).replace("*", "\\*") for item in cells]


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))
