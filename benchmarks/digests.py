"""Evidence on digests: level and power of the overall test on blocks, metrics of sketches, and sizes of files.

    python benchmarks/digests.py            # the whole study; continues where it stopped (about an hour of one core)
    python benchmarks/digests.py --smoke    # a few seconds, writes nothing
    python benchmarks/digests.py --page     # only writes the page, with the draws that are there

A run of level or power draws two samples without overlap, damages a share of one of them, and tests them three times:
as texts (the overall test without vectors), as digests with exact counts, and as digests with sketches. Results are
appended to a file with one JSON object per line. A run that is in the file is not repeated.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import textassay as ta
from textassay.corpus.arrays import F64
from textassay.corpus.sample import Sample, stream
from textassay.digests.digest import digest_sample
from textassay.digests.file import digest_bytes
from textassay.digests.statistics import Layout
from textassay.encoders.base import Encoder, get_encoder
from textassay.inference.overall.bank import BANK, bank_statistics
from textassay.inference.overall.of_digests import digest_test
from textassay.inference.overall.test import OverallPlan, combine
from textassay.inference.p_values import at_least
from textassay.inference.permutation import design_of
from textassay.metrics.views import Material, Pool, Settings

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "digests.jsonl"
PAGE = ROOT / "docs" / "digests-evidence.md"
SIZES = (10_000, 100_000, 1_000_000)
SKETCH, EXCHANGES, LEVEL = 65_536, 199, 0.95
LEVEL_RUNS, POWER_RUNS = 400, 60
SEED = 33

Texts = list[str]


@dataclass(frozen=True)
class Cell:
    """One situation: where texts come from, how many there are in the candidate and the reference, and what differs."""

    corpus: str
    sizes: tuple[int, int]
    damage: str = "none"
    share: float = 0.0
    # Digests with sums of static vectors.
    vectors: bool = False

    @property
    def runs(self) -> int:
        return POWER_RUNS if self.share else LEVEL_RUNS


CELLS = (
    Cell("captions", (1000, 1000)),
    Cell("news", (1000, 1000)),
    Cell("captions", (500, 1500)),
    Cell("captions", (500, 500), vectors=True),
    Cell("captions", (1000, 1000), "last word cut", 0.05),
    Cell("captions", (1000, 1000), "is to was", 0.2),
    Cell("captions", (1000, 1000), "repeats", 0.04),
    Cell("captions", (1000, 1000), "model texts", 0.12),
    Cell("captions", (1000, 1000), "news texts", 0.03),
    Cell("captions", (1000, 1000), "words swapped", 0.25),
)


def read(name: str) -> Texts:
    return [line for line in (DATA / f"{name}.txt").read_text(encoding="utf-8").split("\n") if line.strip()]


def real_texts(corpus: str) -> Texts:
    return read("coco/train") + read("coco/test") if corpus == "captions" else read("news/valid") + read("news/test")


def damaged(texts: Texts, cell: Cell, other: Texts, rng: np.random.Generator) -> Texts:
    """The texts with a share of them damaged."""
    m = round(cell.share * len(texts))
    if cell.damage == "repeats":
        return [texts[k] for k in rng.integers(m, len(texts), m)] + texts[m:]
    if cell.damage in ("model texts", "news texts"):
        return [other[k] for k in rng.choice(len(other), m, replace=False)] + texts[m:]
    changes: dict[str, Callable[[str], str]] = {
        "last word cut": lambda text: " ".join([*text.split()[:-2], *text.split()[-1:]]),
        "is to was": lambda text: text.replace(" is ", " was ").replace(" are ", " were "),
        "words swapped": lambda text: swapped(text.split(), rng),
    }
    return [changes[cell.damage](text) for text in texts[:m]] + texts[m:]


def swapped(words: Texts, rng: np.random.Generator) -> str:
    one, other = rng.choice(len(words), 2, replace=False) if len(words) > 1 else (0, 0)
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def draw(cell: Cell, real: Texts, other: Texts, run: int) -> tuple[Texts, Texts]:
    """Candidate and reference of a run."""
    rng = stream(SEED, cell.corpus, str(cell.sizes), cell.damage, run)
    n, m = cell.sizes
    chosen = [real[k] for k in rng.choice(len(real), n + m, replace=False)]
    return damaged(chosen[:n], cell, other, rng) if cell.share else chosen[:n], chosen[n:]


def p_values(cell: Cell, candidate: Texts, reference: Texts, run: int) -> dict[str, float]:
    """The p-values of the overall test on digests, and on texts where the texts are damaged."""
    sides = Sample.of(candidate, name="candidate"), Sample.of(reference, name="reference")
    plan, settings = OverallPlan(LEVEL, EXCHANGES, seed=run), Settings(encoder=encoder() if cell.vectors else None)
    found = {"texts": p_value_of_texts(*sides, run)} if cell.share else {}
    for name, layout in (("exact digests", Layout()), ("sketches", Layout(sketch=SKETCH))):
        one, other = (digest_sample(side, settings, layout=layout) for side in sides)
        p = digest_test(one, other, plan=plan).p_value
        assert p is not None
        found[name] = p
    return found


@cache
def encoder() -> Encoder:
    return get_encoder("static", reference=Sample.of([], name="none"), candidates={})


def p_value_of_texts(candidate: Sample, reference: Sample, run: int) -> float:
    """The p-value of the overall test on texts, without vectors."""
    settings = Settings()
    pool = Pool((Material(candidate, settings), Material(reference, settings)))
    design = design_of(candidate, reference, seed=run)
    members = [member for member in BANK if not member.reads_vectors]
    rows = bank_statistics(pool, design, design.labellings(EXCHANGES, run), members=members)
    return float(at_least(combine(rows, members=members))[0] / rows.shape[1])


def key_of(cell: Cell) -> str:
    vectors = " vectors" if cell.vectors else ""
    return f"{cell.corpus} {cell.sizes[0]}v{cell.sizes[1]} {cell.damage} {cell.share}{vectors}"


def recorded() -> dict[tuple[str, int], dict[str, float]]:
    """The p-values of the runs in the file."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.is_file() else []
    return {(row["cell"], row["run"]): row["p"] for row in map(json.loads, lines)}


