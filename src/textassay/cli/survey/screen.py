"""Terminal output of the survey commands: facts in two columns, notes, links and commands."""

import shlex
import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from textassay.corpus.printable import many, printable

__all__ = ["command", "many", "show_facts", "show_notes", "show_paragraph", "show_unwrapped"]


def show_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print names on the left and their values on the right."""
    left = max(len(name) for name, _ in facts) + 2
    for name, text in facts:
        first, *rest = _wrapped(text, console.width - left)
        console.print(Text.assemble((f"{name:<{left}}", "bold"), first), soft_wrap=True)
        for line in rest:
            console.print(Text(" " * left + line), soft_wrap=True)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Print notes, one paragraph per note."""
    for note in notes:
        first, *rest = _wrapped(f"note: {note}", console.width)
        console.print(Text.assemble((first[:5], "yellow"), first[5:]), soft_wrap=True)
        for line in rest:
            console.print(Text(line), soft_wrap=True)


def show_paragraph(console: Console, text: str) -> None:
    """Print a paragraph, wrapped to the width of the console."""
    for line in _wrapped(text, console.width):
        console.print(Text(line), soft_wrap=True)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines without trailing spaces; a name or an address that is longer than a line is not broken."""
    lines = textwrap.wrap(printable(text), max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def show_unwrapped(console: Console, *lines: str) -> None:
    """Print lines for copying, such as links and commands: indented, and never wrapped."""
    for line in lines:
        console.print(Text(f"  {printable(line)}", style="cyan"), soft_wrap=True)


def command(*words: str) -> str:
    """A command as it can be pasted into a shell.

    >>> command("survey", "serve", "my study.db")
    "textassay survey serve 'my study.db'"
    """
    return shlex.join(("textassay", *words))
