"""Phrases that a candidate uses too often or too rarely, with examples.

They are found by their log-odds under an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import Sequences, order_of, ranges, union
from textassay.corpus.printable import on_one_line
from textassay.corpus.tokenizers import Tokenizer, Tokens
from textassay.errors import InputError
from textassay.metrics.ngrams.counts import Ngrams, Table, TextNgrams, spread
from textassay.metrics.views import Material

WIDTH = 160
_DOTS = "…"

# The prior weighs as much as a fifth of the smaller sample. For a gram seen k times against 0, in samples of one size,
# z is then about 0.73 times the square root of k, close to the most that any weight gives (0.74).
PRIOR = 0.2
# The least z-score of a finding. Chance reaches it for one gram in 16,000, and in samples of one size only grams seen
# some 30 times or more can reach it at all, so that two halves of one sample hardly ever show a finding.
LEAST_Z = 4.0

# The characters before, between and after the tokens of a phrase in the text itself.
_SEAMS = {"char": ("", "", ""), "whitespace": (r"(?<!\S)", r"\s+", r"(?!\S)"), "hf": ("", r"\s*", "")}
# What subword tokenizers put before a word or its continuation.
_SUBWORD_MARK = re.compile("^(?:[Ġ▁]+|##)")


@dataclass(frozen=True)
class Phrase:
    """An n-gram that a candidate writes too often or too rarely: counts, z-score of the log-odds and example texts.

    The rates are per 1,000 tokens. `is_markup` is true for signs of markup and for punctuation without a word.
    """

    text: str
    n: int
    candidate_count: int
    reference_count: int
    z: float
    examples: tuple[str, ...]
    candidate_rate: float = 0.0
    reference_rate: float = 0.0
    is_markup: bool = False


def joined(words: Sequence[str], tokenizer: Tokenizer) -> str:
    """Tokens as a phrase to read."""
    return ("" if tokenizer.name == "char" else " ").join(words)


def excerpt(text: str, words: Sequence[str], tokenizer: Tokenizer) -> str:
    """At most 160 characters of a text around the phrase; the beginning, where its tokens are not found as written."""
    text = on_one_line(text)
    if len(text) <= WIDTH:
        return text
    found = _pattern(words, tokenizer).search(text)
    begin, end = found.span() if found else (0, 0)
    room = WIDTH - 2 * len(_DOTS)
    start = min(max((begin + end - room) // 2, 0), len(text) - room)
    # A phrase wider than the window is shown from its beginning.
    start = min(start, begin)
    stop = start + room
    return f"{_DOTS if start else ''}{text[start:stop]}{_DOTS if stop < len(text) else ''}"


def _pattern(words: Sequence[str], tokenizer: Tokenizer) -> re.Pattern[str]:
    kind = tokenizer.name.partition(":")[0]
    if kind == "hf":
        words = [_SUBWORD_MARK.sub("", word).strip() for word in words]
    if kind in _SEAMS:
        before, between, after = _SEAMS[kind]
    else:
        before, between, after = _edge(words[0][0], r"(?<!\w)"), r"\s*", _edge(words[-1][-1], r"(?!\w)")
    # Two repetitions side by side would make the search slow on long runs of white space: no empty words.
    body = between.join(r"\s+" if word.isspace() else re.escape(word) for word in words if word)
    return re.compile(before + body + after, re.IGNORECASE if tokenizer.lowercase else 0)


def _edge(character: str, guard: str) -> str:
    return guard if character.isalnum() else ""


@dataclass(frozen=True)
class Gram:
    """A gram with its counts in the sample that has `more` of it and in the other one; `z` is above 0."""

    n: int
    key: np.uint64
    more: int
    less: int
    z: float
    words: tuple[str, ...] = ()

    def times_in(self, other: "Gram") -> int:
        """How often it occurs within another gram."""
        indices = range(other.n - self.n + 1)
        return sum(other.words[at : at + self.n] == self.words for at in indices)

    def overlaps(self, other: "Gram") -> bool:
        """Does one of them end in the words with which the other begins?"""
        widths = range(1, min(self.n, other.n))
        return any(a.words[-m:] == b.words[:m] for m in widths for a, b in ((self, other), (other, self)))


def holders(gram: Gram, material: Material) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The texts of a sample that hold a gram, in order, and how often each does."""
    incidence = material.view(TextNgrams).order(gram.n)
    index = int(np.searchsorted(incidence.keys, gram.key))
    if index == len(incidence.keys) or incidence.keys[index] != gram.key:
        return incidence.texts[:0], incidence.counts[:0]
    entries = slice(incidence.starts[index], incidence.starts[index + 1])
    return incidence.texts[entries], incidence.counts[entries]


