"""The embedding family beside named peers: hyppo, scipy's sqrtm, mauve-text, prdc and sentence-transformers.

`python benchmarks/embeddings.py` runs everything, one part after the other; `kernels`, `frechet`, `mauve`, `neighbours`
and `encoding` name single parts. `--smoke` runs all of it on few vectors. Peers and ours get the same vectors in the
same process. Needs the `bench` group, the extras `embed` and `fast`, and for `encoding` the real captions.
"""

import importlib
import math
import subprocess
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.sample import Sample
from textassay.inference.measure import measure
from textassay.inference.permutation import design_of, permutation_tests
from textassay.inference.plan import Plan, Silent
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Pool, Settings

DIMENSION = 384
TEXTS, PERMUTATIONS, GROWTH, ITEM = 500, 200, (1_250, 2_500, 5_000), (5, 10)
F32 = NDArray[np.float32]
# Parts with a file of their own, in which they can be run with more choices.
FILES = {"mauve": "quantised.py", "neighbours": "neighbours.py", "encoding": "encoding.py"}


class Given:
    """An encoder that hands out given vectors: text `3` has row 3."""

    name = "given"

    def __init__(self, values: F32) -> None:
        self.values, self.dimension = values, values.shape[1]

    def encode(self, texts: list[str], /) -> F32:
        return self.values[[int(text) for text in texts]]


def vectors(size: int, seed: int, shift: float = 0.0) -> F32:
    """Vectors of length 1 with most of their spread in a few directions, as sentence vectors have it."""
    rng = np.random.default_rng(seed)
    values = (rng.standard_normal((size, DIMENSION)) + shift) * np.arange(1, DIMENSION + 1) ** -0.5
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def materials(candidate: F32, reference: F32) -> tuple[Material, Material]:
    settings = Settings(encoder=Given(np.concatenate((candidate, reference))))
    places = [str(place) for place in range(len(candidate) + len(reference))]
    sides = places[: len(candidate)], places[len(candidate) :]
    first, second = (Material(Sample.of(texts), settings) for texts in sides)
    return first, second


def tested(spec: str, candidate: F32, reference: F32, n_resamples: int) -> tuple[float, float]:
    """Seconds and p-value of a permutation test, from the vectors on: what hyppo does."""
    sides = materials(candidate, reference)
    pool = Pool(sides)
    requests = parse_requests([spec])
    design = design_of(*(side.sample for side in sides), seed=0)
    began = time.perf_counter()
    found = permutation_tests(requests, pool, design, n_resamples=n_resamples, seed=0, progress=Silent())
    return time.perf_counter() - began, found.p_values[requests[0]]


def measured(spec: str, candidate: F32, reference: F32, n_resamples: int) -> float:
    """Seconds of a metric's value, interval and test, from the vectors on."""
    first, second = materials(candidate, reference)
    requests = parse_requests([spec])
    began = time.perf_counter()
    measure(requests, {"candidate": first, "reference": second}, plan=Plan(n_resamples=n_resamples))
    return time.perf_counter() - began


def kernels() -> None:
    """A permutation test of MMD, and how it grows."""
    from hyppo.ksample import MMD

    candidate, reference = vectors(TEXTS, 1, shift=0.05), vectors(TEXTS, 2)
    tested("mmd", candidate[:50], reference[:50], 19)
    ours, p = min(tested("mmd", candidate, reference, PERMUTATIONS) for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MMD().test(candidate[:50], reference[:50], reps=10, auto=False)  # numba compiles on the first call
        began = time.perf_counter()
        _, their_p = MMD().test(candidate.astype(float), reference.astype(float), reps=PERMUTATIONS, auto=False)
        theirs = time.perf_counter() - began
    print(f"MMD, {TEXTS} v {TEXTS} x {DIMENSION}, {PERMUTATIONS} permutations: ", end="")
    print(f"{theirs / ours:,.0f} times faster than hyppo")
    whole = min(measured("mmd", candidate, reference, PERMUTATIONS) for _ in range(3))
    print(f"  hyppo {theirs:.2f} s (p = {their_p:.3f}), ours {ours:.3f} s (p = {p:.3f})")
    print(f"  with value and interval {whole:.3f} s, {theirs / whole:,.0f} times faster than hyppo's test")
    growth = {size: measured("mmd", vectors(size, 1), vectors(size, 2), 999) for size in GROWTH}
    shown = ", ".join(f"{size:,} v {size:,} {seconds:.1f} s" for size, seconds in growth.items())
    print(f"  value, interval and 999 permutations: {shown}")
    print(f"  four times the texts take {growth[GROWTH[-1]] / growth[GROWTH[0]]:.1f} times as long")


def frechet() -> None:
    """All ways to divide the texts of an item, against scipy's square root of a matrix for each."""
    candidate, reference = vectors(ITEM[0], 1), vectors(ITEM[1], 2)
    total, ways = sum(ITEM), math.comb(sum(ITEM), ITEM[0])
    tested("frechet", candidate, reference, ways)
    ours, p = min(tested("frechet", candidate, reference, ways) for _ in range(3))
    pooled = np.concatenate((candidate, reference)).astype(np.float64)
    few = list(combinations(range(total), ITEM[0]))[:: max(1, ways // 6)]
    began = time.perf_counter()
    for chosen in few:
        by_square_root(pooled[list(chosen)], np.delete(pooled, chosen, axis=0))
    theirs = (time.perf_counter() - began) / len(few) * ways
    print(f"Frechet, {ITEM[0]} v {ITEM[1]} x {DIMENSION}, all {ways:,} partitions: ", end="")
    print(f"{theirs / ours:,.0f} times faster than sqrtm for each")
    print(f"  sqrtm {theirs:,.0f} s ({len(few)} partitions timed), ours {ours:.3f} s, exact p = {p:.4f}")


def by_square_root(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    from scipy.linalg import sqrtm

    covariances = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = np.real(sqrtm(covariances[0] @ covariances[1]))
    gap = one.mean(axis=0) - other.mean(axis=0)
    return float(gap @ gap + np.trace(covariances[0] + covariances[1] - 2 * root))


def shrink() -> None:
    """Sizes of a run that only shows that everything still works."""
    global DIMENSION, TEXTS, PERMUTATIONS, GROWTH, ITEM
    DIMENSION, TEXTS, PERMUTATIONS, GROWTH, ITEM = 12, 40, 9, (40, 80), (3, 3)


def main(wanted: list[str]) -> None:
    smoke = ["--smoke"] if "--smoke" in wanted else []
    wanted = [name for name in wanted if name != "--smoke"]
    if smoke:
        shrink()
    for part in (kernels, frechet):
        if not wanted or part.__name__ in wanted:
            part()
    for name, file in FILES.items():
        if not wanted or name in wanted:
            sys.stdout.flush()
            if smoke:  # in this process, which has imported most of what they need
                importlib.import_module(Path(file).stem).main(smoke)
            else:
                subprocess.run([sys.executable, str(Path(__file__).with_name(file))], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
