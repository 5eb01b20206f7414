"""Traits: a few numbers per text that do not depend on which sample it is from."""

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.hashed_ngrams import Sequences
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.ngrams.overlap import without_marks


def text_traits(sequences: Sequences, ngrams: TextNgrams) -> F64:
    """Six numbers per text: its length, how common its words, word pairs, first word and last word are, and how common
    its last word is as a last word.

    How common is the log of one more than the count in all other texts of the pool, so exchanging labels changes none
    of the numbers. Words that are cut off, out of order or rare change them in the same direction in every text, which
    a sum over many separate n-grams hardly sees. A text that is cut off ends with a word that is common, but not at an
    end.
    """
    lengths = np.log(np.maximum(ngrams.lengths, 1))
    words, ends = without_marks(sequences), []
    keys, which = np.unique(words.words, return_inverse=True)
    texts = np.repeat(np.arange(len(words)), words.lengths)
    totals = np.bincount(which, minlength=len(keys))
    pairs, inverse, counts = np.unique(texts * len(keys) + which, return_inverse=True, return_counts=True)
    elsewhere = np.log1p(totals[pairs % len(keys)] - counts)[inverse]
    filled = np.flatnonzero(words.lengths > 0)
    for places in (words.offsets[:-1][filled], words.offsets[1:][filled] - 1):
        end = np.zeros(len(words))
        end[filled] = elsewhere[places]
        ends.append(end)
    last = which[words.offsets[1:][filled] - 1]
    as_last = np.zeros(len(words))
    as_last[filled] = np.log(np.bincount(last, minlength=len(keys))[last])
    return np.stack([lengths, _commonness(ngrams, 1), _commonness(ngrams, 2), *ends, as_last], axis=1)


def _commonness(ngrams: TextNgrams, n: int) -> F64:
    """For each text the mean over its n-grams of the log of one more than their count in other texts."""
    incidence = ngrams.order(n)
    elsewhere = np.repeat(incidence.totals(), np.diff(incidence.starts)) - incidence.counts
    sums = np.bincount(incidence.texts, incidence.counts * np.log1p(elsewhere), len(ngrams))
    return sums / np.maximum(ngrams.sizes(n), 1)
