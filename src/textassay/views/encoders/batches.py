"""Batches of equal length: no padding, one thread a batch, so that a vector depends on its text alone.

Padding and the number of threads change the order in which a matrix product is summed, and with it the last bits of a
vector. Texts of exactly as many tokens in a batch, each batch on one thread, give the same bytes whatever else is in
the batch and wherever a text stands in it, as long as every matrix product has a few rows: those of 1 to 3 rows take
another way through the libraries. Batches that would have fewer are filled up with copies.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from textassay.views.encoders.base import F32

# As many tokens as 64 captions have: larger batches are hardly faster, and attention takes memory by length squared.
MOST_TOKENS, MOST_TEXTS = 768, 64
LEAST_TOKENS = 16

# The number of threads is a setting of the whole process, so those who change it take turns.
_TURN = Lock()


def equal_length_batches(lengths: Sequence[int], *, most_texts: int = MOST_TEXTS) -> list[NDArray[np.int64]]:
    """Places of the texts, cut into batches of texts of the same length, the longest first; empty texts are in none.

    >>> [batch.tolist() for batch in equal_length_batches([3, 5, 0, 3])]
    [[1], [0, 3]]
    """
    counts = np.asarray(lengths, np.int64)
    batches = []
    for length in np.unique(counts[counts > 0])[::-1]:
        places = np.flatnonzero(counts == length)
        size = max(1, min(most_texts, MOST_TOKENS // int(length)))
        batches += [places[start : start + size] for start in range(0, len(places), size)]
    return batches


def filled(batch: NDArray[np.int64], *, length: int, least_texts: int) -> NDArray[np.int64]:
    """The batch, with its last text again and again where it would be too small.

    >>> filled(np.array([7, 9]), length=5, least_texts=1).tolist()
    [7, 9, 9, 9]
    """
    wanted = max(least_texts, -(-LEAST_TOKENS // length))
    return np.concatenate((batch, np.repeat(batch[-1:], max(0, wanted - len(batch)))))


def run_batches(
    batches: Sequence[NDArray[np.int64]], forward: Callable[[NDArray[np.int64]], F32], out: F32, *, workers: int | None
) -> None:
    """Write what `forward` makes of each batch into its rows of `out`, on several workers of one thread each."""
    if not batches:
        return
    import torch

    def settle(batch: NDArray[np.int64]) -> None:
        out[batch] = forward(batch)

    with (
        _one_thread_each(),
        ThreadPoolExecutor(_workers(workers), initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):
        settled = [pool.submit(settle, batch) for batch in batches]
        try:
            for batch in settled:
                batch.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _workers(wanted: int | None) -> int:
    return wanted or os.cpu_count() or 1


@contextmanager
def _one_thread_each() -> Iterator[None]:
    import torch

    with _TURN:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
