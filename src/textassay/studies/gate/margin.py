r"""The margin of the separable share: bounds from both sides, and how many texts a decision needs.

No finite sample bounds the total variation distance TV(P, Q) from above: a candidate may differ on texts that nobody
looked for, however many texts there are. What has an upper bound is the share S that one kind of classifier separates
at this number of texts, :math:`S \le \mathrm{TV}`. Held-out texts give its confidence limit U. A classifier misses a
part of what differs, and it misses more with few texts. How much is measured: a share e of texts of the reference is
replaced by a contaminant (`--contaminant`, or the texts themselves with their words in random order), and the same
classifier separates the share :math:`S_e` from the reference, on as many texts. The upper bound of the contamination
of a candidate is then

.. math:: \mathrm{high} = e \, U / S_e

with e at the margin. So the gate passes if U is below what the classifier separates of texts that are contaminated at
the margin: texts with at least this share of the contaminant, the others distributed like the reference, pass in at
most 5 % of samples (at level 95 %), and so does every other candidate of which the classifier would separate as much.
The noise of :math:`S_e`, which comes from a limited number of runs, widens U.

The texts of a run are those of both samples, exchanged as for the overall test. If the candidate is distributed like
the reference, they are texts of the reference. If it is not, both sides of a run have the difference in equal parts,
so that the classifier finds the contaminant and nothing else.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from textassay.corpus.arrays import I64, U64
from textassay.corpus.hashed_ngrams import Sequences, text_keys
from textassay.corpus.sample import Sample, stream
from textassay.errors import InputError, Setting
from textassay.inference.intervals import CROSS_FITTED, separable_margins
from textassay.inference.permutation import design_of
from textassay.inference.plan import Plan
from textassay.metrics.learned.labelled_texts import LabelledTexts, hashed_groups, joined_groups
from textassay.metrics.learned.separable import FEWEST_UNITS, separable_parts
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.views import Material
from textassay.studies.stress.damages import Lexicon, shuffled

Parts = Mapping[str, float]

# Runs until the mean is known well enough, and the largest samples of a run: more texts find more, so a bound from
# fewer texts is on the safe side.
FEWEST_RUNS, MOST_RUNS, _MOST_TEXTS = 10, 40, 2_000
# The mean of the runs is known well enough if it is this many standard errors away from the limit that it decides.
_SURE = 4.0
# Where a classifier finds less of the contaminant than this share of it, its learning curve is not known.
_LEAST_FOUND = 0.1
# The level at which it must find any of it.
_CLEARLY = 0.95
# A number of texts is enough if four of five samples of this size are decided.
POWER = 0.8


@dataclass(frozen=True)
class Contamination:
    """What the classifier separates of texts with a share of a contaminant: the mean over runs and its error.

    `n` is the number of texts of the smaller sample of a run, `contaminant` its name, empty if none was given.
    """

    share: float
    found: float
    error: float
    n_runs: int
    n: int
    contaminant: str

    @property
    def is_found(self) -> bool:
        """Whether the classifier clearly finds the contaminant: its mean is above 0, by the spread of the runs."""
        return self.found > 0 and self.found > self._noise

    @property
    def is_missed(self) -> bool:
        """Whether the classifier clearly finds next to nothing of the contaminant."""
        return self.found + self._noise < _LEAST_FOUND * self.share

    @property
    def _noise(self) -> float:
        return float(stdtrit(self.n_runs - 1, _CLEARLY)) * self.error if self.n_runs > 1 else math.inf

    @property
    def recall(self) -> float:
        """The part of the contaminant that the classifier finds; at least a small one."""
        return min(max(self.found / self.share, _LEAST_FOUND), 1.0)

    def learned(self, n: float) -> float:
        """The part of the contaminant that the classifier finds with n texts per sample; without a curve, all."""
        return n / (n + self.n * (1 - self.recall) / self.recall) if self.is_found else 1.0


@dataclass(frozen=True)
class Bounds:
    """The separable share of a candidate with bounds from both sides, each at its level.

    `needed` is about how many texts or groups per sample decide in four of five cases, None where no number would, or
    where that is not known; `fewest` is how many it takes at least, where the contaminant is not found. `spread` is
    what two samples of one source may differ by at this size: few candidates pass at a margin below it.
    """

    estimate: float
    low: float
    high: float
    contamination: Contamination
    needed: int | None
    fewest: int | None = None
    spread: float = 0.0


def units_of(material: Material) -> int:
    """Independent texts or groups of a sample."""
    return material.sample.count_independent()


def separated(candidate: LabelledTexts, reference: LabelledTexts) -> Parts:
    """The shares of both samples that a classifier calls generated; empty if there are too few texts."""
    return separable_parts(candidate, reference)


def labelled(sequences: Sequences, texts: I64, groups: U64 | None) -> LabelledTexts:
    """Some of the texts as a classifier reads them, without tokenising them again."""
    taken = sequences.take(texts)
    return LabelledTexts(taken, TextNgrams.of_sequences(taken), text_keys(taken), groups)


def difference(parts: Parts) -> float:
    """The share that the classifier separates; below 0 if it calls more of the reference generated, by chance."""
    return parts["candidate_rate"] - parts["reference_rate"]


def bounds(
    candidate: Material,
    reference: Material,
    *,
    margin: float,
    contaminant: Sample | None,
    plan: Plan,
    n_candidates: int = 1,
) -> Bounds | None:
    """The separable share between its bounds; None if there are too few texts for a classifier.

    The lower bound is corrected for the number of candidates: a build fails if any candidate fails. It passes if all
    pass, which needs no correction of the upper bounds.
    """
    parts = separated(candidate.view(LabelledTexts), reference.view(LabelledTexts))
    if not parts:
        return None
    down = separable_margins(parts, 1 - (1 - plan.level) / n_candidates)[0]
    up = separable_margins(parts, plan.level)[1]
    estimate = difference(parts)
    found = contaminated(
        candidate, reference, share=margin, contaminant=contaminant, seed=plan.seed, limit=estimate + up
    )
    high = upper_bound(parts, found, level=plan.level)
    low = min(max(estimate - down, 0.0), 1.0)
    units = min(units_of(candidate), units_of(reference))
    share = max(estimate, 0.0) if low > 0 else 0.0
    needed = texts_needed(share, (down, up), found, level=plan.level, n=units)
    fewest = None if found.is_found or needed else texts_at_least((down, up), found, level=plan.level, n=units)
    return Bounds(max(estimate, 0.0), low, max(high, estimate, 0.0), found, needed, fewest, up)


def upper_bound(parts: Parts, found: Contamination, *, level: float) -> float:
    """The upper bound of the contamination; 1 where the classifier does not clearly find the contaminant."""
    if not found.is_found:
        return 1.0
    noise = float(stdtrit(found.n_runs - 1, level)) * found.error
    limit = difference(parts) + math.hypot(separable_margins(parts, level)[1], noise)
    return min(max(found.share * limit / found.found, 0.0), 1.0)


def contaminated(
    candidate: Material,
    reference: Material,
    *,
    share: float,
    contaminant: Sample | None,
    seed: int,
    limit: float = math.nan,
    most_runs: int = MOST_RUNS,
) -> Contamination:
    """What the classifier separates of texts with this share of the contaminant, on as many texts.

    Runs end early where their mean is far enough from the `limit`, and where it is clear whether the classifier finds
    anything that counts.
    """
    sides = [_at_most(each, seed) for each in (candidate, reference)]
    n = min(map(units_of, sides))
    name = "" if contaminant is None else contaminant.name
    values: list[float] = []
    for mine, theirs in _runs(*sides, share=share, contaminant=contaminant, seed=seed):
        parts = separated(mine, theirs)
        values.append(difference(parts) if parts else 0.0)
        found = Contamination(share, float(np.mean(values)), _error(values), len(values), n, name)
        is_clear = found.is_found or found.is_missed
        is_far = abs(found.found - limit) > _SURE * found.error
        if len(values) == most_runs or (len(values) >= FEWEST_RUNS and is_far and is_clear):
            break
    return found


def _error(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _at_most(material: Material, seed: int) -> Material:
    sample = material.sample.cut(_MOST_TEXTS, stream(seed, "gate", material.sample.digest))
    return material if sample is material.sample else Material(sample, material.settings)


def _runs(
    candidate: Material, reference: Material, *, share: float, contaminant: Sample | None, seed: int
) -> Iterator[tuple[LabelledTexts, LabelledTexts]]:
    """Both samples with their texts exchanged, and a share of the first one replaced by texts of the contaminant."""
    design = design_of(candidate.sample, reference.sample, seed=seed)
    real = candidate.view(Sequences).merge(reference.view(Sequences))
    groups = joined_groups(hashed_groups(candidate.sample), hashed_groups(reference.sample))
    bank = _bank(candidate, reference, contaminant, seed)
    both = real.merge(bank)
    for number, mask in enumerate(design.labellings(MOST_RUNS, seed)[1:]):
        rng = stream(seed, "gate", "contaminated", number)
        is_candidate = mask[design.units]
        mine, theirs = np.flatnonzero(is_candidate), np.flatnonzero(~is_candidate)
        chosen = rng.random(len(mine)) < share
        count = int(chosen.sum())
        texts = mine.copy()
        if contaminant is None:
            texts[chosen] += len(real)
        else:
            if len(bank) < count:
                raise _too_few(contaminant, count, len(mine))
            texts[chosen] = len(real) + rng.permutation(len(bank))[:count]
        # The groups stay: other texts after the same prompts.
        own, others = (None if groups is None else groups[part] for part in (mine, theirs))
        yield labelled(both, texts, own), labelled(both, theirs, others)


def _bank(candidate: Material, reference: Material, contaminant: Sample | None, seed: int) -> Sequences:
    """The texts of the contaminant; without one, each text of both samples with its words in random order."""
    if contaminant is not None:
        return Material(contaminant, candidate.settings).view(Sequences)
    rng = stream(seed, "gate", "shuffled")
    texts = [text for part in (candidate, reference) for text in part.sample.texts.to_pylist()]
    mixed = Sample.of([shuffled(text, _NO_WORDS, rng) for text in texts])
    return Material(mixed, candidate.settings).view(Sequences)


def _too_few(contaminant: Sample, count: int, n: int) -> InputError:
    return InputError(
        f"{contaminant.name}: {len(contaminant):,} texts; this margin replaces {count:,} of {n:,}; wanted a larger ",
        Setting("contaminant"),
    )


_NO_WORDS = Lexicon.of([])


def texts_needed(
    share: float, margins: tuple[float, float], found: Contamination, *, level: float, n: int
) -> int | None:
    """About how many texts per sample decide in four of five cases, if this share is what the classifier separates.

    Widths shrink with the root of the number of texts n, and what the classifier finds of a contaminant grows as
    n / (n + c), which fits captions, news and outputs of language models (benchmarks/decision.py). What it finds of a
    candidate's texts grows in the same way. Of a contaminant that it does not find there is no such curve.
    """
    if not found.is_found and share <= found.share:
        return None
    down, up = _widths(margins, level=level, n=n)
    now = found.learned(n)
    for size in np.geomspace(FEWEST_UNITS, 1e7, 400):
        grown = min(share * found.learned(size) / now, 1.0)
        passes = found.is_found and grown + up / math.sqrt(size) <= found.share * found.learned(size)
        if passes or grown - down / math.sqrt(size) > found.share:
            return math.ceil(size)
    return None


def texts_at_least(margins: tuple[float, float], found: Contamination, *, level: float, n: int) -> int:
    """How many texts per sample it takes at least to pass: with so many, if the whole contaminant were found."""
    return math.ceil((_widths(margins, level=level, n=n)[1] / found.share) ** 2)


def _widths(margins: tuple[float, float], *, level: float, n: int) -> tuple[float, float]:
    """Half-widths below and above for one text, wide enough for decisions in four of five samples."""
    quantiles = CROSS_FITTED * float(ndtri(level))
    down, up = (width * math.sqrt(n) * (1 + float(ndtri(POWER)) / quantiles) for width in margins)
    return down, up
