"""The one place where a p-value is computed."""

import numpy as np
from numpy.typing import NDArray

# Statistics that differ only by rounding are ties, and ties count against significance.
_RELATIVE_TIE = 1e-9
# 1 - 0.95 is a little more than 0.05 in binary numbers, and 1 - 0.9 a little less than 0.1.
_ROUNDING = 1e-12


def p_value(observed: float, null: NDArray[np.float64], *, exact: bool) -> float:
    """Share of the null at least as extreme (large) as the observed statistic.

    With `exact`, `null` is the full enumeration, the observed arrangement included, and the share is the p-value.
    Otherwise `null` is a Monte-Carlo sample and the observed arrangement is added to both sides, so that p is never 0.

    >>> p_value(3.0, np.array([1.0, 2.0, 3.0, 4.0]), exact=True)
    0.5
    >>> p_value(5.0, np.array([1.0, 2.0, 3.0, 4.0]), exact=False)
    0.2
    """
    if not np.isfinite(observed) or not np.isfinite(null).all():
        return float("nan")
    tie = _RELATIVE_TIE * max(abs(observed), float(np.abs(null).max(initial=0.0)))
    extreme = int((null >= observed - tie).sum())
    if exact:
        return extreme / len(null)
    return (extreme + 1) / (len(null) + 1)


def is_significant(p: float | None, level: float) -> bool:
    """Whether a p-value is significant at this level: p <= 1 - level, the rule that gives exact tests their level.

    The only place that decides this, for every table, verdict, label and chart.

    >>> is_significant(0.05, 0.95), is_significant(0.0500001, 0.95), is_significant(0.1, 0.9), is_significant(None, 0.9)
    (True, False, True, False)
    """
    return p is not None and p <= 1 - level + _ROUNDING
