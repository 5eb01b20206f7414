"""Long texts: answers of language models of 100 to 300 words, beside FastBLEU, mauve-text and sentence-transformers.

Run all of it with `python benchmarks/long_texts.py`, or single parts by name: `point`, `compare`, `encoding`, `mauve`,
`growth`; `--smoke` runs all of it on few texts. Every measurement is a process of its own with one thread, all read the
same texts, and times are processor time without imports. FastBLEU is left out with a reason where it is not installed.
Needs the `bench` group, the extras `embed` and `fast`, and the answers (TEXTASSAY_DATA, or the folder beside the
checkout).
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from ngrams import family, fast_bleu_seconds, roles
from steps import step

from textassay.encoders.minilm import minilm, minilm_folder, minilm_int8
from textassay.encoders.static import static
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.registry import parse_requests
from textassay.metrics.vectors.mauve import mauve
from textassay.metrics.vectors.vectors import Vectors
from textassay.studies.compare.study import compare

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "llm"
REFERENCE, CANDIDATE, SIZE, FEW, SMALL = "gpt4_0613", "gpt-3.5-turbo-1106", 805, 100, 16
OTHERS = ("gpt-3.5-turbo-0613", "vicuna-7b", "text_davinci_003")
Texts = list[str]


def answers(name: str, size: int) -> Texts:
    """Answers to the same prompts, in their order; above the number of prompts they are joined to new ones."""
    rows = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    texts = [row["output"] for row in rows if row["output"].strip()]
    rng = np.random.default_rng(0)
    while len(texts) < size:
        # Halves of two answers: as long as an answer, and no text twice.
        one, other = (texts[place].split(" ") for place in rng.integers(0, len(rows) - 10, 2))
        texts.append(" ".join(one[: len(one) // 2] + other[len(other) // 2 :]))
    return texts[:size]


def joined(texts: Texts, times: int) -> Texts:
    """Texts `times` as long: each followed by its neighbours."""
    return ["\n\n".join(texts[(place + k) % len(texts)] for k in range(times)) for place in range(len(texts))]


def ours(candidate: Texts, reference: Texts) -> None:
    measure(parse_requests(["bleu:n=2-5", "self_bleu:n=2-5"]), roles(candidate, reference), plan=Plan(n_resamples=0))


def whole_family(candidate: Texts, reference: Texts) -> None:
    measure(family(), roles(candidate, reference), plan=Plan())


def comparing(**options: Any) -> Callable[[Texts, Texts], None]:
    def run(candidate: Texts, reference: Texts) -> None:
        compare(reference, {"candidate": candidate}, engine="local:1", **options)

    return run


def five_files(candidate: Texts, reference: Texts) -> None:
    more = {name: answers(name, len(candidate)) for name in OTHERS}
    compare(reference, {"candidate": candidate} | more, families=["ngram"], engine="local:1")


def encoding(kind: str) -> Callable[[Texts, Texts], None]:
    """Encodes all texts with a model that is in memory."""
    if kind == "sentence-transformers":
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(minilm_folder().path), device="cpu")
        return lambda candidate, reference: model.encode([*candidate, *reference])
    made = {"minilm": minilm, "minilm:int8": minilm_int8, "static": static}[kind](workers=1)
    made.encode(["warm"])
    return lambda candidate, reference: made.encode([*candidate, *reference])


def mauve_text(candidate: Texts, reference: Texts) -> Callable[[Texts, Texts], None]:
    from mauve import compute_mauve

    first, second = _vectors(candidate, reference)
    return lambda *_: compute_mauve(p_features=first, q_features=second, num_buckets=max(2, len(first) // 10))


def our_mauve(candidate: Texts, reference: Texts) -> Callable[[Texts, Texts], None]:
    first, second = _vectors(candidate, reference)
    # New views each time: they keep what was computed from them.
    return lambda *_: mauve(Vectors(first), Vectors(second))


def _vectors(candidate: Texts, reference: Texts) -> tuple[Any, Any]:
    encoder = static(workers=1)
    return encoder.encode(candidate), encoder.encode(reference)


def prepared(what: str, candidate: Texts, reference: Texts) -> Callable[[Texts, Texts], None]:
    """What is measured, with models loaded."""
    kind, _, rest = what.partition(" ")
    match kind:
        case "encode":
            return encoding(rest)
        case "mauve":
            return (our_mauve if rest == "textassay" else mauve_text)(candidate, reference)
        case _:
            return {
                "bleu": ours,
                "family": whole_family,
                "compare": comparing(families=["ngram"]),
                "quick": comparing(quick=True, encoder="static"),
                "all:static": comparing(encoder="static"),
                "all:int8": comparing(encoder="minilm:int8"),
                "five": five_files,
            }[kind]


def one_step(what: str, size: int, times: int) -> None:
    """Processor time and peak memory of one measurement, as JSON."""
    candidate, reference = (joined(answers(name, size), times) for name in (CANDIDATE, REFERENCE))
    if what == "fastbleu":
        took = fast_bleu_seconds(candidate, reference)[0]
    else:
        work = prepared(what, candidate, reference)
        # Imports and compiled caches belong to no method.
        if not what.startswith("encode"):
            work(candidate[:SMALL], reference[:SMALL])
        began = time.process_time()
        work(candidate, reference)
        took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": took, "peak_mib": peak / 2**10}))


def run(what: str, size: int, *, times: int = 1, smoke: bool) -> dict[str, float]:
    found: dict[str, float] = json.loads(step(__file__, main, [what, str(size), str(times)], smoke=smoke))
    print(f"  {what}: {found['seconds']:.2f} s, peak memory {found['peak_mib']:.0f} MiB", flush=True)
    return found


def point(size: int, *, smoke: bool) -> None:
    """BLEU-2..5 and Self-BLEU-2..5, and the family with intervals and tests, beside FastBLEU's point estimates."""
    print(f"n-gram metrics, {size} v {size} answers")
    found = {what: run(what, size, smoke=smoke) for what in ("bleu", "family", "compare")}
    if find_spec("fast_bleu") is None:
        print("  FastBLEU: left out, because fast_bleu is not installed")
        return
    theirs = run("fastbleu", size, smoke=smoke)["seconds"]
    print(f"  BLEU and Self-BLEU: {theirs / found['bleu']['seconds']:.0f} times faster than FastBLEU")
    for what in ("family", "compare"):
        print(f"  {what}: {found[what]['seconds'] / theirs:.2f} of FastBLEU's time for its point estimates")


