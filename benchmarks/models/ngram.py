"""The n-gram model: training, sampling and scoring captions, beside nltk.lm and KenLM.

`python benchmarks/models/ngram.py` trains on 60,000 captions, samples 10,000 texts and scores 20,000 captions;
`--smoke` takes a few. Every task runs in a process of its own, on one thread. It prints seconds of processor time,
which other work on the machine changes least, tokens per second, ratios to the peers, peak memory, and how time and
memory grow with the number of texts. KenLM, if it is installed, reads our ARPA export and scores the same captions;
the largest difference per text is printed. nltk.lm has no modified Kneser-Ney smoothing and reads no ARPA file, so it
trains its own model (interpolated Kneser-Ney with one discount) on a part of the captions and scores a few of them.
Needs the captions (TEXTASSAY_DATA, or the folder beside the checkout) and, for the peers, nltk and kenlm.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DATA = Path(os.environ.get("TEXTASSAY_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
TRAINED, SAMPLED, SCORED = 60_000, 10_000, 20_000
ROUNDS = 5  # scoring is repeated, because a busy machine makes it slower
IN_THIS_PROCESS = False
SMOKE = 100  # sizes are divided by this
SETTINGS = ("", "temperature=0.7", "top_k=40", "temperature=0.7,top_p=0.9", "top_p=0.95")
# nltk.lm scores a few dozen tokens per second.
NLTK_TRAINED, NLTK_SCORED = 2_000, 10
LIMITS = {"train": 6.0, "sample": 5.0, "score": 0.8e6}


def captions(name: str, size: int) -> list[str]:
    lines = (DATA / "coco" / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line.strip()][:size]


def setting(text: str) -> dict[str, Any]:
    """Decoding settings from text such as `temperature=0.7,top_k=40`."""
    pairs = [part.split("=") for part in text.split(",") if part]
    return {name: int(value) if name == "top_k" else float(value) for name, value in pairs}


def train(size: int, folder: Path, _: str) -> dict[str, Any]:
    from textassay.models.ngrams.arpa import arpa_lines
    from textassay.models.ngrams.ngram import train as fit
    from textassay.models.storage import save

    texts = captions("train", size)
    began = time.process_time()
    model = fit(texts)
    seconds = time.process_time() - began
    peak = peak_mib()
    save(model, folder / f"{size}.safetensors")
    with (folder / f"{size}.arpa").open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in arpa_lines(model))
    return {"seconds": seconds, "peak": peak, "ngrams": sum(len(level.log_p) for level in model.levels)}


def sample(size: int, folder: Path, decoding: str) -> dict[str, Any]:
    import numpy as np

    model = loaded(folder)
    began = time.process_time()
    texts = model.sample(size, rng=np.random.default_rng(0), **setting(decoding))
    return {"seconds": time.process_time() - began, "peak": peak_mib(), "different": len(set(texts))}


def score(size: int, folder: Path, decoding: str) -> dict[str, Any]:
    import numpy as np

    model = loaded(folder)
    texts = captions("test", size)
    model.log_prob(texts[:10])  # builds the index, as reading the ARPA file does for KenLM
    seconds, scores = fastest(lambda: model.log_prob(texts, **setting(decoding)), 1 if decoding else ROUNDS)
    tokens = int(scores.n_tokens.sum())
    if not decoding:
        np.save(folder / "scores.npy", scores.log_probs)
    finite = scores.log_probs[np.isfinite(scores.log_probs)]
    return {"seconds": seconds, "peak": peak_mib(), "tokens": tokens, "zero": scores.n_zero, "sum": float(finite.sum())}


def kenlm(size: int, folder: Path, _: str) -> dict[str, Any]:
    """KenLM scores the same captions with our ARPA file."""
    import kenlm as peer
    import numpy as np

    from textassay.corpus.tokenizers import get_tokenizer

    model = peer.Model(str(newest(folder, ".arpa")))
    texts = captions("test", size)
    split = time.process_time()
    tokens = get_tokenizer("words")(texts)
    words = np.array(tokens.vocabulary.to_pylist(), dtype=object)[tokens.ids].tolist()
    lines = [" ".join(words[start:stop]) for start, stop in pairwise(tokens.offsets.tolist())]
    splitting = time.process_time() - split
    seconds, found = fastest(lambda: [model.score(line) for line in lines], ROUNDS)
    difference = np.abs(np.array(found) * np.log(10) - np.load(folder / "scores.npy"))
    n_tokens = len(tokens.ids) + size
    figures = {"seconds": seconds, "splitting": splitting, "peak": peak_mib(), "tokens": n_tokens}
    return figures | {"difference": float(difference.max())}


def nltk(size: int, _: Path, __: str) -> dict[str, Any]:
    """nltk.lm trains on `size` captions and scores some of the others."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import pad_both_ends, padded_everygram_pipeline

    from textassay.corpus.tokenizers import get_tokenizer

    def words(name: str, count: int) -> list[list[str]]:
        tokens = get_tokenizer("words")(captions(name, count))
        return [tokens.words(*tokens.offsets[place : place + 2]) for place in range(count)]

    read, scored = words("train", size), words("test", NLTK_SCORED)
    model = KneserNeyInterpolated(5)
    began = time.process_time()
    model.fit(*padded_everygram_pipeline(5, read))
    trained = time.process_time() - began
    began = time.process_time()
    for row in scored:
        padded = list(pad_both_ends(row, n=5))[: len(row) + 5]
        sum(model.logscore(padded[at], padded[at - 4 : at]) for at in range(4, len(padded)))
    tokens = sum(map(len, scored)) + len(scored)
    return {"seconds": trained, "scoring": time.process_time() - began, "tokens": tokens, "peak": peak_mib()}


