"""Vectors in, numbers out: every metric on vectors takes arrays, and what it cannot use is named."""

import math
from typing import Any

import numpy as np
import pytest

from textassay.errors import InputError
from textassay.metrics.on_arrays import measure_vectors
from textassay.metrics.registry import all_metrics
from textassay.metrics.vectors.frechet import frechet
from textassay.metrics.vectors.moments import Moments
from textassay.metrics.vectors.prdc import density
from textassay.metrics.vectors.vectors import Vectors

NAMES = sorted(metric.name for metric in all_metrics().values() if metric.family == "embedding" and metric.on_samples)
RNG = np.random.default_rng(0)
ONE, OTHER = RNG.standard_normal((40, 6)), RNG.standard_normal((50, 6))


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_on_vectors_takes_arrays(name: str) -> None:
    metric = all_metrics()[name]
    arrays = (ONE, OTHER) if metric.compares else (ONE,)
    found = measure_vectors(name, *arrays)
    views = [
        (Vectors if kind is Vectors else Moments.of_values)(array.astype(np.float32))
        for kind, array in zip(metric.views, arrays, strict=True)
    ]
    assert found == metric.function(*views)
    assert measure_vectors(name, *(array.tolist() for array in arrays)) == found
    zeros = [array.copy() for array in arrays]
    for array in zeros:
        array[:3] = 0
    assert math.isfinite(measure_vectors(name, *zeros))


def test_options_are_those_of_the_metric() -> None:
    pair = Vectors(ONE.astype(np.float32)), Vectors(OTHER.astype(np.float32))
    assert measure_vectors("density", ONE, OTHER, k=3, variant="released") == density(*pair, k=3, variant="released")
    moments = [Moments.of_values(array.astype(np.float32)) for array in (ONE, OTHER)]
    assert measure_vectors("frechet", ONE, OTHER, form="squared") == frechet(*moments, form="squared")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("precison", ONE, OTHER), {}, "no metric on vectors 'precison'; did you mean 'precision'"),
        (("bleu", ONE, OTHER), {}, "no metric on vectors 'bleu'"),
        (("precision", ONE), {}, "no references given"),
        (("vendi", ONE, OTHER), {}, "takes candidates only"),
        (("precision", ONE, OTHER[:, :5]), {}, "6 in candidates and 5 in references"),
        (("precision", ONE[0], OTHER), {}, r"candidates: an array of shape \(6,\)"),
        (("precision", ONE, OTHER[:0]), {}, "references: 0 rows; precision with these options needs 6 or more"),
        (("precision", ONE[:, :0], OTHER[:, :0]), {}, "rows of no numbers"),
        (("precision", [[1.0], [1.0, 2.0]], OTHER), {}, "rows of different lengths"),
        (("precision", ONE.astype(str), OTHER), {}, "wanted real numbers"),
        (("precision", ONE > 0, OTHER), {}, "wanted real numbers"),
        (("precision", ONE, OTHER * 1e300), {}, "references: row 0 has .* in column 0; wanted finite numbers"),
        (("precision", ONE[:5], OTHER), {}, "candidates: 5 rows"),
        (("precision", ONE, OTHER), {"n": 3}, "no option of precision 'n'"),
        (("precision", ONE, OTHER), {"k": 0}, "k is 0; wanted a whole number from 1 to 100"),
        (("precision", ONE, OTHER), {"k": 2.5}, "k is 2.5; wanted a whole number"),
        (("precision", ONE, OTHER), {"variant": "closed"}, "variant is 'closed'; wanted one of 'paper', 'released'"),
        (("vendi", ONE), {"q": math.nan}, "q is nan; wanted a number from 0.1 to inf"),
    ],
)  # fmt: skip
def test_bad_input_is_named(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure_vectors(*arguments, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_no_metric_takes_what_is_not_finite(name: str, value: float) -> None:
    broken = ONE.copy()
    broken[7, 2] = value
    arrays = (broken, OTHER) if all_metrics()[name].compares else (broken,)
    with pytest.raises(InputError, match=f"candidates: row 7 has {value} in column 2; wanted finite numbers"):
        measure_vectors(name, *arrays)
