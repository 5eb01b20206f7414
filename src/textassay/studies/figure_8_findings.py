"""What the mixtures of captions show: a grid a metric, and the paper's claims beside our numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from textassay.inference.over_items import bootstrap_interval
from textassay.inference.result import Interval
from textassay.studies.caption_mixtures import Mixtures
from textassay.studies.reproduced import Cell, Claim, Grid, Reproduction, Steps
from textassay.studies.wording import number, share

F64 = NDArray[np.float64]

LEVEL, RESAMPLES = 0.95, 999
# A metric that moves less than this with diversity, as a share of what it moves with correctness, does not see it.
BLIND = 0.1

_FIGURES = {"meteor": ("Figure 8", "METEOR"), "cider": ("Figure 9", "CIDEr-D")}


@dataclass(frozen=True, eq=False)
class Findings:
    """TRM and the plain score of every mixture: an axis of items, of k and of m."""

    mixtures: Mixtures
    trm: F64
    score: F64
    distance: str
    draws: int
    seed: int

    @property
    def _score_name(self) -> str:
        return _FIGURES[self.distance][1]

    @property
    def _trm_name(self) -> str:
        return f"TRM with {self._score_name}"

    def reproduction(
        self, name: str, *, options: Mapping[str, int], signature: str, notes: tuple[str, ...]
    ) -> Reproduction:
        """Everything to print."""
        figure, score = _FIGURES[self.distance]
        return Reproduction(
            name,
            f"{figure}: {score} sees correct captions, TRM sees correct and different ones",
            "chan2022",
            self._design(),
            self._departures(),
            self._claims(),
            (
                self._grid(self.trm, f"{self._trm_name}: lower is better", "lower"),
                self._grid(self.score, f"{score}: higher is better", "higher"),
            ),
            (*self._remarks(), *notes),
            options,
            signature,
        )

    def _design(self) -> str:
        n, pool, references = self.mixtures.candidates, self.mixtures.pool, self.mixtures.references
        return (
            f"Each of {len(self.trm):,} images of COCO has {references} captions as references and {pool} held out, "
            f"its correct pool; {pool} captions of other images are its incorrect pool. Of {n} candidates, m come from "
            f"the first k captions of the correct pool and {n} - m from the first k of the incorrect one. Every number "
            f"is a mean over images with its {share(LEVEL)} interval (bootstrap over images)."
        )

    def _departures(self) -> tuple[str, ...]:
        mixtures = self.mixtures
        return (
            "The paper has MSR-VTT videos with 20 captions each, 10 references, 10 held out, 10 candidates and k up to "
            f"10. COCO has 5 captions an image, so here it is {mixtures.references}, {mixtures.pool}, "
            f"{mixtures.candidates} and k up to {mixtures.pool}.",
            "Where k is smaller than what is drawn, the paper draws at random. Here captions repeat in turn, so that "
            "a mixture has as many different captions as k allows.",
            f"Each image is split {self.draws} times at random and averaged. A split serves all mixtures, so that two "
            "cells of a grid differ by their mixture only.",
            "TRM counts every triangle, as equations 3 and 4 have it; the authors' program samples them.",
            "The paper prints the figure without numbers, so its claims are compared, not its values.",
        )

    def _grid(self, values: F64, title: str, better: str) -> Grid:
        cells = tuple(
            tuple(self._cell(values[:, k, m]) for m in range(values.shape[2])) for k in range(values.shape[1])
        )
        across = Steps("correct candidates", "m", self.mixtures.correct)
        down = Steps("different captions a pool", "k", self.mixtures.most_different)
        return Grid(title, better, across, down, cells)

    def _cell(self, values: F64) -> Cell:
        found = bootstrap_interval(values, level=LEVEL, n_resamples=RESAMPLES, seed=self.seed)
        interval = None if found is None else Interval(*found, LEVEL, "bootstrap:items")
        return Cell(float(values.mean()), interval)

    def _claims(self) -> tuple[Claim, ...]:
        follows = f"{self._score_name} follows correctness"
        return (
            self._score_rises(follows),
            self._score_is_blind(f"{follows} only: diversity does not change it"),
            self._trm_sees_correctness(f"{self._trm_name} follows correctness"),
            self._trm_sees_diversity(f"{self._trm_name} follows diversity too"),
        )

    def _score_rises(self, published: str) -> Claim:
        gained = self._cell(_from_wrong_to_right(self.score).mean(axis=1))
        found = f"{self._score_name} rises by {_shown(gained)} from no correct candidate to all correct, mean over k"
        return Claim(published, found, _low(gained) > 0)

    def _score_is_blind(self, published: str) -> Claim:
        moved = self._cell(-_from_one_to_many(self.score).mean(axis=1))
        found = (
            f"from k = 1 to k = {self.mixtures.pool} it changes by {_shown(moved)}, mean over m; {_ranges(self.score)}"
        )
        return Claim(published, found, _share_of_k(self.score) < BLIND)

    def _trm_sees_correctness(self, published: str) -> Claim:
        falls = -_from_wrong_to_right(self.trm)
        cells = [self._cell(falls[:, k]) for k in range(falls.shape[1])]
        listed = ", ".join(
            f"{_shown(cell)} at k = {k}" for k, cell in zip(self.mixtures.most_different, cells, strict=True)
        )
        found = f"from no correct candidate to all correct, both with k different captions, it falls by {listed}"
        return Claim(published, found, _low(self._cell(falls.mean(axis=1))) > 0 and _low(cells[-1]) > 0)

    def _trm_sees_diversity(self, published: str) -> Claim:
        falls = _from_one_to_many(self.trm)
        whole = self._cell(falls.mean(axis=1))
        clear = sum(_low(self._cell(falls[:, m])) > 0 for m in range(falls.shape[1]))
        found = (
            f"from k = 1 to k = {self.mixtures.pool} it falls by {_shown(whole)}, mean over m, and clearly at {clear} "
            f"of {falls.shape[1]} m; {_ranges(self.trm)}"
        )
        return Claim(published, found, _low(whole) > 0 and _share_of_k(self.trm) > BLIND)

    def _remarks(self) -> tuple[str, ...]:
        means = self.trm.mean(axis=0)
        k, m = np.unravel_index(int(means.argmin()), means.shape)
        linear = (
            f"{self._score_name} is averaged over candidates one by one, so how often each repeats cannot matter to it "
            "but by the luck of the draw."
        )
        lowest = (
            f"TRM is lowest at m = {self.mixtures.correct[m]}, k = {self.mixtures.most_different[k]}, not where all "
            "are correct: a mixture draws on both pools and has up to 2 k different captions, all-correct candidates "
            "have k. Compare along m between its two ends, which have equally many different captions."
        )
        return (linear,) if m == means.shape[1] - 1 else (linear, lowest)


def _from_wrong_to_right(values: F64) -> F64:
    """How much all correct candidates score above none, an item and a k: both ends have k different captions."""
    gained: F64 = values[:, :, -1] - values[:, :, 0]
    return gained


def _from_one_to_many(values: F64) -> F64:
    """How much one caption a pool scores above all of them, an item and an m."""
    lost: F64 = values[:, 0] - values[:, -1]
    return lost


def _range_over_m(values: F64) -> float:
    """The range of the means over m, averaged over k."""
    return float(np.ptp(values.mean(axis=0), axis=1).mean())


def _range_over_k(values: F64) -> float:
    """The range of the means over k, averaged over m."""
    return float(np.ptp(values.mean(axis=0), axis=0).mean())


def _share_of_k(values: F64) -> float:
    """The range over k as a share of that over m."""
    return _range_over_k(values) / _range_over_m(values)


def _ranges(values: F64) -> str:
    over_k, over_m = _range_over_k(values), _range_over_m(values)
    return f"its range over k is {number(over_k)}, {share(over_k / over_m)} of its range over m ({number(over_m)})"


def _low(cell: Cell) -> float:
    return cell.interval.low if cell.interval else -inf


def _shown(cell: Cell) -> str:
    if cell.interval is None:
        return number(cell.estimate)
    return f"{number(cell.estimate)} ({number(cell.interval.low)} to {number(cell.interval.high)})"