def with_words(grams: list[Gram], material: Material) -> list[Gram]:
    """The grams with their words, read from the first text that holds each; no other text is tokenised again."""
    words: dict[tuple[int, np.uint64], tuple[str, ...]] = {}
    for n in {gram.n for gram in grams}:
        keys = np.array([gram.key for gram in grams if gram.n == n], dtype=np.uint64)
        texts = {int(holders(gram, material)[0][0]) for gram in grams if gram.n == n}
        tokens = material.settings.tokenizer(material.sample.texts.take(pa.array(sorted(texts))))
        for key, begin in zip(keys, _first_places(tokens, keys, n).tolist(), strict=True):
            words[n, key] = tuple(tokens.words(begin, begin + n))
    return [replace(gram, words=words[gram.n, gram.key]) for gram in grams]


def _first_places(tokens: Tokens, keys: U64, n: int) -> NDArray[np.int64]:
    """Where each n-gram first begins among the tokens."""
    sequences = Sequences.from_tokens(tokens)
    grams, _ = sequences.ngrams(n)
    order = order_of(grams)
    places = ranges(sequences.offsets[:-1], np.maximum(sequences.lengths - n + 1, 0))
    return places[order[np.searchsorted(grams[order], keys)]]


# A gram that shares words with a listed one needs this share of its evidence for itself.
OWN_EVIDENCE = 0.5
# A whole that is this clear, relative to its part, is listed in place of the part.
NEARLY = 0.9
# Overlapping grams that occur in the same texts (by Jaccard similarity) are pieces of one phrase.
SAME_TEXTS = 0.5


def telling(grams: list[Gram], more: Material, less: Material, *, top: int) -> list[Gram]:
    """At most `top` grams, the clearest first, without those that a listed one explains.

    `grams` come with their words and the clearest first; `more` is the sample that has more of them.
    """
    listed: list[Gram] = []
    shown: list[Gram] = []
    for gram in grams:
        if len(listed) == top:
            break
        if not _is_shown(gram, shown, more, less):
            # `red panda` rather than `panda`, if it is always red.
            wider = (other for other in grams if other.z >= NEARLY * gram.z and gram.times_in(other))
            news = (other for other in wider if other is gram or not _is_shown(other, shown, more, less))
            listed.append(max(news, key=lambda other: (other.n, other.z)))
            # If `red panda` explains `panda`, it explains `panda cub` too.
            shown += [part for part in grams if part.times_in(listed[-1]) and _explains(listed[-1], part, more, less)]
    return sorted(listed, key=lambda gram: -gram.z)


def _is_shown(gram: Gram, shown: list[Gram], more: Material, less: Material) -> bool:
    return any(_explains(one, gram, more, less) or _continues(one, gram, more) for one in shown)


def _explains(shown: Gram, gram: Gram, more: Material, less: Material) -> bool:
    """Whether a listed gram that contains this one, or is part of it, explains most of its shift."""
    if times := gram.times_in(shown):
        own = _outside(gram, shown, times, more, less)
    elif shown.times_in(gram):
        # Whether the whole shifted more than its listed part.
        own = association_z((gram.more, gram.less), (shown.more, shown.less))
    else:
        return False
    return own < max(LEAST_Z, OWN_EVIDENCE * gram.z)


