"""Reverse BLEU: reference texts scored against the candidates."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.bleu import RESCAN, bleu_scores
from textassay.metrics.bleu import leave_out as bleu_leave_out
from textassay.metrics.declare import Value, metric
from textassay.views.text_ngrams import TextNgrams


def leave_out(
    candidate: TextNgrams, reference: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reverse BLEU with each group of candidate texts, and with each group of reference texts, left out."""
    by_reference, by_candidate = bleu_leave_out(reference, candidate, labels=labels[::-1], n=n)
    return by_candidate, by_reference


@metric(
    "reverse_bleu",
    family="ngram",
    aspect="diversity",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife:different-texts",
    test=None,
    why_no_test=RESCAN,
    paper="shi2018",
    leave_out=leave_out,
)
def reverse_bleu(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4) -> Value:
    """BLEU-n of each reference text against all candidate texts, averaged: how much of real text is reachable.

    It is recall where BLEU is precision, so a collapsed candidate scores low. It misleads across sample sizes: more
    candidate texts reach more of the reference. There is no interval for fewer than 20 different texts in a sample
    (those that repeat count for less): the value of a few texts jumps with single candidates.
    """
    return float(bleu_scores(reference, candidate, n).mean())
