"""Clipped n-gram matches and closest reference lengths: the counts behind BLEU, for all texts at once."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from textassay.views.text_ngrams import Incidence, TextNgrams, largest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EPSILON = 0.1


def matches(candidate: TextNgrams, reference: TextNgrams, n: int) -> Floats:
    """Matched n-grams of each candidate text for the orders 1 to n, one row per order; each order is matched once."""

    def order(k: int) -> Floats:
        return matches_between(candidate.order(k), reference.order(k), len(candidate))

    return np.stack([candidate.once(("matches", k), reference, partial(order, k)) for k in range(1, n + 1)])


def own_matches(sample: TextNgrams, n: int) -> Floats:
    """The same with the other texts of the sample as references."""

    def order(k: int) -> Floats:
        return matches_with_others(sample.order(k), len(sample))

    return np.stack([sample.once(("own matches", k), sample, partial(order, k)) for k in range(1, n + 1)])


def matches_between(candidate: Incidence, reference: Incidence, n_texts: int) -> Floats:
    """Matched n-grams of each candidate text, each clipped to its best count in one reference text."""
    best = reference.best()
    if candidate.keys is not reference.keys:
        best = looked_up(candidate, reference, best)
    clipped = np.minimum(candidate.counts, np.repeat(best, np.diff(candidate.starts)))
    return _summed(clipped, candidate.texts, n_texts)


def _summed(amounts: NDArray[np.int32], texts: NDArray[np.int32], n_texts: int) -> Floats:
    return np.asarray(np.bincount(texts, weights=amounts, minlength=n_texts), dtype=np.float64)


def looked_up(candidate: Incidence, reference: Incidence, values: NDArray[np.int32]) -> NDArray[np.int32]:
    """The reference's value (one a gram) for each of the candidate's grams; 0 where the reference lacks it."""
    if not len(reference.keys):
        return np.zeros(len(candidate.keys), dtype=np.int32)
    places = np.minimum(np.searchsorted(reference.keys, candidate.keys), len(reference.keys) - 1)
    return np.where(reference.keys[places] == candidate.keys, values[places], 0).astype(np.int32)


def matches_with_others(incidence: Incidence, n_texts: int) -> Floats:
    """Matched n-grams of each text, each clipped to its best count in one *other* text of the sample.

    The best count serves every text but the one that holds it alone; that one is clipped to the runner-up. So the
    cost is linear in the number of n-grams, not in the number of pairs of texts.
    """
    sizes = np.diff(incidence.starts)
    best = incidence.best()
    at_best = incidence.counts == np.repeat(best, sizes)
    holders = np.diff(np.concatenate(([0], np.cumsum(at_best)))[incidence.starts])
    runner_up = largest(np.where(at_best, 0, incidence.counts).astype(np.int32), incidence.starts)
    alone = at_best & np.repeat(holders == 1, sizes)
    clipped = np.where(alone, np.repeat(runner_up, sizes), incidence.counts)
    return _summed(clipped, incidence.texts, n_texts)


def closest_lengths(lengths: Ints, reference: Ints) -> Ints:
    """The reference length closest to each length; the shorter one on ties."""
    return _closest(lengths, np.unique(reference, return_counts=True)[0])


def closest_other_lengths(lengths: Ints) -> Ints:
    """The closest length among the *other* texts: a text's own length only counts if another text has it too."""
    values, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return lengths
    below = np.concatenate(([values[1]], values[:-1]))
    above = np.concatenate((values[1:], [values[-2]]))
    other = np.where(np.abs(values - below) <= np.abs(above - values), below, above)
    return np.where(counts == 1, other, values)[place]


def _closest(lengths: Ints, values: Ints) -> Ints:
    above = np.minimum(np.searchsorted(values, lengths), len(values) - 1)
    below = np.maximum(above - 1, 0)
    nearer_below = np.abs(lengths - values[below]) <= np.abs(values[above] - lengths)
    closest: Ints = np.where(nearer_below, values[below], values[above])
    return closest


def text_bleu(matches: Floats, sizes: Ints, *, lengths: Ints, closest: Ints) -> Floats:
    """BLEU of each text from its matches and n-gram numbers (one row an order), with smoothing method 1."""
    precisions = np.where(matches > 0, matches, EPSILON) / np.maximum(sizes, 1)
    shrink = 1 - closest / np.maximum(lengths, 1)
    brevity = np.where(lengths > closest, 1.0, np.exp(np.minimum(shrink, 0.0)))
    scores: Floats = brevity * np.exp(np.log(precisions).mean(axis=0))
    return np.where((matches[0] > 0) & (lengths > 0), scores, 0.0)
