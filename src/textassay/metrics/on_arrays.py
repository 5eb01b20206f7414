"""Metrics on vectors that are at hand: plain arrays in, one number out.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> candidates, references = rng.standard_normal((50, 4)), rng.standard_normal((60, 4))
>>> round(measure_vectors("precision", candidates, references, k=3), 2)
0.98
"""

import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textassay.corpus.arrays import F32
from textassay.corpus.printable import shortened
from textassay.corpus.values import is_whole
from textassay.errors import InputError
from textassay.metrics.registry import Metric, Option, all_metrics
from textassay.metrics.vectors.moments import Moments
from textassay.metrics.vectors.vectors import Vectors

_VIEWS: dict[type, Callable[[F32], Any]] = {Vectors: Vectors, Moments: Moments.of_values}


def measure_vectors(
    metric: str, candidates: ArrayLike, references: ArrayLike | None = None, /, **options: object
) -> float:
    """The estimate of a metric of the family `embedding`.

    Parameters
    ----------
    metric
        The name, such as `"precision"`, `"mauve"` or `"vendi"`.
    candidates, references
        One row per text and one column per dimension, in numbers that single precision can hold; they are rounded to
        it. Rows need not have length 1, and a row of zeros is allowed: `mauve`, `frontier_integral` and `vendi` bring
        rows to length 1 and take rows of zeros as one kind of text, all other metrics see the rows as they are.
        A metric that describes one sample, such as `"vendi"`, takes no references.
    **options
        Options of the metric, such as `k=3`; `textassay metrics NAME` lists them.

    Returns
    -------
    float
        The value, or NaN where the metric is undefined on these vectors.

    Raises
    ------
    InputError
        Where the name or an option is unknown, an option is out of range, or an array has another shape, too few rows,
        or a number that is NaN or infinite.
    """
    chosen = _find(metric)
    settings = {name: option.default for name, option in chosen.options.items()}
    for name, value in options.items():
        _check(name, chosen.options, f"option of {metric}")
        settings[name] = _checked(chosen.options[name], value)
    given: dict[str, ArrayLike | None] = {"candidates": candidates, "references": references}
    if references is None and chosen.compares:
        raise InputError(f"{metric}: no references given; it compares candidates with references")
    if references is not None and not chosen.compares:
        raise InputError(f"{metric}: references given; it describes one sample and takes candidates only")
    samples = {name: _rows(name, array) for name, array in given.items() if array is not None}
    _check_sizes(chosen, samples, chosen.minimum_for(settings))
    views = [_VIEWS[kind](rows) for kind, rows in zip(chosen.views, samples.values(), strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(chosen.function(*views, **settings))


def _find(name: str) -> Metric:
    known = {
        name: metric for name, metric in all_metrics().items() if metric.views and set(metric.views) <= set(_VIEWS)
    }
    _check(name, known, "metric on vectors")
    return known[name]


def _check(name: str, known: Iterable[str], what: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
        raise InputError(f"no {what} {shortened(repr(name), 40)}; {hint}")


def _checked(option: Option, value: Any) -> object:
    """The value of an option, if it is one of its choices or within its limits."""
    if option.choices:
        if value not in option.choices:
            raise _bad(option, value, f"one of {', '.join(map(repr, option.choices))}")
        return value
    low, high = option.limits or ((1, 100) if option.kind is int else (-math.inf, math.inf))
    if option.kind is int:
        if not is_whole(value) or not low <= int(value) <= high:
            raise _bad(option, value, f"a whole number from {low:g} to {high:g}")
        return int(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not low <= float(value) <= high
    ):
        raise _bad(option, value, f"a number from {low:g} to {high:g}")
    return float(value)


def _bad(option: Option, value: object, wanted: str) -> InputError:
    return InputError(f"{option.name} is {shortened(repr(value), 40)}; wanted {wanted}")


def _rows(name: str, array: ArrayLike) -> F32:
    """The rows in single precision, if they are finite numbers."""
    wanted = "wanted one row per text and one column per dimension"
    try:
        values = np.asarray(array)
    except ValueError:
        raise InputError(f"{name}: rows of different lengths; {wanted}") from None
    if values.ndim != 2:
        raise InputError(f"{name}: an array of shape {values.shape}; {wanted}")
    if values.dtype.kind not in "fiu":
        raise InputError(f"{name}: an array of {values.dtype}; wanted real numbers")
    if not values.shape[1]:
        raise InputError(f"{name}: rows of no numbers; {wanted}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if bad.size:
        row, numbers = int(bad[0]), values[bad[0]]
        place = int(np.flatnonzero(~np.isfinite(single[row]))[0])
        raise InputError(f"{name}: row {row} has {numbers[place]} in column {place}; wanted finite numbers")
    return single


def _check_sizes(metric: Metric, samples: dict[str, F32], fewest: int) -> None:
    for name, rows in samples.items():
        if len(rows) < fewest:
            raise InputError(f"{name}: {len(rows)} rows; {metric.name} with these options needs {fewest} or more")
    widths = {name: rows.shape[1] for name, rows in samples.items()}
    if len(set(widths.values())) > 1:
        seen = " and ".join(f"{width} in {name}" for name, width in widths.items())
        raise InputError(f"rows of different lengths: {seen}; wanted vectors of one encoder")
