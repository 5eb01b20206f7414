"""Calibration of tests and intervals: two samples are drawn many times.

`python benchmarks/calibration/samples.py ngram|embedding [SPLITS]` draws two samples of real captions that many times
(400 by default) at two sizes, runs every metric of the family with its test and interval, and writes the first table of
docs/calibration.md or docs/calibration-embedding.md. A test that holds its level rejects at 5 % in about 5 % of the
splits. A 95 % interval holds the metric's expected value at this sample size, estimated by the mean over all splits, in
about 95 %.

With `--alternatives` it draws generated text against real text instead, without tests, and writes the section
"Generated against real" of the same page. Every draw is appended to `.benchmarks/calibration-FAMILY.jsonl`, and a run
that was stopped continues there. `--smoke` makes a few draws of each situation, prints the table and writes nothing.
"""

import argparse
import json
import os
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from itertools import repeat
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from textassay.corpus.sample import Sample
from textassay.encoders.minilm import minilm, minilm_int8
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.views import Material, Settings
from textassay.models.ngrams.ngram import train

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
DATA = SHARED / "coco"
RECORDS = ROOT / ".benchmarks"
SPLITS, LEVEL = 400, 0.95
SECTION = "## Generated against real"
ALTERNATIVE_SIZES = (100, 500)
MARKOV_TEXTS = 10_000

# The name of a situation, the size and the seed of a draw.
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Family:
    """What is calibrated: metrics, sample sizes, files of captions, the page, and a remark on the tests."""

    title: str
    specs: tuple[str, ...]
    sizes: tuple[int, int]
    files: tuple[str, ...]
    table: Path
    remark: str
    settings: Callable[[], Settings]
    more_alternatives: tuple[str, ...]
    intervals: tuple[int, int]
    """Draws of generated text with an interval, at each size; they count among the draws behind the expected value."""
    draws: int

    @property
    def requests(self) -> list[Request]:
        return parse_requests(self.specs)

    @property
    def alternative_requests(self) -> list[Request]:
        return parse_requests((*self.specs, *self.more_alternatives))


@dataclass(frozen=True)
class Row:
    """The outcome for one metric; NaN where it has no test or no interval."""

    label: str
    rejected: float
    covered: float


@dataclass(frozen=True)
class Situation:
    """Where a candidate, a reference and a training file come from; one heap for both samples where they are equal."""

    name: str
    title: str
    candidate: Callable[[], list[str]]
    reference: Callable[[], list[str]]
    train: Callable[[], list[str]]


@dataclass(frozen=True)
class Draw:
    """One metric on one draw of a situation, with its interval where one was asked for and given."""

    situation: str
    size: int
    seed: int
    metric: str
    estimate: float | None
    asked: bool
    interval: tuple[float, float] | None


@cache
def captions(files: tuple[str, ...]) -> list[str]:
    return [line for name in files for line in lines(f"coco/{name}.txt")]


@cache
def lines(file: str) -> list[str]:
    """The texts of a data file that are not blank."""
    return [line for line in (SHARED / file).read_text(encoding="utf-8").split("\n") if line.strip()]


@cache
def markov_news() -> list[str]:
    """Sentences of a Markov model of order 3 that has read the news sentences of the training file."""
    model = train(lines("news/valid.txt"), order=3)
    return model.sample(MARKOV_TEXTS, max_tokens=60, rng=np.random.default_rng(0))


@cache
def minilm_settings() -> Settings:
    """Settings whose encoder knows all captions; made in the parent, so that workers inherit the vectors."""
    encoder = minilm()
    return Settings(encoder=remember(encoder, captions(("test",)), store=open_store(encoder)))


@cache
def int8_settings() -> Settings:
    """Settings whose encoder knows all texts of all situations."""
    encoder = minilm_int8()
    texts = [text for each in SITUATIONS for source in (each.candidate, each.reference) for text in source()]
    return Settings(encoder=remember(encoder, texts, store=open_store(encoder)))


def _file(name: str) -> Callable[[], list[str]]:
    return lambda: lines(name)


