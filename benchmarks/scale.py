"""Digests of millions of texts: time, memory and growth, and the word pairs counted by DuckDB and Polars.

    python benchmarks/scale.py                     # 100,000, 1 and 2 million recombined captions per side
    python benchmarks/scale.py 20000000            # other sizes; SCALE_FOLDER is where files are written
    python benchmarks/scale.py --smoke             # very few texts

Each step is a process of its own, and its time is processor time: `textassay digest` of both sides, `textassay compare`
with intervals, tests and the overall test, and the number of different word pairs of one side counted by DuckDB, by
Polars and from the digest. A second run of `digest` with two processes shows what a second worker is worth.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "coco"
SIZES = (100_000, 1_000_000, 2_000_000)
PER_FILE = 500_000
# Texts of one side that DuckDB and Polars count: in memory they need many times the size of the texts.
MOST_COUNTED = 1_000_000


def halves() -> tuple[pa.Array, pa.Array]:
    """The first halves of captions, and the second halves with an end of line."""
    words = [line.split() for line in (DATA / "train.txt").read_text(encoding="utf-8").split("\n") if line.strip()]
    first = pa.array([" ".join(each[: (len(each) + 1) // 2]) for each in words])
    return first, pa.array([" ".join(each[len(each) // 2 :]) + "\n" for each in words])


def write_texts(folder: Path, size: int, seed: int) -> None:
    """Recombined captions in files of lines: the first half of one caption and the second half of another."""
    first, second = halves()
    folder.mkdir(parents=True, exist_ok=True)
    for begin in range(0, size, PER_FILE):
        rng = np.random.default_rng([seed, begin])
        i, j = rng.integers(0, len(first), (2, min(PER_FILE, size - begin)))
        texts = pc.binary_join_element_wise(first.take(pa.array(i)), second.take(pa.array(j)), " ")
        target = folder / f"{begin // PER_FILE:03}.txt"
        target.write_bytes(texts.cast(pa.large_string()).buffers()[2].to_pybytes())


def measured(*command: str) -> dict[str, float]:
    """Seconds by the clock and of processors, and the peak memory in GiB of the largest process, of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return {
        "seconds": time.perf_counter() - began,
        "processor": used.ru_utime + used.ru_stime,
        "gib": used.ru_maxrss / 2**20,
    }


def textassay(*arguments: str) -> dict[str, float]:
    return measured(sys.executable, "-m", "textassay", *arguments, "--quiet")


