"""What every refusal on the command line looks like."""

from typing import Protocol


class Ended(Protocol):
    """What a command left behind."""

    @property
    def returncode(self) -> int: ...

    @property
    def stderr(self) -> str: ...


def assert_refused(found: Ended, wanted: str) -> None:
    """One line on standard error that says what was wanted, exit code 2, and no traceback."""
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert wanted in found.stderr.lower()
    assert "Traceback" not in found.stderr
