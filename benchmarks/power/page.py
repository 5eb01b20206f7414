"""The table and the page of the power study: shares of runs that reject, comparisons with rivals, and a plot."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from operator import add
from pathlib import Path
from typing import Any

from answers import ANSWERS
from corpora import DAMAGES, LOW_TEMPERATURE, ORDER, POOL
from ours import EXCHANGES as OUR_EXCHANGES
from ours import FEWER_EXCHANGES, LARGE, OUR_VERSION
from plot import plot
from rivals import BANDWIDTHS, EXCHANGES

from textassay.inference.p_values import is_significant

ROOT = Path(__file__).resolve().parents[2]
TABLE, PAGE, PLOT = (
    ROOT / "benchmarks" / "power" / "power.json",
    ROOT / "docs" / "power.md",
    ROOT / "docs" / "img" / "power.svg",
)
LEVEL = 0.95
# Advantages of rivals below this many standard errors may be chance.
NOTABLE = 2.0
# Corpora on which no member and no weight was chosen.
UNSEEN = ("answers of another model",)
# The size at which powers are averaged over damages.
MAIN = 400
# The corpora and sizes of the whole study.
WANTED = tuple(
    (corpus, n)
    for corpus in ("captions", "news", *ANSWERS)
    for n in (200, 400, 1000)
    if corpus not in ANSWERS or n <= MAIN
)

OURS = {
    "overall": "**overall test**",
    "overall lexical": "overall test without vectors",
    "overall static": "overall test with static vectors",
    "member words": "· words, fourth powers",
    "member bigrams": "· word pairs, weighted",
    "member phrases": "· ridge classifier on words and word pairs",
    "member edges": "· openings and endings, weighted",
    "member different": "· number of different word pairs",
    "member repeats": "· repeated texts",
    "member length": "· length: mean and spread",
    "member traits": "· length and commonness of words",
    "member form": "· markup and punctuation, fourth powers",
    "member mmd": "· MMD on vectors, half the median as bandwidth",
    "member regions": "· regions of vectors, fourth powers",
    "member ridge": "· ridge classifier on vectors",
    "cnd": "CND of word pairs, not weighted",
}
RIVALS = {
    "classifier_tfidf": "logistic regression on TF-IDF, half held out",
    "classifier_vectors": "logistic regression on vectors, half held out",
    "mmd": "MMD, median bandwidth",
    "energy": "energy",
    "mmd_fuse": "MMD-FUSE",
    "mmd_agg": "MMDAgg",
    "hyppo_mmd": "hyppo MMD",
    "hyppo_energy": "hyppo energy",
}
OLD = {"verdict_ngram": "verdict of 0.4.0, n-gram family", "verdict_all": "verdict of 0.4.0, all metrics"}

HEAD = """# Power

How often does a test find a difference that is there, and how often one that is not there? Each run draws two samples
of n real texts, damages a share of the texts of one of them, and applies every test to the same two samples. A power is
the share of runs with p ≤ 0.05. In the column *none* nothing is damaged, and the share is the test's level. Made by
`python benchmarks/power/power.py`; the counts are in `benchmarks/power/power.json`. The column *runs* has the number of
runs per cell. Few runs have large errors: 0.05 at a power of 0.5 with 100 runs, 0.08 with 40.

The members and weights of the overall test were chosen on other draws of captions, news and *answers*, after about 230
combinations were tried. So these powers may be higher than those on other texts. Nothing was chosen on the *answers of
another model*, nor on the models and damages that replace its texts.
{left_out}
![Power of the overall test and of its rivals by damage, corpus and sample size](img/power.svg)
"""
SUMMARY = """## Overall test and rivals

Mean power over all damages. The *best single rival* is the one with the highest mean. The *best rival per damage* is
chosen for each damage after the fact, which no user could do. The last column is the largest advantage of any rival
over the overall test on the same draws, in standard errors of the difference. It is the largest of many
comparisons, of which chance alone makes some reach 2. Level: share of runs without damage in which the overall test
rejects.

| corpus | n | level | overall | best single rival | ratio | best rival per damage | ratio | largest advantage |
|---|---:|---:|---:|---:|---:|---:|---:|---|"""
VECTORS = f"""## With and without sentence vectors

Mean power over all damages with the members that read vectors, and without them; the number of runs in which only one
of the two found the damage; and the damages that were found more often without vectors, by more than {NOTABLE:g}
standard errors of the difference (in brackets). *Chosen on*: whether members and weights were chosen on other draws of
these texts.

