"""How often does a table of real text against real text contain any false alarm, and does the seed change a decision?

`python benchmarks/calibration/family_wise.py` draws a reference and one or six candidates from the same captions,
compares them with 6 and with all metrics, and counts the tables with any false alarm. Then it compares samples with a
small difference, whose p-values are near the limit, with 20 seeds each. It rewrites one section of docs/calibration.md.

Every table has its own seed. Results are kept in .benchmarks/family_wise.jsonl, so that a run that was stopped goes on
where it was; `--fresh` begins anew. `--smoke` makes two tables per row and prints the section. `--runs N` makes fewer
tables per row, `--all N` fewer with all metrics, `--six N` fewer with six candidates; a row of 0 is left out.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from design_texts import captions, lines
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textassay import compare
from textassay.encoders.base import get_encoder
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store
from textassay.engines.local import LocalEngine
from textassay.inference.p_values import is_significant
from textassay.studies.compare.result import Column

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".benchmarks" / "family_wise.jsonl"
PAGE = ROOT / "docs" / "calibration.md"
SECTION, NEXT = "\n## False alarms of whole tables\n", "\n## "
LEVEL, RESAMPLES, SIZE, RUNS = 0.95, 199, 80, 400
SIX = ("bleu", "self_bleu", "distinct", "cnd", "ms_jaccard", "repetition")
# Enough for the overall test with vectors.
_FEW = ("repetition", "energy")
POOL = 6000
# The data sets near the limit: captions of which so many are by a model, and the p-values that count as near.
NEAR_SIZE, NEAR_SHARE, NEAR, N_NEAR, N_SEEDS = 120, 0.3, (0.005, 0.2), 12, 20
MANY = 3999
# Below the first and above the second p-value the seed must not change the decision.
CLEAR = (0.03, 0.08)

Key = tuple[str, int]
Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Known:
    """An encoder that looks up vectors which were made before."""

    places: dict[str, int]
    vectors: NDArray[np.float32]
    name: str = "minilm-int8-known"

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return self.vectors[[self.places[text] for text in texts]]


@cache
def pool() -> Any:
    """Captions of both files, shuffled."""
    texts = captions()
    return texts[np.random.default_rng(20).choice(len(texts), POOL, replace=False)]


@cache
def known() -> Known:
    """The vectors of the pool."""
    encoder = get_encoder("minilm:int8", reference=None, candidates={})  # type: ignore[arg-type]
    texts = list(dict.fromkeys(pool().tolist()))
    vectors = remember(encoder, texts, store=open_store(encoder)).encode(texts)
    return Known({text: place for place, text in enumerate(texts)}, vectors)


@dataclass(frozen=True)
class Cell:
    """Tables of one kind; `metrics` is empty for all metrics."""

    metrics: tuple[str, ...]
    n_candidates: int

    @property
    def name(self) -> str:
        return f"{len(self.metrics) or 'all'} metrics, {self.n_candidates} candidate{'s' * (self.n_candidates > 1)}"

    def run(self, seed: int) -> Record:
        """The record of a table.

        Every star and sentence needs the overall test, or that of copies or closeness, first. So of the most expensive
        tables the whole is measured where these tests give an alarm, and in each tenth table to check it.
        """
        if self.metrics or self.n_candidates == 1:
            return self._measured(seed, self.metrics)
        quick = self._measured(seed, _FEW, explain=False)
        if not is_alarm(quick) and seed % 10:
            return quick
        whole = self._measured(seed, ())
        if is_alarm(quick) != is_alarm(whole):
            raise SystemExit(f"{self.name}, seed {seed}: the whole table has another answer than its overall tests")
        return whole

    def _measured(self, seed: int, metrics: tuple[str, ...], *, explain: bool | None = None) -> Record:
        rng = np.random.default_rng([21, seed])
        chosen = pool()[rng.choice(POOL, SIZE * (1 + self.n_candidates), replace=False)]
        reference, *candidates = np.split(chosen, 1 + self.n_candidates)
        found = compare(
            reference.tolist(),
            {f"candidate {number}": texts.tolist() for number, texts in enumerate(candidates)},
            metrics=metrics,
            encoder=None if self.metrics else known(),
            n_resamples=RESAMPLES,
            seed=seed,
            explain=explain,
            engine=LocalEngine(1),
        )
        return {
            "levels": [column.verdict.decision for column in found.candidates if column.verdict],
            "stars": sum(is_significant(p, LEVEL) for column in found.candidates for p in column.adjusted),
            "closer": sum(is_closer(column) for column in found.candidates),
            "contests": sum(is_significant(contest.adjusted, LEVEL) for contest in found.contests),
            "warnings": sum(bool(column.warnings) for column in found.candidates),
            "n_metrics": len(found.labels),
        }


def is_closer(column: Column) -> bool:
    """Whether a sentence claims that the candidate is closer to the reference than an independent sample."""
    assert column.verdict is not None
    return column.verdict.find("closer") is not None


def is_alarm(record: Record) -> bool:
    """Whether a table of real text has a star or a sentence that claims a difference, copies or closeness."""
    claims = any(level not in ("same", "untested") for level in record["levels"])
    return claims or record["stars"] > 0 or record["closer"] > 0


CELLS = tuple(Cell(metrics, n) for n in (1, 6) for metrics in (SIX, ()))


def near(number: int) -> tuple[list[str], list[str]]:
    """Candidate and reference of a data set with a small difference."""
    rng = np.random.default_rng([22, number])
    real = captions()[rng.choice(len(captions()), 2 * NEAR_SIZE, replace=False)]
    model = lines("coco_models/mle.txt")
    others = round(NEAR_SHARE * NEAR_SIZE)
    candidate = [*real[: NEAR_SIZE - others], *model[rng.choice(len(model), others, replace=False)]]
    return [candidate[place] for place in rng.permutation(NEAR_SIZE)], real[NEAR_SIZE:].tolist()


def decided(number: int, seed: int, n_resamples: int = 999) -> Record:
    """The decision about a data set with this seed."""
    candidate, reference = near(number)
    found = compare(
        reference,
        {"candidate": candidate},
        metrics=("repetition",),
        n_resamples=n_resamples,
        seed=seed,
        explain=False,
        engine=LocalEngine(1),
    )
    column = found.candidates[0]
    assert column.overall is not None
    return {"p": column.overall.adjusted, "differs": column.differs(LEVEL), "resamples": column.overall.n_resamples}


class Kept:
    """Records of earlier runs, and a file that new ones are added to; without a path nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[Key, Record] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    name, seed, record = json.loads(line)
                except ValueError:
                    continue  # cut off while it was written: made again
                self.found[name, seed] = record

    def get(self, name: str, seed: int, make: Callable[[], Record]) -> Record:
        if (name, seed) not in self.found:
            with threadpool_limits(1):
                self.found[name, seed] = make()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, seed, self.found[name, seed]]) + "\n")
        return self.found[name, seed]


