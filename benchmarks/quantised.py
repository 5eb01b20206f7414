"""MAUVE against mauve-text at the same k, and how its cost grows: ratio, peak memory, growth with size.

Run all of it with `python benchmarks/quantised.py`, or a part with `point`, `core` or `growth`; `--vectors FILE.npy`
takes real vectors (20,000 rows or more for the whole size) in place of a mixture of Gaussians. Needs the `bench`
group. Both sides start from the same vectors: mauve-text with its defaults (k-means of faiss, the best of five runs
by objective), ours with its defaults (the average over five runs). `point` lets both use the threads they would;
`core` gives both one core and one thread, which says more on a busy machine.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from steps import step

from textassay.inference.permutation import exchange_units
from textassay.metrics.items.item_pool import random_masks
from textassay.metrics.vectors.mauve import mauve, mauve_exchange, mauve_parts
from textassay.metrics.vectors.vectors import Vectors
from textassay.metrics.views import Resamples

SIZE, DIMENSION = 10_000, 384
GROWTH = (2_500, 5_000, 10_000)
SMOKE = False
DEFAULTS = {"variant": "plain", "texts_a_cluster": 10, "seeds": 5, "scaling": 5.0}
F32 = NDArray[np.float32]


def gaussians(size: int, seed: int) -> F32:
    """Two hundred groups whose middles vary less and less from coordinate to coordinate, as sentence vectors do."""
    rng, shared = np.random.default_rng(seed), np.random.default_rng(7)
    widths = np.arange(1, DIMENSION + 1) ** -0.5
    middles = 3 * widths * shared.standard_normal((200, DIMENSION))
    noise = widths * rng.standard_normal((size, DIMENSION))
    return (middles[rng.integers(200, size=size)] + noise).astype(np.float32)


def samples(size: int, file: str | None) -> tuple[F32, F32]:
    if file is None:
        return gaussians(size, 1), gaussians(size, 2)
    rows = np.load(Path(file)).astype(np.float32)
    chosen = np.random.default_rng(0).permutation(len(rows))[: 2 * size]
    first, second = np.split(rows[chosen[: len(chosen) // 2 * 2]], 2)
    return first, second


def theirs(first: F32, second: F32, k: int) -> tuple[float, float]:
    """Seconds and value of mauve-text."""
    from mauve import compute_mauve

    began = time.perf_counter()
    value = compute_mauve(p_features=first, q_features=second, num_buckets=k).mauve
    return time.perf_counter() - began, float(value)


def ours(first: F32, second: F32) -> tuple[float, dict[str, float]]:
    """Seconds, and the value with the parts behind it."""
    candidate, reference = Vectors(first), Vectors(second)
    began = time.perf_counter()
    value = mauve(candidate, reference)
    took = time.perf_counter() - began
    return took, {"mauve": value, **mauve_parts(candidate, reference, **DEFAULTS)}


def point(file: str | None) -> None:
    """One value each, ours before and after, so that a busy machine shows."""
    first, second = samples(SIZE, file)
    mine = [ours(first, second)]
    k = int(mine[0][1]["clusters"])
    their_seconds, their_value = theirs(first, second, k)
    mine.append(ours(first, second))
    seconds = min(took for took, _ in mine)
    found = mine[0][1]
    print(f"MAUVE, {len(first):,} v {len(second):,} x {first.shape[1]}, k = {k:,}: ", end="")
    print(f"{their_seconds / seconds:.1f} times faster than mauve-text")
    print(f"  mauve-text {their_seconds:.1f} s, ours {' and '.join(f'{took:.1f}' for took, _ in mine)} s")
    print(f"  values: mauve-text {their_value:.4f}, ours {found['mauve']:.4f}", end=" ")
    print(f"(seeds {found['seed_min']:.4f} to {found['seed_max']:.4f}, the same again: {mine[0][1] == mine[1][1]})")


def core(file: str | None) -> None:
    """The same in a process that has one core; its threads of faiss and of ours share it."""
    given = [] if file is None else ["--vectors", file]
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        print("on one core: ", end="", flush=True)
        subprocess.run([sys.executable, __file__, "point", *given], check=True, env=alone)
    finally:
        os.sched_setaffinity(0, before)


def peak_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


def one_growth_step(size: int, file: str | None) -> None:
    candidate, reference = (Vectors(values) for values in samples(size, file))
    # Making the vectors takes more than measuring them; the peak counts from here.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    base = peak_mib()
    began = time.perf_counter()
    mauve(candidate, reference)
    took = time.perf_counter() - began
    units, blocks = exchange_units((size, size), seed=0)
    masks = random_masks(*blocks, rows=1000, seed=0)
    masks = np.concatenate((masks, np.broadcast_to([True, False], (1000, 2))), axis=1)
    began = time.perf_counter()
    mauve_exchange(candidate, reference, resamples=Resamples(units, (masks, ~masks)), **DEFAULTS)
    tested = time.perf_counter() - began
    print(json.dumps({"seconds": took, "test": tested, "extra_mib": peak_mib() - base}))


def growth(file: str | None) -> None:
    """Value and test at several sizes, each in its own process."""
    given = [] if file is None else ["--vectors", file]
    found = []
    for size in GROWTH:
        found.append(json.loads(step(__file__, main, [str(size), *given], smoke=SMOKE)))
        print(
            f"{size:>7,} v {size:,}: {found[-1]['seconds']:.1f} s, 1,000 exchanges {found[-1]['test']:.1f} s,", end=" "
        )
        print(f"{found[-1]['extra_mib']:.0f} MiB beside the vectors")
    print(f"four times the texts take {found[-1]['seconds'] / found[0]['seconds']:.1f} times as long")


def shrink() -> None:
    """Sizes of a run that only shows that everything still works."""
    global SMOKE, SIZE, GROWTH, DIMENSION
    SMOKE, SIZE, GROWTH, DIMENSION = True, 100, (60, 100), 24


def main(arguments: list[str]) -> None:
    file = None
    if "--smoke" in arguments:
        shrink()
        arguments = [*(name for name in arguments if name != "--smoke"), "point", "growth"]
    if "--vectors" in arguments:
        at = arguments.index("--vectors")
        file = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    if arguments and arguments[0].isdecimal():
        one_growth_step(int(arguments[0]), file)
        return
    for name, part in (("point", point), ("core", core), ("growth", growth)):
        if not arguments or name in arguments:
            part(file)


if __name__ == "__main__":
    main(sys.argv[1:])
