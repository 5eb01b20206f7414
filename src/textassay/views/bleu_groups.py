"""How clipped matches fall when a group of texts leaves: the jackknife of BLEU without counting anything anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.views.bleu_counts import (
    Floats,
    Ints,
    closest_lengths,
    closest_other_lengths,
    looked_up,
    matches,
    own_matches,
    text_bleu,
)
from textassay.views.hashing import starts_of_runs
from textassay.views.text_ngrams import Incidence, TextNgrams, largest

Labels = NDArray[np.int64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Losses:
    """Matches that `texts` lose when `groups` leave, entry by entry; most n-grams lose nothing and have no entry."""

    texts: NDArray[np.int32]
    groups: Counts
    amounts: Counts

    @classmethod
    def of(cls, texts: NDArray[np.int32], groups: Counts, amounts: Counts) -> "Losses":
        """Keep the entries that lose something."""
        kept = amounts > 0
        return cls(texts[kept], groups[kept], amounts[kept])

    def when(self, group: int, n_texts: int) -> Floats:
        """What each text loses when this group leaves."""
        chosen = self.groups == group
        lost = np.bincount(self.texts[chosen], weights=self.amounts[chosen], minlength=n_texts)
        return np.asarray(lost, dtype=np.float64)


def reference_losses(candidate: Incidence, reference: Incidence, labels: Labels) -> Losses:
    """An n-gram loses when the one group that holds its best count leaves: the best of the other groups remains."""
    groups = labels[reference.texts].astype(np.int32)
    best, holder, second = _best_two(reference.counts, groups, reference.starts)
    if candidate.keys is not reference.keys:
        best, holder, second = (looked_up(candidate, reference, values) for values in (best, holder, second))
    sizes = np.diff(candidate.starts)
    before, after = (np.minimum(candidate.counts, np.repeat(values, sizes)) for values in (best, second))
    return Losses.of(candidate.texts, np.repeat(holder, sizes), before - after)


def own_losses(incidence: Incidence, labels: Labels) -> Losses:
    """The same for a sample against itself: a text never counts for itself, and its own group does not leave.

    So for each n-gram of a text the best of its group without the text stays, and the best two other groups matter.
    """
    order, runs = _by_group(incidence, labels)
    texts, counts = incidence.texts[order], incidence.counts[order]
    lengths = np.diff(runs)
    without_me = np.repeat(largest(counts, runs), lengths)
    alone = _alone_at_best(counts, runs)
    without_me = np.where(alone, np.repeat(_runner_up(counts, runs), lengths), without_me)
    run_groups = labels[texts[runs[:-1]]].astype(np.int32)
    first, second, where = _two_other_groups(largest(counts, runs), run_groups, np.searchsorted(runs, incidence.starts))
    before = np.minimum(counts, np.maximum(without_me, np.repeat(first, lengths)))
    after = np.minimum(counts, np.maximum(without_me, np.repeat(second, lengths)))
    return Losses.of(texts, np.repeat(where, lengths), before - after)


def _best_two(counts: Counts, groups: Counts, starts: Ints) -> tuple[Counts, Counts, Counts]:
    """In each run the best count, a group that has it, and the best count of all other groups."""
    sizes = np.diff(starts)
    best = largest(counts, starts)
    holder = largest(np.where(counts == np.repeat(best, sizes), groups, 0).astype(np.int32), starts)
    second = largest(np.where(groups != np.repeat(holder, sizes), counts, 0).astype(np.int32), starts)
    return best, holder, second


def _by_group(incidence: Incidence, labels: Labels) -> tuple[Ints, Ints]:
    """Entries in the order of gram, then group, and where each such run begins."""
    n_groups = int(labels.max()) + 1
    gram = np.repeat(np.arange(len(incidence.keys)), np.diff(incidence.starts))
    run = gram * n_groups + labels[incidence.texts]
    bits = max(len(run), 1).bit_length()
    packed = (run << bits) | np.arange(len(run))
    packed.sort()
    return packed & ((1 << bits) - 1), starts_of_runs(packed >> bits)


def _alone_at_best(counts: Counts, runs: Ints) -> NDArray[np.bool_]:
    lengths = np.diff(runs)
    at_best = counts == np.repeat(largest(counts, runs), lengths)
    holders = np.diff(np.concatenate(([0], np.cumsum(at_best)))[runs])
    return at_best & np.repeat(holders == 1, lengths)


def _runner_up(counts: Counts, runs: Ints) -> Counts:
    at_best = counts == np.repeat(largest(counts, runs), np.diff(runs))
    return largest(np.where(at_best, 0, counts).astype(np.int32), runs)


def _two_other_groups(best: Counts, groups: Counts, starts: Ints) -> tuple[Counts, Counts, Counts]:
    """For each run (a gram in a group) the best two counts in other groups of the gram, and the group of the first."""
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


def scores_without_reference_groups(
    candidate: TextNgrams, reference: TextNgrams, n: int, labels: Labels
) -> Iterator[Floats]:
    """BLEU-n of each candidate text with each group of reference texts left out in turn."""
    orders = range(1, n + 1)
    pairs = [(candidate.order(k), reference.order(k)) for k in orders]
    matched = matches(candidate, reference, n)
    losses = [reference_losses(one, other, labels) for one, other in pairs]
    sizes = np.stack([candidate.sizes(k) for k in orders])
    for group in range(int(labels.max()) + 1):
        closest = closest_lengths(candidate.lengths, reference.lengths[labels != group])
        left = matched - _lost(losses, group, len(candidate))
        yield text_bleu(left, sizes, lengths=candidate.lengths, closest=closest)


def scores_without_own_groups(texts: TextNgrams, n: int, labels: Labels) -> Iterator[Floats]:
    """Self-BLEU-n of the texts that stay, with each group of texts left out in turn."""
    orders = range(1, n + 1)
    matched = own_matches(texts, n)
    losses = [own_losses(texts.order(k), labels) for k in orders]
    sizes = np.stack([texts.sizes(k) for k in orders])
    for group in range(int(labels.max()) + 1):
        stays = labels != group
        left = (matched - _lost(losses, group, len(texts)))[:, stays]
        lengths = texts.lengths[stays]
        yield text_bleu(left, sizes[:, stays], lengths=lengths, closest=closest_other_lengths(lengths))


def _lost(losses: Sequence[Losses], group: int, n_texts: int) -> Floats:
    return np.stack([order.when(group, n_texts) for order in losses])
