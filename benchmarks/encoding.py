"""Encoding with MiniLM: plain sentence-transformers, `minilm` and `minilm:int8` on the same captions; long documents.

`python benchmarks/encoding.py [speed] [effect] [long] [reversed] [TEXTS]`: without a part all are run, on 5,000 texts
(1,000 documents) by default; `--smoke` takes a few.
`speed` gives every encoder processes of its own, in turn, and prints the ratio by the clock to plain
sentence-transformers, peak memory, growth with size and cosines. Other work on the machine slows threads that wait for
each other the most, and would flatter ours; so it also prints the ratio of processor time to sentence-transformers on
one thread, which is what two threads without any loss would come to. `effect` prints what every embedding metric makes
of the two encoders of ours. `long` encodes documents of 1,000 words in windows, a fifth of them at a time, and prints
the time per window and peak memory, beside those of captions. `reversed` compares 150 with 150 documents, the second
half of every candidate with its words reversed, and counts in how many of 30 draws the energy distance of the vectors
finds it: with windows, with beginnings alone, and where nothing is reversed. Needs the extras `embed` and `fast` and
the real captions and news (TEXTASSAY_DATA, or the folder beside the checkout).
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from steps import step

from textassay.corpus.arrays import F32
from textassay.corpus.sample import Sample
from textassay.corpus.tokenizers import get_tokenizer
from textassay.encoders.base import Encoder
from textassay.encoders.minilm import minilm_folder
from textassay.encoders.remembered import read, remember
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SIZE, ROUNDS, WARM = 5_000, 2, 64
LONG_SIZE, POOL, DRAWN, DRAWS = 1_000, 250, 150, 30
SMOKE = False
ONE_THREAD = "sentence-transformers, 1 thread"
PEERS, OURS = ("sentence-transformers", ONE_THREAD), ("minilm", "minilm:int8")
# Sentences per document, and the encoder, of the documents whose second half is reversed.
SENTENCES, READER = 40, "minilm"
WINDOWS = (("windows=16", 16), ("windows=first", 1))
REFERENCE, CANDIDATES = "coco/test", ("coco/train", "coco_models/leakgan", "coco_models/textgan")


def captions(name: str, size: int) -> list[str]:
    lines = (DATA / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.strip()][:size]


def drawn(name: str, size: int) -> list[str]:
    """Texts from all over a file, since neighbours may tell of the same picture."""
    texts = captions(name, sys.maxsize)
    places = np.random.default_rng(0).permutation(len(texts))[:size]
    return [texts[place] for place in places]


def our_encoder(kind: str, **settings: int) -> Encoder:
    from textassay.encoders.minilm import minilm, minilm_int8

    return minilm_int8(**settings) if kind == "minilm:int8" else minilm(**settings)


def loaded(kind: str) -> Callable[[list[str]], F32]:
    """The function that encodes, its model in memory and warm."""
    if kind not in OURS:
        import torch
        from sentence_transformers import SentenceTransformer

        if kind == ONE_THREAD:
            torch.set_num_threads(1)
        encode: Callable[[list[str]], F32] = SentenceTransformer(str(minilm_folder().path), device="cpu").encode
    else:
        encode = our_encoder(kind).encode
    encode(captions("coco/train", WARM))
    return encode


def one_process(kind: str, size: int, vectors: str) -> None:
    """Time a quarter, a half and all of the texts; keep the vectors of all."""
    texts = captions("coco/test", size)
    began = time.perf_counter()
    encode = loaded(kind)
    found: dict[str, Any] = {"load": time.perf_counter() - began, "clock": {}, "processor": {}}
    for part in (size // 4, size // 2, size):
        clock, processor = time.perf_counter(), time.process_time()
        values = encode(texts[:part])
        found["clock"][part] = time.perf_counter() - clock
        found["processor"][part] = time.process_time() - processor
    np.save(vectors, values)
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(json.dumps(found))


def best(runs: Sequence[dict[str, Any]], measure_: str) -> dict[int, float]:
    """The best of a few runs at each size: the machine's own noise only ever adds."""
    return {int(part): min(run[measure_][part] for run in runs) for part in runs[0][measure_]}


