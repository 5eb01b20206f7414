"""Designs: real and generated texts that are independent, in groups, or in groups that both sides share.

Every draw gives a candidate and a reference of one source, so that "no difference" is true by construction. Groups are
dealt to the two sides at random, or each group's own texts are.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import TfidfVectorizer

from textassay.corpus.sample import Sample
from textassay.models.ngrams.ngram import train
from textassay.studies.demo_corpus import _own_sentences, _speeches, is_kept

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
# The stock prefix and the shares of the candidate's texts that get it, where there is a difference to find.
PREFIX, PREFIX_SHARES = "Sure , here is a caption : ", (0.15, 0.03)
REPLIES = (
    "I am sorry , but I cannot help with that .",
    "As a language model I have no opinion on this .",
    "Could you please give me more details ?",
)
PROMPT_WORDS, GENERATIONS, PROMPTS = 3, 10, 600
# Captions that the generator is trained on, and topics of news text.
TRAINED, TOPICS = 20_000, 400

Draw = tuple[Sample, Sample]
Groups = list[list[str]]


@dataclass(frozen=True)
class Design:
    """A way to draw two samples of one source; `use` names the option that it needs, if any."""

    name: str
    texts: str
    draw: Callable[[np.random.Generator], Draw]
    use: Literal["group", "pair"] | None = None


@cache
def lines(*names: str) -> Any:
    """The texts of these files, as an array of strings."""
    texts = [line for name in names for line in (DATA / name).read_text(encoding="utf-8").split("\n") if line.strip()]
    return np.array(texts, dtype=object)


def captions() -> Any:
    """Captions of different images, in random order."""
    return lines("coco/train.txt", "coco/test.txt")


def news() -> Any:
    """Sentences of news text, in random order."""
    return lines("news/valid.txt", "news/test.txt")


@cache
def images() -> Groups:
    """Five captions per image, by five people."""
    items = json.loads((DATA / "captions" / "coco_val_sample.json").read_text(encoding="utf-8"))
    return [[text.strip() for text in item["references"][:5]] for item in items]


@cache
def generated() -> Groups:
    """Ten texts per prompt from one model: the first three words of real captions, continued by a Markov generator."""
    rng = np.random.default_rng(11)
    model = train(captions()[:TRAINED].tolist(), order=3)
    starts = [" ".join(text.split()[:PROMPT_WORDS]) for text in captions()[:TRAINED]]
    prompts = rng.permutation(sorted(set(starts)))[:PROMPTS]
    given = np.repeat(prompts, GENERATIONS).tolist()
    endings = model.sample(len(given), prompts=given, max_tokens=60 - PROMPT_WORDS, rng=rng)
    # The model joins prompt and ending with the spacing of captions: no space before a full stop.
    ids, offsets = model.vocabulary.encode(
        [f"{prompt} {ending}" for prompt, ending in zip(given, endings, strict=True)]
    )
    texts = model.vocabulary.decode(ids, np.diff(offsets))
    return [texts[at : at + GENERATIONS] for at in range(0, len(texts), GENERATIONS)]


@cache
def speeches() -> Groups:
    """The sentences of each State of the Union address since 1900, in order."""
    kept = [
        [text for text in _own_sentences(speech.text) if is_kept(text)] for speech in _speeches() if speech.year >= 1900
    ]
    return [sentences for sentences in kept if len(sentences) >= 30]


@cache
def topics() -> Groups:
    """Sentences of news text in tens: a random one and its nearest neighbours by TF-IDF that are not used yet.

    Our news text has no borders of documents. These groups share a topic and its words, as sentences of a document do,
    but neither an author nor a thread.
    """
    texts = news()
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    free = np.ones(len(texts), dtype=bool)
    groups = []
    for seed in np.random.default_rng(12).permutation(len(texts)):
        if len(groups) == TOPICS:
            break
        if free[seed]:
            similar = (vectors @ vectors[seed].T).toarray().ravel()
            nearest = np.argsort(-np.where(free, similar, -1.0), kind="stable")[:10]
            free[nearest] = False
            groups.append(texts[nearest].tolist())
    return groups


def shrink() -> None:
    """Sizes of a run that only shows that everything still works: as few groups as the designs need."""
    global TRAINED, TOPICS, PROMPTS
    TRAINED, TOPICS, PROMPTS = 2_000, 60, 300


def independent(source: Callable[[], Any], sizes: tuple[int, int]) -> Callable[[np.random.Generator], Draw]:
    """Two samples drawn at random."""

    def draw(rng: np.random.Generator) -> Draw:
        chosen = rng.choice(len(source()), sum(sizes), replace=False)
        parts = source()[chosen[: sizes[0]]], source()[chosen[sizes[0] :]]
        return Sample.of(parts[0].tolist(), name="a"), Sample.of(parts[1].tolist(), name="reference")

    return draw


def with_replies(source: Callable[[], Any], size: int) -> Callable[[np.random.Generator], Draw]:
    """Texts of which each is replaced with one of three stock replies with a chance of one half."""

    def draw(rng: np.random.Generator) -> Draw:
        texts = source()[rng.choice(len(source()), 2 * size, replace=False)].copy()
        stock = rng.random(2 * size) < 0.5
        texts[stock] = np.array(REPLIES, dtype=object)[rng.integers(0, len(REPLIES), int(stock.sum()))]
        return Sample.of(texts[:size].tolist(), name="a"), Sample.of(texts[size:].tolist(), name="reference")

    return draw


# How many texts each of so many groups has.
Sizes = Callable[[np.random.Generator, int], Sequence[int]]


def every(size: int) -> Sizes:
    """Groups of one size."""
    return lambda _, n_groups: [size] * n_groups


def between(fewest: int, most: int) -> Sizes:
    """Groups of sizes drawn at random."""
    return lambda rng, n_groups: rng.integers(fewest, most + 1, n_groups).tolist()


def disjoint(
    source: Callable[[], Groups], n_groups: tuple[int, int], sizes: tuple[Sizes, Sizes]
) -> Callable[[np.random.Generator], Draw]:
    """Whole groups on each side, the texts of a group next to each other."""

    def draw(rng: np.random.Generator) -> Draw:
        chosen = rng.choice(len(source()), sum(n_groups), replace=False)
        sides = chosen[: n_groups[0]], chosen[n_groups[0] :]
        candidate, reference = (
            _side(source, side, size(rng, len(side)), rng, name)
            for side, size, name in zip(sides, sizes, ("a", "reference"), strict=True)
        )
        return candidate, reference

    return draw


def alike(source: Callable[[], Groups], per_side: int, each: int) -> Callable[[np.random.Generator], Draw]:
    """Equally many groups of one size on both sides."""
    return disjoint(source, (per_side, per_side), (every(each), every(each)))


def _side(
    source: Callable[[], Groups], chosen: Any, sizes: Sequence[int], rng: np.random.Generator, name: str
) -> Sample:
    """So many consecutive texts of every chosen group; where in the group they begin is random."""
    texts, names = [], []
    for number, size in zip(chosen, sizes, strict=True):
        begin = int(rng.integers(0, len(source()[number]) - size + 1))
        texts += source()[number][begin : begin + size]
        names += [f"group {number}"] * size
    return Sample.of(texts, name=name, groups=pa.array(names))


def same_groups(
    source: Callable[[], Groups], n_groups: int, sizes: tuple[int, int]
) -> Callable[[np.random.Generator], Draw]:
    """The same groups on both sides, each group's texts dealt to the sides at random."""

    def draw(rng: np.random.Generator) -> Draw:
        sides: tuple[list[str], list[str]] = ([], [])
        chosen = rng.choice(len(source()), n_groups, replace=False)
        for number in chosen:
            order = rng.permutation(len(source()[number]))
            sides[0].extend(source()[number][place] for place in order[: sizes[0]])
            sides[1].extend(source()[number][place] for place in order[sizes[0] : sum(sizes)])
        names = [f"group {number}" for number in chosen]
        candidate, reference = (
            Sample.of(texts, name=name, groups=pa.array(np.repeat(names, size)))
            for texts, name, size in zip(sides, ("a", "reference"), sizes, strict=True)
        )
        return candidate, reference

    return draw


