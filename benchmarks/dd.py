"""DD: level, power, coverage, speed, and six generators of captions.

`python benchmarks/dd.py` draws samples again and again and writes the tables of docs/dd.md. Results are kept in
.benchmarks/dd.jsonl, so that a run that was stopped goes on where it was; `--fresh` begins anew. `--runs N` makes N
draws per row of the power table. `--smoke` makes very few draws on few texts and prints the tables.

Level and coverage: samples of one source, MS-COCO captions. Power: 2,000 captions of which a share is replaced by
captions of the MLE generator of Texygen or of a 5-gram model, against 2,000 others; beside it, logistic regression of
scikit-learn on TF-IDF, trained on half of the same texts. Speed: beside 5-fold cross-validation of that logistic
regression and of the ridge classifier itself, for every exchange of labels again; a few exchanges are measured.
"""

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from textassay.corpus.sample import Sample
from textassay.inference.measure import measure
from textassay.inference.plan import Plan
from textassay.inference.result import Result
from textassay.metrics.learned.labelled_texts import LabelledTexts
from textassay.metrics.registry import parse_requests
from textassay.metrics.views import Material, Settings
from textassay.models.ngrams.ngram import train as train_ngram

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
KEPT, PAGE = ROOT / ".benchmarks" / "dd.jsonl", ROOT / "docs" / "dd.md"
BEGIN, END = "<!-- benchmarks/dd.py: begin -->", "<!-- benchmarks/dd.py: end -->"
RESAMPLES = 199
GENERATORS = ("mle", "seqgan", "rankgan", "maligan", "leakgan", "textgan")
SETTINGS = Settings()


@dataclass(frozen=True)
class Scale:
    """Sizes and numbers of draws."""

    level_sizes: tuple[int, ...] = (100, 300, 1000)
    level_runs: int = 400
    power_size: int = 2000
    power_runs: int = 100
    shares: tuple[float, ...] = (0.05, 0.1, 0.2)
    cover_size: int = 500
    cover_runs: int = 200
    model_size: int = 2000
    speed_size: int = 10_000
    refits: int = 2
    trained_on: int = 60_000


SMOKE = Scale((40,), 2, 60, 1, (0.2,), 40, 2, 60, 100, 1, 500)


@cache
def lines(name: str) -> list[str]:
    """The texts of a file."""
    return [line.strip() for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()]


@cache
def joined(name: str) -> list[str]:
    """The texts of a file without the space before punctuation, which alone would separate generated texts."""
    return [re.sub(r" +([.,!?;:'])", r"\1", line) for line in lines(name)]


@cache
def written_by_ngram(trained_on: int) -> list[str]:
    """Captions of a 5-gram model."""
    model = train_ngram(lines("coco/train.txt")[:trained_on])
    return list(model.sample(10_000, rng=np.random.default_rng(0)))


def measured(
    candidate: Sequence[str], reference: Sequence[str], *, resamples: int = RESAMPLES, test: bool = True
) -> Result:
    """DD with `classifier=ridge`."""
    roles = {
        "candidate": Material(Sample.of(candidate), SETTINGS),
        "reference": Material(Sample.of(reference), SETTINGS),
    }
    return measure(parse_requests(["dd"]), roles, plan=Plan(n_resamples=resamples), test=test).results[0]


def drawn(texts: Sequence[str], sizes: Iterable[int], rng: np.random.Generator) -> list[list[str]]:
    """Parts of these sizes without a common place."""
    order = iter(rng.permutation(len(texts)).tolist())
    return [[texts[next(order)] for _ in range(size)] for size in sizes]


def words(text: str) -> list[str]:
    """Words and punctuation, as the default tokenizer separates them."""
    return re.findall(r"\w+|[^\w\s]", text)


