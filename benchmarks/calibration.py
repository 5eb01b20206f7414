"""Are the tests and intervals honest? Real captions split into two samples, again and again.

`python benchmarks/calibration.py ngram|embedding [SPLITS]` draws two samples of real captions that many times (400
unless told) at two sizes, runs every metric of the family with its test and interval, and writes the table to
docs/calibration.md or docs/calibration-embedding.md. A test that holds its level rejects at 5 % in about 5 % of the
splits; a 95 % interval holds the metric's expected value at this sample size, estimated by the mean over all splits, in
about 95 %.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from textassay.corpus.sample import Sample
from textassay.inference.measure import Plan, measure
from textassay.inference.request import Request, parse_requests
from textassay.inference.result import Result
from textassay.views.encoders.minilm import minilm
from textassay.views.encoders.remember import remember
from textassay.views.encoders.store import open_store
from textassay.views.material import Material, Settings

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data")) / "coco"
SPLITS, LEVEL = 400, 0.95


@dataclass(frozen=True)
class Family:
    """What is calibrated: metrics, sample sizes, files of captions, the table, and what the tests do at the sizes."""

    title: str
    specs: tuple[str, ...]
    sizes: tuple[int, int]
    files: tuple[str, ...]
    table: Path
    remark: str
    settings: Callable[[], Settings]

    @property
    def requests(self) -> list[Request]:
        return parse_requests(self.specs)


@dataclass(frozen=True)
class Row:
    """What came out for one metric; NaN where it has no test or no interval."""

    label: str
    rejected: float
    covered: float


@cache
def captions(files: tuple[str, ...]) -> list[str]:
    texts = [(DATA / f"{name}.txt").read_text(encoding="utf-8") for name in files]
    return [line for text in texts for line in text.split("\n") if line.strip()]


@cache
def minilm_settings() -> Settings:
    """Settings whose encoder knows all captions; made in the parent, so that workers inherit the vectors."""
    encoder = minilm()
    return Settings(encoder=remember(encoder, captions(("test",)), store=open_store(encoder)))


FAMILIES = {
    "ngram": Family(
        "the n-gram family",
        (
            "bleu", "self_bleu", "reverse_bleu", "ms_jaccard", "cr", "nrr", "nrr:variant=unbiased", "cnd",
            "cnd:variant=unbiased", "distinct", "entropy", "entropy:variant=grassberger", "repetition",
        ),
        (1000, 4000),
        ("train", "test"),
        ROOT / "docs" / "calibration.md",
        "at the larger size tests exchange blocks of texts",
        Settings,
    ),
    "embedding": Family(
        "the embedding family",
        (
            "frechet", "mmd", "mmd:kernel=laplacian", "mmd:kernel=energy",
            "mmd:kernel=polynomial", "mmd:variant=u", "energy", "mauve", "precision", "recall", "density", "coverage",
            "vendi", "vendi:q=2",
        ),
        (100, 1000),
        ("test",),
        ROOT / "docs" / "calibration-embedding.md",
        "vectors by `minilm`",
        minilm_settings,
    ),
}  # fmt: skip


def one_split(seed: int, size: int, name: str) -> list[Result]:
    family = FAMILIES[name]
    texts = np.array(captions(family.files), dtype=object)
    chosen = np.random.default_rng([seed, size]).choice(len(texts), 2 * size, replace=False)
    roles = {
        role: Material(Sample.of(texts[part].tolist(), name=role), family.settings())
        for role, part in (("candidate", chosen[:size]), ("reference", chosen[size:]))
    }
    with threadpool_limits(1):
        return list(measure(family.requests, roles, plan=Plan(level=LEVEL, seed=seed)).results)


def calibrate(splits: int, size: int, name: str) -> list[Row]:
    """Rejection and coverage of every metric of a family."""
    family = FAMILIES[name]
    family.settings()
    found: dict[int, list[Result]] = defaultdict(list)
    with ProcessPoolExecutor(max_workers=2) as pool:
        for number, results in enumerate(pool.map(one_split, range(splits), repeat(size), repeat(name)), start=1):
            for place, result in enumerate(results):
                found[place].append(result)
            if sys.stderr.isatty():
                print(f"\r{number} of {splits}", end="", file=sys.stderr)
    return [_row(request.label, found[place]) for place, request in enumerate(family.requests)]


def _row(label: str, results: list[Result]) -> Row:
    expected = float(np.mean([result.estimate for result in results]))
    intervals = [result.interval for result in results if result.interval is not None]
    p_values = [result.p_value for result in results if result.p_value is not None]
    covered = float(np.mean([expected in interval for interval in intervals])) if intervals else float("nan")
    rejected = float(np.mean([p <= 1 - LEVEL for p in p_values])) if p_values else float("nan")
    return Row(label, rejected, covered)


def write_table(name: str, rows: tuple[list[Row], list[Row]], splits: int) -> None:
    family = FAMILIES[name]
    small, large = family.sizes
    lines = [
        f"# Calibration of {family.title}",
        "",
        f"Two samples of {small:,} real COCO captions, and of {large:,}, drawn {splits} times each; {family.remark};",
        "999 permutations a test. Wanted: tests that reject in about 5 % of the splits, and intervals that hold the",
        "metric's expected value at this sample size (the mean over all splits) in about 95 %. Made by",
        f"`python benchmarks/calibration.py {name}`.",
        "",
        f"| metric | test rejects, n = {small:,} | interval covers | test rejects, n = {large:,} | interval covers |",
        "|---|---:|---:|---:|---:|",
    ]
    for pair in zip(*rows, strict=True):
        cells = [pair[0].label]
        for row in pair:
            cells.append("no test" if np.isnan(row.rejected) else f"{row.rejected:.1%}")
            cells.append("no interval" if np.isnan(row.covered) else f"{row.covered:.1%}")
        lines.append(f"| {' | '.join(cells)} |")
    family.table.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "ngram"
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else SPLITS
    first, second = (calibrate(wanted, size, chosen) for size in FAMILIES[chosen].sizes)
    write_table(chosen, (first, second), wanted)
    print(f"\n{FAMILIES[chosen].table.read_text(encoding='utf-8')}")
