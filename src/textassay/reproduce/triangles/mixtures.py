"""Figures 8 and 9 of the triangle-rank paper: which metrics find wrong captions and missing variety.

Each item has a pool of correct captions (held out of its references) and one of incorrect ones (of other items). A
mixture takes m of its candidates from the first k of the correct pool and the others from the first k of the
incorrect one. Where k is too small for that, captions repeat, each as often as the others to within one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.corpus.item_set import ItemSet, TextTable, read_items
from textassay.corpus.printable import share
from textassay.corpus.sample import stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Distance, Surroundings, get_distance, pooled_scores
from textassay.errors import InputError, Setting
from textassay.inference.items.means import FEWEST_ITEMS, bootstrap_interval
from textassay.inference.plan import Progress
from textassay.inference.result import Interval, signature
from textassay.metrics.items.item_pool import ItemPool, Labels, item_values
from textassay.metrics.registry import Request, parse_requests
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Cell, Grid, Reproduction, Run, Steps


@dataclass(frozen=True)
class Mixtures:
    """All mixtures of an item: numbers of references, of captions in each pool, and of candidates.

    >>> design = Mixtures(references=2, pool=3, candidates=6)
    >>> design.most_different, len(design.labels), design.labels.sizes
    ((1, 2, 3), 21, (6, 2))
    """

    references: int
    pool: int
    candidates: int

    @property
    def most_different(self) -> tuple[int, ...]:
        """Every k: how many captions of a pool are used."""
        return tuple(range(1, self.pool + 1))

    @property
    def correct(self) -> tuple[int, ...]:
        """Every m: how many candidates are correct."""
        return tuple(range(self.candidates + 1))

    @property
    def shape(self) -> tuple[int, int]:
        """Mixtures by k and m."""
        return len(self.most_different), len(self.correct)

    @property
    def _copies(self) -> list[int]:
        """How often each caption of a pool is needed at most: where it is the last that may be used."""
        return [_uses(index, index + 1, self.candidates) for index in range(self.pool)]

    @cached_property
    def labels(self) -> Labels:
        """Which of an item's repeated texts are candidates, one row per mixture: by k, then by m."""
        side = sum(self._copies)
        references = np.arange(2 * side + self.references) >= 2 * side
        candidates = [
            np.concatenate([self._taken(k, m), self._taken(k, self.candidates - m), np.zeros(self.references, bool)])
            for k in self.most_different
            for m in self.correct
        ]
        return Labels(np.array(candidates), np.tile(references, (len(candidates), 1)))

    def _taken(self, k: int, m: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which copies of a pool's captions are among m candidates."""
        uses = [_uses(index, k, m) if index < k else 0 for index in range(self.pool)]
        pairs = zip(uses, self._copies, strict=True)
        return np.concatenate([np.arange(copies) < used for used, copies in pairs])

    def texts(self, references: I64, correct: I64, incorrect: I64) -> I64:
        """An item's texts, as often as the labels need them."""
        pools = [np.repeat(pool, self._copies) for pool in (correct, incorrect)]
        return np.concatenate([*pools, references])

    def item(self, distance: Distance, texts: I64) -> ItemPool:
        """The matrices of an item, for all mixtures at once."""
        scores, distances = pooled_scores(distance, texts)
        sizes = (len(texts) - self.references, self.references)
        return ItemPool(sizes, {distance.name: scores}, {distance.name: distances})


def _uses(place: int, k: int, m: int) -> int:
    """How often the caption at this place is used when m are dealt out to k in turn."""
    return len(range(place, m, k))


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
        self, name: str, *, options: Mapping[str, int | str], signature: str, notes: tuple[str, ...]
    ) -> Reproduction:
        """Everything to print."""
        figure, score = _FIGURES[self.distance]
        return Reproduction(
            name=name,
            title=f"{figure}: {score} sees correct captions, TRM sees correct and different ones",
            paper="chan2022",
            design=self._design(),
            differs=self._departures(),
            claims=self._claims(),
            grids=(
                self._grid(self.trm, f"{self._trm_name}: lower is better", "lower"),
                self._grid(self.score, f"{score}: higher is better", "higher"),
            ),
            notes=(*self._remarks(), *notes),
            options=options,
            signature=signature,
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
        gained, right = _from_wrong_to_right(self.score), _from_wrong_to_right(self.trm)
        varied, spread = _from_one_to_many(self.trm), _from_one_to_many(self.score)
        ks, ms = (
            [f"{name} = {value}" for value in values]
            for name, values in (("k", self.mixtures.most_different), ("m", self.mixtures.correct))
        )
        allowed = f"{share(BLIND)} of what it changes with correctness"
        ends = f"from no correct candidate to all correct, with as many different captions; {_OVER_IMAGES}"
        return (
            Claim(
                f"{self._score_name} follows correctness: it rises with correct candidates",
                _at_each(ks, gained),
                "above",
                0.0,
                ends,
            ),
            Claim(
                f"{self._score_name} does not follow diversity",
                tuple(_check_blind(name, spread[:, at], gained) for at, name in enumerate(ms)),
                "within",
                BLIND,
                f"its change from k = 1 to k = {self.mixtures.pool}, less than {allowed}; {_OVER_IMAGES}",
            ),
            Claim(
                f"{self._trm_name} follows correctness: it falls with correct candidates",
                _at_each(ks, right),
                "below",
                0.0,
                ends,
            ),
            Claim(
                f"{self._trm_name} follows diversity too: it falls with different captions",
                tuple(_check_blind(name, varied[:, at], -right) for at, name in enumerate(ms)),
                "above",
                BLIND,
                f"its fall from k = 1 to k = {self.mixtures.pool}, more than {allowed}; {_OVER_IMAGES}",
            ),
        )

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


_OVER_IMAGES = "intervals over images"


def _at_each(names: Sequence[str], values: F64) -> tuple[Check, ...]:
    return tuple(Check(name, Measured.over(values[:, at])) for at, name in enumerate(names))


def _check_blind(name: str, by_diversity: F64, by_correctness: F64) -> Check:
    """A change with diversity as a share of the mean change with correctness."""
    return Check(name, Measured.over(by_diversity / abs(float(by_correctness.mean()))))


DESIGN = Mixtures(references=2, pool=3, candidates=6)
_CAPTIONS = DESIGN.references + DESIGN.pool
# Splits and pools an item, averaged: which caption happens to be the first of a pool should not decide a number.
DRAWS = 4


def reproduce_mixtures(files: Sequence[Path], run: Run, *, distance: str) -> Reproduction:
    """Measure every mixture on some items of the file, drawn at random."""
    items = read_items(files[0])
    table = TextTable.of([item.references for item in items.items], tokenizer=get_tokenizer("plain"))
    pools = Captions.of(table)
    chosen = _choose(pools, run.n_items, run.seed, str(files[0]))
    measured = get_distance(distance, Surroundings(table))
    values = _measure(pools, chosen, measured, run.seed, run.progress)
    findings = Findings(DESIGN, *values, distance=distance, draws=DRAWS, seed=run.seed)
    return findings.reproduction(
        run.name,
        options=run.options,
        signature=_signature(run.name, items, measured, table, len(chosen), run.seed),
        notes=tuple(getattr(measured, "notes", ())),
    )


@dataclass(frozen=True, eq=False)
class Captions:
    """The captions of the items that have enough different ones: numbers of texts, and the item of each."""

    own: tuple[I64, ...]
    everyone: I64
    owner: I64

    @classmethod
    def of(cls, table: TextTable) -> "Captions":
        """Captions that are one and the same to a distance on tokens count once."""
        different = [np.unique(table.alike[numbers]) for numbers in table.documents]
        own = tuple(numbers for numbers in different if len(numbers) >= _CAPTIONS)
        owner = np.repeat(np.arange(len(own)), [len(numbers) for numbers in own])
        return cls(own, np.concatenate(own or (np.empty(0, np.int64),)), owner)

    def drawn(self, place: int, rng: np.random.Generator) -> tuple[I64, I64, I64]:
        """References, correct pool and incorrect pool of an item; the latter from as many other items."""
        mine = rng.permutation(self.own[place])[:_CAPTIONS]
        references, correct = mine[: DESIGN.references], mine[DESIGN.references :]
        incorrect: dict[int, int] = {}
        for at in rng.permutation(len(self.everyone)):
            other, number = int(self.owner[at]), int(self.everyone[at])
            if other != place and number not in {*self.own[place], *incorrect.values()}:
                incorrect.setdefault(other, number)
            if len(incorrect) == DESIGN.pool:
                return references, correct, np.array(list(incorrect.values()))
        raise InputError(
            f"item {place + 1}: fewer than {DESIGN.pool} other items have captions that differ from its own"
        )


def _choose(captions: Captions, n_items: int, seed: int, file: str) -> list[int]:
    """Places of the items to measure, in the order of the file."""
    there = len(captions.own)
    if there < FEWEST_ITEMS:
        raise InputError(
            f"{file}: {there} items have {_CAPTIONS} different references; wanted at least {FEWEST_ITEMS} such items"
        )
    if not FEWEST_ITEMS <= n_items <= there:
        raise InputError(
            Setting("n_items", n_items),
            f"; wanted {FEWEST_ITEMS} to {there} (with {_CAPTIONS} references or more)",
        )
    return sorted(stream(seed, "mixtures", "items").choice(there, size=n_items, replace=False).tolist())


def _measure(
    captions: Captions, chosen: Sequence[int], distance: Distance, seed: int, progress: Progress
) -> tuple[F64, F64]:
    """TRM and the plain score of every mixture: an axis of items, of k and of m."""
    requests: list[Request] = parse_requests(
        [f"trm:distance={distance.name}", f"score:distance={distance.name}"], on="items"
    )
    found: F64 = np.empty((len(requests), len(chosen), *DESIGN.shape))
    progress.start("measuring", len(chosen))
    for row, place in enumerate(chosen):
        rng = stream(seed, "mixtures", place)
        pools = [DESIGN.item(distance, DESIGN.texts(*captions.drawn(place, rng))) for _ in range(DRAWS)]
        for at, request in enumerate(requests):
            values = [item_values(request, pool, DESIGN.labels).reshape(DESIGN.shape) for pool in pools]
            found[at, row] = np.mean(values, axis=0)
        progress.step(1)
    return found[0], found[1]


def _signature(name: str, items: ItemSet, distance: Distance, table: TextTable, n_items: int, seed: int) -> str:
    return signature(
        name,
        {},
        settings={"dist": distance.signature, "tok": table.tokenizer.signature},
        data={"items": f"{n_items}-of-{len(items)}/{items.digest}"},
        resampling={"draws": DRAWS, "interval": "bootstrap-items", "seed": seed},
    )
