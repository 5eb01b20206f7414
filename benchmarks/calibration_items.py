"""Are the exact p-values and their combinations honest? Items whose candidates and references have one source.

`python benchmarks/calibration_items.py [SETS]` draws that many test sets (400 unless told) of 50 items from real
captions, 10 candidates and 5 references each, all from one heap, so that the null holds exactly. It tests every item,
combines the items of a set, measures the interval of the mean, and writes docs/calibration-conditional.md. A p-value
that is honest is at most x in at most a share x of the items; a combined one rejects at 5 % in at most about 5 % of the
sets; a 95 % interval holds the mean over all sets in about 95 %.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.combining import fisher, harmonic_mean, simes
from textassay.inference.item_figures import measure_item
from textassay.inference.labellings import ways
from textassay.inference.over_items import bootstrap_interval
from textassay.inference.request import Request, parse_requests
from textassay.studies.item_pools import Pools
from textassay.studies.item_results import label_of
from textassay.views.distances import Surroundings, get_distance
from textassay.views.encoders.minilm import minilm
from textassay.views.encoders.remember import Remembered, remember
from textassay.views.encoders.store import open_store
from textassay.views.text_table import TextTable

ROOT = Path(__file__).resolve().parents[1]
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
    """The heap of captions, and their vectors."""
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
    chosen = ways(*SIZES, most=10**6, n_resamples=0, seed=0)
    found: dict[str, list[tuple[float, float]]] = {label_of(request): [] for request in requests()}
    with threadpool_limits(1):
        for texts in drawn:
            pool = pools.pool(texts[: SIZES[0]], texts[SIZES[0] :])
            for request in requests():
                figures = measure_item(request, pool, chosen)
                found[label_of(request)].append((figures.estimate, figures.p_value))
    return {label: np.array(pairs) for label, pairs in found.items()}


def calibrate(sets: int) -> list[Row]:
    prepared()
    with ProcessPoolExecutor() as workers:
        found = list(workers.map(one_set, range(sets)))
    return [row_of(label_of(request), [each[label_of(request)] for each in found]) for request in requests()]


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


def write(rows: list[Row]) -> None:
    head = ["metric", "sets", *(f"p ≤ {level:g}" for level in LEVELS), "harmonic mean", "Fisher", "Simes", "covered"]
    lines = [
        "# Calibration of conditional evaluation",
        "",
        f"Test sets of {ITEMS} items, {SIZES[0]} candidates and {SIZES[1]} references each, all drawn from one heap of "
        f"{CAPTIONS:,} real captions: the null holds exactly. Each item has its exact p-value over 3,003 partitions. "
        "The columns `p ≤ x` give the share of single items, which should not be above x; the next three the share of "
        "sets that the combined p-value rejects at 5 %; the last the share of 95 % intervals (bootstrap over items) "
        "that hold the mean over all sets. With 400 sets a rate of 5 % is known to about 2 points. "
        "`python benchmarks/calibration_items.py` makes this table.",
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
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    made = calibrate(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
    write(made)
    print(TABLE.read_text(encoding="utf-8"))
