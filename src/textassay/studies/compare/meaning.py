"""Differences in meaning: regions of the joint sample with too many or too few texts, and unmatched texts.

Two main directions of hundreds show little of such vectors. Here the centres of the regions are placed in the plane so
that their distances come out as well as a plane allows (stress minimised from a fixed start), and every text between
the centres it is nearest to. Positions are for the eye; no number is made from them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from textassay.corpus.arrays import F32, F64, I64
from textassay.corpus.printable import on_one_line, shortened
from textassay.encoders.base import MEANING, sees
from textassay.inference.p_values import holm, is_significant
from textassay.metrics.vectors.clusters import cluster_labels
from textassay.metrics.vectors.vectors import Joint, Vectors, canonical_order, joint
from textassay.metrics.views import Material
from textassay.studies.compare.differences import log_odds_z

Point = tuple[float, float]


@dataclass(frozen=True)
class Region:
    """A group of similar texts of both samples: its typical words, its most central texts and its place on the map.

    `p_value` is for "both samples have the same share here", corrected for the number of regions.
    """

    words: tuple[str, ...]
    candidate_count: int
    reference_count: int
    candidate_share: float
    reference_share: float
    p_value: float
    candidate_examples: tuple[str, ...]
    reference_examples: tuple[str, ...]
    place: Point

    @property
    def surplus(self) -> float:
        """How much larger the candidate's share is."""
        return self.candidate_share - self.reference_share


@dataclass(frozen=True)
class UnmatchedText:
    """A text far from all texts of the other sample: how far, and the text that comes nearest."""

    text: str
    distance: float
    nearest: str


@dataclass(frozen=True)
class Meaning:
    """Regions, texts without a counterpart, and a map of both samples.

    A text counts as far when it is farther from the other sample than 95 % of the reference texts are from each other:
    `far_share` of the candidate (5 % of real text would be), `missed_share` of the reference. `candidate_points` and
    `reference_points` are places of a part of the texts. `sees` is what the vectors are about: `lsa` sees word
    patterns.
    """

    regions: tuple[Region, ...]
    far: tuple[UnmatchedText, ...]
    missed: tuple[UnmatchedText, ...]
    far_share: float
    missed_share: float
    candidate_points: tuple[Point, ...]
    reference_points: tuple[Point, ...]
    sees: str = MEANING

    def at_least(self, p_value: float) -> Self:
        """The same with no region's p-value below this one, the p-value of there being any difference at all."""
        regions = tuple(replace(region, p_value=max(region.p_value, p_value)) for region in self.regions)
        return replace(self, regions=regions)

    def over(self, level: float) -> list[Region]:
        """Regions where the candidate writes significantly too much, the largest surplus first."""
        found = [region for region in self.regions if is_significant(region.p_value, level) and region.surplus > 0]
        return sorted(found, key=lambda region: -region.surplus)

    def under(self, level: float) -> list[Region]:
        """Regions where it writes significantly too little, the largest gap first."""
        found = [region for region in self.regions if is_significant(region.p_value, level) and region.surplus < 0]
        return sorted(found, key=lambda region: region.surplus)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        values = dict(plain)
        lists: dict[str, Callable[[Any], Any]] = {
            "regions": _region,
            "far": _unmatched_text,
            "missed": _unmatched_text,
            "candidate_points": _point,
            "reference_points": _point,
        }
        return cls(**values | {name: tuple(map(read, values[name])) for name, read in lists.items()})


def _region(plain: Mapping[str, Any]) -> Region:
    texts = {name: tuple(plain[name]) for name in ("words", "candidate_examples", "reference_examples")}
    return Region(**{**plain, **texts, "place": _point(plain["place"])})


def _unmatched_text(plain: Mapping[str, Any]) -> UnmatchedText:
    return UnmatchedText(**plain)


def _point(plain: Any) -> Point:
    return float(plain[0]), float(plain[1])


