"""Engines of one machine: threads, and processes that survive the end of one of them."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TypeVar

from textassay.corpus.process_settings import single_threaded_products
from textassay.errors import InputError, PythonHint

A = TypeVar("A")
B = TypeVar("B")

# A piece that ends its process this many times is given up.
MOST_ATTEMPTS = 3


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


@dataclass(frozen=True)
class ProcessEngine:
    """A number of processes, by default one per core. If one is killed, what it was doing is done again."""

    workers: int = 0

    def map(self, work: Callable[[A], B], pieces: Iterable[A], /) -> list[B]:
        """The results for all pieces; after a failure no further piece is started."""
        tasks = dict(enumerate(pieces))
        found: dict[int, B] = {}
        for _ in range(MOST_ATTEMPTS):
            left = [number for number in tasks if number not in found]
            if not left:
                break
            self._run(work, {number: tasks[number] for number in left}, found)
        if len(found) < len(tasks):
            raise InputError(
                f"{MOST_ATTEMPTS} times a process was killed before it had finished, probably for lack of memory; "
                "what is finished is kept: run again with fewer workers",
                PythonHint(" (a script needs `if __name__ == '__main__':`)"),
            )
        return [found[number] for number in tasks]

    def _run(self, work: Callable[[A], B], tasks: dict[int, A], found: dict[int, B]) -> None:
        """Run these pieces as far as the processes live."""
        workers = min(self.workers or os.cpu_count() or 1, len(tasks))
        # A forked process would inherit the threads' locks in any state.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)
        try:
            futures = {number: pool.submit(_single_threaded, work, piece) for number, piece in tasks.items()}
            for number, future in futures.items():
                try:
                    found[number] = future.result()
                except BrokenProcessPool:
                    continue
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _end_with_parent() -> None:
    """End this process when the one that started it is killed; it would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _single_threaded(work: Callable[[A], B], piece: A) -> B:
    with single_threaded_products():
        return work(piece)
