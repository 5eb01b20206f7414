r"""Interpolated modified Kneser-Ney smoothing: n-grams counted and turned into next-symbol probabilities.

With `a` the adjusted count of an n-gram, `D` a discount that depends on this count (:math:`D_1`, :math:`D_2` or
:math:`D_{3+}`), and `h'` the context `h` without its first symbol,

.. math::
    P(w|h) = \frac{a(hw) - D(a(hw))}{\sum_v a(hv)} + \gamma(h)\,P(w|h'), \qquad
    \gamma(h) = \frac{\sum_v D(a(hv))}{\sum_v a(hv)},

where the first term is absent if `w` was never seen after `h`, and `P(w|h) = P(w|h')` if `h` was never seen. The
probability of a symbol without context is interpolated in the same way with the uniform distribution over all symbols
that can follow, the unknown word and the end included. At the highest order `a` is the number of occurrences. Below,
it is the number of different symbols before the n-gram, except for an n-gram at the beginning of a text, which has no
symbol before it and keeps its number of occurrences (Chen and Goodman 1999, section 3; the same choices as KenLM).

The discounts come from the counts of counts: with :math:`n_k` n-grams of adjusted count `k` and
:math:`Y = n_1 / (n_1 + 2 n_2)`, :math:`D_k = k - (k + 1) Y n_{k+1} / n_k`. On few or unusual texts they are not
defined, or outside of `0 < D_k < k`; the discounts of that order are then 0.5, 1 and 1.5, as in KenLM.
"""

from dataclasses import dataclass, field

import numpy as np

from textassay.corpus.arrays import F64, I64, Bool
from textassay.errors import InputError
from textassay.models.vocabulary import BEGIN

UNSEEN = -1
FALLBACK = (0.5, 1.0, 1.5)
_LARGEST = np.iinfo(np.int64).max
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False, slots=True)
class Ngrams:
    """The n-grams of one order in the texts, numbered by context and last symbol.

    A context is the n-gram without its last symbol, given by its number on the order below; order 1 has only the empty
    context 0 and an entry for every symbol. `keys` are `context * n_symbols + symbol`, in rising order; `suffix` is
    the number, on the order below, of an n-gram without its first symbol; `begins` marks those that begin a text.
    """

    n_symbols: int
    keys: I64
    counts: I64
    suffix: I64
    begins: Bool
    _index: list["_HashIndex"] = field(default_factory=list)

    @property
    def contexts(self) -> I64:
        """The context of each n-gram."""
        return self.keys // self.n_symbols

    def find(self, contexts: I64, symbols: I64) -> I64:
        """The numbers of these n-grams; `UNSEEN` if the n-gram or its context is unseen."""
        if len(self.keys) == self.n_symbols and not self.suffix.any():
            return np.where(contexts < 0, UNSEEN, symbols)
        if not self._index:
            self._index.append(_HashIndex.of(self.keys))
        return self._index[0].find(np.where(contexts < 0, UNSEEN, contexts * self.n_symbols + symbols))


@dataclass(frozen=True, eq=False, slots=True)
class _HashIndex:
    """Keys by their hash, for look-ups three times as fast as binary search.

    The keys of hash `b` are `keys[starts[b]:starts[b + 1]]`, and `numbers` has their indices in the original order.
    There are at least twice as many hashes as keys.
    """

    bits: int
    starts: I64
    keys: I64
    numbers: I64

    @classmethod
    def of(cls, keys: I64) -> "_HashIndex":
        bits = max(1, int(2 * len(keys) - 1).bit_length())
        hashes = _hashed(keys, bits)
        order = np.argsort(hashes, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(hashes, minlength=1 << bits))))
        return cls(bits, starts, keys[order], order)

    def find(self, wanted: I64) -> I64:
        """The index of each key in the original order; `UNSEEN` for one that is not there."""
        hashes = _hashed(wanted, self.bits)
        at, stop = self.starts[hashes], self.starts[hashes + 1]
        found = np.full(len(wanted), UNSEEN)
        open_ = np.flatnonzero(at < stop)
        at, stop = at[open_], stop[open_]
        while len(open_):
            hit = self.keys[at] == wanted[open_]
            found[open_[hit]] = self.numbers[at[hit]]
            on = ~hit & (at + 1 < stop)
            open_, at, stop = open_[on], at[on] + 1, stop[on]
        return found


def _hashed(keys: I64, bits: int) -> I64:
    """The upper bits of the keys times a large odd number (Fibonacci hashing)."""
    return (keys.view(np.uint64) * _GOLDEN >> np.uint64(64 - bits)).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """The smoothed n-grams of one order.

    The n-grams of context `h` are `starts[h]:starts[h + 1]`. `log_p` is the log-probability of the last symbol of each
    n-gram after its context, and `log_backoff` the log of the weight of the order below for each context.
    """

    ngrams: Ngrams
    starts: I64
    log_p: F64
    log_backoff: F64
    discounts: tuple[float, float, float]

    def symbols(self, numbers: I64 | slice) -> I64:
        """The last symbols of these n-grams."""
        return self.ngrams.keys[numbers] % self.ngrams.n_symbols


