"""Are the exact p-values and their combinations honest? Items whose candidates and references have one source.

`python benchmarks/calibration/items.py [SETS]` draws that many test sets (400 unless told) of 50 items from real
captions, 10 candidates and 5 references each, all from one pool, so that the null holds exactly. It tests every item,
combines the items of a set, measures the interval of the mean, and writes docs/calibration-conditional.md. A p-value
that is honest is at most x in at most a share x of the items; a combined one rejects at 5 % in at most about 5 % of the
sets; a 95 % interval holds the mean over all sets in about 95 %.

`python benchmarks/calibration/items.py designs [SETS]` writes the second part of that page instead: the combined test
on items of few texts, with and without shared texts, where nothing differs and where one candidate in two has another
source.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.item_set import Item, ItemSet, TextTable
from textassay.corpus.tokenizers import get_tokenizer
from textassay.distances.base import Surroundings, get_distance
from textassay.encoders.minilm import minilm
from textassay.encoders.remembered import Remembered, remember
from textassay.encoders.vector_store import open_store
from textassay.engines.local import LocalEngine
from textassay.inference.items.combined_tests import measure_items, plan_tests
from textassay.inference.items.item_work import ItemPlan, ItemWork
from textassay.inference.items.labellings import labellings_of, measure_item
from textassay.inference.items.means import bootstrap_interval
from textassay.inference.p_values import fisher, harmonic_mean, is_significant, simes
from textassay.inference.plan import Silent
from textassay.metrics.items.item_pool import Pools
from textassay.metrics.registry import Request, parse_requests

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data")) / "coco" / "test.txt"
TABLE = ROOT / "docs" / "calibration-conditional.md"
SETS, ITEMS, SIZES, CAPTIONS = 400, 50, (10, 5), 4000
LEVELS = (0.01, 0.05, 0.2, 0.5)
SPECS = (
    "score:distance=meteor",
    "score:distance=meteor:over=max",
    "score:distance=cider",
    *(f"trm:distance={name}" for name in ("meteor", "cider", "rouge_l", "edit", "bert")),
    "trm:distance=meteor:variant=exclusive",
    "trm:distance=meteor:variant=split",
    "mmd",
    "frechet",
)


@dataclass(frozen=True)
class Row:
    """What came out for one metric."""

    label: str
    sets: int
    items: dict[float, float]
    harmonic: float
    fisher: float
    simes: float
    covered: float


@cache
def prepared() -> tuple[list[str], Remembered]:
    """The pool of captions, and their vectors."""
    captions = list(dict.fromkeys(DATA.read_text(encoding="utf-8").splitlines()))[:CAPTIONS]
    encoder = minilm()
    return captions, remember(encoder, captions, store=open_store(encoder))


def requests() -> list[Request]:
    return parse_requests(SPECS, on="items")


def one_set(seed: int) -> dict[str, NDArray[np.float64]]:
    """Values and p-values of the items of one set, by label; document frequencies are those of the set's references."""
    captions, encoder = prepared()
    rng = np.random.default_rng(seed)
    drawn = [[captions[place] for place in rng.choice(len(captions), sum(SIZES), replace=False)] for _ in range(ITEMS)]
    others = [text for texts in drawn for text in texts]
    table = TextTable.of([texts[SIZES[0] :] for texts in drawn], others=others, tokenizer=get_tokenizer("plain"))
    names = dict.fromkeys(r.options["distance"] for r in requests() if "distance" in r.options)
    distances = {name: get_distance(name, Surroundings(table, encoder)) for name in names}
    pools = Pools(table, distances, encoder.encode(table.texts))
    chosen = labellings_of(*SIZES, most=10**6, n_resamples=0, seed=0)
    found: dict[str, list[tuple[float, float]]] = {request.label: [] for request in requests()}
    with threadpool_limits(1):
        for texts in drawn:
            pool = pools.pool(texts[: SIZES[0]], texts[SIZES[0] :])
            for request in requests():
                figures = measure_item(request, pool, chosen)[0]
                found[request.label].append((figures.estimate, figures.p_value))
    return {label: np.array(pairs) for label, pairs in found.items()}


def calibrate(sets: int) -> list[Row]:
    prepared()
    with ProcessPoolExecutor() as workers:
        found = list(workers.map(one_set, range(sets)))
    return [row_of(request.label, [each[request.label] for each in found]) for request in requests()]


def row_of(label: str, sets: list[NDArray[np.float64]]) -> Row:
    p_values = np.concatenate([each[:, 1] for each in sets])
    truth = float(np.mean([each[:, 0].mean() for each in sets]))
    spans = [bootstrap_interval(each[:, 0], level=0.95, n_resamples=999, seed=0) for each in sets]
    return Row(
        label,
        len(sets),
        {level: float((p_values <= level).mean()) for level in LEVELS},
        *(float(np.mean([how(each[:, 1]) <= 0.05 for each in sets])) for how in (harmonic_mean, fisher, simes)),
        covered=float(np.mean([span is not None and span[0] <= truth <= span[1] for span in spans])),
    )


