r"""Exact sampling from a smoothed n-gram model at any temperature, without a pass over the vocabulary.

The weight of a symbol at temperature `T` is :math:`P(w|h)^{1/T}`. The weight of a symbol never seen after the context
`h` is its weight on the level below times :math:`\gamma(h)^{1/T}`, with :math:`\gamma` the backoff weight; seen symbols
have larger weights. A tempered model is therefore also a mixture: with :math:`Z` the sum of the weights, go one level
down with probability :math:`\gamma(h)^{1/T} Z(h') / Z(h)`, otherwise choose a symbol seen after `h` in proportion to
its excess.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.models.ngrams.kneser_ney import Level


@dataclass(frozen=True, eq=False, slots=True)
class TemperedLevel:
    """Weights of one level: running sums of the excess over its n-grams, and the sum of all weights per context.

    The weights of a context are relative to that of its most probable symbol, whose log-probability is `top`, so that
    not all of them underflow.
    """

    level: Level
    sums: F64
    total: F64
    top: F64

    def log_total(self, contexts: I64, temperature: float) -> F64:
        """The log of the sum of the weights after each context."""
        return np.log(self.total[contexts]) + self.top[contexts] / temperature


def temper(levels: Sequence[Level], temperature: float) -> tuple[TemperedLevel, ...]:
    """The weights of all levels at a temperature."""
    # At a temperature near 0 all weights but the largest become 0, as intended.
    with np.errstate(over="ignore", under="ignore"):
        tempered = [_lowest(levels[0], temperature)]
        for level in levels[1:]:
            tempered.append(_next(level, tempered[-1], temperature))
    return tuple(tempered)


def _lowest(level: Level, temperature: float) -> TemperedLevel:
    top = level.log_p.max(keepdims=True)
    sums = np.concatenate(([0.0], np.cumsum(np.exp((level.log_p - top) / temperature))))
    return TemperedLevel(level, sums, sums[-1:], top)


def _next(level: Level, below: TemperedLevel, temperature: float) -> TemperedLevel:
    contexts, shorter = level.ngrams.contexts, below.level.ngrams.suffix
    passed_top = level.log_backoff + below.top[shorter]
    top = passed_top.copy()
    np.maximum.at(top, contexts, level.log_p)
    passed = level.log_backoff[contexts] + below.level.log_p[level.ngrams.suffix]
    own = np.exp((level.log_p - top[contexts]) / temperature)
    excess = np.maximum(own - np.exp((passed - top[contexts]) / temperature), 0.0)
    rest = np.exp((passed_top - top) / temperature) * below.total[shorter]
    sums = np.concatenate(([0.0], np.cumsum(excess)))
    return TemperedLevel(level, sums, sums[level.starts[1:]] - sums[level.starts[:-1]] + rest, top)


def draw(tempered: Sequence[TemperedLevel], contexts: Sequence[I64], rng: np.random.Generator) -> I64:
    """One next symbol for each text; `contexts[k]` are their contexts on level `k`, `UNSEEN` if there is none."""
    symbols = np.zeros(len(contexts[0]), dtype=np.int64)
    done = np.zeros(len(symbols), dtype=bool)
    for table, here in zip(reversed(tempered), reversed(contexts), strict=True):
        known = np.flatnonzero(~done & (here >= 0))
        own = here[known]
        starts, stops = table.level.starts[own], table.level.starts[own + 1]
        points = table.sums[starts] + rng.random(len(known)) * table.total[own]
        hit = points < table.sums[stops] if table is not tempered[0] else np.ones(len(known), dtype=bool)
        indices = np.searchsorted(table.sums, points[hit], side="right") - 1
        # Because of rounding, a point can be at the upper end of its context.
        symbols[known[hit]] = table.level.symbols(np.minimum(indices, stops[hit] - 1))
        done[known[hit]] = True
    return symbols
