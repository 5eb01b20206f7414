"""Precision, recall, density and coverage: which vectors are in neighbourhoods of the other sample."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.metrics.registry import metric
from textassay.metrics.vectors.balls import count_balls
from textassay.metrics.vectors.neighbours import lists_for
from textassay.metrics.vectors.repeated_vectors import WORD, pack
from textassay.metrics.vectors.vectors import Joint, Vectors, joint
from textassay.metrics.views import Resamples

# `paper`: a ball contains its rim, and memberships on it are fractional; `released`: it does not, as in package prdc.
Variant = Literal["paper", "released"]


def fewest_texts(*, k: int, **_others: object) -> int:
    """With this many texts, each text has a k-th nearest other text."""
    return k + 1


def leaving_out(name: str) -> Callable[..., tuple[F64, F64]]:
    """The fast jackknife of one of the four metrics; all four share one computation."""

    def leave_out(
        candidate: Vectors, reference: Vectors, /, *, labels: Sequence[I64], k: int, variant: Variant
    ) -> tuple[F64, F64]:
        mine, theirs = shares_without_groups(candidate, reference, labels=labels, k=k, variant=variant)
        return getattr(mine, name), getattr(theirs, name)

    return leave_out


def exchanging(name: str) -> Callable[..., F64]:
    """The fast permutation test of one of the four metrics; all four share one computation."""

    def exchange(candidate: Vectors, reference: Vectors, /, *, resamples: Resamples, k: int, variant: Variant) -> F64:
        values: F64 = getattr(shares_exchanged(candidate, reference, resamples=resamples, k=k, variant=variant), name)
        return values

    return exchange


@metric(
    "precision",
    family="embedding",
    aspect="quality",
    better="higher",
    rise="more like the reference",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson:wide-balls",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leaving_out("precision"),
    exchange=exchanging("precision"),
)
def precision(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Precision: the share of candidates in the neighbourhood of a reference, up to its k-th nearest reference.

    .. math:: \frac1m \sum_j \Bigl[\min_i \bigl(\lVert y_j - x_i \rVert - r_i\bigr) \le 0\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    A text at exactly the radius is inside, as in the paper, so a repeated text is inside the neighbourhoods of its
    copies. `variant="released"` leaves such texts out, as the package `prdc` does: there a text with k or more copies
    has an empty neighbourhood, and samples of one source in which half of the texts repeat score about 0.5. The default
    k = 5 is that of `prdc`; the paper uses 3.

    It sees candidates that are unlike any reference.

    Misleading if the reference has outliers: their neighbourhoods are wide and contain implausible texts (`density` is
    less affected). A generator that repeats one good text scores 1; read it with `recall`. Values depend on the sample
    size and on k.

    It is always defined for samples of more than k texts. There is no interval below 20 different texts per sample
    (repeated texts count for less), because the value of a few texts changes a lot with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).precision[0])


@metric(
    "recall",
    family="embedding",
    aspect="diversity",
    better="higher",
    rise="more coverage",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson:different-texts",
    test="permutation",
    paper="kynkaanniemi2019",
    minimum=fewest_texts,
    leave_out=leaving_out("recall"),
    exchange=exchanging("recall"),
)
def recall(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Recall: the share of references in the neighbourhood of a candidate, up to its k-th nearest candidate.

    .. math:: \frac1n \sum_i \Bigl[\min_j \bigl(\lVert x_i - y_j \rVert - s_j\bigr) \le 0\Bigr], \quad
        s_j = \text{distance of } y_j \text{ to its } k\text{-th nearest other candidate}

    A reference at exactly the radius is inside, as in the paper; `variant="released"` leaves it out, as the package
    `prdc` does.

    It sees parts of the reference that the candidate does not cover. A text written more than k times has a
    neighbourhood of radius 0, which contains only copies of that text, so a collapsed generator scores near 0.

    Misleading if the candidate has outliers: a few bad texts have wide neighbourhoods that contain much of the
    reference (`coverage` uses neighbourhoods of the references instead). Values depend on the sample size and on k.

    It is always defined for samples of more than k texts. There is no interval below 20 different texts per sample
    (repeated texts count for less), because the value of a few texts changes a lot with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).recall[0])


@metric(
    "density",
    family="embedding",
    aspect="quality",
    better="closer",
    rise="more like the reference",
    bounds=(0.0, np.inf),
    interval="jackknife:wide-balls",
    test="permutation",
    paper="naeem2020",
    minimum=fewest_texts,
    leave_out=leaving_out("density"),
    exchange=exchanging("density"),
)
def density(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Density: in how many neighbourhoods of references (up to their k-th nearest) a candidate is on average, over k.

    .. math:: \frac{1}{k m} \sum_j \sum_i w_{ij}, \quad w_{ij} = 1 \text{ if } \lVert y_j - x_i \rVert < r_i, \quad
        \frac{k - a_i}{t_i + 1} \text{ if } \lVert y_j - x_i \rVert = r_i, \quad 0 \text{ else},

    where :math:`r_i` is the distance of reference :math:`x_i` to its k-th nearest other reference, :math:`a_i` other
    references are nearer than that and :math:`t_i` are exactly as far away. The fraction on the rim is the probability
    that the candidate comes before the k-th reference if texts at equal distance are in random order. With it the
    average over all exchanges of labels is exactly 1 for any number of ties, so samples of one source have 1 on
    average. Without ties it is the paper's formula. `variant="released"` counts 0 on the rim, as the package `prdc`
    does.

    It sees candidates that are unlike any reference (below real text's own value) and candidates that are too
    concentrated where references are dense (above it). The test is two-sided.

    Misleading when more is read as better, as in the paper: a collapsed generator that repeats a few common texts has
    the highest density of all. So closer to real text's own value is better here. One outlier among the references
    changes little, unlike in `precision`.

    It is always defined for samples of more than k texts. There is no interval below 20 different texts per sample
    (repeated texts count for less), because the value of a few texts changes a lot with single ones.
    """
    return float(shares(candidate, reference, k=k, variant=variant).density[0])