@dataclass(frozen=True)
class Design:
    """How the items of a set are made; `share` items have the same references, or the same candidates."""

    name: str
    sizes: tuple[int, int]
    make: Callable[[np.random.Generator, "Design"], list[Item]]
    items: int = 21
    share: int = 1

    @property
    def specs(self) -> list[str]:
        """A single candidate has triangles of one kind only."""
        one = ":direction=references" if self.sizes[0] == 1 else ""
        return ["score:distance=meteor", f"trm:distance=meteor{one}", f"trm:distance=meteor:variant=split{one}"]


@dataclass(frozen=True, eq=False)
class Known:
    """METEOR among a pool of captions, measured once."""

    table: TextTable
    matrix: NDArray[np.float64]
    name: str = "meteor"
    signature: str = "meteor"
    top: float = 1.0

    def scores(self, numbers: NDArray[np.int64], /) -> NDArray[np.float64]:
        return self.matrix[np.ix_(numbers, numbers)]

    def same(self, numbers: NDArray[np.int64], /) -> NDArray[np.int64]:
        return self.table.alike[numbers]


def shared_references(rng: np.random.Generator, design: Design) -> list[Item]:
    """Clusters of items with the same references and candidates of their own, all texts from one pool."""
    n, m = design.sizes
    found = []
    for cluster in range(design.items // design.share):
        texts = [HEAP[place] for place in rng.choice(len(HEAP), m + n * design.share, replace=False)]
        for one in range(design.share):
            mine = tuple(texts[m + n * one : m + n * (one + 1)])
            found.append(Item(f"{cluster}-{one}", tuple(texts[:m]), {"system": mine}))
    return found


def shared_candidates(rng: np.random.Generator, design: Design) -> list[Item]:
    """Clusters of items with the same candidates and references of their own."""
    turned = shared_references(rng, Design("", design.sizes[::-1], shared_references, design.items, design.share))
    return [Item(item.id, item.candidates["system"], {"system": item.references}) for item in turned]


def corrupted(rng: np.random.Generator, design: Design) -> list[Item]:
    """Captions of real images: one of two candidates is of another image."""
    chosen = rng.choice(len(IMAGES), 2 * design.items, replace=False)
    found = []
    for place in range(design.items):
        own = rng.permutation(IMAGES[chosen[place]]).tolist()
        other = IMAGES[chosen[design.items + place]][0]
        found.append(Item(str(place), tuple(own[2:5]), {"system": (own[0], other)}))
    return found


DESIGNS = (
    *(Design("one source", sizes, shared_references) for sizes in ((1, 4), (2, 3), (5, 10))),
    *(Design("one source, 3 items share references", s, shared_references, share=3) for s in ((1, 4), (2, 3), (5, 10))),
    *(Design("one source, 3 items share candidates", s, shared_candidates, share=3) for s in ((2, 3), (5, 10))),
    *(Design("one candidate in two of another image", (2, 3), corrupted, items=items) for items in (20, 50)),
)
VALIDATION = DATA.parents[2] / "captions" / "coco_val_sample.json"
HEAP: list[str] = []
IMAGES: list[list[str]] = []


@cache
def known_distances() -> Pools:
    """Fill the pools, and measure every pair of their texts once."""
    HEAP[:] = list(dict.fromkeys(DATA.read_text(encoding="utf-8").splitlines()))[:600]
    images = [list(dict.fromkeys(item["references"])) for item in json.loads(VALIDATION.read_text(encoding="utf-8"))]
    IMAGES[:] = [image[:5] for image in images if len(image) >= 5][:160]
    texts = [*HEAP, *(text for image in IMAGES for text in image)]
    table = TextTable.of([texts], tokenizer=get_tokenizer("plain"))
    with threadpool_limits(1):
        matrix = get_distance("meteor", Surroundings(table)).scores(np.arange(len(table)))
    return Pools(table, {"meteor": Known(table, matrix)})


def tested(design: Design, seed: int) -> dict[str, bool]:
    """Which combined tests of one set are significant: each metric alone, any after adjustment, and Fisher's sum."""
    pools = known_distances()
    items = ItemSet.of(design.make(np.random.default_rng(seed), design))
    requests = parse_requests(design.specs, on="items")
    # Of 3,003 labellings of 5 and 10 texts a sample is enough here.
    plan = ItemPlan(n_resamples=299, partitions=1000, seed=seed)
    tests = plan_tests(items, requests, plan)
    tests = replace(tests, drawings={"system": tests.drawings["system"]})
    work = ItemWork(requests, items.systems, pools, plan, None, tests.drawings)
    found, combined = measure_items(work, items, tests, engine=LocalEngine(1), progress=Silent())
    system_tests = combined["system"].tests
    p_values = {request: system_tests[request].p_value for request in requests}
    single = {r.label.replace(" direction=references", ""): is_significant(p, 0.95) for r, p in p_values.items()}
    plain = [[each.systems["system"].figures[r].p_value for each in found] for r in requests]
    return single | {
        "any, adjusted": any(is_significant(test.adjusted, 0.95) for test in system_tests.values()),
        "any, Fisher and Holm": bool(min(map(fisher, plain)) * len(requests) <= 0.05),
        "any, harmonic mean and Holm": bool(min(map(harmonic_mean, plain)) * len(requests) <= 0.05),
    }


def write_designs(sets: int) -> None:
    """The second part of the page; a row is written as soon as it is known."""
    rows: list[list[str]] = []
    for design in DESIGNS:
        found = [tested(design, seed) for seed in range(sets)]
        shares = {name: np.mean([each[name] for each in found]) for name in found[0]}
        candidates, references = design.sizes
        cells = [design.name, f"{candidates} v {references}", str(design.items), str(sets)]
        rows.append([*cells, *(f"{share:.1%}" for share in shares.values())])
        print(rows[-1], list(shares), flush=True)
    first, _, _ = TABLE.read_text(encoding="utf-8").partition(SECOND)
    TABLE.write_text(first.rstrip() + "\n\n" + "\n".join([SECOND, *designs_text(rows)]) + "\n", encoding="utf-8")


SECOND = "## The combined test"


def designs_text(rows: Sequence[Sequence[str]]) -> list[str]:
    head = ["items", "candidates v references", "items per set", "sets", "`score`", "`trm`", "`trm` split"]
    head += ["any, adjusted", "any, Fisher and Holm", "any, harmonic mean and Holm"]
    return [
        "",
        "Sets of items of few texts under METEOR. The columns give the share of sets in which the combined test "
        "(labels exchanged within items, 9,999 draws; of 5 v 10 texts from 299 random labellings per item) is "
        "significant at 5 %: of each metric by itself, and of any "
        "metric after adjustment for all three; the last two columns combine the p-values of the items instead. In "
        "the rows with one source nothing differs, and 5 % is right. Captions come from one pool there, so that the "
        "null holds exactly. In the last rows one of the two candidates of every item is a caption of another image. "
        "With 400 sets a rate of 5 % is known to about 2 points. "
        "`python benchmarks/calibration/items.py designs` makes this table.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def write(rows: list[Row]) -> None:
    head = ["metric", "sets", *(f"p ≤ {level:g}" for level in LEVELS), "harmonic mean", "Fisher", "Simes", "covered"]
    lines = [
        "# Calibration of conditional evaluation",
        "",
        f"Test sets of {ITEMS} items, {SIZES[0]} candidates and {SIZES[1]} references each, all drawn from one pool of "
        f"{CAPTIONS:,} real captions: the null holds exactly. Each item has its exact p-value over 3,003 partitions. "
        "The columns `p ≤ x` give the share of single items, which should not be above x; the next three the share of "
        "sets that the combined p-value rejects at 5 %; the last the share of 95 % intervals (bootstrap over items) "
        "that hold the mean over all sets. With 400 sets a rate of 5 % is known to about 2 points. "
        "`python benchmarks/calibration/items.py` makes this table.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for row in rows:
        shares = [*(row.items[level] for level in LEVELS), row.harmonic, row.fisher, row.simes, row.covered]
        lines.append("| " + " | ".join([f"`{row.label}`", str(row.sets), *(f"{s:.1%}" for s in shares)]) + " |")
    lines += [
        "",
        "`score cider` is the exception to know: document frequencies come from the references only, so a reference's "
        "own words count as a little less rare than a candidate's, and low p-values are slightly too many (which "
        "Fisher's sum adds up). Frequencies from a file (`--document-frequencies`) are the same for both sides.",
    ]
    _, title, second = TABLE.read_text(encoding="utf-8").partition(SECOND) if TABLE.exists() else ("", "", "")
    TABLE.write_text("\n".join(lines) + "\n" + (f"\n{title}{second}" if title else ""), encoding="utf-8")


def smoke() -> None:
    """Two small sets, printed and not written."""
    global ITEMS, SIZES, CAPTIONS
    ITEMS, SIZES, CAPTIONS = 4, (3, 2), 60
    for row in calibrate(2):
        print(row)


if __name__ == "__main__":
    if "--smoke" in sys.argv:
        smoke()
        sys.exit()
    if sys.argv[1:2] == ["designs"]:
        write_designs(int(sys.argv[2]) if len(sys.argv) > 2 else SETS)
    else:
        write(calibrate(int(sys.argv[1]) if len(sys.argv) > 1 else SETS))
    print(TABLE.read_text(encoding="utf-8"))
