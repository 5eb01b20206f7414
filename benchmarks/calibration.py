"""Are the tests and intervals honest? Real captions split into two samples, again and again.

`python benchmarks/calibration.py [SPLITS]` draws two samples of 1,000 real captions that many times (400 unless told),
and of 4,000, where tests exchange blocks of texts. It runs every metric of the n-gram family with its test and interval
and writes the table to docs/calibration.md. A test that holds its level rejects at 5 % in about 5 % of the splits; a
95 % interval holds the metric's expected value at this sample size, estimated by the mean over all splits, in about
95 %.
"""

import os
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from textassay.corpus.sample import Sample
from textassay.inference.measure import Plan, measure
from textassay.inference.request import parse_requests
from textassay.inference.result import Result
from textassay.views.material import Material

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data")) / "coco"
TABLE = ROOT / "docs" / "calibration.md"
SMALL, LARGE, SPLITS, LEVEL = 1000, 4000, 400, 0.95
SPECS = [
    "bleu", "self_bleu", "reverse_bleu", "ms_jaccard", "cr", "nrr", "nrr:variant=unbiased", "cnd",
    "cnd:variant=unbiased", "distinct", "entropy", "entropy:variant=grassberger", "repetition",
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What came out for one metric; NaN where it has no test or no interval."""

    label: str
    rejected: float
    covered: float


def captions() -> list[str]:
    files = [(DATA / f"{name}.txt").read_text(encoding="utf-8") for name in ("train", "test")]
    return [line for file in files for line in file.split("\n") if line.strip()]


def one_split(seed: int, size: int) -> list[Result]:
    texts = np.array(captions(), dtype=object)
    chosen = np.random.default_rng([seed, size]).choice(len(texts), 2 * size, replace=False)
    roles = {
        role: Material(Sample.of(texts[part].tolist(), name=role))
        for role, part in (("candidate", chosen[:size]), ("reference", chosen[size:]))
    }
    return list(measure(parse_requests(SPECS), roles, plan=Plan(level=LEVEL, seed=seed)).results)


def calibrate(splits: int, size: int) -> list[Row]:
    """Rejection and coverage of every metric."""
    found: dict[int, list[Result]] = defaultdict(list)
    with ProcessPoolExecutor(max_workers=2) as pool:
        for number, results in enumerate(pool.map(one_split, range(splits), repeat(size)), start=1):
            for place, result in enumerate(results):
                found[place].append(result)
            if sys.stderr.isatty():
                print(f"\r{number} of {splits}", end="", file=sys.stderr)
    return [_row(request.label, found[place]) for place, request in enumerate(parse_requests(SPECS))]


def _row(label: str, results: list[Result]) -> Row:
    expected = float(np.mean([result.estimate for result in results]))
    intervals = [result.interval for result in results if result.interval is not None]
    p_values = [result.p_value for result in results if result.p_value is not None]
    covered = float(np.mean([expected in interval for interval in intervals])) if intervals else float("nan")
    rejected = float(np.mean([p <= 1 - LEVEL for p in p_values])) if p_values else float("nan")
    return Row(label, rejected, covered)


def write_table(small: list[Row], large: list[Row], splits: int) -> None:
    lines = [
        "# Calibration of the n-gram family",
        "",
        f"Two samples of {SMALL:,} real COCO captions, and of {LARGE:,} (where tests exchange blocks of texts), drawn",
        f"{splits} times each; 999 permutations a test. Wanted: tests that reject in about 5 % of the splits, and",
        "intervals that hold the metric's expected value at this sample size (the mean over all splits) in about",
        "95 %. Made by `python benchmarks/calibration.py`.",
        "",
        f"| metric | test rejects, n = {SMALL:,} | interval covers | test rejects, n = {LARGE:,} | interval covers |",
        "|---|---:|---:|---:|---:|",
    ]
    for one, other in zip(small, large, strict=True):
        cells = [one.label]
        for row in (one, other):
            cells += ["no test" if np.isnan(row.rejected) else f"{row.rejected:.1%}", f"{row.covered:.1%}"]
        lines.append(f"| {' | '.join(cells)} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS
    write_table(calibrate(wanted, SMALL), calibrate(wanted, LARGE), wanted)
    print(f"\n{TABLE.read_text(encoding='utf-8')}")
