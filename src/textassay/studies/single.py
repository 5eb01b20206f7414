"""One metric on its own: the functions of `textassay.metrics`, on texts, vectors, items or ratings.

>>> from textassay import metrics
>>> metrics.distinct(["a red bus", "a red car"], n=1, n_resamples=0).estimate
0.6666666666666666
>>> metrics.score(["a dog runs"], ["a dog runs", "the dog ran"], distance="rouge_l", over="max").estimate
1.0
"""

import hashlib
import inspect
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textassay.corpus.arrays import F32
from textassay.corpus.printable import shortened
from textassay.corpus.process_settings import single_threaded_products
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.corpus.values import is_whole
from textassay.encoders.base import Encoder
from textassay.encoders.remembered import Remembered, show_all
from textassay.errors import InputError, Setting
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.measurable import choose, measurable
from textassay.metrics.registry import Metric, Option, Request, find_metric
from textassay.metrics.views import Material, Settings

_WANTED_ROWS = "wanted one row per text and one column per dimension"
_SAMPLE_SETTINGS = {
    "train": None, "tokenizer": "words", "lowercase": False, "encoder": None, "level": 0.95, "n_resamples": 999,
    "seed": 0,
}  # fmt: skip
_ITEM_SETTINGS = {
    "tokenizer": "plain", "encoder": None, "document_frequencies": None, "level": 0.95, "n_resamples": 999, "seed": 0,
}  # fmt: skip
_RATING_SETTINGS = {"log_probs": None, "model": None, "scale": None, "level": 0.95, "n_resamples": 999, "seed": 0}


def metric_function(name: str) -> Callable[..., Result]:
    """The function of `textassay.metrics` that measures one metric and returns a `Result`."""
    metric = find_metric(name)
    if metric.on_samples:
        return _described(metric, _on_samples, _positions(metric), _SAMPLE_SETTINGS)
    if metric.on_items:
        return _described(metric, _on_items, ("candidates", "references"), _ITEM_SETTINGS)
    return _described(metric, _on_ratings, ("ratings",), _RATING_SETTINGS)


def _positions(metric: Metric) -> tuple[str, ...]:
    return ("candidates", "references") if metric.compares else ("candidates",)


def _described(
    metric: Metric, run: Callable[..., Result], positions: Sequence[str], settings: dict[str, Any]
) -> Callable[..., Result]:
    """The function with a signature of its own: data, options of the metric, settings of the run."""
    options = {option.name: option.default for option in metric.all_options.values()}
    signature = inspect.Signature(
        [
            *(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in positions),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
                for name, default in (options | settings).items()
            ),
        ],
        return_annotation=Result,
    )

    def function(*args: Any, **kwargs: Any) -> Result:
        if len(args) > len(positions):
            wanted = f"wanted {' and '.join(positions)}, and options by name"
            raise InputError(f"{metric.name}: {len(args)} samples without a name; {wanted}")
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        Plan(given["level"], given["n_resamples"], given["seed"]).checked()
        data = [given.pop(name) for name in positions]
        return run(_request(metric, {name: given.pop(name) for name in options}), *data, **given)

    function.__name__ = function.__qualname__ = metric.name
    function.__module__ = "textassay.metrics"
    function.__doc__ = inspect.getdoc(metric.function)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _request(metric: Metric, values: dict[str, Any]) -> Request:
    """The request for these values of options; an option of another variant must have its default value."""
    known = metric.all_options
    checked = {name: _checked(known[name], value) for name, value in values.items()}
    chosen = metric.under(checked)
    for name, value in checked.items():
        if name not in chosen.options and value != known[name].default:
            owners = [f"{option}={one!r}" for (option, one), other in metric.variants.items() if name in other.options]
            raise InputError(f"{name}={value!r} needs {' or '.join(owners)}")
    for name in chosen.required:
        if not checked[name]:
            raise InputError(f"{metric.name} needs a model: {name}=..., a model or the path of a model file")
    return Request(chosen, {name: value for name, value in checked.items() if name in chosen.options})


def _on_samples(
    request: Request,
    candidates: Any,
    references: Any = None,
    *,
    train: Any,
    tokenizer: str,
    lowercase: bool,
    encoder: str | Encoder | None,
    level: float,
    n_resamples: int,
    seed: int,
) -> Result:
    measurable([request], [request.metric.name], Setting("train"), given=train is not None)
    given = {"candidate": candidates, "reference": references, "train": train}
    given = {role: data for role, data in given.items() if data is not None}
    seen: Encoder | None
    if request.metric.reads_vectors and any(map(_is_array, given.values())):
        samples, seen = _rows_as_samples({f"{role}s": data for role, data in given.items()})
    else:
        samples = [data if isinstance(data, Sample) else read_sample(data, name=role) for role, data in given.items()]
        seen = _encoder(request, encoder, samples)
    settings = Settings(get_tokenizer(tokenizer, lowercase=lowercase), seen)
    roles = {role: Material(sample, settings) for role, sample in zip(given, samples, strict=True)}
    with single_threaded_products():
        result = measure([request], roles, plan=Plan(level, n_resamples, seed)).results[0]
    remarks = request.metric.remarks(result.parts) if request.metric.remarks else ()
    return replace(result, notes=(*result.notes, *remarks, *(seen.notes if isinstance(seen, Remembered) else ())))


