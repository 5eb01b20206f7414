"""Differences between systems on the same items, and between systems and people, the clearest first."""

import math
from dataclasses import dataclass

from textassay.inference.multiplicity import holm
from textassay.inference.p_value import is_significant
from textassay.report.cells import MARK, spread
from textassay.report.clarity import clarity
from textassay.studies.comparison import Contest
from textassay.studies.conditioned import Conditional
from textassay.studies.wording import number


@dataclass(frozen=True)
class Paired:
    """A contest, its p-value adjusted over all contests, and who does better where that is significant."""

    contest: Contest
    adjusted: float
    marked: bool
    ahead: str

    @property
    def gap(self) -> str:
        """The difference with its interval and mark, as text."""
        shown = spread(self.contest.estimate, low=self.contest.low, high=self.contest.high)
        return f"{number(self.contest.estimate)} {shown}{MARK if self.marked else ''}"


def paired_rows(conditional: Conditional) -> list[Paired]:
    """All contests: the smallest adjusted p-value first, then the clearest; those without a number last."""
    better = dict(zip(conditional.labels, (result.better for result in conditional.human.results), strict=True))
    adjusted = holm([contest.p_value for contest in conditional.contests])
    rows = [
        _row(contest, p, better.get(contest.label, ""), level=conditional.level)
        for contest, p in zip(conditional.contests, adjusted, strict=True)
    ]
    return sorted(rows, key=_rank)


def _rank(row: Paired) -> tuple[float, float]:
    return (math.inf if math.isnan(row.adjusted) else row.adjusted), -clarity(row.contest)


def _row(contest: Contest, adjusted: float, better: str, *, level: float) -> Paired:
    marked = is_significant(adjusted, level)
    ahead = contest.first if (contest.estimate > 0) == (better == "higher") else contest.second
    known = marked and contest.estimate != 0 and better in ("higher", "lower")
    return Paired(contest, adjusted, marked, ahead if known else "")
