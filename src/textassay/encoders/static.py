"""Static vectors: each token of MiniLM's vocabulary has one vector, and a text is the weighted mean of its tokens.

The method is that of model2vec: every token is read once by the model, the vectors are rotated to their principal
components, and each is weighted by how rare the token is. A text is then read without the model, without windows and
without a token limit. The package itself is not used: its part for distillation needs other releases of transformers
than sentence-transformers accepts, and what is needed of it is this file.

The rank of a token stands for its frequency by Zipf's law: the vocabulary of BERT lists words and parts of words from
frequent to rare. Single characters come before all of them, in the order of Unicode. They are ranked among themselves
here, so that "the" has rank 1 and not 997. With that, the similarities of captions and of answers are closer to
MiniLM's (rank correlation of 500 texts each .56 for .53, and .50 for .42).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F32, F64
from textassay.corpus.process_settings import single_threaded_products
from textassay.encoders.base import encoder_name, equal_length_batches, require, run_batches
from textassay.encoders.cache_folder import keys_of
from textassay.encoders.minilm import DIMENSION as READ_DIMENSION
from textassay.encoders.minilm import minilm_folder
from textassay.encoders.model_files import ModelFolder, bad_model
from textassay.encoders.vector_store import open_store
from textassay.encoders.windows import TokenCounter, chunks, tokenizer_file_counter

DIMENSION = 256
# The weight of a token with probability p is a / (a + p), as in smooth inverse frequency.
_SMOOTHING = 1e-4
# Part of the encoder's name: increase it whenever tokens, components or weights change the vectors.
_SCHEME = "ranks-1"
# No text has as many tokens: static vectors have no limit.
_NO_LIMIT = 1 << 62
_LEAST_LENGTH = 1e-12


@dataclass(frozen=True, eq=False)
class StaticEncoder:
    """The encoder. The vectors of tokens are read from the cache or made on first use, once per machine."""

    name: str
    folder: ModelFolder = field(repr=False)
    workers: int | None = field(default=None, repr=False)
    dimension: int = DIMENSION
    _turn: Lock = field(default_factory=Lock, repr=False)
    _loaded: list[tuple[Callable[[list[str]], list[list[int]]], F32]] = field(default_factory=list, repr=False)

    def encode(self, texts: Sequence[str], /) -> F32:
        """One row per text, of length 1; the vector of a text without known tokens is zero."""
        values = np.zeros((len(texts), self.dimension), np.float32)
        if not texts:
            return values
        tokenise, table = self._load()
        for chunk in chunks(texts):
            try:
                tokens = tokenise(list(texts[chunk]))
            except Exception as error:  # such as a text that is not Unicode
                raise bad_model(self.name, f"cannot encode the texts: {error}") from error
            values[chunk] = _means(tokens, table)
        return values

    def counter(self) -> TokenCounter:
        """A counter of tokens, which finds words that the vocabulary does not have; every text fits."""
        return tokenizer_file_counter(str(self.folder.path / "tokenizer.json"), most_tokens=_NO_LIMIT)

    def _load(self) -> tuple[Callable[[list[str]], list[list[int]]], F32]:
        with self._turn:
            if not self._loaded:
                tokenizer = _tokenizer(self.folder)
                self._loaded.append((partial(_tokens, tokenizer), self._table(tokenizer)))
        return self._loaded[0]

    def _table(self, tokenizer: Any) -> F32:
        """The weighted vector of each token by its number; zeros for tokens that are no part of a text."""
        vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        special = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
        kept = [(token, number) for token, number in vocabulary if number not in special and not _is_unused(token)]
        numbers = np.array([number for _, number in kept])
        # One name for the vectors of tokens, so that `cache clear` removes them by the name of the encoder.
        store, keys = open_store(self), keys_of(f"token {token}" for token, _ in kept)
        found = np.zeros((len(kept), self.dimension), np.float32)
        if store is None or not store.fill(keys, found).all():
            vectors = _read_by_model(self.folder, tokenizer, numbers, workers=self.workers)
            found = weighted(vectors, _ranks([token for token, _ in kept]), self.dimension)
            if store is not None:
                store.put(keys, found)
        table = np.zeros((vocabulary[-1][1] + 1, self.dimension), np.float32)
        table[numbers] = found
        return table


def static(*, workers: int | None = None) -> StaticEncoder:
    """The static encoder of the installed MiniLM."""
    require(torch="torch", transformers="transformers", tokenizers="tokenizers")
    folder = minilm_folder()
    return StaticEncoder(
        encoder_name("static", folder, _SCHEME, f"d={DIMENSION}", label=False, most_tokens=None), folder, workers
    )


def _ranks(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Ranks from 1 by frequency, of words and parts of words and of single characters."""
    single = np.array([len(token) == 1 for token in tokens])
    return np.where(single, np.cumsum(single), np.cumsum(~single))


