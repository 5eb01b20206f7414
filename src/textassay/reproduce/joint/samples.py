"""Table 1 of Montahaei et al. (2019): MS-Jaccard and the Frechet distance beside BLEU, of published samples."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample
from textassay.inference.result import signature
from textassay.reproduce.claims import Check, Claim, Measured
from textassay.reproduce.result import Numbers, Panel, Reproduction, Row, Run, by_model
from textassay.reproduce.sweeps import N_PARTS, jackknifed, measure, measure_parts, values
from textassay.studies.compare.result import Comparison

_PAPER = "montahaei2019"
_ORDERS = (2, 3, 4, 5)

# The page of Texygen (Zhu et al. 2018) for the samples in coco_models: Self-BLEU and BLEU with n = 2 to 5.
SELF_BLEU = {
    "mle": (0.916, 0.769, 0.583, 0.408),
    "seqgan": (0.950, 0.840, 0.670, 0.489),
    "maligan": (0.918, 0.781, 0.606, 0.437),
    "rankgan": (0.959, 0.882, 0.762, 0.618),
    "leakgan": (0.966, 0.913, 0.848, 0.780),
    "textgan": (0.942, 0.931, 0.804, 0.746),
}
BLEU = {
    "mle": (0.921, 0.768, 0.570, 0.392),
    "seqgan": (0.917, 0.747, 0.530, 0.348),
    "maligan": (0.887, 0.697, 0.482, 0.312),
    "rankgan": (0.937, 0.799, 0.601, 0.414),
    "leakgan": (0.926, 0.816, 0.660, 0.470),
    "textgan": (0.650, 0.645, 0.596, 0.523),
}
# Table 1 of the paper, COCO, of samples that are not published: MS-Jaccard, BLEU and Self-BLEU with n = 2 to 5, the
# Frechet distance and NLL.
PAPER_BLEU = {
    "real": (0.926, 0.794, 0.622, 0.454),
    "mle": (0.891, 0.715, 0.507, 0.334),
    "seqgan": (0.904, 0.771, 0.578, 0.380),
    "maligan": (0.901, 0.736, 0.536, 0.361),
    "rankgan": (0.927, 0.782, 0.569, 0.376),
}
PAPER_SELF_BLEU = {
    "real": (0.864, 0.685, 0.489, 0.329),
    "mle": (0.849, 0.644, 0.425, 0.268),
    "seqgan": (0.941, 0.842, 0.700, 0.545),
    "maligan": (0.859, 0.662, 0.451, 0.288),
    "rankgan": (0.913, 0.774, 0.583, 0.402),
}
NLL = {"mle": 38.416, "seqgan": 55.610, "maligan": 39.916, "rankgan": 48.816}
MS_JACCARD = {
    "real": (0.760, 0.585, 0.430, 0.306),
    "mle": (0.655, 0.473, 0.322, 0.210),
    "seqgan": (0.301, 0.229, 0.164, 0.111),
    "maligan": (0.671, 0.495, 0.345, 0.231),
    "rankgan": (0.440, 0.323, 0.224, 0.147),
}
FRECHET = {"real": 0.460, "mle": 1.971, "seqgan": 4.590, "maligan": 1.474, "rankgan": 3.574}
_MODELS = tuple(SELF_BLEU)
_CAPTIONS = ("coco/train.txt", "coco/test.txt")
TABLE_1_FILES = (*_CAPTIONS, *(f"coco_models/{name}.txt" for name in ("real_train", *_MODELS)))
# Captions of the row of real text: on each side, and for Self-BLEU.
_MOST_REAL, _MOST_SELF = 20_000, 5_000
# Published values have three digits.
_CLOSE = 0.0015
# Vectors are costly, and a Frechet distance needs fewer texts than n-grams.
_MOST_VECTORS = 2000


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU, Self-BLEU, MS-Jaccard and the Frechet distance of the published samples of six models."""
    samples = [read_sample(str(file)) for file in files]
    captions, made = samples[: len(_CAPTIONS)], samples[len(_CAPTIONS) :]
    real, *generated = (_texts(sample, run.n_items) for sample in made)
    models = dict(zip(_MODELS, generated, strict=True))
    encoder = run.by_scale("lsa", "lsa", "minilm")
    own = _by_model(measure(real, models, "self_bleu:n=2-5", progress=run.progress), "self_bleu")
    others = measure(
        real, models, "bleu:n=2-5,ms_jaccard:n=2-5", progress=run.progress, tokenizer=_TREEBANK, lowercase=True
    )
    bleu, jaccard = (_by_model(others, metric) for metric in ("bleu", "ms_jaccard"))
    most = min(run.n_items, _MOST_VECTORS)
    frechet = measure_parts(
        real[:most], {name: texts[:most] for name, texts in models.items()}, "frechet", run, encoder=encoder
    )["frechet"]
    by_part = measure_parts(
        real, {name: models[name] for name in _COMPARED}, "ms_jaccard:n=4", run, tokenizer=_TREEBANK, lowercase=True
    )
    person = _real_row(captions, run)
    return Reproduction(
        name=run.name,
        title="Table 1 and Figure 2: BLEU, Self-BLEU, MS-Jaccard, Frechet distance and NLL of captions by six models",
        paper=_PAPER,
        design=f"Row of real text: {_real_sizes(run)[0]:,} captions against as many others, and Self-BLEU of "
        f"{_real_sizes(run)[1]:,}, on words and punctuation (tokenizer words). Models: up to {run.n_items:,} captions "
        "as Texygen published them, against as many training captions; Self-BLEU on words between blanks, BLEU and "
        f"MS-Jaccard on lower-case Treebank words, and the Frechet distance of {most:,} captions, in parts, on vectors "
        f"of {encoder}.",
        differs=(
            "The paper measures samples of its own models, which are not published. BLEU and Self-BLEU of the models "
            "are therefore compared with the values of these samples on the page of Texygen; the paper's are beside "
            "them.",
            "The paper's vectors are of BERT. Its real captions are another draw from the same source, of unknown "
            "size; with the sizes here its row of real text is met.",
            "NLL needs the models, which are not published.",
        ),
        claims=(
            *_real_claims(person),
            _texygen_claim("Self-BLEU", SELF_BLEU, own),
            _texygen_claim("BLEU", BLEU, bleu),
            *_order_claims(by_part["ms_jaccard-4"], frechet),
        ),
        options=run.options,
        signature=_signature(run, encoder, samples),
        panels=_figure_2(jaccard, frechet),
        tables=(
            _beside(
                "Real text: published and ours", _REAL, {name: _estimates(found) for name, found in person.items()}
            ),
            _beside("Self-BLEU of the samples of Texygen", SELF_BLEU, own, paper=PAPER_SELF_BLEU),
            _beside("BLEU of the samples of Texygen", BLEU, bleu, paper=PAPER_BLEU),
            _beside("MS-Jaccard; published: other samples", MS_JACCARD, jaccard),
            Numbers(
                "Frechet distance and NLL; published: other samples, vectors of BERT",
                ("Frechet, published", "Frechet, ours", "NLL, published"),
                tuple(
                    Row(name, (FRECHET.get(name), Measured.over(values).estimate, NLL.get(name)))
                    for name, values in frechet.items()
                ),
                3,
            ),
        ),
    )


