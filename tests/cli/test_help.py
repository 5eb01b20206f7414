"""The help of every command."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

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
    assert "<" not in rest.partition("Options:")[0]
