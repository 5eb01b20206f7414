"""The Markdown form of all studies: escaped text, tables, lists, fenced signatures, and the order of a document."""

import re
from collections.abc import Iterable, Mapping, Sequence

from textassay.corpus.printable import printable, shortened
from textassay.report.former.table import ARROWS, MARK, Line

# Notes, names and verdicts may quote texts of any length.
_LONGEST = 400
# Characters that could start a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def escaped(text: str) -> str:
    r"""The text on one line, with every character escaped that Markdown would interpret.

    >>> print(escaped("a|b *c*"))
    a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", printable(text))


def cut(text: str) -> str:
    """A text that may be long, shortened and escaped."""
    return escaped(shortened(text, _LONGEST))


def document(
    title: str,
    top: Iterable[str],
    sections: Mapping[str, Sequence[str]],
    signatures: Iterable[str],
) -> str:
    """A whole document: the title, bullets, sections that have content, and the signatures.

    A section with an empty title follows the bullets without a heading.
    """
    lines = [f"# {title}", "", *(f"- {line}" for line in top), ""]
    for heading, content in sections.items():
        lines += [*([f"## {heading}", ""] if heading else []), *content, ""] if content else []
    return "\n".join([*lines, *fenced(signatures)]) + "\n"


def bullets(lines: Iterable[str]) -> list[str]:
    """A list of plain sentences."""
    return [f"- {cut(line)}" for line in lines]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: int = 0) -> list[str]:
    """The lines of a table whose cells are escaped already; the columns from `right` on hold numbers."""
    rules = ["---" if place < right else "---:" for place in range(len(head))]
    return [f"| {' | '.join(line)} |" for line in (head, rules, *rows)]


def metric_table(lines: Iterable[Line], names: Iterable[str], legend: Iterable[str]) -> list[str]:
    """The table of metrics, and below it how to read it."""
    rows = [[_label(line), *(starred(figure.text) for figure in line.figures)] for line in lines]
    head = ["metric", *map(cut, names)]
    return [*table(head, rows, right=1), "", *(f"{escaped(line)}  " for line in legend)]


def _label(line: Line) -> str:
    return f"{cut(line.label)} " + (f"at {line.at}" if line.at else ARROWS[line.better])


def starred(text: str) -> str:
    """A cell whose mark of significance is not read as markup."""
    return text.replace(MARK, f"\\{MARK}")


def fenced(lines: Iterable[str]) -> list[str]:
    """Lines without any change, between fences that none of them can close."""
    shown = [printable(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]
