"""Correction for testing many things at once."""

from collections.abc import Sequence

import numpy as np

_ROUNDING = 1e-9


def threshold(level: float) -> float:
    """What a p-value must be below: 1 - level, less what rounding may have added to that.

    >>> 0.05 < 1 - 0.95, 0.05 < threshold(0.95), 0.1 < threshold(0.9), 0.049 < threshold(0.95)
    (True, False, False, True)
    """
    return 1 - level - _ROUNDING


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false alarm in the table stays at the level.

    Entries that are not numbers (no test) stay so and do not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p), np.nan)
    order = np.flatnonzero(~np.isnan(p))
    order = order[np.argsort(p[order], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return [float(value) for value in adjusted]
