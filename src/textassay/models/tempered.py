r"""Exact sampling from a smoothed n-gram model at any temperature, without a pass over the vocabulary.

The weight of a symbol at temperature `T` is :math:`P(w|h)^{1/T}`. The weight of a symbol never seen after the context
`h` is its weight on the level below times :math:`\gamma(h)^{1/T}`, with :math:`\gamma` the backoff weight; seen symbols
have larger weights. A tempered model is therefore also a mixture: with :math:`Z` the sum of the weights, go one level
down with probability :math:`\gamma(h)^{1/T} Z(h') / Z(h)`, otherwise choose a symbol seen after `h` in proportion to
its excess.
"""

from dataclasses import dataclass

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.models.kneser_ney import Level


@dataclass(frozen=True, eq=False, slots=True)
class TemperedLevel:
    """Weights of one level: running sums of the excess over its n-grams, and the sum of all weights per context."""

    level: Level
    sums: F64
    total: F64


def temper(levels: tuple[Level, ...], temperature: float) -> tuple[TemperedLevel, ...]:
    """Prepare sampling. The weights of a context are relative to its most probable symbol, so that none underflows."""
    tempered: list[TemperedLevel] = []
    # At a temperature near 0 all weights but the largest become 0, as intended.
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        log_low, top_low = np.zeros(0), np.zeros(0)
        for level in levels:
            log_p = np.log(level.probability)
            if not tempered:
                top = np.array([log_p.max()])
                weights, rest = np.exp((log_p - top) / temperature), np.zeros(1)
            else:
                below = tempered[-1]
                shorter, log_backoff = below.level.suffix, np.log(level.backoff)
                top = log_backoff + top_low[shorter]
                np.maximum.at(top, level.contexts, log_p)
                own = top[level.contexts]
                passed = log_backoff[level.contexts] + log_low[level.suffix]
                weights = np.exp((log_p - own) / temperature) - np.exp((passed - own) / temperature)
                rest = np.exp((log_backoff + top_low[shorter] - top) / temperature) * below.total[shorter]
            sums = np.concatenate(([0.0], np.cumsum(np.maximum(weights, 0.0))))
            tempered.append(TemperedLevel(level, sums, sums[level.starts[1:]] - sums[level.starts[:-1]] + rest))
            log_low, top_low = log_p, top
    return tuple(tempered)


def draw(tempered: tuple[TemperedLevel, ...], contexts: list[I64], rng: np.random.Generator) -> I64:
    """One next symbol for each text; `contexts[k]` are their contexts on level `k`, `UNSEEN` if there is none."""
    symbols = np.zeros(len(contexts[0]), dtype=np.int64)
    done = np.zeros(len(symbols), dtype=bool)
    for table, here in zip(reversed(tempered), reversed(contexts), strict=True):
        known = np.flatnonzero(~done & (here >= 0))
        own = here[known]
        starts, stops = table.level.starts[own], table.level.starts[own + 1]
        points = table.sums[starts] + rng.random(len(known)) * table.total[own]
        hit = points < table.sums[stops] if table is not tempered[0] else np.ones(len(known), dtype=bool)
        places = np.searchsorted(table.sums, points[hit], side="right") - 1
        # Because of rounding, a point can be at the upper end of its context.
        symbols[known[hit]] = table.level.symbols(np.minimum(places, stops[hit] - 1))
        done[known[hit]] = True
    return symbols
