"""Stress of the metrics on captions: the study behind docs/stress.md, and the check of the law of contamination.

    python benchmarks/stress.py             # the default study, about half an hour; continues where it stopped
    python benchmarks/stress.py --law       # one measurement against brute force, with times
    python benchmarks/stress.py --page      # only writes docs/stress.md from benchmarks/stress.json
    python benchmarks/stress.py --smoke     # a few seconds, writes nothing

The reference is coco/test.txt, the other corpus news/test.txt, and the training file coco/train.txt.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample, stream
from textassay.corpus.tokenizers import get_tokenizer
from textassay.document.words import listed
from textassay.encoders.lsa import fit_lsa
from textassay.encoders.remembered import remember
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.views import Material, Settings
from textassay.report import markdown
from textassay.studies.stress.contamination import MOST_TEXTS, measure_shifts
from textassay.studies.stress.document import document
from textassay.studies.stress.result import Stress
from textassay.studies.stress.study import N_RUNS, STRENGTHS, stress

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
TABLE, PAGE, HEAD = ROOT / "benchmarks/stress.json", ROOT / "docs/stress.md", ROOT / "benchmarks/stress_head.md"
RECORDS = ROOT / "benchmarks" / "results" / "stress.jsonl"
# The sections of the document that the page has.
_SHOWN = ("use", "matrix", "failures", "monotony")
SQUARED = ("cnd", "mmd", "energy")


class Steps:
    """Progress on standard error, one line per minute."""

    def __init__(self) -> None:
        self.what, self.steps, self.done, self.last = "", 0, 0, 0.0

    def start(self, what: str, steps: int) -> None:
        self.what, self.steps, self.done = what, steps, 0

    def step(self, steps: int) -> None:
        self.done += steps
        if time.monotonic() - self.last > 60:
            self.last = time.monotonic()
            print(f"{self.what}: {self.done} of {self.steps}", file=sys.stderr, flush=True)


def texts(name: str) -> Sample:
    return read_sample(DATA / name)


def study(records: Path) -> Stress:
    """The study with its default settings."""
    records.parent.mkdir(parents=True, exist_ok=True)
    return stress(
        texts("coco/test.txt"),
        other=texts("news/test.txt"),
        training=texts("coco/train.txt"),
        records=records,
        progress=Steps(),
    )


def law(*, size: int, runs: int, strengths: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Mean shift of each squared distance by contamination: from one measurement, and by brute force, with times."""
    real, other = texts("coco/test.txt"), texts("news/test.txt")
    everything = [*real.texts.to_pylist(), *other.texts.to_pylist()]
    encoder = remember(fit_lsa(everything), everything, store=None)
    settings = Settings(get_tokenizer(), encoder)
    rng = stream(0, "law")
    for request in parse_requests(SQUARED):
        began = time.process_time()
        sides = [Material(side.take(rng.permutation(len(side))[:MOST_TEXTS]), settings) for side in (real, other)]
        shifts = measure_shifts(request, *sides, strengths=strengths, sizes=[size])
        own = time.process_time() - began
        began = time.process_time()
        values = _brute(request, real, other, settings, size=size, runs=runs, strengths=strengths, rng=rng)
        # Draws that the default study would need: 20 runs at each strength.
        brute = (time.process_time() - began) / (runs * (1 + len(strengths))) * N_RUNS * len(strengths)
        for strength in strengths:
            moved = values[strength] - values[0.0]
            shift = shifts[size, strength]
            yield {
                "metric": request.label,
                "strength": strength,
                "brute": float(moved.mean()),
                "error": float(moved.std(ddof=1) / np.sqrt(runs)),
                "law": shift.mean,
                "law_error": shift.deviation * float(np.sqrt(size / MOST_TEXTS)),
                "seconds": own,
                "brute_seconds": brute,
                "size": size,
                "runs": runs,
            }


