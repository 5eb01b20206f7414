"""Hugging Face tokenizers: a tokenizer.json file as a splitter, known by the digest of the file."""

import hashlib
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.errors import InputError, MissingExtra
from textassay.corpus.tokens import Tokens

# Encodings carry far more than the numbers taken from them, so few of them are held at a time.
BATCH_TEXTS = 8192


def load_hf_tokenizer(path: str) -> tuple[str, Callable[[pa.Array], Tokens]]:
    """Digest (blake2b, 8 hex digits) and splitter of a tokenizer.json file."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("tokenizers", "tokenizers") from None
    try:
        content = Path(path).read_bytes()
        tokenizer = Tokenizer.from_buffer(content)
    except OSError as error:
        raise InputError(f"tokenizer {path!r}: cannot be read: {error.strerror}") from None
    except Exception as error:  # the package raises bare exceptions
        raise InputError(f"tokenizer {path!r}: not a Hugging Face tokenizer.json file: {_one_line(error)}") from None
    _make_faithful(tokenizer)
    return hashlib.blake2b(content, digest_size=4).hexdigest(), partial(_split, tokenizer, path)


def _make_faithful(tokenizer: Any) -> None:
    """Switch off what a training set-up may have left in the file: padding, truncation and random merges."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if getattr(tokenizer.model, "dropout", None):
        tokenizer.model.dropout = None


def _split(tokenizer: Any, path: str, texts: pa.Array) -> Tokens:
    starts = range(0, len(texts), BATCH_TEXTS)
    parts = [_encode(tokenizer, path, texts[start : start + BATCH_TEXTS]) for start in starts]
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(lengths for _, lengths in parts)]))
    numbers = np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in parts)])
    encoded = pa.array(numbers).dictionary_encode()
    words = [tokenizer.id_to_token(number) for number in encoded.dictionary.to_pylist()]
    return Tokens(np.asarray(encoded.indices), pa.array(words, pa.large_string()), offsets)


def _encode(tokenizer: Any, path: str, texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token numbers of the texts, flat, and how many each text has."""
    try:
        encodings = tokenizer.encode_batch(texts.to_pylist(), add_special_tokens=False)
    except Exception as error:  # for example a word level model without an unknown token
        raise InputError(f"tokenizer {path!r}: cannot encode the texts: {_one_line(error)}") from None
    lists = [encoding.ids for encoding in encodings]
    return np.fromiter(chain.from_iterable(lists), np.int64), np.fromiter(map(len, lists), np.int64, len(lists))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