SITUATIONS = (
    Situation("real", "real captions", *(_file("coco/test.txt"),) * 2, _file("coco/train.txt")),
    *(
        Situation(
            name,
            f"{title} captions",
            _file(f"coco_models/{name}.txt"),
            _file("coco_models/real_test.txt"),
            _file("coco_models/real_train.txt"),
        )
        for name, title in (("mle", "MLE"), ("leakgan", "LeakGAN"), ("textgan", "TextGAN"))
    ),
    Situation("markov", "Markov news", markov_news, _file("news/test.txt"), _file("news/valid.txt")),
)


def _answers(model: str) -> Callable[[], list[str]]:
    return lambda: answers(model)


@cache
def answers(model: str) -> list[str]:
    """The outputs of a language model, one per instruction."""
    rows = json.loads((SHARED / "llm" / f"{model}.json").read_text(encoding="utf-8"))
    return [row["output"] for row in rows if row["output"].strip()]


ANSWERS = (
    Situation("gpt-3.5", "GPT-3.5 v GPT-4", _answers("gpt-3.5-turbo-1106"), *(_answers("gpt4_0613"),) * 2),
    Situation("gpt-4o", "GPT-4o v GPT-4", _answers("gpt-4o-2024-05-13"), *(_answers("gpt4_0613"),) * 2),
)
ANSWER_SIZES, ANSWER_DRAWS = (100, 200), 100

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
        ("bleu:n=2", "self_bleu:n=2", "reverse_bleu:n=2", "ms_jaccard:n=2", "cnd:n=1", "distinct:n=1", "distinct:n=4",
         "entropy:n=1", "copying"),
        (200, 200),
        300,
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
        ("energy:variant=u", "mauve:variant=star",
         "frontier_integral", "frontier_integral:variant=star"),
        (200, 100),
        200,
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
    """Write the table of real against real; the section on generated text stays."""
    family = FAMILIES[name]
    small, large = family.sizes
    text = [
        f"# Calibration of {family.title}",
        "",
        f"Two samples of {small:,} real COCO captions, and of {large:,}, drawn {splits} times each; {family.remark};",
        "999 permutations per test. Wanted: tests that reject in about 5 % of the splits, and intervals that hold the",
        "metric's expected value at this sample size (the mean over all splits) in about 95 %. Made by",
        f"`python benchmarks/calibration/samples.py {name}`.",
        "",
        f"| metric | test rejects, n = {small:,} | interval covers | test rejects, n = {large:,} | interval covers |",
        "|---|---:|---:|---:|---:|",
    ]
    for pair in zip(*rows, strict=True):
        cells = [pair[0].label]
        for row in pair:
            cells.append("no test" if np.isnan(row.rejected) else f"{row.rejected:.1%}")
            cells.append("no interval" if np.isnan(row.covered) else f"{row.covered:.1%}")
        text.append(f"| {' | '.join(cells)} |")
    _, mark, section = family.table.read_text(encoding="utf-8").partition(f"\n{SECTION}\n")
    family.table.write_text("\n".join(text) + "\n" + mark + section, encoding="utf-8")


def drawn_roles(situation: Situation, size: int, seed: int, settings: Settings) -> dict[str, Material]:
    """A candidate and a reference of this size, drawn without replacement, and the whole training file."""
    rng = np.random.default_rng([seed, size, [each.name for each in (*SITUATIONS, *ANSWERS)].index(situation.name)])
    heap, others = situation.candidate(), situation.reference()
    if heap is others:
        places = rng.choice(len(heap), 2 * size, replace=False)
        chosen = {"candidate": places[:size], "reference": places[size:]}
    else:
        chosen = {"candidate": rng.choice(len(heap), size, replace=False)}
        chosen["reference"] = rng.choice(len(others), size, replace=False)
    made = {}
    for role, source in (("candidate", heap), ("reference", others)):
        made[role] = Material(Sample.of([source[place] for place in chosen[role]], name=role), settings)
    return made | {"train": _trained_on(situation.name)}


@cache
def _trained_on(name: str) -> Material:
    source = next(each.train for each in (*SITUATIONS, *ANSWERS) if each.name == name)
    return Material(Sample.of(source(), name="train"))


def draw_metrics(
    requests: Sequence[Request], situation: Situation, size: int, seed: int, *, settings: Settings, intervals: bool
) -> Iterator[Draw]:
    """These metrics on one draw."""
    roles = drawn_roles(situation, size, seed, settings)
    plan = Plan(level=LEVEL, seed=seed, n_resamples=int(intervals))
    with threadpool_limits(1):
        results = measure(requests, roles, plan=plan, test=False).results
    for request, found in zip(requests, results, strict=True):
        estimate = None if np.isnan(found.estimate) else found.estimate
        bounds = (found.interval.low, found.interval.high) if found.interval else None
        yield Draw(situation.name, size, seed, request.label, estimate, intervals, bounds)


