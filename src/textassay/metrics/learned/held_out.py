"""Classifiers with a held-out part: the split of two samples, and logistic regression on hashed n-grams."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from textassay.corpus.arrays import F64, I64, U64, Bool
from textassay.corpus.hashed_ngrams import mix
from textassay.metrics.learned.labelled_texts import LabelledTexts, pooled, projected

HowToSplit = Literal["random", "copies"]

# The shares of a random split up to which texts are for training and for validation.
_RANDOM_PARTS = (0.8, 0.9)
# Features of the n-gram classifier: so many that collisions hardly matter.
DIMENSION = 2**18
_ORDERS = (1, 2)
# Scores closer to 0 than this are rounding.
_ROUNDING = 1e-9
_SPLIT, _CHOICE = np.uint64(0xA0761D6478BD642F), np.uint64(0xD6E8FEB86659FD93)
_MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Split:
    """Places of pooled texts: parts to train on, to choose a checkpoint with, and held out; and who is a candidate.

    All parts are in an order that depends on the texts only. The held-out part has as many candidates as references,
    and so has the validation part. `effective` is the number of independent held-out texts, from both samples.
    """

    train: I64
    validation: I64
    held_out: I64
    is_candidate: Bool
    effective: float

    def usable(self, *, validate: bool) -> bool:
        """Whether every part that is needed has texts of both samples."""
        parts = [self.train, self.held_out, *([self.validation] if validate else [])]
        return all(len(part) and 0 < self.is_candidate[part].mean() < 1 for part in parts)

    @property
    def scored(self) -> I64:
        """The texts that a classifier scores: those for validation, then those that are held out."""
        return np.concatenate((self.validation, self.held_out))


def split(
    candidate: LabelledTexts, reference: LabelledTexts, *, how: HowToSplit = "random", validate: bool = True
) -> Split:
    """The parts of two samples.

    With `random`, 80, 10 and 10 % of each sample are for training, validation and the test, whatever texts are equal.
    With `copies`, copies of a text are in the same part, and the parts are a half, a quarter and a quarter, or without
    `validate` two halves. Texts of one group are in the same part with both. Which part it is depends on a hash of the
    texts, so that the order of the texts does not matter.
    """
    both = pooled(candidate, reference)
    is_candidate = np.arange(len(both.keys)) < len(candidate)
    if how == "random":
        part = np.digitize(_places(both, is_candidate), _RANDOM_PARTS)
    else:
        draw = mix((both.keys if both.groups is None else both.groups) ^ _SPLIT) >> np.uint64(62)
        part = np.where(draw < 2, 0, np.where((draw == 2) & validate, 1, 2))
    order = np.lexsort((is_candidate, both.keys, mix(both.keys ^ _CHOICE)))
    train, validation, held_out = (order[part[order] == number] for number in range(3))
    held_out = _balanced(held_out, is_candidate)
    if how == "copies":
        # Copies in different groups: what is held out is not trained on.
        validation = validation[~np.isin(both.keys[validation], both.keys[held_out])]
        train = train[~np.isin(both.keys[train], both.keys[np.concatenate((held_out, validation))])]
    effective = float(len(held_out)) if how == "random" else _n_independent(both.keys[held_out], is_candidate[held_out])
    return Split(train, _balanced(validation, is_candidate), held_out, is_candidate, effective)


def _places(both: LabelledTexts, is_candidate: Bool) -> F64:
    """A number from 0 to 1 per text that decides on its part: the place of the text in a random order of its sample.

    The order comes from a hash of each text and of its number among its copies, so that copies go to different parts. A
    sum over all texts makes it another order for other texts, and a sum over the sample makes it another order for the
    texts that are in both samples: if their copies went to the same part in pairs, a text that one sample has more
    often by chance would have its surplus in training and test alike. Groups have a random number each, so that they
    are not divided.
    """
    salt = mix(both.keys.sum(dtype=np.uint64, keepdims=True) ^ _SPLIT)
    if both.groups is not None:
        return np.asarray(mix(both.groups ^ salt) / 2.0**64)
    places = np.empty(len(both.keys))
    in_both = np.intersect1d(both.keys[is_candidate], both.keys[~is_candidate])
    for side in (np.flatnonzero(is_candidate), np.flatnonzero(~is_candidate)):
        keys = both.keys[side]
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
        copies = np.empty(len(side), np.uint64)
        copies[order] = np.arange(len(side)) - np.repeat(starts, np.diff(starts, append=len(side)))
        own = mix(keys.sum(dtype=np.uint64, keepdims=True)) * np.isin(keys, in_both)
        draws = mix(mix(keys ^ salt ^ own) + copies)
        places[side[np.lexsort((keys, draws))]] = (np.arange(len(side)) + 0.5) / len(side)
    return places


def _n_independent(keys: U64, is_candidate: Bool) -> float:
    r"""The number of independent texts among held-out texts of which all copies are classified alike.

    A sample in which text i has :math:`w_i` copies is worth :math:`(\sum w_i)^2 / \sum w_i^2` texts (Kish). With
    recalls p and q of both samples and at least k such texts of each, the accuracy a = (p + q) / 2 has a variance of at
    most (p (1 - p) + q (1 - q)) / 4k, which is at most a (1 - a) / 2k, that of a share of 2k texts.
    """
    worth = []
    for side in (is_candidate, ~is_candidate):
        copies = np.unique(keys[side], return_counts=True)[1].astype(np.float64)
        worth.append(copies.sum() ** 2 / max((copies**2).sum(), 1.0))
    return 2 * float(min(worth))


def _balanced(places: I64, is_candidate: Bool) -> I64:
    """As many candidates as references, the first ones of each."""
    sides = [places[is_candidate[places] == side] for side in (True, False)]
    size = min(map(len, sides))
    return np.concatenate([side[:size] for side in sides])


def accuracy_parts(is_called_candidate: Bool, found: Split) -> Mapping[str, float]:
    """The accuracy, the recall of each sample, the number of held-out texts, and accuracy and DD of the validation."""
    n = len(found.validation)
    called, truth = is_called_candidate[n:], found.is_candidate[found.held_out]
    recalls = float(called[truth].mean()), float((~called[~truth]).mean())
    parts = {
        "accuracy": int((called == truth).sum()) / len(truth),
        "candidate_recall": recalls[0],
        "reference_recall": recalls[1],
        "n_held_out": float(len(truth)),
        "n_effective": found.effective,
    }
    if n:
        accuracy = float((is_called_candidate[:n] == found.is_candidate[found.validation]).mean())
        parts |= {"validation_accuracy": accuracy, "validation_dd": 2 * accuracy - 1}
    return parts


def measured(
    candidate: LabelledTexts,
    reference: LabelledTexts,
    key: tuple[str, ...],
    classify: Callable[[Any, Split], F64],
    *,
    how: HowToSplit,
    validate: bool = True,
) -> Mapping[str, float]:
    """The parts of a classifier that is trained once and kept with the candidate; empty if there are too few texts.

    `classify` trains on the pooled texts and returns the scores of `Split.scored`, 0 or less for candidates.
    """
    both = pooled(candidate, reference)

    def make() -> Mapping[str, float]:
        found = split(candidate, reference, how=how, validate=validate)
        if not found.usable(validate=validate):
            return {}
        scores = classify(both, found)
        return accuracy_parts(np.where(np.abs(scores) <= _ROUNDING, 0.0, scores) <= 0, found)

    return both.once(("held out", how, *key), make)


def discrepancy(parts: Mapping[str, float]) -> float:
    """DD from the parts; not a number if nothing could be classified."""
    return 2 * parts["accuracy"] - 1 if parts else math.nan


def logistic_scores(both: LabelledTexts, found: Split) -> F64:
    """Scores of the other parts by logistic regression on n-grams of the training part."""
    from sklearn.linear_model import LogisticRegression

    features = projected([both.ngrams.order(n) for n in _ORDERS], len(both), dimension=DIMENSION)
    model = LogisticRegression(class_weight="balanced", max_iter=_MOST_STEPS)
    model.fit(features[found.train], ~found.is_candidate[found.train])
    return np.asarray(model.decision_function(features[found.scored]))
