"""Meanings made by hand for the tests of reports: regions on a ring, texts around them, and hostile texts."""

import math
from collections.abc import Sequence
from dataclasses import replace

from tests.report.builders import HOSTILE, comparison, hostile
from textassay.studies.compare.meaning import Meaning, Region, Stray
from textassay.studies.compare.result import Comparison

WORDS = ("bathroom", "toilet", "sink", "mirror")


def region(
    place: int = 0,
    *,
    words: Sequence[str] = WORDS,
    candidate: float = 0.2,
    reference: float = 0.05,
    p: float = 0.0001,
    of: int = 12,
    examples: Sequence[str] = ("a bathroom with a sink", "a white toilet", "a mirror"),
) -> Region:
    """A region on a ring of so many; with too much of it unless told otherwise."""
    turn = 2 * math.pi * place / of
    at = 0.5 + 0.4 * math.cos(turn), 0.5 + 0.3 * math.sin(turn)
    counts = round(500 * candidate), round(500 * reference)
    theirs = tuple(f"real: {text}" for text in examples)
    return Region(tuple(words), *counts, candidate, reference, p, tuple(examples), theirs, at)


def meaning(
    regions: Sequence[Region] | None = None,
    *,
    points: int = 350,
    strays: Sequence[Stray] = (Stray("is is shown .", 1.23, "broccoli is on a board"),),
) -> Meaning:
    """Two regions that stand out and one that does not, unless told otherwise; each sample with so many points."""
    if regions is None:
        rare = region(4, words=("frisbee", "throwing"), candidate=0.01, reference=0.12)
        regions = (region(), rare, region(8, words=("dog", "cat"), candidate=0.1, reference=0.09, p=0.8))
    spiral = [(0.5 + 0.5 * math.cos(i) * i / points, 0.5 + 0.5 * math.sin(i) * i / points) for i in range(points)]
    mirrored = [(y, x) for x, y in spiral]
    return Meaning(tuple(regions), tuple(strays), tuple(strays), 0.86, 0.345, tuple(spiral), tuple(mirrored))


def with_meaning(found: Comparison | None = None, shown: Meaning | None = None) -> Comparison:
    """A comparison whose candidates all have this meaning."""
    found, shown = found or comparison(), shown or meaning()
    return replace(found, candidates=tuple(replace(column, meaning=shown) for column in found.candidates))


def hostile_meaning() -> Comparison:
    """Hostile texts as words, examples and strays of hostile candidates."""
    regions = [
        region(i, words=[text] * 4 if i % 3 else (), candidate=0.05 + 0.1 * (i % 2), reference=0.1, examples=[text])
        for i, text in enumerate(HOSTILE)
    ]
    strays = [Stray(text, 1.5, text) for text in HOSTILE]
    return with_meaning(hostile(), meaning(regions, strays=strays))