_TREEBANK = "treebank"
_REAL = {"MS-Jaccard": MS_JACCARD["real"], "BLEU": PAPER_BLEU["real"], "Self-BLEU": PAPER_SELF_BLEU["real"]}
# The models of the paper among those of Texygen.
_COMPARED = tuple(NLL)


def _figure_2(jaccard: Mapping[str, tuple[float, ...]], frechet: Mapping[str, Sequence[float]]) -> tuple[Panel, ...]:
    """Figure 2 of captions; our Frechet distance has other vectors and NLL needs the models."""
    names = list(_COMPARED)
    distances = {name: Measured.over(frechet[name]).estimate for name in names}
    sides: dict[str, dict[str, Sequence[float | None]]] = {
        "1 - MS-Jaccard-4": {
            "published": [1 - MS_JACCARD[name][2] for name in names],
            "ours": [1 - jaccard[name][2] for name in names],
        },
        "Frechet distance": {"published": [FRECHET[name] for name in names], "ours": list(distances.values())},
        "NLL": {"published": [NLL[name] for name in names]},
    }
    return tuple(by_model(f"Figure 2, captions: {metric}", metric, names, found) for metric, found in sides.items())


def _texts(sample: Sample, n: int) -> list[str]:
    return [str(text) for text in sample.texts.to_pylist()[:n]]


def _real_sizes(run: Run) -> tuple[int, int]:
    return run.by_scale(run.n_items, _MOST_REAL, _MOST_REAL), run.by_scale(run.n_items, _MOST_SELF, _MOST_SELF)


