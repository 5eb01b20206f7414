"""Tokenizers: texts in, Tokens out; known by a name and a signature, and made for millions of texts."""

import difflib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textassay.corpus.errors import InputError
from textassay.corpus.hf_tokenizer import load_hf_tokenizer
from textassay.corpus.sample import as_text_array
from textassay.corpus.splitters import lower, split_characters, split_plain, split_whitespace, split_words, text_bytes
from textassay.corpus.tokens import Tokens, concat_tokens
from textassay.corpus.treebank import split_treebank

BUILT_IN: dict[str, Callable[[pa.Array], Tokens]] = {
    "words": split_words,
    "plain": split_plain,
    "whitespace": split_whitespace,
    "treebank": split_treebank,
    "char": split_characters,
}
LOWER_ALREADY = ("plain",)

# Splitting needs some ten times the memory of the text, so it goes slice by slice; a text counts its bytes and a bit.
SLICE_BYTES = 1 << 24
TEXT_BYTES = 64


@dataclass(frozen=True)
class Tokenizer:
    """A way to cut texts into tokens; call it with texts. Two with the same signature give the same tokens.

    >>> tokenizer = get_tokenizer("words", lowercase=True)
    >>> tokens = tokenizer(["Don't cross the street.", "   ", "日本語"])
    >>> tokens.words(0, 10)
    ['don', "'", 't', 'cross', 'the', 'street', '.', '日', '本', '語']
    >>> tokens.lengths.tolist(), tokenizer.signature
    ([7, 0, 3], 'words+lower')
    """

    name: str
    lowercase: bool
    split: Callable[[pa.Array], Tokens] = field(repr=False, compare=False)

    @property
    def signature(self) -> str:
        """What a result's signature says about tokens."""
        return f"{self.name}+lower" if self.lowercase else self.name

    def __call__(self, texts: pa.Array | Iterable[str]) -> Tokens:
        """Tokens of the texts, in order; a text of white space only has none but keeps its place."""
        array = as_text_array(texts, "texts")
        if array.null_count:
            array = pc.fill_null(array, "")
        return concat_tokens([self.split(lower(part) if self.lowercase else part) for part in _slices(array)])


def get_tokenizer(name: str = "words", *, lowercase: bool = False) -> Tokenizer:
    """The tokenizer of this name.

    - `words`: a run of letters, marks, digits and underscores is a token; any other character but white space is one by
      itself (with the marks that follow it), and so is each Chinese or Japanese character. Case is kept. Text that was
      split at its punctuation beforehand gives the same tokens: `don't` is `don ' t` and `street.` is `street .`. Thai,
      Lao, Khmer and others without spaces between words stay whole runs.
    - `plain`: as `words`, but in lower case and without punctuation and other symbols; Chinese and Japanese characters
      stay. Always lower case, so `lowercase` adds nothing to it or to its signature.
    - `whitespace`: what stands between white space, as `str.split()` has it; for text that is tokenised already.
    - `treebank`: as NLTK's `TreebankWordTokenizer`: `do n't`, `'s`, quotes as two backticks or two apostrophes. Each
      text counts as one sentence: a full stop within it stays on its word.
    - `char`: every code point; white space between words is one token, a blank, however long it is, and white space at
      the ends is none.
    - a path to a `tokenizer.json` of Hugging Face tokenizers: its token strings, without special tokens, padding or
      truncation; what it does not know is its unknown token.

    `lowercase` lower-cases before splitting, each code point by itself: unlike with `str.lower`, a Greek sigma at the
    end of a word becomes `σ`, not `ς`, and the Turkish `İ` becomes a plain `i`. What is a letter is for the installed
    Arrow to say; one that is newer than Arrow's Unicode tables counts as a symbol.

    >>> get_tokenizer("treebank")(["They don't."]).words(0, 4)
    ['They', 'do', "n't", '.']
    >>> get_tokenizer("plain")(["They don't, 日本!"]).words(0, 5)
    ['they', 'don', 't', '日', '本']
    """
    if name in BUILT_IN:
        return Tokenizer(name, lowercase and name not in LOWER_ALREADY, BUILT_IN[name])
    if os.path.isfile(name):
        digest, split = load_hf_tokenizer(name)
        return Tokenizer(f"hf:{digest}", lowercase, split)
    raise InputError(_unknown(name))


def _unknown(name: str) -> str:
    if name.endswith(".json") or os.path.sep in name:
        return f"tokenizer {name!r}: no such file; wanted a tokenizer.json file or one of {', '.join(BUILT_IN)}"
    near = difflib.get_close_matches(name.lower(), BUILT_IN, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return f"no tokenizer {name!r}{hint} names are {', '.join(BUILT_IN)}, or a path to a tokenizer.json file"


def _slices(texts: pa.Array) -> Iterator[pa.Array]:
    """The texts in runs of bounded size; a text larger than that is a run of its own."""
    _, begins = text_bytes(texts)
    bucket = (begins[:-1] + TEXT_BYTES * np.arange(len(texts))) // SLICE_BYTES
    cuts = np.flatnonzero(np.diff(bucket)) + 1
    for start, stop in zip([0, *cuts], [*cuts, len(texts)], strict=True):
        yield texts[start:stop]
