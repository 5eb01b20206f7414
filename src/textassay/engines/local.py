"""The local engine: threads on this machine's cores. NumPy and Arrow let go of the interpreter where it counts."""

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
    """Runs independent pieces of work; the order of the answers is the order of the pieces, wherever they ran."""

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The answers for all pieces."""
        ...


@dataclass(frozen=True)
class LocalEngine:
    """Threads, as many as there are cores unless told otherwise."""

    workers: int = 0

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The answers for all pieces; the first failure stops what has not begun."""
        tasks = list(pieces)
        workers = min(self.workers or os.cpu_count() or 1, len(tasks))
        with single_threaded_products():
            return _mapped(work, tasks, workers)


def _mapped(work: Callable[[A], B], tasks: list[A], workers: int) -> list[B]:
    if workers <= 1:
        return [work(piece) for piece in tasks]
    pool = ThreadPoolExecutor(workers)
    try:
        return [future.result() for future in [pool.submit(work, piece) for piece in tasks]]
    finally:
        # After a failure or Ctrl-C nobody waits for what is still running; after success nothing is.
        pool.shutdown(wait=False, cancel_futures=True)


def get_engine(name: str | None) -> Engine:
    """An engine by what a user writes: `local` or `local:2` (that many threads)."""
    kind, _, workers = (name or "local").partition(":")
    if kind == "local" and (not workers or (workers.isdecimal() and 0 < int(workers) <= 1024)):
        return LocalEngine(int(workers or 0))
    raise InputError(f"no engine {name!r}; there are: local, local:N (N threads)")