def _real_row(captions: Sequence[Sample], run: Run) -> dict[str, tuple[Measured, ...]]:
    """Each metric of real captions against others, with n = 2 to 5."""
    size, own_size = _real_sizes(run)
    texts, reference = (_texts(sample, size) for sample in captions)
    both = jackknifed(reference, texts, "ms_jaccard:n=2-5,bleu:n=2-5", run, tokenizer="words")
    own = jackknifed(reference, texts[:own_size], "self_bleu:n=2-5", run, tokenizer="words")
    names = dict(zip(_REAL, ("ms_jaccard", "bleu", "self_bleu"), strict=True))
    return {name: tuple({**both, **own}[f"{metric}-{n}"] for n in _ORDERS) for name, metric in names.items()}


def _real_claims(found: Mapping[str, tuple[Measured, ...]]) -> list[Claim]:
    return [
        Claim(
            f"{metric} 2 to 5 of real text is {', '.join(f'{value:.3f}' for value in _REAL[metric])}",
            tuple(
                Check(f"{metric}-{n}", measured, printed)
                for n, measured, printed in zip(_ORDERS, found[metric], _REAL[metric], strict=True)
            ),
            "within",
            0.01,
            "the captions are another draw; intervals by the jackknife over parts of the captions",
        )
        for metric in _REAL
    ]


def _estimates(found: Sequence[Measured]) -> tuple[float, ...]:
    return tuple(math.nan if each.estimate is None else each.estimate for each in found)


def _signature(run: Run, encoder: str, samples: Sequence[Sample]) -> str:
    return signature(
        run.name,
        {},
        settings={"enc": encoder},
        data={"samples": "+".join(f"{len(sample)}/{sample.digest}" for sample in samples)},
        resampling={"items": run.n_items},
    )


def _by_model(found: Comparison, metric: str) -> dict[str, tuple[float, ...]]:
    columns = [values(found, f"{metric}-{n}") for n in _ORDERS]
    return {column.name: row for column, row in zip(found.columns, zip(*columns, strict=True), strict=True)}


def _texygen_claim(
    metric: str, published: Mapping[str, tuple[float, ...]], ours: Mapping[str, tuple[float, ...]]
) -> Claim:
    return Claim(
        f"{metric} 2 to 5 of the six models as Texygen published them",
        tuple(
            Check(f"{metric}-{n} of {name}", Measured.exact(ours[name][at]), published[name][at])
            for name in published
            for at, n in enumerate(_ORDERS)
        ),
        "within",
        _CLOSE,
        "three printed digits; the same samples, so that the numbers are exact",
    )


def _order_claims(jaccard: Mapping[str, Sequence[float]], frechet: Mapping[str, Sequence[float]]) -> list[Claim]:
    basis = f"intervals over {N_PARTS} parts of the samples"

    def better(first: str, second: str) -> tuple[Check, Check]:
        """By how much the first model is better than the second, by both metrics."""
        return (
            Check(f"MS-Jaccard-4: {first} less {second}", _gap(jaccard[first], jaccard[second])),
            Check(f"Frechet distance: {second} less {first}", _gap(frechet[second], frechet[first])),
        )

    order = sorted(_COMPARED, key=lambda name: -MS_JACCARD[name][2])
    others = [name for name in _COMPARED if name != "mle"]
    return [
        Claim(
            f"MS-Jaccard-4 and the Frechet distance have the order {', '.join(order)}, best first",
            tuple(check for pair in pairwise(order) for check in better(*pair)),
            "above",
            0.0,
            basis,
        ),
        Claim(
            "MLE has the best performance by the proposed measures (section 4.3)",
            tuple(check for other in others for check in better("mle", other)),
            "above",
            0.0,
            basis,
        ),
    ]


def _gap(first: Sequence[float], second: Sequence[float]) -> Measured:
    return Measured.over(first).less(Measured.over(second))


def _beside(
    title: str,
    published: Mapping[str, tuple[float, ...]],
    ours: Mapping[str, tuple[float, ...]],
    *,
    paper: Mapping[str, tuple[float, ...]] | None = None,
) -> Numbers:
    """Published values beside ours, and those of the paper where they are of other samples."""
    sides = {"published": published, "ours": ours, **({"the paper's samples": paper} if paper else {})}
    rows = [
        Row(
            name,
            tuple(side[name][at] if name in side else None for at in range(len(_ORDERS)) for side in sides.values()),
        )
        for name in ours
    ]
    return Numbers(title, tuple(f"n = {n}, {whose}" for n in _ORDERS for whose in sides), tuple(rows), 3)
