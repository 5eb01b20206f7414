"""Runs commands within the tests' own process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from textassay.cli.main import run


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Outcome]


@pytest.fixture
def run_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command line on a pipe so many columns wide."""

    def command(*arguments: str, columns: str = "80") -> Outcome:
        monkeypatch.setenv("COLUMNS", columns)
        code = run(arguments)
        return Outcome(code, *capsys.readouterr())

    return command
