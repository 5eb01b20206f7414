"""Figures 8 and 9 of the triangle-rank paper: which metric sees right captions, and which sees different ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.errors import InputError
from textassay.corpus.items import ItemSet, read_items
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.item_figures import item_values
from textassay.inference.over_items import FEWEST_ITEMS
from textassay.inference.progress import Progress
from textassay.inference.request import Request, parse_requests
from textassay.inference.streams import stream
from textassay.studies.caption_mixtures import Mixtures
from textassay.studies.figure_8_findings import Findings
from textassay.studies.reproduced import Reproduction
from textassay.version import __version__
from textassay.views.distances import Distance, Surroundings, get_distance
from textassay.views.text_table import Numbers, TextTable

F64 = NDArray[np.float64]

DESIGN = Mixtures(references=2, pool=3, candidates=6)
_CAPTIONS = DESIGN.references + DESIGN.pool
# Splits and pools an item, averaged: which caption happens to be the first of a pool should not decide a number.
DRAWS = 4


def reproduce_mixtures(
    files: Sequence[Path], *, name: str, distance: str, n_items: int, seed: int, progress: Progress
) -> Reproduction:
    """Measure every mixture on some items of the file, drawn at random."""
    items = read_items(files[0])
    table = TextTable.of([item.references for item in items.items], tokenizer=get_tokenizer("plain"))
    pools = Captions.of(table)
    chosen = _choose(pools, n_items, seed, str(files[0]))
    measured = get_distance(distance, Surroundings(table))
    values = _measure(pools, chosen, measured, seed, progress)
    findings = Findings(DESIGN, *values, distance=distance, draws=DRAWS, seed=seed)
    return findings.reproduction(
        name,
        options={"items": len(chosen), "seed": seed},
        signature=_signature(name, items, measured, table, len(chosen), seed),
        notes=tuple(getattr(measured, "notes", ())),
    )


@dataclass(frozen=True, eq=False)
class Captions:
    """The captions of the items that have enough different ones: numbers of texts, and the item of each."""

    own: tuple[Numbers, ...]
    everyone: Numbers
    owner: Numbers

    @classmethod
    def of(cls, table: TextTable) -> "Captions":
        """Captions that are one and the same to a distance on tokens count once."""
        different = [np.unique(table.alike[numbers]) for numbers in table.documents]
        own = tuple(numbers for numbers in different if len(numbers) >= _CAPTIONS)
        owner = np.repeat(np.arange(len(own)), [len(numbers) for numbers in own])
        return cls(own, np.concatenate(own or (np.empty(0, np.int64),)), owner)

    def drawn(self, place: int, rng: np.random.Generator) -> tuple[Numbers, Numbers, Numbers]:
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
            f"--items is {n_items}; wanted {FEWEST_ITEMS} to {there} (with {_CAPTIONS} references or more)"
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
    fields = [name, f"dist:{distance.signature}", f"tok:{table.tokenizer.signature}"]
    fields += [
        f"items:{n_items}-of-{len(items)}/{items.digest}",
        f"draws:{DRAWS}",
        "interval:bootstrap-items",
        f"seed:{seed}",
    ]
    return "|".join([*fields, f"v:{__version__}"])
