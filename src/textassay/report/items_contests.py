"""Differences between systems on the same items, and between systems and people, the clearest first."""

import math
from dataclasses import dataclass

from textassay.inference.multiplicity import holm
from textassay.report.cells import MARK, spread
from textassay.studies.comparison import Contest
from textassay.studies.conditioned import Conditional
from textassay.studies.wording import number, p_text


@dataclass(frozen=True)
class Difference:
    """A contest as text: who against whom, on what, by how much, and who is ahead by it where that is clear."""

    first: str
    second: str
    label: str
    gap: str
    p: str
    ahead: str


def differences(conditional: Conditional) -> list[Difference]:
    """All contests with Holm-adjusted p-values, the smallest first; those without a number last."""
    directions = dict(zip(conditional.labels, (r.better for r in conditional.human.results), strict=True))
    adjusted = holm([contest.p_value for contest in conditional.contests])
    pairs = sorted(zip(adjusted, conditional.contests, strict=True), key=lambda pair: _rank(*pair))
    return [_difference(contest, p, directions.get(contest.label, ""), conditional.level) for p, contest in pairs]


def _rank(adjusted: float, contest: Contest) -> tuple[float, float]:
    half = (contest.high - contest.low) / 2
    clear = abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0
    return (math.inf if math.isnan(adjusted) else adjusted), -(0.0 if math.isnan(clear) else clear)


def _difference(contest: Contest, adjusted: float, better: str, level: float) -> Difference:
    marked = adjusted < 1 - level
    ahead = contest.first if (contest.estimate > 0) == (better == "higher") else contest.second
    known = marked and contest.estimate != 0 and better in ("higher", "lower")
    gap = f"{number(contest.estimate)} {spread(contest.estimate, low=contest.low, high=contest.high)}"
    return Difference(
        contest.first,
        contest.second,
        contest.label,
        f"{gap}{MARK if marked else ''}",
        p_text(adjusted),
        ahead if known else "",
    )
