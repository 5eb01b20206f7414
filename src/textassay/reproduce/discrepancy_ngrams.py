"""Tables 2, 4 and 5 and Figure 2 of the paper on Distributional Discrepancy, with n-gram models as generators."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from textassay.corpus.arrays import F64
from textassay.corpus.sample import stream
from textassay.inference.plan import Progress, Silent
from textassay.inference.result import signature
from textassay.metrics.learned.model_distances import TwoLogProbs, oracle_discrepancy
from textassay.models.base import Generator
from textassay.models.choose import train_model
from textassay.reproduce.claims import Check, Claim, Measured, steps
from textassay.reproduce.discrepancy_paper import ORACLE_DD, REAL_TAU, SHARES, SYNTHETIC_DD, SYNTHETIC_TAU
from textassay.reproduce.result import CurveAt, Line, Numbers, Panel, Reproduction, Row, Run
from textassay.reproduce.sweeps import draw_texts, generate, measure, values
from textassay.studies.agreement.correlation import tau_b
from textassay.studies.agreement.study import dominated_shares

_PAPER = "cai2020"
# A weaker and a stronger architecture, in place of the LSTM and of GPT-2.
_KINDS = {"3-gram": "ngram:order=3", "5-gram": "ngram:order=5"}
_IN_PLACE_OF = {"3-gram": "LSTM", "5-gram": "GPT-2"}
_SCORER = "ngram:order=5"
_SPLIT = ":tokenizer=whitespace"
_METRICS = {"BLEU-5": "bleu-5", "FED": "frechet", "LM score": "LM score", "DD": "dd"}
_HIGHER_IS_BETTER = {"BLEU-5"}
_MODELS = (
    "The generators are 3-gram and 5-gram models of captions in place of LSTMs and of GPT-2 on news.",
    "Words with fewer than one occurrence per 500 texts are one token on synthetic texts and in Figure 2, so that all "
    "models have the same words; otherwise a model would give unknown words the probability of all of them.",
    "DD is that of the default classifier of textassay on held-out texts, FED is on vectors of LSA, and the LM score "
    "is under a 5-gram model.",
)


@dataclass(frozen=True, eq=False)
class Generators:
    """Generators by kind and share of the training texts, and a sample of each."""

    models: Mapping[str, Generator]
    texts: Mapping[str, list[str]]

    @classmethod
    def trained(cls, training: Sequence[str], size: int, seed: int) -> "Generators":
        """Train each kind on 20 to 100 % of the texts; a larger part has the smaller one in it."""
        models = {
            f"{kind} {share}": train_model(spec + _SPLIT, training[: round(float(share) * len(training))])
            for kind, spec in _KINDS.items()
            for share in SHARES
        }
        texts = {name: model.sample(size, rng=stream(seed, "generate", name)) for name, model in models.items()}
        return cls(models, texts)


def _sizes(run: Run) -> tuple[int, int]:
    """Training texts, and texts of each sample that is measured."""
    return run.n_items, max(run.n_items // 5, 40)


def _scores(
    generators: Generators, reference: Sequence[str], scorer: Generator, progress: Progress, seed: int
) -> dict[str, dict[str, float]]:
    """Every metric of every generator."""
    found = measure(reference, generators.texts, "bleu:n=5,frechet,dd", progress=progress, encoder="lsa", seed=seed)
    scores = {
        name: dict(zip(generators.texts, values(found, label), strict=True))
        for name, label in _METRICS.items()
        if label in found.labels
    }
    return {**scores, "LM score": {name: _per_token(scorer, texts) for name, texts in generators.texts.items()}}


def _per_token(scorer: Generator, texts: Sequence[str]) -> float:
    """The mean negative log-likelihood of a token, with one unknown word in place of all that the scorer lacks."""
    found = scorer.log_prob(texts)
    return -float(found.class_log_probs.sum() / found.n_tokens.sum())


def _taus(scores: Mapping[str, Mapping[str, float]], badness: Mapping[str, float]) -> dict[str, tuple[float, ...]]:
    """Kendall's tau-b of each metric with a gold order, for each kind and for all generators together."""
    names = list(badness)
    groups = [[name for name in names if name.startswith(kind)] for kind in _KINDS]
    return {
        metric: tuple(
            tau_b(
                [by[name] * (-1 if metric in _HIGHER_IS_BETTER else 1) for name in group], [badness[n] for n in group]
            )
            for group in (*groups, names)
        )
        for metric, by in scores.items()
    }


