"""How clear a difference between two columns is, to show the clearest first."""

import math

from textassay.studies.comparison import Contest


def clarity(contest: Contest) -> float:
    """The difference beside its own uncertainty; below 0 where there is no number."""
    half = (contest.high - contest.low) / 2
    if not (math.isfinite(contest.estimate) and math.isfinite(half)):
        return -1.0
    return abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0