def _outside(gram: Gram, shown: Gram, times: int, more: Material, less: Material) -> float:
    """The z-score of a part outside the listed whole."""
    rest = max(gram.more - times * shown.more, 0), max(gram.less - times * shown.less, 0)
    totals = int(more.view(Ngrams).table(gram.n).total), int(less.view(Ngrams).table(gram.n).total)
    return float(log_odds_z(np.array(rest[:1]), np.array(rest[1:]), totals=totals)[0])


def _continues(shown: Gram, gram: Gram, material: Material) -> bool:
    """Are two overlapping grams pieces of one longer phrase, found in the same texts?"""
    if not gram.overlaps(shown):
        return False
    few, many = sorted((holders(each, material)[0] for each in (gram, shown)), key=len)
    if len(few) < SAME_TEXTS * len(many):
        return False
    shared = len(np.intersect1d(few, many, assume_unique=True))
    return shared >= SAME_TEXTS * (len(few) + len(many) - shared)


# The number of grams considered for each phrase that may be listed.
_DEPTH = 25
# Grams that are read to find as many words and as much markup.
_MORE = 3
# Signs of Markdown and of tags. With one of them a gram is markup, whatever words are beside it.
_SIGNS = frozenset("*_#`|~<>\\")
# Grams scored at once, and texts looked at for different examples.
_BLOCK, _MOST_HOLDERS = 1 << 20, 100


def what_differs(
    candidate: Material, reference: Material, *, orders: Sequence[int] = (1, 2, 3), top: int = 12, examples: int = 2
) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    """The phrases that the candidate over-produces and those that it under-produces, words before markup.

    Markup and words are separate lists of at most `top` phrases, the clearest first, so that bold type hides no word.
    Grams are ranked by the z-score of their log-odds with a prior, so that rare words do not float to the top. Only
    those of |z| >= 4 are listed, and only if that still holds when the variance is taken over texts: one long text that
    repeats a name is no habit of the sample. The share among all grams and the number per text must both be larger, or
    both be smaller: shorter texts have fewer of all words, and no phrase is too frequent only because of that. A gram
    whose shift is that of a listed one which it contains, is part of or overlaps is left out. Each phrase has up to
    `examples` different texts of the sample that has more of it.

    >>> from textassay.corpus.sample import Sample
    >>> made = Material(Sample.of(["the cat sat on a mat", "my dog sat on a mat"] * 50))
    >>> real = Material(Sample.of(["the cat lay on a rug", "my dog ran up a hill"] * 50))
    >>> over, under = what_differs(made, real)
    >>> [(phrase.text, phrase.candidate_count, phrase.reference_count) for phrase in over]
    [('on a mat', 100, 0), ('sat', 100, 0)]
    """
    if any(n < 1 for n in orders):
        raise InputError(f"orders: {tuple(orders)} given; wanted whole numbers of at least 1")
    over, under = _strongest(candidate, reference, orders=sorted(set(orders)), most=_MORE * _DEPTH * top)
    return (
        tuple(_phrase(gram, candidate, reference, examples) for gram in _listed(over, candidate, reference, top)),
        tuple(
            replace(
                found,
                candidate_count=found.reference_count,
                reference_count=found.candidate_count,
                candidate_rate=found.reference_rate,
                reference_rate=found.candidate_rate,
                z=-found.z,
            )
            for gram in _listed(under, reference, candidate, top)
            for found in [_phrase(gram, reference, candidate, examples)]
        ),
    )


