"""What the survey commands print: facts in two columns, remarks, links and the next command to type."""

import shlex
import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from textassay.corpus.printable import many, printable

__all__ = ["command", "many", "say", "show_facts", "show_notes", "show_whole"]


def show_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Names at the left, what there is to say about them at the right."""
    left = max(len(name) for name, _ in facts) + 2
    for name, text in facts:
        first, *rest = _wrapped(text, console.width - left)
        console.print(Text.assemble((f"{name:<{left}}", "bold"), first), soft_wrap=True)
        for line in rest:
            console.print(Text(" " * left + line), soft_wrap=True)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Remarks, one a paragraph."""
    for note in notes:
        first, *rest = _wrapped(f"note: {note}", console.width)
        console.print(Text.assemble((first[:5], "yellow"), first[5:]), soft_wrap=True)
        for line in rest:
            console.print(Text(line), soft_wrap=True)


def say(console: Console, text: str) -> None:
    """A paragraph."""
    for line in _wrapped(text, console.width):
        console.print(Text(line), soft_wrap=True)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines without spaces at their ends; a name or an address that is too long for one stays whole."""
    lines = textwrap.wrap(printable(text), max(width, 20), break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def show_whole(console: Console, *lines: str) -> None:
    """Lines that are copied, such as links and commands: indented, and never broken to fit the screen."""
    for line in lines:
        console.print(Text(f"  {printable(line)}", style="cyan"), soft_wrap=True)


def command(*words: str) -> str:
    """A command as it can be typed.

    >>> command("survey", "serve", "my study.db")
    "textassay survey serve 'my study.db'"
    """
    return shlex.join(("textassay", *words))
