"""Transformer encoders: any sentence-transformers or Hugging Face model, loaded when first needed."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.encoders import hf_model, st_model
from textassay.encoders.base import LoadedModel, equal_length_batches, filled, require, run_batches
from textassay.encoders.hf_model import POOLS, load_counter, load_hf
from textassay.encoders.model_files import ModelFolder, bad_model, find_model
from textassay.encoders.st_model import load_st, load_st_counter
from textassay.encoders.windows import (
    BEGINNING,
    DEFAULT_WINDOWS,
    TokenCounter,
    averaged,
    check_windows,
    chunks,
    parts_of,
)
from textassay.errors import InputError


@dataclass(frozen=True, eq=False)
class TransformerEncoder:
    """An encoder whose name comes from the files of its model; the model is loaded on first use.

    The bytes of a vector do not depend on the other texts or on the number of workers. A text above the token limit of
    the model is read in at most `windows` windows.
    """

    name: str
    known_dimension: int | None = field(repr=False)
    load: Callable[[], LoadedModel] = field(repr=False)
    workers: int | None = field(default=None, repr=False)
    windows: int = BEGINNING
    load_counter: Callable[[], TokenCounter] | None = field(default=None, repr=False)
    _turn: Lock = field(default_factory=Lock, repr=False)
    _models: list[LoadedModel] = field(default_factory=list, repr=False)
    _counters: list[TokenCounter] = field(default_factory=list, repr=False)

    @property
    def dimension(self) -> int:
        """The length of the vectors."""
        return self.known_dimension or self._model().dimension

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text; the vector of a text without tokens is zero."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        model = self._model()
        values = np.zeros((len(texts), model.dimension), np.float32)
        try:
            for chunk in chunks(texts):
                values[chunk] = self._encode(model, texts[chunk])
        except InputError:
            raise
        except Exception as error:  # such as a token that has no weights
            raise bad_model(self.name, f"cannot encode the texts: {error}") from error
        return values

    def counter(self) -> TokenCounter | None:
        """The token counter, loaded on first use; None if there is no token limit."""
        if self.load_counter is None:
            return None
        with self._turn:
            if not self._counters:
                self._counters.append(self.load_counter())
        return self._counters[0]

    def _encode(self, model: LoadedModel, texts: Sequence[str]) -> F32:
        parts = parts_of(texts, None if self.windows == BEGINNING else self.counter(), self.windows)
        rows, lengths = model.tokenise(parts.texts)
        values = np.zeros((len(rows), model.dimension), np.float32)

        def forward(batch: NDArray[np.int64]) -> F32:
            whole = filled(batch, length=lengths[batch[0]], least_texts=model.least_texts)
            return model.forward([rows[place] for place in whole])[: len(batch)]

        run_batches(equal_length_batches(lengths, most_texts=model.most_texts), forward, values, workers=self.workers)
        return averaged(values, parts, len(texts), of_length_1=model.of_length_1)

    def _model(self) -> LoadedModel:
        with self._turn:
            if not self._models:
                self._models.append(self.load())
        return self._models[0]


def sentence_transformer(
    name_or_path: str, *, windows: int = DEFAULT_WINDOWS, workers: int | None = None
) -> TransformerEncoder:
    """Any sentence-transformers model, with its own pooling and prompts: a folder, or a name on the hub."""
    require(torch="torch", transformers="transformers", sentence_transformers="sentence-transformers")
    # As in the library, a name without an owner belongs to sentence-transformers.
    names = (name_or_path,) if "/" in name_or_path else (f"sentence-transformers/{name_or_path}", name_or_path)
    folder = find_model(f"st:{name_or_path}", *names, needs="modules.json")
    most_tokens = st_model.transformer_length(folder)
    count = partial(load_st_counter, folder, most_tokens=most_tokens) if most_tokens else None
    shown = (most_tokens if windows > BEGINNING else None) or folder.maximum_length
    name = encoder_name("st", folder, label=True, most_tokens=shown, windows=windows if count else BEGINNING)
    dimension = st_model.known_dimension(folder)
    return TransformerEncoder(name, dimension, partial(load_st, folder), workers, check_windows(windows), count)


def hugging_face(
    name_or_path: str, *, pool: str = "mean", windows: int = DEFAULT_WINDOWS, workers: int | None = None
) -> TransformerEncoder:
    """Any Hugging Face text model: a folder, or a name on the hub.

    `pool` chooses the vector of a text: the mean over its tokens (`mean`), the state of the class token (`cls`), or the
    pooled output of the model (`pooler`), which the Frechet BERT distance was defined with.
    """
    if pool not in POOLS:
        raise InputError(f"pool is {pool!r}; there are: {', '.join(POOLS)}")
    require(torch="torch", transformers="transformers")
    folder = find_model(f"hf:{name_or_path}", name_or_path)
    most_tokens = hf_model.maximum_length(folder)
    load = partial(load_hf, folder, pool=pool, most_tokens=most_tokens)
    count = partial(load_counter, folder, most_tokens=most_tokens) if most_tokens else None
    limit = windows if count else BEGINNING
    name = encoder_name("hf", folder, f"pool={pool}", label=True, most_tokens=most_tokens, windows=limit)
    return TransformerEncoder(name, hf_model.known_dimension(folder), load, workers, check_windows(windows), count)


# Increased whenever the same files give other vectors than before; part of signatures and of the cache keys.
_SCHEME = "1"


def encoder_name(
    kind: str, folder: ModelFolder, *options: str, label: bool, most_tokens: int | None, windows: int = BEGINNING
) -> str:
    """Kind, model, options, token limit and number of windows, and a digest of the scheme and all files of the model.

    With one window the name is the same as in releases without windows, because the vectors are the same.
    """
    limit = [f"max={most_tokens}"] if most_tokens else []
    limit += [f"windows={windows}"] if windows > BEGINNING else []
    digest = hashlib.blake2b(f"{_SCHEME}/{folder.digest}".encode(), digest_size=8).hexdigest()
    return "/".join((kind, *((folder.label,) if label else ()), *options, *limit, digest))
