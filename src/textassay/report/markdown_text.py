"""Text from outside made safe inside a line of Markdown."""

import re
from collections.abc import Iterable, Sequence

from textassay.corpus.printable import printable

# What could begin a tag, a link, a code span or a table cell inside a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def escape(text: str) -> str:
    r"""The text on one line, with every sign that Markdown would read escaped.

    >>> print(escape("a|b *c*"))
    a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", printable(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: int = 0) -> list[str]:
    """The lines of a table whose cells are escaped already; the columns from `right` on hold numbers."""
    rules = ["---" if place < right else "---:" for place in range(len(head))]
    return [f"| {' | '.join(line)} |" for line in (head, rules, *rows)]


def fenced(lines: Iterable[str]) -> list[str]:
    """Lines as they are, between fences that none of them can close."""
    shown = [printable(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *shown, fence]
