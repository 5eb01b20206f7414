"""The plan of a run: level, resamples and seed, their check, the threads that it runs on, and its progress."""

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Protocol, Self, TypeVar

from textassay.corpus.process_settings import single_threaded_products
from textassay.errors import InputError, Setting

A = TypeVar("A")
B = TypeVar("B")


class Engine(Protocol):
    """Runs independent pieces of work; results are in the order of the pieces."""

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The results for all pieces."""
        ...


@dataclass(frozen=True)
class LocalEngine:
    """A number of threads, by default one per core."""

    workers: int = 0

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The results for all pieces; after a failure no further piece is started."""
        tasks = list(pieces)
        workers = min(self.workers or os.cpu_count() or 1, len(tasks))
        with single_threaded_products():
            if workers <= 1:
                return [work(piece) for piece in tasks]
            pool = ThreadPoolExecutor(workers)
            try:
                return [future.result() for future in [pool.submit(work, piece) for piece in tasks]]
            finally:
                # After a failure or Ctrl-C, do not wait for running pieces; after success there are none.
                pool.shutdown(wait=False, cancel_futures=True)


def get_engine(engine: str | Engine | None) -> Engine:
    """An engine by name: `local` or `local:2` (the number of threads). An engine is returned as it is.

    >>> get_engine("local:2")
    LocalEngine(workers=2)
    """
    if engine is None or isinstance(engine, str):
        kind, _, workers = (engine or "local").partition(":")
        if kind == "local" and (not workers or (workers.isdecimal() and 0 < int(workers) <= 1024)):
            return LocalEngine(int(workers or 0))
    elif callable(getattr(engine, "map", None)):
        return engine
    raise InputError(f"no engine {engine!r:.60}; there are: local, local:N (N threads)")


class Progress(Protocol):
    """Receives what is being done and how many steps are finished."""

    def start(self, what: str, steps: int) -> None:
        """A piece of work with this many steps begins."""
        ...

    def step(self, steps: int) -> None:
        """Report further finished steps."""
        ...


class Silent:
    """Reports nothing."""

    def start(self, what: str, steps: int) -> None:
        """Nothing to show."""

    def step(self, steps: int) -> None:
        """Nothing to show."""


_FEWEST_RESAMPLES = 19
# More resamples take hours and change no decision.
_MOST_RESAMPLES = 1_000_000
# Factor between the smallest p-value that is needed and the smallest one that can occur.
_MARGIN = 1.2
# A p-value close to a limit is computed again with this many times as many resamples, up to a limit.
_STEP, MOST_RAISED = 4, 16_000


@dataclass(frozen=True)
class Plan:
    """The level of intervals and tests, the number of resamples (0: estimates only) and the seed."""

    level: float = 0.95
    n_resamples: int = 999
    seed: int = 0

    def checked(self) -> Self:
        """The same plan; an error for settings that no interval or test can be made from."""
        kinds: tuple[tuple[str, object, type, str], ...] = (
            ("level", self.level, Real, "a number, such as 0.95"),
            ("n_resamples", self.n_resamples, Integral, "a whole number"),
            ("seed", self.seed, Integral, "a whole number"),
        )
        for name, value, kind, wanted in kinds:
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InputError(Setting(name, value), f"; wanted {wanted}")
        if not 0.5 <= self.level < 1:
            raise InputError(Setting("level", self.level), "; wanted at least 0.5 and below 1, such as 0.95")
        few = 0 < self.n_resamples < _FEWEST_RESAMPLES
        if self.n_resamples < 0 or few or self.n_resamples > _MOST_RESAMPLES:
            wanted = f"0 (estimates only), or {_FEWEST_RESAMPLES} to {_MOST_RESAMPLES:,}"
            raise InputError(Setting("n_resamples", self.n_resamples), f"; wanted {wanted}")
        if self.seed < 0:
            raise InputError(Setting("seed", self.seed), "; wanted 0 or more")
        return self

    def enough_for(self, tests: int) -> Self:
        """The same plan with at least as many resamples as correcting for this many tests needs."""
        return replace(self, n_resamples=enough_resamples(self.n_resamples, tests, self.level))

    def raised(self) -> Self | None:
        """The same plan with more resamples, for a p-value that is too close to a limit; None if that is too many."""
        if self.n_resamples >= MOST_RAISED:
            return None
        return replace(self, n_resamples=min(_STEP * self.n_resamples, MOST_RAISED))


def fewest_resamples(tests: int, level: float, *, margin: float = 1.0) -> int:
    """The fewest resamples with which any of this many tests can be significant after Holm's correction.

    >>> fewest_resamples(1, 0.95), fewest_resamples(2, 0.95), fewest_resamples(2, 0.95, margin=1.2)
    (19, 39, 47)
    """
    return math.ceil(margin * tests / (1 - level) - 1e-9) - 1


def enough_resamples(wanted: int, tests: int, level: float) -> int:
    """At least as many as the Holm correction of this many tests needs for any of them to become significant.

    >>> enough_resamples(999, 36, 0.95), enough_resamples(999, 120, 0.95), enough_resamples(0, 120, 0.95)
    (999, 2879, 0)
    """
    margin = _MARGIN if tests > 1 else 1.0
    return max(wanted, fewest_resamples(tests, level, margin=margin)) if wanted else 0
