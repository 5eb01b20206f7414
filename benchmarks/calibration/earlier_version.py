"""Does the overall test find at least as much as 0.4.0 did?

`python benchmarks/calibration/earlier_version.py --old PATH` damages samples of 500 captions, gives the same draws to
this version and to the one whose source tree is at PATH (a checkout of the tag v0.4.0), and rewrites the section
"Compared with 0.4.0" of docs/statistics.md: the share of draws in which each version claims a difference, with the
n-gram family alone and with all metrics. Each version runs in a process of its own (earlier_worker.py).

Every draw has its own seed. Decisions are kept in .benchmarks/earlier_version.jsonl, so that a run that was stopped
goes on where it was; `--fresh` begins anew. `--smoke` makes one draw of a few rows with few texts, and prints the
section.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from design_texts import PREFIX, captions, lines
from situations import replaced, spliced, take

from textassay.encoders.base import get_encoder
from textassay.encoders.remembered import remember
from textassay.encoders.vector_store import open_store
from textassay.models.ngrams.ngram import NgramModel, train

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".benchmarks" / "earlier_version.jsonl"
PAGE = ROOT / "docs" / "statistics.md"
SECTION, NEXT = "\n## Compared with 0.4.0\n", "\n## "
N = 500
RUNS = {"ngram": 40, "all": 15}
# The captions that an n-gram model learns from; samples are drawn from the others.
LEARNED = 20_000

Texts = list[str]
Rng = np.random.Generator
Key = tuple[str, str, str, int]


@cache
def model() -> NgramModel:
    return train(captions()[-LEARNED:].tolist(), order=3)


def partly(share: float, change: Callable[[Texts, Rng], Texts]) -> Callable[[Texts, Rng], Texts]:
    """A change of a random share of the texts."""

    def damage(texts: Texts, rng: Rng) -> Texts:
        places = rng.choice(len(texts), round(share * len(texts)), replace=False)
        found = list(texts)
        for place, text in zip(places, change([texts[place] for place in places], rng), strict=True):
            found[place] = text
        return found

    return damage


def by_model(share: float) -> Callable[[Texts, Rng], Texts]:
    return lambda texts, rng: replaced(texts, take(lines("coco_models/mle.txt"), rng, round(share * len(texts))), rng)


def swapped(texts: Texts, rng: Rng) -> Texts:
    """Two neighbouring words of each text change places."""
    found = []
    for text in texts:
        words = text.split()
        at = int(rng.integers(0, max(len(words) - 1, 1)))
        words[at : at + 2] = words[at : at + 2][::-1]
        found.append(" ".join(words))
    return found


DAMAGES: dict[str, Callable[[Texts, Rng], Texts]] = {
    "none": lambda texts, _: texts,
    "10 % by MLE": by_model(0.1),
    "30 % by MLE": by_model(0.3),
    "n-gram model, T = 0.9": lambda texts, rng: model().sample(len(texts), temperature=0.9, max_tokens=60, rng=rng),
    "10 % by an n-gram model, T = 0.9": partly(
        0.1, lambda texts, rng: model().sample(len(texts), temperature=0.9, max_tokens=60, rng=rng)
    ),
    "two words swapped in all texts": swapped,
    "two words swapped in 20 %": partly(0.2, swapped),
    "stock opening in 15 %": partly(0.15, lambda texts, _: [PREFIX + text for text in texts]),
    "stock opening in 3 %": partly(0.03, lambda texts, _: [PREFIX + text for text in texts]),
    "spliced halves in all texts": spliced,
    "spliced halves in 20 %": partly(0.2, spliced),
}


def drawn(damage: str, seed: int, size: int) -> tuple[Texts, Texts]:
    """The reference and the damaged candidate."""
    rng = np.random.default_rng([seed, *damage.encode()])
    texts = take(captions()[:-LEARNED], rng, 2 * size)
    return texts[:size], DAMAGES[damage](texts[size:], rng)


class Worker:
    """A version of textassay in a process of its own."""

    def __init__(self, source: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("earlier_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source / "src")},
        )

    def decide(self, job: dict[str, Any]) -> bool:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the worker ended with code {self.process.wait()}")
        return bool(json.loads(answer))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def save_vectors(path: Path, texts: Texts) -> None:
    encoder = get_encoder("minilm:int8", reference=None, candidates={})  # type: ignore[arg-type]
    np.save(path, remember(encoder, texts, store=open_store(encoder)).encode(texts), allow_pickle=False)


def earlier(path: Path) -> dict[Key, bool]:
    """Decisions of earlier runs; a line that was cut off while it was written is made again."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            metrics, damage, version, seed, value = json.loads(line)
        except ValueError:
            continue
        found[metrics, damage, version, seed] = value
    return found


