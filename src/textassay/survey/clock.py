"""The time of a study: seconds since 1970, and the same for people and other programs to read."""

import time
from datetime import UTC, datetime

DAY = 86_400.0


def now() -> float:
    """The time now; the one place that asks for it."""
    return time.time()


def stamp(seconds: float) -> str:
    """A time in UTC, as ISO 8601 has it.

    >>> stamp(1_700_000_000.25)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def end_of(days: int | None, *, start: float) -> float | None:
    """When a link made at `start` stops working; None for never."""
    return None if days is None else start + days * DAY
