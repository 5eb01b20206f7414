"""Terms: what a text is about, counted: lower-cased words, and pairs of characters where no spaces part words."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textassay.corpus.sample import TEXT, as_text_array
from textassay.corpus.splitters import IDEOGRAPH, text_bytes
from textassay.corpus.tokenizers import get_tokenizer
from textassay.corpus.tokens import Tokens

# Thai, Lao, Burmese and Khmer, which the tokenizer leaves as whole runs: a run is a phrase and would hardly ever recur.
UNBROKEN = r"\x{0e01}-\x{0eff}\x{1000}-\x{109f}\x{1780}-\x{17ff}"
_UNBROKEN_CHARACTER = rf"[{UNBROKEN}]\pM*"
_WITHOUT_SPACES = rf"^[{IDEOGRAPH}{UNBROKEN}]"
# Letters, digits and pictures (emoji), but not punctuation: whether a full stop was written is a matter of format.
_MEANINGFUL = r"[\pL\pN\p{So}]"

# Counting needs some fifty times the memory of the text, so it goes slice by slice; a text counts its bytes and a bit.
SLICE_BYTES = 1 << 21
_TEXT_BYTES = 64

Places = NDArray[np.int64]


def slices(texts: pa.Array) -> Iterator[pa.Array]:
    """The texts in runs of bounded size; a text larger than that is a run of its own."""
    _, begins = text_bytes(texts)
    run = (begins[:-1] + _TEXT_BYTES * np.arange(len(texts))) // SLICE_BYTES
    cuts = np.flatnonzero(np.diff(run)) + 1
    return (texts[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(texts)], strict=True))


def count_terms(texts: Iterable[str] | pa.Array) -> tuple[Any, pa.Array]:
    """How often each text has each term, as a sparse matrix with a row a text, and the terms of its columns.

    A term is a word; of Chinese, Japanese, Thai, Lao, Burmese and Khmer, a character and a pair of neighbours.
    Punctuation counts only in a text that has nothing else.

    >>> counts, terms = count_terms(["The cat, the dog.", "...", "日本語"])
    >>> terms.to_pylist()
    ['the', 'cat', ',', 'dog', '.', '日', '本', '語', '日本', '本語']
    >>> counts.toarray().tolist()[0]
    [2.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    from scipy.sparse import coo_array

    array = pc.replace_substring_regex(as_text_array(texts, "texts"), _UNBROKEN_CHARACTER, r" \0 ")
    tokens = get_tokenizer("words", lowercase=True)(array)
    owner = np.repeat(np.arange(len(array)), tokens.lengths)
    counted = _counted(tokens, owner)
    seconds, pairs = _pairs(tokens, owner)
    rows = np.concatenate((owner[counted], owner[seconds]))
    columns = np.concatenate((tokens.ids[counted], len(tokens.vocabulary) + np.asarray(pairs.indices, np.int64)))
    terms = pa.concat_arrays([tokens.vocabulary.cast(TEXT), pairs.dictionary])
    shape = (len(array), len(terms))
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr(), terms


def in_pairs(terms: pa.Array) -> bool:
    """True where some of the terms come from text without spaces."""
    return bool(pc.any(pc.match_substring_regex(terms, _WITHOUT_SPACES)).as_py())


def _counted(tokens: Tokens, owner: Places) -> NDArray[np.bool_]:
    """Which tokens count: those with a meaning, and all tokens of a text that has none of these."""
    meaningful = np.asarray(pc.match_substring_regex(tokens.vocabulary, _MEANINGFUL), dtype=bool)[tokens.ids]
    has_some = np.bincount(owner, weights=meaningful, minlength=len(tokens.lengths)) > 0
    return meaningful | ~has_some[owner]


def _pairs(tokens: Tokens, owner: Places) -> tuple[Places, pa.DictionaryArray]:
    """Neighbouring characters of a script without spaces: where the second of each stands, and the pairs."""
    single = np.asarray(pc.match_substring_regex(tokens.vocabulary, _WITHOUT_SPACES), dtype=bool)[tokens.ids]
    seconds = 1 + np.flatnonzero(single[1:] & single[:-1] & (owner[1:] == owner[:-1]))
    left, right = (tokens.vocabulary.take(pa.array(tokens.ids[places])).cast(TEXT) for places in (seconds - 1, seconds))
    return seconds, pc.binary_join_element_wise(left, right, pa.scalar("", TEXT)).dictionary_encode()