def speed(size: int) -> None:
    """Every encoder in processes of its own, in turn."""
    kinds = (*PEERS, *OURS)
    peer = PEERS[0]
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    with TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for kind in kinds:
                arguments = ["one", kind, str(size), f"{folder}/{kind}.npy"]
                runs[kind].append(json.loads(step(__file__, main, arguments, smoke=SMOKE)))
        vectors = {kind: np.load(f"{folder}/{kind}.npy") for kind in kinds}
    plain, least = best(runs[peer], "clock")[size], best(runs[ONE_THREAD], "processor")[size]
    for kind in kinds:
        clock, processor = best(runs[kind], "clock"), best(runs[kind], "processor")
        memory, load = (min(run[name] for run in runs[kind]) for name in ("peak_mib", "load"))
        print(f"{kind}: {size:,} captions in {clock[size]:.2f} s ({size / clock[size]:,.0f} a second)")
        print(f"  processor time {processor[size]:.2f} s, peak memory {memory:,.0f} MiB, ready after {load:.1f} s")
        print(f"  growth: {', '.join(f'{part:,} texts {seconds:.2f} s' for part, seconds in clock.items())}")
        if kind in OURS:
            cosines = (vectors[kind].astype(np.float64) * vectors[peer]).sum(axis=1)
            print(f"  {plain / clock[size]:.2f} times faster than {peer} by the clock")
            print(f"  {least / processor[size]:.2f} times less processor time than {ONE_THREAD}")
            print(f"  cosine with its vectors: mean {cosines.mean():.5f}, minimum {cosines.min():.5f}")


def effect(size: int) -> None:
    """Every embedding metric, of real and generated text against real text, with both encoders."""
    requests = parse_requests(families=["embedding"])
    encoders = {kind: our_encoder(kind) for kind in OURS}
    reference = Sample.of(drawn(REFERENCE, size), name=REFERENCE)
    references = {kind: _material(reference, encoder) for kind, encoder in encoders.items()}
    for name in CANDIDATES:
        candidate = Sample.of(drawn(name, size), name=name)
        print(f"{name} v {REFERENCE}, {len(candidate.texts):,} v {len(reference.texts):,} texts: {' v '.join(OURS)}")
        values = []
        for kind, encoder in encoders.items():
            roles = {"candidate": _material(candidate, encoder), "reference": references[kind]}
            values.append([found.estimate for found in measure(requests, roles, plan=Plan(n_resamples=0)).results])
        for request, one, other in zip(requests, *values, strict=True):
            print(f"  {request.label}: {one:.5g} v {other:.5g} ({(other - one) / abs(one):+.2%})")


def _material(sample: Sample, encoder: Encoder) -> Material:
    return Material(sample, Settings(get_tokenizer("whitespace"), encoder))


def documents(size: int, sentences: int) -> list[str]:
    """News sentences shuffled and put together; no two documents share a sentence as long as there are enough."""
    texts = [*captions("news/valid", sys.maxsize), *captions("news/test", sys.maxsize)]
    made: list[str] = []
    while len(made) < size:
        order = np.random.default_rng(len(made)).permutation(len(texts))
        ends = range(0, len(order) - sentences + 1, sentences)
        made += [" ".join(texts[place] for place in order[begin : begin + sentences]) for begin in ends]
    return made[:size]


def half_reversed(text: str) -> str:
    """The text with the words of its second half in reverse order."""
    words = text.split()
    half = len(words) // 2
    return " ".join([*words[:half], *words[half:][::-1]])