def weighted(vectors: F32, ranks: NDArray[np.int64], dimension: int) -> F32:
    """The leading principal components of token vectors times the weights of their ranks.

    >>> found = weighted(np.array([[1.0, 1.0], [2.0, 2.0], [6.0, 6.0]], np.float32), np.array([1, 2, 3]), 1)
    >>> [f"{value:.5f}" for value in found[:, 0]]
    ['-0.00061', '-0.00046', '0.00184']
    """
    centred = vectors.astype(np.float64)
    centred -= centred.mean(axis=0)
    # The number of threads would change the last bits.
    with single_threaded_products():
        _, directions = np.linalg.eigh(centred.T @ centred)
        leading = directions[:, ::-1][:, :dimension]
        # The sign of a direction is arbitrary: its largest entry is positive.
        leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])])
        return (centred @ leading * _weights(ranks)[:, None]).astype(np.float32)


def _weights(ranks: NDArray[np.int64]) -> F64:
    every = (1 / np.arange(2, len(ranks) + 2)).sum()
    found: F64 = _SMOOTHING / (_SMOOTHING + 1 / ((ranks + 1) * every))
    return found


def _read_by_model(folder: ModelFolder, tokenizer: Any, numbers: NDArray[np.int64], *, workers: int | None) -> F32:
    """The model's vector of each token, read alone between the tokens that begin and end a text."""
    from textassay.encoders.hf_model import load_hf

    model = load_hf(folder, pool="mean", most_tokens=None)
    around = tokenizer.encode("").ids
    first, last = around[: len(around) // 2], around[len(around) // 2 :]
    rows = [[*first, number, *last] for number in numbers.tolist()]
    values = np.zeros((len(rows), READ_DIMENSION), np.float32)

    def forward(batch: NDArray[np.int64]) -> F32:
        chosen = [rows[index] for index in batch]
        return model.forward([{"input_ids": row, "attention_mask": [1] * len(row)} for row in chosen])

    run_batches(equal_length_batches([*map(len, rows)]), forward, values, workers=workers)
    return values


def _means(tokens: list[list[int]], table: F32) -> F32:
    """The mean of the tokens of each text, scaled to length 1, which makes the number of tokens unimportant."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, tokens)])
    numbers = np.fromiter((number for row in tokens for number in row), np.int32, ends[-1])
    # A product with a sparse matrix adds the tokens of a text in their order, whatever other texts there are.
    counts = csr_array((np.ones(len(numbers), np.float32), numbers, ends), shape=(len(tokens), len(table)))
    sums = np.asarray(counts @ table, np.float64)
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    return np.where(lengths > _LEAST_LENGTH, sums / np.maximum(lengths, _LEAST_LENGTH), 0).astype(np.float32)


def _tokenizer(folder: ModelFolder) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _tokens(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    # Older releases have no variant without offsets.
    encode_batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    return [found.ids for found in encode_batch(texts, add_special_tokens=False)]


def _is_unused(token: str) -> bool:
    return token.startswith("[unused") and token.endswith("]")
