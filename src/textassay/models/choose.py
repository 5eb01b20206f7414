"""Choose a model: by a file or a name (`get_model`), or by a kind to train (`train_model`).

A kind that can be trained is a line in `TRAINED`: a module with a function `train(texts, *, ...)`, and options that the
kind fixes (`module:option=value`). Its keyword-only parameters are the options, written as `ngram:order=4:min_count=2`.
Parameters with these names are not options but come from the caller: `validation` (texts or None), `vocabulary`,
`seed`, `checkpoint` (a path or None) and `progress` (called with what is being done, finished steps and all steps, or
None).
"""

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from textassay.corpus.printable import quoted, shortened
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.corpus.tables import AnySource
from textassay.errors import InputError
from textassay.models.base import Generator, Progress
from textassay.models.storage import EXTENSION, Storable, load, save
from textassay.models.vocabulary import Vocabulary

# The module of each kind of model that can be trained, and of each model that is opened by `NAME:...`.
TRAINED: dict[str, str] = {
    "maligan": "textassay.models.neural.adversarial:reward=maligan",
    "rankgan": "textassay.models.neural.adversarial:reward=rankgan",
    "seqgan": "textassay.models.neural.adversarial:reward=seqgan",
    "gpt2": "textassay.models.neural.gpt2",
    "lstm": "textassay.models.neural.lstm",
    "ngram": "textassay.models.ngrams.ngram",
}
OPENED: dict[str, str] = {
    "hf": "textassay.models.neural.hugging_face",
    "openai": "textassay.models.openai_endpoint",
    "oracle": "textassay.models.oracle",
    "retrieval": "textassay.models.retrieval",
}
# How the names of opened models are written.
FORMS = {
    "oracle": "oracle:DIR or oracle:random[:deviation=X:embedding=N:seed=N]",
    "hf": "hf:NAME_OR_PATH[:max_tokens=N]",
    "openai": "openai:URL#MODEL",
    "retrieval": "retrieval:FILE",
}
_FROM_CALLER = ("validation", "vocabulary", "seed", "checkpoint", "progress")


def get_model(spec: str | os.PathLike[str]) -> Generator:
    """The model of a file or of a name.

    Parameters
    ----------
    spec
        The path of a model file (`.safetensors`), or a name such as `retrieval:FILE`.

    Returns
    -------
    Generator
        A model that generates and scores texts.
    """
    name = os.fsdecode(spec)
    kind, colon, rest = name.partition(":")
    if colon and rest and kind in OPENED and not os.path.exists(name):
        model: Generator = import_module(OPENED[kind]).opened(rest)
        return model
    if name.endswith(EXTENSION) or os.path.exists(name):
        return load(name)
    wanted = [f"a {EXTENSION} file", *(FORMS[known] for known in OPENED)]
    raise InputError(f"{shortened(name)}: no such model; wanted {' or '.join(wanted)}")


def train_model(
    spec: str,
    texts: AnySource | Sample,
    *,
    validation: AnySource | Sample | None = None,
    vocabulary: Vocabulary | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Generator:
    """Train a model on texts.

    Parameters
    ----------
    spec
        The kind of model and its options, such as `ngram:order=4:min_count=2`.
    texts
        Training texts: a list, a path, a `Sample` or a column; blank texts are left out.
    validation
        Texts for early stopping, for kinds that use them.
    vocabulary
        The words of the model, for `ngram`, `lstm` and `gpt2`; by default they are learned from the training texts.
    seed
        The seed of the random numbers, for kinds that use them. The same seed gives the same model.
    checkpoint
        A file for the state of a long training, which continues from it; for kinds that use one.
    progress
        Called with what is being done, the number of finished steps and the number of all steps.

    Returns
    -------
    Generator
        The trained model.

    Examples
    --------
    >>> import numpy as np
    >>> model = train_model("ngram:order=3", ["a cat sat", "a dog sat", "a dog ran"])
    >>> model.sample(2, top_k=1, rng=np.random.default_rng(0))
    ['a dog sat', 'a dog sat']
    """
    function, options = parse_training(spec)
    texts, validation = _read(texts), None if validation is None else _read(validation)
    given = {
        "validation": validation, "vocabulary": vocabulary, "seed": seed, "checkpoint": checkpoint, "progress": progress
    }  # fmt: skip
    taken = set(inspect.signature(function).parameters)
    kind = spec.partition(":")[0]
    for name in ("validation", "vocabulary", "checkpoint"):
        if given[name] is not None and name not in taken:
            raise InputError(f"model {kind!r} uses no {name}; wanted none")
    model: Generator = function(texts, **{name: given[name] for name in _FROM_CALLER if name in taken}, **options)
    return model


def _read(source: AnySource | Sample) -> Sample | Iterable[str]:
    """The texts of a path; anything else is texts already."""
    return read_sample(source) if isinstance(source, str | os.PathLike) else source


def save_model(model: Generator, path: str | os.PathLike[str]) -> None:
    """Save a model that was trained or loaded.

    Parameters
    ----------
    model
        A model with weights or counts of its own.
    path
        The file, whose name ends in `.safetensors`. It is replaced completely or not changed at all.

    Returns
    -------
    None
    """
    if not all(hasattr(model, name) for name in ("kind", "config", "tensors")):
        raise InputError(f"model {model.name}: has nothing to save; wanted a trained model")
    save(cast("Storable", model), path)


def parse_training(spec: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The training function of a kind and the values of its options that the spec sets."""
    kind, *settings = (part.strip() for part in spec.split(":"))
    if kind not in TRAINED:
        raise _unknown(kind, TRAINED, "kind of model to train")
    module, *fixed = TRAINED[kind].split(":")
    function: Callable[..., Any] = import_module(module).train
    known = training_options(function)
    options: dict[str, Any] = {}
    for setting in (*fixed, *settings):
        name, equals, value = setting.partition("=")
        if not equals or not value:
            raise InputError(f"model {shortened(spec, 80)!r}: {shortened(setting, 40)!r}; wanted option=value")
        if name not in known:
            raise _unknown(name, known, f"option of model {kind!r}")
        if name in options:
            raise InputError(f"model {shortened(spec, 80)!r}: option {name!r} is given twice; wanted one value")
        options[name] = _value(value, known[name], f"model {kind!r}: option {name!r}")
    return function, options


def training_options(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the options of a training function, by name."""
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    wanted = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name not in _FROM_CALLER]
    return {name: hints[name] for name in wanted}


def _value(text: str, kind: Any, what: str) -> Any:
    """The value of an option, of the first of its types that it can have."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for each in kinds:
        try:
            return _READERS[each](text)
        except (KeyError, ValueError):
            continue
    names = " or ".join(_NAMES[each] for each in kinds)
    raise InputError(f"{what} is {shortened(text, 40)!r}; wanted {names}")


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _nothing(text: str) -> None:
    if text.lower() != "none":
        raise ValueError


_READERS: dict[Any, Callable[[str], Any]] = {type(None): _nothing, bool: _truth, int: int, float: float, str: str}
_NAMES = {type(None): "none", bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _unknown(name: str, known: Mapping[str, object], what: str) -> InputError:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return InputError(f"no {what} {shortened(name, 40)!r}; there are: {quoted(list(known))}{hint}")
