"""Does the overall test hold its level where texts are in groups, and are such texts noticed without being told?

`python benchmarks/calibration/designs.py` draws two samples of one source again and again, in every design of
`designs.py`, and writes docs/calibration-designs.md: how often the overall test rejects at 5 % with and without
groups, how often it finds a stock prefix in 15 % of one side's texts, and how often the dependence warning appears.
Every draw has its own seed. Results are kept in .benchmarks/calibration_designs.jsonl, so that a run that was stopped
goes on where it was; `--fresh` begins anew. `--smoke` makes one draw of each kind, and prints the page. `--runs N`
makes fewer draws per level; the page has the number of draws that were made.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import design_texts as designs
import numpy as np
from design_texts import (
    GROUPED,
    INDEPENDENT,
    PREFIX_SHARES,
    REPLIES,
    SHARED,
    UNEQUAL,
    Design,
    captions,
    images,
    independent,
    independent_designs,
    news,
    shuffled,
    ungrouped,
    with_prefix,
)
from threadpoolctl import threadpool_limits

from textassay.corpus.sample import Sample
from textassay.corpus.sizes import cut_samples
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.minilm import minilm, minilm_int8
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store
from textassay.inference.dependence import check_dependence
from textassay.inference.overall.bank import bank_description
from textassay.inference.overall.test import Overall, OverallPlan, level_beside, overall_test
from textassay.inference.p_values import is_significant
from textassay.metrics.views import Material, Settings

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".benchmarks" / "calibration_designs.jsonl"
PAGE = ROOT / "docs" / "calibration-designs.md"
LEVEL, RESAMPLES = 0.95, 199
RUNS, PLAIN_RUNS, POWER_RUNS, WARNING_RUNS, SHUFFLED_RUNS, CLOSER_RUNS = 400, 50, 30, 200, 50, 100
# A level further than two standard errors from 5 % may be chance: so many draws in all show whether it is.
MANY_RUNS = 1600
ENCODED, ENCODED_IMAGES = 4000, None
ENCODER = minilm

Key = tuple[str, str, str, int]


def encoded_captions() -> Any:
    """The captions whose vectors are kept, few enough to encode them all."""
    return captions()[:ENCODED]


WITH_ENCODER = (
    *independent_designs(encoded_captions),
    *(design for design in (*GROUPED, *SHARED) if design.name in ("images", "same images")),
)
CHECKED = tuple(
    Design(name, f"{size:,} v {size:,} {what}", independent(source, (size, size)))
    for name, what, source in (("captions", "captions", captions), ("news", "sentences of news text", news))
    for size in (100, 500, 2000)
)


@dataclass(frozen=True)
class Job:
    """One kind of draw and what is done with it; `part` and `way` name the row and the column of the page."""

    part: str
    design: Design
    way: str
    runs: int
    run: Callable[[Design, int], Any]

    def key(self, seed: int) -> Key:
        """What a result is kept under; tests by another bank are other results."""
        what = f"{self.design.name}: {self.design.texts}"
        bank = bank_description(vectors=self.run is with_encoder)
        return self.part, what if "warning" in self.part else f"{what} ({bank})", self.way, seed


@cache
def encoder_settings() -> Settings:
    """Settings with the vectors of all texts that are tested with an encoder."""
    encoder = ENCODER()
    texts = [*encoded_captions(), *REPLIES, *(text for image in images()[:ENCODED_IMAGES] for text in image)]
    return Settings(encoder=remember(encoder, texts, store=open_store(encoder)))


def drawn(design: Design, seed: int) -> tuple[Sample, Sample, np.random.Generator]:
    """The same two samples for every way to look at them, and a stream for what is done to them."""
    rng = np.random.default_rng([seed, *design.name.encode()])
    return *design.draw(rng), rng


def p_of(candidate: Sample, reference: Sample, seed: int, settings: Settings | None = None) -> float | None:
    """The p-value of the overall test."""
    return overall_of(candidate, reference, seed, settings).p_value


def overall_of(candidate: Sample, reference: Sample, seed: int, settings: Settings | None = None) -> Overall:
    """The overall test of the texts that `compare` tests: equally many of each group where the sizes differ."""
    settings = settings or Settings()
    cut = cut_samples(reference, {"a": candidate}, size="all", seed=seed, baseline=False)
    parts = [Material(side, settings) for side in cut.tested["a"]]
    return overall_test(parts[0], parts[1], plan=OverallPlan(LEVEL, RESAMPLES, seed))


def called_closer(design: Design, seed: int) -> float | None:
    """The p-value of the samples being closer than two independent ones are."""
    candidate, reference, _ = drawn(design, seed)
    return overall_of(candidate, reference, seed).closer


def plain(design: Design, seed: int) -> float | None:
    candidate, reference, _ = drawn(design, seed)
    return p_of(ungrouped(candidate), ungrouped(reference), seed)


def by_design(design: Design, seed: int) -> float | None:
    candidate, reference, _ = drawn(design, seed)
    return p_of(candidate, reference, seed)


def with_encoder(design: Design, seed: int) -> float | None:
    candidate, reference, _ = drawn(design, seed)
    return p_of(candidate, reference, seed, encoder_settings())


def prefixed(share: float, *, grouped: bool) -> Callable[[Design, int], float | None]:
    """The test of a candidate with the stock prefix in this share of its texts."""

    def run(design: Design, seed: int) -> float | None:
        candidate, reference, rng = drawn(design, seed)
        samples = with_prefix(candidate, rng, share), reference
        return p_of(*(samples if grouped else map(ungrouped, samples)), seed)

    return run


def warned(design: Design, seed: int) -> list[str]:
    candidate, reference, _ = drawn(design, seed)
    return _kinds(ungrouped(candidate), ungrouped(reference), seed)


def warned_shuffled(design: Design, seed: int) -> list[str]:
    candidate, reference, rng = drawn(design, seed)
    return _kinds(shuffled(ungrouped(candidate), rng), shuffled(ungrouped(reference), rng), seed)


def _kinds(candidate: Sample, reference: Sample, seed: int) -> list[str]:
    found = check_dependence(candidate, reference, tokenizer=get_tokenizer(), seed=seed)
    return sorted({warning.kind for warning in found})


def all_jobs() -> list[Job]:
    """Everything on the page, the cheapest first."""
    grouped = (*GROUPED, *SHARED)
    return [
        *(Job("warning", design, "as drawn", WARNING_RUNS, warned) for design in grouped),
        *(Job("warning", design, "shuffled", SHUFFLED_RUNS, warned_shuffled) for design in grouped),
        *(
            Job(f"power {share}", design, way, POWER_RUNS, prefixed(share, grouped=way == "by design"))
            for share in PREFIX_SHARES
            for way in ("plain", "by design")
            for design in grouped
        ),
        *(Job("level", design, "by design", RUNS, by_design) for design in UNEQUAL),
        *(Job("closer", design, "by design", CLOSER_RUNS, called_closer) for design in UNEQUAL),
        *(Job("level", design, "plain", PLAIN_RUNS, plain) for design in (*UNEQUAL, *grouped)),
        *(Job("level", design, "by design", RUNS, by_design) for design in grouped),
        *(Job("level", design, "plain", RUNS, plain) for design in INDEPENDENT),
        *(Job("level", design, "with encoder", RUNS, with_encoder) for design in WITH_ENCODER),
        *(Job("false warning", design, "as drawn", WARNING_RUNS, warned) for design in CHECKED),
    ]


def kept(path: Path) -> dict[Key, Any]:
    """What earlier runs found; a line that was cut off while it was written is made again."""
    found: dict[Key, Any] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                part, design, way, seed, value = json.loads(line)
            except ValueError:
                continue
            found[part, design, way, seed] = value
    return found


def work(jobs: list[Job], found: dict[Key, Any], path: Path | None, many: int = MANY_RUNS) -> Iterator[str]:
    """Do what is missing, line by line; yields a sentence per finished job."""
    for job in jobs:
        began = time.process_time()
        draw(job, found, path)
        if is_at_the_edge(job, found):
            draw(replace(job, runs=many), found, path)
        yield f"{job.part}, {job.design.name}, {job.way}: {summary(job, found)} ({time.process_time() - began:.0f} s)"


def draw(job: Job, found: dict[Key, Any], path: Path | None) -> None:
    """Make the draws that are missing, and keep each at once."""
    for seed in range(job.runs):
        if job.key(seed) in found:
            continue
        with threadpool_limits(1):
            found[job.key(seed)] = value = job.run(job.design, seed)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([*job.key(seed), value]) + "\n")


def is_at_the_edge(job: Job, found: dict[Key, Any]) -> bool:
    """Whether this is a level that should be 5 %, and is far enough from it to look twice."""
    if job.part != "level" or (job.way == "plain" and job.design.use):
        return False
    return abs(rejected(job, found) / job.runs - 0.05) > 2 * math.sqrt(0.05 * 0.95 / job.runs)


def made(job: Job, found: dict[Key, Any], most: int) -> int:
    """How many draws there are, without a gap."""
    return next((seed for seed in range(most) if job.key(seed) not in found), most)


def values(job: Job, found: dict[Key, Any]) -> list[Any]:
    return [found[job.key(seed)] for seed in range(job.runs)]


def summary(job: Job, found: dict[Key, Any]) -> str:
    """Rejections or warnings out of the runs."""
    if "warning" in job.part:
        kinds = Counter(kind for value in values(job, found) for kind in value)
        any_kind = sum(bool(value) for value in values(job, found))
        return f"{any_kind} of {job.runs}" + (f" {dict(kinds)}" if kinds else "")
    return f"{rejected(job, found)} of {job.runs} ({level(job, found)})"


def level(job: Job, found: dict[Key, Any]) -> str:
    """The share of rejections, and of many more draws where that was done."""
    runs, many = (made(job, found, most) for most in (job.runs, MANY_RUNS))
    share = f"{rejected(replace(job, runs=runs), found) / runs:.1%} of {runs:,}"
    if many == runs or not is_at_the_edge(replace(job, runs=runs), found):
        return share
    return f"{share}; {rejected(replace(job, runs=many), found) / many:.1%} of {many:,}"


def rejected(job: Job, found: dict[Key, Any]) -> int:
    level = level_beside(LEVEL) if job.part == "closer" else LEVEL
    return sum(is_significant(p, level) for p in values(job, found))


def page(jobs: list[Job], found: dict[Key, Any]) -> str:
    """The documentation page."""
    at = {(job.part, job.design.name, job.design.texts, job.way): job for job in jobs}

    def cell(part: str, design: Design, way: str) -> str:
        job = at.get((part, design.name, design.texts, way))
        if job is None:
            return ""
        if "warning" in part:
            return f"{sum(bool(value) for value in values(job, found))} of {job.runs}"
        return level(job, found) if part == "level" else f"{rejected(job, found)} of {job.runs}"

    def kinds(design: Design) -> str:
        job = at["warning", design.name, design.texts, "as drawn"]
        seen = Counter(kind for value in values(job, found) for kind in value)
        return ", ".join(f"{kind} {count}" for kind, count in seen.most_common())

    grouped = (*GROUPED, *SHARED)
    tables = {
        "encoder": [[d.name, d.texts, option(d), cell("level", d, "with encoder")] for d in WITH_ENCODER],
        "power": [
            [
                d.name,
                d.texts,
                *(cell(f"power {share}", d, way) for share in PREFIX_SHARES for way in ("plain", "by design")),
            ]
            for d in grouped
        ],
        "warnings": [
            [d.name, d.texts, cell("warning", d, "as drawn"), kinds(d), cell("warning", d, "shuffled")] for d in grouped
        ],
        "false warnings": [[d.name, d.texts, cell("false warning", d, "as drawn")] for d in CHECKED],
    }
    power_runs = max(job.runs for job in jobs if job.part == "power 0.15")
    return TEXT.format(
        power_runs=power_runs,
        level_section=level_section(jobs, found),
        encoder=table(("design", "texts", "option", "rejected"), tables["encoder"], 3),
        power=table(
            (
                "design",
                "texts",
                *(f"{share:.0%}, {way}" for share in PREFIX_SHARES for way in ("plain", "with the option")),
            ),
            tables["power"],
            2,
        ),
        warnings=table(("design", "texts", "groups together", "kinds", "shuffled"), tables["warnings"], 2),
        false_warnings=table(("texts", "sizes", "warned"), tables["false warnings"], 2),
    )


def level_section(jobs: list[Job], found: dict[Key, Any]) -> str:
    """The levels without an encoder, and how often unequal groups are called closer, from the draws that there are."""
    levels = [job for job in jobs if job.part == "level" and job.way != "with encoder"]
    there = [job for job in levels if made(job, found, job.runs)]
    at = {(job.design.name, job.design.texts, job.way): level(job, found) for job in there}
    rows = [
        [d.name, d.texts, option(d), *(at.get((d.name, d.texts, way), "") for way in ("plain", "by design"))]
        for d in (*INDEPENDENT, *GROUPED, *SHARED, *UNEQUAL)
    ]
    closer = [replace(job, runs=made(job, found, job.runs)) for job in jobs if job.part == "closer"]
    return LEVEL_TEXT.format(
        resamples=RESAMPLES,
        levels=table(("design", "texts", "option", "plain", "with the option"), rows, 3),
        pooled=pooled(there, found),
        closer=table(
            ("design", "texts", "called closer"),
            [[job.design.name, job.design.texts, f"{rejected(job, found)} of {job.runs}"] for job in closer],
            2,
        ),
    )


def option(design: Design) -> str:
    return f"`--{design.use}`" if design.use else "none"


def pooled(jobs: list[Job], found: dict[Key, Any]) -> str:
    """What all levels that should be 5 % come to together."""
    proper = [job for job in jobs if job.way != "plain" or not job.design.use]
    whole = [replace(job, runs=made(job, found, MANY_RUNS)) for job in proper]
    draws, alarms = sum(job.runs for job in whole), sum(rejected(job, found) for job in whole)
    error = math.sqrt(0.05 * 0.95 / draws)
    return (
        f"All rows of this table together, with the option where there is one: {alarms:,} of {draws:,} draws "
        f"({alarms / draws:.1%}), {(alarms / draws - 0.05) / error:+.1f} standard errors from 5 %."
    )


def table(header: tuple[str, ...], rows: list[list[str]], n_left: int) -> str:
    rule = ["---"] * n_left + ["---:"] * (len(header) - n_left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


LEVELS, AFTER_LEVELS = "\n## Level\n", "\nWith sentence vectors by `minilm` in the bank:\n"
LEVEL_TEXT = """
Share of null draws that the overall test rejects at 5 %, and the number of draws, without an encoder, {resamples}
exchanges (more where the p-value is close to 5 %). Wanted: 2 to 8 % with the option. Where the share is further than
two standard errors from 5 %, more draws were made, and their share follows. *Plain* leaves out the option that the
design needs.

