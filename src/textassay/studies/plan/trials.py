r"""Trials: the gate on samples of the user's own texts, at one size, and what follows for other sizes.

A trial draws two disjoint samples of n texts from the reference, or one from the reference and one from a pilot, and
computes what the gate computes from them. What the classifier finds of a contaminant is estimated once per size, from
samples of the same texts; a trial adds the noise that a gate has, which estimates it from a few runs.

At another number of texts m, the deviation of a trial from the mean and the width of its bound are those at n times
:math:`\sqrt{n / m}`, and what the classifier finds is that of its learning curve m / (m + c). So a few rounds of trials
lead to the number of texts for a power, each nearer to it than the one before.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from textassay.corpus.arrays import F64
from textassay.corpus.hashed_ngrams import Sequences
from textassay.corpus.sample import Sample, group_numbers, stream
from textassay.engines.base import Engine
from textassay.inference.intervals import separable_margins
from textassay.metrics.learned.labelled_texts import LabelledTexts
from textassay.metrics.views import Material
from textassay.studies.gate.margin import (
    FEWEST_RUNS,
    MOST_RUNS,
    Contamination,
    contaminated,
    difference,
    separated,
)

# A gate stops its runs when their mean is clear; this many are typical near a limit.
_TYPICAL_RUNS = 20
# One pair of samples is contaminated for this many trials.
_TRIALS_PER_PAIR, _FEWEST_PAIRS = 25, 2


@dataclass(frozen=True, eq=False)
class Trials:
    """Gates at one size: what the classifier separates in each trial, and the half-widths below and above.

    `n` are independent texts or groups per sample.
    """

    n: int
    values: F64
    down: F64
    up: F64
    found: Contamination
    level: float
    noise: F64

    def decided(self, n: int | None = None) -> tuple[float, float]:
        """The shares of trials that pass and that fail, at this size or scaled to another one.

        None passes at another size if the contaminant is not found at this one: nothing is known of its learning curve.
        """
        size = self.n if n is None else n
        shrink = math.sqrt(self.n / size)
        centre = float(self.values.mean())
        values = centre + shrink * (self.values - centre)
        error = self._spread_of_runs() * shrink / math.sqrt(_TYPICAL_RUNS)
        limit = self._found_at(size) + error * self.noise
        doubt = float(stdtrit(_TYPICAL_RUNS - 1, self.level)) * error
        passes = (values + np.hypot(shrink * self.up, doubt) <= limit) & (limit > doubt)
        if size != self.n and not self.found.is_found:
            passes[:] = False
        fails = values - shrink * self.down > self.found.share
        return float(passes.mean()), float(fails.mean())

    def _spread_of_runs(self) -> float:
        return self.found.error * math.sqrt(self.found.n_runs)

    def _found_at(self, n: int) -> float:
        """What the classifier finds of the contaminant at another size."""
        if n == self.n:
            return self.found.found
        recall = self.found.recall
        constant = self.n * (1 - recall) / recall
        return self.found.share * n / (n + constant)

    def needed(self, power: float, *, most: int = 10_000_000) -> int | None:
        """The fewest texts per sample with which at least this share of trials is decided, by scaling."""
        for n in np.geomspace(20, most, 800):
            if max(self.decided(math.ceil(n))) >= power:
                return math.ceil(n)
        return None


def run_trials(
    reference: Material,
    pilot: Material | None,
    *,
    n: int,
    margin: float,
    contaminant: Sample | None,
    n_trials: int,
    level: float,
    seed: int,
    engine: Engine,
) -> Trials:
    """Trials at one size."""
    draws = list(_draws(reference, pilot, n, n_trials, seed))

    def trial(pair: tuple[Material, Material]) -> tuple[float, float, float]:
        parts = separated(*(material.view(LabelledTexts) for material in pair))
        return difference(parts), *separable_margins(parts, level)

    values, down, up = (np.array(each) for each in zip(*engine.map(trial, draws), strict=True))
    return Trials(
        n,
        values,
        down,
        up,
        _found(draws, margin=margin, contaminant=contaminant, seed=seed),
        level,
        stream(seed, "plan", "noise", n).standard_normal(len(values)),
    )


def _draws(
    reference: Material, pilot: Material | None, n: int, n_trials: int, seed: int
) -> Iterator[tuple[Material, Material]]:
    """Candidate and reference of each trial, n independent texts or groups of each."""
    for number in range(n_trials):
        rng = stream(seed, "plan", n, number)
        if pilot is None:
            first, second = _parts(reference, n, 2, rng)
            yield second, first
        else:
            yield _parts(pilot, n, 1, rng)[0], _parts(reference, n, 1, rng)[0]


def _parts(material: Material, n: int, count: int, rng: np.random.Generator) -> list[Material]:
    """Disjoint parts of n random texts, or whole groups where there are groups, without tokenising them again."""
    sample = material.sample
    units, unit = (len(sample), np.arange(len(sample))) if sample.groups is None else group_numbers(sample.groups)
    rank = np.empty(units, dtype=np.int64)
    rank[rng.permutation(units)] = np.arange(units)
    texts = [np.flatnonzero(rank[unit] // n == part) for part in range(count)]
    sequences = material.view(Sequences)
    return [Material(sample.take(each), material.settings, {Sequences: sequences.take(each)}) for each in texts]


def _found(
    draws: list[tuple[Material, Material]], *, margin: float, contaminant: Sample | None, seed: int
) -> Contamination:
    """What the classifier finds of a contaminant at this size: the mean over pairs of samples, a few runs each."""
    pairs = draws[: min(max(len(draws) // _TRIALS_PER_PAIR, _FEWEST_PAIRS), MOST_RUNS // FEWEST_RUNS)]
    parts = [
        contaminated(*pair, share=margin, contaminant=contaminant, seed=seed + number, most_runs=FEWEST_RUNS)
        for number, pair in enumerate(pairs)
    ]
    runs = sum(part.n_runs for part in parts)
    error = math.sqrt(sum((part.error * math.sqrt(part.n_runs)) ** 2 for part in parts) / len(parts) / runs)
    mean = float(np.mean([part.found for part in parts]))
    return Contamination(margin, mean, error, runs, parts[0].n, parts[0].contaminant)
