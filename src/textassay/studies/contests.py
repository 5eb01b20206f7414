"""Two candidates compared with each other: the table of all differences, and which of the two is better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from textassay.corpus.printable import many, shortened
from textassay.document.blocks import Cell, Head, Row, Table
from textassay.document.words import number, p_text, spread
from textassay.inference.p_values import holm, is_significant
from textassay.inference.result import Result, one_nan
from textassay.studies.outcome import Outcome

# Differences in the table of a report; the others are less clear.
_MOST = 60


@dataclass(frozen=True)
class Contest:
    """Two candidates compared on one metric against the same reference: `estimate` is first minus second.

    `adjusted` is the p-value corrected for all such comparisons (Holm).
    """

    first: str
    second: str
    label: str
    estimate: float
    low: float
    high: float
    p_value: float
    adjusted: float = math.nan

    def __post_init__(self) -> None:
        for name in ("estimate", "low", "high", "p_value", "adjusted"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


@dataclass(frozen=True)
class Paired:
    """A difference with its p-value adjusted over all differences, and the better candidate if it is significant."""

    contest: Contest
    adjusted_p: float
    marked: bool
    ahead: str


def paired(outcome: Outcome, contests: Sequence[Contest]) -> list[Paired]:
    """All differences: the smallest adjusted p-value first, then the clearest; those without a number last."""
    by_holm = holm([contest.p_value for contest in contests])
    adjusted = [p if math.isnan(one.adjusted) else one.adjusted for one, p in zip(contests, by_holm, strict=True)]
    return sorted((_paired(outcome, one, p) for one, p in zip(contests, adjusted, strict=True)), key=_rank)


def contest_table(outcome: Outcome, contests: Sequence[Contest], *, title: str, label: str = "") -> Table | None:
    """The clearest differences, first minus second, of all metrics or of the one with this label; None without any."""
    found = [one for one in paired(outcome, contests) if label in ("", one.contest.label)]
    if not found:
        return None
    heads = (
        Head("first"),
        Head("second"),
        Head("metric"),
        Head("first minus second", numeric=True),
        Head("adjusted p", numeric=True),
        Head("better"),
    )
    rows = tuple(_row(outcome, one) for one in found[:_MOST])
    notes = (
        f"The p-values are adjusted for {many(len(contests), 'difference')} (Holm); * marks one of at most"
        f" {1 - outcome.level:g}. “–” in the last column: the difference is not significant, or the metric does not"
        " show which is better.",
    )
    return Table(heads, rows, title=title, footnotes=notes, total=len(found) if len(found) > _MOST else None)


def _row(outcome: Outcome, one: Paired) -> Row:
    contest = one.contest
    gap = Cell(
        number(contest.estimate),
        contest.estimate,
        spread=spread(contest.estimate, low=contest.low, high=contest.high),
        marked=one.marked,
    )
    p = Cell(p_text(one.adjusted_p), one.adjusted_p)
    label = Cell(shortened(contest.label, 60))
    return Row((_name(outcome, contest.first), _name(outcome, contest.second), label, gap, p, Cell(one.ahead or "–")))


def _name(outcome: Outcome, name: str) -> Cell:
    """The name of a candidate with its mark, or that of people."""
    return Cell(name, candidate=outcome.names.index(name) if name in outcome.names else None)


def _rank(row: Paired) -> tuple[float, float]:
    return math.inf if math.isnan(row.adjusted_p) else row.adjusted_p, -_clarity(row.contest)


def _paired(outcome: Outcome, contest: Contest, adjusted_p: float) -> Paired:
    marked = is_significant(adjusted_p, outcome.level)
    ahead = _ahead(outcome, contest) if marked and contest.estimate != 0 else ""
    return Paired(contest, adjusted_p, marked, ahead)


def _ahead(outcome: Outcome, contest: Contest) -> str:
    """The better of two candidates that differ; empty if that is not known."""
    index = outcome.labels.index(contest.label) if contest.label in outcome.labels else -1
    if index < 0 or not outcome.baseline:
        return ""
    real = outcome.baseline[index]
    if real.better == "closer":
        return _nearer(outcome, contest, index, real)
    return contest.first if (contest.estimate > 0) == (real.better == "higher") else contest.second


def _nearer(outcome: Outcome, contest: Contest, index: int, real: Result) -> str:
    """The candidate whose value is nearer to every value in the interval of real text of the same size."""
    values = {column.name: column.results[index] for column in outcome.columns}
    found = [values.get(name) for name in (contest.first, contest.second)]
    first, second = (math.nan if one is None or _size(one) != _size(real) else one.estimate for one in found)
    limits = (real.interval.low, real.interval.high) if real.interval else (real.estimate,)
    if all(abs(first - limit) < abs(second - limit) for limit in limits):
        return contest.first
    return contest.second if all(abs(second - limit) < abs(first - limit) for limit in limits) else ""


def _size(result: Result) -> tuple[float, ...]:
    return (result.n, *(result.parts.get(name, -1.0) for name in ("candidates", "references")))


def _clarity(contest: Contest) -> float:
    """The difference in units of its own uncertainty; below 0 where there is no number."""
    half = (contest.high - contest.low) / 2
    if not (math.isfinite(contest.estimate) and math.isfinite(half)):
        return -1.0
    return abs(contest.estimate) / half if half > 0 else math.inf if contest.estimate else 0.0