def _phrase(gram: Gram, more: Material, less: Material, examples: int) -> Phrase:
    """A gram as a phrase of the sample that has more of it."""
    return Phrase(
        text=joined(gram.words, more.settings.tokenizer),
        n=gram.n,
        candidate_count=gram.more,
        reference_count=gram.less,
        z=gram.z,
        examples=_examples(gram, more, examples),
        candidate_rate=1000 * gram.more / _n_tokens(more),
        reference_rate=1000 * gram.less / _n_tokens(less),
        is_markup=is_markup(gram.words),
    )


def _n_tokens(material: Material) -> int:
    return max(int(material.view(Ngrams).table(1).total), 1)


def is_markup(words: Sequence[str]) -> bool:
    """Whether tokens are markup or punctuation: one is a sign of markup, or they have no letter but other characters.

    >>> [is_markup(words) for words in (("*", "*"), ("#", "Note"), ("1", "."), ("2024",), ("Sure", "!"), ("`x`",))]
    [True, True, True, False, False, False]
    """
    bare = [_SUBWORD_MARK.sub("", word) for word in words]
    plain = [word for word in bare if not any(map(str.isalnum, word))]
    signs = any(_SIGNS & set(word) for word in plain)
    return signs or bool(plain and not any(map(str.isalpha, "".join(bare))))


def _strongest(
    candidate: Material, reference: Material, *, orders: Sequence[int], most: int
) -> tuple[list[Gram], list[Gram]]:
    """The significant grams of all orders, those with the largest z first: over-produced and under-produced."""
    over: list[Gram] = []
    under: list[Gram] = []
    for n in orders:
        keys, counts, others, z = _significant(candidate.view(Ngrams).table(n), reference.view(Ngrams).table(n))
        best, worst = np.lexsort((keys, -z))[:most], np.lexsort((keys, z))[:most]
        over += [Gram(n, keys[i], int(counts[i]), int(others[i]), float(z[i])) for i in best if z[i] > 0]
        under += [Gram(n, keys[i], int(others[i]), int(counts[i]), -float(z[i])) for i in worst if z[i] < 0]
    over.sort(key=lambda gram: -gram.z)
    under.sort(key=lambda gram: -gram.z)
    return over[:most], under[:most]


