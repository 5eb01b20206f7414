"""Section 6.2 of Li et al. (2020): the discrepancy of a pair on real texts, estimated with noise mixtures.

A mixture draws a text of the reference with probability 1 - e and a text of random words with probability e. Mixtures
with several e give a curve in the plane of quality and diversity; held-out real text lies below it by QDisc.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textassay.corpus.hashed_ngrams import Sequences, ranges
from textassay.corpus.printable import shortened
from textassay.corpus.sample import stream
from textassay.errors import InputError, Setting
from textassay.inference.plan import Progress, Silent
from textassay.metrics.ngrams.bleu import corpus_bleu, corpus_self_bleu
from textassay.metrics.ngrams.counts import Ngrams, TextNgrams
from textassay.metrics.ngrams.overlap import cr, nrr

# A number of words, or that of the median or of the longest text of the reference.
NoiseLength = int | Literal["median", "max"]
# The shares of noise and the lengths of noise texts in the paper: 5 words, and as many as the longest text has.
NOISE = (0.0, 0.2, 0.4, 0.6)
NOISE_LENGTHS: tuple[NoiseLength, ...] = (5, "max")


# Quality of texts against a reference, and their diversity, for n-grams up to an order.
Measure = Callable[[TextNgrams, TextNgrams, int], tuple[float, float]]


def bleu_and_self_bleu(texts: TextNgrams, reference: TextNgrams, n: int) -> tuple[float, float]:
    """BS-n: corpus BLEU and minus corpus Self-BLEU."""
    return corpus_bleu(texts, reference, n), -corpus_self_bleu(texts, n)


def cr_and_nrr(texts: TextNgrams, reference: TextNgrams, n: int) -> tuple[float, float]:
    """CN-n: coverage rate and negative repetition rate."""
    own, real = Ngrams.of_texts(texts), Ngrams.of_texts(reference)
    return float(cr(own, real, n=n)), float(nrr(own, n=n))


def largest_cr(reference: TextNgrams, n: int) -> float:
    """The highest CR-n of a single text of the reference: the estimate of the highest CR of any text."""
    order, sizes = reference.order(n), reference.sizes(n)
    shares = order.totals() / sizes.sum()
    weights = order.counts * np.repeat(shares, np.diff(order.starts))
    sums = np.bincount(order.texts, weights=weights, minlength=len(reference))
    return float((sums / np.maximum(sizes, 1)).max())


@dataclass(frozen=True)
class MixturePoint:
    """A mixture: its share of noise, and its quality and diversity."""

    noise: float
    quality: float
    diversity: float


@dataclass(frozen=True)
class MixtureCurve:
    """The mixtures with noise texts of one length, and the quality on their curve at the diversity of real text.

    `quality_at_real` is NaN if no mixture is as diverse as real text.
    """

    noise_length: int
    points: tuple[MixturePoint, ...]
    quality_at_real: float


@dataclass(frozen=True)
class Estimate:
    """The estimate of a pair on texts: real text, the curves, and the range of quality.

    The curve with the largest discrepancy counts, as in the paper.
    """

    quality: float
    diversity: float
    range: float
    curves: tuple[MixtureCurve, ...]

    @property
    def best(self) -> MixtureCurve | None:
        """The curve with the largest discrepancy; None if no curve reaches the diversity of real text."""
        known = [curve for curve in self.curves if not math.isnan(curve.quality_at_real)]
        return max(known, key=lambda curve: curve.quality_at_real, default=None)

    @property
    def qdisc(self) -> float:
        """Quality on the curve minus that of real text, at the diversity of real text."""
        return self.best.quality_at_real - self.quality if self.best else math.nan

    @property
    def drate(self) -> float:
        """QDisc as a share of the range of quality."""
        return self.qdisc / self.range

    @property
    def self_ratio(self) -> float:
        """QDisc as a share of the quality of real text."""
        return self.qdisc / self.quality if self.quality else math.nan

    @property
    def ref_ratio(self) -> float:
        """QDisc as a share of the loss of quality by the first share of noise."""
        if self.best is None or len(self.best.points) < 2:
            return math.nan
        first, second = self.best.points[:2]
        loss = first.quality - second.quality
        return self.qdisc / loss if loss > 0 else math.nan


def noise_lengths(reference: Sequences, n: int, chosen: Sequence[NoiseLength] = NOISE_LENGTHS) -> list[int]:
    """The lengths of noise texts, ascending; none is shorter than the n-grams."""
    known = {"median": int(np.median(reference.lengths)), "max": int(reference.lengths.max())}
    return sorted({max(known[length] if isinstance(length, str) else length, n) for length in chosen})


def parse_noise_lengths(given: str) -> tuple[NoiseLength, ...]:
    """The lengths of noise texts from text such as `5,max`.

    >>> parse_noise_lengths("5,median,max")
    (5, 'median', 'max')
    """
    found: list[NoiseLength] = []
    for word in (each.strip() for each in given.split(",")):
        if word in _BY_NAME:
            found.append(_BY_NAME[word])
        elif word.isascii() and word.isdigit() and 1 <= int(word) <= _LONGEST_NOISE:
            found.append(int(word))
        else:
            wanted = f"wanted whole numbers from 1 to {_LONGEST_NOISE:,}, median or max, with commas between them"
            raise InputError(Setting("noise_lengths", shortened(given, 40)), f"; {wanted}")
    return tuple(dict.fromkeys(found))


_BY_NAME: Mapping[str, NoiseLength] = {"median": "median", "max": "max"}
_LONGEST_NOISE = 10_000


def noise_mixture(
    reference: Sequences, *, size: int, noise: float, noise_length: int, rng: np.random.Generator
) -> Sequences:
    """Texts drawn from the reference, or with probability `noise` of random words; every word is as likely."""
    words = np.unique(reference.words)
    is_noise = rng.random(size) < noise
    chosen = rng.integers(len(reference), size=size)
    lengths = np.where(is_noise, noise_length, reference.lengths[chosen])
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    filled = rng.choice(words, size=int(offsets[-1]))
    kept = np.repeat(~is_noise, lengths)
    drawn = chosen[~is_noise]
    filled[kept] = reference.words[ranges(reference.offsets[drawn], reference.lengths[drawn])]
    return Sequences(filled, offsets)


def estimate_pairs(
    real: Sequences,
    reference: Sequences,
    pairs: Sequence[tuple[str, int]],
    *,
    name: str = "texts",
    noise: Sequence[float] = NOISE,
    lengths: Sequence[NoiseLength] = NOISE_LENGTHS,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Estimate]:
    """Estimate pairs, given as (`bs` or `cn`, n), on held-out real texts and a reference.

    All pairs are measured on the same mixtures, which have as many texts as the real sample.
    """
    longest_order = max(n for _, n in pairs)
    _check_sizes(real, reference, longest_order, name)
    counter = progress or Silent()
    texts, references = TextNgrams.of_sequences(real), TextNgrams.of_sequences(reference)
    truth = [_MEASURES[kind](texts, references, n) for kind, n in pairs]
    curves: list[list[MixtureCurve]] = [[] for _ in pairs]
    for length in noise_lengths(reference, longest_order, lengths):
        points: list[list[MixturePoint]] = [[] for _ in pairs]
        for share in noise:
            rng = stream(seed, "mixture", length, repr(float(share)))
            mixed = noise_mixture(reference, size=len(real), noise=share, noise_length=length, rng=rng)
            mixture = TextNgrams.of_sequences(mixed)
            for index, (kind, n) in enumerate(pairs):
                points[index].append(MixturePoint(share, *_MEASURES[kind](mixture, references, n)))
            counter.step(1)
        for index, (_, diversity) in enumerate(truth):
            found = tuple(points[index])
            curves[index].append(MixtureCurve(length, found, quality_at(found, diversity)))
    return [
        Estimate(*truth[index], _range(kind, references, n), tuple(curves[index]))
        for index, (kind, n) in enumerate(pairs)
    ]


_MEASURES: dict[str, Measure] = {"bs": bleu_and_self_bleu, "cn": cr_and_nrr}


def _range(kind: str, reference: TextNgrams, n: int) -> float:
    """BLEU is 1 for copies of the reference and about 0 for noise; CR is about 0 for noise, too."""
    return 1.0 if kind == "bs" else largest_cr(reference, n)


def quality_at(points: Sequence[MixturePoint], diversity: float) -> float:
    """The quality on the curve at this diversity, between the two closest points.

    If the mixture without noise is already more diverse, its quality counts. NaN if no mixture is diverse enough.
    """
    ordered = sorted(points, key=lambda point: point.diversity)
    if diversity > ordered[-1].diversity:
        return math.nan
    return float(np.interp(diversity, [p.diversity for p in ordered], [p.quality for p in ordered]))


_FEWEST_TEXTS = 20


def _check_sizes(real: Sequences, reference: Sequences, n: int, name: str) -> None:
    for part, texts in (("real texts", real), ("texts of the reference", reference)):
        enough = int((texts.lengths >= n).sum())
        if enough < _FEWEST_TEXTS:
            seen = f"{name}: {enough} of {len(texts):,} {part} have {n} words or more"
            raise InputError(f"{seen}; wanted at least {_FEWEST_TEXTS}, or a smaller n in ", Setting("pairs"))