def _encoder(request: Request, encoder: str | Encoder | None, samples: Sequence[Sample]) -> Encoder | None:
    choice = choose([request], encoder, named=[request.metric.name], families=())
    if choice.encoder is None:
        return None
    named = {f"{index}": sample for index, sample in enumerate(samples)}
    return show_all(choice.encoder, reference=samples[-1], candidates=named, used=samples)


def _on_items(
    request: Request,
    candidates: Sequence[str],
    references: Sequence[str],
    *,
    tokenizer: str,
    encoder: str | Encoder | None,
    document_frequencies: str | None,
    level: float,
    n_resamples: int,
    seed: int,
) -> Result:
    """The candidates and references of one item."""
    from textassay.studies.conditional.study import conditional

    for name, texts in (("candidates", candidates), ("references", references)):
        if isinstance(texts, str):
            raise InputError(f"{name} is a string; wanted a list of texts")
    found = conditional(
        [{"candidates": list(candidates), "references": list(references)}],
        metrics=[_specification(request)],
        tokenizer=tokenizer,
        encoder=encoder,
        document_frequencies=document_frequencies,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )
    return found.systems[0].items[0].results[0]


def _on_ratings(request: Request, ratings: Any, **settings: Any) -> Result:
    from textassay.studies.huse.study import huse

    return huse(ratings, metrics=[_specification(request)], stability=False, **settings).results[0]


def _specification(request: Request) -> str:
    return ":".join([request.metric.name, *(f"{name}={value}" for name, value in request.options.items())])


def _checked(option: Option, value: Any) -> object:
    """The value of an option, if it is one of its choices or within its limits."""
    if option.choices:
        if value not in option.choices:
            raise _bad(option, value, f"one of {', '.join(map(repr, option.choices))}")
        return value
    if option.kind is str:
        if option.opens is None and not isinstance(value, str):
            raise _bad(option, value, "a text")
        return value if option.opens is None or value == "" else _opened(option, value)
    low, high = option.limits or ((1, 100) if option.kind is int else (-math.inf, math.inf))
    if option.kind is int:
        if not is_whole(value) or not low <= int(value) <= high:
            raise _bad(option, value, f"a whole number from {low:g} to {high:g}")
        return int(value)
    is_real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_real or not low <= float(value) <= high:
        raise _bad(option, value, f"a number from {low:g} to {high:g}")
    return float(value)


def _opened(option: Option, value: Any) -> str:
    """The path or name of a model that can be opened; a model of the caller is known by its own name."""
    assert option.opens is not None
    value = os.fsdecode(value) if isinstance(value, os.PathLike) else value
    name = option.opens(value)
    return value if isinstance(value, str) else name


def _bad(option: Option, value: object, wanted: str) -> InputError:
    return InputError(f"{option.name}={shortened(repr(value), 40)}; wanted {wanted}")


def _is_array(data: Any) -> bool:
    """Whether the data are numbers in rows, such as an array or a list of lists of numbers."""
    if isinstance(data, np.ndarray):
        return data.dtype.kind != "O"
    first = data[0] if isinstance(data, (list, tuple)) and data else None
    return isinstance(first, (list, tuple, np.ndarray))


@dataclass(frozen=True, eq=False)
class _Rows:
    """An encoder that returns the row behind each digest."""

    rows: dict[str, F32]
    dimension: int

    @property
    def name(self) -> str:
        return f"array:{self.dimension}"

    def encode(self, texts: Sequence[str], /) -> F32:
        return np.stack([self.rows[text] for text in texts])


def _rows_as_samples(arrays: dict[str, Any]) -> tuple[list[Sample], _Rows]:
    """Samples in which the digest of a row takes the place of a text, and the encoder that returns the rows."""
    checked = {name: _checked_rows(name, array) for name, array in arrays.items()}
    widths = {name: rows.shape[1] for name, rows in checked.items()}
    if len(set(widths.values())) > 1:
        seen = " and ".join(f"{width} in {name}" for name, width in widths.items())
        raise InputError(f"rows of different lengths: {seen}; wanted vectors of one encoder")
    samples: list[Sample] = []
    known: dict[str, F32] = {}
    for name, rows in checked.items():
        digests = [hashlib.blake2b(row.tobytes(), digest_size=16).hexdigest() for row in rows]
        known |= dict(zip(digests, rows, strict=True))
        samples.append(Sample.of(digests, name=name))
    return samples, _Rows(known, next(iter(widths.values())))


def _checked_rows(name: str, array: Any) -> F32:
    """The rows in single precision, if they are finite numbers."""
    try:
        values = np.asarray(array)
    except ValueError:
        raise InputError(f"{name}: rows of different lengths; {_WANTED_ROWS}") from None
    if values.ndim != 2:
        raise InputError(f"{name}: an array of shape {values.shape}; {_WANTED_ROWS}")
    if values.dtype.kind not in "fiu":
        raise InputError(f"{name}: an array of {values.dtype}; wanted real numbers")
    if not values.shape[1]:
        raise InputError(f"{name}: rows of no numbers; {_WANTED_ROWS}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if bad.size:
        row, numbers = int(bad[0]), values[bad[0]]
        index = int(np.flatnonzero(~np.isfinite(single[row]))[0])
        raise InputError(f"{name}: row {row} has {numbers[index]} in column {index}; wanted finite numbers")
    return single
