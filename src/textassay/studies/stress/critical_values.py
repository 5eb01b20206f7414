"""Critical values: which values of a metric are beyond those of undamaged text at this sample size?

Every metric is tested in the same way, also those that have no permutation test: its value is compared with its values
on M draws of two undamaged samples. The value is extreme as in the tests of `compare`: towards worse for a metric that
compares two samples, and in both directions where neither higher nor lower is better, or where it describes one sample.
With r undamaged values more extreme and t equal ones, p = (r + u (t + 1)) / (M + 1) with u drawn uniformly between 0
and 1. A further undamaged value is as likely to have any of the M + 1 ranks, so the level is exact, for counts with few
different values as well; without the random u their tests would reject too seldom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from textassay.corpus.arrays import F64
from textassay.inference.p_values import is_significant
from textassay.metrics.registry import Request

# Values that differ only by rounding are equal.
_RELATIVE_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class CriticalValues:
    """The undamaged values of a metric, as statistics that are larger for worse values, sorted."""

    direction: int
    centre: float
    null: F64
    level: float

    @classmethod
    def of(cls, request: Request, undamaged: Sequence[float], level: float) -> Self:
        """From the values on undamaged draws; those that are undefined do not count."""
        values = np.array([value for value in undamaged if np.isfinite(value)], dtype=np.float64)
        one_sided = request.metric.compares and request.metric.better != "closer"
        direction = 0 if not one_sided else -1 if request.metric.better == "higher" else 1
        centre = float(values.mean()) if len(values) else np.nan
        found = cls(direction, centre, values, level)
        return cls(direction, centre, np.sort(found.statistics(values)), level)

    def statistics(self, values: F64) -> F64:
        """Larger for worse: the value towards worse, or its distance from the mean of undamaged values."""
        return np.asarray(self.direction * values if self.direction else np.abs(values - self.centre))

    def _statistic(self, value: float) -> float:
        return float(self.statistics(np.array([value]))[0])

    @property
    def critical(self) -> float:
        """The largest statistic that is not significant."""
        allowed = int((1 - self.level) * (len(self.null) + 1) + 1e-9)
        return float(self.null[-allowed]) if 0 < allowed <= len(self.null) else np.inf

    def is_found(self, value: float, u: float) -> bool:
        """Whether a value is significantly worse than undamaged ones; an undefined value is not."""
        return self._is_beyond(self._statistic(value), self.null, u)

    def is_praised(self, value: float, u: float) -> bool:
        """Whether a value is significantly better than undamaged ones, for metrics that are better in one direction."""
        return self.direction != 0 and self._is_beyond(-self._statistic(value), -self.null[::-1], u)

    def _is_beyond(self, statistic: float, null: F64, u: float) -> bool:
        if not np.isfinite(statistic) or not len(null):
            return False
        tie = _RELATIVE_TIE * max(abs(statistic), float(np.abs(null).max()))
        above = len(null) - int(np.searchsorted(null, statistic + tie, side="right"))
        equal = len(null) - above - int(np.searchsorted(null, statistic - tie, side="left"))
        return is_significant((above + u * (equal + 1)) / (len(null) + 1), self.level)
