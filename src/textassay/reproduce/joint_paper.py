"""Tables and figures of Montahaei et al. (2019): MS-Jaccard, Frechet and Bhattacharyya distances beside BLEU."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.readers import read_sample
from textassay.corpus.sample import Sample, stream
from textassay.inference.result import signature
from textassay.metrics.learned.model_distances import TwoLogProbs, bhattacharyya_distance
from textassay.models.base import Generator
from textassay.models.choose import train_model
from textassay.models.oracle import Oracle
from textassay.reproduce.result import Claim, CurveAt, Line, Matrix, NamedPoint, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import available, draw_texts, generate, measure, values
from textassay.studies.agreement.correlation import correlation_matrix
from textassay.studies.agreement.study import dominated_shares
from textassay.studies.compare.result import Comparison
from textassay.studies.outcome import number

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
# Table 1 of the paper, COCO: MS-Jaccard with n = 2 to 5, and the Frechet distance, of other samples.
MS_JACCARD = {
    "real": (0.760, 0.585, 0.430, 0.306),
    "mle": (0.655, 0.473, 0.322, 0.210),
    "seqgan": (0.301, 0.229, 0.164, 0.111),
    "maligan": (0.671, 0.495, 0.345, 0.231),
    "rankgan": (0.440, 0.323, 0.224, 0.147),
}
FRECHET = {"real": 0.460, "mle": 1.971, "seqgan": 4.590, "maligan": 1.474, "rankgan": 3.574}
# Table 4: NLL, Oracle-NLL and Bhattacharyya distance.
ORACLE = {
    "mle": (141.948, 167.014, 7.105),
    "seqgan": (155.353, 163.179, 10.076),
    "maligan": (146.260, 168.054, 8.503),
    "rankgan": (160.424, 166.774, 12.127),
}
_MODELS = tuple(SELF_BLEU)
TABLE_1_FILES = tuple(f"coco_models/{name}.txt" for name in ("real_train", "real_test", *_MODELS))
# Published values have three digits.
_CLOSE = 0.0015
# Vectors are costly, and a Frechet distance needs fewer texts than n-grams.
_MOST_VECTORS = 2000


def reproduce_table_1(files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU, Self-BLEU, MS-Jaccard and the Frechet distance of the published samples of six models."""
    samples = [read_sample(str(file)) for file in files]
    real, test, *generated = ([str(text) for text in sample.texts.to_pylist()[: run.n_items]] for sample in samples)
    models = dict(zip(_MODELS, generated, strict=True))
    everyone = {"real": test, **models}
    encoder = run.by_scale("lsa", "lsa", "minilm")
    most = min(run.n_items, _MOST_VECTORS)
    own = measure(real, models, "self_bleu:n=2-5", progress=run.progress)
    others = measure(
        real, everyone, "bleu:n=2-5,ms_jaccard:n=2-5", progress=run.progress, tokenizer="treebank", lowercase=True
    )
    ours = _by_model(own, "self_bleu"), _by_model(others, "bleu"), _by_model(others, "ms_jaccard")
    cut = {name: texts[:most] for name, texts in everyone.items()}
    vectors = measure(real[:most], cut, "frechet", progress=run.progress, encoder=encoder)
    frechet = dict(zip(everyone, values(vectors, vectors.labels[0]), strict=True))
    claims = (
        _close_claim("Self-BLEU", SELF_BLEU, ours[0]),
        _close_claim("BLEU", BLEU, ours[1]),
        _order_claim("MS-Jaccard-4", {name: scores[2] for name, scores in ours[2].items()}, highest=True),
        _order_claim("the Frechet distance", frechet, highest=False),
        _best_claim({name: scores[2] for name, scores in ours[2].items()}, frechet),
    )
    return Reproduction(
        name=run.name,
        title="Table 1: BLEU, Self-BLEU, MS-Jaccard and Frechet distance of COCO captions by six models",
        paper=_PAPER,
        design=f"Up to {run.n_items:,} captions of each model as Texygen published them, against as many training "
        "captions: Self-BLEU on words between blanks; BLEU and MS-Jaccard on lower-case Treebank words; the Frechet "
        f"distance of {most:,} captions each on vectors of {encoder}. The row of real text has the test captions.",
        differs=(
            "The paper measures samples of its own models, which are not published. BLEU and Self-BLEU are therefore "
            "compared with the published values of these samples on the page of Texygen.",
            "The paper's reference is a test set; the published test captions here have other topics than the training "
            "captions, so the latter are the reference.",
            "The paper's vectors are of BERT; NLL needs the models.",
        ),
        claims=claims,
        conclusion=_table_1_sentence(claims),
        options=run.options,
        signature=_signature(run, encoder, samples),
        tables=(
            _beside("Self-BLEU of these samples", SELF_BLEU, ours[0]),
            _beside("BLEU of these samples", BLEU, ours[1]),
            _beside("MS-Jaccard; published: other samples", MS_JACCARD, ours[2]),
            _beside_frechet(frechet),
        ),
    )


