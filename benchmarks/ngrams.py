"""The n-gram family against FastBLEU, and how its cost grows: ratios, peak memory, growth with size.

Run all of it with `python benchmarks/ngrams.py`, or one part with `point` or `growth`; `--smoke` runs all of it on few
texts. Needs the `bench` group and the real captions (TEXTASSAY_DATA, or the folder beside the checkout). FastBLEU gets
its tokens ready made; ours starts from texts.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from steps import step

from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.registry import Request, parse_requests
from textassay.metrics.views import Material, Settings
from textassay.studies.compare.study import compare

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "coco"
SIZE = 10_000
GROWTH = (100_000, 1_000_000)


def captions(name: str) -> list[str]:
    lines = (DATA / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.strip()]


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Processor time of all threads, the best of a few runs: other processes only ever add to it."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def roles(candidate: list[str], reference: list[str]) -> dict[str, Material]:
    settings = Settings(get_tokenizer("whitespace"))
    return {
        "candidate": Material(Sample.of(candidate, name="candidate"), settings),
        "reference": Material(Sample.of(reference, name="reference"), settings),
    }


def family() -> list[Request]:
    """Every n-gram metric that needs no training file."""
    return [request for request in parse_requests(families=["ngram"]) if "train" not in request.metric.roles]


def fast_bleu_seconds(candidate: list[str], reference: list[str]) -> tuple[float, dict[str, float]]:
    import fast_bleu

    tokens, reference_tokens = ([text.split() for text in texts] for texts in (candidate, reference))
    weights = {str(n): tuple([1 / n] * n) for n in range(2, 6)}
    values: dict[str, float] = {}

    def work() -> None:
        bleu = fast_bleu.BLEU(reference_tokens, weights).get_score(tokens)
        self_bleu = fast_bleu.SelfBLEU(tokens, weights).get_score()
        values.update({f"bleu-{n}": float(np.mean(bleu[n])) for n in weights})
        values.update({f"self_bleu-{n}": float(np.mean(self_bleu[n])) for n in weights})

    return seconds(work, repeats=1), values


def point(size: int = SIZE) -> None:
    """BLEU-2..5 and Self-BLEU-2..5 of 10,000 against 10,000 captions."""
    candidate, reference = captions("test")[:size], captions("train")[:size]
    theirs, values = fast_bleu_seconds(candidate, reference)
    requests = parse_requests(["bleu:n=2-5", "self_bleu:n=2-5"])
    ours = seconds(lambda: measure(requests, roles(candidate, reference), plan=Plan(n_resamples=0)))
    found = measure(requests, roles(candidate, reference), plan=Plan(n_resamples=0))
    gap = max(abs(values[r.label] - result.estimate) for r, result in zip(requests, found.results, strict=True))
    print(f"BLEU-2..5 and Self-BLEU-2..5, {size:,} v {size:,}: {theirs / ours:.0f} times faster than FastBLEU")
    print(f"  FastBLEU {theirs:.2f} s, ours {ours:.3f} s")
    print(f"  largest difference of a value: {gap:.1e} (FastBLEU's Self-BLEU can pick a wrong reference length)")
    bleu = ["bleu:n=2-5", "self_bleu:n=2-5"]
    ours = seconds(
        lambda: compare(
            reference, {"candidate": candidate}, metrics=bleu, n_resamples=0, explain=True, size="all"
        ),
        repeats=5,
    )  # fmt: skip
    print(f"the same by textassay.compare (also real v real): {theirs / ours:.0f} times faster ({ours:.3f} s)")

    requests = family()
    ours = seconds(lambda: measure(requests, roles(candidate, reference), plan=Plan()), repeats=2)
    names = ", ".join(request.label for request in requests)
    share = ours / theirs
    print(f"whole family, intervals and 999 permutations: {ours:.2f} s, {share:.2f} of FastBLEU's point estimates")
    print(f"  {names}")
    ours = seconds(
        lambda: compare(
            reference, {"candidate": candidate}, families=["ngram"], tokenizer="whitespace", size="all"
        ),
        repeats=1,
    )  # fmt: skip
    print(f"a full compare of the family (also real v real, format check, what differs): {ours:.2f} s, ", end="")
    print(f"{ours / theirs:.2f} of the same")


def recombined(size: int, seed: int) -> list[str]:
    """New captions from the first half of one and the second half of another."""
    rng = np.random.default_rng(seed)
    words = [text.split() for text in captions("train")]
    firsts, seconds_ = rng.integers(0, len(words), (2, size))
    return [
        " ".join(words[i][: (len(words[i]) + 1) // 2] + words[j][len(words[j]) // 2 :])
        for i, j in zip(firsts, seconds_, strict=True)
    ]


def one_growth_step(size: int) -> None:
    candidate, reference = Sample.of(recombined(size, 1)), Sample.of(recombined(size, 2))
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    settings = Settings(get_tokenizer("whitespace"))
    began = time.process_time()
    materials = {"candidate": Material(candidate, settings), "reference": Material(reference, settings)}
    measure(family(), materials, plan=Plan())
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": took, "peak_gib": peak / 2**20, "base_gib": base / 2**20}))


def growth(sizes: tuple[int, int] = GROWTH, *, smoke: bool = False) -> None:
    """The whole family with intervals and permutations at 100,000 and at 1,000,000 texts, each in its own process."""
    found = []
    for size in sizes:
        found.append(json.loads(step(__file__, main, [str(size)], smoke=smoke)))
        print(f"{size:>9,} v {size:,}: {found[-1]['seconds']:.1f} s, peak memory {found[-1]['peak_gib']:.2f} GiB")
    print(f"{sizes[1] // sizes[0]} times the texts take {found[1]['seconds'] / found[0]['seconds']:.1f} times as long")


def main(arguments: list[str]) -> None:
    if arguments and arguments[0].isdecimal():
        one_growth_step(int(arguments[0]))
        return
    if "--smoke" in arguments:
        point(60)
        growth((60, 90), smoke=True)
        return
    for name, part in (("point", point), ("growth", growth)):
        if not arguments or name in arguments:
            part()


if __name__ == "__main__":
    main(sys.argv[1:])
