"""Overlap of two n-gram distributions (CND, CR, NRR and MS-Jaccard), distance of openings and endings, text traits."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64, U64
from textassay.corpus.hashed_ngrams import Incidence, Sequences, chain, mix
from textassay.metrics.ngrams.counts import Ngrams, Numbers, Table, TextNgrams, aligned
from textassay.metrics.registry import Value, metric
from textassay.metrics.views import Material

Weight = Literal["none", "sqrt", "idf"]


@metric(
    "cnd",
    family="ngram",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, 2.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text of one of the samples has n tokens (unbiased: needs two that have, and has no weights)",
    variant_bounds={"unbiased": (-2.0, 2.0), "sqrt": (0.0, float("inf")), "idf": (0.0, float("inf"))},
    length_moves=True,
    sums_products=("sqrt", "idf"),
    adds_up=True,
)
def cnd(
    candidate: Ngrams,
    reference: Ngrams,
    /,
    *,
    n: int = 2,
    variant: Literal["plugin", "unbiased"] = "plugin",
    weight: Weight = "none",
) -> Value:
    r"""CR-NRR divergence: squared distance between two n-gram distributions.

    .. math:: \mathrm{CND}_n = \sum_g w_g (Q_g - P_g)^2, \qquad
        \text{without weights } = 3\,[\Psi(P) - \Psi(Q)], \quad \Psi = \tfrac23 CR + \tfrac13 NRR

    Here Q and P are the shares of n-gram g in candidate and reference. `weight="none"` is the paper's definition (0 to
    2). `sqrt` divides by the square root of the n-gram's share R in both samples together, and `idf` multiplies by
    the square of log(1 + 1/R): both give rare n-grams more weight. The weights do not change when labels are exchanged,
    so tests stay exact. `variant="unbiased"` uses only pairs of different texts, has mean 0 for two samples from one
    source, may be slightly negative, and has no weights.

    It sees phrases that one sample uses more often than the other.

    Misleading when read as a share: it is a squared distance, dominated by the most frequent n-grams unless weighted,
    so small values can be real differences. A candidate with a share e of texts from another source has e squared times
    the distance of that source. The plug-in value of two samples from one source is above 0 and falls with size.

    It is undefined if no text of one of the samples has n tokens, or if `variant="unbiased"` is combined with weights.
    """
    a, b = candidate.table(n), reference.table(n)
    if variant == "plugin":
        return weighted_distance(a, b, weight=weight)
    return _unbiased(a, b) if weight == "none" else np.full_like(a.total, np.nan, dtype=float)[()]


def weighted_distance(a: Table, b: Table, *, weight: Weight) -> Value:
    """The weighted sum of squared differences between the shares of two tables."""
    counts, real = aligned(a, b)
    both = a.total + b.total
    gap = counts / a.total[..., None] - real / b.total[..., None]
    gap *= gap
    if weight != "none":
        gap *= _weights(counts + real, both[..., None], weight)
    # N-grams that the tables leave out occur once in both samples together.
    alone = _weights(1.0, both, weight) * (a.singles / a.total**2 + b.singles / b.total**2)
    return a.summed(gap.sum(axis=-1) + alone)


def _weights(pooled: Any, total: Any, weight: Weight) -> Any:
    """The weight of n-grams with these pooled counts."""
    if weight == "none":
        return 1.0
    share = np.maximum(pooled, 1) / total
    return share**-0.5 if weight == "sqrt" else np.log1p(1 / share) ** 2


def _unbiased(a: Table, b: Table) -> Value:
    counts, real = aligned(a, b)
    return _between_texts(a) + _between_texts(b) - 2 * a.summed((counts * real).sum(axis=-1)) / (a.total * b.total)


def _between_texts(table: Table) -> Value:
    squares = table.summed((table.counts * table.counts).sum(axis=-1) + table.singles)
    return (squares - table.own_squares) / (table.total**2 - table.size_squares)


@metric(
    "cr",
    family="ngram",
    aspect="quality",
    better="higher",
    rise="more common phrases",
    beside="nrr",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text of one of the samples has n tokens",
    length_moves=True,
    sums_products=True,
    adds_up=True,
)
def cr(candidate: Ngrams, reference: Ngrams, /, *, n: int = 2) -> Value:
    r"""Coverage rate: the probability that two n-grams, one drawn from each sample, are equal.

    .. math:: \mathrm{CR}_n = \sum_g Q_g P_g

    Here Q and P are the shares of n-gram g in candidate and reference. The estimate is unbiased, because it uses only
    pairs of texts from different samples.

    It sees whether the candidate uses the reference's frequent n-grams.

    Misleading when read alone: repeating the reference's most frequent n-gram beats real text. Read it with `nrr`, or
    read `cnd`, which combines both.

    It is undefined if no text of one of the samples has n tokens.
    """
    a, b = candidate.table(n), reference.table(n)
    counts, real = aligned(a, b)
    return a.summed((counts * real).sum(axis=-1)) / (a.total * b.total)


@metric(
    "nrr",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="more diverse",
    bounds=(-1.0, 0.0),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="no text has n tokens (the unbiased variant needs two that have)",
    length_moves=True,
    sums_products=True,
    adds_up=True,
)
def nrr(candidate: Ngrams, /, *, n: int = 2, variant: Literal["plugin", "unbiased"] = "plugin") -> Value:
    r"""Negative repetition rate: minus the probability that two n-grams drawn from the sample are equal.

    .. math:: \mathrm{NRR}_n = -\sum_g Q_g^2

    Here :math:`Q_g` is the share of n-gram g in the sample. The plug-in value pairs each n-gram with itself and is too
    low by about 1 / (number of n-grams); `variant="unbiased"` uses only pairs of different texts.

    It sees a few n-grams that take up a large share of the sample.

    Misleading when higher is read as better: noise has the highest value of all, so compare with real text's own.

    It is undefined if no text has n tokens; the unbiased variant needs two texts that have.
    """
    table = candidate.table(n)
    squares = table.summed((table.counts * table.counts).sum(axis=-1) + table.singles)
    if variant == "plugin":
        return -squares / table.total**2
    return -(squares - table.own_squares) / (table.total**2 - table.size_squares)


def order_scores(candidate: Ngrams, reference: Ngrams, /, *, n: int = 4) -> Mapping[str, float]:
    """The score of each order from 1 to n."""
    return {f"score_{k}": float(_order_score(candidate, reference, k)) for k in range(1, n + 1)}


@metric(
    "ms_jaccard",
    family="ngram",
    aspect="both",
    better="higher",
    rise="closer",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test="permutation",
    paper="montahaei2019",
    undefined="no text of either sample has n tokens",
    parts=order_scores,
    length_moves=True,
    adds_up=True,
)
def ms_jaccard(candidate: Ngrams, reference: Ngrams, /, *, n: int = 4) -> Value:
    r"""MS-Jaccard: the overlap of two samples' n-gram counts, as a geometric mean over the orders 1 to n.

    .. math:: \prod_{k=1}^{n} \mathrm{score}_k^{1/n}, \qquad
        \mathrm{score}_k = \frac{\sum_g \min(C_k(g), R_k(g))}{\sum_g \max(C_k(g), R_k(g))}

    Here C and R are counts of n-gram g per text in candidate and reference. The value is 0 if the samples share no
    n-gram of some order.

    It sees both n-grams that the candidate adds and n-grams that it lacks.

    Misleading across sample sizes: larger samples share more n-grams, so real text against real text is far below 1.
    Compare at equal sizes with real v real.

    It is undefined if no text of either sample has n tokens.
    """
    scores = np.stack([_order_score(candidate, reference, k) for k in range(1, n + 1)])
    return np.asarray(scores.prod(axis=0) ** (1 / n))


def _order_score(candidate: Ngrams, reference: Ngrams, k: int) -> NDArray[np.float64]:
    a, b = candidate.table(k), reference.table(k)
    counts, real = aligned(a, b)
    texts, real_texts = candidate.n_texts, reference.n_texts
    # Over one common denominator every sum of counts per text is an integer, so the order of texts cannot change it.
    if np.array_equal(texts, real_texts):
        texts = real_texts = 1
    shared = a.summed(_sums_of_smaller(counts, real, np.asarray(real_texts)[..., None], np.asarray(texts)[..., None]))
    return np.asarray(shared / (a.total * real_texts + b.total * texts - shared))


# Numbers of a slice, which fit into the cache of a processor.
_SLICE = 1 << 16


def _sums_of_smaller(counts: Numbers, real: Numbers, weight: Numbers, real_weight: Numbers) -> Value:
    """The sum over n-grams of the smaller one of two weighted counts, for each row."""
    n = counts.shape[-1]
    width = max(1, _SLICE // max(1, counts.size // max(n, 1)))
    slices = [slice(k, k + width) for k in range(0, n, width)] or [slice(0, 0)]
    sums = [np.minimum(counts[..., k] * weight, real[..., k] * real_weight).sum(axis=-1) for k in slices]
    return np.asarray(sum(sums))[()]


class TextEdges(TextNgrams):
    """The openings and endings of each text: for order n, the first and last k words for every k from 1 to n."""

    @classmethod
    def of(cls, material: Material, /) -> Self:
        """Extract the openings and endings of the texts of a sample."""
        sequences = without_marks(material.view(Sequences))
        return cls(sequences.lengths, lambda n: Incidence.from_ngrams(*hashed_edges(sequences, n)))

    def sizes(self, n: int) -> NDArray[np.int64]:
        """The number of edges of each text: two for each length up to its own."""
        return 2 * np.minimum(self.lengths, n)


def without_marks(texts: Sequences) -> Sequences:
    """The texts without their punctuation; a text that is nothing else keeps it."""
    n_texts = len(texts.lengths)
    text_of = np.repeat(np.arange(n_texts), texts.lengths)
    words = np.bincount(text_of, ~texts.marks, n_texts).astype(np.int64)
    kept = ~texts.marks | (words == 0)[text_of]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(text_of[kept], minlength=n_texts))))
    return Sequences(texts.words[kept], offsets, texts.marks[kept])


class Edges(Ngrams):
    """Counts of openings and endings, as n-gram tables."""

    source: ClassVar[type[TextNgrams]] = TextEdges


@metric(
    "edges",
    family="ngram",
    aspect="both",
    better="lower",
    rise="farther",
    bounds=(0.0, float("inf")),
    interval="jackknife",
    test="permutation",
    paper="li2020",
    undefined="one of the samples has no words",
    adds_up=True,
)
def edges(candidate: Edges, reference: Edges, /, *, n: int = 2) -> Value:
    r"""Distance between the samples in how texts begin and end: the first and the last 1 to n words of every text.

    .. math:: \sum_e \frac{(Q_e - P_e)^2}{\sqrt{R_e}}

    Here P and Q are the shares of each opening or ending e among all openings and endings of the two samples, and R is
    its share in both samples together. This is CND on the edges of texts, with the weights of `cnd:weight=sqrt`. Texts
    of fewer than n words have shorter edges only; a text of one word is its own opening and ending.

    It sees truncated texts and stock openings, which n-grams of whole texts hardly show.

    Misleading if the texts of one sample were cut to a fixed length, or include a prompt or a signature: the difference
    is real, but it is one of format. The value of two samples from one source is above 0 and falls with size, so
    compare with real v real.

    It is undefined if one of the samples has no words.
    """
    return weighted_distance(candidate.table(n), reference.table(n), weight="sqrt")


# The opening "the" differs from the ending "the" and from the opening "the the".
_OPENING, _ENDING = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F


def hashed_edges(sequences: Sequences, n: int) -> tuple[U64, NDArray[np.int32]]:
    """The hash of every edge of up to n words, and the text it belongs to, sorted by text.

    A text of one word has one opening and one ending, both that word.
    """
    keys: list[U64] = []
    texts: list[NDArray[np.int32]] = []
    for length in range(1, n + 1):
        long_enough = np.flatnonzero(sequences.lengths >= length).astype(np.int32)
        for begin, place in (
            (sequences.offsets[:-1][long_enough], _OPENING),
            (sequences.offsets[1:][long_enough] - length, _ENDING),
        ):
            gram = sequences.words[begin]
            for k in range(1, length):
                gram = chain(gram, sequences.words[begin + k])
            keys.append(mix(gram + np.uint64(place * length % 2**64)))
            texts.append(long_enough)
    order = np.argsort(np.concatenate(texts), kind="stable")
    return np.concatenate(keys)[order], np.concatenate(texts)[order]


def text_traits(sequences: Sequences, ngrams: TextNgrams, *, apart: I64 | None = None) -> F64:
    """Six numbers per text: its length, how common its words, word pairs, first word and last word are, and how common
    its last word is as a last word.

    How common is the log of one more than the count in all other texts of the pool, so exchanging labels changes none
    of the numbers. With `apart`, one number per text, it is the count in texts of other numbers: texts of a large group
    would otherwise count the words of their own group. Words that are cut off, out of order or rare change
    them in the same direction in every text, which a sum over many separate n-grams hardly sees. A text that is cut off
    ends with a word that is common, but not at an end.
    """
    lengths = np.log(np.maximum(ngrams.lengths, 1))
    words, ends = without_marks(sequences), []
    keys, which = np.unique(words.words, return_inverse=True)
    texts = np.repeat(np.arange(len(words)), words.lengths)
    totals = np.bincount(which, minlength=len(keys))
    owners = np.arange(len(words)) if apart is None else apart
    pairs, inverse, counts = np.unique(owners[texts] * len(keys) + which, return_inverse=True, return_counts=True)
    elsewhere = np.log1p(totals[pairs % len(keys)] - counts)[inverse]
    filled = np.flatnonzero(words.lengths > 0)
    for indices in (words.offsets[:-1][filled], words.offsets[1:][filled] - 1):
        end = np.zeros(len(words))
        end[filled] = elsewhere[indices]
        ends.append(end)
    last = which[words.offsets[1:][filled] - 1]
    as_last = np.zeros(len(words))
    _, inverse, counts = np.unique(owners[filled] * len(keys) + last, return_inverse=True, return_counts=True)
    as_last[filled] = np.log1p(np.bincount(last, minlength=len(keys))[last] - counts[inverse])
    commonness = [_commonness(ngrams, n, apart) for n in (1, 2)]
    return np.stack([lengths, *commonness, *ends, as_last], axis=1)


def _commonness(ngrams: TextNgrams, n: int, apart: I64 | None) -> F64:
    """For each text the mean over its n-grams of the log of one more than their count in texts apart from it."""
    incidence = ngrams.order(n)
    own = incidence.counts
    if apart is not None:
        grams = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
        _, which = np.unique(grams * (int(apart.max()) + 1) + apart[incidence.texts], return_inverse=True)
        own = np.bincount(which, incidence.counts)[which].astype(np.int64)
    elsewhere = np.repeat(incidence.totals(), np.diff(incidence.starts)) - own
    sums = np.bincount(incidence.texts, incidence.counts * np.log1p(elsewhere), len(ngrams))
    return sums / np.maximum(ngrams.sizes(n), 1)
