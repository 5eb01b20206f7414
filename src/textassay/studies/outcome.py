"""What all study outcomes share: the plan, its checks, and numbers in JSON."""

import math
from collections.abc import Mapping
from typing import Any

from textassay.corpus.printable import shortened
from textassay.corpus.values import is_number, is_whole
from textassay.errors import InputError


def without_nan(plain: Mapping[str, Any]) -> dict[str, Any]:
    """None where a float is not finite."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in plain.items()}


def with_nan(plain: Mapping[str, Any]) -> dict[str, Any]:
    """NaN where there is None."""
    return {k: math.nan if v is None else v for k, v in plain.items()}


# Room between the smallest p-value that can come out and the one that is needed.
_MARGIN = 1.2
# More would take hours and tell nothing.
_MOST_RESAMPLES = 1_000_000


def check_plan(level: float, n_resamples: int, seed: int) -> None:
    """Refuse settings that no interval or test can be made from."""
    for name, value, fits, wanted in (
        ("level", level, is_number, "a number, such as 0.95"),
        ("resamples", n_resamples, is_whole, "a whole number"),
        ("seed", seed, is_whole, "a whole number"),
    ):
        if not fits(value):
            raise InputError(f"--{name} is {shortened(repr(value), 40)}; wanted {wanted}")
    if not 0.5 <= level < 1:
        raise InputError(f"--level is {level}; wanted at least 0.5 and below 1, such as 0.95")
    if n_resamples < 0 or 0 < n_resamples < 19 or n_resamples > _MOST_RESAMPLES:
        raise InputError(f"--resamples is {n_resamples}; wanted 0 (estimates only), or 19 to {_MOST_RESAMPLES:,}")
    if seed < 0:
        raise InputError(f"--seed is {seed}; wanted 0 or more")


def enough_resamples(wanted: int, tests: int, level: float) -> int:
    """At least as many as the Holm correction of this many tests needs for any of them to become significant.

    >>> enough_resamples(999, 36, 0.95), enough_resamples(999, 120, 0.95), enough_resamples(0, 120, 0.95)
    (999, 2879, 0)
    """
    margin = _MARGIN if tests > 1 else 1.0
    return max(wanted, math.ceil(margin * tests / (1 - level) - 1e-9) - 1) if wanted else 0