def missing(cells: Sequence[Cell]) -> Iterator[tuple[Cell, int]]:
    """The runs that are not in the file; some of each cell in turn, so that an unfinished study is balanced."""
    known = recorded()
    rounds = max(-(-cell.runs // at_once(cell)) for cell in cells)
    for number in range(rounds):
        for cell in cells:
            for run in range(number * at_once(cell), min((number + 1) * at_once(cell), cell.runs)):
                if (key_of(cell), run) not in known:
                    yield cell, run


def at_once(cell: Cell) -> int:
    """Runs of a cell before those of the next one."""
    return -(-cell.runs // 10)


def study(cells: Sequence[Cell]) -> None:
    real = {corpus: real_texts(corpus) for corpus in ("captions", "news")}
    other = {"model texts": read("coco_models/mle"), "news texts": real["news"]}
    RESULTS.parent.mkdir(exist_ok=True)
    for cell, run in missing(cells):
        sides = draw(cell, real[cell.corpus], other.get(cell.damage, []), run)
        found = p_values(cell, *sides, run)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"cell": key_of(cell), "run": run, "p": found}) + "\n")


def of_models(names: Sequence[str], size: int) -> list[str]:
    """CND and MMD of models against real texts: exact, from digests with exact counts, and from sketches."""
    real = Sample.of(read("coco_models/real_test")[:size], name="real")
    lines = []
    for name in names:
        model = Sample.of(read(f"coco_models/{name}")[:size], name=name)
        exact = ta.compare(
            real, {name: model}, metrics=["cnd", "frechet"], encoder=encoder(), n_resamples=0, size="all"
        )[name]
        settings = Settings(encoder=encoder())
        sides = [digest_sample(each, settings, layout=Layout(sketch=SKETCH)) for each in (model, real)]
        found = ta.compare(sides[1], {name: sides[0]}, metrics=["cnd", "mmd", "frechet"], n_resamples=0)[name]
        vectors = [encoder().encode(each.texts.to_pylist()).astype(np.float64) for each in (model, real)]
        mmd = mmd_of_all_pairs(*vectors, found["mmd"].parts["bandwidth"])
        pairs = (exact["cnd"].estimate, found["cnd"].estimate), (mmd, found["mmd"].estimate)
        pairs = (*pairs, (exact["frechet"].estimate, found["frechet"].estimate))
        cells = " | ".join(f"{one:.5g} | {other:.5g} | {100 * (other / one - 1):+.2f} %" for one, other in pairs)
        lines.append(f"| {name} | {cells} |")
        print(lines[-1], flush=True)
    return lines


