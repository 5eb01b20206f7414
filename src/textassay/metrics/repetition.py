"""Repetition: how many texts are copies, or nearly copies, of another text of the sample."""

from collections.abc import Mapping

import numpy as np

from textassay.metrics.declare import Value, metric
from textassay.views.hashing import order_of, starts_of_runs
from textassay.views.twins import Twins

# Words of a passage that two texts have in common: a sentence or more, too long to be a phrase.
PASSAGE = 16


def shares(candidate: Twins, /, *, similarity: float = 0.8, shingle: int = 2) -> Mapping[str, float]:
    """Exact copies, near copies and different texts behind the value, and passages that texts have in common."""
    exact = float(candidate.sizes[candidate.sizes > 1].sum() / candidate.n_texts)
    either = float(repetition(candidate, similarity=similarity, shingle=shingle))
    return {
        "exact": exact,
        "near": either - exact,
        "unique_texts": float(len(candidate.sizes)),
        **_passages(candidate),
    }


def _passages(candidate: Twins) -> Mapping[str, float]:
    """Share of texts with a passage that a differently worded text has too, and of all words in such passages."""
    sequences = candidate.sequences
    if sequences.lengths.max(initial=0) < PASSAGE:
        return {"passages": 0.0, "passage_words": 0.0}
    grams, texts = sequences.ngrams(PASSAGE)
    order = order_of(grams)
    runs = starts_of_runs(grams[order])
    # A run has its texts in order, so the first and the last differ where any two do.
    shared = np.repeat(texts[order[runs[:-1]]] != texts[order[runs[1:] - 1]], np.diff(runs))
    here = order[shared]
    with_some = np.unique(texts[here])
    starts = sequences.offsets[texts[here]] + here - np.searchsorted(texts, texts[here])
    covered = np.zeros(len(sequences.words) + 1, dtype=np.int64)
    np.add.at(covered, starts, 1)
    np.add.at(covered, starts + PASSAGE, -1)
    inside = np.add.reduceat(np.append(np.cumsum(covered)[:-1] > 0, False), sequences.offsets[:-1], dtype=np.int64)
    inside = np.where(sequences.lengths > 0, inside, 0)
    words = float((sequences.lengths * candidate.sizes).sum())
    return {
        "passages": float(candidate.sizes[with_some].sum() / candidate.n_texts),
        "passage_words": float((inside * candidate.sizes).sum() / words) if words else 0.0,
    }


@metric(
    "repetition",
    family="ngram",
    aspect="diversity",
    better="closer",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test=None,
    why_no_test="real text has so few repeats that a test of them is mostly ties; the intervals decide",
    paper="broder1997",
    parts=shares,
    limits={"similarity": (0.5, 1.0)},
)
def repetition(candidate: Twins, /, *, similarity: float = 0.8, shingle: int = 2) -> Value:
    """Share of texts that are exact or near duplicates of another text of the sample.

    Exact: the same words in the same order. Near: sets of n-grams (of `shingle` words) with a Jaccard similarity of at
    least `similarity`, found by MinHash (a pair at 0.8 is missed about 3 times in 1,000) and then checked exactly, so
    the share is a lower bound. It misleads across sample sizes: more texts hold more duplicates; short texts repeat in
    real life too, so compare with real text's own value. Long texts are near duplicates only as wholes: of two
    documents with ten different bigrams in a hundred each the similarity is 0.82, and two that share half of their
    paragraphs are not counted. Among the parts, `passages` is the share of texts that have 16 words in a row in common
    with a differently worded text, and `passage_words` the share of all words in such passages.
    """
    pairs = candidate.neighbours(shingle, similarity)
    # A class of one text without a neighbour is repeated in no resample, and most classes are such.
    classes = np.union1d(np.flatnonzero(candidate.sizes > 1), pairs)
    present = candidate.present(classes)
    beside = np.zeros_like(present)
    for here, there in np.searchsorted(classes, pairs).T, np.searchsorted(classes, pairs[:, ::-1]).T:
        np.add.at(beside.T, here, present.T[there])
    repeated = (present > 1) | (beside > 0)
    return (repeated * present).sum(axis=-1) / candidate.n_texts
