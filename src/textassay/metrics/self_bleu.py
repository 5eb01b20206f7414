"""Self-BLEU: each text against all other texts of its own sample."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.metrics.bleu import RESCAN
from textassay.metrics.declare import Value, metric
from textassay.views.bleu_counts import closest_other_lengths, own_matches, text_bleu
from textassay.views.bleu_groups import scores_without_own_groups
from textassay.views.text_ngrams import TextNgrams


def leave_out(candidate: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int) -> tuple[NDArray[np.float64]]:
    """Self-BLEU with each group of texts left out."""
    return (np.array([scores.mean() for scores in scores_without_own_groups(candidate, n, labels[0])]),)


@metric(
    "self_bleu",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test=None,
    why_no_test=RESCAN.replace("ms_jaccard and cnd test", "distinct and nrr test"),
    paper="zhu2018",
    leave_out=leave_out,
)
def self_bleu(candidate: TextNgrams, /, *, n: int = 4) -> Value:
    """Self-BLEU-n: BLEU-n of each text against all other texts of the sample, averaged; high means repetitive.

    The text itself is left out of its references, a copy of it is not. It misleads when lower is taken for better:
    noise scores lowest, and the value grows with the sample, so compare with real text's own value at the same size.
    """
    return float(self_bleu_scores(candidate, n).mean())


def self_bleu_scores(candidate: TextNgrams, n: int) -> NDArray[np.float64]:
    """Self-BLEU-n text by text."""
    sizes = np.stack([candidate.sizes(k) for k in range(1, n + 1)])
    closest = closest_other_lengths(candidate.lengths)
    return text_bleu(own_matches(candidate, n), sizes, lengths=candidate.lengths, closest=closest)
