"""Classifiers with a held-out part: the split of two samples, and logistic regression on hashed n-grams."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64, I64, U64, Bool
from textassay.corpus.hashed_ngrams import mix
from textassay.metrics.learned.labelled_texts import LabelledTexts, pooled, projected

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

    All parts are in an order that depends on the texts only. The held-out part has as many candidates as references.
    """

    train: I64
    validation: I64
    held_out: I64
    is_candidate: Bool

    @property
    def usable(self) -> bool:
        """Whether there is something to train on and something held out."""
        parts = [self.train, self.held_out, *([self.validation] if len(self.validation) else [])]
        return all(len(part) and 0 < self.is_candidate[part].mean() < 1 for part in parts)


def split(candidate: LabelledTexts, reference: LabelledTexts, *, validate: bool = False) -> Split:
    """Half of the texts to train on, the rest held out; with `validate`, half of the rest is for validation.

    The part of a text depends on the hash of its words, or of its group, only. So copies and groups are never divided,
    and held-out texts are independent draws. Where copies are in different groups, a text to train on that is also held
    out is left out.
    """
    both = pooled(candidate, reference)
    keys: U64 = both.keys
    units = keys if both.groups is None else both.groups
    draw = mix(units ^ _SPLIT) >> np.uint64(62)
    part = np.where(draw < 2, 0, np.where((draw == 2) & validate, 1, 2))
    is_candidate = np.arange(len(keys)) < len(candidate)
    order = np.lexsort((is_candidate, keys, mix(keys ^ _CHOICE)))
    train, validation, held_out = (order[part[order] == number] for number in range(3))
    held_out = _balanced(held_out, is_candidate)
    validation = validation[~np.isin(keys[validation], keys[held_out])]
    seen = np.concatenate((keys[held_out], keys[validation]))
    return Split(train[~np.isin(keys[train], seen)], _balanced(validation, is_candidate), held_out, is_candidate)


def _balanced(places: I64, is_candidate: Bool) -> I64:
    """As many candidates as references, the first ones of each."""
    sides = [places[is_candidate[places] == side] for side in (True, False)]
    size = min(map(len, sides))
    return np.concatenate([side[:size] for side in sides])


def accuracy_parts(is_called_candidate: Bool, found: Split) -> Mapping[str, float]:
    """The accuracy, the recall of each sample, and the number of held-out texts."""
    truth = found.is_candidate[found.held_out]
    recalls = float(is_called_candidate[truth].mean()), float((~is_called_candidate[~truth]).mean())
    right = int((is_called_candidate == truth).sum())
    return {
        "accuracy": right / len(truth),
        "candidate_recall": recalls[0],
        "reference_recall": recalls[1],
        "n_held_out": float(len(truth)),
    }


def measured(
    candidate: LabelledTexts,
    reference: LabelledTexts,
    key: tuple[str, ...],
    classify: Callable[[Any, Split], F64],
    *,
    validate: bool = False,
) -> Mapping[str, float]:
    """The parts of a classifier that is trained once and kept with the candidate; empty if there are too few texts.

    `classify` trains on the pooled texts and returns the scores of held-out texts, 0 or less for candidates.
    """
    both = pooled(candidate, reference)

    def make() -> Mapping[str, float]:
        found = split(candidate, reference, validate=validate)
        if not found.usable:
            return {}
        scores = classify(both, found)
        return accuracy_parts(np.where(np.abs(scores) <= _ROUNDING, 0.0, scores) <= 0, found)

    return both.once(("held out", *key), make)


def discrepancy(parts: Mapping[str, float]) -> float:
    """DD from the parts; not a number if nothing could be classified."""
    return 2 * parts["accuracy"] - 1 if parts else math.nan


def logistic_scores(both: LabelledTexts, found: Split) -> F64:
    """Scores of held-out texts by logistic regression on n-grams of the training part."""
    from sklearn.linear_model import LogisticRegression

    features = projected([both.ngrams.order(n) for n in _ORDERS], len(both), dimension=DIMENSION)
    model = LogisticRegression(class_weight="balanced", max_iter=_MOST_STEPS)
    model.fit(features[found.train], ~found.is_candidate[found.train])
    return np.asarray(model.decision_function(features[found.held_out]))
