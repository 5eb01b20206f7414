"""Roots of many falling functions at once."""

from collections.abc import Callable

import numpy as np

from textassay.corpus.arrays import F64

_STEPS = 120
_CLOSE = 2 * np.finfo(np.float64).eps


def falling_roots(function: Callable[[F64], F64], low: F64, high: F64) -> F64:
    """Where each element of a falling function is 0, between `low` (not negative there) and `high` (not positive).

    This is Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, halving elsewhere.
    """
    b, a = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    at_b, at_a = function(b), function(a)
    share = np.full_like(a, 0.5)
    best = np.where(np.abs(at_a) < np.abs(at_b), a, b)
    for _ in range(_STEPS):
        x = a + share * (b - a)
        at_x = function(x)
        same = np.sign(at_x) == np.sign(at_a)
        c, at_c = np.where(same, a, b), np.where(same, at_a, at_b)
        b, at_b = np.where(same, b, a), np.where(same, at_b, at_a)
        a, at_a = x, at_x
        best = np.where(np.abs(at_a) < np.abs(at_b), a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = (_CLOSE * np.abs(best) + 1e-300) / np.abs(b - a)
            done = (least > 0.5) | (at_a == 0) | (at_b == 0) | ~np.isfinite(least)
            if done.all():
                break
            share = _next_share(a, b, c, at_a, at_b, at_c)
        share = np.where(done, 0.0, np.clip(share, least, 1 - least))
    return best


def _next_share(a: F64, b: F64, c: F64, at_a: F64, at_b: F64, at_c: F64) -> F64:
    """Where to go between a and b; half of the way unless the interpolation stays inside."""
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
    bent = at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
    return np.where(safe & np.isfinite(bent), bent, 0.5)
