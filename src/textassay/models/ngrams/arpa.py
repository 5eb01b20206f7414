"""ARPA export: an n-gram model as the text format that KenLM, SRILM and other programs read."""

import math
from collections.abc import Iterator

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.printable import quoted
from textassay.errors import InputError
from textassay.models.base import Scorer
from textassay.models.ngrams.ngram import NgramModel
from textassay.models.vocabulary import BEGIN, END, FIRST_WORD, UNKNOWN

_SYMBOLS = ("<s>", "</s>", UNKNOWN)
# What other programs write for the logarithm of 0.
_ZERO = "-99"


def arpa_text(model: Scorer) -> str:
    """The whole file; an error if the model is not an n-gram model."""
    if not isinstance(model, NgramModel):
        raise InputError(f"ARPA: a model {model.name}; wanted an n-gram model")
    return "".join(f"{line}\n" for line in arpa_lines(model))


def arpa_lines(model: NgramModel) -> Iterator[str]:
    r"""The lines of the file without line breaks; logarithms are to the base 10.

    An empty text has probability 0 in the model. The file states this as the bigram `<s> </s>`, so the model must have
    at least order 2.

    >>> from textassay.models.ngrams.ngram import train
    >>> print(*list(arpa_lines(train(["a b", "a"], order=2)))[:5], sep="\n")
    \data\
    ngram 1=5
    ngram 2=5
    <BLANKLINE>
    \1-grams:
    """
    if len(model.levels) < 2:
        raise InputError("ARPA: a model of order 1; wanted order 2 or more")
    words = model.vocabulary.words[FIRST_WORD:]
    if wrong := [word for word in words if word in _SYMBOLS or "\0" in word]:
        raise InputError(f"ARPA: the word {quoted(wrong[:1])} has a meaning of its own in this format")
    names = [*_SYMBOLS, *words]
    yield "\\data\\"
    for n, level in enumerate(model.levels, 1):
        yield f"ngram {n}={len(level.log_p) + (n == 2)}"
    grams = [""]
    for n, (log_p, backoff) in enumerate(_tables(model), 1):
        yield from ("", f"\\{n}-grams:")
        level = model.levels[n - 1]
        pairs = zip(level.ngrams.contexts.tolist(), level.symbols(slice(None)).tolist(), strict=True)
        grams = [f"{grams[context]} {names[symbol]}".lstrip(" ") for context, symbol in pairs]
        yield from _entries(grams, log_p, backoff)
        if n == 2:
            yield f"{_ZERO}\t{names[BEGIN]} {names[END]}"
    yield from ("", "\\end\\")


def _tables(model: NgramModel) -> Iterator[tuple[F64, F64 | None]]:
    """For each order, the log-probabilities of the n-grams and the logs of their backoff weights (None for the last).

    The probability of an empty text is divided among all first words, seen or not, so that it is a factor of both.
    """
    empty = model.levels[1].log_backoff[BEGIN] + model.levels[0].log_p[END]
    rest = -math.log1p(-math.exp(empty))
    for n, level in enumerate(model.levels, 1):
        log_p = np.where(level.ngrams.contexts == BEGIN, level.log_p + rest, level.log_p) if n == 2 else level.log_p
        backoff = model.levels[n].log_backoff.copy() if n < len(model.levels) else None
        if n == 1 and backoff is not None:
            backoff[BEGIN] += rest
        yield log_p, backoff


def _entries(grams: list[str], log_p: F64, backoff: F64 | None) -> Iterator[str]:
    logs = [_ZERO if value == -math.inf else f"{value:.9g}" for value in (log_p / math.log(10)).tolist()]
    if backoff is None:
        return (f"{value}\t{gram}" for value, gram in zip(logs, grams, strict=True))
    weights = (backoff / math.log(10)).tolist()
    return (f"{value}\t{gram}\t{weight:.9g}" for value, gram, weight in zip(logs, grams, weights, strict=True))