TASKS = {"train": train, "sample": sample, "score": score, "kenlm": kenlm, "nltk": nltk}


def loaded(folder: Path) -> Any:
    from textassay.models.storage import load

    return load(newest(folder, ".safetensors"))


def newest(folder: Path, extension: str) -> Path:
    """The model of the most texts."""
    return max(folder.glob(f"*{extension}"), key=lambda path: int(path.stem))


def fastest(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least seconds of several rounds, and the result."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        found = work()
        times.append(time.process_time() - began)
    return min(times), found


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(task: str, size: int, folder: Path, decoding: str = "") -> dict[str, Any]:
    """The figures of one task, in a process of its own unless the run is a smoke run."""
    if IN_THIS_PROCESS:
        return TASKS[task](size, folder, decoding)
    program = [sys.executable, __file__, "--task", task, str(size), str(folder), decoding]
    done = subprocess.run(program, capture_output=True, text=True, check=True, env={**os.environ, **ONE_THREAD})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report_training(sizes: list[int], folder: Path) -> None:
    print(f"training ({LIMITS['train']:g} s wanted for {TRAINED:,} captions):")
    first: dict[str, Any] = {}
    for size in sizes:
        found = run("train", size, folder)
        first = first or found | {"size": size}
        growth = f"{found['seconds'] / first['seconds']:.1f} x the time for {size / first['size']:.0f} x the captions"
        ngrams = f"{found['ngrams']:,} n-grams"
        print(f"  {size:,} captions: {found['seconds']:.2f} s, peak {found['peak']:.0f} MiB, {ngrams}; {growth}")


def report_decoding(sampled: int, scored: int, folder: Path, settings: Sequence[str]) -> dict[str, Any]:
    print(f"sampling {sampled:,} texts ({LIMITS['sample']:g} s wanted), scoring {scored:,} captions (0.8 M tokens/s):")
    plain: dict[str, Any] = {}
    for decoding in settings:
        drawn, found = run("sample", sampled, folder, decoding), run("score", scored, folder, decoding)
        plain = plain or found
        speed = f"{found['tokens'] / found['seconds'] / 1e6:.2f} M tokens/s"
        print(
            f"  {decoding or 'no setting'}: sampling {drawn['seconds']:.2f} s ({drawn['different']:,} different, peak "
            f"{drawn['peak']:.0f} MiB); scoring {found['seconds']:.2f} s, {speed}, {found['zero']:,} texts of "
            f"probability 0, peak {found['peak']:.0f} MiB"
        )
    print(f"  perplexity of the captions: {math.exp(-plain['sum'] / plain['tokens']):.4f}")
    return plain


def report_peers(scored: int, trained: int, folder: Path, ours: dict[str, Any]) -> None:
    speed = ours["tokens"] / ours["seconds"]
    if find_spec("kenlm") is None:
        print("KenLM: not installed")
    else:
        found = run("kenlm", scored, folder)
        peer = found["tokens"] / found["seconds"]
        whole = found["tokens"] / (found["seconds"] + found["splitting"])
        print(
            f"KenLM with our ARPA file: {peer / 1e6:.2f} M tokens/s from lines of words, ours from texts is "
            f"{speed / peer:.2f} x as fast; with splitting {whole / 1e6:.2f} M tokens/s ({speed / whole:.2f} x); "
            f"largest difference {found['difference']:.1e} nats per text (1e-3 wanted); peak {found['peak']:.0f} MiB"
        )
        assert found["difference"] < 1e-3
    if find_spec("nltk") is None:
        print("nltk.lm: not installed")
        return
    found = run("nltk", trained, folder)
    peer = found["tokens"] / found["scoring"]
    own = run("train", trained, folder)
    print(
        f"nltk.lm on {trained:,} captions: training {found['seconds']:.2f} s, ours {own['seconds']:.2f} s "
        f"({found['seconds'] / own['seconds']:.1f} x as fast); scoring {peer:.0f} tokens/s, ours is "
        f"{speed / peer:,.0f} x as fast; peak {found['peak']:.0f} MiB"
    )


def shrink() -> None:
    """Settings of a run that only shows that everything still works: no processes, which take seconds to start."""
    global ROUNDS, IN_THIS_PROCESS, NLTK_SCORED
    ROUNDS, IN_THIS_PROCESS, NLTK_SCORED = 1, True, 2


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="very small inputs")
    ask.add_argument("--task", nargs=4, metavar="PART", help=argparse.SUPPRESS)
    asked = ask.parse_args()
    if asked.task:
        task, size, folder, decoding = asked.task
        print(json.dumps(TASKS[task](int(size), Path(folder), decoding)))
        return
    share = 1
    if asked.smoke:
        shrink()
        share = SMOKE
    with TemporaryDirectory() as name:
        folder = Path(name)
        report_training([TRAINED // share // part for part in ((4, 1) if asked.smoke else (4, 2, 1))], folder)
        ours = report_decoding(SAMPLED // share, SCORED // share, folder, SETTINGS[:3] if asked.smoke else SETTINGS)
        report_peers(SCORED // share, NLTK_TRAINED // share, folder, ours)


if __name__ == "__main__":
    main()