def logistic(texts: Sequence[str], labels: Any, train: Any) -> Any:
    """Predictions of logistic regression on TF-IDF of words and word pairs, for the texts that are not trained on."""
    vectorizer = TfidfVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2))
    inside = np.zeros(len(texts), dtype=bool)
    inside[train] = True
    features = vectorizer.fit_transform([text for text, used in zip(texts, inside, strict=True) if used])
    model = LogisticRegression(max_iter=1000).fit(features, labels[inside])
    return model.predict(vectorizer.transform([text for text, used in zip(texts, inside, strict=True) if not used]))


def level_run(size: int, run: int) -> dict[str, float]:
    """One split of real captions."""
    rng = np.random.default_rng([1, size, run])
    found = measured(*drawn(lines("coco/train.txt"), (size, size), rng))
    return {"p": float(found.p_value or np.nan), "dd": found.estimate}


def power_run(source: str, share: float, run: int, scale: Scale) -> dict[str, float]:
    """One sample with replaced captions, by both classifiers."""
    rng = np.random.default_rng([2, round(100 * share), run])
    n, replaced = scale.power_size, round(share * scale.power_size)
    pool = joined("coco_models/real_train.txt") if source == "mle" else lines("coco/test.txt")
    made = joined("coco_models/mle.txt") if source == "mle" else written_by_ngram(scale.trained_on)
    reference, kept = drawn(pool, (n, n - replaced), rng)
    candidate = [*kept, *drawn(made, (replaced,), rng)[0]]
    found = measured(candidate, reference)
    texts, labels = [*candidate, *reference], np.arange(2 * n) < n
    train = rng.permutation(2 * n)[:n]
    right = int((logistic(texts, labels, train) == np.delete(labels, train)).sum())
    return {"p": float(found.p_value or np.nan), "dd": found.estimate, "peer_p": float(binom.sf(right - 1, n, 0.5))}


def cover_run(name: str, run: int, scale: Scale) -> dict[str, float]:
    """One interval."""
    rng = np.random.default_rng([3, len(name), run])
    (reference,) = drawn(joined("coco_models/real_train.txt"), (scale.cover_size,), rng)
    (candidate,) = drawn(joined(f"coco_models/{name}.txt"), (scale.cover_size,), rng)
    found = measured(candidate, reference, test=False)
    low, high = (found.interval.low, found.interval.high) if found.interval else (np.nan, np.nan)
    return {"dd": found.estimate, "low": low, "high": high}


def model_run(name: str, scale: Scale) -> dict[str, float]:
    """One generator against real captions."""
    rng = np.random.default_rng(4)
    (reference,) = drawn(lines("coco_models/real_train.txt"), (scale.model_size,), rng)
    (candidate,) = drawn(lines(f"coco_models/{name}.txt"), (scale.model_size,), rng)
    found = measured(candidate, reference, resamples=999)
    low, high = (found.interval.low, found.interval.high) if found.interval else (np.nan, np.nan)
    return {"dd": found.estimate, "low": low, "high": high, "p": float(found.p_value or np.nan)}


def speed_run(scale: Scale) -> dict[str, float]:
    """The whole measurement, and a few exchanges with 5-fold refits of two classifiers; processor seconds."""
    n = scale.speed_size
    candidate, reference = lines("coco/train.txt")[:n], lines("coco/test.txt")[:n]
    began, clock = time.process_time(), time.perf_counter()
    measured(candidate, reference, resamples=999)
    ours, wall = time.process_time() - began, time.perf_counter() - clock
    texts, rng = [*candidate, *reference], np.random.default_rng(0)
    features = Material(Sample.of(texts), SETTINGS).view(LabelledTexts).features()
    peers: dict[str, Callable[[Any, Any], Any]] = {
        "logistic": lambda labels, train: logistic(texts, labels, train),
        "ridge": lambda labels, train: _ridge(features, labels, train),
    }
    found = {"ours": ours, "wall": wall, "refits": float(scale.refits)}
    for name, peer in peers.items():
        began = time.process_time()
        for _ in range(scale.refits):
            labels, folds = rng.permutation(2 * n) < n, rng.permutation(2 * n) % 5
            for fold in range(5):
                peer(labels, np.flatnonzero(folds != fold))
        found[name] = (time.process_time() - began) / scale.refits
    return found


