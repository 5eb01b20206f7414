"""Files of document frequencies: JSON with the number of documents, the tokenizer, and a count for each n-gram."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.corpus.printable import quoted, shortened
from textassay.corpus.sample import TEXT
from textassay.corpus.sources import failures_named
from textassay.corpus.strings import string_array
from textassay.corpus.tokens import tokens_from_lists
from textassay.views.hashing import U64, hash_words, order_of
from textassay.views.sequences import Sequences
from textassay.views.text_distances.document_frequencies import ORDERS, DocumentFrequencies

_FIELDS = {"documents": int, "tokenizer": str, "frequencies": dict}
_WANTED = '{"documents": 1000, "tokenizer": "words", "frequencies": {"a man": 12}}'
# Whole numbers up to here are themselves as floats.
_MOST = 1 << 53


def write_frequencies(frequencies: DocumentFrequencies, path: str | Path) -> None:
    """Write document frequencies, n-grams in the order of the alphabet."""
    plain = frequencies.to_dict()
    where = shortened(str(path))
    try:
        Path(path).write_text(json.dumps(plain, ensure_ascii=False, sort_keys=True), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{where}: cannot be written ({(error.strerror or str(error)).lower()})") from None


def read_frequencies(path: str | Path) -> DocumentFrequencies:
    """Read document frequencies; anything else than such a file is an error."""
    where = shortened(str(path))
    with failures_named(where):
        content = Path(path).read_bytes()
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: no JSON; wanted {_WANTED}") from None
    documents, tokenizer = _head(plain, where)
    counts = _counts(plain["frequencies"], documents, where)
    keys = _keys(list(plain["frequencies"]), where)
    order = order_of(keys)
    ngrams = pa.array(list(plain["frequencies"]), TEXT).take(pa.array(order))
    return DocumentFrequencies(documents, tokenizer, keys[order], counts[order], ngrams)


def _head(plain: Any, where: str) -> tuple[int, str]:
    if not isinstance(plain, dict):
        raise InputError(f"{where}: a JSON {type(plain).__name__}; wanted an object such as {_WANTED}")
    for name, kind in _FIELDS.items():
        if name not in plain:
            fields = quoted(list(plain)) or "none"
            raise InputError(f"{where}: no field {name!r}; fields are {fields}; wanted {_WANTED}")
        if type(plain[name]) is not kind:
            seen = shortened(json.dumps(plain[name]), 60)
            raise InputError(f"{where}: field {name!r} is {seen}; wanted {_WANTED}")
    documents: int = plain["documents"]
    if not 1 <= documents <= _MOST:
        raise InputError(f"{where}: {shortened(str(documents), 60)} documents; wanted 1 or more")
    return documents, str(plain["tokenizer"])


def _counts(frequencies: dict[str, Any], documents: int, where: str) -> NDArray[np.int64]:
    for ngram, count in frequencies.items():
        if type(count) is not int or not 1 <= count <= documents:
            seen = shortened(json.dumps(count), 60)
            raise InputError(
                f"{where}: '{shortened(ngram, 60)}' is in {seen} documents; wanted a whole number from 1 to {documents}"
            )
    return np.array(list(frequencies.values()), dtype=np.int64)


def _keys(ngrams: list[str], where: str) -> U64:
    """The hash of each n-gram, as the same words in a text have it."""
    lists = pc.split_pattern(string_array(ngrams, f"{where}: n-gram "), " ")
    tokens = tokens_from_lists(lists)
    lengths = tokens.lengths
    wrong = np.flatnonzero((lengths < 1) | (lengths > ORDERS) | (lengths != np.asarray(pc.list_value_length(lists))))
    if len(wrong):
        seen = shortened(ngrams[int(wrong[0])], 60)
        raise InputError(f"{where}: '{seen}' is no n-gram; wanted 1 to {ORDERS} words with one blank between")
    words = pa.array([_unescaped(word) for word in tokens.vocabulary.to_pylist()], TEXT)
    sequences = Sequences(hash_words(words)[tokens.ids], tokens.offsets)
    keys = np.zeros(len(ngrams), dtype=np.uint64)
    for n in range(1, ORDERS + 1):
        grams, texts = sequences.ngrams(n)
        whole = lengths[texts] == n
        keys[texts[whole]] = grams[whole]
    return keys


def _unescaped(word: str) -> str:
    return re.sub(r"\\([s\\])", lambda match: " " if match[1] == "s" else "\\", word)
