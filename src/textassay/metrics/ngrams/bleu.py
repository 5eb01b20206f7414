"""BLEU, reverse BLEU and Self-BLEU of texts and of corpora: clipped counts, and scores without groups of texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I32, I64
from textassay.corpus.hashed_ngrams import Incidence, largest, starts_of_runs
from textassay.corpus.printable import share
from textassay.distances.bleu import text_bleu
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.registry import Value, metric, variant

# What is averaged: the scores of texts, or nothing, because the counts of all texts are added up first.
Variant = Literal["texts", "corpus"]

_NO_TEST = "exchanging texts changes what every text is compared with, so a permutation test is not valid; use {}"


def _short(scored: TextNgrams, n: int) -> dict[str, float]:
    """The share of texts that have no n-gram, whose score is that of smoothing."""
    return {"without_ngrams": float((scored.lengths < n).mean())}


def short_candidates(candidate: TextNgrams, reference: TextNgrams | None = None, /, *, n: int = 4) -> dict[str, float]:
    """The share of candidate texts of fewer than n words."""
    del reference
    return _short(candidate, n)


def short_references(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4) -> dict[str, float]:
    """The share of reference texts of fewer than n words."""
    del candidate
    return _short(reference, n)


# A tenth of texts without n-grams moves the mean by more than most differences.
_MANY_SHORT = 0.1


def remarks_on_short_texts(parts: Mapping[str, float]) -> Iterator[str]:
    """A remark if smoothing decides the score of many texts."""
    short = parts.get("without_ngrams", 0.0)
    if short >= _MANY_SHORT:
        yield (
            f"{share(short)} of the texts that it scores have fewer words than n: orders without n-grams count as 0.1 "
            "matches, so that equal texts score less than 1; choose a smaller n"
        )


def bleu_leave_out(
    candidate: TextNgrams, reference: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """BLEU with each group of candidate texts, and with each group of reference texts, left out."""
    return (
        means_without_groups(bleu_scores(candidate, reference, n), labels[0]),
        np.array([left.scores().mean() for left in counts_without_references(candidate, reference, n, labels[1])]),
    )


@metric(
    "bleu",
    family="ngram",
    aspect="quality",
    better="higher",
    rise="more known phrases",
    beside="self_bleu",
    bounds=(0.0, 1.0),
    interval="jackknife:different-texts",
    test=None,
    why_no_test=_NO_TEST.format("ms_jaccard or cnd"),
    paper="papineni2002",
    leave_out=bleu_leave_out,
    length_moves=True,
    parts=short_candidates,
    remarks=remarks_on_short_texts,
)
def bleu(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4) -> Value:
    r"""BLEU-n of each candidate text against all reference texts at once, averaged over the texts.

    .. math:: \mathrm{BLEU}_n(c) = \min\bigl(1, e^{1 - r / |c|}\bigr) \prod_{k=1}^{n} p_k^{1/n}

    Here :math:`p_k` is the share of the k-grams of text c that also occur in a reference, each clipped to its largest
    count in one reference, and r is the reference length closest to :math:`|c|` (the shorter one on ties). An order
    without a match counts as 0.1 matches (smoothing method 1 of Chen and Cherry); a text without a matching word scores
    0. Each text's score is that of NLTK's `sentence_bleu`. `variant=corpus` adds the counts and lengths of all texts
    before it divides, without smoothing, as sections 5.1 and 6 of Li et al. (2020) use it. It equals NLTK's
    `corpus_bleu`, which counts one n-gram for a text of fewer than n words, if there is no such text.

    It sees word sequences of up to n words that no reference contains.

    Misleading when read alone: it ignores what the candidate never writes, a model that repeats safe phrases beats real
    text, and the value grows with the number of references.

    It is always defined for two or more texts. There is no interval below 20 different texts per sample (repeated texts
    count for less), because the value of a few texts changes a lot with single references.
    """
    return float(bleu_scores(candidate, reference, n).mean())


def corpus_bleu_leave_out(
    candidate: TextNgrams, reference: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int, variant: Variant
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Corpus BLEU with each group of candidate texts, and with each group of reference texts, left out."""
    del variant
    whole = bleu_counts(candidate, reference, n)
    parts = counts_without_references(candidate, reference, n, labels[1])
    return pooled_bleu(whole.without_groups(labels[0])), np.array([pooled_bleu(left.total())[0] for left in parts])