def tables(kept: Kept, runs: dict[Cell, int], cells: Sequence[Cell] = CELLS) -> Iterator[list[str]]:
    """One row per cell; `runs` has the number of tables of each."""
    for cell in cells:
        began = time.process_time()
        n = runs[cell]
        if n == 0:
            continue
        records = [kept.get(cell.name, seed, lambda cell=cell, seed=seed: cell.run(seed)) for seed in range(n)]
        alarms = sum(map(is_alarm, records))
        differs = sum(any(level in ("differs", "collapsed") for level in record["levels"]) for record in records)
        starred = sum(record["stars"] > 0 for record in records)
        beside = sum(record["closer"] > 0 or "copied" in record["levels"] for record in records)
        whole = [record for record in records if record["n_metrics"] > len(_FEW)]
        contests = sum(record["contests"] > 0 for record in whole)
        print(f"{cell.name}: {alarms} of {n} ({time.process_time() - began:.0f} s)", file=sys.stderr, flush=True)
        limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / n)
        metrics = str(max(record["n_metrics"] for record in records))
        shares = [f"{count / n:.1%}" for count in (alarms, differs, starred, beside)]
        between = f"{contests / len(whole):.1%}" if cell.n_candidates > 1 else "none"
        yield [metrics, str(cell.n_candidates), str(n), *shares, f"{limit:.1%}", between]


def near_sets(kept: Kept, wanted: int) -> list[tuple[int, float]]:
    """The first data sets whose p-value, with many resamples, is near the limit."""
    chosen: list[tuple[int, float]] = []
    number = 0
    while len(chosen) < wanted:
        p = kept.get(f"near, {MANY} resamples", number, lambda number=number: decided(number, 1000, MANY))["p"]
        if NEAR[0] <= p <= NEAR[1]:
            chosen.append((number, p))
        number += 1
    return chosen


