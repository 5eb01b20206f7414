"""Regions: groups of similar texts in which one sample has more than its share."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from textassay.corpus.printable import shortened
from textassay.inference.multiplicity import holm
from textassay.studies.log_odds import log_odds_z
from textassay.studies.meaning import Point, Region
from textassay.views.material import Material

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]

_WORDS, _EXAMPLES, _WIDTH = 4, 3, 160
# A word is typical of a region when this many of its texts have it and chance hardly explains it.
_LEAST_TEXTS, _LEAST_Z = 3, 3.0
# What stands in more than this share of the reference texts is a common word.
_COMMON = 0.1


def describe(
    sides: tuple[Material, Material], labels: Labels, distances: Floats, places: Sequence[Point]
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
    return float(fisher_exact([counts, (sizes[0] - counts[0], sizes[1] - counts[1])]).pvalue)


def _by_side(
    sides: tuple[Material, Material], labels: Labels, distances: Floats
) -> list[tuple[Material, Labels, Floats]]:
    first = len(sides[0].sample)
    return [(sides[0], labels[:first], distances[:first]), (sides[1], labels[first:], distances[first:])]


def typical_words(sides: tuple[Material, Material], labels: Labels, k: int) -> list[tuple[str, ...]]:
    """The words that most set the texts of each region apart from all other texts, counted once a text.

    Words that stand in many reference texts (the, with, on) name a region only where nothing rarer does.
    """
    tokens = sides[0].settings.tokenizer(pa.concat_arrays([side.sample.texts for side in sides]))
    texts = np.repeat(np.arange(len(labels)), tokens.lengths)
    size = len(tokens.vocabulary)
    # One entry for each word of each text, however often it stands there.
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
    """Words with a letter or digit, each once whatever its case; single letters of an alphabet say nothing."""
    seen: dict[str, str] = {}
    for word in words:
        if any(character.isalnum() for character in word) and not (len(word) == 1 and word.isascii()):
            seen.setdefault(word.casefold(), shortened(word, 40))
    return list(seen.values())


def central_texts(side: Material, labels: Labels, distances: Floats, k: int) -> list[tuple[str, ...]]:
    """Different texts of a sample nearest to the centre of each region."""
    order = np.lexsort((np.arange(len(labels)), distances, labels))
    bounds = np.searchsorted(labels[order], np.arange(k + 1))
    return [_texts(side, order[a : min(b, a + 10 * _EXAMPLES)]) for a, b in pairwise(bounds)]


def _texts(side: Material, places: Labels) -> tuple[str, ...]:
    chosen = side.sample.texts.take(pa.array(places)).unique().to_pylist()
    return tuple(shortened(text, _WIDTH) for text in chosen[:_EXAMPLES])