@metric(
    "coverage",
    family="embedding",
    aspect="diversity",
    better="higher",
    rise="more coverage",
    bounds=(0.0, 1.0),
    interval="jackknife+wilson",
    test="permutation",
    paper="naeem2020",
    minimum=fewest_texts,
    leave_out=leaving_out("coverage"),
    exchange=exchanging("coverage"),
)
def coverage(candidate: Vectors, reference: Vectors, /, *, k: int = 5, variant: Variant = "paper") -> float:
    r"""Coverage: the share of references whose neighbourhood, up to their k-th nearest reference, has a candidate.

    .. math:: \frac1n \sum_i \Bigl[\min_j \lVert x_i - y_j \rVert \le r_i\Bigr], \quad
        r_i = \text{distance of } x_i \text{ to its } k\text{-th nearest other reference}

    A candidate at exactly the radius counts, so a reference with copies is covered by a candidate of the same text;
    `variant="released"` does not count it, as the package `prdc` does not.

    It sees parts of the reference that the candidate does not cover.

    Misleading if samples differ in size: more candidates cover more neighbourhoods. For samples of one source and one
    size it is near :math:`1 - 2^{-k}`, not 1.

    It is always defined for samples of more than k texts.
    """
    return float(shares(candidate, reference, k=k, variant=variant).coverage[0])


@dataclass(frozen=True, eq=False)
class Shares:
    """The four metrics, one entry per labelling."""

    precision: F64
    recall: F64
    density: F64
    coverage: F64


NAMES = tuple(field.name for field in fields(Shares))


def shares(candidate: Vectors, reference: Vectors, *, k: int, variant: Variant) -> Shares:
    """The four metrics of the two samples, computed once for a pair of samples and k."""
    pair = joint(candidate, reference)
    return pair.once(("ball shares", k, variant), lambda: _relabelled(pair, _as_they_are(pair), k, variant))


