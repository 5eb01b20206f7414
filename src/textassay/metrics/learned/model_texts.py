"""What metrics of language models read: the texts of a sample, their scores under an opened model, and their words."""

import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from threading import RLock
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.arrays import F64, I64
from textassay.corpus.sample import TEXT, Sample
from textassay.errors import InputError
from textassay.metrics.views import Material, Memo, Resamples
from textassay.models.base import Decoding, Generator, Scores
from textassay.models.choose import get_model

# Options of decoding: no truncation is 0 tokens and a probability of 1. The limits of options of metrics.
DECODING_LIMITS = {"temperature": (0.001, 1000.0), "top_k": (0, 999_999_999), "top_p": (0.000001, 1.0)}
_MOST_MODELS = 8
# Models of callers in Python, by their names.
_GIVEN: WeakValueDictionary[str, Any] = WeakValueDictionary()
# Models keep what they computed last, so that two threads cannot use one model at the same time.
_LOCK = RLock()


def model_name(spec: Any) -> str:
    """The name and digest of a model that is given by its path, its name, or itself; an error if there is none."""
    if isinstance(spec, str):
        return open_model(spec).name
    if not callable(getattr(spec, "log_prob", None)) or not isinstance(getattr(spec, "name", None), str):
        raise InputError(f"a {type(spec).__name__} as model; wanted a model, or the path of a model file")
    name: str = spec.name
    _GIVEN[name] = spec
    return name


def open_model(spec: str) -> Generator:
    """The model of a path or a name; opened again only if the file has changed."""
    given: Generator | None = _GIVEN.get(spec)
    if given is not None:
        return given
    try:
        file = os.stat(os.path.expanduser(spec))
        state = (file.st_mtime_ns, file.st_size)
    except (OSError, ValueError):
        state = None
    with _LOCK:
        return _opened(spec, state)


@lru_cache(maxsize=_MOST_MODELS)
def _opened(spec: str, state: tuple[int, int] | None) -> Generator:  # noqa: ARG001
    return get_model(spec)


@dataclass(frozen=True, eq=False)
class ModelTexts(Memo):
    """The texts of a sample, as models with their own tokenizers read them.

    If the sample has prompts, a text is scored after its prompt, and one that was cut off is scored without an end.
    """

    texts: pa.Array
    prompts: pa.Array | None = None
    cut_off: pa.Array | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    reads: ClassVar[tuple[str, ...]] = ("texts",)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Take the texts of a sample."""
        sample = material.sample
        return cls(sample.texts, sample.contexts, sample.cut_off)

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        return type(self)(
            pa.concat_arrays([self.texts, other.texts]),
            _merged((self.prompts, len(self)), (other.prompts, len(other)), ""),
            _merged((self.cut_off, len(self)), (other.cut_off, len(other)), False),
        )

    def scores(self, model: str, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Scores:
        """The log-probabilities of the texts under a model with a decoding setting, computed once."""
        decoding = Decoding(temperature, top_k or None, top_p)

        def make() -> Scores:
            opened = open_model(model)
            texts = self.texts if self.cut_off is None else Sample.of(self.texts, cut_off=self.cut_off)
            # Only with prompts, so that a scorer without them can be used.
            given = {} if self.prompts is None else {"prompts": pc.fill_null(self.prompts, "").to_pylist()}
            with _LOCK:
                return opened.log_prob(texts, temperature=temperature, top_k=decoding.top_k, top_p=top_p, **given)

        return self.once((model_name(model), decoding), make)

    def __len__(self) -> int:
        return len(self.texts)


def _merged(first: tuple[pa.Array | None, int], second: tuple[pa.Array | None, int], blank: Any) -> pa.Array | None:
    """Two columns as one; a column that only one side has is `blank` in the other."""
    columns = [(column, size) for column, size in (first, second)]
    found = next((column for column, _ in columns if column is not None), None)
    if found is None:
        return None
    filled = [pa.array([blank] * size, found.type) if column is None else column for column, size in columns]
    return pa.concat_arrays(filled)


@dataclass(frozen=True, eq=False)
class WordTexts(Memo):
    """The texts of a sample with one space between tokens, so that a language model has the words of the tokenizer."""

    texts: pa.Array
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Split the texts of a sample."""
        tokens = material.settings.tokenizer(material.sample.texts)
        words = tokens.vocabulary.take(pa.array(tokens.ids)).cast(TEXT)
        lists = pa.LargeListArray.from_arrays(pa.array(tokens.offsets, pa.int64()), words)
        return cls(pc.binary_join(lists, pa.scalar(" ", TEXT)).cast(TEXT))

    def merge(self, other: Self, /) -> Self:
        """These texts followed by the other texts."""
        return type(self)(pa.concat_arrays([self.texts, other.texts]))

    def __len__(self) -> int:
        return len(self.texts)


def share_unknown(*scores: Scores) -> float:
    """The share of the texts that have an unknown word under one of the models that scored them."""
    return float(np.any([each.n_unknown > 0 for each in scores], axis=0).mean())


def totals(scores: Scores, per: str) -> tuple[F64, F64]:
    """The negative log-likelihood of each text, and what it counts for in a mean: its tokens, or 1."""
    return -scores.log_probs, (scores.n_tokens if per == "token" else np.ones(len(scores))).astype(np.float64)


def ratio_without_folds(costs: F64, sizes: F64, folds: I64) -> F64:
    """The sum of the costs divided by the sum of the sizes, without each fold of texts."""
    left = costs.sum() - np.bincount(folds, costs)
    return left / (sizes.sum() - np.bincount(folds, sizes))


def ratio_under(costs: F64, sizes: F64, resamples: Resamples, side: int) -> F64:
    """The sum of the costs of pooled texts divided by the sum of their sizes, over one side of every resample."""
    mask = resamples.masks[side]
    sums = [mask @ np.bincount(resamples.units, row, minlength=resamples.n_units) for row in (costs, sizes)]
    return np.asarray(sums[0] / sums[1])