def _tau_numbers(
    title: str, published: Mapping[str, tuple[float, ...]], ours: Mapping[str, tuple[float, ...]]
) -> Numbers:
    groups = (*(f"5 {kind} (5 {_IN_PLACE_OF[kind]})" for kind in _KINDS), "all 10")[
        : len(next(iter(published.values())))
    ]
    rows = [
        Row(metric, tuple(value for pair in zip(printed, ours[metric], strict=False) for value in pair))
        for metric, printed in published.items()
    ]
    return Numbers(
        title, tuple(f"{group}, {whose}" for group in groups for whose in ("published", "ours")), tuple(rows)
    )


_ONE_SEED = "one seed, so that no interval is known"


def _tau_claims(published: Mapping[str, tuple[float, ...]], ours: Mapping[str, tuple[float, ...]]) -> tuple[Claim, ...]:
    n = len(next(iter(published.values())))
    groups = [f"5 {kind}" for kind in _KINDS] + ["all 10"]
    dd = ours["DD"]
    return (
        Claim(
            "DD ranks the generators perfectly (tau 1)",
            tuple(Check(group, Measured.over([tau]), 1.0) for group, tau in zip(groups, dd[:n], strict=False)),
            "within",
            0.005,
            _ONE_SEED,
        ),
        Claim(
            "no other metric ranks them as well as DD",
            tuple(
                Check(f"tau of DD less that of {metric}, {group}", Measured.over([own - other]))
                for metric, taus in ours.items()
                if metric != "DD"
                for group, own, other in zip(groups, dd[:n], taus[:n], strict=False)
            ),
            "above",
            0.0,
            _ONE_SEED,
        ),
    )