def _significant(candidate: Table, reference: Table) -> tuple[U64, I64, I64, F64]:
    """Keys, counts in both samples and z-scores of the significant grams; a block at a time, to spare memory."""
    keys = union(candidate.keys, reference.keys)
    counts, others = spread(candidate, keys), spread(reference, keys)
    totals = int(candidate.total), int(reference.total)
    z = np.zeros(len(keys))
    if min(totals):
        for begin in range(0, len(keys), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            z[block] = log_odds_z(counts[block], others[block], totals=totals)
    kept = np.flatnonzero(np.abs(z) >= LEAST_Z)
    return keys[kept], counts[kept], others[kept], z[kept]


def _listed(grams: list[Gram], more: Material, less: Material, top: int) -> list[Gram]:
    """The phrases to list: words, then markup."""
    kinds: tuple[list[Gram], list[Gram]] = ([], [])
    for gram in with_words(grams, more):
        kinds[is_markup(gram.words)].append(gram)
    return [gram for kind in kinds for gram in _most_telling(kind[: _DEPTH * top], more, less, top)]


def _most_telling(grams: list[Gram], more: Material, less: Material, top: int) -> list[Gram]:
    return telling([gram for gram in grams if _is_solid(gram, more, less)], more, less, top=top)


def _is_solid(gram: Gram, more: Material, less: Material) -> bool:
    """Is it still significant when texts, not words, are what was sampled, and more frequent per text as well?"""
    tables = [material.view(Ngrams).table(gram.n) for material in (more, less)]
    inflation = tuple(_inflation(gram, *pair) for pair in zip((more, less), tables, strict=True))
    totals = int(tables[0].total), int(tables[1].total)
    z = log_odds_z(np.array([gram.more]), np.array([gram.less]), totals=totals, inflation=(inflation[0], inflation[1]))
    return bool(z[0] >= LEAST_Z) and _per_text_z(gram, (len(more.sample), len(less.sample)), inflation) >= LEAST_Z


def _per_text_z(gram: Gram, sizes: tuple[int, int], inflation: Sequence[float]) -> float:
    """z-score of the difference in the number per text."""
    rates = gram.more / sizes[0], gram.less / sizes[1]
    variance = sum(factor * rate / size for factor, rate, size in zip(inflation, rates, sizes, strict=True))
    return (rates[0] - rates[1]) / variance**0.5 if variance else 0.0


def _inflation(gram: Gram, material: Material, table: Table) -> float:
    texts, counts = holders(gram, material)
    sizes = material.view(TextNgrams).lengths[texts] - (gram.n - 1)
    return clustering(counts, sizes, total=int(table.total), size_squares=int(table.size_squares))


def _examples(gram: Gram, material: Material, most: int) -> tuple[str, ...]:
    """Different texts that hold the gram, from all over the sample."""
    texts, _ = holders(gram, material)
    few = min(len(texts), _MOST_HOLDERS)
    chosen = material.sample.texts.take(pa.array(texts[np.arange(few) * len(texts) // few])).unique()
    return tuple(excerpt(text, gram.words, material.settings.tokenizer) for text in chosen[:most].to_pylist())


def log_odds_z(
    candidate: NDArray[Any],
    reference: NDArray[Any],
    *,
    totals: tuple[int, int],
    inflation: tuple[Any, Any] = (1.0, 1.0),
) -> F64:
    r"""z-scores of the log-odds-ratios of grams counted in two samples; above 0 where the candidate has more.

    .. math:: z_g = \frac{\log\frac{y_g + \alpha_g}{n + \alpha_0 - y_g - \alpha_g}
        - \log\frac{y'_g + \alpha_g}{n' + \alpha_0 - y'_g - \alpha_g}}
        {\sqrt{1 / (y_g + \alpha_g) + 1 / (y'_g + \alpha_g)}}

    The prior :math:`\alpha_g` is proportional to the gram's pooled share, in which both samples have the same weight;
    for samples of one size that is its pooled count. `inflation` multiplies the two variances.

    >>> log_odds_z(np.array([30, 3]), np.array([0, 0]), totals=(10_000, 10_000)).round(2).tolist()
    [3.98, 1.26]
    """
    n, other_n = totals
    weight = PRIOR * min(n, other_n)
    prior = weight * (candidate / n + reference / other_n) / 2
    more, less = candidate + prior, reference + prior
    # Odds are 0 or infinite on both sides alike where neither sample has the gram and where all grams are this one.
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.log(more / (n + weight - more)) - np.log(less / (other_n + weight - less))
        z: F64 = delta / np.sqrt(inflation[0] / more + inflation[1] / less)
    return np.where(np.isnan(z), 0.0, z)


def association_z(hits: tuple[int, int], totals: tuple[int, int]) -> float:
    """z-score of the log-odds-ratio of two shares, half a case added to each cell; above 0 if the first is larger."""
    cells = np.array([hits, np.subtract(totals, hits)]) + 0.5
    odds = np.log(cells[0] / cells[1])
    return float((odds[0] - odds[1]) / np.sqrt((1 / cells).sum()))


def clustering(counts: NDArray[Any], sizes: NDArray[Any], *, total: int, size_squares: int) -> float:
    """How many times larger the variance of a gram's count is than a Poisson count's, because it comes in texts.

    `counts` and `sizes` are those of the texts that hold the gram: how often, among how many n-grams. A name that one
    long text repeats 200 times has a variance 200 times as large; 1 at least, so that evidence is never inflated.
    """
    count = int(counts.sum())
    if not count:
        return 1.0
    share = count / total
    exact = counts.astype(np.float64)
    residual = float(exact @ exact - 2 * share * (exact @ sizes) + share**2 * size_squares)
    return max(residual / count, 1.0)
