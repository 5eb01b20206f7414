"""The ranking of candidates by closeness to the reference, and the outcome of a comparison in a few findings.

Candidates are ranked by their separable share. Where nobody measured it, as on digests, the first metric of quality and
diversity at once takes its place. A collapsed candidate is behind all others, whatever its share: it may repeat texts
that look real. Copies of the reference and candidates that could not be tested have no rank.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from textassay.corpus.printable import natural_order
from textassay.inference.result import Result
from textassay.studies.compare.result import Column, Comparison
from textassay.studies.finding import Finding
from textassay.studies.planes import rise_of

SEPARABLE = "separable share"
# Shares that differ by less are ranked by the names of their candidates.
_DIGITS = 2
_UNRANKED = ("copied", "untested")
_SIGNS = {"farther": 1.0, "closer": -1.0, "less distinguishable": -1.0}


@dataclass(frozen=True)
class Distance:
    """How far a candidate is from the reference, and half of the width of its interval; larger is farther."""

    value: float = math.nan
    half: float = 0.0

    def differs(self, other: "Distance") -> bool:
        """Whether two distances differ by more than their uncertainty."""
        return abs(self.value - other.value) > math.hypot(self.half, other.half)


@dataclass(frozen=True)
class Ranked:
    """A candidate with its index in the comparison, its distance, and its rank, None without one."""

    column: Column
    index: int
    distance: Distance
    rank: int | None = None

    @property
    def decision(self) -> str:
        """The decision of its verdict."""
        return decision_of(self.column)


@dataclass(frozen=True)
class Ranking:
    """The candidates, the closest first, what they are ranked by, and the ranks that are not told apart."""

    by: str
    rows: tuple[Ranked, ...]
    ties: tuple[tuple[int, int], ...]

    @property
    def closest(self) -> tuple[str, ...]:
        """The candidate that is closest and those that are not told apart from it; none where nothing is ranked."""
        last = next((last for first, last in self.ties if first == 1), 1)
        return tuple(row.column.name for row in self.rows if row.rank is not None and row.rank <= last)


def decision_of(column: Column) -> str:
    """The decision of a candidate's verdict; without one nothing was tested."""
    return column.verdict.decision if column.verdict is not None else "untested"


def ranking(found: Comparison) -> Ranking:
    """All candidates in order: those with a rank, then copies, then those without a test."""
    by, distances = _distances(found)
    is_tested = any(decision_of(column) not in _UNRANKED for column in found.candidates)
    rows = [Ranked(*each) for each in zip(found.candidates, range(len(found)), distances, strict=True)]
    ranked = [row for row in rows if _has_rank(row, is_tested=is_tested)]
    ranked.sort(key=lambda row: (row.decision == "collapsed", _rounded(row.distance, by), _name(row)))
    others = [row for row in rows if row not in ranked]
    others.sort(key=lambda row: (_UNRANKED.index(row.decision) if row.decision in _UNRANKED else -1, _name(row)))
    numbered = [Ranked(row.column, row.index, row.distance, rank) for rank, row in enumerate(ranked, 1)]
    return Ranking(by, (*numbered, *others), tuple(_ties(numbered)))


def _has_rank(row: Ranked, *, is_tested: bool) -> bool:
    """Estimates alone are ranked only where nothing was tested."""
    known = math.isfinite(row.distance.value)
    return known and row.decision != "copied" and (row.decision != "untested" or not is_tested)


def _rounded(distance: Distance, by: str) -> float:
    return round(distance.value, _DIGITS) if by == SEPARABLE else distance.value


def _name(row: Ranked) -> list[tuple[int, int, str]]:
    return natural_order(row.column.name)


def _ties(ranked: Sequence[Ranked]) -> Iterator[tuple[int, int]]:
    """The first and the last rank of each largest run of candidates of which no two differ."""
    known = [row for row in ranked if row.decision != "collapsed"]
    reached = 0
    for first in range(len(known)):
        last = first
        while last + 1 < len(known) and not any(
            row.distance.differs(known[last + 1].distance) for row in known[first : last + 1]
        ):
            last += 1
        if last > first and last > reached:
            reached = last
            yield first + 1, last + 1


def _distances(found: Comparison) -> tuple[str, list[Distance]]:
    shares = [_separable(column) for column in found.candidates]
    if any(math.isfinite(share.value) for share in shares):
        return SEPARABLE, shares
    for index, label in enumerate(found.labels):
        results = [column.beside_real(label, column.results[index]) for column in found.candidates]
        is_distance = results[0].aspect == "both" and rise_of(results[0]) in _SIGNS
        if is_distance and all(math.isfinite(result.estimate) for result in results):
            return label, [_of_metric(result) for result in results]
    return "", [Distance() for _ in found.candidates]


def _separable(column: Column) -> Distance:
    """The separable share of a candidate, with half of a two-sided interval.

    Where no difference was found, the share that would probably have been found is the uncertainty.
    """
    share = column.overall.separable if column.overall is not None else None
    if share is None or share.estimate is None or share.low is None:
        return Distance()
    if share.grade is None:
        return Distance(share.estimate, share.detectable or 0.0)
    wider = float(ndtri((1 + share.level) / 2) / ndtri(share.level)) if share.level > 0.5 else 1.0
    return Distance(share.estimate, wider * max(share.estimate - share.low, 0.0))


def _of_metric(result: Result) -> Distance:
    half = (result.interval.high - result.interval.low) / 2 if result.interval else math.nan
    return Distance(_SIGNS[rise_of(result)] * result.estimate, half if math.isfinite(half) else 0.0)


def outcome(found: Comparison, order: Ranking) -> Iterator[Finding]:
    """What a comparison found, in a few findings: how many candidates differ, the closest, and the others by name."""
    if len(found) == 1:
        yield _alone(order.rows[0].column)
        return
    names = {kind: [row.column.name for row in order.rows if row.decision == kind] for kind in _SAID}
    differ = len(names["differs"]) + len(names["collapsed"])
    if differ or names["same"]:
        yield Finding("candidates", value=len(names["same"]), parts={"differ": differ}, n=(len(found),))
    if order.closest and not any(row.decision == "collapsed" for row in order.rows[:1]):
        yield Finding("closest", names=order.closest, text=order.by)
    for kind in ("collapsed", "copied", "untested"):
        if names[kind]:
            yield Finding(f"{kind} candidates", names=tuple(names[kind]), n=(len(found),))


_SAID = ("same", "differs", "collapsed", "copied", "untested")


def _alone(column: Column) -> Finding:
    """The outcome of a comparison of one candidate: its decision, and the finding behind it."""
    decision = decision_of(column)
    size = column.verdict.find("separable share") if column.verdict else None
    behind = column.verdict.findings[:1] if column.verdict else ()
    grade, ends = (size.grade, size.ends) if size is not None else ("", None)
    return Finding(f"candidate {decision}", names=(column.name,), grade=grade, ends=ends, among=behind)