| corpus | chosen on | n | with | without | only with | only without | more often without |
|---|---|---:|---:|---:|---:|---:|---|"""
TESTS = f"""## Tests

- **Overall test**: what `compare` reports first; its members are the rows below it that begin with a dot. With vectors
  by `minilm:int8` and {OUR_EXCHANGES} exchanges ({FEWER_EXCHANGES} at n = {LARGE:,}); `compare` begins with 999.
  *Without vectors* leaves out the members that read vectors. *With static vectors* has them from the `static` encoder,
  which reads words without their order.
- **Logistic regression**: trained on half of the texts, exact binomial test of the number of right answers on the other
  half. On TF-IDF of words and word pairs (C = 10), and on vectors (C = 1).
- **MMD** (Gaussian kernel, median distance as bandwidth) and **energy**: on vectors, {EXCHANGES} exchanges.
- **MMD-FUSE** (Biggs, Schrab and Gretton 2023) and **MMDAgg** (Schrab et al. 2023): on vectors, Gaussian and Laplace
  kernels with {BANDWIDTHS} bandwidths each, written for this study from the papers. {EXCHANGES} exchanges, and for
  MMDAgg {EXCHANGES} more for its level. Both use the bandwidths of MMD-FUSE.
- **hyppo**: its MMD and energy with their default settings, p-values by its chi-squared approximation.
- **Verdict of 0.4.0**: share of runs in which it was "differs" or "collapsed". It uses the tests and intervals of all
  metrics of the table, so it has no p-value.

Numbers in brackets are binomial standard errors in units of the second decimal: .43(4) is 0.43 with a standard error of
0.04.
"""
CAUSES = f"""## Damages