def mmd_of_all_pairs(one: F64, other: F64, bandwidth: float) -> float:
    """The squared maximum mean discrepancy over all pairs, some rows at a time."""

    def mean(left: F64, right: F64) -> float:
        total = 0.0
        for begin in range(0, len(left), 1000):
            rows = left[begin : begin + 1000]
            squares = (rows**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * rows @ right.T
            total += float(np.exp(-squares / 2 / bandwidth**2).sum())
        return total / len(left) / len(right)

    return mean(one, one) + mean(other, other) - 2 * mean(one, other)


def sizes_of_files(sizes: Sequence[int]) -> list[str]:
    """Megabytes of digests with exact counts and of sketches, without and with vectors, by number of texts."""
    lines = []
    for size in sizes:
        texts = Sample.of(recombined(size), name="recombined")
        found = [
            digest_bytes(digest_sample(texts, Settings(), layout=each)) for each in (Layout(), Layout(sketch=SKETCH))
        ]
        few = Sample.of(texts.texts.slice(0, min(size, 10_000)), name="recombined")
        sketch = digest_sample(few, Settings(encoder=encoder()), layout=Layout(sketch=SKETCH))
        vectors = len(digest_bytes(sketch)) - len(
            digest_bytes(digest_sample(few, Settings(), layout=Layout(sketch=SKETCH)))
        )
        shown = [f"{len(each) / 1e6:.2f}" for each in found]
        lines.append(f"| {size:,} | {' | '.join(shown)} | {(len(found[1]) + vectors) / 1e6:.2f} |")
        print(lines[-1], flush=True)
    return lines


def recombined(size: int) -> Texts:
    """The first half of one caption and the second half of another."""
    words = [line.split() for line in read("coco/train")]
    pairs = np.random.default_rng(1).integers(0, len(words), (size, 2))
    return [" ".join(words[i][: (len(words[i]) + 1) // 2] + words[j][len(words[j]) // 2 :]) for i, j in pairs]


def table_of_tests() -> Iterator[str]:
    """Rows of the table of levels and powers."""
    rows = recorded()
    for cell in CELLS:
        mine = [p for (key, _), p in rows.items() if key == key_of(cell)]
        if not mine:
            continue
        what = "real texts" + (", with static vectors" if cell.vectors else "")
        what = what if not cell.share else f"{cell.damage}, {100 * cell.share:g} %"
        shares = [shown_share([p[name] for p in mine if name in p]) for name in ("texts", "exact digests", "sketches")]
        yield f"| {cell.corpus} | {cell.sizes[0]:,} v {cell.sizes[1]:,} | {what} | {len(mine)} | {' | '.join(shares)} |"


def shown_share(p: Sequence[float]) -> str:
    return "" if not p else f"{100 * sum(each <= 1 - LEVEL + 1e-12 for each in p) / len(p):.1f} %"


HEAD = """\
# Evidence on digests

Made by `python benchmarks/digests.py`. Sketches have 65,536 counters, all digests have 40 blocks.

## Level and power of the overall test

How often the test with 199 exchanges (more where the p-value is close to 0.05) rejects at level 5 %, among draws.
Captions are MS-COCO, news are WMT sentences; a stated share of the candidate's texts is damaged. The test on texts is
the one without vectors. By chance a rate of 5 % is seen with a standard error of 1.1 % in 400 draws, 2.8 % in 60 and
3.4 % in 40. A sketch has few counters per block for word pairs, so it sees word order far less than the texts do.

| corpus | texts | what differs | draws | test on texts | digests, exact counts | sketches |
|---|---|---|---|---|---|---|
"""
MODELS = """
## Values from sketches

Models of Texygen against the real test captions, 9,984 v 10,000, static vectors. MMD of all pairs is computed at the
same bandwidth.

| model | cnd-2 | sketch | off by | mmd | digest | off by | frechet | digest | off by |
|---|---|---|---|---|---|---|---|---|---|
"""
SIZES_HEAD = """
## Size of files

Megabytes of the digest of recombined captions (the first half of one and the second half of another), as written.

| texts | exact counts | sketch | sketch with static vectors |
|---|---|---|---|
"""


def write_page(models: Sequence[str], sizes: Sequence[str]) -> None:
    parts = [HEAD, *(f"{row}\n" for row in table_of_tests()), MODELS, *(f"{row}\n" for row in models)]
    PAGE.write_text("".join([*parts, SIZES_HEAD, *(f"{row}\n" for row in sizes)]), encoding="utf-8")


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="very small inputs; writes nothing")
    ask.add_argument("--page", action="store_true", help="only write the page")
    asked = ask.parse_args()
    if asked.smoke:
        real = real_texts("captions")
        for cell in (CELLS[0], CELLS[4]):
            small = replace(cell, sizes=(60, 60))
            print(p_values(small, *draw(small, real, [], 0), 0))
        of_models(["mle"], 60)
        sizes_of_files([200])
        return
    if not asked.page:
        study(CELLS)
    write_page(of_models(["mle", "seqgan", "rankgan", "maligan", "leakgan", "textgan"], 10_000), sizes_of_files(SIZES))


if __name__ == "__main__":
    main()
