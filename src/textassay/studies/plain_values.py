"""Numbers for JSON, which has no NaN: null in its place, and back."""

import math
from collections.abc import Mapping
from typing import Any


def without_nan(plain: Mapping[str, Any]) -> dict[str, Any]:
    """None where a float is not finite."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in plain.items()}


def with_nan(plain: Mapping[str, Any]) -> dict[str, Any]:
    """NaN where there is None."""
    return {k: math.nan if v is None else v for k, v in plain.items()}
