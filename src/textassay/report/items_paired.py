"""Differences between systems on the same items, and between systems and people, as rows of the HTML report."""

import math
from dataclasses import dataclass

from textassay.inference.multiplicity import holm
from textassay.studies.comparison import Contest
from textassay.studies.conditioned import Conditional


@dataclass(frozen=True)
class Paired:
    """A contest, its p-value adjusted over all contests, and who does better where that is significant."""

    contest: Contest
    adjusted: float
    marked: bool
    ahead: str


def paired_rows(conditional: Conditional) -> list[Paired]:
    """All contests, those first that are large beside their own uncertainty; those without a number come last."""
    better = dict(zip(conditional.labels, (result.better for result in conditional.human.results), strict=True))
    adjusted = holm([contest.p_value for contest in conditional.contests])
    rows = [
        _row(contest, p, better.get(contest.label, ""), alpha=1 - conditional.level)
        for contest, p in zip(conditional.contests, adjusted, strict=True)
    ]
    return sorted(rows, key=lambda row: _clarity(row.contest), reverse=True)


def _row(contest: Contest, adjusted: float, better: str, *, alpha: float) -> Paired:
    marked = adjusted < alpha
    ahead = contest.first if (contest.estimate > 0) == (better == "higher") else contest.second
    known = marked and contest.estimate != 0 and better in ("higher", "lower")
    return Paired(contest, adjusted, marked, ahead if known else "")


def _clarity(contest: Contest) -> float:
    half = (contest.high - contest.low) / 2
    if not (math.isfinite(contest.estimate) and math.isfinite(half)):
        return -1.0
    return abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0
