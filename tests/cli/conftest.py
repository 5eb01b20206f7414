"""Runs commands within the tests' own process."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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


def piped(path: Path, content: str) -> str:
    """A pipe that gives this content to the first reader, and nothing to the next one."""
    os.mkfifo(path)

    def write() -> None:
        # A thread may still wait for a second reader when its folder is taken away from it.
        with suppress(OSError):
            path.write_text(content, encoding="utf-8")
            time.sleep(1)  # the first reader has closed the pipe by then
            path.write_text("")

    threading.Thread(target=write, daemon=True).start()
    return str(path)