def long_process(kind: str, what: str, size: int) -> None:
    """Encode in five equal parts, as a study does, and print the windows, time and peak memory of each."""
    texts = documents(size, 36) if what == "documents" else captions("coco/train", size)
    encoder = our_encoder(kind)
    encoder.encode(captions("coco/test", WARM))
    for part in range(5):
        some = texts[part * size // 5 : (part + 1) * size // 5]
        windows = int(read(encoder, [(what, some)], store=None).windows(some).sum())
        clock, processor = time.perf_counter(), time.process_time()
        remember(encoder, some, store=None)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        print(
            f"{kind}, {len(some):,} {what} in {windows:,} windows: {clock:.1f} s, "
            f"{1000 * processor / windows:.1f} ms of processor time per window, peak memory {peak:,.0f} MiB",
            flush=True,
        )


def long_texts(size: int) -> None:
    """Documents and captions, each encoder and kind in a process of its own."""
    size = min(size, LONG_SIZE)
    for kind in OURS:
        for what, number in (("captions", 5 * size), ("documents", size)):
            print(step(__file__, main, ["long-one", kind, what, str(number)], smoke=SMOKE), end="", flush=True)


def reversed_halves(_: int) -> None:
    """Draws of 150 v 150 from 250 documents and 250 others whose second half is reversed."""
    texts = documents(2 * POOL, SENTENCES)
    for label, windows in WINDOWS:
        encoder = our_encoder(READER, windows=windows)
        plain = encoder.encode(texts[:POOL])
        damaged = encoder.encode([half_reversed(text) for text in texts[POOL:]])
        rng = np.random.default_rng(0)
        found = none = 0
        for draw in range(DRAWS):
            here, there = rng.permutation(POOL), rng.permutation(POOL)
            found += _energy_p(plain[here[:DRAWN]], damaged[there[:DRAWN]], draw) <= 0.05
            none += _energy_p(plain[here[: POOL // 2]], plain[here[POOL // 2 :]], draw) <= 0.05
        print(f"{label}: energy finds the reversed halves in {found} of {DRAWS} draws", end="; ")
        print(f"p <= .05 in {none} of {DRAWS} draws of {POOL // 2} v {POOL // 2} where nothing is reversed", flush=True)


def _energy_p(candidate: F32, reference: F32, seed: int) -> float:
    """The p-value of the energy distance as `compare` has it."""
    (request,) = parse_requests(["energy"])
    samples = {"candidate": candidate, "reference": reference}
    roles = {name: _Given(name, values).material() for name, values in samples.items()}
    (result,) = measure([request], roles, plan=Plan(n_resamples=199, seed=seed)).results
    assert result.p_value is not None
    return result.p_value


class _Given:
    """An encoder of vectors that are there, for texts that are their numbers."""

    def __init__(self, name: str, values: F32) -> None:
        self.name, self.values, self.dimension = name, values, values.shape[1]

    def encode(self, texts: Sequence[str], /) -> F32:
        return self.values[[int(text) for text in texts]]

    def material(self) -> Material:
        return _material(Sample.of([str(place) for place in range(len(self.values))], name=self.name), self)


def shrink() -> None:
    """Sizes of a run that only shows that everything still works."""
    global SMOKE, SIZE, ROUNDS, WARM, LONG_SIZE, POOL, DRAWN, DRAWS, PEERS, OURS, WINDOWS, SENTENCES, READER
    SMOKE, SIZE, ROUNDS, WARM, LONG_SIZE, POOL, DRAWN, DRAWS = True, 8, 1, 4, 5, 8, 6, 1
    PEERS, OURS, WINDOWS, SENTENCES, READER = (ONE_THREAD,), ("minilm:int8",), WINDOWS[:1], 12, "minilm:int8"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["one"]:
        one_process(arguments[1], int(arguments[2]), arguments[3])
        return
    if arguments[:1] == ["long-one"]:
        long_process(arguments[1], arguments[2], int(arguments[3]))
        return
    if "--smoke" in arguments:
        shrink()
        arguments = [*arguments, "speed", "reversed"]
    arguments = [argument for argument in arguments if argument != "--smoke"]
    size = next((int(argument) for argument in arguments if argument.isdecimal()), SIZE)
    parts = [argument for argument in arguments if not argument.isdecimal()]
    for name, part in (("speed", speed), ("effect", effect), ("long", long_texts), ("reversed", reversed_halves)):
        if not parts or name in parts:
            part(size)


if __name__ == "__main__":
    main(sys.argv[1:])
