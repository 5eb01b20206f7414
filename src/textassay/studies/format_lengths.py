"""Length in the format check: texts that were cut off at a maximum, and mean lengths that are far apart."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import stdtr

from textassay.corpus.splitters import IDEOGRAPH, SPACE, text_bytes
from textassay.corpus.tokenizers import Tokenizer
from textassay.studies.shares import LEVEL, Share

Lengths = NDArray[np.int64]

# A spike at the maximum of less than a twentieth of the texts, or means closer than 4 : 5, change no conclusion.
SPIKE = 0.05
RATIO = 1.25

_PIECE = rf"[^{SPACE}]+"
_WORD = rf"[{IDEOGRAPH}]|[\pL\pM\pN]+"
# The same for ASCII, byte by byte: what belongs to a piece and to a word.
_IN_PIECE = np.array([not chr(byte).isspace() for byte in range(128)])
_IN_WORD = np.array([chr(byte).isalnum() for byte in range(128)])


@dataclass(frozen=True)
class Spike:
    """The greatest length of a sample's texts, such as `32 words`, and the share of the texts that have it."""

    length: str
    share: Share


def spikes(candidate: pa.Array, reference: pa.Array, tokenizer: Tokenizer) -> Iterator[tuple[Spike, Spike]]:
    """The spikes of both samples in each unit in which a generator may count: words, tokens and characters."""
    for (unit, mine), (_, theirs) in zip(_units(candidate, tokenizer), _units(reference, tokenizer), strict=True):
        yield _spike(mine, unit), _spike(theirs, unit)


def _units(texts: pa.Array, tokenizer: Tokenizer) -> Iterator[tuple[str, Lengths]]:
    yield "words", _counts(texts, _PIECE, _IN_PIECE)
    yield "tokens", tokenizer(texts).lengths
    yield "characters", np.asarray(pc.utf8_length(pc.utf8_trim_whitespace(texts)), dtype=np.int64)


def _spike(lengths: Lengths, unit: str) -> Spike:
    most = int(lengths.max())
    return Spike(f"{most} {unit}", Share(int((lengths == most).sum()), len(lengths)))


def word_counts(texts: pa.Array) -> Lengths:
    """Words a text without its punctuation, so that text split at its punctuation is not taken for longer."""
    return _counts(texts, _WORD, _IN_WORD)


def _counts(texts: pa.Array, pattern: str, belongs: NDArray[np.bool_]) -> Lengths:
    """How often each text matches the pattern; in ASCII, its runs of bytes that belong together, which is faster."""
    data, bounds = text_bytes(texts)
    if not len(data) or data.max() >= len(belongs):
        return np.asarray(pc.count_substring_regex(texts, pattern), dtype=np.int64)
    inside = belongs[data]
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    # A run that goes over the end of a text begins anew in the next one.
    edges = bounds[:-1][bounds[:-1] < len(data)]
    begins[edges] = inside[edges]
    return np.diff(np.searchsorted(np.flatnonzero(begins), bounds))


def means_differ(mine: Lengths, theirs: Lengths) -> bool:
    """Are the mean lengths far apart, both in ratio and by Welch's t-test?"""
    low, high = sorted((float(mine.mean()), float(theirs.mean())))
    if min(len(mine), len(theirs)) < 2 or high <= RATIO * low:
        return False
    # Counts are taken to vary by a word at least, so that a handful of texts of one length proves nothing.
    errors = [max(float(lengths.var(ddof=1)), 1.0) / len(lengths) for lengths in (mine, theirs)]
    freedom = sum(errors) ** 2 / (errors[0] ** 2 / (len(mine) - 1) + errors[1] ** 2 / (len(theirs) - 1))
    return bool(2 * stdtr(freedom, (low - high) / math.sqrt(sum(errors))) < LEVEL)
