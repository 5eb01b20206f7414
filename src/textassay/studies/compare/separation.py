"""What the classifier of `dd` uses: the phrases behind its decisions, and the texts that it is surest about."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import F64, I64
from textassay.corpus.hashed_ngrams import Incidence
from textassay.corpus.printable import on_one_line, shortened
from textassay.metrics.learned.labelled_texts import (
    ORDERS,
    SPREAD,
    LabelledTexts,
    hashed_features,
    leave_one_out,
    pooled,
    rarity,
)
from textassay.metrics.views import Material
from textassay.studies.compare.differences import Gram, joined, with_words
from textassay.studies.compare.result import Cue, Separation, SureText

_MOST, _WIDTH = 10, 160


def what_separates(candidate: Material, reference: Material, *, most: int = _MOST) -> Separation | None:
    """The phrases and texts by which the ridge classifier of `dd` separates two samples; None if it cannot.

    Features are hashed, so a feature is traced back to the phrases of both samples that it represents. Phrases are
    ranked by their weight times the difference between the shares of texts that contain them: one that shares a feature
    with an important phrase by chance differs little and is ranked low.
    """
    views = candidate.view(LabelledTexts), reference.view(LabelledTexts)
    fitted, n = leave_one_out(*views), len(views[0])
    if fitted.inverse is None:
        return None
    units = np.arange(n + len(views[1]))
    counts = fitted.counts(units, (units < n)[None]), fitted.counts(units, (units >= n)[None])
    scores = -fitted.scores(*counts)[fitted.case_of, 0]
    spread = float(scores.std()) or 1.0
    cues = _cues(views, (candidate, reference), fitted.weights(*counts) / spread, most)
    sure = np.argsort(-scores, kind="stable"), np.argsort(scores, kind="stable")
    relative = scores / spread
    return Separation(
        *cues,
        generated=_texts(candidate, relative, sure[0][(sure[0] < n) & (scores[sure[0]] > 0)], 0, most),
        real=_texts(reference, relative, sure[1][(sure[1] >= n) & (scores[sure[1]] < 0)], n, most),
        mistaken=_texts(candidate, relative, sure[1][(sure[1] < n) & (scores[sure[1]] < 0)], 0, most),
    )


def _cues(
    views: tuple[LabelledTexts, LabelledTexts], materials: tuple[Material, Material], weights: F64, most: int
) -> tuple[tuple[Cue, ...], tuple[Cue, ...]]:
    """The phrases that help most to recognise candidates, and references."""
    both, n = pooled(*views), len(views[0])
    found: tuple[list[tuple[float, Gram, Cue]], list[tuple[float, Gram, Cue]]] = ([], [])
    for order in ORDERS:
        incidence: Incidence = both.ngrams.order(order)
        candidate = _holders(incidence, incidence.texts < n)
        reference = _holders(incidence, incidence.texts >= n)
        columns, signs = hashed_features(incidence.keys)
        weight = (signs * weights[columns]).sum(axis=0) / SPREAD**0.5
        gap = candidate / n - reference / (len(both) - n)
        gain = np.where(candidate + reference > 1, weight * rarity(candidate + reference, len(both)) * gap, 0.0)
        for side, sign in enumerate((1, -1)):
            useful = np.flatnonzero((sign * weight > 0) & (gain > 0))
            for index in useful[np.argsort(-gain[useful], kind="stable")[:most]].tolist():
                gram = Gram(order, incidence.keys[index], int(candidate[index]), int(reference[index]), 0.0)
                cue = Cue("", int(candidate[index]), int(reference[index]), float(weight[index]))
                found[side].append((float(gain[index]), gram, cue))
    return _named(found[0], materials[0], most), _named(found[1], materials[1], most)


def _holders(incidence: Incidence, chosen: Any) -> I64:
    """How many of the chosen texts contain each n-gram."""
    sums = np.concatenate(([0], np.cumsum(chosen)))
    return np.diff(sums[incidence.starts])


def _named(found: Sequence[tuple[float, Gram, Cue]], material: Material, most: int) -> tuple[Cue, ...]:
    """The best phrases with their words, which are read from a sample that contains them."""
    best = sorted(found, key=lambda each: (-each[0], each[1].n, int(each[1].key)))[:most]
    grams = with_words([gram for _, gram, _ in best], material)
    tokenizer = material.settings.tokenizer
    return tuple(
        Cue(joined(gram.words, tokenizer), cue.candidate_texts, cue.reference_texts, cue.weight)
        for gram, (_, _, cue) in zip(grams, best, strict=True)
    )


def _texts(material: Material, scores: F64, places: I64, offset: int, most: int) -> tuple[SureText, ...]:
    """The first different texts at these indices."""
    few = places[: 10 * most]
    texts = material.sample.texts.take(pa.array(few - offset)).to_pylist()
    different = dict(zip(reversed(texts), reversed(scores[few].tolist()), strict=True))
    ordered = sorted(different.items(), key=lambda each: -abs(each[1]))[:most]
    return tuple(SureText(shortened(on_one_line(text), _WIDTH), score) for text, score in ordered)