_STEPS = 200
_NEIGHBOURS = 3
MOST_POINTS = 350


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of the regions and of some texts of candidate and reference, all between 0 and 1."""

    regions: tuple[Point, ...]
    candidate: tuple[Point, ...]
    reference: tuple[Point, ...]


def lay_out(centres: F64, candidate: F32, reference: F32) -> Layout:
    """The map of two samples around the centres of their regions."""
    flat = plane(centres)
    sides = [_thinned(values) for values in (candidate, reference)]
    points = between(np.concatenate(sides), centres, flat)
    everything = np.concatenate((flat, points))
    low, high = everything.min(axis=0), everything.max(axis=0)
    everything = (everything - low) / max(float((high - low).max()), 1e-12)
    k, first = len(flat), len(flat) + len(sides[0])
    return Layout(
        *(tuple(map(_rounded_point, part)) for part in (everything[:k], everything[k:first], everything[first:]))
    )


def plane(centres: F64) -> F64:
    """Points in the plane whose distances resemble those of the centres: stress majorised, begun at the main axes."""
    k = len(centres)
    wanted = np.sqrt(np.maximum(((centres[:, None] - centres[None]) ** 2).sum(axis=-1), 0.0))
    axes, scale, _ = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)
    start = np.zeros((k, 2))
    start[:, : min(2, len(scale))] = axes[:, :2] * scale[:2]
    # The sign of an axis is arbitrary; fixed, so that the same texts give the same map.
    flat = start * np.where(start[np.abs(start).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    for _ in range(_STEPS):
        away = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(axis=-1))
        ratio = np.divide(wanted, away, out=np.zeros_like(away), where=away > 1e-12)
        flat = (ratio.sum(axis=1)[:, None] * flat - ratio @ flat) / k
    return flat


def between(texts: F32, centres: F64, flat: F64) -> F64:
    """Each text among the places of its nearest centres, the nearer the stronger, spread a little along two axes."""
    exact = texts.astype(np.float64)
    squares = np.maximum(((exact**2).sum(axis=1)[:, None] - 2 * exact @ centres.T) + (centres**2).sum(axis=1), 0.0)
    few = min(_NEIGHBOURS, len(centres))
    near = np.argsort(squares, axis=1, kind="stable")[:, :few]
    chosen = np.take_along_axis(squares, near, axis=1)
    gaps = chosen - chosen[:, :1]
    # In units of the usual gap, so that most texts are near their own region, whatever the encoder's distances.
    weights = np.exp(-gaps / max(0.5 * float(np.median(gaps[:, min(1, few - 1)])), 1e-12))
    weights /= weights.sum(axis=1, keepdims=True)
    residual = exact - centres[near[:, 0]]
    axes = np.linalg.svd(residual, full_matrices=False)[2][:2]
    axes *= np.where(axes.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    spread = np.zeros((len(texts), 2))
    spread[:, : len(axes)] = residual @ axes.T
    return (weights[:, :, None] * flat[near]).sum(axis=1) + 0.5 * spread


def _thinned(values: F32) -> F32:
    """Evenly spaced texts in an order that does not depend on how they came in."""
    few = min(len(values), MOST_POINTS)
    return values[canonical_order(values)[np.arange(few) * len(values) // few]]


def _rounded_point(place: F64) -> Point:
    return round(float(place[0]), 4), round(float(place[1]), 4)


_WORDS, _EXAMPLES, _EXAMPLE_WIDTH = 4, 3, 160
# A word is typical of a region when this many of its texts have it and chance hardly explains it.
_LEAST_TEXTS, _LEAST_Z = 3, 3.0
# A word in more than this share of the reference texts is common.
_COMMON = 0.1


def describe(
    sides: tuple[Material, Material], labels: I64, distances: F64, places: Sequence[Point]
) -> tuple[Region, ...]:
    """The regions of a clustering of both samples; `labels` and `distances` to the centre, the candidate's first."""
    sizes = (len(sides[0].sample), len(sides[1].sample))
    k = len(places)
    counts = [np.bincount(part, minlength=k) for part in (labels[: sizes[0]], labels[sizes[0] :])]
    # Exact: the clustering did not look at labels, so exchanging them draws the counts of a region from an urn.
    adjusted = holm([_exchange_p((int(a), int(b)), sizes) for a, b in zip(*counts, strict=True)])
    words = typical_words(sides, labels, k)
    examples = [central_texts(side, part, away, k) for side, part, away in _by_side(sides, labels, distances)]
    return tuple(
        Region(
            words=words[region],
            candidate_count=int(counts[0][region]),
            reference_count=int(counts[1][region]),
            candidate_share=float(counts[0][region] / sizes[0]),
            reference_share=float(counts[1][region] / sizes[1]),
            p_value=float(adjusted[region]),
            candidate_examples=examples[0][region],
            reference_examples=examples[1][region],
            place=places[region],
        )
        for region in range(k)
        if counts[0][region] + counts[1][region]
    )


