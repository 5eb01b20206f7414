"""Power of the overall test and of its rivals: how often does each find a damage in a share of the texts?

    python benchmarks/power/power.py                     # the whole study; continues where it stopped
    python benchmarks/power/power.py --smoke             # a few seconds, writes nothing
    python benchmarks/power/power.py --page              # only writes the table and docs/power.md from what is there

Every run draws two samples of real texts, damages a share of one of them, and applies every test to the same draw.
The results are appended to a file with one JSON object per line. A run that is in this file, or that the committed
table counts for the same version of the overall test, is not repeated. Tests that take long have fewer runs; the tables
print the number of runs.

`--old PATH` adds the verdict of another version of textassay, whose source tree is at PATH.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from answers import ANSWERS
from corpora import DAMAGES, POOL, Corpus, Damage, Draw, draw, load
from old import Old
from ours import OUR_VERSION, our_tests, static_tests
from page import MAIN, Cell, read_table, write_page, write_table
from rivals import classifiers, hyppo_tests, kernel_tests
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "power.jsonl"
CORPORA, SIZES, RUNS = ("captions", "news", *ANSWERS), (400, 200, 1000), 200
# So many runs of every damage are made before the next ones, so that an unfinished study is balanced.
ROUND = 20
# Tests that take long: their runs at most, by sample size.
FEWER = {
    "static": {200: 40, 400: 0, 1000: 0},
    "classifiers": {200: 40, 400: 20, 1000: 20},
    "kernels": {200: 100, 400: 100, 1000: 40},
    "aggregated": {200: 0, 400: 20, 1000: 0},
    "hyppo": {200: 0, 400: 20, 1000: 0},
    "old ngram": {200: 40, 400: 40, 1000: 0},
    "old all": {200: 0, 400: 15, 1000: 0},
}
# A test of each group, by which the committed table shows how many of the group's runs it counts.
COUNTED_BY = {
    "ours": "overall",
    "static": "overall static",
    "classifiers": "classifier_tfidf",
    "kernels": "mmd",
    "aggregated": "mmd_fuse",
    "hyppo": "hyppo_mmd",
    "old ngram": "verdict_ngram",
    "old all": "verdict_all",
}
# Raised when a group's numbers change, so that old results are not mixed with new ones.
VERSIONS = {
    "ours": OUR_VERSION,
    "static": OUR_VERSION,
    "classifiers": "1",
    "kernels": "1",
    "aggregated": "1",
    "hyppo": "1",
    "old ngram": "1",
    "old all": "1",
}

Key = tuple[str, str, float, int, int, str, str]


@dataclass(frozen=True)
class Job:
    """A draw and the groups of tests that are still to be applied to it."""

    corpus: str
    damage: Damage
    n: int
    run: int
    groups: tuple[str, ...]

    def key(self, group: str) -> Key:
        share = self.damage.share(self.corpus)
        return (self.corpus, self.damage.key, share, self.n, self.run, group, VERSIONS[group])


@dataclass
class State:
    """What a process holds between jobs: one corpus, and the other version of textassay."""

    pool: int
    keys: tuple[str, ...]
    old: Path | None
    corpora: dict[str, Corpus] = field(default_factory=dict)
    programs: list[Old] = field(default_factory=list)

    def corpus(self, name: str) -> Corpus:
        if name not in self.corpora:
            self.corpora = {name: load(name, DATA, keys=self.keys, size=self.pool)}
        return self.corpora[name]

    def program(self) -> Old:
        if not self.programs:
            assert self.old is not None
            self.programs.append(Old(self.old))
        return self.programs[0]


def apply(state: State, job: Job) -> list[dict[str, Any]]:
    """The p-values of the groups of a job, one record per group."""
    sample = draw(state.corpus(job.corpus), job.damage, n=job.n, run=job.run)
    records = []
    with threadpool_limits(1):
        for group in job.groups:
            began = time.perf_counter()
            found = _tests(state, group, sample)
            names = ("corpus", "damage", "share", "n", "run", "group", "version")
            record: dict[str, Any] = dict(zip(names, job.key(group), strict=True))
            records.append(record | {"p": found, "seconds": round(time.perf_counter() - began, 2)})
    return records


def _tests(state: State, group: str, sample: Draw) -> Mapping[str, float]:
    match group:
        case "ours":
            return our_tests(sample)
        case "static":
            return static_tests(sample)
        case "classifiers":
            return classifiers(sample)
        case "kernels":
            return kernel_tests(sample, aggregated=False)
        case "aggregated":
            found = kernel_tests(sample)
            return {name: found[name] for name in ("mmd_fuse", "mmd_agg")}
        case "hyppo":
            return hyppo_tests(sample)
        case _:
            return state.program().verdict(sample, family=group.removeprefix("old "))


def plan(
    cells: Sequence[tuple[str, int]], damages: Iterable[Damage], *, runs: int, groups: Iterable[str]
) -> Iterator[Job]:
    """All jobs, cell by cell, in rounds over the damages."""
    damages, groups = list(damages), list(groups)
    for corpus, n in cells:
        for start in range(0, runs, ROUND):
            for damage in (damage for damage in damages if corpus in damage.shares):
                for run in range(start, min(start + ROUND, runs)):
                    chosen = tuple(group for group in groups if run < FEWER.get(group, {}).get(n, runs))
                    yield Job(corpus, damage, n, run, chosen)


def missing(jobs: Iterable[Job], known: set[Key], committed: Sequence[Cell] = ()) -> Iterator[Job]:
    """Jobs without the groups that are in the results or counted in the committed table."""
    tests = {(cell.corpus, cell.damage, cell.n): cell.tests for cell in committed}
    for job in jobs:
        counts = tests.get((job.corpus, job.damage.key, job.n), {})
        counted = {group: counts[test].runs for group, test in COUNTED_BY.items() if test in counts}
        left = tuple(group for group in job.groups if job.key(group) not in known and job.run >= counted.get(group, 0))
        if left:
            yield Job(job.corpus, job.damage, job.n, job.run, left)


def read_results(path: Path) -> list[dict[str, Any]]:
    """Records of the file; a last line that was cut off when a run was stopped is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    whole = [line for line in lines if line.endswith("}")]
    return [json.loads(line) for line in whole]