def _signature(run: Run, encoder: str, samples: Sequence[Sample]) -> str:
    return signature(
        run.name,
        {},
        settings={"enc": encoder},
        data={"samples": "+".join(f"{len(sample)}/{sample.digest}" for sample in samples)},
        resampling={"items": run.n_items},
    )


def _beside_frechet(ours: Mapping[str, float]) -> Numbers:
    rows = tuple(Row(name, (FRECHET.get(name), value)) for name, value in ours.items())
    return Numbers("Frechet distance; published: other samples, vectors of BERT", ("published", "ours"), rows, 3)


def _by_model(found: Comparison, metric: str) -> dict[str, tuple[float, ...]]:
    columns = [values(found, f"{metric}-{n}") for n in _ORDERS]
    return {column.name: row for column, row in zip(found.columns, zip(*columns, strict=True), strict=True)}


def _close_claim(
    metric: str, published: Mapping[str, tuple[float, ...]], ours: Mapping[str, tuple[float, ...]]
) -> Claim:
    gaps = [abs(a - b) for name in published for a, b in zip(published[name], ours[name], strict=True)]
    close = sum(gap <= _CLOSE for gap in gaps)
    found = f"{close} of {len(gaps)} within ±{_CLOSE}, the largest difference is {number(max(gaps))}"
    return Claim(f"{metric} 2 to 5 of the six models (Texygen)", found, close == len(gaps))


def _order_claim(metric: str, ours: Mapping[str, float], *, highest: bool) -> Claim:
    order = sorted((name for name in FRECHET if name != "real"), key=lambda name: ours[name], reverse=highest)
    found = " > ".join(f"{name} ({number(ours[name])})" for name in order)
    published = "maligan > mle > rankgan > seqgan"
    return Claim(f"{metric}, best first: {published}", found, set(order[:2]) == {"maligan", "mle"})


def _best_claim(jaccard: Mapping[str, float], frechet: Mapping[str, float]) -> Claim:
    models = [name for name in FRECHET if name != "real"]
    best = max(models, key=lambda name: jaccard[name]), min(models, key=lambda name: frechet[name])
    found = f"{best[0]} by MS-Jaccard-4, {best[1]} by the Frechet distance"
    return Claim("MLE has the best performance by the proposed measures (section 4.3)", found, best == ("mle", "mle"))


def _beside(title: str, published: Mapping[str, tuple[float, ...]], ours: Mapping[str, tuple[float, ...]]) -> Numbers:
    rows = [
        Row(name, tuple(value for at in range(len(_ORDERS)) for value in (_printed(published, name, at), found[at])))
        for name, found in ours.items()
    ]
    columns = tuple(f"n = {n}, {whose}" for n in _ORDERS for whose in ("published", "ours"))
    return Numbers(title, columns, tuple(rows), 3)


def _printed(published: Mapping[str, tuple[float, ...]], name: str, at: int) -> float | None:
    return published[name][at] if name in published else None


