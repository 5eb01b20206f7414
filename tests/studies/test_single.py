"""`textassay.metrics.NAME`: one metric on texts, vectors, items and ratings."""

import inspect
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from textassay import compare, metrics
from textassay.errors import InputError
from textassay.metrics.registry import all_metrics, find_metric
from textassay.metrics.vectors.frechet import frechet
from textassay.metrics.vectors.prdc import density
from textassay.metrics.vectors.vectors import Moments, Vectors

NAMES = sorted(metric.name for metric in all_metrics().values() if metric.family == "embedding" and metric.on_samples)
WORDS = ("red", "blue", "green", "small", "big", "old", "new", "fast", "slow", "calm")
RNG = np.random.default_rng(0)
ONE, OTHER = RNG.standard_normal((40, 6)), RNG.standard_normal((50, 6))


def measure_vectors(name: str, *arrays: Any, **options: Any) -> float:
    """The estimate alone."""
    return float(getattr(metrics, name)(*arrays, n_resamples=0, **options).estimate)


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
        (("precision", ONE, OTHER[:, :5]), {}, "6 in candidates and 5 in references"),
        (("precision", ONE[0], OTHER), {}, r"candidates: an array of shape \(6,\)"),
        (("precision", ONE[:, :0], OTHER[:, :0]), {}, "rows of no numbers"),
        (("precision", [[1.0], [1.0, 2.0]], OTHER), {}, "rows of different lengths"),
        (("precision", ONE.astype(str), OTHER), {}, "wanted real numbers"),
        (("precision", ONE > 0, OTHER), {}, "wanted real numbers"),
        (("precision", ONE, OTHER * 1e300), {}, "references: row 0 has .* in column 0; wanted finite numbers"),
        (("precision", ONE, OTHER), {"k": 0}, "k=0; wanted a whole number from 1 to 100"),
        (("precision", ONE, OTHER), {"k": 2.5}, "k=2.5; wanted a whole number"),
        (("precision", ONE, OTHER), {"variant": "closed"}, "variant='closed'; wanted one of 'paper', 'released'"),
        (("vendi", ONE), {"q": math.nan}, "q=nan; wanted a number from 0.1 to inf"),
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


def test_arrays_get_intervals_and_tests_like_texts() -> None:
    found = metrics.precision(ONE, OTHER, k=3, n_resamples=99)
    assert found.interval is not None
    assert found.p_value is not None
    assert found.n == 40
    assert "enc:array:6" in found.signature


def test_too_few_rows_are_undefined_with_the_reason() -> None:
    found = metrics.precision(ONE[:5], OTHER)
    assert math.isnan(found.estimate)
    assert found.undefined == "5 texts in the candidate; needs 6 or more"


def test_a_metric_on_texts_is_that_of_compare() -> None:
    real = [f"a {word} dog runs" for word in WORDS] * 3
    model = [f"the {word} cat sits" for word in WORDS] * 3
    found = metrics.bleu(model, real, n=2, n_resamples=99)
    table = compare(real, {"x": model}, metrics="bleu:n=2", n_resamples=99)
    assert found.estimate == table["x"]["bleu"].estimate
    assert found.interval == table["x"]["bleu"].interval
    assert metrics.distinct(model, n=1).estimate == pytest.approx(13 / 120)


def test_an_item_has_candidates_and_references() -> None:
    found = metrics.score(["a dog runs"], ["a dog runs", "the dog ran"], distance="rouge_l", over="max")
    assert found.estimate == 1.0
    with pytest.raises(InputError, match="candidates is a string; wanted a list of texts"):
        metrics.trm("a dog", ["a dog", "a cat"])


def test_unknown_names_and_options_are_python_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'precison'"):
        _ = metrics.precison
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        metrics.precision(ONE, OTHER, m=3)
    with pytest.raises(InputError, match="vendi: 2 samples without a name; wanted candidates, and options by name"):
        metrics.vendi(ONE, OTHER)
    with pytest.raises(InputError, match="oracle_nll: 2 samples without a name; wanted candidates, and options"):
        metrics.oracle_nll(["a", "b"], ["a", "b"], oracle="oracle:random")
    with pytest.raises(TypeError, match="missing a required argument: 'references'"):
        metrics.precision(ONE)


@pytest.mark.parametrize("name", sorted(all_metrics()))
def test_every_metric_has_a_documented_function(name: str) -> None:
    function = getattr(metrics, name)
    assert function.__name__ == name
    assert function.__doc__
    options = inspect.signature(function).parameters
    assert set(all_metrics()[name].options) < set(options)
    assert name in dir(metrics)


BAD_SETTINGS: dict[str, list[Any]] = {
    "level": [95, "a"],
    "n_resamples": [-1, "many"],
    "seed": [-1, "a"],
    "tokenizer": ["no such tokenizer"],
    "encoder": ["no such encoder"],
    "document_frequencies": ["no such file.json"],
    "train": [None],
}


@pytest.mark.parametrize("name", sorted(all_metrics()))
def test_errors_of_every_metric_and_option_name_no_option_of_the_command_line(name: str) -> None:
    function = getattr(metrics, name)
    parameters = inspect.signature(function).parameters
    data = [["a red dog", "a blue cat"] for each in parameters.values() if each.default is each.empty]
    needs_training = "train" in find_metric(name).roles
    for option in [each for each in parameters.values() if each.kind is each.KEYWORD_ONLY]:
        for value in BAD_SETTINGS.get(option.name, [object(), "no such value", -7.5]):
            message = ""
            try:
                message = str(function(*data, **{"n_resamples": 0} | {option.name: value}).undefined)
            except InputError as error:
                message = f"refused: {error}"
            assert not re.search(r"--[a-z]", message), message
            must = option.name in ("level", "n_resamples", "seed") or (needs_training and option.name == "train")
            assert message.startswith("refused") or not must, (option.name, value)


def test_a_value_that_means_little_has_a_note() -> None:
    """As `compare` has: the encoder gives all of them one vector, and smoothing alone decides the score."""
    words = metrics.bleu(["yes"] * 30, ["yes"] * 30)
    assert words.estimate == pytest.approx(0.1, abs=0.1)
    assert "fewer words than n" in words.notes[0]
    assert "note: 100 % of the texts" in str(words)
    assert type(words).from_dict(words.to_dict(), n=words.n) == words
    same = np.ones((10, 3))
    assert metrics.vendi(same).notes == ()
    unknown = metrics.vendi(list("abcdefghij"), encoder=_Blind())
    assert "the vector of another one" in unknown.notes[0]
    assert metrics.bleu(["a cat sat down here"] * 3, ["a cat sat down there"] * 3).notes == ()


class _Blind:
    """An encoder that knows no word."""

    name, dimension = "blind", 2

    def encode(self, texts: Sequence[str], /) -> np.ndarray[Any, Any]:
        return np.ones((len(texts), 2), np.float32)
