"""The separable share: estimates and bounds where the total variation distance is known, generators and models.

`python benchmarks/effect_size.py` draws samples again and again and writes docs/effect-size.md. Results are kept in
.benchmarks/effect_size.jsonl, so that a run that was stopped goes on where it was; `--fresh` begins anew, `--page`
writes the page from what there is. `--smoke` makes very few draws on few texts and prints the page.

Known distance: each text of a candidate is, with the stated probability, from another source that has next to no text
in common with the reference's. The total variation distance is then that probability. Beside the separable share of the
same texts: `dd`, and on some draws the word-pair distance (the root of one minus Morisita's overlap of the word pairs)
and the vector distance (the root of the energy coefficient of MiniLM vectors).
"""

import argparse
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from textassay import metrics
from textassay.corpus.sample import Sample
from textassay.encoders.base import get_encoder
from textassay.inference.effect_size import detectable_share, grade_of
from textassay.inference.overall.test import OverallPlan, overall_test
from textassay.metrics.ngrams.counts import TextNgrams
from textassay.metrics.views import Material, Settings

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TEXTASSAY_DATA", ROOT.parent / "shared" / "data"))
KEPT, PAGE = ROOT / ".benchmarks" / "effect_size.jsonl", ROOT / "docs" / "effect-size.md"
GENERATORS = ("mle", "seqgan", "rankgan", "maligan", "leakgan", "textgan")
MODELS = {
    "text_davinci_003": "davinci-003",
    "gpt-3.5-turbo-0301": "3.5-0301",
    "gpt-3.5-turbo-0613": "3.5-0613",
    "gpt-3.5-turbo-1106": "3.5-1106",
    "gpt4_0613": "gpt4-0613",
    "gpt-4o-2024-05-13": "4o",
    "vicuna-7b": "vicuna-7b",
    "Meta-Llama-3-8B-Instruct": "llama3-8b",
}
# The source of each reference and what is mixed into the candidate.
MIXTURES = {"news": "captions", "captions": "news", "LLM outputs": "news"}


@dataclass(frozen=True)
class Scale:
    """Sizes, shares of other texts, and numbers of draws per size."""

    sizes: tuple[int, ...] = (100, 400, 1000, 3500)
    runs: tuple[int, ...] = (40, 25, 12, 2)
    beside: int = 2
    shares: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.3, 0.6, 1.0)
    most_runs: int = 40
    model_size: int = 2000
    models: int = 8
    vectors: bool = True


SMOKE = Scale((40,), (2,), 1, (0.0, 0.3), 2, 60, 2, vectors=False)


@cache
def lines(name: str) -> list[str]:
    """The texts of a file."""
    return [line.strip() for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()]


@cache
def outputs(model: str) -> tuple[list[str], list[str]]:
    """The outputs of a model and their instructions, in the order of the instructions."""
    rows = json.loads((DATA / "llm" / f"{model}.json").read_text(encoding="utf-8"))
    kept = sorted((row["instruction"], row["output"]) for row in rows if row["output"].strip())
    return [text for _, text in kept], [prompt for prompt, _ in kept]


@cache
def source(name: str) -> list[str]:
    """All texts of a source; those of all models together are one source."""
    if name == "news":
        return lines("news/valid.txt") + lines("news/test.txt")
    if name == "captions":
        return lines("coco/train.txt")
    return [text for model in MODELS for text in outputs(model)[0]]


def drawn(base: str, share: float, n: int, run: int) -> tuple[list[str], list[str]]:
    """Candidate and reference; each text of the candidate is from the other source with this probability.

    The first draws of all shares are of the same texts, so that each of them is encoded once.
    """
    key = [5, list(MIXTURES).index(base), round(100 * share) if run else 0, n, run]
    rng = np.random.default_rng(key)
    own, other = source(base), source(MIXTURES[base])
    places = rng.permutation(len(own))[: 2 * n]
    texts = [own[place] for place in places]
    order = rng.permutation(len(other))
    mixed = int(rng.binomial(n, share))
    return [*(other[place] for place in order[:mixed]), *texts[mixed:n]], texts[n:]


def share_of(candidate: Any, reference: Any) -> dict[str, float]:
    """Estimate and bound."""
    found = metrics.separable(candidate, reference)
    return {"estimate": found.estimate, "low": found.interval.low}