def stability(kept: Kept, n_sets: int, n_seeds: int) -> Iterator[list[str]]:
    """One row per data set, by p-value."""
    for number, p in sorted(near_sets(kept, n_sets), key=lambda found: found[1]):
        records = [
            kept.get(f"near {number}", seed, lambda number=number, seed=seed: decided(number, seed))
            for seed in range(n_seeds)
        ]
        differs = sum(record["differs"] for record in records)
        ps = [record["p"] for record in records]
        agree = max(differs, n_seeds - differs)
        print(f"near {number}: p = {p:.4f}, {differs} of {n_seeds} differ", file=sys.stderr, flush=True)
        yield [f"{p:.3f}", f"{min(ps):.3f} to {max(ps):.3f}", f"{differs} of {n_seeds}", f"{agree / n_seeds:.0%}"]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---:"] * len(header), *rows))


TEXT = """
A reference and one or six candidates, {size} captions each, all from the same source, {resamples} resamples. A table
has a false alarm if it has a star, or if a verdict claims a difference, a collapse, copies or closeness.
Wanted: at most 5 % plus two standard errors (the limit). The columns after `any false alarm` count its kinds. Contests
between candidates are a family of their own, adjusted among themselves; their share is of the tables that were measured
as a whole.{notes} Made by `python benchmarks/calibration/family_wise.py`.

{tables}

### Decisions and seeds

{size_near} captions against {size_near} others of which {share:.0%} are by a model (MLE): the first {n_near} such data
sets whose p-value is between {low} and {high}. `p` is the overall p-value with at least {many:,} resamples; the other
columns come from {seeds} seeds with 999 resamples, which the test raises by itself where p is close to the limit.
Wanted: the same decision for at least 95 % of the seeds where p is below {below} or above {above}.

{stability}
"""

ALL = " The encoder is `minilm:int8` where all metrics are measured."
WHOLE = """ With all metrics and six candidates these
are the tables in which the overall tests, or the tests of copies and closeness, give an alarm, and each tenth of the
others: no star and no sentence is possible without one of these tests."""
NONE = " Tables with all metrics were not measured with this version of the overall test."
NO_SIX = " Tables with all metrics and six candidates were not measured with this version of the overall test."


def notes(runs: dict[Cell, int]) -> str:
    """What is to be said about the rows that are there."""
    one, six = (runs[cell] for cell in CELLS if not cell.metrics)
    return NONE if not one and not six else ALL + (WHOLE if six else NO_SIX)


def section(kept: Kept, runs: dict[Cell, int], n_sets: int, n_seeds: int) -> str:
    # Cheap parts first.
    list(tables(kept, runs, CELLS[:2]))
    by_seed = list(stability(kept, n_sets, n_seeds))
    header = (
        "metrics",
        "candidates",
        "tables",
        "any false alarm",
        "difference",
        "star",
        "copies or closeness",
        "limit",
        "contests",
    )
    return TEXT.format(
        size=SIZE,
        resamples=RESAMPLES,
        tables=table(header, list(tables(kept, runs))),
        notes=notes(runs),
        size_near=NEAR_SIZE,
        share=NEAR_SHARE,
        n_near=n_sets,
        low=NEAR[0],
        high=NEAR[1],
        seeds=n_seeds,
        many=MANY,
        below=CLEAR[0],
        above=CLEAR[1],
        stability=table(("p", "p of the seeds", "differs", "same decision"), by_seed),
    )


def with_section(page: str, text: str) -> str:
    """The page with this section in place of the old one, or at its end."""
    before, found, after = page.partition(SECTION)
    rest = after[after.index(NEXT) :] if found and NEXT in after else ""
    return before.rstrip("\n") + "\n" + SECTION + text.rstrip("\n") + "\n" + rest


def shrink() -> None:
    """Sizes of a run that only shows that everything still works; every p-value is near enough to the limit."""
    global POOL, SIZE, RESAMPLES, NEAR, NEAR_SIZE, MANY
    POOL, SIZE, RESAMPLES, NEAR, NEAR_SIZE, MANY = 300, 40, 99, (0.0, 1.0), 60, 399


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="two tables per row, print the section")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"tables per row, {RUNS} unless given")
    parser.add_argument("--all", type=int, default=RUNS, help="tables per row with all metrics, as many unless given")
    parser.add_argument(
        "--six", type=int, default=RUNS, help="tables per row with six candidates, as many unless given"
    )
    chosen = parser.parse_args()
    if chosen.smoke:
        shrink()
        print(section(Kept(None), {cell: 2 if cell.n_candidates == 1 else 1 for cell in CELLS}, 1, 2))
        return
    KEPT.parent.mkdir(exist_ok=True)
    if chosen.fresh:
        KEPT.unlink(missing_ok=True)
    runs = {
        cell: min(chosen.runs, RUNS if cell.metrics else chosen.all, RUNS if cell.n_candidates == 1 else chosen.six)
        for cell in CELLS
    }
    text = section(Kept(KEPT), runs, N_NEAR, N_SEEDS)
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