def _ridge(features: Any, labels: Any, train: Any) -> Any:
    """Predictions of a ridge classifier on the same features, fitted again."""
    rest = np.delete(np.arange(len(labels)), train)
    inside = features[train]
    mean = np.asarray(inside.mean(axis=0)).reshape(-1)
    moments = (inside.T @ inside).toarray() - len(train) * np.outer(mean, mean)
    moments[np.diag_indices(len(moments))] += np.trace(moments) / len(moments)
    means = [np.asarray(inside[labels[train] == side].mean(axis=0)).reshape(-1) for side in (True, False)]
    weights = np.linalg.solve(moments, means[0] - means[1])
    return features[rest] @ weights > (means[0] + means[1]) @ weights / 2


def tasks(scale: Scale) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Everything to run, by the key of its result; interleaved, so that a stopped run has some of every row."""
    yield "speed", lambda: speed_run(scale)
    for name in GENERATORS:
        yield f"model {name}", lambda name=name: model_run(name, scale)  # type: ignore[misc]
    most = max(scale.level_runs, scale.power_runs, scale.cover_runs)
    for run in range(most):
        for size in scale.level_sizes if run < scale.level_runs else ():
            yield f"level {size} {run}", lambda size=size, run=run: level_run(size, run)  # type: ignore[misc]
        for name in ("mle", "leakgan") if run < scale.cover_runs else ():
            yield f"cover {name} {run}", lambda name=name, run=run: cover_run(name, run, scale)  # type: ignore[misc]
        for source in ("mle", "ngram") if run < scale.power_runs else ():
            for share in scale.shares:
                yield (
                    f"power {source} {share:g} {run}",
                    lambda source=source, share=share, run=run: power_run(source, share, run, scale),  # type: ignore[misc]
                )


def rows_of(found: dict[str, dict[str, float]], prefix: str) -> list[dict[str, float]]:
    """Results of all runs of one row."""
    return [result for key, result in found.items() if re.fullmatch(re.escape(prefix) + r" \d+", key)]


def share_below(rows: Sequence[dict[str, float]], key: str) -> str:
    """How often a p-value is significant at 5 %."""
    hits = sum(row[key] <= 0.05 for row in rows)
    return f"{hits / len(rows):.1%}" if rows else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def level_table(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """Rejections of real against real."""
    rows = [(size, rows_of(found, f"level {size}")) for size in scale.level_sizes]
    return table(
        ["texts per sample", "draws", "rejected at 5 %", "mean DD"],
        [
            (f"{size:,}", str(len(each)), share_below(each, "p"), f"{np.mean([row['dd'] for row in each]):+.3f}")
            for size, each in rows
            if each
        ],
    )


def power_table(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """How often replaced captions are found."""
    rows = []
    for source, label in (("mle", "MLE captions"), ("ngram", "5-gram captions")):
        for share in scale.shares:
            each = rows_of(found, f"power {source} {share:g}")
            if each:
                rows.append(
                    (label, f"{share:.0%}", str(len(each)), share_below(each, "p"), share_below(each, "peer_p"))
                )
    return table(["replaced by", "share", "draws", "`dd`", "logistic regression, held-out half"], rows)


def cover_table(found: dict[str, dict[str, float]]) -> str:
    """How often intervals contain the mean of all estimates."""
    rows = []
    for name in ("mle", "leakgan"):
        each = rows_of(found, f"cover {name}")
        if each:
            mean = float(np.mean([row["dd"] for row in each]))
            hits = sum(row["low"] <= mean <= row["high"] for row in each)
            width = float(np.mean([row["high"] - row["low"] for row in each]))
            rows.append((name, str(len(each)), f"{mean:.3f}", f"{hits / len(each):.1%}", f"{width:.3f}"))
    return table(["candidate", "draws", "mean DD", "covered by 95 % intervals", "mean width"], rows)


def model_table(found: dict[str, dict[str, float]]) -> str:
    """The generators."""
    rows = [
        (name, f"{row['dd']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}", f"{row['p']:.3f}")
        for name in GENERATORS
        if (row := found.get(f"model {name}"))
    ]
    return table(["generator", "DD", "95 % interval", "p"], rows)


def speed_text(row: dict[str, float], scale: Scale) -> str:
    """Seconds and ratios."""
    peers = [
        (label, row[name])
        for name, label in (("logistic", "logistic regression on TF-IDF"), ("ridge", "ridge classifier"))
    ]
    rows = [("`dd` with 999 exchanges, interval included", f"{row['ours']:.1f}", "1")]
    rows += [
        (f"999 exchanges with 5 refits each: {label}", f"{999 * each:,.0f}", f"{999 * each / row['ours']:,.0f}")
        for label, each in peers
    ]
    head = f"{scale.speed_size:,} v {scale.speed_size:,} captions"
    note = (
        f"The refits were measured for {row['refits']:.0f} exchanges and multiplied. Elapsed time of `dd` in the same "
        f"run: {row['wall']:.1f} s, with other programs on the same processor."
    )
    return table([head, "processor seconds", "ratio"], rows) + f"\n\n{note}"


def page(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """All tables with what they show."""
    parts = [
        "## Measured",
        f"Made by `python benchmarks/dd.py`, with {RESAMPLES} exchanges per test unless stated otherwise.",
        "**Level.** Two samples of real MS-COCO captions.",
        level_table(found, scale),
        f"**Power.** {scale.power_size:,} captions, a share of them replaced, against {scale.power_size:,} others; how "
        "often each test is significant at 5 %.",
        power_table(found, scale),
        "At these shares both classifiers find little, and differences of a few per cent between the two columns are "
        "within chance for this number of draws. The overall test of `compare` decides whether samples differ; `dd` "
        "measures by how much they can be separated.",
        f"**Intervals.** {scale.cover_size:,} generated against {scale.cover_size:,} real captions; the mean of all "
        "estimates stands for the expected value.",
        cover_table(found),
        f"**Generators.** {scale.model_size:,} captions of the six generators of Texygen against as many of their "
        "training captions, 999 exchanges. The generators write a space before every full stop; the default tokenizer "
        "separates punctuation from words, so `dd` does not see it.",
        model_table(found),
        "**Speed.** One thread.",
        speed_text(found["speed"], scale) if "speed" in found else "",
    ]
    return "\n\n".join(parts)


def read_kept(path: Path) -> dict[str, dict[str, float]]:
    """Results of earlier runs."""
    if not path.exists():
        return {}
    kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row.pop("key"): row for row in kept}


def main() -> None:
    """Run what is missing and write the page."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--smoke", action="store_true", help="very few draws, printed")
    ask.add_argument("--fresh", action="store_true", help="forget earlier results")
    ask.add_argument("--runs", type=int, default=Scale.power_runs, help="draws per row of the power table")
    ask.add_argument("--only", default="", help="run only: speed, model, level, cover or power")
    ask.add_argument("--page", action="store_true", help="write the page from earlier results only")
    asked = ask.parse_args()
    scale = SMOKE if asked.smoke else Scale(power_runs=asked.runs)
    if asked.fresh:
        KEPT.unlink(missing_ok=True)
    found = {} if asked.smoke else read_kept(KEPT)
    with threadpool_limits(1):
        for key, work in [] if asked.page else tasks(scale):
            if key not in found and key.startswith(asked.only):
                found[key] = work()
                if not asked.smoke:
                    KEPT.parent.mkdir(exist_ok=True)
                    with KEPT.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key, **found[key]}) + "\n")
    written = page(found, scale)
    if asked.smoke:
        print(written)
        return
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before.rstrip()}\n\n{BEGIN}\n\n{written}\n\n{END}{after or chr(10)}", encoding="utf-8")


if __name__ == "__main__":
    main()
