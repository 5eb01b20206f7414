"""The local engine: threads on this machine's cores, and progress. NumPy and Arrow release the interpreter lock."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from textassay.corpus.process_settings import single_threaded_products
from textassay.errors import InputError

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
