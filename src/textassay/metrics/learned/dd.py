"""Distributional Discrepancy: how well a classifier separates generated from real text."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.corpus.hashed_ngrams import mix
from textassay.metrics.learned.cnn import PRESETS, Size, network_scores
from textassay.metrics.learned.held_out import HowToSplit, discrepancy, logistic_scores, measured
from textassay.metrics.learned.labelled_texts import Labelled, LabelledTexts, LabelledVectors, leave_one_out, pooled
from textassay.metrics.registry import Value, metric, variant
from textassay.metrics.views import Resamples

Classifier = Literal["ridge", "ngram", "embedding", "cnn"]


def _is_right(candidate: Labelled, reference: Labelled) -> tuple[Bool, Bool]:
    """Whether each text, the candidate's first, is classified correctly by all other texts; and if the score is 0."""
    units = np.arange(len(candidate) + len(reference))
    is_mine = units < len(candidate)
    fitted = leave_one_out(candidate, reference)
    scores = fitted.scores(fitted.counts(units, is_mine[None]), fitted.counts(units, ~is_mine[None]))
    found = scores[fitted.case_of, 0]
    return np.asarray((found <= 0) == is_mine), np.asarray(found == 0)


def ridge_parts(candidate: Labelled, reference: Labelled, /, *, classifier: str) -> Mapping[str, float]:
    """The accuracy, the recall of each sample, and the number of texts that were classified."""
    right, _ = _is_right(candidate, reference)
    recalls = float(right[: len(candidate)].mean()), float(right[len(candidate) :].mean())
    return {
        "accuracy": sum(recalls) / 2,
        "candidate_recall": recalls[0],
        "reference_recall": recalls[1],
        "n_held_out": float(len(right)),
    }


def ridge_exchange(candidate: Labelled, reference: Labelled, /, *, resamples: Resamples, classifier: str) -> F64:
    """DD under each row of exchanged labels."""
    return leave_one_out(candidate, reference).discrepancies(resamples.units, *resamples.masks)


# Each text trains the classifiers of all others, so that errors depend on each other. Without a difference this at most
# doubles the variance of a sum over pairs of texts; with a clear difference it adds little.
_DEPENDENCE = 2**0.5


def ridge_leave_out(
    candidate: Labelled, reference: Labelled, /, *, labels: Sequence[I64], classifier: str
) -> tuple[F64, F64]:
    """DD with each group of texts left out of those that are classified; deviations are widened for dependence."""
    right, tied = _is_right(candidate, reference)
    n = len(candidate)
    value = right[:n].mean() + right[n:].mean() - 1
    # A score of 0 is a guess, which is right or wrong by chance, though all of them are counted as generated.
    guesses = mix(pooled(candidate, reference).keys) % np.uint64(2) == 0
    varied = np.where(tied, guesses, right)
    found = []
    for side, folds in zip((varied[:n], varied[n:]), labels, strict=True):
        kept = len(side) - np.bincount(folds)
        changes = (side.sum() - np.bincount(folds, side)) / kept - side.mean()
        found.append(value + _DEPENDENCE * changes)
    return found[0], found[1]