def with_prefix(sample: Sample, rng: np.random.Generator, share: float) -> Sample:
    """The sample with the stock prefix before a share of its texts."""
    texts = sample.texts.to_pylist()
    for place in rng.choice(len(texts), round(share * len(texts)), replace=False):
        texts[place] = PREFIX + texts[place]
    return Sample.of(texts, name=sample.name, groups=sample.groups)


def shuffled(sample: Sample, rng: np.random.Generator) -> Sample:
    """The sample in random order."""
    return sample.take(rng.permutation(len(sample)))


def ungrouped(sample: Sample) -> Sample:
    """The sample without the names of its groups."""
    return replace(sample, groups=None)


def independent_designs(source: Callable[[], Any]) -> tuple[Design, ...]:
    """Designs of independent captions from this source."""
    return (
        Design("captions", "300 v 300 captions of different images", independent(source, (300, 300))),
        Design("unequal sizes", "200 v 2,000 captions of different images", independent(source, (200, 2000))),
        Design("stock replies", "300 v 300 captions, half of both three stock replies", with_replies(source, 300)),
    )


INDEPENDENT = (
    *independent_designs(captions),
    Design("news", "300 v 300 sentences of news text", independent(news, (300, 300))),
)
GROUPED = (
    Design(
        "images",
        "50 v 50 images, five captions by people each",
        alike(images, 50, 5),
        "group",
    ),
    Design(
        "prompts",
        "30 v 30 prompts, ten texts of one model each",
        alike(generated, 30, 10),
        "group",
    ),
    Design(
        "speeches",
        "30 v 30 speeches, ten consecutive sentences each",
        alike(speeches, 30, 10),
        "group",
    ),
    Design(
        "news topics",
        "30 v 30 topics, ten sentences of news text each",
        alike(topics, 30, 10),
        "group",
    ),
)
SHARED = (
    Design("same prompts", "60 prompts, five v five texts of one model", same_groups(generated, 60, (5, 5)), "pair"),
    Design("same images", "100 images, two v three captions by people", same_groups(images, 100, (2, 3)), "pair"),
    Design("one per prompt", "300 prompts, one v one text of one model", same_groups(generated, 300, (1, 1)), "pair"),
)
# Groups whose sizes differ: `compare` draws equally many texts of each group where the two samples' sizes differ.
UNEQUAL = (
    Design(
        "one v ten",
        "30 prompts with one text of one model each v 30 with ten",
        disjoint(generated, (30, 30), (every(1), every(10))),
        "group",
    ),
    Design(
        "one v five",
        "60 prompts with one text of one model each v 60 with five",
        disjoint(generated, (60, 60), (every(1), every(5))),
        "group",
    ),
    Design(
        "five v one",
        "60 prompts with five texts of one model each v 60 with one",
        disjoint(generated, (60, 60), (every(5), every(1))),
        "group",
    ),
    Design(
        "five v ten",
        "30 prompts with five texts of one model each v 30 with ten",
        disjoint(generated, (30, 30), (every(5), every(10))),
        "group",
    ),
    Design(
        "few v many groups",
        "20 prompts with five texts of one model each v 80",
        disjoint(generated, (20, 80), (every(5), every(5))),
        "group",
    ),
    Design(
        "mixed sizes",
        "40 v 40 prompts with one to ten texts of one model each",
        disjoint(generated, (40, 40), (between(1, 10), between(1, 10))),
        "group",
    ),
    Design(
        "one v nine, paired", "60 prompts, one v nine texts of one model", same_groups(generated, 60, (1, 9)), "pair"
    ),
)