def recorded(file: Path | None) -> dict[Place, dict[str, Draw]]:
    """What earlier runs wrote, by draw and metric; a line that was cut off does not count, and is ended."""
    known: dict[Place, dict[str, Draw]] = defaultdict(dict)
    if file is not None and file.exists():
        written = file.read_text(encoding="utf-8")
        if not written.endswith("\n"):
            file.write_text(written + "\n", encoding="utf-8")
        for line in written.splitlines():
            if line.endswith("}"):
                draw = Draw(**json.loads(line))
                known[draw.situation, draw.size, draw.seed][draw.metric] = draw
    return known


def all_draws(name: str, *, intervals: tuple[int, int], draws: int, file: Path | None) -> Iterator[Draw]:
    """Every metric on every draw of every situation; what no earlier run wrote is measured and appended to the file."""
    requests = FAMILIES[name].alternative_requests
    settings = Settings() if name == "ngram" else int8_settings()
    known = recorded(file)
    for size, asked in zip(ALTERNATIVE_SIZES, intervals, strict=True):
        for situation in SITUATIONS:
            for seed in range(draws):
                here = known[situation.name, size, seed]
                wanted = seed < asked
                missing = [r for r in requests if r.label not in here or (wanted and not here[r.label].asked)]
                if missing:
                    made = draw_metrics(missing, situation, size, seed, settings=settings, intervals=wanted)
                    new = {draw.metric: draw for draw in made}
                    here |= new
                    if file is not None:
                        with file.open("a", encoding="utf-8") as target:
                            target.writelines(json.dumps(asdict(draw)) + "\n" for draw in new.values())
                yield from here.values()
            print(f"{situation.name}, n = {size}: done", file=sys.stderr, flush=True)


def coverage(draws: Iterable[Draw]) -> dict[tuple[str, int, str], float]:
    """The share of intervals that hold the mean over all draws, by situation, size and metric.

    Not a number where fewer than half of the draws have an interval.
    """
    by_place: dict[tuple[str, int, str], list[Draw]] = defaultdict(list)
    for draw in draws:
        by_place[draw.situation, draw.size, draw.metric].append(draw)
    found = {}
    for place, here in by_place.items():
        expected = float(np.mean([draw.estimate for draw in here if draw.estimate is not None] or [np.nan]))
        held = [draw.interval[0] <= expected <= draw.interval[1] for draw in here if draw.interval is not None]
        found[place] = float(np.mean(held)) if 2 * len(held) >= sum(draw.asked for draw in here) else float("nan")
    return found


def alternatives_section(
    name: str, found: dict[tuple[str, int, str], float], *, intervals: tuple[int, int], draws: int
) -> str:
    """The table of coverage: one row per metric, one column per situation and size."""
    places = [(situation, size) for situation in SITUATIONS for size in ALTERNATIVE_SIZES]
    heads = [f"{situation.title}, n = {size}" for situation, size in places]
    small, large = ALTERNATIVE_SIZES
    encoder = "; vectors by `minilm:int8`" if name == "embedding" else ""
    about = f"""
        Share of 95 % intervals that hold the metric's expected value at this sample size: {intervals[0]} intervals in
        each cell at n = {small} and {intervals[1]} at n = {large}, the expected value from {draws} draws{encoder}.
        Candidates and references are drawn anew each time. The first situation is real captions against real captions.
        The captions of three generators are measured against the captions that the generators were tested on. MLE
        repeats hardly any text; LeakGAN's 500 texts repeat as often as 190 equally frequent ones, TextGAN's as often
        as 9. The news sentences are written by a Markov model of order 3 and measured against other news sentences.
        `no interval` means that most samples are too poor for one (see the metric's page). A coverage of 95 % is known
        to about 3 points with 200 intervals and to 4 with 100. Made by
        `python benchmarks/calibration/samples.py {name} --alternatives`.
    """
    text = [
        SECTION,
        "",
        textwrap.fill(" ".join(about.split()), 120, break_on_hyphens=False),
        "",
        f"| metric | {' | '.join(heads)} |",
        "|---|" + "---:|" * len(heads),
    ]
    for request in FAMILIES[name].alternative_requests:
        shares = [found[situation.name, size, request.label] for situation, size in places]
        text.append(f"| {request.label} | {' | '.join(map(_percentage, shares))} |")
    return "\n".join(text) + "\n"