def _table_1_sentence(claims: Sequence[Claim]) -> str:
    own, other, jaccard, frechet, best = (claim.agrees for claim in claims)
    first = (
        "All 48 published values of BLEU and Self-BLEU of these samples are reproduced"
        if own and other
        else "With fewer captions the published BLEU and Self-BLEU are not reached"
    )
    second = "MLE is the best by both proposed measures, as the paper writes" if best else "MLE is not the best by both"
    third = (
        "and MaliGAN is second, too"
        if jaccard and frechet
        else "but these samples of SeqGAN and MaliGAN are not in the order of the authors' own samples"
    )
    return f"{first}; {second}, {third}."


# Temperatures from 1.5^-3 to 1.5^4, as in the paper.
_TEMPERATURES = tuple(1.5**power for power in range(-3, 5))
_GENERATORS = ("ngram:order=2", "ngram:order=3", "ngram:order=5")
_CORPORA = {"COCO": slice(0, 2), "WMT news": slice(2, 4)}
_METRICS = "bleu:n=2-5,self_bleu:n=2-5,ms_jaccard:n=2-5"


@dataclass(frozen=True, eq=False)
class Swept:
    """Generators of a corpus at all temperatures: each metric as an array of generators by temperatures.

    `real` has the metrics of further real text.
    """

    metrics: Mapping[str, F64]
    real: Mapping[str, float]
    digest: str


def _sweep(files: Sequence[Path], run: Run, *, metrics: str, encoder: str | None = None) -> Swept:
    size = available(files, run.n_items, 4)
    drawn = draw_texts(files, (2 * size, size, size), run.seed)
    training, reference, real = drawn.parts
    models = [train_model(f"{spec}:tokenizer=whitespace", training) for spec in _GENERATORS]
    texts = {
        f"{at}/{place}": texts
        for at, model in enumerate(models)
        for place, texts in enumerate(generate(model, size, _TEMPERATURES, run.seed).values())
    }
    found = measure(reference, {**texts, "real": real}, metrics, progress=run.progress, encoder=encoder, seed=run.seed)
    shape = len(models), len(_TEMPERATURES)
    measured = {label: values(found, label) for label in found.labels}
    swept = {label: np.array(estimates[:-1]).reshape(shape) for label, estimates in measured.items()}
    swept["NLL"] = np.array([[_nll(model, reference, t) for t in _TEMPERATURES] for model in models])
    return Swept(swept, {label: estimates[-1] for label, estimates in measured.items()}, drawn.digest)


def _nll(model: Generator, texts: Sequence[str], temperature: float = 1.0) -> float:
    """The mean negative log-likelihood of a text."""
    return -float(model.log_prob(texts, temperature=temperature).log_probs.mean())


def _generator_names() -> list[str]:
    return [f"{spec[-1]}-gram model" for spec in _GENERATORS]


def reproduce_figure_1(files: Sequence[Path], run: Run) -> Reproduction:
    """Quality against diversity of generators over temperatures, and what MS-Jaccard shows without them."""
    swept = {
        corpus: _sweep(files[part], run, metrics="bleu:n=4,self_bleu:n=4,ms_jaccard:n=4")
        for corpus, part in _CORPORA.items()
    }
    orders = {corpus: (_dominance_order(each), _jaccard_order(each)) for corpus, each in swept.items()}
    names = _generator_names()
    claims = tuple(
        Claim(
            f"{corpus}: MS-Jaccard-4 at t = 1 ranks the models as their dominance over temperatures does",
            f"by dominance {_written(first, names)}; by MS-Jaccard-4 {_written(second, names)}",
            first == second,
        )
        for corpus, (first, second) in orders.items()
    )
    agreed = [claim.agrees for claim in claims]
    return Reproduction(
        name=run.name,
        title="Figure 1: diversity against quality of generators over temperatures",
        paper=_PAPER,
        design=f"Three n-gram models per corpus generate {_largest(files, run):,} texts or fewer at each temperature "
        "from 1.5^-3 to 1.5^4; 1 - BLEU-4 and Self-BLEU-4 against as many real texts. Lower is better on both axes. A "
        "model dominates a point if one of its own points is better on both axes.",
        differs=(
            "The paper's models are an LSTM and three GANs, trained on 40,000 texts; here they are n-gram models of "
            "order 2, 3 and 5. No curve is fitted to the points.",
            "The IMDB reviews are not available here, and the panel of the oracle is in msj-table-4 as numbers.",
        ),
        claims=claims,
        conclusion="As in the paper, MS-Jaccard-4 without temperatures ranks the models as their dominance over all "
        "temperatures does."
        if all(agreed)
        else f"MS-Jaccard-4 ranks the n-gram models as their dominance over temperatures does on {sum(agreed)} of "
        f"{len(agreed)} corpora; that both agree is therefore not shown here in general.",
        options=run.options,
        signature=_sweep_signature(run, swept.values()),
        panels=tuple(_plane(corpus, each) for corpus, each in swept.items()),
    )