@variant(
    "bleu",
    variant="corpus",
    interval="jackknife:different-texts",
    test=None,
    why_no_test=_NO_TEST.format("ms_jaccard or cnd"),
    leave_out=corpus_bleu_leave_out,
)
def bleu_of_corpus(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4, variant: Variant = "texts") -> Value:
    """BLEU-n of all candidate texts together, without smoothing."""
    del variant
    return corpus_bleu(candidate, reference, n)


def reverse_bleu_leave_out(
    candidate: TextNgrams, reference: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reverse BLEU with each group of candidate texts, and with each group of reference texts, left out."""
    by_reference, by_candidate = bleu_leave_out(reference, candidate, labels=labels[::-1], n=n)
    return by_candidate, by_reference


@metric(
    "reverse_bleu",
    family="ngram",
    aspect="diversity",
    better="higher",
    rise="more coverage",
    bounds=(0.0, 1.0),
    interval="jackknife:different-texts",
    test=None,
    why_no_test=_NO_TEST.format("ms_jaccard or cnd"),
    paper="shi2018",
    leave_out=reverse_bleu_leave_out,
    length_moves=True,
    parts=short_references,
    remarks=remarks_on_short_texts,
)
def reverse_bleu(candidate: TextNgrams, reference: TextNgrams, /, *, n: int = 4) -> Value:
    r"""Reverse BLEU-n: BLEU-n of each reference text against all candidate texts, averaged over the references.

    .. math:: \frac{1}{|R|} \sum_{r \in R} \mathrm{BLEU}_n(r;\, C)

    This is `bleu` with the roles exchanged: recall where BLEU is precision.

    It sees what the candidate never writes, so a collapsed generator scores low.

    Misleading across sample sizes: more candidate texts match more of the reference.

    It is always defined for two or more texts. There is no interval below 20 different texts per sample (repeated texts
    count for less), because the value of a few texts changes a lot with single candidates.
    """
    return float(bleu_scores(reference, candidate, n).mean())


def self_bleu_leave_out(
    candidate: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.float64]]:
    """Self-BLEU with each group of texts left out."""
    return (np.array([left.scores().mean() for left in own_counts_without_groups(candidate, n, labels[0])]),)


@metric(
    "self_bleu",
    family="ngram",
    aspect="diversity",
    better="closer",
    rise="less diverse",
    bounds=(0.0, 1.0),
    interval="jackknife",
    test=None,
    why_no_test=_NO_TEST.format("distinct or nrr"),
    paper="zhu2018",
    leave_out=self_bleu_leave_out,
    length_moves=True,
    parts=short_candidates,
    remarks=remarks_on_short_texts,
)
def self_bleu(candidate: TextNgrams, /, *, n: int = 4) -> Value:
    r"""Self-BLEU-n: BLEU-n of each text against all other texts of the sample, averaged; high means repetitive.

    .. math:: \frac{1}{|C|} \sum_{c \in C} \mathrm{BLEU}_n(c;\, C \setminus c)

    A text is not its own reference, but a copy of it is. `variant=corpus` adds the counts and lengths of all texts
    before it divides, without smoothing.

    It sees phrases that a generator uses in many texts.

    Misleading when lower is read as better: noise scores lowest, and the value grows with the sample, so compare with
    real text's own value at the same size.

    It is always defined for two or more texts.
    """
    return float(self_bleu_scores(candidate, n).mean())


def corpus_self_bleu_leave_out(
    candidate: TextNgrams, /, *, labels: Sequence[NDArray[np.int64]], n: int, variant: Variant
) -> tuple[NDArray[np.float64]]:
    """Corpus Self-BLEU with each group of texts left out."""
    del variant
    return (np.array([pooled_bleu(left.total())[0] for left in own_counts_without_groups(candidate, n, labels[0])]),)


@variant(
    "self_bleu",
    variant="corpus",
    interval="jackknife",
    test=None,
    why_no_test=_NO_TEST.format("distinct or nrr"),
    leave_out=corpus_self_bleu_leave_out,
)
def self_bleu_of_corpus(candidate: TextNgrams, /, *, n: int = 4, variant: Variant = "texts") -> Value:
    """Self-BLEU-n of all texts together, without smoothing."""
    del variant
    return corpus_self_bleu(candidate, n)


@dataclass(frozen=True, eq=False)
class BleuCounts:
    """The counts in BLEU, one column per text: matches and numbers of n-grams by order, lengths and closest lengths."""

    matches: F64
    sizes: I64
    lengths: I64
    closest: I64

    def scores(self) -> F64:
        """BLEU of each text."""
        return text_bleu(self.matches, self.sizes, lengths=self.lengths, closest=self.closest)

    def total(self) -> "BleuCounts":
        """The counts of all texts together, in one column."""
        columns = (values.sum(axis=-1, keepdims=True) for values in self._columns())
        return BleuCounts(*columns)

    def without_groups(self, labels: I64) -> "BleuCounts":
        """The counts of all texts but those of one group, in one column per group."""
        n_groups = int(labels.max()) + 1

        def left(values: NDArray[np.float64] | I64) -> F64:
            rows = np.atleast_2d(values)
            groups = np.stack([np.bincount(labels, weights=row, minlength=n_groups) for row in rows])
            return (rows.sum(axis=1, keepdims=True) - groups).reshape(*values.shape[:-1], n_groups)

        return BleuCounts(*(left(values) for values in self._columns()))  # type: ignore[arg-type]

    def _columns(self) -> tuple[F64, I64, I64, I64]:
        return self.matches, self.sizes, self.lengths, self.closest


def pooled_bleu(counts: BleuCounts) -> F64:
    """BLEU without smoothing of each column; 0 where an order has no match.

    >>> column = BleuCounts(np.array([[3.0], [1.0]]), np.array([[4], [2]]), np.array([4]), np.array([5]))
    >>> pooled_bleu(column).round(4).tolist()
    [0.4769]
    """
    matched = (counts.matches > 0).all(axis=0)
    precisions = np.where(matched, counts.matches / np.maximum(counts.sizes, 1), 1.0)
    brevity = np.exp(np.minimum(1 - counts.closest / np.maximum(counts.lengths, 1), 0.0))
    return np.where(matched, brevity * np.exp(np.log(precisions).mean(axis=0)), 0.0)


def corpus_bleu(candidate: TextNgrams, reference: TextNgrams, n: int) -> float:
    """BLEU-n of all texts together, without smoothing."""
    return float(pooled_bleu(bleu_counts(candidate, reference, n).total())[0])


def corpus_self_bleu(texts: TextNgrams, n: int) -> float:
    """Self-BLEU-n of all texts together, each against all others, without smoothing."""
    return float(pooled_bleu(own_counts(texts, n).total())[0])


def bleu_counts(candidate: TextNgrams, reference: TextNgrams, n: int) -> BleuCounts:
    """The counts of each candidate text against all references."""
    closest = closest_lengths(candidate.lengths, reference.lengths)
    return BleuCounts(matches(candidate, reference, n), _sizes(candidate, n), candidate.lengths, closest)


def own_counts(texts: TextNgrams, n: int) -> BleuCounts:
    """The counts of each text against all other texts."""
    return BleuCounts(own_matches(texts, n), _sizes(texts, n), texts.lengths, closest_other_lengths(texts.lengths))


def _sizes(texts: TextNgrams, n: int) -> I64:
    return np.stack([texts.sizes(k) for k in range(1, n + 1)])


def bleu_scores(candidate: TextNgrams, reference: TextNgrams, n: int) -> NDArray[np.float64]:
    """BLEU-n of each candidate text."""
    return bleu_counts(candidate, reference, n).scores()


def self_bleu_scores(candidate: TextNgrams, n: int) -> NDArray[np.float64]:
    """Self-BLEU-n of each text."""
    return own_counts(candidate, n).scores()


def means_without_groups(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean score with each group of texts left out: a text's score does not depend on the other candidates."""
    stays = len(scores) - np.bincount(labels)
    return np.asarray((scores.sum() - np.bincount(labels, weights=scores)) / stays)


def matches(candidate: TextNgrams, reference: TextNgrams, n: int) -> F64:
    """Matched n-grams of each candidate text, one row for each order from 1 to n; each order is computed once."""

    def order(k: int) -> F64:
        return matches_between(candidate.order(k), reference.order(k), len(candidate))

    return np.stack([candidate.once(("matches", k), reference, partial(order, k)) for k in range(1, n + 1)])


def own_matches(sample: TextNgrams, n: int) -> F64:
    """As `matches`, with the other texts of the sample as references."""

    def order(k: int) -> F64:
        return matches_with_others(sample.order(k), len(sample))

    return np.stack([sample.once(("own matches", k), sample, partial(order, k)) for k in range(1, n + 1)])


def matches_between(candidate: Incidence, reference: Incidence, n_texts: int) -> F64:
    """Matched n-grams of each candidate text, each clipped to its largest count in one reference text."""
    best = reference.best()
    if candidate.keys is not reference.keys:
        best = looked_up(candidate, reference, best)
    clipped = np.minimum(candidate.counts, np.repeat(best, np.diff(candidate.starts)))
    return _summed(clipped, candidate.texts, n_texts)


def _summed(amounts: NDArray[np.int32], texts: NDArray[np.int32], n_texts: int) -> F64:
    return np.asarray(np.bincount(texts, weights=amounts, minlength=n_texts), dtype=np.float64)


def looked_up(candidate: Incidence, reference: Incidence, values: NDArray[np.int32]) -> NDArray[np.int32]:
    """The reference's value of each of the candidate's n-grams; 0 if the reference does not have the n-gram."""
    if not len(reference.keys):
        return np.zeros(len(candidate.keys), dtype=np.int32)
    indices = np.minimum(np.searchsorted(reference.keys, candidate.keys), len(reference.keys) - 1)
    return np.where(reference.keys[indices] == candidate.keys, values[indices], 0).astype(np.int32)


def matches_with_others(incidence: Incidence, n_texts: int) -> F64:
    """Matched n-grams of each text, each clipped to its largest count in one *other* text of the sample.

    The largest count applies to every text except one that alone has it: that text is clipped to the second largest
    count. So the cost is linear in the number of n-grams, not in the number of pairs of texts.
    """
    alone, runner_up = _alone_at_best(incidence.counts, incidence.starts)
    return _summed(np.where(alone, runner_up, incidence.counts), incidence.texts, n_texts)


def closest_lengths(lengths: I64, reference: I64) -> I64:
    """The reference length closest to each length; the shorter one on ties."""
    return _closest(lengths, np.unique(reference, return_counts=True)[0])


def closest_other_lengths(lengths: I64) -> I64:
    """The closest length among the *other* texts: a text's own length counts only if another text has it too."""
    values, index, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return lengths
    below = np.concatenate(([values[1]], values[:-1]))
    above = np.concatenate((values[1:], [values[-2]]))
    other = np.where(np.abs(values - below) <= np.abs(above - values), below, above)
    return np.where(counts == 1, other, values)[index]


def _closest(lengths: I64, values: I64) -> I64:
    above = np.minimum(np.searchsorted(values, lengths), len(values) - 1)
    below = np.maximum(above - 1, 0)
    nearer_below = np.abs(lengths - values[below]) <= np.abs(values[above] - lengths)
    closest: I64 = np.where(nearer_below, values[below], values[above])
    return closest


@dataclass(frozen=True, eq=False)
class Losses:
    """Matches that texts lose when groups of references are left out: entry i is a text, a group and an amount.

    Most n-grams lose nothing and have no entry.
    """

    texts: NDArray[np.int32]
    groups: I32
    amounts: I32

    @classmethod
    def of(cls, texts: NDArray[np.int32], groups: I32, amounts: I32) -> "Losses":
        """Only the entries with a positive amount."""
        kept = amounts > 0
        return cls(texts[kept], groups[kept], amounts[kept])

    def when(self, group: int, n_texts: int) -> F64:
        """What each text loses when this group is left out."""
        chosen = self.groups == group
        lost = np.bincount(self.texts[chosen], weights=self.amounts[chosen], minlength=n_texts)
        return np.asarray(lost, dtype=np.float64)


def reference_losses(candidate: Incidence, reference: Incidence, labels: I64) -> Losses:
    """The losses of a candidate when groups of the reference are left out.

    An n-gram loses matches only with the one group that has its largest count: the largest count of the other groups
    takes its place.
    """
    groups = labels[reference.texts].astype(np.int32)
    best, holder, second = _best_two(reference.counts, groups, reference.starts)
    if candidate.keys is not reference.keys:
        best, holder, second = (looked_up(candidate, reference, values) for values in (best, holder, second))
    sizes = np.diff(candidate.starts)
    before, after = (np.minimum(candidate.counts, np.repeat(values, sizes)) for values in (best, second))
    return Losses.of(candidate.texts, np.repeat(holder, sizes), before - after)


def own_losses(incidence: Incidence, labels: I64) -> Losses:
    """The losses of a sample against itself; a text is not its own reference, and its own group stays.

    For each n-gram of a text, the largest count in its own group without the text always remains; of the other groups
    only the two with the largest counts matter.
    """
    order, runs = _by_group(incidence, labels)
    texts, counts = incidence.texts[order], incidence.counts[order]
    lengths = np.diff(runs)
    best = largest(counts, runs)
    alone, runner_up = _alone_at_best(counts, runs)
    without_text = np.where(alone, runner_up, np.repeat(best, lengths))
    run_groups = labels[texts[runs[:-1]]].astype(np.int32)
    first, second, where = _two_other_groups(best, run_groups, np.searchsorted(runs, incidence.starts))
    before = np.minimum(counts, np.maximum(without_text, np.repeat(first, lengths)))
    after = np.minimum(counts, np.maximum(without_text, np.repeat(second, lengths)))
    return Losses.of(texts, np.repeat(where, lengths), before - after)


def _best_two(counts: I32, groups: I32, starts: I64) -> tuple[I32, I32, I32]:
    """The largest count of each run, a group that has it, and the largest count of all other groups."""
    sizes = np.diff(starts)
    best = largest(counts, starts)
    holder = largest(np.where(counts == np.repeat(best, sizes), groups, 0).astype(np.int32), starts)
    second = largest(np.where(groups != np.repeat(holder, sizes), counts, 0).astype(np.int32), starts)
    return best, holder, second


def _by_group(incidence: Incidence, labels: I64) -> tuple[I64, I64]:
    """Entries sorted by n-gram and group, and the start of each run of one n-gram and group."""
    n_groups = int(labels.max()) + 1
    gram = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
    run = gram * n_groups + labels[incidence.texts]
    bits = max(len(run), 1).bit_length()
    packed = (run << bits) | np.arange(len(run))
    packed.sort()
    return packed & ((1 << bits) - 1), starts_of_runs(packed >> bits)


def _alone_at_best(counts: I32, runs: I64) -> tuple[NDArray[np.bool_], I32]:
    """For each entry, whether it alone has the largest count of its run, and the largest smaller count of the run."""
    lengths = np.diff(runs)
    at_best = counts == np.repeat(largest(counts, runs), lengths)
    holders = np.diff(np.concatenate(([0], np.cumsum(at_best)))[runs])
    runner_up = largest(np.where(at_best, 0, counts).astype(np.int32), runs)
    return at_best & np.repeat(holders == 1, lengths), np.repeat(runner_up, lengths)


def _two_other_groups(best: I32, groups: I32, starts: I64) -> tuple[I32, I32, I32]:
    """For each run of one n-gram and group: the two largest counts in other groups, and the group of the largest."""
    sizes = np.diff(starts)
    b1, g1, _ = _best_two(best, groups, starts)
    rest = np.where(groups != np.repeat(g1, sizes), best, 0).astype(np.int32)
    b2 = largest(rest, starts)
    g2 = largest(np.where((rest == np.repeat(b2, sizes)) & (rest > 0), groups, -1).astype(np.int32), starts)
    b3 = largest(np.where(groups != np.repeat(g2, sizes), rest, 0).astype(np.int32), starts)
    b1, g1, b2, g2, b3 = (np.repeat(values, sizes) for values in (b1, g1, b2, g2, b3))
    mine_first, mine_second = groups == g1, groups == g2
    first = np.where(mine_first, b2, b1)
    where = np.where(mine_first, g2, g1)
    second = np.where(mine_first | mine_second, b3, b2)
    return first, second, where


def counts_without_references(
    candidate: TextNgrams, reference: TextNgrams, n: int, labels: I64
) -> Iterator[BleuCounts]:
    """The counts of each candidate text with each group of reference texts left out in turn."""
    matched, sizes = matches(candidate, reference, n), _sizes(candidate, n)
    losses = [reference_losses(candidate.order(k), reference.order(k), labels) for k in range(1, n + 1)]
    for group in range(int(labels.max()) + 1):
        closest = closest_lengths(candidate.lengths, reference.lengths[labels != group])
        left = matched - _lost(losses, group, len(candidate))
        yield BleuCounts(left, sizes, candidate.lengths, closest)


def own_counts_without_groups(texts: TextNgrams, n: int, labels: I64) -> Iterator[BleuCounts]:
    """The counts of the remaining texts, with each group of texts left out in turn."""
    matched, sizes = own_matches(texts, n), _sizes(texts, n)
    losses = [own_losses(texts.order(k), labels) for k in range(1, n + 1)]
    for group in range(int(labels.max()) + 1):
        stays = labels != group
        left = (matched - _lost(losses, group, len(texts)))[:, stays]
        lengths = texts.lengths[stays]
        yield BleuCounts(left, sizes[:, stays], lengths, closest_other_lengths(lengths))


def _lost(losses: Sequence[Losses], group: int, n_texts: int) -> F64:
    return np.stack([order.when(group, n_texts) for order in losses])