def key_of(record: Mapping[str, Any]) -> Key:
    return tuple(record[name] for name in ("corpus", "damage", "share", "n", "run", "group", "version"))  # type: ignore[return-value]


_STATE: list[State] = []


def _start(state: State) -> None:
    _STATE[:] = [state]


def _work(job: Job) -> list[dict[str, Any]]:
    return apply(_STATE[0], job)


def results_of(jobs: Sequence[Job], state: State, workers: int) -> Iterator[list[dict[str, Any]]]:
    """Records as they come, in the order of the jobs."""
    if workers == 1:
        yield from (apply(state, job) for job in jobs)
        return
    with ProcessPoolExecutor(workers, get_context("fork"), initializer=_start, initargs=(state,)) as pool:
        yield from pool.map(_work, jobs)


def study(cells: Sequence[tuple[str, int]], asked: argparse.Namespace) -> None:
    """Make what is missing and append it to the results."""
    groups = [group for group in VERSIONS if not group.startswith("old") or asked.old is not None]
    chosen = [group for group in groups if asked.groups is None or group in asked.groups]
    damages = [damage for damage in DAMAGES if asked.damages is None or damage.key in asked.damages]
    known = {key_of(record) for record in read_results(asked.results)}
    committed = read_table() if asked.results == RESULTS else []
    jobs = list(missing(plan(cells, damages, runs=asked.runs, groups=chosen), known, committed))
    state = State(POOL, tuple(damage.key for damage in DAMAGES), asked.old)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with asked.results.open("a", encoding="utf-8") as file:
        for number, records in enumerate(results_of(jobs, state, asked.workers), start=1):
            for record in records:
                file.write(json.dumps(record) + "\n")
            file.flush()
            job = jobs[number - 1]
            pace = (time.perf_counter() - began) / number
            where = f"{job.corpus} n={job.n} {job.damage.key} run {job.run}"
            print(f"{number} of {len(jobs)}, {pace:.1f} s each: {where}", file=sys.stderr, flush=True)


def smoke() -> None:
    """Every test once on small samples of two damages: all p-values are there and within 0 and 1.

    Static vectors are left out: without a cache, making them takes longer than everything else.
    """
    damages = [damage for damage in DAMAGES if damage.key in ("salad", "none")]
    state = State(400, tuple(damage.key for damage in damages), None)
    groups = ("ours", "classifiers", "kernels", "aggregated")
    for damage in damages:
        for record in apply(state, Job("captions", damage, 60, 0, groups)):
            bad = {name: p for name, p in record["p"].items() if not 0 <= p <= 1}
            if bad or not record["p"]:
                raise SystemExit(f"{damage.key}, {record['group']}: no p-values, or not within 0 and 1: {bad}")
            shown = ", ".join(f"{name} {p:.3g}" for name, p in record["p"].items())
            print(f"{damage.key}: {shown}")


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="small samples, no files")
    ask.add_argument("--page", action="store_true", help="write the table and the page, run nothing")
    ask.add_argument("--results", type=Path, default=RESULTS, help="file of results (default: %(default)s)")
    ask.add_argument("--corpora", nargs="+", default=CORPORA, choices=CORPORA)
    ask.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="texts per sample")
    ask.add_argument("--damages", nargs="+", choices=[damage.key for damage in DAMAGES])
    ask.add_argument("--groups", nargs="+", choices=list(VERSIONS), help="groups of tests")
    ask.add_argument("--runs", type=int, default=RUNS, help="runs per cell (default: %(default)s)")
    ask.add_argument("--workers", type=int, default=1, choices=(1, 2), help="processes (default: %(default)s)")
    ask.add_argument("--old", type=Path, help="source tree of another version, whose verdict is a rival")
    asked = ask.parse_args()
    if asked.smoke:
        smoke()
        return
    if not asked.page:
        # There are about 800 prompts, and a draw needs two samples of them.
        cells = [(corpus, n) for n in asked.sizes for corpus in asked.corpora if corpus not in ANSWERS or n <= MAIN]
        study(cells, asked)
        if asked.results != RESULTS:
            # The committed page is of the whole study; some cells in a file of their own do not replace it.
            return
    records = [record for record in read_results(asked.results) if VERSIONS[record["group"]] == record["version"]]
    write_page(write_table(records, read_table()))


if __name__ == "__main__":
    main()