def count_ngrams(symbols: I64, *, order: int, n_symbols: int) -> list[Ngrams]:
    """The n-grams from order 1, for concatenated texts, each from `BEGIN` to an end; no order without n-grams."""
    if len(symbols) > _LARGEST // n_symbols:
        raise InputError(f"{len(symbols):,} tokens with {n_symbols:,} words; wanted fewer words (max_words)")
    tables = [unigrams(np.bincount(symbols, minlength=n_symbols))]
    numbers = symbols
    for _ in range(1, order):
        contexts = before(numbers, symbols)
        indices = np.flatnonzero(contexts >= 0)
        if not len(indices):
            break
        found = contexts[indices] * n_symbols + symbols[indices]
        keys, first, which, counts = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
        begins = tables[-1].begins[keys // n_symbols]
        tables.append(Ngrams(n_symbols, keys, counts, numbers[indices[first]], begins))
        numbers = np.full(len(symbols), UNSEEN)
        numbers[indices] = which
    return tables


def unigrams(counts: I64) -> Ngrams:
    """The entries of order 1, one per symbol."""
    every = np.arange(len(counts))
    return Ngrams(len(counts), every, counts, np.zeros_like(every), every == BEGIN)


def before(numbers: I64, symbols: I64) -> I64:
    """The number one position earlier in concatenated texts; `UNSEEN` at the beginning of each text."""
    shifted = np.concatenate(([UNSEEN], numbers[:-1]))
    return np.where(symbols == BEGIN, UNSEEN, shifted)


def smooth(tables: list[Ngrams]) -> tuple[Level, ...]:
    """The smoothed levels from order 1."""
    # Every symbol but the beginning of a text can follow.
    shorter = np.where(tables[0].begins, 0.0, 1 / (tables[0].n_symbols - 1))
    levels: list[Level] = []
    probability = np.ones(1)
    for index, table in enumerate(tables):
        if index:
            shorter = probability[table.suffix]
        level, probability = _smoothed(table, _adjusted(tables, index), shorter, n_contexts=len(probability))
        levels.append(level)
    return tuple(levels)


def discounts(adjusted: I64) -> tuple[float, float, float]:
    """The three discounts of an order from its counts of counts, or the fallback.

    >>> discounts(np.repeat([1, 2, 3, 4], [40, 12, 6, 4])) == discounts(np.array([1, 1, 2]))
    False
    >>> discounts(np.array([1, 1, 2]))
    (0.5, 1.0, 1.5)
    """
    n = np.bincount(np.minimum(adjusted, 5), minlength=6).tolist()
    if min(n[1:5]) == 0:
        return FALLBACK
    share = n[1] / (n[1] + 2 * n[2])
    first, second, third = (k - (k + 1) * share * n[k + 1] / n[k] for k in (1, 2, 3))
    if not (0 < first < 1 and 0 < second < 2 and 0 < third < 3):
        return FALLBACK
    return first, second, third


def _adjusted(tables: list[Ngrams], place: int) -> I64:
    """The adjusted counts: occurrences at the highest order and at the beginning of texts, else left neighbours."""
    table = tables[place]
    counts = table.counts
    if place + 1 < len(tables):
        neighbours = np.bincount(tables[place + 1].suffix, minlength=len(table.keys))
        counts = np.where(table.begins, counts, neighbours)
    # The beginning of a text follows no symbol.
    return counts if place else np.where(table.begins, 0, counts)


def _smoothed(table: Ngrams, adjusted: I64, shorter: F64, *, n_contexts: int) -> tuple[Level, F64]:
    """The level of one order and the probabilities of its n-grams; `shorter` are those without the first symbol."""
    chosen = discounts(adjusted)
    discount = np.array([0.0, *chosen])[np.minimum(adjusted, 3)]
    contexts = table.contexts
    totals = np.bincount(contexts, weights=adjusted, minlength=n_contexts)
    held_back = np.bincount(contexts, weights=discount, minlength=n_contexts)
    # An n-gram at the end of a text is not the context of any symbol; all probability comes from the order below.
    backoff = np.where(totals > 0, held_back / np.maximum(totals, 1), 1.0)
    probability = (adjusted - discount) / totals[contexts] + backoff[contexts] * shorter
    starts = np.concatenate(([0], np.cumsum(np.bincount(contexts, minlength=n_contexts))))
    with np.errstate(divide="ignore"):
        return Level(table, starts, np.log(probability), np.log(backoff), chosen), probability