The share is that of the candidate's texts. Captions: {POOL * 6 // 10:,} and {POOL * 4 // 10:,} texts of
`coco/train.txt` and `coco/test.txt`. News: {POOL // 2:,} each of `news/valid.txt` and `news/test.txt`. *Unused text* is
the rest of the training file of the captions, or of both files of news, from which no sample is drawn.

- **Model texts**: captions of an LSTM trained by maximum likelihood (`coco_models/mle.txt`). There are no model texts
  of news: there an n-gram model of order {ORDER} with Kneser-Ney smoothing, trained on unused text, writes them.
- **is → was**: every *is* becomes *was* and every *are* becomes *were*.
- **Two words swapped**, **last word cut**, **word salad** (all words of the text in random order): words move or go,
  punctuation stays.
- **Repeats**: a text is replaced by another text of the same sample.
- **Topic lost**: texts of one topic are replaced by texts of other topics with the stated probability. The topic is the
  one of ten k-means clusters of unused text (TF-IDF, 50 leading directions) whose share is closest to a tenth.
- **Low temperature**: texts of the n-gram model (order {ORDER}, trained on unused text) at temperature
  {LOW_TEMPERATURE}.
- **Other corpus**: for captions, news sentences; for news, sentences of State of the Union addresses since 1982.
- **Answers**: outputs of GPT-3.5 (release 1106) on 805 instructions; **answers of another model**: of GPT-4 (release
  0613). Long, with Markdown, lists and code. A damaged answer is to the same prompt as the one that it replaces, and
  the two samples of a draw have different prompts. An earlier release, a system prompt or another model writes it; or
  it is a refusal (one of three), has an emoji at its end, begins with "Sure!", is cut to nine tenths of its words, has
  a second answer joined to it, loses its `**` or its list markers, or has two words of each
  sentence swapped (*words in sentences swapped*).
- **Cut to 90 %**, **two texts joined** (news): the last tenth of the words is missing, or an unused sentence follows.
- **Synonyms**: half of the words that have one are replaced by a WordNet synonym, the one that is most frequent in
  unused text.
"""


@dataclass(frozen=True)
class Share:
    """How many runs of a test rejected; `ours` and `theirs` are runs that only overall, or only this test, rejected."""

    rejected: int
    runs: int
    ours: int
    theirs: int

    def __add__(self, other: "Share") -> "Share":
        return Share(*map(add, astuple(self), astuple(other)))

    @property
    def power(self) -> float:
        return self.rejected / self.runs

    @property
    def error(self) -> float:
        """Binomial standard error."""
        return math.sqrt(self.power * (1 - self.power) / self.runs)

    @property
    def shortfall(self) -> float:
        """The advantage of this test over the overall test on the same draws, in standard errors."""
        apart = self.ours + self.theirs
        return (self.theirs - self.ours) / math.sqrt(apart) if apart else 0.0


@dataclass(frozen=True)
class Cell:
    """One corpus, damage and size."""

    corpus: str
    damage: str
    label: str
    n: int
    tests: Mapping[str, Share]

    def rivals(self) -> dict[str, Share]:
        return {name: share for name, share in self.tests.items() if name in RIVALS}

    def best(self) -> tuple[str, Share]:
        """The rival with the highest power here."""
        return max(self.rivals().items(), key=lambda pair: pair[1].power)


Place = tuple[str, str, int]


def write_table(records: Iterable[Mapping[str, Any]], committed: Sequence[Cell] = ()) -> list[Cell]:
    """Count rejections, add them to the committed counts, and keep the sums as the committed table.

    Runs are numbered from 0 in every cell, so a record of a run that the committed table counts is left out.
    """
    counted = {(cell.corpus, cell.damage, cell.n): cell.tests for cell in committed}
    found: dict[Place, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
    shares = {damage.key: damage for damage in DAMAGES}
    for record in records:
        if record["damage"] in shares and record["share"] == shares[record["damage"]].share(record["corpus"]):
            place = (record["corpus"], record["damage"], record["n"])
            for test, p in record["p"].items():
                if test not in counted.get(place, {}) or record["run"] >= counted[place][test].runs:
                    found[place][test][record["run"]] = is_significant(p, LEVEL)
    cells = [
        Cell(
            corpus, key, shares[key].label(corpus), n, _added(counted.get((corpus, key, n), {}), found[corpus, key, n])
        )
        for corpus, key, n in {**counted, **found}
    ]
    order = [damage.key for damage in DAMAGES]
    cells = sorted(
        (cell for cell in cells if "overall" in cell.tests),
        key=lambda cell: (cell.corpus, cell.n, order.index(cell.damage)),
    )
    lines = ",\n".join(json.dumps(asdict(cell), ensure_ascii=False) for cell in cells)
    TABLE.write_text(f'{{"version": {json.dumps(OUR_VERSION)}, "cells": [\n{lines}\n]}}\n', encoding="utf-8")
    return cells


def _added(counted: Mapping[str, Share], found: Mapping[str, Mapping[int, bool]]) -> dict[str, Share]:
    new = {test: _share(runs, found.get("overall", {})) for test, runs in found.items()}
    none = Share(0, 0, 0, 0)
    return {test: counted.get(test, none) + new.get(test, none) for test in {**counted, **new}}


def _share(runs: Mapping[int, bool], overall: Mapping[int, bool]) -> Share:
    common = runs.keys() & overall.keys()
    ours = sum(overall[run] and not runs[run] for run in common)
    theirs = sum(runs[run] and not overall[run] for run in common)
    return Share(sum(runs.values()), len(runs), ours, theirs)


def read_table() -> list[Cell]:
    """The committed table; nothing, if it is of another version of the overall test."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if table["version"] != OUR_VERSION:
        return []
    return [
        Cell(**(cell | {"tests": {name: Share(**share) for name, share in cell["tests"].items()}}))
        for cell in table["cells"]
    ]


@dataclass(frozen=True)
class Summary:
    """Mean powers over the damages of a corpus and size.

    `single` is the rival with the highest mean. `best` is the mean over the best rival of each damage.
    """

    overall: float
    single_name: str
    single: float
    best: float
    worst: float
    worst_at: str


def summarise(cells: Sequence[Cell]) -> Summary:
    """Compare the overall test with the rivals over these cells, those without damage left out."""
    damaged = [cell for cell in cells if cell.damage != "none"]
    mean = lambda values: sum(values) / len(damaged)  # noqa: E731
    names = set.intersection(*(set(cell.rivals()) for cell in damaged))
    means = {name: mean([cell.tests[name].power for cell in damaged]) for name in names}
    single = max(sorted(means), key=lambda name: means[name])
    shortfalls = {
        f"{RIVALS[name]}, {cell.label}": share.shortfall for cell in damaged for name, share in cell.rivals().items()
    }
    worst_at = max(shortfalls, key=lambda name: shortfalls[name])
    return Summary(
        mean([cell.tests["overall"].power for cell in damaged]),
        RIVALS[single],
        means[single],
        mean([cell.best()[1].power for cell in damaged]),
        shortfalls[worst_at],
        worst_at,
    )


def write_page(cells: Sequence[Cell]) -> None:
    """Write the page and its plot."""
    groups: dict[tuple[str, int], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.corpus, cell.n].append(cell)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(plot(cells, rivals=RIVALS), encoding="utf-8")
    tables = [line for (corpus, n), group in groups.items() for line in _table(corpus, n, group)]
    places = [f"{corpus}, n = {n:,}" for corpus, n in WANTED if (corpus, n) not in groups]
    names = [RIVALS[name] for name in RIVALS if not any(name in cell.tests for cell in cells)]
    left_out = "; ".join([*places, *names])
    note = f"\nNot measured beside this version of the overall test: {left_out}.\n" if left_out else ""
    lines = [HEAD.format(left_out=note), *_summary(groups), *_vectors(groups), TESTS, CAUSES, *tables]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _summary(groups: Mapping[tuple[str, int], Sequence[Cell]]) -> list[str]:
    lines = [SUMMARY]
    for (corpus, n), cells in groups.items():
        if not all(cell.rivals() for cell in cells) or all(cell.damage == "none" for cell in cells):
            continue
        found = summarise(cells)
        level = next((_cell(cell.tests["overall"]) for cell in cells if cell.damage == "none"), "-")
        lines.append(
            f"| {corpus} | {n:,} | {level} | {found.overall:.2f} | {found.single:.2f} ({found.single_name}) "
            f"| {_ratio(found.overall, found.single)} | {found.best:.2f} | {_ratio(found.overall, found.best)} "
            f"| {found.worst:+.1f} ({found.worst_at}) |"
        )
    return [*lines, "", *_beaten(groups)]


def _beaten(groups: Mapping[tuple[str, int], Sequence[Cell]]) -> list[str]:
    """Where a rival is better than the overall test, by chance or not."""
    found = [
        f"- {cell.corpus}, n = {n:,}, {cell.label}: {RIVALS[name]} {_cell(share)}, overall "
        f"{_cell(cell.tests['overall'])} ({share.shortfall:+.1f} standard errors)"
        for (_, n), cells in groups.items()
        for cell in cells
        for name, share in cell.rivals().items()
        if cell.damage != "none" and share.shortfall > 0
    ]
    if not found:
        return ["No rival found a damage more often than the overall test.", ""]
    return [
        "Damages that a rival found more often than the overall test on the same draws. Below "
        f"{NOTABLE:g} standard errors this may be chance:",
        "",
        *found,
        "",
    ]


def _vectors(groups: Mapping[tuple[str, int], Sequence[Cell]]) -> list[str]:
    """What vectors gain and cost: mean powers with and without them, and damages that only words find more often."""
    lines = [VECTORS]
    for (corpus, n), cells in groups.items():
        damaged = [cell for cell in cells if cell.damage != "none"]
        if not damaged:
            continue
        words = {cell.label: cell.tests["overall lexical"] for cell in damaged}
        both = [sum(cell.tests["overall"].power for cell in damaged), sum(share.power for share in words.values())]
        found = [sum(getattr(share, side) for share in words.values()) for side in ("ours", "theirs")]
        costly = [f"{label} ({share.shortfall:+.1f})" for label, share in words.items() if share.shortfall > NOTABLE]
        tuned = "no" if corpus in UNSEEN else "yes"
        means = " | ".join(f"{total / len(damaged):.2f}" for total in both)
        lines.append(
            f"| {corpus} | {tuned} | {n:,} | {means} | {found[0]:,} | {found[1]:,} | {', '.join(costly) or '-'} |"
        )
    return [*lines, ""]


def _ratio(first: float, second: float) -> str:
    return f"{first / second:.2f}" if second else "-"


def _table(corpus: str, n: int, cells: Sequence[Cell]) -> list[str]:
    """The powers of one corpus and size, one row per test."""
    labels = " | ".join(cell.label for cell in cells)
    lines = [
        f"## {corpus.capitalize()}, n = {n:,}",
        "",
        f"| test | runs | {labels} |",
        f"|---|---:|{'---:|' * len(cells)}",
    ]
    for name, title in (OURS | RIVALS | OLD).items():
        shares = [cell.tests.get(name) for cell in cells]
        if any(shares):
            runs = sorted({share.runs for share in shares if share is not None})
            span = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]}-{runs[-1]}"
            lines.append(f"| {title} | {span} | {' | '.join(map(_cell, shares))} |")
    return [*lines, ""]


def _cell(share: Share | None) -> str:
    """Power, with its standard error in units of the last digit in brackets: .43(4) is 0.43 with an error of 0.04."""
    if share is None:
        return "-"
    shown = f"{share.power:.2f}".removeprefix("0")
    return f"{shown}({math.ceil(100 * share.error - 1e-9)})" if 0 < share.rejected < share.runs else shown