def reproduce_table_4(files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau of metrics with the share of training texts, on real captions."""
    n, size = _sizes(run)
    drawn = draw_texts(files, (n, n, size), run.seed)
    training, others, reference = drawn.parts
    generators = Generators.trained(training, size, run.seed)
    scores = _scores(generators, reference, train_model(_SCORER + _SPLIT, others), run.progress, run.seed)
    ours = _taus(scores, {name: -float(name.split()[-1]) for name in generators.texts})
    return Reproduction(
        name=run.name,
        title="Table 4: Kendall's tau of metrics with the order of generators, real texts",
        paper=_PAPER,
        design=f"3-gram and 5-gram models are trained on 20 to 100 % of {n:,} captions and generate {size:,} each, "
        f"against {size:,} other captions. The gold order is that of the training texts: more is better.",
        differs=_MODELS,
        claims=_tau_claims(REAL_TAU, ours),
        options=run.options,
        signature=_signature(run, drawn.digest),
        tables=(_tau_numbers("Kendall's tau-b", REAL_TAU, ours), _score_numbers(scores)),
    )


def _signature(run: Run, digest: str) -> str:
    return signature(
        run.name,
        {},
        settings={"models": ",".join(_KINDS.values()), "enc": "lsa"},
        data={"texts": digest},
        resampling={"items": run.n_items, "seed": run.seed},
    )


def _score_numbers(scores: Mapping[str, Mapping[str, float]]) -> Numbers:
    rows = [Row(name, tuple(by[name] for by in scores.values())) for name in next(iter(scores.values()))]
    return Numbers("Scores", tuple(scores), tuple(rows), None)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Generators of texts of a known model: the oracle dd of each, and every metric."""

    dd: Mapping[str, float]
    scores: Mapping[str, Mapping[str, float]]
    n: int
    size: int
    digest: str


@lru_cache(maxsize=1)
def _synthetic(files: tuple[Path, ...], n: int, size: int, seed: int) -> Synthetic:
    """Two tables are about the same generators; the last ones are kept for the second."""
    drawn = draw_texts(files, (n,), seed)
    original = train_model("ngram:order=5" + _SPLIT, _with_common_words(drawn.parts)[0])
    training, others, reference, more = (
        original.sample(count, rng=stream(seed, "original", part))
        for part, count in (("train", n), ("score", n), ("test", size), ("dd", n))
    )
    generators = Generators.trained(training, size, seed)
    scores = _scores(generators, reference, train_model(_SCORER + _SPLIT, others), Silent(), seed)
    # Probabilities cost less than a classifier: dd is measured on more texts than the other metrics.
    dd = {
        name: _oracle_dd(original, model, more, model.sample(n, rng=stream(seed, "dd", name)))
        for name, model in generators.models.items()
    }
    return Synthetic(dd, scores, n, size, drawn.digest)


def _oracle_dd(original: Generator, model: Generator, real: Sequence[str], generated: Sequence[str]) -> float:
    theirs, mine = (
        TwoLogProbs(original.log_prob(texts).log_probs, model.log_prob(texts).log_probs) for texts in (real, generated)
    )
    return oracle_discrepancy(theirs, mine).estimate


def _synthetic_design(found: Synthetic) -> str:
    return (
        f"A 5-gram model of {found.n:,} captions is the original; its texts are the real ones. 3-gram and 5-gram "
        f"models are trained on 20 to 100 % of {found.n:,} of them and generate {found.size:,} texts each. The oracle "
        f"dd is computed from the probabilities of both models on {found.n:,} further texts of each."
    )


def reproduce_table_2(files: Sequence[Path], run: Run) -> Reproduction:
    """The oracle dd and its estimate by a classifier, of generators of synthetic texts."""
    found = _synthetic(tuple(files), *_sizes(run), run.seed)
    estimates = found.scores["DD"]
    tau = tau_b(list(estimates.values()), list(found.dd.values()))
    claims = (
        Claim(
            "the oracle dd falls with more training texts",
            tuple(
                check
                for kind in _KINDS
                for check in steps(kind, SHARES, [[found.dd[f"{kind} {share}"]] for share in SHARES])
            ),
            "below",
            0.0,
            _ONE_SEED,
        ),
        Claim(
            "the estimate is below the oracle dd for all generators",
            tuple(Check(name, Measured.over([estimates[name] - found.dd[name]])) for name in found.dd),
            "below",
            0.0,
            _ONE_SEED,
        ),
        Claim(
            "the estimate has the order of the oracle dd (tau 1)",
            (Check("tau", Measured.over([tau]), 1.0),),
            "within",
            0.005,
            _ONE_SEED,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Table 2: oracle dd and its estimate on synthetic texts",
        paper=_PAPER,
        design=_synthetic_design(found),
        differs=_MODELS,
        claims=claims,
        options=run.options,
        signature=_signature(run, found.digest),
        tables=(
            Numbers(
                "dd and its estimate",
                ("dd, published", "estimate, published", "dd, ours", "estimate, ours"),
                tuple(
                    Row(
                        f"{name} ({printed})",
                        (ORACLE_DD[printed], SYNTHETIC_DD[printed], found.dd[name], estimates[name]),
                    )
                    for name, printed in zip(found.dd, ORACLE_DD, strict=True)
                ),
                3,
            ),
        ),
    )


def reproduce_table_5(files: Sequence[Path], run: Run) -> Reproduction:
    """Kendall's tau of metrics with the oracle dd, on synthetic texts."""
    found = _synthetic(tuple(files), *_sizes(run), run.seed)
    ours = _taus(found.scores, found.dd)
    return Reproduction(
        name=run.name,
        title="Table 5: Kendall's tau of metrics with the oracle dd, synthetic texts",
        paper=_PAPER,
        design=_synthetic_design(found),
        differs=_MODELS,
        claims=_tau_claims(SYNTHETIC_TAU, ours),
        options=run.options,
        signature=_signature(run, found.digest),
        tables=(
            _tau_numbers("Kendall's tau-b with the oracle dd", SYNTHETIC_TAU, ours),
            _score_numbers({"oracle dd": found.dd, **found.scores}),
        ),
    )


_TEMPERATURES = (0.8, 0.9, 1.0, 1.1, 1.2)


def reproduce_figure_2(files: Sequence[Path], run: Run) -> Reproduction:
    """BLEU and Self-BLEU, LM scores, and FED of generators over temperatures, on real captions."""
    n, size = _sizes(run)
    drawn = draw_texts(files, (n, n, size), run.seed)
    training, others, reference = _with_common_words(drawn.parts)
    models = {share: train_model(_KINDS["5-gram"] + _SPLIT, training[: round(float(share) * n)]) for share in SHARES}
    texts = {
        f"{share}/{t:g}": written
        for share, model in models.items()
        for t, written in generate(model, size, _TEMPERATURES, run.seed).items()
    }
    found = measure(
        reference, texts, "bleu:n=5,self_bleu:n=5,frechet", progress=run.progress, encoder="lsa", seed=run.seed
    )
    scorer = train_model(_SCORER + _SPLIT, others)
    shape = len(SHARES), len(_TEMPERATURES)
    measured = {label: np.array(values(found, label)).reshape(shape) for label in found.labels}
    forward = np.array([_per_token(scorer, written) for written in texts.values()]).reshape(shape)
    backward = [_per_token(train_model("ngram:order=3" + _SPLIT, written), reference) for written in texts.values()]
    planes = {
        "BLEU-5 and Self-BLEU-5": (measured["self_bleu-5"], 1 - measured["bleu-5"], "Self-BLEU-5", "1 - BLEU-5"),
        "LM scores": (np.array(backward).reshape(shape), forward, "reverse LM score", "LM score"),
    }
    ordered = {title: _in_order(x, y) for title, (x, y, *_) in planes.items()}
    taus = [tau_b(measured["frechet"][:, at].tolist(), [-float(share) for share in SHARES]) for at in range(shape[1])]
    return _figure_2(run, drawn.digest, planes, ordered, measured["frechet"], taus)


def _in_order(x: F64, y: F64) -> float:
    """The mean share of the points of a generator that the next larger one dominates, where lower is better."""
    sweeps = [-np.stack((across, up), axis=-1) for across, up in zip(x, y, strict=True)]
    shares = dominated_shares(sweeps)
    return float(np.mean([shares[larger, smaller] for smaller, larger in pairwise(range(len(sweeps)))]))


def _with_common_words(parts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The texts with rare words of the first part replaced, so that models of a fifth of it have all other words."""
    fewest = max(len(parts[0]) // 500, 2)
    counts = Counter(word for text in parts[0] for word in text.split())
    return [
        [" ".join(word if counts[word] >= fewest else "<rare>" for word in text.split()) for text in part]
        for part in parts
    ]


def _figure_2(
    run: Run,
    digest: str,
    planes: Mapping[str, tuple[F64, F64, str, str]],
    ordered: Mapping[str, float],
    frechet: F64,
    taus: Sequence[float],
) -> Reproduction:
    n, size = _sizes(run)
    bleu, scores = ordered.values()
    dominates = "share of the points of a generator that the next larger one dominates"
    claims = (
        Claim(
            "BLEU and Self-BLEU do not rank the generators",
            (Check(dominates, Measured.over([bleu]), 0.9),),
            "below",
            0.0,
            _ONE_SEED,
        ),
        Claim(
            "FED does not rank the generators",
            (Check("the lowest tau over temperatures", Measured.over([min(taus)]), 1.0),),
            "below",
            0.005,
            _ONE_SEED,
        ),
        Claim(
            "LM score and reverse LM score rank the generators",
            (Check(dominates, Measured.over([scores]), 0.5),),
            "above",
            0.0,
            _ONE_SEED,
        ),
    )
    return Reproduction(
        name=run.name,
        title="Figure 2: metrics of generators over temperatures, real texts",
        paper=_PAPER,
        design=f"5-gram models of 20 to 100 % of {n:,} captions generate {size:,} texts at each temperature from 0.8 "
        "to 1.2; lower is better on all axes.",
        differs=(
            *_MODELS,
            "The reverse LM score is that of a 3-gram model of the generated texts, not of an LSTM.",
            "Only one kind of generator is drawn.",
        ),
        claims=claims,
        options=run.options,
        signature=_signature(run, digest),
        panels=_figure_2_panels(planes, frechet),
    )


def _figure_2_panels(planes: Mapping[str, tuple[F64, F64, str, str]], frechet: F64) -> tuple[Panel, ...]:
    names = [f"{float(share):.0%} of the training texts" for share in SHARES]
    panels = [
        Panel(
            title,
            across,
            up,
            tuple(
                Line(name, tuple(CurveAt(float(a), float(b)) for a, b in zip(x[at], y[at], strict=True)))
                for at, name in enumerate(names)
            ),
            tabled=False,
        )
        for title, (x, y, across, up) in planes.items()
    ]
    by_temperature = tuple(
        Line(name, tuple(CurveAt(t, float(y)) for t, y in zip(_TEMPERATURES, frechet[at], strict=True)))
        for at, name in enumerate(names)
    )
    return (*panels, Panel("FED over temperatures", "temperature", "FED", by_temperature))