def work(
    workers: dict[str, Worker], damages: Sequence[str], runs: dict[str, int], size: int, path: Path | None
) -> Iterator[list[str]]:
    """One row per kind of metrics and damage; both versions read the same draws."""
    found = {} if path is None else earlier(path)
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder) / "vectors.npy"
        for metrics, n_runs in runs.items():
            for damage in damages:
                for seed in range(n_runs):
                    missing = [version for version in workers if (metrics, damage, version, seed) not in found]
                    if not missing:
                        continue
                    reference, candidate = drawn(damage, seed, size)
                    if metrics == "all":
                        save_vectors(vectors, [*reference, *candidate])
                    job = {"reference": reference, "candidate": candidate, "seed": seed, "metrics": metrics}
                    for version in missing:
                        value = workers[version].decide(job | {"vectors": str(vectors)})
                        found[metrics, damage, version, seed] = value
                        if path is not None:
                            with path.open("a", encoding="utf-8") as file:
                                file.write(json.dumps([metrics, damage, version, seed, value]) + "\n")
                counts = [sum(found[metrics, damage, version, seed] for seed in range(n_runs)) for version in workers]
                print(f"{metrics}, {damage}: {counts} of {n_runs}", file=sys.stderr, flush=True)
                kind = {"ngram": "n-gram family", "all": "all"}[metrics]
                yield [kind, damage, str(n_runs), *(f"{count / n_runs:.2f}" for count in counts)]


TEXT = """
Version 0.4.0 decided by rules over Holm-adjusted metrics; now the overall test decides. Samples of
{size} captions, the same draws for both versions, 199 resamples requested, level 95 %. The numbers are the share of
draws in which a difference is claimed; for the first row that is a false alarm. The encoder is `minilm:int8` where all
metrics are measured. A share from {few} draws has a standard error of up to {error:.2f}. Made by
`python benchmarks/calibration/earlier_version.py --old PATH`.

| metrics | damage | draws | 0.4.0 | now |
|---|---|---:|---:|---:|
{rows}
"""


def with_section(page: str, text: str) -> str:
    """The page with this section in place of the old one, or before the references."""
    before, found, after = page.partition(SECTION)
    if not found:
        before, after = page[: page.index("\n## Randomness")], page[page.index("\n## Randomness") :]
    rest = after[after.index(NEXT) :] if NEXT in after else ""
    return before.rstrip("\n") + "\n" + SECTION + text.rstrip("\n") + "\n" + rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="source tree of 0.4.0")
    parser.add_argument("--smoke", action="store_true", help="one draw per row with few texts, print the section")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    for name, number in RUNS.items():
        parser.add_argument(f"--{name}", type=int, default=number, help=f"draws per row, {number} unless given")
    chosen = parser.parse_args()
    runs = {"ngram": 1, "all": 1} if chosen.smoke else {"ngram": chosen.ngram, "all": chosen.all}
    runs = {metrics: number for metrics, number in runs.items() if number}
    size = 60 if chosen.smoke else N
    path = None if chosen.smoke else KEPT
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        if chosen.fresh:
            path.unlink(missing_ok=True)
    workers = {"0.4.0": Worker(chosen.old), "now": Worker(ROOT)}
    damages = list(DAMAGES)[::4] if chosen.smoke else list(DAMAGES)
    rows = [f"| {' | '.join(cells)} |" for cells in work(workers, damages, runs, size, path)]
    for worker in workers.values():
        worker.close()
    few = min(runs.values())
    text = TEXT.format(size=size, rows="\n".join(rows), few=few, error=0.5 / few**0.5)
    if path is not None:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
