"""Pairs of functions that a user gives in Python."""

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.values import is_number
from textassay.errors import InputError, Setting
from textassay.studies.frontier.compatibility import GRID, check_conditions
from textassay.studies.frontier.pairs import Diversity, Function, Pair, Quality

_NEXT_TO_ZERO = 1e-12


def own_pair(
    f: Function,
    g: Function,
    *,
    slope: Function | None = None,
    slope_at_zero: float | None = None,
    name: str = "own/own",
) -> Pair:
    """A pair of functions of the user, quality f and diversity g, for `frontier`.

    Parameters
    ----------
    f, g
        Functions of arrays of numbers that return arrays. Functions that do not satisfy the conditions of Theorem 1 are
        refused. They get arrays of their own and may change them.
    slope
        The derivative of g; by default it is computed by finite differences, which gives about ten digits.
    slope_at_zero
        g'(0); by default the slope at 1e-12.
    name
        What to call the pair.

    Returns
    -------
    Pair
        The pair, as an element of `pairs` in `frontier`.

    Examples
    --------
    >>> own_pair(np.sqrt, lambda x: -x**2, name="root/nrr").name
    'root/nrr'
    """
    f, g = _apart(f), _apart(g)
    derivative = finite_difference(g) if slope is None else _apart(slope)
    for letter, function in (("f", f), ("g", g), ("slope", derivative)):
        _require_numbers(letter, function)
    if not isinstance(name, str):
        raise InputError(Setting("name", name), "; wanted a name such as root/nrr")
    quality, _, diversity = name.partition("/")
    at_zero = float(derivative(np.array([_NEXT_TO_ZERO]))[0])
    if slope_at_zero is not None:
        at_zero = _checked_slope(slope_at_zero, near=at_zero)
    with np.errstate(all="ignore"):
        finite = bool(np.isfinite(f(np.array([0.0]))).all())
    found = Pair(
        Quality(quality, f, finite_at_zero=finite),
        Diversity(diversity or "own", g=_continued(g), slope=derivative, slope_at_zero=at_zero),
    )
    _require_conditions(found)
    return found


def _apart(function: Function) -> Function:
    """The function on a copy of its argument, with a copy as its result: it may work in place, or keep an array."""

    def apart(x: F64) -> F64:
        return np.array(function(np.array(x, dtype=np.float64)), dtype=np.float64)

    return apart if callable(function) else function


def _checked_slope(slope: float, *, near: float) -> float:
    """g'(0) as a number; the slope of a concave function is largest at 0."""
    if not is_number(slope) or np.isnan(float(slope)):
        raise InputError(Setting("slope_at_zero", slope), "; wanted the slope of g at 0: a number or inf")
    if slope < near - 1e-3 * max(abs(near), 1.0):
        seen = Setting("slope_at_zero", slope)
        raise InputError(seen, f", but the slope of g is {near:.3g} at {_NEXT_TO_ZERO:g}; wanted at least this slope")
    return float(slope)


def _continued(g: Function) -> Function:
    """g, with its limit in place of a value at 0 that is not a number, such as that of -x log x."""

    def continued(x: F64) -> F64:
        with np.errstate(all="ignore"):
            values = np.asarray(g(x))
            return np.where(np.isfinite(values), values, g(np.maximum(x, _NEXT_TO_ZERO**2)))

    return continued


def finite_difference(g: Function) -> Function:
    """The derivative of g inside (0, 1) by the five-point rule."""

    def slope(x: F64) -> F64:
        inside = np.clip(x, _NEXT_TO_ZERO, 1 - 1e-9)
        step = 1e-3 * np.minimum(inside, 1 - inside)
        near, far = g(inside + step) - g(inside - step), g(inside + 2 * step) - g(inside - 2 * step)
        return (8 * near - far) / (12 * step)

    return slope


def _require_conditions(pair: Pair) -> None:
    """Refuse functions of the user that are not a quality and a diversity, and state where they fail."""
    found = check_conditions(pair)
    if found.quality is not None:
        raise InputError(f"f does not increase {found.quality}; wanted a strictly increasing function on (0, 1)")
    if found.diversity is not None:
        raise InputError(f"g is not concave {found.diversity}; wanted a strictly concave function on (0, 1)")


def _require_numbers(name: str, function: Function) -> None:
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(GRID), dtype=np.float64)
    except Exception as error:
        raise InputError(f"{name} fails on an array of probabilities: {type(error).__name__}: {error}") from None
    if values.shape != GRID.shape:
        raise InputError(f"{name} returns shape {values.shape} for {GRID.shape}; wanted one number per probability")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{name} is {values[bad[0]]} at {GRID[bad[0]]:.3g}; wanted a finite number on (0, 1)")
