"""The result of a history: the runs in order, and for each metric whether and where it changed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from textassay.inference.result import Result, one_nan
from textassay.studies.finding import Verdict
from textassay.studies.outcome import FRAME_COLUMNS, Outcome, ResultColumn, Settings
from textassay.version import __version__

CHANGED, UNCHANGED, UNTESTED = "changed", "no change found", "untested"


@dataclass(frozen=True)
class Source:
    """The reference of all runs: its name, the number of its texts and their digest."""

    name: str
    n: int
    digest: str


@dataclass(frozen=True)
class Run(ResultColumn):
    """A run: its name, its date if it has one, the decision of its comparison, and its results."""

    name: str
    date: str
    n: int
    digest: str
    decision: str
    grade: str
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Change:
    """What the series of one metric shows. `decision` is changed, no change found or untested (with the `reason`).

    `at` is the first run after the change, `previous` the last one before it at which the metric has an interval. The
    runs from `start` to `end` are not all alike: the change is between them, at this level for all metrics and places
    together. `before` and `after` are the means on both sides.
    `adjusted_p` is corrected for all places and metrics; without a change it is that of the clearest contrast.
    """

    label: str
    decision: str
    adjusted_p: float
    at: str = ""
    start: str = ""
    end: str = ""
    before: float = math.nan
    after: float = math.nan
    way: str = ""
    reason: str = ""
    previous: str = ""

    def __post_init__(self) -> None:
        for name in ("adjusted_p", "before", "after"):
            object.__setattr__(self, name, one_nan(getattr(self, name)))


@dataclass(frozen=True, repr=False)
class History(Outcome):
    """Metrics over runs. `changes` has one entry per metric, `real` what real text scores, often on fewer texts.

    `order` is how the runs were ordered: by date, by name, or as given.
    """

    kind: ClassVar[str] = "history"
    csv_fields: ClassVar[tuple[str, ...]] = ("date", *FRAME_COLUMNS)
    __hash__ = Outcome.__hash__

    runs: tuple[Run, ...]
    changes: tuple[Change, ...]
    reference: Source
    real: tuple[Result, ...]
    order: str
    verdict: Verdict
    level: float
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Settings

    @property
    def columns(self) -> tuple[Run, ...]:
        """The runs in order."""
        return self.runs

    @property
    def baseline(self) -> tuple[Result, ...]:
        """Real text against real text."""
        return self.real

    @property
    def first_change(self) -> Change | None:
        """The change that comes first in the series, None if no metric changed."""
        order = {name: index for index, name in enumerate(self.names)}
        changed = [change for change in self.changes if change.decision == CHANGED]
        return min(changed, key=lambda one: (order[one.at], order[one.end], one.adjusted_p), default=None)

    def is_beside_real(self, index: int) -> bool:
        """Whether the value of real text can be set beside those of the runs: known, and of as many texts."""
        real = self.real[index]
        return math.isfinite(real.estimate) and all(run.results[index].n == real.n for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: every field by its name."""
        return {**super().to_dict(), "textassay": __version__, "details": {}}

    def check_fields(self) -> None:
        """Raise an error unless there is a change per metric, of runs that exist."""
        super().check_fields()
        if [change.label for change in self.changes] != list(self.labels):
            raise ValueError("not one change per metric")
        for change in self.changes:
            named = {change.at, change.previous, change.start, change.end}
            if change.decision not in (CHANGED, UNCHANGED, UNTESTED) or not named - {""} <= set(self.names):
                raise ValueError("a change at no run")
            if change.decision == CHANGED and "" in named:
                raise ValueError("a change without its runs")

    def csv_rows(self) -> Iterator[dict[str, Any]]:
        """One row per run and metric, with the date of the run."""
        dates = {run.name: run.date for run in self.runs}
        yield from ({"date": dates[row["candidate"]], **row} for row in self._frame_rows())
