"""BLEU-n of each candidate text against all reference texts, averaged."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.declare import Value, metric
from textassay.views.bleu_counts import closest_lengths, matches, text_bleu
from textassay.views.bleu_groups import scores_without_reference_groups
from textassay.views.text_ngrams import TextNgrams

RESCAN = "every exchange of texts changes every text's best reference; ms_jaccard and cnd test the same question"


def leave_out(
    candidate: TextNgrams, reference: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """BLEU with each group of candidate texts, and with each group of reference texts, left out."""
    return (
        means_without_groups(bleu_scores(candidate, reference, n), labels[0]),
        np.array([scores.mean() for scores in scores_without_reference_groups(candidate, reference, n, labels[1])]),
    )


def means_without_groups(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean score with each group of texts left out: a text's score does not depend on the other candidates."""
    stays = len(scores) - np.bincount(labels)
    return np.asarray((scores.sum() - np.bincount(labels, weights=scores)) / stays)


@metric(
    "bleu",
    family="ngram",
    aspect="quality",
    better="higher",
    bounds=(0.0, 1.0),
    interval="jackknife:different-texts",
    test=None,
    why_no_test=RESCAN,
    paper="papineni2002",
    leave_out=leave_out,
)
def bleu(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4) -> Value:
    """BLEU-n of each candidate text against all reference texts at once, averaged over the texts.

    Uniform weights over orders 1..n, the closest reference length (the shorter one on ties), smoothing method 1 of
    Chen and Cherry (epsilon 0.1), 0 for a text without a matching word: NLTK's `sentence_bleu` text by text.
    It misleads alone: it says nothing about what the candidate never writes, real text is beaten by a model that
    repeats safe phrases, and it grows with the number of references. There is no interval for fewer than 20 different
    texts in a sample (those that repeat count for less): the value of a few texts jumps with single references.
    """
    return float(bleu_scores(candidate, reference, n).mean())


def bleu_scores(candidate: TextNgrams, reference: TextNgrams, n: int) -> NDArray[np.float64]:
    """BLEU-n text by text."""
    sizes = np.stack([candidate.sizes(k) for k in range(1, n + 1)])
    closest = closest_lengths(candidate.lengths, reference.lengths)
    return text_bleu(matches(candidate, reference, n), sizes, lengths=candidate.lengths, closest=closest)