def calibrate_alternatives(name: str, *, smoke: bool) -> None:
    """Draw, and print the section; it replaces the one of the page unless this is a smoke run."""
    family = FAMILIES[name]
    intervals, draws = ((2, 2), 3) if smoke else (family.intervals, family.draws)
    RECORDS.mkdir(exist_ok=True)
    file = None if smoke else RECORDS / f"calibration-{name}.jsonl"
    made = all_draws(name, intervals=intervals, draws=draws, file=file)
    section = alternatives_section(name, coverage(made), intervals=intervals, draws=draws)
    print(section)
    if not smoke:
        page = family.table
        first, _, _ = page.read_text(encoding="utf-8").partition(f"\n{SECTION}\n")
        page.write_text(f"{first.rstrip()}\n\n{section}", encoding="utf-8")


ANSWERS_HEADING, NEXT_HEADING = "\n## Answers of language models\n", "\n## "


def calibrate_answers(*, smoke: bool) -> None:
    """Coverage on outputs of language models; the section replaces the one of the page unless this is a smoke run."""
    family, draws = FAMILIES["ngram"], 3 if smoke else ANSWER_DRAWS
    places = [(situation, size) for situation in ANSWERS for size in ANSWER_SIZES]
    made = [
        draw
        for situation, size in places
        for seed in range(draws)
        for draw in draw_metrics(
            family.alternative_requests, situation, size, seed, settings=Settings(), intervals=True
        )
    ]
    found = coverage(made)
    about = f"""
        Share of 95 % intervals that hold the metric's expected value at this sample size, {draws} draws of outputs of
        language models per cell. They have lists, tables and code. A few texts make a large part of some sums over
        n-grams, and a sample without such a text does not show how much larger its value could have been. So intervals
        of `nrr`, `cnd` and `cr` hold the expected value less often than on captions. Made by
        `python benchmarks/calibration/samples.py --answers`.
    """
    rows = [
        [request.label, *(_percentage(found[situation.name, size, request.label]) for situation, size in places)]
        for request in family.alternative_requests
    ]
    heads = ["metric", *(f"{situation.title}, n = {size}" for situation, size in places)]
    lines_ = [
        textwrap.fill(" ".join(about.split()), 120, break_on_hyphens=False),
        "",
        *(f"| {' | '.join(cells)} |" for cells in (heads, ["---", *(["---:"] * len(places))], *rows)),
    ]
    section = "\n".join(lines_)
    print(section)
    if not smoke:
        before, _, after = family.table.read_text(encoding="utf-8").partition(ANSWERS_HEADING)
        rest = "".join(after.partition(NEXT_HEADING)[1:])
        family.table.write_text(f"{before.rstrip()}\n{ANSWERS_HEADING}\n{section}\n{rest}", encoding="utf-8")


def _percentage(share: float) -> str:
    return "no interval" if np.isnan(share) else f"{share:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibrate the tests and intervals of a family of metrics.")
    parser.add_argument("family", nargs="?", choices=FAMILIES, default="ngram")
    parser.add_argument("splits", nargs="?", type=int, default=SPLITS)
    parser.add_argument("--alternatives", action="store_true", help="generated text against real text")
    parser.add_argument("--answers", action="store_true", help="outputs of language models, intervals only")
    parser.add_argument("--smoke", action="store_true", help="a few draws, nothing written")
    given = parser.parse_args()
    if given.answers:
        calibrate_answers(smoke=given.smoke)
        return
    if given.alternatives:
        calibrate_alternatives(given.family, smoke=given.smoke)
        return
    splits = 2 if given.smoke else given.splits
    first, second = (calibrate(splits, size, given.family) for size in FAMILIES[given.family].sizes)
    if given.smoke:
        print(*first, *second, sep="\n")
        return
    write_table(given.family, (first, second), splits)
    print(f"\n{FAMILIES[given.family].table.read_text(encoding='utf-8')}")


if __name__ == "__main__":
    main()