@metric(
    "dd",
    family="learned",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(-1.0, 1.0),
    interval="jackknife:fixed-classifier",
    test="permutation",
    paper="cai2020",
    undefined="there are too few different texts to train on and to hold out",
    in_default=False,
    parts=ridge_parts,
    leave_out=ridge_leave_out,
    exchange=ridge_exchange,
)
def dd(candidate: LabelledTexts, reference: LabelledTexts, /, *, classifier: Classifier = "ridge") -> Value:
    r"""Distributional Discrepancy: how well a classifier separates the candidate from the reference.

    .. math:: \mathrm{DD} = 2a - 1

    Here a is the accuracy on texts that the classifier was not trained on, with the same weight on both samples: DD is
    0 for a classifier that guesses and 1 for one that is always right. A score that is exactly in the middle counts as
    generated, as in the paper.

    - `classifier=ridge`: a linear discriminant with a ridge penalty on hashed words and word pairs, projected to 1,024
      features, and on six traits of the text (length, and how common its words are). Every text is classified by all
      other texts; copies of the text and texts of its group are left out with it. The p-value is that of a permutation
      test with a new classifier for every text and every exchange.
    - `classifier=embedding`: the same on sentence vectors (`--encoder`).
    - `classifier=cnn`: the network of the paper (extra `models`). `size=laptop` is smaller and faster.
    - `classifier=ngram`: logistic regression on hashed words and word pairs.

    `ngram` and `cnn` are trained on a part of the texts and tested on another one:

    - `split=random`: the paper's split, 80 % to train on, 10 % to choose the best epoch and 10 % for the test. A text
      that a generator repeats is in several parts and is recognised, so that a collapsed generator is separated, as
      its distribution is. Misleading if texts are repeated for another reason, such as the same row twice in a file.
    - `split=copies`: all copies of a text are in the same part, half of the texts are for training, and for `cnn` a
      quarter for the best epoch. It measures how well texts that were never seen are separated. Misleading for a
      generator that repeats a few texts: ten captions, 100 times each, may be called real.

    Interval and test are exact binomial ones on the held-out texts, with copies that are classified alike counted as
    the number of independent texts that they are worth (`n_effective`). Groups are never divided; with groups there is
    neither interval nor test, because texts of a group are not independent.

    It sees any difference that its features show: unusual words and phrases, and with vectors or the network also
    differences in meaning and order.

    Misleading as a measure of quality: a difference in format or topic separates samples as well as bad writing does.
    It grows with the number of texts to train on, so only samples of the same size can be compared. A weak classifier
    gives a low value, which does not show that the samples are alike. `ridge` and `embedding` classify a text without
    its copies, so that they see a collapsed generator only if its texts are alike.

    It is undefined if there are too few different texts to train on and to hold out.
    """
    return _by_ridge(candidate, reference)


def _by_ridge(candidate: Labelled, reference: Labelled) -> float:
    n, m = len(candidate), len(reference)
    is_mine = (np.arange(n + m) < n)[None]
    return float(leave_one_out(candidate, reference).discrepancies(np.arange(n + m), is_mine, ~is_mine)[0])


@variant(
    "dd",
    classifier="embedding",
    interval="jackknife:fixed-classifier",
    test="permutation",
    parts=ridge_parts,
    leave_out=ridge_leave_out,
    exchange=ridge_exchange,
)
def dd_embedding(
    candidate: LabelledVectors, reference: LabelledVectors, /, *, classifier: Classifier = "embedding"
) -> Value:
    """DD of the ridge classifier on sentence vectors."""
    return _by_ridge(candidate, reference)


_TOO_FEW = "the split leaves a part without texts of one sample: wanted more texts, or more different ones"


def ngram_parts(
    candidate: LabelledTexts, reference: LabelledTexts, /, *, classifier: str, split: HowToSplit
) -> Mapping[str, float]:
    """Accuracy and recalls on the held-out part, its numbers of texts, and for `random` those of validation."""
    return measured(candidate, reference, ("ngram",), logistic_scores, how=split, validate=split == "random")


@variant(
    "dd",
    classifier="ngram",
    interval="binomial:held-out",
    test="binomial:held-out",
    parts=ngram_parts,
    undefined=_TOO_FEW,
)
def dd_ngram(
    candidate: LabelledTexts,
    reference: LabelledTexts,
    /,
    *,
    classifier: Classifier = "ngram",
    split: HowToSplit = "random",
) -> Value:
    """DD of logistic regression on hashed n-grams with a held-out part."""
    return discrepancy(ngram_parts(candidate, reference, classifier=classifier, split=split))


def cnn_parts(
    candidate: LabelledTexts, reference: LabelledTexts, /, *, classifier: str, size: Size, split: HowToSplit
) -> Mapping[str, float]:
    """Accuracy and recalls on the held-out part, its numbers of texts, and accuracy and DD on the validation part."""
    return measured(candidate, reference, ("cnn", size), partial(network_scores, preset=PRESETS[size]), how=split)


@variant(
    "dd",
    classifier="cnn",
    interval="binomial:held-out",
    test="binomial:held-out",
    parts=cnn_parts,
    undefined=_TOO_FEW,
)
def dd_cnn(
    candidate: LabelledTexts,
    reference: LabelledTexts,
    /,
    *,
    classifier: Classifier = "cnn",
    size: Size = "paper",
    split: HowToSplit = "random",
) -> Value:
    """DD of the convolutional network of the paper with a held-out part."""
    return discrepancy(cnn_parts(candidate, reference, classifier=classifier, size=size, split=split))