{levels}

{pooled}

Groups of unequal sizes must not make samples look closer to each other than independent samples are. How often that is
said, at its level of 0.5 %:

{closer}
"""
EARLIER = """
The tables below are older than the table of levels: they are of the overall test before it had the members length,
markup and punctuation, and the classifier on words and word pairs.
"""
TEXT = """# Calibration of designs

Texts of one prompt or document are not independent. This page measures what the overall test does with such texts, with
and without `--group` and `--pair`, and whether the dependence warning appears. In every draw both samples come from one
source, so a rejection is a false alarm unless a difference was planted. Made by
`python benchmarks/calibration/designs.py`.

The texts:

- **captions** and **news**: MS-COCO captions of different images and sentences of news text, in random order.
- **images**: five captions per image by different people.
- **prompts**: ten texts per prompt from one model, a Markov generator that continues the first three words of captions.
- **speeches**: consecutive sentences of State of the Union addresses since 1900; a group is a speech.
- **news topics**: our news text has no borders of documents. A group is a random sentence and its nine nearest
  neighbours by TF-IDF. They share a topic and its words, but they are not a document.
- **same prompts**, **same images**, **one per prompt**: the same groups on both sides, the texts of each group dealt
  at random.
- **one v ten** to **mixed sizes**: the texts of *prompts*, in groups of unequal sizes or in unequal numbers of groups.
  **One v nine**: the same prompts on both sides. As in `compare`, equally many texts are drawn from each group
  where the sizes of the groups differ between the samples.

