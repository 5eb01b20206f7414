r"""Interpolated Kneser-Ney smoothing: n-grams counted and turned into next-symbol probabilities, in flat arrays.

With `c` the count of a context `h` and of a symbol `w` after it, `D` the discount (0.75), `N(h)` the number of
different symbols after `h`, and `h'` the context without its first symbol,

.. math:: P(w|h) = \frac{c(hw) - D}{c(h)} + \frac{D\,N(h)}{c(h)}\,P(w|h'),

where the first term is absent if `w` was never seen after `h`, and `P(w|h) = P(w|h')` if `h` was never seen. Below the
highest order, `c` is not the number of occurrences of an n-gram but the number of different symbols before it (Kneser
and Ney 1995, interpolated as in Chen and Goodman 1999), except for an n-gram at the beginning of a text, which has no
symbol before it. The probability of a symbol without context is its share of these counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.arrays import F64, I64

BEGIN, END, FIRST_WORD = 0, 1, 2
DISCOUNT = 0.75
UNSEEN = -1


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """The n-grams of one order, numbered by context and last symbol.

    A context is the n-gram without its last symbol, given by its number on the level below; the lowest level has only
    the empty context 0. The n-grams of context `h` are `starts[h]:starts[h + 1]`; `suffix` is the number, on the
    level below, of an n-gram without its first symbol. `probability` belongs to n-grams and `backoff` to contexts.
    """

    n_symbols: int
    keys: I64
    starts: I64
    suffix: I64
    probability: F64
    backoff: F64

    @property
    def contexts(self) -> I64:
        """The context of each n-gram."""
        return self.keys // self.n_symbols

    def symbols(self, numbers: I64 | slice) -> I64:
        """The last symbols of these n-grams."""
        return self.keys[numbers] % self.n_symbols

    def find(self, contexts: I64, symbols: I64) -> I64:
        """The numbers of these n-grams; `UNSEEN` if the n-gram, its context or its symbol is unseen."""
        keys = np.where((contexts < 0) | (symbols < 0), UNSEEN, contexts * self.n_symbols + symbols)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, UNSEEN)


@dataclass(frozen=True, eq=False, slots=True)
class _Counted:
    """The n-grams of one order in the texts: their counts, and whether they are at the beginning of a text."""

    keys: I64
    suffix: I64
    counts: I64
    begins: NDArray[np.bool_]


def fit_levels(symbols: I64, *, order: int, n_symbols: int) -> tuple[Level, ...]:
    """The levels from order 1, for concatenated texts, each from `BEGIN` to `END`; no levels without n-grams."""
    tables = _count(symbols, order, n_symbols)
    levels = [_lowest(_adjusted(tables, 0), n_symbols)]
    for place in range(1, len(tables)):
        levels.append(_smoothed(tables[place], _adjusted(tables, place), levels[-1]))
    return tuple(levels)


def before(numbers: I64, symbols: I64) -> I64:
    """The number one position earlier in concatenated texts; `UNSEEN` at the beginning of each text."""
    shifted = np.concatenate(([UNSEEN], numbers[:-1]))
    return np.where(symbols == BEGIN, UNSEEN, shifted)


def probabilities(levels: tuple[Level, ...], symbols: I64) -> F64:
    """The probability of each symbol given those before it in its text, 1 for `BEGIN` and 0 for an unknown symbol."""
    chances = np.where(symbols < 0, 0.0, levels[0].probability[symbols])
    numbers = symbols
    for level in levels[1:]:
        contexts = before(numbers, symbols)
        numbers = level.find(contexts, symbols)
        lower = np.where(contexts < 0, 1.0, level.backoff[contexts]) * chances
        chances = np.where(numbers < 0, lower, level.probability[numbers])
    return np.where(symbols == BEGIN, 1.0, chances)


def _count(symbols: I64, order: int, n_symbols: int) -> list[_Counted]:
    every = np.arange(n_symbols)
    tables = [_Counted(every, np.zeros_like(every), np.bincount(symbols, minlength=n_symbols), every == BEGIN)]
    numbers = symbols
    for _ in range(1, order):
        contexts = before(numbers, symbols)
        places = np.flatnonzero(contexts >= 0)
        if not len(places):
            break
        found = contexts[places] * n_symbols + symbols[places]
        keys, first, which, counts = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
        tables.append(_Counted(keys, numbers[places[first]], counts, tables[-1].begins[keys // n_symbols]))
        numbers = np.full(len(symbols), UNSEEN)
        numbers[places] = which
    return tables


def _adjusted(tables: list[_Counted], place: int) -> I64:
    """The counts of the formula: occurrences on the highest level and at the start of a text, else left neighbours."""
    table = tables[place]
    counts = table.counts
    if place + 1 < len(tables):
        neighbours = np.bincount(tables[place + 1].suffix, minlength=len(table.keys))
        counts = np.where(table.begins, counts, neighbours)
    # The beginning of a text follows no symbol.
    return counts if place else np.where(table.begins, 0, counts)


def _lowest(counts: I64, n_symbols: int) -> Level:
    every = np.arange(n_symbols)
    return Level(n_symbols, every, np.array([0, n_symbols]), np.zeros_like(every), counts / counts.sum(), np.zeros(1))


def _smoothed(table: _Counted, counts: I64, lower: Level) -> Level:
    n_symbols, n_contexts = lower.n_symbols, len(lower.keys)
    contexts = table.keys // n_symbols
    totals = np.bincount(contexts, weights=counts, minlength=n_contexts)
    kinds = np.bincount(contexts, minlength=n_contexts)
    # An n-gram at the end of a text is not the context of any symbol; all probability comes from the level below.
    backoff = np.where(kinds > 0, DISCOUNT * kinds / np.maximum(totals, 1), 1.0)
    probability = (counts - DISCOUNT) / totals[contexts] + backoff[contexts] * lower.probability[table.suffix]
    starts = np.concatenate(([0], np.cumsum(kinds)))
    return Level(n_symbols, table.keys, starts, table.suffix, probability, backoff)
