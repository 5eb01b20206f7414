"""Precision, recall, density and coverage against prdc, and how their cost grows: ratios, peak memory, exchanges.

Run all of it with `python benchmarks/neighbours.py`, or one part with `point`, `growth` or `exchange`. Needs the
`bench` group and Linux (memory is read from /proc). Vectors are synthetic and made like sentence vectors: of length 1,
with most of their spread in a few directions.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from threading import Event, Thread

import numpy as np
from numpy.typing import NDArray
from steps import step

from textassay.inference.permutation import exchange_units
from textassay.metrics.items.item_pool import random_masks
from textassay.metrics.registry import all_metrics
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Resamples

NAMES = ("precision", "recall", "density", "coverage")
DIMENSION = 384
PEER_SIZE = 5_000
GROWTH = (5_000, 10_000, 20_000)
EXCHANGES = 1_000
SMOKE = False
K = 5


def vectors(size: int, seed: int) -> NDArray[np.float32]:
    directions = np.random.default_rng(0).standard_normal((24, DIMENSION), dtype=np.float32)
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((size, 24), dtype=np.float32) @ directions
    values += 2 * rng.standard_normal((size, DIMENSION), dtype=np.float32)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values


def seconds(work: Callable[[], object], repeats: int = 2) -> float:
    """The best of a few runs: the machine's own noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def four(candidate: Vectors, reference: Vectors) -> dict[str, float]:
    return {name: all_metrics()[name].function(candidate, reference, k=K) for name in NAMES}


def peer(candidate: NDArray[np.float32], reference: NDArray[np.float32]) -> dict[str, float]:
    import prdc

    with redirect_stdout(StringIO()):
        found: dict[str, float] = prdc.compute_prdc(reference, candidate, nearest_k=K)
    return found


def point() -> None:
    """The four values of 5,000 against 5,000."""
    candidate, reference = vectors(PEER_SIZE, 1), vectors(PEER_SIZE, 2)
    values: dict[str, dict[str, float]] = {}

    theirs = seconds(lambda: values.update(prdc=peer(candidate, reference)))
    mine = seconds(lambda: values.update(ours=four(Vectors(candidate), Vectors(reference))))
    gap = max(abs(values["prdc"][name] - values["ours"][name]) for name in NAMES)
    print(f"all four, {PEER_SIZE:,} v {PEER_SIZE:,} x {DIMENSION}: {theirs / mine:.1f} times as fast as prdc")
    print(f"  prdc {theirs:.2f} s, ours {mine:.2f} s; largest difference of a value: {gap:.1e}")


def exchange() -> None:
    """All four under 1,000 exchanges of labels, against one count of prdc's times 1,000."""
    candidate, reference = vectors(PEER_SIZE, 1), vectors(PEER_SIZE, 2)
    views = Vectors(candidate), Vectors(reference)
    four(*views)
    units, blocks = exchange_units((PEER_SIZE, PEER_SIZE), 0)
    rows = random_masks(*blocks, rows=EXCHANGES, seed=0)
    masks = np.concatenate((rows, np.broadcast_to([True, False], (EXCHANGES, 2))), axis=1)

    def ours() -> None:
        resamples = Resamples(units, (masks, ~masks))
        for name in NAMES:
            quick = all_metrics()[name].exchange
            assert quick is not None
            quick(*views, resamples=resamples, k=K, variant="paper")

    mine = seconds(ours)
    theirs = seconds(lambda: peer(candidate, reference), repeats=1) * EXCHANGES
    print(f"{EXCHANGES:,} exchanges of labels, all four: {mine:.2f} s, {1000 * mine / EXCHANGES:.2f} ms each")
    print(f"  {theirs / mine:,.0f} times as fast as that many runs of prdc (one run timed)")


def resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def one_growth_step(size: int) -> None:
    views = Vectors(vectors(size, 1)), Vectors(vectors(size, 2))
    four(Vectors(views[0].values[:100]), Vectors(views[1].values[:100]))
    base, peak, done = resident(), 0, Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident())

    watcher = Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    four(*views)
    took = time.perf_counter() - began
    done.set()
    watcher.join()
    print(json.dumps({"seconds": took, "extra_mib": (peak - base) / 2**20}))


def growth() -> None:
    """The four values at growing sizes, each in a process of its own."""
    found = []
    for size in GROWTH:
        found.append(json.loads(step(__file__, main, [str(size)], smoke=SMOKE)))
        matrix = (2 * size) ** 2 * 4 / 2**20
        print(
            f"{size:>7,} v {size:,}: {found[-1]['seconds']:.1f} s, {found[-1]['extra_mib']:.0f} MiB extra memory "
            f"(a matrix of all distances in single precision: {matrix:,.0f} MiB)"
        )
    for one, two in pairwise(found):
        times, memory = two["seconds"] / one["seconds"], two["extra_mib"] / one["extra_mib"]
        print(f"  twice the texts take {times:.1f} times as long and {memory:.1f} times the memory")


def shrink() -> None:
    """Sizes of a run that only shows that everything still works."""
    global SMOKE, PEER_SIZE, EXCHANGES, GROWTH
    SMOKE, PEER_SIZE, EXCHANGES, GROWTH = True, 60, 10, (60, 100)


def main(arguments: list[str]) -> None:
    if "--smoke" in arguments:
        shrink()
        arguments = [name for name in arguments if name != "--smoke"]
    if arguments and arguments[0].isdecimal():
        one_growth_step(int(arguments[0]))
        return
    for name, part in (("point", point), ("exchange", exchange), ("growth", growth)):
        if not arguments or name in arguments:
            part()


if __name__ == "__main__":
    main(sys.argv[1:])