## Level
{level_section}
With sentence vectors by `minilm` in the bank:

{encoder}

## Power

A stock prefix in 15 % or 3 % of the candidate's texts, {power_runs} draws: how often the overall test finds it.
A rejection of the plain test means little where its level is not 5 % in the table above.

{power}

## Warnings where texts are in groups

Number of draws with a dependence warning when no field names the groups: with the texts of each group together (and the
same order of groups on both sides where they are shared), and in random order.

{warnings}

In random order only near-duplicates can give groups away. Texts of one prompt in other words are not noticed then.

## Warnings where texts are independent

Wanted: about 1 %, which is the level of the five tests together.

{false_warnings}
"""


def shrink(jobs: list[Job]) -> list[Job]:
    """One draw of each kind of job on every design, with few resamples; vectors for the captions alone."""
    global RESAMPLES, ENCODED, ENCODED_IMAGES, ENCODER
    RESAMPLES, ENCODED, ENCODED_IMAGES, ENCODER = 19, 600, 0, minilm_int8
    designs.shrink()
    once = [
        *(job for job in jobs if job.part in ("warning", f"power {PREFIX_SHARES[0]}") and job.way != "shuffled"),
        *(job for job in jobs if job.part == "level" and (job.way != "plain" or not job.design.use)),
        *(job for job in jobs if job.part == "false warning" and job.design in CHECKED[::3]),
        next(job for job in jobs if job.way == "shuffled"),
    ]
    once = [job for job in once if job.way != "with encoder" or job.design.name == "captions"]
    return [replace(job, runs=1) for job in once]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="one draw per row, print the page")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--runs", type=int, default=RUNS, help="draws per level (default: %(default)s)")
    parser.add_argument("--many", type=int, default=MANY_RUNS, help="draws where a level is far from 5 %%")
    parser.add_argument("--levels", action="store_true", help="only the section of levels, without an encoder")
    parser.add_argument("--page", action="store_true", help="with --levels: write the section from what there is")
    parser.add_argument("--only", default="", help="only the jobs whose description contains this text; no page")
    chosen = parser.parse_args()
    jobs = all_jobs()
    if chosen.smoke:
        jobs, chosen.many = shrink(jobs), 1
    jobs = [replace(job, runs=min(job.runs, chosen.runs)) if job.part == "level" else job for job in jobs]
    wanted = [job for job in jobs if chosen.only in f"{job.part}, {job.design.name}, {job.way}"]
    path = None if chosen.smoke else KEPT
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        if chosen.fresh:
            path.unlink(missing_ok=True)
    found = {} if path is None else kept(path)
    # Draws that an earlier, longer run made are not left out.
    wanted = [
        replace(job, runs=max(job.runs, made(job, found, RUNS))) if job.part == "level" else job for job in wanted
    ]
    if chosen.levels:
        wanted = [job for job in wanted if job.part in ("level", "closer") and job.way != "with encoder"]
    for sentence in work(wanted, found, path, chosen.many) if not chosen.page else ():
        print(sentence, file=sys.stderr, flush=True)
    if chosen.levels:
        head, below = TEXT.partition(LEVELS)[0], PAGE.read_text(encoding="utf-8").partition(AFTER_LEVELS)[2]
        section = level_section(wanted, found)
        PAGE.write_text(head + LEVELS + section + EARLIER + AFTER_LEVELS + below, encoding="utf-8")
    elif not chosen.only:
        text = page(wanted, found)
        if path is not None:
            PAGE.write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
