"""How far a long run is; the command line draws it, a library call stays silent."""

from typing import Protocol


class Progress(Protocol):
    """Receives what is being done and how many steps are finished."""

    def start(self, what: str, steps: int) -> None:
        """A piece of work with this many steps begins."""
        ...

    def step(self, steps: int) -> None:
        """Report further finished steps."""
        ...


class Silent:
    """Reports nothing."""

    def start(self, what: str, steps: int) -> None:
        """Nothing to show."""

    def step(self, steps: int) -> None:
        """Nothing to show."""
