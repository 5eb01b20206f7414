"""Sums over parts of the n-grams: each part is read and summed on its own, and none holds all n-grams.

Work is a function of a part and of a tally. It passes every sum over n-grams through the tally, in an order that does
not depend on the sums. It runs once per part to collect the sums, wherever the engine runs it, and once more with their
totals. Parts are added in a fixed order, so that sums that are not whole numbers are the same on every engine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from textassay.engines.base import Engine
from textassay.metrics.ngrams.counts import whole_sum

T = TypeVar("T")

# Parts are added up in this many runs of neighbours, so that few numbers are sent.
_RUNS = 64


@dataclass(frozen=True)
class Part:
    """One of `of` equal ranges of the hashes of n-grams; without a number none of them."""

    number: int | None = 0
    of: int = 1


EVERYTHING = Part()
Tally = Callable[[Any], Any]
Work = Callable[[Part, Tally], T]


@dataclass(frozen=True, eq=False)
class _Collecting:
    """Keeps the sums that pass."""

    found: list[Any] = field(default_factory=list)

    def __call__(self, sums: Any) -> Any:
        self.found.append(np.asarray(sums))
        return sums


@dataclass(frozen=True, eq=False)
class _Replaying:
    """Puts the totals in the place of the sums that pass."""

    totals: list[Any]

    def __call__(self, sums: Any) -> Any:
        total = self.totals.pop(0)
        if np.shape(sums) != total.shape:
            raise RuntimeError("sums over parts came in another order than their totals")
        return total[()]


def over_parts(work: Work[T], n_parts: int, engine: Engine) -> T:
    """What work returns with the sums over all parts."""
    return over_parts_of_all([work], n_parts, engine)[0]


def over_parts_of_all(works: Sequence[Work[T]], n_parts: int, engine: Engine) -> list[T]:
    """What each work returns with the sums over all parts; the parts of all of them run together."""
    if n_parts == 1:
        return engine.map(_at_once, works)
    size = -(-n_parts // _RUNS)
    runs = [(begin, min(begin + size, n_parts)) for begin in range(0, n_parts, size)]
    pieces = [partial(_collected, work, n_parts, *run) for work in works for run in runs]
    sums = engine.map(_called, pieces)
    totals = [_added(sums[k : k + len(runs)]) for k in range(0, len(sums), len(runs))]
    return [work(Part(None, n_parts), _Replaying(total)) for work, total in zip(works, totals, strict=True)]


def _at_once(work: Work[T]) -> T:
    return work(EVERYTHING, whole_sum)


def _called(piece: Callable[[], T]) -> T:
    return piece()


def _collected(work: Work[Any], of: int, begin: int, end: int) -> list[Any]:
    """The sums of a run of parts, added one after the other."""
    found: list[list[Any]] = []
    for number in range(begin, end):
        tally = _Collecting()
        work(Part(number, of), tally)
        found = [_added([*found, tally.found])]
    return found[0]


def _added(parts: list[list[Any]]) -> list[Any]:
    """The sums of all parts, in their order."""
    total = parts[0]
    for part in parts[1:]:
        total = [mine + other for mine, other in zip(total, part, strict=True)]
    return total