def one_size(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """Make the texts and digests of both sides, and compare them."""
    steps = {}
    for seed, side in ((1, "real"), (2, "mine")):
        write_texts(folder / side, size, seed)
        files = str(folder / side / "*.txt")
        out = str(folder / f"{side}.digest")
        steps[f"digest {side}"] = textassay("digest", files, "--out", out, "--engine", "local:1")
    found = str(folder / "found.json")
    digests = [str(folder / f"{side}.digest") for side in ("real", "mine")]
    steps["compare"] = textassay("compare", *digests, "--json", found, "--engine", "local:1")
    return steps


def shown(size: int, steps: dict[str, dict[str, float]]) -> float:
    """Print what a size took; the processor time of all steps."""
    total = sum(step["processor"] for step in steps.values())
    parts = ", ".join(f"{name} {step['processor']:.1f} s" for name, step in steps.items())
    peak = max(step["gib"] for step in steps.values())
    print(f"{size:>10,} v {size:,}: {total:.1f} s of processor time ({parts}), peak memory {peak:.2f} GiB")
    print(f"{'':>10} {total / size * 1e6:.1f} s per million texts of each side", flush=True)
    return total


def two_workers(folder: Path) -> None:
    """The same digest by one and by two processes, by the clock and in processor time."""
    times = {}
    for workers in (1, 2):
        out = folder / f"workers {workers}.digest"
        command = ["digest", str(folder / "real" / "*.txt"), "--out", str(out), "--engine", f"processes:{workers}"]
        times[workers] = textassay(*command)
    same = (folder / "workers 1.digest").read_bytes() == (folder / "workers 2.digest").read_bytes()
    ratios = [times[1][name] / times[2][name] for name in ("seconds", "processor")]
    print(
        f"two workers: {ratios[0]:.2f} times one by the clock, with {1 / ratios[1]:.2f} of the processor time, ", end=""
    )
    print("same bytes" if same else "OTHER BYTES", flush=True)
    if not same:
        raise SystemExit("the number of workers changed a digest")


def counted(folder: Path, size: int) -> None:
    """Word pairs of one side by DuckDB, by Polars and by a digest of the same words."""
    times = {}
    for name in ("duckdb", "polars"):
        times[name] = measured(sys.executable, __file__, name, str(folder))
    words = folder / "words.digest"
    files = str(folder / "real" / "*.txt")
    times["digest"] = textassay("digest", files, "--out", str(words), "--tokenizer", "whitespace")
    pairs = [json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("duckdb", "polars")]
    ours = pairs_of(words)
    for name, step in times.items():
        print(f"  {name:<7} {step['processor']:.1f} s of processor time, peak memory {step['gib']:.2f} GiB")
    both = min(times["duckdb"]["processor"], times["polars"]["processor"])
    print(f"different and all word pairs of {size:,} texts: {ours[0]:,} and {ours[1]:,}, ", end="")
    print("equal in all three" if pairs == [ours, ours] else f"NOT EQUAL: {pairs}", end="; ")
    print(
        f"the digest, with everything else in it, takes {times['digest']['processor'] / both:.1f} times the faster one"
    )
    if pairs != [ours, ours]:
        raise SystemExit("the numbers of word pairs differ")


def pairs_of(path: Path) -> list[int]:
    """Different word pairs of a digest, and all of them."""
    from textassay.digests.file import read_digest

    digest = read_digest(path)
    parts = [digest.tables.part("grams/2", k, digest.n_parts) for k in range(digest.n_parts)]
    return [sum(len(np.unique(part.keys)) for part in parts), sum(int(part.values.sum()) for part in parts)]


def by_duckdb(folder: Path) -> list[int]:
    import duckdb

    files = str(folder / "real" / "*.txt").replace("'", "''")
    lines = f"read_csv('{files}', columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', header=false)"
    words = f"SELECT string_split(line, ' ') AS w FROM {lines}"
    pairs = f"SELECT unnest(list_zip(w[:-2], w[2:])) AS pair FROM ({words})"
    counts = f"SELECT pair, count(*) AS n FROM ({pairs}) GROUP BY pair"
    [(different, total)] = duckdb.sql(f"SELECT count(*), sum(n) FROM ({counts})").fetchall()
    return [int(different), int(total)]


def by_polars(folder: Path) -> list[int]:
    import polars as pl

    lines = pl.scan_csv(
        folder / "real" / "*.txt", separator="\x01", quote_char=None, has_header=False, new_columns=["line"]
    )
    words = lines.with_row_index().select("index", word=pl.col("line").str.split(" ")).explode("word")
    beside = words.with_columns(after=pl.col("word").shift(-1), other=pl.col("index").shift(-1))
    counts = beside.filter(pl.col("index") == pl.col("other")).group_by("word", "after").len()
    found: Any = counts.select(pl.len().alias("different"), pl.col("len").sum().alias("all")).collect()
    return [int(each) for each in found.row(0)]


@contextmanager
def work_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="scale-", dir=os.environ.get("SCALE_FOLDER")) as folder:
        yield Path(folder)


def main(arguments: list[str]) -> None:
    if arguments and arguments[0] in ("duckdb", "polars"):
        folder = Path(arguments[1])
        found = by_duckdb(folder) if arguments[0] == "duckdb" else by_polars(folder)
        (folder / f"{arguments[0]}.json").write_text(json.dumps(found), encoding="utf-8")
        return
    sizes = tuple(int(each) for each in arguments if each.isdecimal()) or ((300,) if "--smoke" in arguments else SIZES)
    totals = {}
    for size in sizes:
        with work_folder() as folder:
            totals[size] = shown(size, one_size(folder, size))
            if size == max((each for each in sizes if each <= MOST_COUNTED), default=0):
                two_workers(folder)
                counted(folder, size)
    for one, other in pairwise(sizes):
        print(f"{other / one:.0f} times the texts take {totals[other] / totals[one]:.1f} times as long")


if __name__ == "__main__":
    main(sys.argv[1:])