def _largest(files: Sequence[Path], run: Run) -> int:
    return max(available(files[part], run.n_items, 4) for part in _CORPORA.values())


def _sweep_signature(run: Run, swept: Iterable[Swept], encoder: str = "none") -> str:
    digests = "+".join(each.digest for each in swept)
    return signature(
        run.name,
        {},
        settings={"models": ",".join(_GENERATORS), "enc": encoder},
        data={"texts": digests},
        resampling={"items": run.n_items, "seed": run.seed},
    )


def _dominance_order(swept: Swept) -> list[int]:
    """Generators by how many points of the others they dominate, less how many of theirs are dominated."""
    sides = [
        np.stack([bleu, -own], axis=-1)
        for bleu, own in zip(swept.metrics["bleu-4"], swept.metrics["self_bleu-4"], strict=True)
    ]
    shares = dominated_shares(sides)
    return np.argsort(-(shares.sum(axis=1) - shares.sum(axis=0)), kind="stable").tolist()


def _jaccard_order(swept: Swept) -> list[int]:
    at_one = _TEMPERATURES.index(1.0)
    return np.argsort(-swept.metrics["ms_jaccard-4"][:, at_one], kind="stable").tolist()


def _written(order: Sequence[int], names: Sequence[str]) -> str:
    return " > ".join(names[place].removesuffix(" model") for place in order)


def _plane(corpus: str, swept: Swept) -> Panel:
    lines = [
        Line(name, tuple(CurveAt(float(x), float(y)) for x, y in zip(own, 1 - bleu, strict=True)))
        for name, own, bleu in zip(
            _generator_names(), swept.metrics["self_bleu-4"], swept.metrics["bleu-4"], strict=True
        )
    ]
    real = NamedPoint("real text", swept.real["self_bleu-4"], 1 - swept.real["bleu-4"])
    return Panel(corpus, "Self-BLEU-4", "1 - BLEU-4", tuple(lines), points=(real,), tabled=False)


