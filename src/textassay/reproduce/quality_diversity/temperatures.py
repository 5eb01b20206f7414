"""Figure 3 of Li et al. (2020): CR, NRR and CND over the temperature of a language model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from textassay.inference.result import signature
from textassay.models.choose import train_model
from textassay.reproduce.claims import Check, Claim, Measured, steps
from textassay.reproduce.quality_diversity.synthetic import PAPER
from textassay.reproduce.quality_diversity.texts import DATA
from textassay.reproduce.result import CurveAt, Line, Panel, Reproduction, Run
from textassay.reproduce.sweeps import N_PARTS, available, draw_texts, generate, measure_parts

_TEMPERATURES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
_METRICS_3 = {"CR": "cr", "NRR": "nrr", "CND": "cnd"}


def reproduce_figure_3(files: Sequence[Path], run: Run) -> Reproduction:
    """CR, NRR and CND of the texts of a language model over its temperature."""
    preset = "lstm:preset=li2020"
    spec = run.by_scale("ngram:order=4", f"{preset}:epochs={_LAPTOP_EPOCHS}", preset)
    curves: dict[str, dict[str, list[float]]] = {metric: {} for metric in _METRICS_3}
    claims: list[Claim] = []
    digests = []
    for corpus, part in DATA.items():
        size = available(files[part], run.n_items, 2)
        drawn = draw_texts(files[part], (size, size), run.seed)
        training, reference = drawn.parts
        model = train_model(spec, training, seed=run.seed)
        texts = generate(model, size, _TEMPERATURES, run.seed)
        found = measure_parts(reference, {_at(t): each for t, each in texts.items()}, "cr:n=2,nrr:n=2,cnd:n=2", run)
        for metric, name in _METRICS_3.items():
            curves[metric][corpus] = [float(np.mean(each)) for each in found[f"{name}-2"].values()]
        claims += _sweep_claims(corpus, found)
        digests.append(f"{size}-of-{drawn.digest}")
    return Reproduction(
        name=run.name,
        title="Figure 3: CR, NRR and CND over the temperature of a language model",
        paper=PAPER,
        design=f"A language model ({spec}) is trained on {size:,} texts or fewer of each corpus and generates as many "
        "at each temperature; CR, NRR and CND of 2-grams against as many other real texts, each as the mean over "
        f"{N_PARTS} parts of the generated texts.",
        differs=_figure_3_differs(run, run.n_items),
        claims=tuple(claims),
        options=run.options,
        signature=signature(
            run.name, {}, settings={"model": spec}, data={"texts": "+".join(digests)}, resampling={"seed": run.seed}
        ),
        panels=tuple(
            Panel(
                f"{metric}, 2-grams",
                "temperature",
                metric,
                tuple(
                    Line(corpus, tuple(CurveAt(t, y) for t, y in zip(_TEMPERATURES, curve, strict=True)))
                    for corpus, curve in by_corpus.items()
                ),
            )
            for metric, by_corpus in curves.items()
        ),
    )


_LAPTOP_EPOCHS = 8


def _figure_3_differs(run: Run, size: int) -> tuple[str, ...]:
    sizes = (
        f"The paper trains on 200,000 texts (appendix G.2) and measures 50,000 against 50,000; here it is {size:,} or "
        "fewer each, and the news corpus has 20,000 in total."
    )
    model = run.by_scale(
        ("The paper's model is an LSTM of 128 units trained for 30 epochs; this one is a 4-gram model.",),
        (f"The model is the paper's, an LSTM of 128 units, trained for {_LAPTOP_EPOCHS} epochs in place of 30.",),
        (),
    )
    return (*model, sizes)


def _at(temperature: float) -> str:
    return f"t = {temperature:g}"


def _sweep_claims(corpus: str, found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Claim]:
    basis = f"each step of the temperature; intervals over {N_PARTS} parts of the generated texts"
    divergence = found["cnd-2"]
    near = [_at(t) for t in _TEMPERATURES if 0.9 <= t <= 1.1]
    lowest = min(near, key=lambda index: float(np.mean(divergence[index])))
    return [
        Claim(
            f"{corpus}: CR falls as the temperature grows",
            steps("CR", found["cr-2"], found["cr-2"].values()),
            "below",
            0.0,
            basis,
        ),
        Claim(
            f"{corpus}: NRR rises as the temperature grows",
            steps("NRR", found["nrr-2"], found["nrr-2"].values()),
            "above",
            0.0,
            basis,
        ),
        Claim(
            f"{corpus}: CND is least near t = 1.0",
            tuple(
                Check(f"CND at {index} less that at {lowest}", Measured.over(np.subtract(values, divergence[lowest])))
                for index, values in divergence.items()
                if index not in near
            ),
            "above",
            0.0,
            f"the least of t = 0.9 to 1.1 against every other temperature; intervals over {N_PARTS} parts",
        ),
    ]
