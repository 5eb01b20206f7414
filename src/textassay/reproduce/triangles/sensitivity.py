"""Figures 3 and 7 of the triangle-rank paper: p-values over the number of captions, and with several encoders."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.triangles.images import (
    NO_MODEL,
    OVER_IMAGES,
    PAPER,
    REFERENCES,
    SCORES,
    Images,
    halves,
    known_mean,
    open_images,
    signature_of,
    stand_ins,
    vector_note,
)

# The log p-value of each image, by metric, with the first of the other captions as candidate, with the first two, ...
Curves = Mapping[str, Sequence[F64]]


def _by_number(
    images: Images, others: Sequence[Sequence[str]], metrics: Sequence[str], run: Run
) -> dict[str, list[F64]]:
    found: dict[str, list[F64]] = {metric: [] for metric in metrics}
    run.progress.start("measuring", REFERENCES * len(metrics))
    for n in range(1, REFERENCES + 1):
        pairs = zip(images.items, others, strict=True)
        sides = [(texts[:n], item.references[:REFERENCES]) for item, texts in pairs]
        for metric in metrics:
            found[metric].append(images.log_p(metric, sides, run.seed))
            run.progress.step(1)
    return found


def _lines(found: Curves) -> tuple[Line, ...]:
    return tuple(
        Line(
            name,
            tuple(CurveAt(n, mean) for n, values in enumerate(curve, 1) if (mean := known_mean(values)) is not None),
        )
        for name, curve in found.items()
    )


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """Log p-values over the number of candidates, of scores and of TRM on the same distances."""
    images = open_images(files, run, _FIGURE_3)
    repeated = [next(iter(item.candidates.values()))[:1] * REFERENCES for item in images.items]
    elsewhere, narrow = (_by_number(images, others, _FIGURE_3, run) for others in (stand_ins(images), repeated))
    return Reproduction(
        name=run.name,
        title="Figure 3: log p-values over the number of candidates",
        paper=PAPER,
        design=f"{len(images.items):,} images of COCO: one to five candidates against five references; the mean over "
        "images of the natural log of the exact p-value. Lower is more sensitive.",
        differs=(
            NO_MODEL,
            "The second panel repeats the one caption of a model in the file, as the paper does for beams.",
            "The printed gains are those of O2NA on MSR-VTT.",
            *vector_note(images),
        ),
        claims=_sensitivity_claims(elsewhere, narrow),
        options=run.options,
        signature=signature_of(run, images),
        notes=(
            *images.notes,
            f"Scores and TRM are compared with {_COMPARED} candidates: with five, as many as references, TRM is the "
            "same if both are exchanged, so that its p-value is at least 2 of 252 (log -4.84), not 1 of 252.",
        ),
        panels=tuple(
            Panel(title, "candidates", "mean log p-value", _lines(found))
            for title, found in (
                ("captions of the most similar other image", elsewhere),
                ("one caption of a model, repeated", narrow),
            )
        ),
    )


_FIGURE_3 = (*(metric for name in SCORES for metric in (name, f"TRM-{name}")), "MMD-BERT")
_PRINTED_GAINS = " (by 162 % with METEOR, by 49 % with CIDEr-D)"
# With five candidates and five references TRM is symmetric, and its lowest p-value is twice that of a score.
_COMPARED = 3


def _sensitivity_claims(elsewhere: Curves, narrow: Curves) -> tuple[Claim, ...]:
    def gain(found: Curves, name: str) -> Check:
        curves = [found[metric][_COMPARED - 1] for metric in (f"TRM-{name}", name)]
        return Check(f"log p of TRM-{name} less that of {name}", Measured.over(curves[0] - curves[1]))

    return (
        Claim(
            "every metric becomes more sensitive with more candidates",
            tuple(
                Check(
                    f"{name}: log p with 5 captions of another image less that with 2",
                    Measured.over(curve[-1] - curve[1]),
                )
                for name, curve in elsewhere.items()
            ),
            "below",
            0.0,
            OVER_IMAGES,
        ),
        *(
            Claim(
                f"TRM is more sensitive than the score on the same distance, with {case}{_PRINTED_GAINS}",
                tuple(gain(found, name) for name in SCORES),
                "below",
                0.0,
                f"{_COMPARED} candidates; {OVER_IMAGES}",
            )
            for case, found in (("captions of another image", elsewhere), ("one repeated caption", narrow))
        ),
    )


# A bag of 5,000 words as in the paper, latent semantic analysis, and the encoder of the paper.
_ENCODERS = ("bow:5000", "lsa", "minilm")


def reproduce_figure_7(files: Sequence[Path], run: Run) -> Reproduction:
    """MMD with several encoders: log p-values over the number of candidates, and of people against people."""
    encoders = run.by_scale(_ENCODERS[:2], _ENCODERS, _ENCODERS)
    curves: dict[str, list[F64]] = {}
    people: dict[str, F64] = {}
    for name in encoders:
        images = open_images(files, run, ("MMD-BERT",), name)
        curves[name] = _by_number(images, stand_ins(images), ("MMD-BERT",), run)["MMD-BERT"]
        people[name] = images.log_p("MMD-BERT", halves(images), run.seed)
    bag, *trained = encoders
    claims = (
        Claim(
            "MMD with a trained encoder is more sensitive than with a bag of words",
            tuple(
                Check(f"{name} less {bag}, {n} candidates", Measured.over(curves[name][n - 1] - curves[bag][n - 1]))
                for name in trained
                for n in range(2, REFERENCES + 1)
            ),
            "below",
            0.0,
            f"log p-values; {OVER_IMAGES}",
        ),
        Claim(
            "with every encoder, people are not distinguished from people",
            tuple(Check(name, Measured.over(values), _BY_CHANCE) for name, values in people.items()),
            "within",
            0.2,
            f"the target is the mean log p-value if all are equally likely; {OVER_IMAGES}",
        ),
    )
    return Reproduction(
        name=run.name,
        title="Figure 7: MMD with several encoders",
        paper=PAPER,
        design=f"{run.n_items:,} images of COCO: MMD with one to five candidates against five references, and with two "
        "against three references of the same image; the mean over images of the natural log of the exact p-value.",
        differs=(
            NO_MODEL,
            "GloVe, FastText and CLIP are not available here; LSA, fitted on the captions, is used instead, and "
            "MiniLM at larger scales.",
            "The speed of encoders is in the benchmarks.",
        ),
        claims=claims,
        options=run.options,
        signature=signature_of(run, images),
        panels=(Panel("MMD", "candidates", "mean log p-value", _lines(curves)),),
        tables=(
            Numbers(
                "People against people: mean log p-value",
                ("ours",),
                tuple(Row(name, (known_mean(values),)) for name, values in people.items()),
            ),
        ),
    )


# The mean log p-value of two against three captions, if all ten are equally likely.
_BY_CHANCE = float(np.log(np.arange(1, 11) / 10).mean())
