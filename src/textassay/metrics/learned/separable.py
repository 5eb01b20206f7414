"""Separable share: the share of texts by which a classifier tells a candidate from the reference, on held-out texts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import ndtri

from textassay.corpus.arrays import F32, F64, I64, U64, Bool
from textassay.corpus.hashed_ngrams import Incidence, mix, starts_of_runs
from textassay.metrics.interval_methods import NEWCOMBE
from textassay.metrics.learned.labelled_texts import LabelledBoth, LabelledTexts, pooled, rarity
from textassay.metrics.learned.leave_one_out import ridge_inverse
from textassay.metrics.ngrams.overlap import hashed_edges, text_traits
from textassay.metrics.registry import metric, variant

Features = Literal["words", "both"]
# The fewest independent texts or groups of a sample: each of the folds then holds out four of them.
FEWEST_UNITS = 20
N_FOLDS = 5
# Hashed features: so many that collisions hardly matter. Only those that occur in two texts take memory.
_FEATURES = 2**17
# The ridge penalty beside rows of length 1, and how exactly the classifier is solved.
_PENALTY, _TOLERANCE, _MOST_STEPS = 3.0, 1e-4, 40
# Standard errors by which a threshold must be better than others. One of many thousand words needs more.
_ERRORS, _ERRORS_OF_WORDS = 3.0, 4.0
_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class _Texts:
    """Pooled texts in an order that depends on nothing but the texts: features, traits, labels, units and folds.

    A unit is a text, or a group of texts where there are groups: units are independent draws, the texts of one unit
    are not.
    """

    features: csr_array
    vectors: F64 | None
    traits: F64
    is_candidate: Bool
    unit: I64
    fold: I64

    @classmethod
    def of(cls, both: LabelledTexts, vectors: F32 | None, *, n: int) -> "_Texts":
        is_candidate = np.arange(len(both)) < n
        names = _copies_apart(both.keys, is_candidate) if both.groups is None else both.groups
        order = np.lexsort((both.keys, names, ~is_candidate))
        _, unit = np.unique(names, return_inverse=True)
        fold = _folds(unit, is_candidate)
        # Texts of a group have words in common, so what is common is counted in other folds, which lack the group.
        apart = None if both.groups is None else fold
        return cls(
            _features(both, apart)[order],
            None if vectors is None else vectors[order].astype(np.float64),
            _traits(both, apart)[order],
            is_candidate[order],
            unit[order],
            fold[order],
        )


def _copies_apart(keys: U64, is_candidate: Bool) -> U64:
    """A name for each text: copies are separate draws, so each has a name of its own, in the other sample as well.

    Copies must fall into folds at random. If a copy in one sample were held out together with one in the other sample,
    only the surplus of a text in one of them would be left to learn from and to count, and by chance there is one of
    nearly every text that repeats. The name of a text in both samples therefore has a number that depends on the whole
    sample. A sample and its own copy have the same number, so their copies are held out together, and their share is
    exactly 0.
    """
    order = np.lexsort((is_candidate, keys))
    same = np.stack((keys[order], is_candidate[order].astype(np.uint64)))
    starts = np.flatnonzero(np.concatenate(([True], (same[:, 1:] != same[:, :-1]).any(axis=0))))
    number = np.empty(len(keys), dtype=np.uint64)
    number[order] = (np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))).astype(np.uint64)
    in_both = np.isin(keys, np.intersect1d(keys[is_candidate], keys[~is_candidate]))
    for side in (is_candidate, ~is_candidate):
        number[side & in_both] += np.add.reduce(mix(keys[side]))
    return mix(keys + number * _STEP)


def _folds(unit: I64, is_candidate: Bool) -> I64:
    """The fold of each text. Units of both samples, of the candidate only and of the reference only are dealt apart.

    Units are numbered in the order of their hashes, which is as good as random.
    """
    n_units = int(unit.max(initial=-1)) + 1
    kind = np.zeros(n_units, dtype=np.int64)
    kind[np.unique(unit[is_candidate])] += 1
    kind[np.unique(unit[~is_candidate])] += 2
    fold = np.empty(n_units, dtype=np.int64)
    for each in (1, 2, 3):
        members = np.flatnonzero(kind == each)
        fold[members] = np.arange(len(members)) * N_FOLDS // max(len(members), 1)
    return fold[unit]


def _features(texts: LabelledTexts, apart: I64 | None) -> csr_array:
    """Words, word pairs, openings and endings of each text, weighed by how rare they are, as rows of length 1.

    Those of one text, or of texts of one fold where folds are `apart`, are left out.
    """
    edges = Incidence.from_ngrams(*hashed_edges(texts.sequences, 2))
    rows, columns, values = [], [], []
    for incidence in (texts.ngrams.order(1), texts.ngrams.order(2), edges):
        runs = np.diff(incidence.starts)
        shared = (runs if apart is None else _folds_with(incidence, apart)) > 1
        rows.append(incidence.texts[np.repeat(shared, runs)].astype(np.int64))
        runs = runs[shared]
        columns.append(np.repeat(incidence.keys[shared] % np.uint64(_FEATURES), runs).astype(np.int64))
        values.append(np.repeat(rarity(runs, len(texts)), runs))
    used, column = np.unique(np.concatenate(columns), return_inverse=True)
    found = csr_array((np.concatenate(values), (np.concatenate(rows), column)), shape=(len(texts), len(used)))
    found.sum_duplicates()
    lengths = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).reshape(-1))
    found.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(found.indptr))
    return found


def _folds_with(incidence: Incidence, fold: I64) -> I64:
    """In how many folds each n-gram is."""
    grams = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
    pairs = np.unique(grams * N_FOLDS + fold[incidence.texts])
    return np.bincount(pairs // N_FOLDS, minlength=len(incidence.keys))


def _traits(texts: LabelledTexts, apart: I64 | None) -> F64:
    """Numbers of each text: length, how common its words are, and how many tokens are marks; as normal quantiles.

    Quantiles instead of the numbers themselves, so that a few very long texts do not decide.
    """
    sequences = texts.sequences
    owner = np.repeat(np.arange(len(texts)), sequences.lengths)
    marks = np.bincount(owner, sequences.marks, len(texts))
    counted = np.stack((marks, marks / np.maximum(sequences.lengths, 1)), axis=1)
    numbers = np.concatenate((text_traits(sequences, texts.ngrams, apart=apart), counted), axis=1)
    ranks = np.stack([_mean_ranks(column) for column in numbers.T], axis=1)
    return np.asarray(ndtri((ranks - 0.5) / len(texts)))


def _mean_ranks(numbers: F64) -> F64:
    """Ranks from 1; equal numbers share the mean of their ranks. Loading scipy.stats for this would take a second."""
    ordered = np.sort(numbers)
    before, until = (np.searchsorted(ordered, numbers, side) for side in ("left", "right"))
    return np.asarray((before + until + 1) / 2)


def _called(texts: _Texts) -> Bool:
    """Whether each text is called a candidate by a classifier that was learned without its fold.

    For each fold, scores of the other folds are themselves made by classifiers without that fold and without the text's
    own. From these scores the second step (scores and traits together) and the threshold are learned. A single trait,
    or a single word, word pair, opening or ending, is used instead where it separates the other folds more surely: a
    few clearly unlike texts hardly move a linear rule, and one mark hardly moves the score of a long text.
    """
    has = csc_array(texts.features.astype(bool))
    scores = [_scores(texts, partial(_ridge, texts))]
    if texts.vectors is not None:
        scores.append(_scores(texts, _VectorRidge.of(texts.vectors, texts).scores))
    called = np.zeros(len(texts.fold), dtype=bool)
    for fold in range(N_FOLDS):
        inside = texts.fold != fold
        own = np.stack([each[fold] for each in scores], axis=1)
        combined = _combined(texts, own, inside)
        columns = [combined, *own.T, *texts.traits.T, *-texts.traits.T]
        found = [_threshold(column[inside], texts.is_candidate[inside]) for column in columns]
        gain, word = _clearest_word(has, texts.is_candidate, inside)
        columns.append(word)
        found.append((gain, 0.5))
        best = int(np.argmax([gain for gain, _ in found]))
        called[~inside] = columns[best][~inside] > found[best][1]
    return called


def _combined(texts: _Texts, scores: F64, inside: Bool) -> F64:
    """Scores and traits together, for each text by a linear rule learned on the texts inside of other folds."""
    parts = (scores, texts.traits, texts.traits**2, np.ones((len(scores), 1)))
    numbers = np.concatenate(parts, axis=1)
    combined = np.empty(len(scores))
    for fold in range(N_FOLDS):
        chosen = texts.fold == fold
        weights = _least_squares(numbers, texts.is_candidate, inside & ~chosen)
        combined[chosen] = numbers[chosen] @ weights
    return combined


def _scores(texts: _Texts, fitted: Callable[[Bool], F64]) -> F64:
    """For each fold (rows) the scores of all texts by classifiers without that fold and without their own.

    `fitted` learns a classifier from the texts of a mask and returns the scores of all texts.
    """
    scores = np.empty((N_FOLDS, len(texts.fold)))
    for fold in range(N_FOLDS):
        for other in range(fold + 1):
            found = fitted((texts.fold != fold) & (texts.fold != other))
            scores[fold, texts.fold == other] = found[texts.fold == other]
            scores[other, texts.fold == fold] = found[texts.fold == fold]
    # Numbers of about the size of the traits.
    return np.asarray(scores / max(float(scores.std()), 1e-9))


def _ridge(texts: _Texts, inside: Bool) -> F64:
    """Scores of all texts by ridge regression of the labels on the features of the texts inside."""
    features, weight = texts.features, np.sqrt(_balanced(texts.is_candidate, inside))
    # Transposed once: each product would do it again.
    transposed = features.T
    shape = (features.shape[0], features.shape[1] + 1)
    operator = LinearOperator(
        shape,
        matvec=lambda w: weight * (features @ w[:-1] + w[-1]),
        rmatvec=lambda r: np.append(transposed @ (weight * r), weight @ r),
        dtype=np.float64,
    )
    target = weight * np.where(texts.is_candidate, 1.0, -1.0)
    solved = lsmr(operator, target, damp=math.sqrt(_PENALTY), atol=_TOLERANCE, btol=_TOLERANCE, maxiter=_MOST_STEPS)[0]
    return np.asarray(features @ solved[:-1] + solved[-1])


@dataclass(frozen=True, eq=False)
class _VectorRidge:
    """Sums over the texts of each fold and sample, from which a linear discriminant of any folds follows."""

    vectors: F64
    fold: I64
    sizes: F64
    sums: F64
    squares: F64

    @classmethod
    def of(cls, vectors: F64, texts: _Texts) -> "_VectorRidge":
        centred = vectors - vectors.mean(axis=0)
        cells = [
            centred[(texts.fold == fold) & (texts.is_candidate == side)]
            for side in (True, False)
            for fold in range(N_FOLDS)
        ]
        shape = (2, N_FOLDS, vectors.shape[1])
        sizes = np.array([len(cell) for cell in cells], dtype=np.float64).reshape(2, N_FOLDS)
        sums = np.stack([cell.sum(axis=0) for cell in cells]).reshape(shape)
        squares = np.stack([cell.T @ cell for cell in cells]).reshape(*shape, -1)
        return cls(centred, texts.fold, sizes, sums, squares)

    def scores(self, inside: Bool) -> F64:
        """Scores of all texts by the discriminant of the texts inside, which are whole folds."""
        folds = np.unique(self.fold[inside])
        sizes = self.sizes[:, folds].sum(axis=1)
        means = self.sums[:, folds].sum(axis=1) / sizes[:, None]
        spreads = self.squares[:, folds].sum(axis=1) - sizes[:, None, None] * means[:, :, None] * means[:, None, :]
        inverse = ridge_inverse(spreads.sum(axis=0), int(sizes.sum()))
        return np.zeros(len(self.vectors)) if inverse is None else self.vectors @ (inverse @ (means[0] - means[1]))


def _balanced(is_candidate: Bool, inside: Bool) -> F64:
    """Weights of the texts inside with the same sum for both samples; 0 for all others."""
    n, m = int((inside & is_candidate).sum()), int((inside & ~is_candidate).sum())
    return np.where(inside, np.where(is_candidate, (n + m) / (2 * n), (n + m) / (2 * m)), 0.0)


def _least_squares(numbers: F64, is_candidate: Bool, inside: Bool) -> F64:
    """Weights of a linear classifier on a few numbers."""
    weighted = numbers[inside] * _balanced(is_candidate, inside)[inside][:, None]
    squares = weighted.T @ numbers[inside]
    squares[np.diag_indices(len(squares))] += 1.0
    return np.asarray(np.linalg.solve(squares, weighted.T @ np.where(is_candidate[inside], 1.0, -1.0)), np.float64)


def _threshold(scores: F64, is_candidate: Bool) -> tuple[float, float]:
    """The score above which the shares of candidates and of references differ most surely, after how surely they do.

    The largest difference itself is mostly one of large shares, where differences vary most by chance: few texts that
    are clearly unlike all others would be lost in it. So three standard errors are subtracted from each difference.
    """
    order = np.argsort(-scores, kind="stable")
    above = np.stack((is_candidate[order], ~is_candidate[order])).cumsum(axis=1)
    sizes = above[:, -1:]
    ends = starts_of_runs(scores[order])[1:-1] - 1
    if not len(ends):
        return -math.inf, math.inf
    candidate, reference = above[:, ends] / sizes
    smooth = (above[:, ends] + 0.5) / (sizes + 1)
    error = np.sqrt((smooth * (1 - smooth) / sizes).sum(axis=0))
    gains = candidate - reference - _ERRORS * error
    best = int(np.argmax(gains))
    last = int(ends[best])
    return float(gains[best]), float((scores[order[last]] + scores[order[last + 1]]) / 2)


def _clearest_word(has: csc_array, is_candidate: Bool, inside: Bool) -> tuple[float, F64]:
    """How surely the clearest word, word pair, opening or ending separates the texts inside, and which texts speak for
    the candidate by it: those that have it, or those that lack it.
    """
    if not has.shape[1]:
        return -math.inf, np.zeros(has.shape[0])
    sides = np.stack((inside & is_candidate, inside & ~is_candidate))
    sizes = sides.sum(axis=1)[:, None]
    counts = np.stack([has.T @ side.astype(np.int64) for side in sides])
    smooth = (counts + 0.5) / (sizes + 1)
    error = np.sqrt((smooth * (1 - smooth) / sizes).sum(axis=0))
    shift = counts[0] / sizes[0] - counts[1] / sizes[1]
    gains = np.abs(shift) - _ERRORS_OF_WORDS * error
    best = int(np.argmax(gains))
    shown = np.zeros(has.shape[0])
    shown[has.indices[has.indptr[best] : has.indptr[best + 1]]] = 1.0
    return float(gains[best]), shown if shift[best] > 0 else 1.0 - shown


@dataclass(frozen=True, eq=False)
class _Rate:
    """The share of texts of one sample that are called candidates: a mean over units."""

    share: float
    deviations: F64
    unit: I64
    effective: float

    @classmethod
    def of(cls, called: Bool, unit: I64) -> "_Rate":
        names, numbers = np.unique(unit, return_inverse=True)
        means = np.bincount(numbers, called) / np.bincount(numbers)
        share, n = float(means.mean()), len(means)
        deviations = (means - share) / n
        if n == len(called):
            return cls(share, deviations, names, float(n))
        # As many independent texts as would give a share of the same variance.
        variance = float((deviations**2).sum()) * n / (n - 1)
        effective = min(share * (1 - share) / variance, float(len(called))) if variance > 0 else float(n)
        return cls(share, deviations, names, effective)

    @property
    def variance(self) -> float:
        return float((self.deviations**2).sum())


def separable_parts(
    candidate: LabelledTexts, reference: LabelledTexts, /, *, features: str = "words"
) -> Mapping[str, float]:
    """Shares of both samples that are called candidates, and what their interval needs; empty if there are too few.

    `candidate_effective` and `reference_effective` are as many independent texts as the share is based on,
    `correlation` is that of the two shares over groups that both samples have, and `n_units` the number of texts or
    groups of the smaller sample.
    """
    both = pooled(candidate, reference)
    found: Mapping[str, float] = both.once("separable", lambda: _parts(both, None, n=len(candidate)))
    return found


def separable_parts_of_both(
    candidate: LabelledBoth, reference: LabelledBoth, /, *, features: str = "both"
) -> Mapping[str, float]:
    """The same with sentence vectors."""
    both = pooled(candidate, reference)
    found: Mapping[str, float] = both.once(
        "separable", lambda: _parts(both.texts, both.vectors.values, n=len(candidate.texts))
    )
    return found


def _parts(both: LabelledTexts, vectors: F32 | None, *, n: int) -> Mapping[str, float]:
    groups = both.groups
    units = (n, len(both) - n) if groups is None else (len(np.unique(groups[:n])), len(np.unique(groups[n:])))
    if min(units) < FEWEST_UNITS:
        return {}
    texts = _Texts.of(both, vectors, n=n)
    called = _called(texts)
    candidate, reference = (
        _Rate.of(called[side], texts.unit[side]) for side in (texts.is_candidate, ~texts.is_candidate)
    )
    _, at, other = np.intersect1d(candidate.unit, reference.unit, return_indices=True)
    together = 0.0 if groups is None else float(candidate.deviations[at] @ reference.deviations[other])
    spread = math.sqrt(candidate.variance * reference.variance)
    return {
        "candidate_rate": candidate.share,
        "reference_rate": reference.share,
        "candidate_effective": candidate.effective,
        "reference_effective": reference.effective,
        "correlation": together / spread if spread > 0 else 0.0,
        "n_units": float(min(units)),
    }


@metric(
    "separable",
    family="learned",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, 1.0),
    interval=NEWCOMBE,
    test=None,
    why_no_test="the overall test decides whether samples differ",
    paper="michel2020",
    minimum=FEWEST_UNITS,
    undefined=f"one of the samples has fewer than {FEWEST_UNITS} groups",
    in_default=False,
    parts=separable_parts,
)
def separable(candidate: LabelledTexts, reference: LabelledTexts, /, *, features: Features = "words") -> float:
    r"""Separable share: the share of the candidate's texts that must be replaced, at least, to match the reference.

    .. math:: \max_A [P(A) - Q(A)] = \mathrm{TV}(P, Q) \ge P(\hat A) - Q(\hat A)

    P and Q are the distributions of candidate and reference. Their total variation distance TV is the smallest share
    of the candidate's texts that must be replaced to make it distributed like the reference. No set of texts A, such
    as the texts that a classifier calls generated, can differ more in probability than TV. So the share of candidates
    that a classifier calls generated, minus that share of references, is a lower limit of TV, if both are counted on
    texts that the classifier has not seen.

    With `features=words`, a ridge classifier reads words, word pairs, openings and endings in 131,072 hashed features,
    and a linear one combines its score with length, marks and the commonness of words. `features=both` adds the score
    of another classifier, on sentence vectors (`--encoder`). All of them, and the threshold, are learned on four fifths
    of the texts and applied to the last fifth, five times. Copies of a text are separate draws. Texts of one group stay
    together, and each group counts once. The interval is one-sided: its lower end is the lower confidence bound, and
    its upper end is 1, because differences that the classifier does not see may be of any size.

    It sees any difference in words, phrases, openings, endings, length and markup, and repeated texts.

    Misleading as an upper limit: a difference that the classifier does not recognise does not count, and the share
    grows with the number of texts to learn from. With a weak difference or few texts it is near 0, which does not show
    that the samples are alike.

    It is undefined if one of the samples has fewer than 20 texts, or fewer than 20 groups.
    """
    return _share(separable_parts(candidate, reference))


@variant(
    "separable",
    features="both",
    interval=NEWCOMBE,
    test=None,
    why_no_test="the overall test decides whether samples differ",
    parts=separable_parts_of_both,
)
def separable_both(candidate: LabelledBoth, reference: LabelledBoth, /, *, features: Features = "both") -> float:
    """The separable share by words and sentence vectors."""
    return _share(separable_parts_of_both(candidate, reference))


def _share(parts: Mapping[str, float]) -> float:
    return max(parts["candidate_rate"] - parts["reference_rate"], 0.0) if parts else math.nan
