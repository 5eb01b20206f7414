"""The samples of a sweep: generated in parts, and kept in a work file from which a stopped sweep continues."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from textassay.corpus.sample import GeneratedTexts, Sample, as_text_array, digest_of, stream
from textassay.models.base import Decoding, Generator
from textassay.work_files import WorkFile, work_file

# Texts of a part, which has random numbers of its own: a stopped sweep loses at most one part.
PART = 250


def samples_file(path: str | os.PathLike[str] | None) -> AbstractContextManager[WorkFile]:
    """The work file of sweeps: the texts of each finished part by what determines them."""
    return work_file(path, "sweep", check=part_texts)


@dataclass(frozen=True, eq=False)
class Draw:
    """How the texts of a setting are drawn: their number, the seed, and one prompt per text if there are prompts.

    `purpose` separates the random numbers of samples that must be independent though model and setting are the same.
    """

    n: int
    seed: int
    prompts: Sample | None = None
    purpose: str = "sweep"

    def parts(self, model: str, decoding: Decoding) -> dict[str, tuple[int, int]]:
        """First and last place of each part, by the key of everything that its texts depend on."""
        found = {}
        for start in range(0, self.n, PART):
            stop = min(start + PART, self.n)
            facts: dict[str, Any] = {"model": model, **asdict(decoding), "seed": self.seed, "texts": [start, stop]}
            if self.purpose != "sweep":
                facts["purpose"] = self.purpose
            if self.prompts is not None:
                facts["prompts"] = digest_of(self.prompts.texts[start:stop])
            found[json.dumps(facts)] = (start, stop)
        return found


def draw_texts(
    model: Generator, decoding: Decoding, draw: Draw, work: WorkFile, *, step: Callable[[int], None]
) -> GeneratedTexts:
    """The texts of a setting, from the work file as far as it has them; `step` is called with newly drawn texts.

    Every setting has random numbers of its own, so that the samples of two settings are independent.
    """
    parts = []
    parameters = asdict(decoding)
    for key, (start, stop) in draw.parts(model.name, decoding).items():
        if key not in work:
            rng = stream(draw.seed, draw.purpose, model.name, repr(parameters), start)
            prompts = None if draw.prompts is None else draw.prompts.texts[start:stop].to_pylist()
            made = GeneratedTexts(model.sample(stop - start, **parameters, prompts=prompts, rng=rng))
            work.add(key, {"texts": made, "cut_off": np.flatnonzero(made.cut_off).tolist()})
            step(stop - start)
        parts.append(part_texts(work[key]))
    return GeneratedTexts.concat(parts)


def part_texts(stored: Any) -> GeneratedTexts:
    """The texts of a part. A list, as in files of the first builds of 0.6.0, does not state which were cut off."""
    if not isinstance(stored, dict):
        return GeneratedTexts(as_text_array(stored, "part").to_pylist())
    texts = as_text_array(stored["texts"], "part").to_pylist()
    return GeneratedTexts(texts, np.isin(np.arange(len(texts)), stored["cut_off"]))


def count_missing(model: str, decoding: Decoding, draw: Draw, work: WorkFile) -> int:
    """The number of texts of a setting that the work file does not have."""
    return sum(stop - start for key, (start, stop) in draw.parts(model, decoding).items() if key not in work)