def word_pair_distance(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The root of one minus Morisita's overlap, each sum without bias from pairs of different texts."""
    views = [Material(Sample.of(texts), Settings()).view(TextNgrams) for texts in (candidate, reference)]
    orders = [view.order(2) for view in views]
    squares = []
    for view, order in zip(views, orders, strict=True):
        sizes, counts = view.sizes(2).astype(float), order.counts.astype(float)
        totals = order.totals().astype(float)
        squares.append((totals @ totals - counts @ counts) / (sizes.sum() ** 2 - sizes @ sizes))
    _, mine, theirs = np.intersect1d(orders[0].keys, orders[1].keys, return_indices=True)
    across = float(orders[0].totals()[mine].astype(float) @ orders[1].totals()[theirs])
    across /= float(views[0].sizes(2).sum()) * float(views[1].sizes(2).sum())
    return math.sqrt(max(1 - 2 * across / sum(squares), 0.0))


_VECTORS: dict[str, Any] = {}


def vector_distance(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The root of the energy coefficient of MiniLM vectors."""
    new = list(dict.fromkeys(text for text in (*candidate, *reference) if text not in _VECTORS))
    if new:
        encoder = get_encoder("minilm", reference=Sample.of(reference), candidates={})
        _VECTORS.update(zip(new, encoder.encode(new).astype(float), strict=True))
    mine, theirs = (np.stack([_VECTORS[text] for text in texts]) for texts in (candidate, reference))

    def mean(one: Any, other: Any) -> float:
        gaps = np.sqrt(np.maximum((one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T, 0.0))
        pairs = gaps.size - (len(one) if one is other else 0)
        return float(gaps.sum() / pairs)

    across = mean(mine, theirs)
    return math.sqrt(max(1 - (mean(mine, mine) + mean(theirs, theirs)) / (2 * across), 0.0))


def mixture_run(base: str, share: float, n: int, run: int, scale: Scale) -> dict[str, float]:
    """One draw with a known distance; what is slower only on the first draws."""
    candidate, reference = drawn(base, share, n, run)
    found = share_of(candidate, reference)
    if run < scale.beside:
        found["words"] = word_pair_distance(candidate, reference)
        found["dd"] = metrics.dd(candidate, reference, n_resamples=0).estimate
    # Encoding the long texts of language models takes longer than all else together.
    if run == 0 and n == scale.sizes[0] and scale.vectors and base != "LLM outputs":
        found["vectors"] = vector_distance(candidate, reference)
    return found


def unnoticed_run(base: str, n: int, run: int) -> dict[str, float]:
    """Whether a share as large as the one that `would probably have been found` is found."""
    share = detectable_share(n, n, level=0.95)
    sides = [Material(Sample.of(texts), Settings()) for texts in drawn(base, share, n, 1000 + run)]
    found = overall_test(sides[0], sides[1], plan=OverallPlan(n_resamples=99))
    seen = share_of(*(side.sample for side in sides))
    return seen | {"share": share, "bound": float(seen["low"] > 0), "overall": float((found.p_value or 0.0) <= 0.05)}


def generator_run(name: str, scale: Scale) -> dict[str, float]:
    """One generator of captions, or other real captions, against the captions that it was trained on."""
    real = lines("coco_models/real_train.txt")
    order = np.random.default_rng(6).permutation(len(real))
    reference = [real[place] for place in order[: scale.model_size]]
    made = [real[place] for place in order[scale.model_size :]] if name == "real" else lines(f"coco_models/{name}.txt")
    return share_of(made[: scale.model_size], reference)


def pair_run(one: str, other: str, scale: Scale) -> dict[str, float]:
    """Two models on the same instructions."""
    sides = []
    for model in (one, other):
        texts, prompts = (column[: scale.model_size] for column in outputs(model))
        sides.append(Sample.of(texts, groups=prompts))
    return share_of(*sides)


def tasks(scale: Scale) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Everything to run, by the key of its result; interleaved, so that a stopped run has some of every row."""
    for name in ("real", *GENERATORS):
        yield f"generator|{name}", lambda name=name: generator_run(name, scale)  # type: ignore[misc]
    for one, other in model_pairs(scale):
        yield f"pair|{one}|{other}", lambda one=one, other=other: pair_run(one, other, scale)  # type: ignore[misc]
    for run in range(max(scale.most_runs, *scale.runs)):
        for n, runs in zip(scale.sizes, scale.runs, strict=True):
            for base in MIXTURES:
                for share in scale.shares:
                    # Bounds above the truth are most likely where there is no difference.
                    is_level = share == 0 and n <= 1000
                    often = scale.most_runs if is_level or (base, share, n) == ("news", 0.1, 1000) else runs
                    if run < often and 2 * n <= len(source(base)):
                        yield (
                            f"mixture|{base}|{share:g}|{n}|{run}",
                            lambda base=base, share=share, n=n, run=run: mixture_run(base, share, n, run, scale),  # type: ignore[misc]
                        )
                if n <= 400 and run < 8 * scale.beside // 2:
                    yield f"unnoticed|{base}|{n}|{run}", lambda base=base, n=n, run=run: unnoticed_run(base, n, run)  # type: ignore[misc]


def model_pairs(scale: Scale) -> list[tuple[str, str]]:
    """Every two models, and one model beside itself with two other system prompts."""
    one = "gpt-3.5-turbo-1106"
    return [*combinations(list(MODELS)[: scale.models], 2), (one, f"{one}_concise"), (one, f"{one}_verbose")]


def rows_of(found: dict[str, dict[str, float]], *key: object) -> list[dict[str, float]]:
    """Results of all runs of one cell."""
    prefix = "|".join(map(str, key)) + "|"
    return [row for name, row in found.items() if name.startswith(prefix)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---", *["---:"] * (len(head) - 1)], *rows))


def mean(rows: Sequence[dict[str, float]], key: str) -> str:
    """The mean of what was measured."""
    values = [row[key] for row in rows if key in row]
    return f"{np.mean(values):.3f}" if values else ""


def mixture_table(found: dict[str, dict[str, float]], base: str, scale: Scale) -> str:
    """One row per share and size."""
    rows = []
    for share in scale.shares:
        for n in scale.sizes:
            each = rows_of(found, "mixture", base, f"{share:g}", n)
            if each:
                lows = np.array([row["low"] for row in each])
                cells = [mean(each, key) for key in ("estimate", "low")]
                shares = [f"{(lows > 0).mean():.0%}", f"{int((lows > share).sum())} of {len(lows)}"]
                rows.append(
                    [f"{share:.0%}", f"{n:,}", *cells, *shares, *(mean(each, k) for k in ("dd", "words", "vectors"))]
                )
    head = [
        "share",
        "n",
        "estimate",
        "bound",
        "bound above 0",
        "bound above the truth",
        "`dd`",
        "word pairs",
        "vectors",
    ]
    return table(head, rows)


def truth_table(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """Bounds above the truth, by size, without and with a difference."""
    rows = []
    for n in scale.sizes:
        cells = []
        for shares in (scale.shares[:1], scale.shares[1:]):
            each = [
                (row["low"], s)
                for s in shares
                for base in MIXTURES
                for row in rows_of(found, "mixture", base, f"{s:g}", n)
            ]
            over, total = sum(low > s for low, s in each), len(each)
            limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / total) if total else math.nan
            cells += [f"{over} of {total}", f"{over / total:.1%} ({limit:.1%})" if total else ""]
        rows.append([f"{n:,}", *cells])
    rate = "rate (accepted: at most)"
    return table(["n", "no difference: bounds above 0", rate, "other shares: bounds above the truth", rate], rows)


def unnoticed_table(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """How often the share that `would probably have been found` is found."""
    rows = []
    for base in MIXTURES:
        for n in scale.sizes:
            each = rows_of(found, "unnoticed", base, n)
            if each:
                rates = [f"{np.mean([row[key] for row in each]):.0%}" for key in ("bound", "overall")]
                rows.append([base, f"{n:,}", str(len(each)), f"{each[0]['share']:.1%}", mean(each, "estimate"), *rates])
    return table(["texts", "n", "draws", "share", "estimate", "bound above 0", "overall test significant"], rows)


def percent(row: dict[str, float]) -> str:
    """Estimate and bound in per cent."""
    return f"{100 * row['estimate']:.0f} ({100 * row['low']:.0f})"


def generator_table(found: dict[str, dict[str, float]]) -> str:
    """The generators of captions."""
    names = {"real": "other real captions", **{name: name for name in GENERATORS}}
    kept = [(label, found[f"generator|{name}"]) for name, label in names.items() if f"generator|{name}" in found]
    rows = [
        [label, f"{row['estimate']:.1%}", f"{row['low']:.1%}", grade_of(row["low"]) if row["low"] else ""]
        for label, row in kept
    ]
    return table(["candidate", "separable share", "lower bound", "grade"], rows)


def pair_table(found: dict[str, dict[str, float]]) -> str:
    """Every two models: estimate and, in brackets, bound."""
    rows = []
    for one, label in MODELS.items():
        cells = [found.get(f"pair|{one}|{other}") or found.get(f"pair|{other}|{one}") for other in MODELS]
        rows.append([label, *(percent(cell) if cell else "" for cell in cells)])
    return table(["", *MODELS.values()], rows)


def prompt_text(found: dict[str, dict[str, float]]) -> str:
    """One model beside itself with other system prompts."""
    one = "gpt-3.5-turbo-1106"
    kept = {style: found.get(f"pair|{one}|{one}_{style}") for style in ("concise", "verbose")}
    said = [f"{percent(row)} with the system prompt “{style}”" for style, row in kept.items() if row]
    return f"The model 3.5-1106 against itself: {' and '.join(said)}." if said else ""


def page(found: dict[str, dict[str, float]], scale: Scale) -> str:
    """All tables with what they show."""
    parts = [
        "# Effect size",
        "The separable share is the share of a candidate's texts that must be replaced, at least, to make it "
        "distributed like the reference. "
        "[Statistics](statistics.md#how-large-the-difference-is-the-separable-share) derives it. "
        "This page shows it where the truth is known, and on generators that a reader can judge. "
        "Made by `python benchmarks/effect_size.py`.",
        "## Known total variation distance",
        "Each text of a candidate is from another source with the stated probability, which is then the total "
        "variation distance: captions in news, news in captions, and news in outputs of eight language models. "
        "The estimate and the bound are means over draws. `dd`, the word-pair distance (0 to 1) and the vector "
        f"distance (0 to 1) are means over the first {scale.beside} draws of the same texts; vectors are measured once "
        "per row, for the smallest size and for sentences only. There are too few outputs of language models for n = "
        "3,500.",
        *(
            f"**{other.capitalize()} in {base}**\n\n{mixture_table(found, base, scale)}"
            for base, other in MIXTURES.items()
        ),
        "With few texts the classifier learns little, so estimates are too low, and a small share among few texts is "
        "not seen. News among short outputs of language models is not always recognised, even with many texts. The "
        "word-pair distance of one and the same share depends on the texts: compare the rows of 30 %.",
        "## Bounds above the truth",
        "A bound at the level of 95 % may be above the truth in 5 % of draws. The number in brackets is the largest "
        "rate that fits 5 %: 5 % plus two standard errors. In the row of no difference, bounds above 0 are counted "
        "whatever the overall test says; a verdict shows a bound only where that test finds a difference.",
        truth_table(found, scale),
        "## What would probably have been found",
        "If no difference was found, the verdict names a share of texts that would probably have been found if a "
        "classifier recognises them. Here, candidates have this share of other texts. Where the estimate is as large, "
        "nearly all draws are found. A classifier cannot learn to recognise news from a few short outputs of language "
        "models: the estimate is lower there, and fewer draws are found.",
        unnoticed_table(found, scale),
        "## Generators of captions",
        f"{scale.model_size:,} captions of the six generators of Texygen against as many of their training captions.",
        generator_table(found),
        "## Language models",
        "Answers of eight models to the same 805 instructions, paired by instruction; separable share in per cent and, "
        "in brackets, its lower bound.",
        pair_table(found),
        prompt_text(found),
    ]
    return "\n\n".join(part for part in parts if part)


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
    ask.add_argument("--page", action="store_true", help="write the page from earlier results only")
    asked = ask.parse_args()
    scale = SMOKE if asked.smoke else Scale()
    if asked.fresh:
        KEPT.unlink(missing_ok=True)
    found = {} if asked.smoke else read_kept(KEPT)
    with threadpool_limits(1):
        for key, work in [] if asked.page else tasks(scale):
            if key not in found:
                found[key] = work()
                if not asked.smoke:
                    KEPT.parent.mkdir(exist_ok=True)
                    with KEPT.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key, **found[key]}) + "\n")
    written = page(found, scale)
    if asked.smoke:
        print(written)
        return
    PAGE.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
