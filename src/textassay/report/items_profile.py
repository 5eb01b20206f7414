"""The triangle profile behind a result: how often the edge inside a side is the shorter, middle or longer one."""

import math
from collections.abc import Iterable

from textassay.inference.result import Result

RANKS = ("shorter", "between", "longer")


def profile(result: Result) -> dict[str, tuple[float, ...]]:
    """By side the shares of the three ranks, from parts such as `candidates_shorter`; NaN for a rank that is missing.

    Empty for a metric that has none.
    """
    sides: dict[str, dict[str, float]] = {}
    for name, value in result.parts.items():
        side, _, rank = name.rpartition("_")
        if rank in RANKS:
            sides.setdefault(side, {})[rank] = value
    return {side: tuple(shares.get(rank, math.nan) for rank in RANKS) for side, shares in sides.items()}


def sides_of(results: Iterable[Result]) -> list[str]:
    """The sides that any of these results has a profile of, in order of appearance."""
    return list(dict.fromkeys(side for result in results for side in profile(result)))
