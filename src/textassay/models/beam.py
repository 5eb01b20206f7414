"""Beam search for probable texts, over any model that can list its most probable next symbols."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from textassay.corpus.arrays import F64, I64
from textassay.models.vocabulary import END

# The most probable next symbols of each beginning: states, whether they have no symbol yet, and the number of symbols.
Expand = Callable[[Any, bool, int], tuple[I64, F64]]
# The states after one more symbol each.
Advance = Callable[[Any, I64], Any]


def search(
    expand: Expand, advance: Advance, states: Sequence[I64], fresh: bool, width: int, max_tokens: int
) -> list[int]:
    """The symbols of the most probable text, without its end, that beam search of this width finds.

    `states` are arrays with one entry per beginning. The search ends when no beginning can become more probable than
    the best finished text, or after `max_tokens` symbols, when the best beginning is returned if no text has ended.
    """
    scores, rows = np.zeros(1), [[]]  # type: tuple[F64, list[list[int]]]
    best_score, best = -np.inf, None
    for _ in range(max_tokens):
        symbols, logs = expand(states, fresh, width)
        total = (scores[:, None] + logs).ravel()
        order = np.argsort(-total, kind="stable")[: width + len(rows)]
        order = order[total[order] > -np.inf]
        parents, chosen = order // symbols.shape[1], symbols.ravel()[order]
        ended = chosen == END
        if ended.any() and total[order[ended][0]] > best_score:
            best_score, best = float(total[order[ended][0]]), rows[parents[ended][0]]
        parents, chosen, scores = parents[~ended][:width], chosen[~ended][:width], total[order[~ended][:width]]
        if not len(chosen) or scores[0] <= best_score:
            break
        rows = [[*rows[parent], int(symbol)] for parent, symbol in zip(parents, chosen, strict=True)]
        states, fresh = advance([state[parents] for state in states], chosen), False
    return rows[0] if best is None else best
