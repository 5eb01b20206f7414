"""The help of every command."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tests.cli.conftest import Command
from textassay.cli.app import app, invoke


def names(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    below = getattr(command, "commands", {})
    if not below:
        yield path
    for name, part in below.items():
        yield from names(part, (*path, name))


@pytest.mark.parametrize("path", list(names(typer.main.get_command(app))), ids=" ".join)
def test_arguments_have_names_alone(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*path, "--help"]) == 0
    usage, _, rest = capsys.readouterr().out.partition("\n")
    assert usage.startswith(f"Usage: textassay {' '.join(path)}")
    assert "{" not in usage
    before, _, options = rest.partition("Options:")
    assert "<" not in before
    assert not re.findall(r"--[\w-]+ <.*", options), "the value of an option has the name of a type"


@pytest.mark.parametrize("group", [(), ("survey",), ("cache",)])
def test_summaries_fit_a_terminal_of_80_columns(group: tuple[str, ...], run_command: Command) -> None:
    shown = run_command(*group, "--help", columns="80").stdout.partition("Commands:")[2]
    assert shown
    assert "..." not in shown