def reproduce_figure_4(files: Sequence[Path], run: Run) -> Reproduction:
    """The correlation of every two metrics over generators, temperatures and corpora."""
    encoder = run.by_scale("lsa", "lsa", "minilm")
    swept = [_sweep(files[part], run, metrics=f"{_METRICS},frechet", encoder=encoder) for part in _CORPORA.values()]
    names, rows = _turned(swept)
    matrix = correlation_matrix(rows)
    place = {name: at for at, name in enumerate(names)}
    with_frechet = [float(matrix[place["FBD"], place[f"1-MSJ{n}"]]) for n in _ORDERS]
    with_nll = {name: float(matrix[place["NLL"], place[name]]) for name in names if name != "NLL"}
    best = sorted(with_nll, key=lambda name: -with_nll[name])
    proposed = [name for name in best[:5] if name == "FBD" or "MSJ" in name]
    claims = (
        Claim(
            "1 - MS-Jaccard and the Frechet distance are highly correlated",
            f"{min(with_frechet):.2f} to {max(with_frechet):.2f}",
            min(with_frechet) >= 0.7,
        ),
        Claim(
            "of all metrics these are the most correlated with NLL",
            "the five highest: " + ", ".join(f"{name} {with_nll[name]:.2f}" for name in best[:5]),
            len(proposed) == 5,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Figure 4: Pearson correlation of metrics over generators, temperatures and corpora",
        paper=_PAPER,
        design=f"Three n-gram models on each of two corpora at eight temperatures from 1.5^-3 to 1.5^4, "
        f"{rows.shape[1]} samples of up to {_largest(files, run):,} texts; BLEU and MS-Jaccard are turned so that "
        f"lower is better. The Frechet distance (FBD) is on vectors of {encoder}.",
        differs=(
            "The paper has four models (LSTM and GANs) on three corpora, and vectors of BERT.",
            "Each metric is taken as it is on all corpora, as in the paper; differences between corpora count too.",
        ),
        claims=claims,
        conclusion=_matrix_sentence(claims, with_nll, best),
        options=run.options,
        signature=_sweep_signature(run, swept, encoder),
        matrices=(Matrix("Pearson correlation", names, tuple(tuple(map(_or_none, row)) for row in matrix.tolist())),),
    )


def _turned(swept: Sequence[Swept]) -> tuple[tuple[str, ...], F64]:
    """All metrics with lower as better, one row per metric and one column per sample."""
    forms = {
        "NLL": ("NLL", False),
        **{f"1-MSJ{n}": (f"ms_jaccard-{n}", True) for n in _ORDERS},
        "FBD": ("frechet", False),
        **{f"1-BL{n}": (f"bleu-{n}", True) for n in _ORDERS},
        **{f"SBL{n}": (f"self_bleu-{n}", False) for n in _ORDERS},
    }
    rows = []
    for label, turn in forms.values():
        together = np.concatenate([each.metrics[label].ravel() for each in swept])
        rows.append(1 - together if turn else together)
    return tuple(forms), np.array(rows)


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _matrix_sentence(claims: Sequence[Claim], with_nll: Mapping[str, float], best: Sequence[str]) -> str:
    first = (
        "As in the paper, MS-Jaccard and the Frechet distance are highly correlated"
        if claims[0].agrees
        else "MS-Jaccard and the Frechet distance are less correlated than in the paper"
    )
    second = (
        "and are the metrics closest to NLL"
        if claims[1].agrees
        else f"and they are not the five closest to NLL (the closest is {best[0]}, with {with_nll[best[0]]:.2f})"
    )
    return f"{first}, {second}."


def reproduce_table_4(_files: Sequence[Path], run: Run) -> Reproduction:
    """NLL, Oracle-NLL and the Bhattacharyya distance of models trained on texts of an oracle."""
    vocabulary, length, n_test = run.by_scale((40, 6, 200), (200, 10, 4000), (5000, 20, 25_000))
    oracle = Oracle.random(
        vocabulary=vocabulary, hidden=32, length=length, rng=stream(run.seed, "oracle", vocabulary, length)
    )
    training, test = (
        oracle.sample(n, rng=stream(run.seed, "oracle", part)) for part, n in (("train", run.n_items), ("test", n_test))
    )
    rows: dict[str, tuple[float, float, float, float]] = {}
    run.progress.start("training", len(ORACLE))
    for name in ORACLE:
        model = train_model(_oracle_spec(name, run), training, seed=run.seed)
        rows[name] = _against_oracle(oracle, model, test, run.seed)
        run.progress.step(1)
    claims = _oracle_claims(rows)
    return Reproduction(
        name=run.name,
        title="Table 4: NLL, Oracle-NLL and Bhattacharyya distance on texts of an oracle",
        paper=_PAPER,
        design=f"An LSTM with random weights as oracle ({vocabulary:,} words, texts of {length} words); models are "
        f"trained on {run.n_items:,} of its texts. NLL is of {n_test:,} further texts of the oracle under the model, "
        f"Oracle-NLL of {n_test:,} texts of the model under the oracle, both per text.",
        differs=(
            "The paper's oracle has 5,000 words, 3,200 dimensions and texts of 20 words, and its weights are not "
            "published, so only the order of the models can agree.",
            f"Adversarial training has {_rounds(run)} rounds here; the paper's models are those of Texygen.",
        ),
        claims=claims,
        conclusion=_oracle_sentence(claims, rows),
        options=run.options,
        signature=signature(
            run.name,
            {},
            settings={"models": ",".join(_oracle_spec(name, run) for name in ORACLE)},
            data={"oracle": oracle.name},
            resampling={"items": run.n_items, "seed": run.seed},
        ),
        tables=(
            Numbers(
                "Lower is better",
                (
                    *(f"{what}, {whose}" for whose in ("published", "ours") for what in _ORACLE_METRICS),
                    "its standard error",
                ),
                tuple(Row(name, (*ORACLE[name], *rows[name])) for name in ORACLE),
                None,
            ),
        ),
    )


_ORACLE_METRICS = ("NLL", "Oracle-NLL", "Bhattacharyya")


def _rounds(run: Run) -> int:
    return run.by_scale(2, 30, 500)


def _oracle_spec(name: str, run: Run) -> str:
    epochs, hidden = run.by_scale(1, 8, 80), run.by_scale(8, 32, 32)
    shape = f"hidden={hidden}:embedding={hidden}:epochs={epochs}:tokenizer=whitespace"
    if name == "mle":
        # The same network without adversarial rounds, so that all models start alike.
        return f"seqgan:rounds=0:warm_up=0:{shape}"
    return f"{name}:rounds={_rounds(run)}:rollouts={run.by_scale(1, 2, 16)}:warm_up={run.by_scale(2, 30, 500)}:{shape}"


def _against_oracle(
    oracle: Oracle, model: Generator, test: Sequence[str], seed: int
) -> tuple[float, float, float, float]:
    """NLL, Oracle-NLL, the Bhattacharyya distance and its Monte-Carlo error."""
    texts = model.sample(len(test), rng=stream(seed, "oracle", "generate"))
    theirs, mine = (
        TwoLogProbs(oracle.log_prob(part).log_probs, model.log_prob(part).log_probs) for part in (test, texts)
    )
    known = mine.log_p[np.isfinite(mine.log_p)]
    distance = bhattacharyya_distance(theirs, mine)
    return -float(theirs.log_q.mean()), -float(known.mean()), distance.estimate, distance.error


def _oracle_claims(rows: Mapping[str, tuple[float, float, float, float]]) -> tuple[Claim, ...]:
    by = [{name: scores[at] for name, scores in rows.items()} for at in range(3)]
    best = [min(each, key=lambda name: each[name]) for each in by]
    published = [min(ORACLE, key=lambda name: ORACLE[name][at]) for at in range(3)]
    words = ("NLL", "Oracle-NLL", "the Bhattacharyya distance")
    found = [", ".join(f"{name} {number(value)}" for name, value in each.items()) for each in by]
    return tuple(
        Claim(f"{published[at]} has the lowest {words[at].removeprefix('the ')}", found[at], best[at] == published[at])
        for at in range(3)
    )


def _oracle_sentence(claims: Sequence[Claim], rows: Mapping[str, tuple[float, float, float, float]]) -> str:
    nll, oracle_nll, distance = (claim.agrees for claim in claims)
    distances = [scores[2] for scores in rows.values()]
    error = max(scores[3] for scores in rows.values())
    first = (
        "As in the paper, maximum likelihood has the lowest NLL and the lowest Bhattacharyya distance"
        if nll and distance
        else "Unlike the paper, maximum likelihood does not have both the lowest NLL and the lowest distance"
    )
    second = "and SeqGAN the lowest Oracle-NLL" if oracle_nll else "and SeqGAN does not have the lowest Oracle-NLL"
    spread = number(max(distances) - min(distances))
    third = (
        f"after this short training the distances differ by {spread} only, with standard errors up to {number(error)}"
    )
    return f"{first}, {second}; {third}."