def comparisons(size: int, *, smoke: bool) -> None:
    """`compare`: the family, a quick run, all metrics, and one reference with four candidates."""
    print(f"compare, {size} v {size} answers")
    found = {what: run(what, size, smoke=smoke)["seconds"] for what in ("compare", "quick", "all:static", "five")}
    print(f"  quick: {found['all:static'] / found['quick']:.1f} times faster than all metrics with static vectors")


def encoders(size: int, *, smoke: bool) -> None:
    """Encoding of all texts, models loaded, one thread."""
    print(f"encoding, 2 x {size} answers")
    kinds = ("sentence-transformers", "minilm", "minilm:int8", "static")
    found = {kind: run(f"encode {kind}", size, smoke=smoke)["seconds"] for kind in kinds}
    for kind in kinds[1:]:
        print(f"  {kind}: {found[kinds[0]] / found[kind]:.1f} times faster than {kinds[0]} (which cuts long texts)")


def mauves(size: int, *, smoke: bool) -> None:
    """MAUVE on the same vectors."""
    print(f"MAUVE of the same vectors, {size} v {size} answers")
    ours_, theirs = (run(f"mauve {which}", size, smoke=smoke)["seconds"] for which in ("textassay", "mauve-text"))
    print(f"  {theirs / ours_:.1f} times faster than mauve-text")


def growth(size: int, *, smoke: bool) -> None:
    """Four times as many texts, and texts four times as long."""
    print(f"growth of compare (n-gram family) from {size} v {size} answers")
    base = run("compare", size, smoke=smoke)
    for label, many, times in (("four times the texts", 4 * size, 1), ("texts four times as long", size, 4)):
        found = run("compare", many, times=times, smoke=smoke)
        print(f"  {label}: {found['seconds'] / base['seconds']:.1f} times as long")


PARTS = {"point": point, "compare": comparisons, "encoding": encoders, "mauve": mauves, "growth": growth}


def main(arguments: list[str]) -> None:
    if len(arguments) == 3:
        one_step(arguments[0], int(arguments[1]), int(arguments[2]))
        return
    smoke = "--smoke" in arguments
    for name, part in PARTS.items():
        if smoke or not arguments or name in arguments:
            part(SMALL if smoke else FEW * 2 if name == "encoding" else SIZE, smoke=smoke)


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    main(sys.argv[1:])