def shares_without_groups(
    candidate: Vectors, reference: Vectors, *, labels: Sequence[I64], k: int, variant: Variant
) -> tuple[Shares, Shares]:
    """The four metrics with each group of the candidate left out, and with each group of the reference left out."""
    pair = joint(candidate, reference)
    # The labels are kept with the result, so that no other array can get their id.
    key = ("ball shares without groups", k, variant, *(id(label) for label in labels))
    _, *found = pair.once(key, lambda: (labels, *_without_groups(pair, labels, k, variant)))
    return found[0], found[1]


def shares_exchanged(
    candidate: Vectors, reference: Vectors, *, resamples: Resamples, k: int, variant: Variant
) -> Shares:
    """The four metrics under each labelling, computed once for these resamples."""
    pair = joint(candidate, reference)
    return pair.once(("ball shares exchanged", k, variant, resamples), lambda: _exchanged(pair, resamples, k, variant))


def _exchanged(pair: Joint, resamples: Resamples, k: int, variant: Variant) -> Shares:
    """The four metrics under each labelling; the first labelling is often the observed one, which is kept."""
    observed = np.arange(sum(pair.sizes)) < pair.sizes[0]
    if not np.array_equal(resamples.masks[0][0][resamples.units], observed):
        return _relabelled(pair, resamples, k, variant)
    first = shares(pair.candidate, pair.reference, k=k, variant=variant)
    others = _relabelled(pair, Resamples(resamples.units, tuple(mask[1:] for mask in resamples.masks)), k, variant)
    return Shares(*(np.concatenate([getattr(part, name) for part in (first, others)]) for name in NAMES))


def _as_they_are(pair: Joint) -> Resamples:
    mine = np.array([[True, False]])
    return Resamples(np.repeat([0, 1], pair.sizes), (mine, ~mine))


def _without_groups(pair: Joint, labels: Sequence[I64], k: int, variant: Variant) -> tuple[Shares, Shares]:
    """The four metrics with one group left out per row: each group is a unit."""
    groups = [int(label.max()) + 1 for label in labels]
    mine = np.arange(sum(groups)) < groups[0]
    stays = ~np.eye(sum(groups), dtype=bool)
    units = np.concatenate((labels[0], labels[1] + groups[0]))
    whole = _relabelled(pair, Resamples(units, (stays & mine, stays & ~mine)), k, variant)
    first, second = slice(groups[0]), slice(groups[0], None)
    return _part(whole, first), _part(whole, second)


def _part(whole: Shares, rows: slice) -> Shares:
    return Shares(*(getattr(whole, name)[rows] for name in NAMES))


def _relabelled(pair: Joint, resamples: Resamples, k: int, variant: Variant) -> Shares:
    """The four metrics under each labelling; NaN if a sample has no k-th other point."""
    texts = np.bincount(resamples.units, minlength=resamples.n_units)
    sizes = np.stack([mask @ texts for mask in resamples.masks])
    possible = np.flatnonzero(sizes.min(axis=0) > k)
    found = np.full((4, sizes.shape[1]), np.nan)
    if possible.size:
        candidate, reference = (
            np.stack([pack(mask[possible[i : i + WORD]]) for i in range(0, len(possible), WORD)])[:, resamples.units]
            for mask in resamples.masks
        )
        counts = count_balls(lists_for(pair, k), candidate, reference, k, closed=variant == "paper")
        by_row = (counts.candidates_inside, counts.references_inside, counts.memberships, counts.balls_hit)
        found[:, possible] = np.stack(by_row).reshape(4, -1)[:, : len(possible)]
    # The divisors: candidates, references, k times candidates, references.
    return Shares(found[0] / sizes[0], found[1] / sizes[1], found[2] / (k * sizes[0]), found[3] / sizes[1])
