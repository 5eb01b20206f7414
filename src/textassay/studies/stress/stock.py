"""The stock of texts: every real and damaged text that a study can draw, with its vector, listed and encoded once.

The reference is divided at random. One part is the pool, from which all samples are drawn; an n-gram model is trained
on the rest. Each pool text has one damaged form for each damage that changes texts, so a damaged sample is a list of
places in the stock. A draw depends on the seed, the size and its number only, never on the order of the work.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from textassay.corpus.arrays import F32, I64
from textassay.corpus.printable import many
from textassay.corpus.sample import TEXT, Sample, stream
from textassay.errors import InputError, Setting
from textassay.metrics.vectors.clusters import cluster_labels
from textassay.metrics.vectors.vectors import Joint, Vectors
from textassay.models.ngrams.ngram import train
from textassay.studies.stress.damages import CHANGES, HIGH_TEMPERATURE, LOW_TEMPERATURE, Damage, Lexicon

# Texts of the reference on which the n-gram model is trained, as a share and at most; and the largest pool, unless
# samples are so large that they need a larger one.
_MODEL_SHARE, _MOST_MODEL_TEXTS, _MOST_POOL = 0.2, 20_000, 20_000
# The pool has at least this many times the texts of a sample: two samples, and others to replace lost topics.
_SAMPLES_IN_POOL = 4
# The most texts of the n-gram model, of another corpus and of a training file that are drawn from, unless samples are
# larger.
_MOST_BANK = 10_000
# The smallest sample.
FEWEST_TEXTS = 20
_TOPICS = 20
_ORDER = 3
# One text of the sample in this many is copied by `duplicates`.
_COPIED_FROM = 10


def texts_needed(size: int) -> int:
    """The fewest texts of a reference from which samples of this size can be drawn.

    >>> texts_needed(500), texts_needed(2000)
    (2500, 10000)
    """
    return math.ceil(_SAMPLES_IN_POOL * size / (1 - _MODEL_SHARE))


@dataclass(frozen=True, eq=False)
class Draw:
    """Places in the pool: reference and candidate, the rest, and the order in which candidate texts are damaged."""

    reference: I64
    candidate: I64
    spare: I64
    marked: I64
    key: tuple[str | int, ...]


@dataclass(frozen=True, eq=False)
class Stock:
    """All texts of a study. `starts` is where the texts of a damage begin, `banks` how many a bank has."""

    seed: int
    texts: pa.Array
    n_pool: int
    starts: Mapping[str, int]
    banks: Mapping[str, int]
    topics: I64

    def sample(self, places: I64, name: str) -> Sample:
        """The texts at these places as a sample."""
        return Sample.of(self.texts.take(pa.array(places)), name=name)

    def draw(self, kind: str, size: int, number: int) -> Draw:
        """Two disjoint samples of real texts."""
        key = (kind, size, number)
        rng = stream(self.seed, "stress", *key)
        order = rng.permutation(self.n_pool)
        return Draw(order[:size], order[size : 2 * size], order[2 * size :], rng.permutation(size), key)

    def damaged(self, drawn: Draw, damage: Damage, strength: float) -> I64:
        """Places of the candidate's texts at this strength; those of a smaller strength are damaged as well."""
        places = drawn.candidate.copy()
        count = round(damage.share(strength) * len(places))
        chosen = drawn.marked[:count]
        rng = stream(self.seed, "stress", damage.name, *drawn.key)
        if damage.kind == "changed":
            places[chosen] += self.starts[damage.name]
        elif damage.kind == "replaced":
            places[chosen] = self.starts[damage.name] + rng.permutation(self.banks[damage.name])[:count]
        elif damage.kind == "copied":
            sources = places[drawn.marked[len(places) - max(len(places) // _COPIED_FROM, 1) :]]
            places[chosen] = sources[rng.integers(len(sources), size=len(places))[:count]]
        else:
            self._lose_topics(places, drawn.spare, count, rng)
        return places

    def _lose_topics(self, places: I64, spare: I64, count: int, rng: np.random.Generator) -> None:
        """Replace the texts of the first topics in a random order, `count` of them, by texts of the other topics."""
        rank = rng.permutation(int(self.topics.max()) + 1)[self.topics]
        order = np.argsort(rank[places], kind="stable")
        last = rank[places[order[count - 1]]] if count else -1
        # Texts of topics that are not lost; if there are too few, of the topic that is lost in part.
        others = np.concatenate((spare[rank[spare] > last], spare[rank[spare] == last]))
        lost = order[: min(count, len(others))]
        places[lost] = others[: len(lost)]


def divide(reference: Sample, *, sizes: Sequence[int], seed: int) -> tuple[Sample, Sample]:
    """The pool and the texts for the n-gram model; an error if there are too few texts for a size."""
    needed = texts_needed(max(sizes))
    if len(reference) < needed:
        fits = math.floor(len(reference) * (1 - _MODEL_SHARE) / _SAMPLES_IN_POOL)
        hint = (" (use ", Setting("sizes", fits), " or less)") if fits >= FEWEST_TEXTS else ()
        raise InputError(
            f"{reference.name}: {many(len(reference), 'text')}; samples of {max(sizes):,} texts need at least "
            f"{needed:,}",
            *hint,
        )
    order = stream(seed, "stress", "parts").permutation(len(reference))
    n_model = min(int(_MODEL_SHARE * len(reference)), _MOST_MODEL_TEXTS)
    n_pool = max(_MOST_POOL, _SAMPLES_IN_POOL * max(sizes))
    return reference.take(order[n_model:][:n_pool]), reference.take(order[:n_model])


def limited(bank: Sample, seed: int, *, sizes: Sequence[int]) -> Sample:
    """At most as many texts as are drawn from, chosen at random."""
    return bank.cut(max(_MOST_BANK, *sizes), stream(seed, "stress", "bank", bank.digest))


def damaged_texts(
    pool: Sample, model_texts: Sample, damages: Sequence[Damage], *, banks: Mapping[str, Sample], seed: int
) -> Iterator[tuple[Damage, list[str]]]:
    """For each damage that needs texts besides the pool's: its own form of each pool text, or its bank of texts."""
    real = pool.texts.to_pylist()
    lexicon = Lexicon.of(model_texts.texts.to_pylist())
    for damage in damages:
        rng = stream(seed, "stress", "texts", damage.name)
        if damage.kind == "changed":
            yield damage, [CHANGES[damage.name](text, lexicon, rng) for text in real]
        elif damage.needs is not None:
            yield damage, banks[damage.needs].texts.to_pylist()
        elif damage.kind == "replaced":
            yield damage, _written(model_texts, damage, len(real), rng)


def _written(model_texts: Sample, damage: Damage, n_pool: int, rng: np.random.Generator) -> list[str]:
    """Texts of the n-gram model at the damage's temperature, none longer than the longest real text."""
    model = train(model_texts, order=_ORDER)
    longest = int(model.log_prob(model_texts).n_tokens.max())
    temperature = LOW_TEMPERATURE if damage.name == "cold" else HIGH_TEMPERATURE
    count = min(n_pool, max(_MOST_BANK, n_pool // _SAMPLES_IN_POOL))
    return model.sample(count, temperature=temperature, max_tokens=longest, rng=rng)


def build(pool: Sample, made: Sequence[tuple[Damage, list[str]]], topics: I64, *, seed: int) -> Stock:
    """The stock of a pool and the texts of its damages."""
    starts: dict[str, int] = {}
    banks: dict[str, int] = {}
    parts = [pool.texts]
    begin = len(pool)
    for damage, texts in made:
        starts[damage.name], banks[damage.name] = begin, len(texts)
        parts.append(pa.array(texts, TEXT))
        begin += len(texts)
    return Stock(seed, pa.concat_arrays(parts), len(pool), starts, banks, topics)


def topics_of(vectors: F32, seed: int) -> I64:
    """The topic of each pool text: a cluster of the vectors."""
    both = Joint(Vectors(vectors), Vectors(vectors[:0]))
    return cluster_labels(both, min(_TOPICS, len(vectors)), seed)
