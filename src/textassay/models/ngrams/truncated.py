r"""Exact top-k and nucleus truncation of a smoothed n-gram model, without a pass over the vocabulary.

A symbol that was never seen after the context `h` has :math:`\gamma(h) P(w|h')`, and a seen symbol has more than that.
The symbols before `w` in the order of `h'` are therefore also before `w` in the order of `h`, so the `k` most probable
symbols after `h` are among the symbols seen after `h` and the `k` most probable ones after `h'`. A nucleus is a
beginning of this order; if it is not among a few symbols, all symbols are sorted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.models.base import Decoding, decoded_log_probs, truncated
from textassay.models.ngrams.kneser_ney import UNSEEN, Level
from textassay.models.ngrams.tempered import TemperedLevel

# A nucleus is looked for among these numbers of most probable symbols, and then among all symbols.
_GUESSES = (32, 256)
# The largest number of entries of a table of ranked symbols, which fits into the caches of a processor.
_MOST_ENTRIES = 1 << 18


@dataclass(frozen=True, eq=False, slots=True)
class Ranked:
    """The most probable next symbols of each of several contexts, in falling order, with their log-probabilities.

    A row with fewer symbols is filled with `UNSEEN` and minus infinity. Equal probabilities are ordered by symbol.
    """

    symbols: I64
    log_p: F64

    def log_prob(self, rows: I64, symbols: I64) -> F64:
        """The log-probability of one symbol of each of these rows; minus infinity if the row does not have it."""
        if self._has_all:
            return self.log_p[rows, symbols]
        logs = np.full(len(rows), -np.inf)
        for part in _parts(np.arange(len(rows)), self.symbols.shape[1]):
            index, column = np.nonzero(self.symbols[rows[part]] == symbols[part][:, None])
            logs[part[index]] = self.log_p[rows[part[index]], column]
        return logs

    def draw(self, rows: I64, points: F64) -> I64:
        """One symbol of each of these rows, by its probability; `points` are uniform numbers from 0 to 1."""
        chances = np.exp(self.log_p)
        sums = np.cumsum(chances, axis=1)
        # Row `i` is the part from `i` to `i + 1` of one sequence, so that one search finds the symbols of all rows.
        sequence = (sums / sums[:, -1:] + np.arange(len(sums))[:, None]).ravel()
        indices = np.searchsorted(sequence, rows + points, side="right") - rows * sums.shape[1]
        # Because of rounding, a point can be at the upper end of its row.
        last = sums.shape[1] - 1 - np.argmax(chances[:, ::-1] > 0, axis=1)
        indices = np.minimum(indices, last[rows])
        return indices if self._has_all else self.symbols[rows, indices]

    @property
    def _has_all(self) -> bool:
        """Whether every row has all symbols in the order of their numbers."""
        return self.symbols.strides[0] == 0


@dataclass(frozen=True, eq=False)
class Ranking:
    """The levels of a model, with the n-grams of each context in falling order of probability."""

    levels: Sequence[Level]
    _orders: list[I64] = field(default_factory=list)

    def _order(self, place: int) -> I64:
        """The n-grams of a level by context, falling probability and symbol."""
        while len(self._orders) <= place:
            level = self.levels[len(self._orders)]
            self._orders.append(np.lexsort((-level.log_p, level.ngrams.contexts)))
        return self._orders[place]

    def top(self, place: int, contexts: I64, k: int) -> Ranked:
        """The `k` most probable symbols after each context of a level (fewer if the model has fewer symbols)."""
        k = min(k, self.levels[0].ngrams.n_symbols)
        seen = self._seen(place, contexts, k)
        if place == 0:
            return seen
        level, below = self.levels[place], self.levels[place - 1]
        shorter, which = np.unique(below.ngrams.suffix[contexts], return_inverse=True)
        lower = self.top(place - 1, shorter, k)
        symbols = lower.symbols[which]
        log_p = lower.log_p[which] + level.log_backoff[contexts][:, None]
        again = level.ngrams.find(np.repeat(contexts, symbols.shape[1]), symbols.ravel()).reshape(symbols.shape)
        log_p[again >= 0] = -np.inf
        return _best(np.hstack((seen.symbols, symbols)), np.hstack((seen.log_p, log_p)), k)

    def _seen(self, place: int, contexts: I64, k: int) -> Ranked:
        """The `k` most probable symbols among those seen after each context."""
        level, order = self.levels[place], self._order(place)
        starts, stops = level.starts[contexts], level.starts[contexts + 1]
        width = min(k, int((stops - starts).max(initial=0)))
        indices = starts[:, None] + np.arange(width)
        valid = indices < stops[:, None]
        numbers = order[np.where(valid, indices, 0)]
        log_p = np.where(valid, level.log_p[numbers], -np.inf)
        return Ranked(np.where(valid, level.symbols(numbers), UNSEEN), log_p)

    def decoded(
        self, tempered: Sequence[TemperedLevel], contexts: Sequence[I64], decoding: Decoding
    ) -> Iterator[tuple[I64, Ranked, I64]]:
        """The kept symbols and their renormalised log-probabilities, in parts: texts, rows, and the row of each text.

        `contexts[k]` are the contexts of the texts on level `k`, `UNSEEN` if there is none. Texts with the same history
        share a row.
        """
        for index, texts, different, which in _by_level(contexts):
            order = np.argsort(which, kind="stable")
            bounds = np.concatenate(([0], np.cumsum(np.bincount(which, minlength=len(different)))))
            for part, kept in self._kept(tempered[index], index, different, decoding):
                sizes = bounds[part + 1] - bounds[part]
                rows = np.repeat(np.arange(len(part)), sizes)
                within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
                yield texts[order[bounds[part][rows] + within]], kept, rows

    def most_probable(self, contexts: Sequence[I64], k: int) -> Iterator[tuple[I64, Ranked]]:
        """The `k` most probable symbols of texts, in parts: indices of texts, and a row for each."""
        for place, texts, different, which in _by_level(contexts):
            ranked = self.top(place, different, k)
            yield texts, Ranked(ranked.symbols[which], ranked.log_p[which])

    def _kept(
        self, tempered: TemperedLevel, place: int, contexts: I64, decoding: Decoding
    ) -> Iterator[tuple[I64, Ranked]]:
        """The kept symbols of different contexts of one level, in parts: indices of `contexts`, and a row for each."""
        waiting = np.arange(len(contexts))
        size = self.levels[0].ngrams.n_symbols
        guesses = _GUESSES if decoding.top_k is None else (decoding.top_k,)
        for k in (guess for guess in guesses if 4 * guess <= size):
            later = [waiting[:0]]
            for part in _parts(waiting, k):
                found = self.top(place, contexts[part], k)
                logs = found.log_p / decoding.temperature
                logs -= tempered.log_total(contexts[part], decoding.temperature)[:, None]
                # The nucleus of all symbols is complete if these have enough of the probability.
                complete = decoding.top_k is not None or np.cumsum(np.exp(logs), axis=1)[:, -1] >= decoding.top_p
                fits = np.broadcast_to(complete, len(part))
                later.append(part[~fits])
                yield part[fits], Ranked(found.symbols[fits], truncated(logs[fits], decoding))
            waiting = np.concatenate(later)
        for part in _parts(waiting, size):
            logs = self.every(place, contexts[part]) / decoding.temperature
            logs -= tempered.log_total(contexts[part], decoding.temperature)[:, None]
            logs = _truncated_rows(logs, decoding)
            yield part, Ranked(np.broadcast_to(np.arange(size), logs.shape), logs)

    def every(self, place: int, contexts: I64) -> F64:
        """The log-probability of every symbol after each context of a level."""
        level = self.levels[place]
        if place == 0:
            return np.broadcast_to(level.log_p, (len(contexts), len(level.log_p)))
        shorter, which = np.unique(self.levels[place - 1].ngrams.suffix[contexts], return_inverse=True)
        logs = self.every(place - 1, shorter)[which] + level.log_backoff[contexts][:, None]
        starts, sizes = level.starts[contexts], np.diff(level.starts)[contexts]
        rows = np.repeat(np.arange(len(contexts)), sizes)
        numbers = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + starts[rows]
        logs[rows, level.symbols(numbers)] = level.log_p[numbers]
        return logs


def _by_level(contexts: Sequence[I64]) -> Iterator[tuple[int, I64, I64, I64]]:
    """For each level: the texts whose longest known context is on it, their different contexts, and which each has."""
    highest = np.zeros(len(contexts[0]), np.int64)
    for index, here in enumerate(contexts):
        highest[here >= 0] = index
    for index in range(len(contexts)):
        texts = np.flatnonzero(highest == index)
        if len(texts):
            yield index, texts, *np.unique(contexts[index][texts], return_inverse=True)


def _truncated_rows(logs: F64, decoding: Decoding) -> F64:
    """Log-probabilities of all symbols after truncation, from those before; a nucleus needs only sorted values."""
    if decoding.top_k is not None:
        return decoded_log_probs(logs, Decoding(1.0, decoding.top_k, decoding.top_p))
    chances = np.exp(logs)
    falling = -np.sort(-chances, axis=1)
    above = np.cumsum(falling, axis=1) - falling
    above[:, 0] = 0.0
    n_kept = (above < decoding.top_p).sum(axis=1)
    least = np.take_along_axis(falling, n_kept[:, None] - 1, axis=1)
    # Of the symbols that are as probable as the last one, the first are kept.
    more, ties = chances > least, chances == least
    wanted = n_kept[:, None] - more.sum(axis=1, keepdims=True)
    kept = more | (ties & (np.cumsum(ties, axis=1) <= wanted))
    total = np.log(np.where(kept, chances, 0.0).sum(axis=1, keepdims=True))
    return np.where(kept, logs - total, -np.inf)


def _parts(places: I64, width: int) -> list[I64]:
    """The indices in parts of rows of this width, so that no table of them becomes too large."""
    return np.array_split(places, 1 + len(places) * width // _MOST_ENTRIES) if len(places) else []


def _best(symbols: I64, log_p: F64, k: int) -> Ranked:
    """The `k` best of each row, by falling log-probability and rising symbol."""
    by_symbol = np.argsort(symbols, axis=1, kind="stable")
    log_p = np.take_along_axis(log_p, by_symbol, axis=1)
    order = np.argsort(-log_p, axis=1, kind="stable")[:, :k]
    log_p = np.take_along_axis(log_p, order, axis=1)
    symbols = np.take_along_axis(symbols, np.take_along_axis(by_symbol, order, axis=1), axis=1)
    return Ranked(np.where(np.isneginf(log_p), UNSEEN, symbols), log_p)