def _exchange_p(counts: tuple[int, int], sizes: tuple[int, int]) -> float:
    """Fisher's p-value for both samples having the same share of a region."""
    from scipy.stats import fisher_exact

    return float(fisher_exact([counts, (sizes[0] - counts[0], sizes[1] - counts[1])]).pvalue)


def _by_side(sides: tuple[Material, Material], labels: I64, distances: F64) -> list[tuple[Material, I64, F64]]:
    first = len(sides[0].sample)
    return [(sides[0], labels[:first], distances[:first]), (sides[1], labels[first:], distances[first:])]


def typical_words(sides: tuple[Material, Material], labels: I64, k: int) -> list[tuple[str, ...]]:
    """The words that most set the texts of each region apart from all other texts, counted once a text.

    Words in many reference texts (the, with, on) name a region only if no rarer word does.
    """
    tokens = sides[0].settings.tokenizer(pa.concat_arrays([side.sample.texts for side in sides]))
    texts = np.repeat(np.arange(len(labels)), tokens.lengths)
    size = len(tokens.vocabulary)
    # One entry per word and text, however often the word occurs there.
    pairs = np.unique(texts * np.int64(size) + tokens.ids)
    region_of, word_of = labels[pairs // size], pairs % size
    held = np.bincount(region_of * size + word_of, minlength=k * size).reshape(k, size)
    everywhere, texts_in = held.sum(axis=0), held.sum(axis=1)
    first = len(sides[0].sample)
    common = np.bincount(word_of[pairs // size >= first], minlength=size) > _COMMON * (len(labels) - first)
    found = []
    for region in range(k):
        inside, outside = held[region], everywhere - held[region]
        totals = (max(int(texts_in[region]), 1), max(int(texts_in.sum() - texts_in[region]), 1))
        z = np.where(inside >= _LEAST_TEXTS, log_odds_z(inside, outside, totals=totals), 0.0)
        telling = np.flatnonzero(z >= _LEAST_Z)
        best = telling[np.lexsort((-z[telling], common[telling]))][: 4 * _WORDS]
        names = [tokens.vocabulary[int(word)].as_py() for word in best]
        found.append(tuple(_readable(names)[:_WORDS]))
    return found


def _readable(words: list[str]) -> list[str]:
    """Words with a letter or digit, each once whatever its case; single letters of an alphabet are left out."""
    seen: dict[str, str] = {}
    for word in words:
        if any(character.isalnum() for character in word) and not (len(word) == 1 and word.isascii()):
            seen.setdefault(word.casefold(), shortened(word, 40))
    return list(seen.values())


def central_texts(side: Material, labels: I64, distances: F64, k: int) -> list[tuple[str, ...]]:
    """Different texts of a sample nearest to the centre of each region."""
    order = np.lexsort((np.arange(len(labels)), distances, labels))
    bounds = np.searchsorted(labels[order], np.arange(k + 1))
    return [_texts(side, order[a : min(b, a + 10 * _EXAMPLES)]) for a, b in pairwise(bounds)]


def _texts(side: Material, places: I64) -> tuple[str, ...]:
    chosen = side.sample.texts.take(pa.array(places)).unique().to_pylist()
    return tuple(shortened(on_one_line(text), _EXAMPLE_WIDTH) for text in chosen[:_EXAMPLES])


_BLOCK = 1024
_UNMATCHED_WIDTH = 200
# A text is far if its nearest text is farther away than that of this share of reference texts among themselves.
FAR = 0.95


@dataclass(frozen=True, eq=False)
class Nearest:
    """The distance to the nearest text of another sample, and which one that is."""

    distances: NDArray[np.float64]
    places: NDArray[np.int64]


def _even(texts: F32, others: F32) -> tuple[F32, F32]:
    """Both around 0 and about 1 in size: what all vectors have in common would cost single precision its digits."""
    middle = others.mean(axis=0, dtype=np.float64)
    size = max(float(np.abs(others - middle).max(initial=0.0)), float(np.abs(texts - middle).max(initial=0.0))) or 1.0
    one, other = (((values - middle) / size).astype(np.float32) for values in (texts, others))
    return one, other


def nearest(texts: F32, others: F32, *, same: bool = False) -> Nearest:
    """For each vector the nearest of the others, a block at a time; with `same`, of the rest of the same sample.

    A text that the encoder cannot read has a vector of zeros. It would be nearer to every text than texts without
    a common word are to each other, so it is the neighbour of zero vectors only.
    """
    blank, read = np.count_nonzero(others, axis=1) == 0, np.count_nonzero(texts, axis=1) > 0
    indices = np.empty(len(texts), dtype=np.int64)
    even, other = _even(texts, others)
    lengths = np.einsum("ij,ij->i", other, other)
    for begin in range(0, len(texts), _BLOCK):
        block = even[begin : begin + _BLOCK]
        away = lengths - 2 * (block @ other.T)
        away[np.ix_(read[begin : begin + _BLOCK], blank)] = np.inf
        if same:
            away[np.arange(len(block)), np.arange(begin, begin + len(block))] = np.inf
        indices[begin : begin + _BLOCK] = away.argmin(axis=1)
    # The fast formula above loses digits of small distances, so those that are kept are computed again.
    return Nearest(np.linalg.norm(texts.astype(np.float64) - others[indices], axis=1), indices)


def unmatched(
    candidate: Material, reference: Material, *, most: int = 8
) -> tuple[tuple[UnmatchedText, ...], tuple[UnmatchedText, ...], float, float]:
    """Candidate texts far from every reference, references that no candidate is near, and the shares of both."""
    made, real = candidate.view(Vectors).values, reference.view(Vectors).values
    limit = float(np.quantile(nearest(real, real, same=True).distances, FAR))
    out, back = nearest(made, real), nearest(real, made)
    return (
        _listed(candidate, reference, out, limit, most),
        _listed(reference, candidate, back, limit, most),
        float((out.distances > limit).mean()),
        float((back.distances > limit).mean()),
    )


def _listed(mine: Material, others: Material, found: Nearest, limit: float, most: int) -> tuple[UnmatchedText, ...]:
    order = np.lexsort((np.arange(len(found.distances)), -found.distances))
    far = order[found.distances[order] > limit][: 20 * most]
    texts = mine.sample.texts.take(pa.array(far)).to_pylist()
    fellows = others.sample.texts.take(pa.array(found.places[far])).to_pylist()
    listed: dict[str, UnmatchedText] = {}
    for text, fellow, distance in zip(texts, fellows, found.distances[far], strict=True):
        listed.setdefault(
            text,
            UnmatchedText(
                shortened(on_one_line(text), _UNMATCHED_WIDTH),
                float(distance),
                shortened(on_one_line(fellow), _UNMATCHED_WIDTH),
            ),
        )
    return tuple(listed.values())[:most]


# With fewer texts a side there are no regions worth naming.
FEWEST_TEXTS = 20
_FEWEST, _MOST = 4, 30
_STARTS = 5


def what_differs_in_meaning(candidate: Material, reference: Material, *, seed: int) -> Meaning | None:
    """Regions, unmatched texts and the map of a candidate and as many reference texts; None if there are too few texts.

    Regions are clusters of both samples together, found without looking at which text is whose, so the counts in a
    region can be tested as if it had been chosen beforehand.
    """
    if min(len(candidate.sample), len(reference.sample)) < FEWEST_TEXTS:
        return None
    made, real = candidate.view(Vectors), reference.view(Vectors)
    both = joint(made, real)
    k = int(np.clip(round(len(both.values) ** 0.5 / 4), _FEWEST, _MOST))
    labels, centres, distances = _best_clusters(both, k, seed)
    layout = lay_out(centres, made.values, real.values)
    far, missed, far_share, missed_share = unmatched(candidate, reference)
    return Meaning(
        regions=describe((candidate, reference), labels, distances, layout.regions),
        far=far,
        missed=missed,
        far_share=far_share,
        missed_share=missed_share,
        candidate_points=layout.candidate,
        reference_points=layout.reference,
        sees=sees(candidate.settings.required_encoder),
    )


def _best_clusters(both: Joint, k: int, seed: int) -> tuple[I64, F64, F64]:
    """Labels, centres and distances to them: the best of several starts, so that regions do not depend on one."""
    found = []
    for start in range(_STARTS):
        labels = cluster_labels(both, k, seed + start)
        centres = _centres(both.values, labels)
        found.append((labels, centres, np.linalg.norm(both.values - centres[labels], axis=1)))
    return min(found, key=lambda clusters: float((clusters[2] ** 2).sum()))


def _centres(values: F32, labels: I64) -> F64:
    """The mean of each cluster."""
    member = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    sums: F64 = member @ values.astype(np.float64)
    return sums / np.bincount(labels)[:, None]
