"""Table 1 of the triangle-rank paper: p-values with a single candidate per image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Reproduction, Row, Run
from textassay.reproduce.triangles.images import (
    OVER_IMAGES,
    PAPER,
    REFERENCES,
    Tail,
    known_mean,
    last_out,
    open_images,
    signature_of,
    vector_note,
)

# Table 1: p-values with one candidate on MS-COCO.
TABLE_1 = {
    "CLIPCap": {"BERT": 0.5581, "CIDEr-D": 0.8223, "BLEU-4": 0.8788, "METEOR": 0.7483, "ROUGE-L": 0.7985},
    "VLP": {"BERT": 0.5925, "CIDEr-D": 0.7424, "BLEU-4": 0.8593, "METEOR": 0.6644, "ROUGE-L": 0.7706},
    "human": {"BERT": 0.6406, "CIDEr-D": 0.6686, "BLEU-4": 0.8743, "METEOR": 0.6358, "ROUGE-L": 0.6841},
}
# Of Table 1, with several references: the best one, or BLEU against all together.
_SINGLE_SPECS = {
    "BERT": "score:distance=bert",
    "CIDEr-D": "score:distance=cider",
    "BLEU-4": "score:distance=bleu:smoothing=none:over=joint",
    "METEOR": "score:distance=meteor:over=max",
    "ROUGE-L": "score:distance=rouge_l:over=max",
}


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """Mean p-values with one candidate per image: of a model, and of a person."""
    metrics = list(TABLE_1["human"])
    images = open_images(files, run, metrics, specs=_SINGLE_SPECS)
    model = [(next(iter(item.candidates.values()))[:1], item.references[: REFERENCES - 1]) for item in images.items]
    human = last_out(images)
    run.progress.start("measuring", len(metrics))
    found: dict[str, Tails] = {}
    for metric in metrics:
        found[metric] = Tails(
            *(images.p_values(metric, sides, run.seed, tail=tail) for tail in _TAILS for sides in (model, human))
        )
        run.progress.step(1)
    return Reproduction(
        name=run.name,
        title="Table 1: p-values with a single candidate per image",
        paper=PAPER,
        design=f"{len(images.items):,} images of COCO: one caption by a model, or one held-out reference, against four "
        "references. Mean over images of the exact p-value, among the five ways to choose the candidate: of the upper "
        "tail (values at least as large as observed) and of the tail of worse values. For BERT, a distance, both are "
        "the same.",
        differs=(
            "The captions of CLIPCap and VLP are not available here; the model is that of the captions in the file.",
            "The printed values fit the mean of the images' p-values, which is computed here, not the harmonic mean.",
            "The paper does not state which tail it counts; METEOR and ROUGE-L take the best reference, and BLEU all "
            "references together without smoothing.",
            *vector_note(images),
        ),
        claims=_single_claims(found),
        options=run.options,
        signature=signature_of(run, images),
        notes=images.notes,
        tables=(
            Numbers(
                "Mean p-value",
                (
                    *(f"{name}, published" for name in ("CLIPCap", "VLP", "human")),
                    *(f"{whose}, {tail} tail, ours" for tail in _TAILS for whose in ("model", "human")),
                ),
                tuple(
                    Row(metric, (*(TABLE_1[name][metric] for name in TABLE_1), *map(known_mean, tails.all)))
                    for metric, tails in found.items()
                ),
                3,
            ),
        ),
    )


_TAILS: tuple[Tail, ...] = ("upper", "worse")


@dataclass(frozen=True, eq=False)
class Tails:
    """The p-values of a metric of each image, for a model's caption and for a person's, by both tails."""

    model: F64
    human: F64
    model_worse: F64
    human_worse: F64

    @property
    def all(self) -> tuple[F64, ...]:
        """In the order of the table."""
        return self.model, self.human, self.model_worse, self.human_worse


def _single_claims(found: Mapping[str, Tails]) -> tuple[Claim, ...]:
    clear = "the margin is about the largest printed difference of two models"
    return (
        Claim(
            "no metric tells a single candidate from people (p > 0.05)",
            tuple(
                Check(f"{metric}, {whose}", Measured.over(values), 0.05)
                for metric, tails in found.items()
                for whose, values in (("model", tails.model), ("human", tails.human))
            ),
            "above",
            0.0,
            f"{OVER_IMAGES}; with five texts no p-value can be below 0.2",
        ),
        Claim(
            "the p-values of people are those of Table 1",
            tuple(
                Check(metric, Measured.over(tails.human), TABLE_1["human"][metric]) for metric, tails in found.items()
            ),
            "within",
            0.1,
            f"upper tail; {clear}; {OVER_IMAGES}",
        ),
        Claim(
            "a model's caption has a higher p-value than a person's by METEOR, CIDEr-D and ROUGE-L",
            tuple(
                Check(metric, Measured.over(found[metric].model - found[metric].human))
                for metric in ("METEOR", "CIDEr-D", "ROUGE-L")
            ),
            "above",
            0.0,
            f"upper tail; {OVER_IMAGES}",
        ),
        Claim(
            "a model's caption has a lower p-value than a person's by BERT",
            (Check("BERT", Measured.over(found["BERT"].model - found["BERT"].human)),),
            "below",
            0.0,
            OVER_IMAGES,
        ),
        Claim(
            "the printed values of models fit the upper tail of the raw statistic, not the tail of worse values",
            tuple(
                Check(metric, _closer(found[metric].model, found[metric].model_worse, TABLE_1["CLIPCap"][metric]))
                for metric in ("METEOR", "CIDEr-D", "ROUGE-L")
            ),
            "above",
            0.1,
            "how much farther the tail of worse values is from the printed value; both tails fit people and BLEU, "
            f"which is mostly 0 without smoothing; {OVER_IMAGES}",
        ),
    )


def _closer(first: F64, second: F64, printed: float) -> Measured:
    """How much farther the mean of the second values is from a printed one; its interval is that of a linear sum."""
    sides = [np.sign(np.nanmean(values) - printed) for values in (first, second)]
    return Measured.over(sides[1] * (second - printed) - sides[0] * (first - printed))