def _brute(
    request: Request,
    real: Sample,
    other: Sample,
    settings: Settings,
    *,
    size: int,
    runs: int,
    strengths: Sequence[float],
    rng: np.random.Generator,
) -> dict[float, Any]:
    found = {strength: np.empty(runs) for strength in (0.0, *strengths)}
    kind = request.metric.views[0]
    for run in range(runs):
        order, foreign = rng.permutation(len(real)), rng.permutation(len(other))
        reference = Material(real.take(order[:size]), settings).view(kind)
        for strength, row in found.items():
            count = round(strength * size)
            parts = [*real.take(order[size : 2 * size - count]).texts.to_pylist()]
            parts += other.take(foreign[:count]).texts.to_pylist()
            row[run] = request.value(Material(Sample.of(parts), settings).view(kind), reference)
    return found


def write_page(table: dict[str, Any]) -> None:
    studies = [Stress.from_dict(plain) for plain in table["studies"]]
    lines = [HEAD.read_text(encoding="utf-8").rstrip(), ""]
    for found in studies:
        lines += _study_lines(found)
    if table.get("law"):
        lines += ["## One measurement against brute force", "", *_law_lines(table["law"]), ""]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"wrote {PAGE}")


def _study_lines(found: Stress) -> Iterator[str]:
    """What the study states in numbers: the page explains the rest itself."""
    whole = document(found)
    shown = replace(whole, sections=tuple(section for section in whole.sections if section.id in _SHOWN))
    yield f"## Captions, {listed([f'{size:,}' for size in found.sizes])} texts per sample"
    yield ""
    yield f"{found.n_runs} runs, {found.n_draws} undamaged draws for critical values and as many for false alarms."
    # The heading of the document is that of the study's own reports.
    yield from markdown.text(shown).splitlines()[1:]


def _law_lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    size, runs = rows[0]["size"], rows[0]["runs"]
    yield f"Shift of the mean by news sentences among captions: {size:,} texts per sample, {runs} runs by brute force."
    yield "Standard errors are in brackets. The time is the processor time of the one measurement as a share of that of"
    yield f"the {N_RUNS * len(STRENGTHS)} draws of the default study ({N_RUNS} runs at {len(STRENGTHS)} strengths)."
    once = {row["metric"]: row for row in rows}.values()
    total = sum(row["seconds"] for row in once) / sum(row["brute_seconds"] for row in once)
    yield f"For all three metrics together it is {100 * total:.2g} %."
    yield ""
    yield "| metric | strength | brute force | one measurement | time |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for row in rows:
        brute, law = (
            f"{row[name]:.3g} ({row[error]:.1g})" for name, error in (("brute", "error"), ("law", "law_error"))
        )
        time = f"{100 * row['seconds'] / row['brute_seconds']:.2g} %"
        yield f"| {markdown.escaped(row['metric'])} | {row['strength']:g} | {brute} | {law} | {time} |"


def smoke() -> None:
    """A very small study with all damages, and the law on few runs."""
    real = texts("coco/test.txt").take(np.arange(150))
    others = {
        "other": texts("news/test.txt").take(np.arange(40)),
        "training": texts("coco/train.txt").take(np.arange(40)),
    }
    found = stress(real, sizes=24, strengths=[1], n_runs=2, n_draws=19, metrics="cnd,bleu", **others)
    print(found)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="a very small study, no files")
    ask.add_argument("--law", action="store_true", help="only the check of the law of contamination")
    ask.add_argument("--page", action="store_true", help="only write the page")
    ask.add_argument("--records", type=Path, default=RECORDS, help="file of records (default: %(default)s)")
    ask.add_argument("--law-size", type=int, default=2000, help="texts per sample for --law")
    ask.add_argument("--law-runs", type=int, default=20, help="runs by brute force for --law")
    asked = ask.parse_args()
    if asked.smoke:
        smoke()
        return
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"studies": []}
    if asked.law:
        table["law"] = list(law(size=asked.law_size, runs=asked.law_runs, strengths=STRENGTHS))
    elif not asked.page:
        table["studies"] = [json.loads(study(asked.records).to_json())]
    TABLE.write_text(json.dumps(table, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page(table)


if __name__ == "__main__":
    main()
